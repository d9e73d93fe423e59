/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions of today's nets at batch 32, pass by pass, with one thread and with two, and beside them the same by
 * CBLAS (im2col for each sample and one product) and, where it was found, by oneDNN (in its own blocked
 * layouts, without the time that going into them and back takes). In multiply-adds, and as a share of those that the
 * processor can do, measured in turn with each row.
 */
#include <cblas.h>

#include "layer.h"
#include "peers/onednn.h"

extern void openblas_set_num_threads(int count) __attribute__((weak));

enum { THREADS = 2 };
#define BYTES ((size_t)1 << 30)

#define CONV(title_, kernel_, filters_, pad_, groups_, c, h, w)                                                    \
    {                                                                                                              \
        .title = title_, .op = "Convolution", .keys = {"kernel", "num_filter", "pad", "num_group"},                \
        .values = {kernel_, filters_, pad_, groups_}, .ndim = 4, .data = {32, c, h, w}, .products = 1, .passes = { \
            FORWARD,                                                                                               \
            DATA,                                                                                                  \
            WEIGHTS                                                                                                \
        }                                                                                                          \
    }

static const layer layers[] = {
    CONV("1x28x28 to 32, 5x5", "(5,5)", "32", "(2,2)", "1", 1, 28, 28),
    CONV("16x32x32 to 16, 3x3", "(3,3)", "16", "(1,1)", "1", 16, 32, 32),
    CONV("64x56x56 to 64, 3x3", "(3,3)", "64", "(1,1)", "1", 64, 56, 56),
    CONV("256x14x14 to 256, 3x3", "(3,3)", "256", "(1,1)", "1", 256, 14, 14),
    CONV("256x56x56 to 64, 1x1", "(1,1)", "64", "(0,0)", "1", 256, 56, 56),
    CONV("96x28x28, 3x3 of each", "(3,3)", "96", "(1,1)", "96", 96, 28, 28),
};

/* ---- the same by CBLAS ------------------------------------------------------------------------------------------- */

/* Stride 1, and padding that keeps the size. */
typedef struct patches {
    const bound *b;
    int pass, channels, filters, side, kernel; /* of a sample */
    float *columns;                            /* one matrix (C k k, side side) per thread */
    float *sums;                               /* the weights' gradient of each thread's samples */
} patches;

/* im2col: columns = the patches of an image; with add col2im: image += columns. */
static void move_patches(const patches *p, float *image, float *columns, int add) {
    const int side = p->side, pad = p->kernel / 2;
    for (int c = 0; c < p->channels; c++)
        for (int k = 0; k < p->kernel * p->kernel; k++)
            for (int y = 0; y < side; y++, columns += side) {
                int dy = y + k / p->kernel - pad, dx = k % p->kernel - pad;
                int first = dx < 0 ? -dx : 0, last = dx > 0 ? side - dx : side;
                float *row = image + ((ptrdiff_t)c * side + dy) * side + dx;
                if (!add)
                    memset(columns, 0, (size_t)side * sizeof *columns);
                if (dy < 0 || dy >= side)
                    continue;
                if (!add)
                    memcpy(columns + first, row + first, (size_t)(last - first) * sizeof *row);
                for (int x = first; add && x < last; x++)
                    row[x] += columns[x];
            }
}

static void patches_part(void *arg, int64_t begin, int64_t end, int part) {
    const patches *p = arg;
    const int pixels = p->side * p->side, rows = p->channels * p->kernel * p->kernel;
    const float *weight = p->b->in[1].data, *bias = p->b->in[2].data;
    float *columns = p->columns + (ptrdiff_t)part * rows * pixels;
    float *sums = p->sums + (ptrdiff_t)part * rows * p->filters;
    for (int64_t n = begin; n < end; n++) {
        float *image = (float *)p->b->in[0].data + n * p->channels * pixels;
        float *image_grad = (float *)p->b->in_grad[0].data + n * p->channels * pixels;
        float *out = (float *)p->b->out[0].data + n * p->filters * pixels;
        const float *out_grad = (const float *)p->b->out_grad[0].data + n * p->filters * pixels;
        if (p->pass == FORWARD) {
            for (int64_t i = 0; i < (int64_t)p->filters * pixels; i++)
                out[i] = bias[i / pixels];
            move_patches(p, image, columns, 0);
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, p->filters, pixels, rows, 1, weight, rows, columns,
                        pixels, 1, out, pixels);
        } else if (p->pass == DATA) {
            cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, rows, pixels, p->filters, 1, weight, rows, out_grad,
                        pixels, 0, columns, pixels);
            memset(image_grad, 0, (size_t)p->channels * (size_t)pixels * sizeof *image_grad);
            move_patches(p, image_grad, columns, 1);
        } else {
            move_patches(p, image, columns, 0);
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, p->filters, rows, pixels, 1, out_grad, pixels, columns,
                        pixels, n > begin, sums, rows);
        }
    }
}

