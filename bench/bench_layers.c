/*
 * The operators of LeNet and of an MLP at batch 64, pass by pass, with one thread and with two: the time of one call of
 * the kernel, as an executor makes it, and what that is in multiply-adds or in bytes read and written. The share is of
 * the multiply-adds that the processor can do, measured in turn with each row.
 */
#include <mxc/op.h>

#include "measure.h"

enum { SLOTS = 4, THREADS = 2, BYTES = 64 << 20 };

/* Which gradients a row computes; 0: it is the forward pass. */
enum { FORWARD, DATA = 1, WEIGHTS = 2 };

typedef struct layer {
    const char *title, *op, *keys[4], *values[4];
    int ndim;
    int64_t data[4];
    int products; /* 1: work is counted in multiply-adds, 0: in bytes */
    int passes[3]; /* end with 0, the first one is forward */
} layer;

static const layer layers[] = {
    {"conv1 1x28x28 to 20, 5x5", "Convolution", {"kernel", "num_filter"}, {"(5,5)", "20"}, 4, {64, 1, 28, 28}, 1,
     {FORWARD, WEIGHTS}},
    {"conv2 20x12x12 to 50, 5x5", "Convolution", {"kernel", "num_filter"}, {"(5,5)", "50"}, 4, {64, 20, 12, 12}, 1,
     {FORWARD, DATA, WEIGHTS}},
    {"tanh 20x24x24", "Activation", {"act_type"}, {"tanh"}, 4, {64, 20, 24, 24}, 0, {FORWARD, DATA}},
    {"max 2x2 of 20x24x24", "Pooling", {"kernel", "stride", "pool_type"}, {"(2,2)", "(2,2)", "max"}, 4,
     {64, 20, 24, 24}, 0, {FORWARD, DATA}},
    {"tanh 50x8x8", "Activation", {"act_type"}, {"tanh"}, 4, {64, 50, 8, 8}, 0, {FORWARD, DATA}},
    {"max 2x2 of 50x8x8", "Pooling", {"kernel", "stride", "pool_type"}, {"(2,2)", "(2,2)", "max"}, 4,
     {64, 50, 8, 8}, 0, {FORWARD, DATA}},
    {"full 800 to 500", "FullyConnected", {"num_hidden"}, {"500"}, 2, {64, 800}, 1, {FORWARD, DATA, WEIGHTS}},
    {"full 500 to 10", "FullyConnected", {"num_hidden"}, {"10"}, 2, {64, 500}, 1, {FORWARD, DATA, WEIGHTS}},
    {"full 784 to 128", "FullyConnected", {"num_hidden"}, {"128"}, 2, {64, 784}, 1, {FORWARD, WEIGHTS}},
    {"full 128 to 64", "FullyConnected", {"num_hidden"}, {"64"}, 2, {64, 128}, 1, {FORWARD, DATA, WEIGHTS}},
    {"relu 128", "Activation", {"act_type"}, {"relu"}, 2, {64, 128}, 0, {FORWARD, DATA}},
    {"softmax and loss, 10", "SoftmaxOutput", {NULL}, {NULL}, 2, {64, 10}, 0, {FORWARD, DATA}},
    {"SGD, 400000 weights", "sgd_mom_update", {"lr", "momentum"}, {"0.01", "0.9"}, 1, {400000}, 0, {FORWARD}},
};

/* ---- one call --------------------------------------------------------------------------------------------------- */

typedef struct bound {
    mxc_op *op;
    mxc_op_sig sig;
    mxc_shape shapes[3][SLOTS];
    mxc_dtype types[3][SLOTS];
    mxc_tensor in[SLOTS], out[SLOTS], aux[SLOTS], out_grad[SLOTS], in_grad[SLOTS];
    mxc_req req[SLOTS];
    mxc_op_call call;
    mxc_op_compute_fn fn;
    double work; /* floating-point operations or bytes of a call */
} bound;

static void infer(bound *b, const layer *l, int threads) {
    int n = 0;
    while (n < 4 && l->keys[n])
        n++;
    measure_check(mxc_op_create(l->op, n, l->keys, l->values, &b->op));
    b->sig = (mxc_op_sig){.op = b->op, .params = mxc_op_params(b->op), .n_in = mxc_op_n_args(b->op),
                          .n_out = mxc_op_n_outputs(b->op), .n_aux = mxc_op_n_aux(b->op), .in_shape = b->shapes[0],
                          .out_shape = b->shapes[1], .aux_shape = b->shapes[2], .in_type = b->types[0],
                          .out_type = b->types[1], .aux_type = b->types[2], .context = {MXC_CPU, 0}, .is_train = 1,
                          .parallelism = threads};
    for (int i = 0; i < 3 * SLOTS; i++) {
        b->shapes[i / SLOTS][i % SLOTS].ndim = -1;
        b->types[i / SLOTS][i % SLOTS] = MXC_F32;
    }
    measure_check(mxc_shape_set(&b->shapes[0][0], l->ndim, l->data));
    measure_check(mxc_op_infer_shape(&b->sig));
}

