/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operators of LeNet and of an MLP at batch 64, pass by pass, with one thread and with two: the time of one call of
 * the kernel, as an executor makes it, and what that is in multiply-adds or in bytes read and written. The share is of
 * the multiply-adds that the processor can do, measured in turn with each row.
 */
#include "layer.h"

enum { THREADS = 2, BYTES = 64 << 20 };

static const layer layers[] = {
    {"conv1 1x28x28 to 20, 5x5",
     "Convolution",
     {"kernel", "num_filter"},
     {"(5,5)", "20"},
     4,
     {64, 1, 28, 28},
     1,
     {FORWARD, WEIGHTS}},
    {"conv2 20x12x12 to 50, 5x5",
     "Convolution",
     {"kernel", "num_filter"},
     {"(5,5)", "50"},
     4,
     {64, 20, 12, 12},
     1,
     {FORWARD, DATA, WEIGHTS}},
    {"tanh 20x24x24", "Activation", {"act_type"}, {"tanh"}, 4, {64, 20, 24, 24}, 0, {FORWARD, DATA}},
    {"max 2x2 of 20x24x24",
     "Pooling",
     {"kernel", "stride", "pool_type"},
     {"(2,2)", "(2,2)", "max"},
     4,
     {64, 20, 24, 24},
     0,
     {FORWARD, DATA}},
    {"tanh 50x8x8", "Activation", {"act_type"}, {"tanh"}, 4, {64, 50, 8, 8}, 0, {FORWARD, DATA}},
    {"max 2x2 of 50x8x8",
     "Pooling",
     {"kernel", "stride", "pool_type"},
     {"(2,2)", "(2,2)", "max"},
     4,
     {64, 50, 8, 8},
     0,
     {FORWARD, DATA}},
    {"full 800 to 500", "FullyConnected", {"num_hidden"}, {"500"}, 2, {64, 800}, 1, {FORWARD, DATA, WEIGHTS}},
    {"full 500 to 10", "FullyConnected", {"num_hidden"}, {"10"}, 2, {64, 500}, 1, {FORWARD, DATA, WEIGHTS}},
    {"full 784 to 128", "FullyConnected", {"num_hidden"}, {"128"}, 2, {64, 784}, 1, {FORWARD, WEIGHTS}},
    {"full 128 to 64", "FullyConnected", {"num_hidden"}, {"64"}, 2, {64, 128}, 1, {FORWARD, DATA, WEIGHTS}},
    {"relu 128", "Activation", {"act_type"}, {"relu"}, 2, {64, 128}, 0, {FORWARD, DATA}},
    {"softmax and loss, 10", "SoftmaxOutput", {NULL}, {NULL}, 2, {64, 10}, 0, {FORWARD, DATA}},
    {"SGD, 400000 weights", "sgd_mom_update", {"lr", "momentum"}, {"0.01", "0.9"}, 1, {400000}, 0, {FORWARD}},
};

/* ---- the table --------------------------------------------------------------------------------------------------- */

typedef struct row {
    const layer *layer;
    int pass, threads, quick;
    char *memory;
    double seconds, work, peak; /* peak: seconds for measure_peak_flops */
} row;

static mxc_status measure_row(const mxc_run *run, void *arg) {
    row *r = arg;
    bound b;
    measure_case cases[2] = {{.call = measure_peak, .arg = &r->threads}, {.call = call_bound, .arg = &b}};
    open_bound(&b, r->layer, r->pass, r->threads, r->memory, BYTES);
    measure_in_turn(run, 2, cases, r->quick);
    r->peak = cases[0].seconds;
    r->seconds = cases[1].seconds;
    r->work = b.work;
    mxc_op_release(b.op);
    return MXC_OK;
}

static void print_row(const layer *l, int pass, int quick, char *memory) {
    static const char *const passes[] = {"forward", "to data", "to weights"};
    printf("%-26s %-10s", l->title, passes[pass]);
    for (int threads = 1; threads <= THREADS; threads++) {
        row r = {.layer = l, .pass = pass, .threads = threads, .quick = quick, .memory = memory};
        measure_inside(threads, measure_row, &r);
        printf(" %9.1f %6.1f %-7s", 1e6 * r.seconds, 1e-9 * r.work / r.seconds, l->products ? "GFLOP/s" : "GB/s");
        if (l->products)
            printf(" %4.0f%%", 100 * r.work / r.seconds * r.peak / measure_peak_flops(threads));
        else
            printf(" %5s", "");
    }
    printf("\n");
}

int main(int argc, char **argv) {
    int quick = measure_is_quick(argc, argv);
    char *memory = mxci_pages_alloc(BYTES);
    if (!memory)
        measure_fail("no memory");
    printf("%-26s %-10s %9s %14s %5s %9s %14s %5s\n", "batch 64", "pass", "1 thr. us", "work", "share", "2 thr. us",
           "work", "share");
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        for (int p = 0; p == 0 || (p < 3 && layers[i].passes[p]); p++)
            print_row(&layers[i], layers[i].passes[p], quick, memory);
    mxci_pages_free(memory, BYTES);
    return 0;
}