static void call_patches(const mxc_run *run, void *arg) {
    mxc_parallel_for(run, ((patches *)arg)->b->in[0].shape.dim[0], 1, patches_part, arg);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

typedef struct row {
    const layer *layer;
    int pass, threads, quick;
    char *memory;
    double seconds[4], work; /* of the peak's multiply-adds, of the operator, of CBLAS, of oneDNN; 0: not measured */
} row;

static int has_groups(const layer *l) {
    return strcmp(l->values[3], "1") != 0;
}

static patches open_patches(const bound *b, int pass, float *memory) {
    const int64_t *weight = b->in[1].shape.dim;
    patches p = {
        .b = b,
        .pass = pass,
        .filters = (int)weight[0],
        .channels = (int)weight[1],
        .kernel = (int)weight[2],
        .side = (int)b->in[0].shape.dim[2],
        .columns = memory,
    };
    p.sums = memory + (ptrdiff_t)THREADS * p.channels * p.kernel * p.kernel * p.side * p.side;
    return p;
}

static peer *open_peer(const bound *b, const row *r) {
    const int64_t *data = b->in[0].shape.dim, *weight = b->in[1].shape.dim;
    return peer_open(r->pass == FORWARD ? PEER_FORWARD
                     : r->pass == DATA  ? PEER_DATA
                                        : PEER_WEIGHTS,
                     (int)data[0], (int)data[1], (int)data[2], (int)weight[0], (int)weight[2],
                     atoi(r->layer->values[3]), r->threads);
}

static void call_peer(const mxc_run *run, void *arg) {
    (void)run;
    peer_run(arg);
}

static mxc_status measure_row(const mxc_run *run, void *arg) {
    row *r = arg;
    bound b;
    patches p;
    measure_case cases[4] = {{.call = measure_peak, .arg = &r->threads}, {.call = call_bound, .arg = &b}};
    int which[4] = {0, 1}, n = 2;
    peer *other;
    open_bound(&b, r->layer, r->pass, r->threads, r->memory, BYTES / 2);
    p = open_patches(&b, r->pass, (float *)(r->memory + BYTES / 2));
    other = open_peer(&b, r);
    if (!has_groups(r->layer)) {
        which[n] = 2;
        cases[n++] = (measure_case){.call = call_patches, .arg = &p};
    }
    if (other) {
        which[n] = 3;
        cases[n++] = (measure_case){.call = call_peer, .arg = other};
    }
    measure_in_turn(run, n, cases, r->quick);
    for (int i = 0; i < n; i++)
        r->seconds[which[i]] = cases[i].seconds;
    r->work = b.work;
    if (other)
        peer_close(other);
    mxc_op_release(b.op);
    return MXC_OK;
}

static void print_speed(const row *r, int which) {
    double flops = r->work / r->seconds[which], peak = measure_peak_flops(r->threads) / r->seconds[0];
    if (r->seconds[which] == 0) {
        printf(" %12s", "-");
        return;
    }
    printf(" %7.1f %3.0f%%", 1e-9 * flops, 100 * flops / peak);
}

static void print_row(const layer *l, int pass, int quick, char *memory) {
    static const char *const passes[] = {"forward", "to data", "to weights"};
    printf("%-22s %-10s", l->title, passes[pass]);
    for (int threads = 1; threads <= THREADS; threads++) {
        row r = {.layer = l, .pass = pass, .threads = threads, .quick = quick, .memory = memory};
        measure_inside(threads, measure_row, &r);
        printf(" %8.0f us", 1e6 * r.seconds[1]);
        for (int which = 1; which < 4; which++)
            print_speed(&r, which);
    }
    printf("\n");
    fflush(stdout);
}

int main(int argc, char **argv) {
    int quick = measure_is_quick(argc, argv);
    char *memory;
    peer_prepare(argv);
    memory = mxci_pages_alloc(BYTES);
    if (!memory)
        measure_fail("no memory");
    if (openblas_set_num_threads)
        openblas_set_num_threads(1); /* the engine's threads call it */
    printf("%-22s %-10s %11s %12s %12s %12s %11s %12s %12s %12s\n", "batch 32, GFLOP/s", "pass", "1 thread", "own",
           "CBLAS", "oneDNN", "2 threads", "own", "CBLAS", "oneDNN");
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        for (int p = 0; p < 3 && !(quick && layers[i].data[1] * layers[i].data[2] > 3000); p++) /* the small ones */
            print_row(&layers[i], layers[i].passes[p], quick, memory);
    mxci_pages_free(memory, BYTES);
    return 0;
}