/* Tensors one behind another in memory, filled with small numbers that differ. Returns the bytes used. */
static size_t place(char *memory, int n, const mxc_shape *shapes, mxc_tensor *tensors) {
    size_t used = 0;
    for (int i = 0; i < n; i++) {
        int64_t size = mxc_shape_size(&shapes[i]);
        tensors[i] = (mxc_tensor){.data = memory + used, .shape = shapes[i], .dtype = MXC_F32};
        for (int64_t j = 0; j < size; j++)
            ((float *)tensors[i].data)[j] = (float)(j * 7919 % 1009) / 1009 - 0.5f;
        used += ((size_t)size * sizeof(float) + 63) & ~(size_t)63;
    }
    return used;
}

static double bytes_of(int n, const mxc_tensor *tensors) {
    double bytes = 0;
    for (int i = 0; i < n; i++)
        bytes += 4.0 * (double)mxc_shape_size(&tensors[i].shape);
    return bytes;
}

static double products_of(const bound *b) {
    const mxc_shape *weight = &b->in[1].shape;
    return 2.0 * (double)mxc_shape_size(&b->out[0].shape) * (double)mxc_shape_size(weight) / (double)weight->dim[0];
}

/* What a pass reads and writes. */
static double traffic_of(const bound *b, int pass) {
    mxc_op_needs needs;
    double bytes = pass == FORWARD ? bytes_of(b->sig.n_out, b->out) + 2 * bytes_of(b->sig.n_aux, b->aux) : 0;
    mxc_op_get_needs(b->op, &needs);
    for (int i = 0; i < b->sig.n_in; i++)
        if (pass == FORWARD || mxc_need_has(needs.in, i))
            bytes += bytes_of(1, &b->in[i]);
    if (pass != FORWARD)
        bytes += (mxc_need_has(needs.out_grad, 0) + mxc_need_has(needs.out, 0)) * bytes_of(1, b->out) +
                 bytes_of(1, b->in_grad);
    return bytes;
}

static void open_bound(bound *b, const layer *l, int pass, int threads, char *memory) {
    const mxc_op_def *def;
    size_t used;
    memset(b, 0, sizeof *b);
    infer(b, l, threads);
    def = mxc_op_get_def(b->op);
    used = place(memory, b->sig.n_in, b->sig.in_shape, b->in);
    used += place(memory + used, b->sig.n_out, b->sig.out_shape, b->out);
    used += place(memory + used, b->sig.n_aux, b->sig.aux_shape, b->aux);
    used += place(memory + used, b->sig.n_out, b->sig.out_shape, b->out_grad);
    used += place(memory + used, b->sig.n_in, b->sig.in_shape, b->in_grad);
    b->fn = pass == FORWARD ? def->forward[MXC_CPU] : def->backward[MXC_CPU];
    b->call = (mxc_op_call){.op = b->op, .params = mxc_op_params(b->op), .is_train = 1, .n_in = b->sig.n_in,
                            .n_out = b->sig.n_out, .n_aux = b->sig.n_aux, .in = b->in, .out = b->out, .aux = b->aux,
                            .out_grad = b->out_grad, .in_grad = b->in_grad, .req = b->req, .temp = memory + used};
    for (int i = 0; i < SLOTS; i++)
        b->req[i] = pass == FORWARD || (i == 0) == (pass == DATA) ? MXC_REQ_WRITE : MXC_REQ_NULL;
    if (def->temp_bytes)
        used += def->temp_bytes(&b->sig, pass == FORWARD ? MXC_FORWARD : MXC_BACKWARD);
    if (used > BYTES)
        measure_fail("a layer needs more memory than there is");
    b->work = l->products ? products_of(b) : traffic_of(b, pass);
}

static void call_bound(const mxc_run *run, void *arg) {
    bound *b = arg;
    b->call.run = run;
    measure_check(b->fn(&b->call));
}

/* ---- the table -------------------------------------------------------------------------------------------------- */

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
    open_bound(&b, r->layer, r->pass, r->threads, r->memory);
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
