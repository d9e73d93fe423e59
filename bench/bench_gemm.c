/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix products at shapes of deep learning, float32, with one thread and with two: the library's own, and CBLAS by
 * itself, cut over the same threads. Shares are of the multiply-adds that the processor can do, measured in turn with
 * each row.
 */
#include <cblas.h>

#include "math/gemm.h"
#include "measure.h"

enum { THREADS = 2 };

/* C (m,n) = A (m,k) B (k,n). A is stored transposed where ta, B where tb. */
typedef struct shape {
    const char *title;
    int m, n, k, ta, tb;
} shape;

static const shape shapes[] = {
    {"square", 64, 64, 64, 0, 0},
    {"square", 128, 128, 128, 0, 0},
    {"square", 256, 256, 256, 0, 0},
    {"square", 512, 512, 512, 0, 0},
    {"square", 1024, 1024, 1024, 0, 0},
    {"MLP fc1 forward", 64, 128, 784, 0, 1},
    {"MLP fc1 to weights", 128, 784, 64, 1, 0},
    {"LeNet fc1 to weights", 500, 800, 64, 1, 0},
    {"LSTM h2h forward", 32, 800, 200, 0, 1},
    {"LSTM h2h to data", 32, 200, 800, 0, 0},
    {"LSTM i2h forward", 1120, 800, 200, 0, 1},
    {"GPT qkv forward", 1024, 384, 128, 0, 1},
    {"GPT qkv to weights", 384, 128, 1024, 1, 0},
    {"GPT ffn1 forward", 1024, 512, 128, 0, 1},
    {"GPT ffn2 forward", 1024, 128, 512, 0, 1},
    {"attention scores", 64, 64, 32, 0, 1},
    {"attention values", 64, 32, 64, 0, 0},
};

typedef struct operands {
    const shape *s;
    float *a, *b, *c;
    int by_row; /* CBLAS: cut m, else n */
} operands;

static void run_own(const mxc_run *run, void *arg) {
    const operands *o = arg;
    const shape *s = o->s;
    mxci_gemm_args g = MXCI_GEMM_INIT;
    g.dtype = MXC_F32;
    g.transpose_a = s->ta, g.transpose_b = s->tb;
    g.m = s->m, g.n = s->n, g.k = s->k;
    g.a = o->a, g.b = o->b, g.c = o->c;
    g.lda = s->ta ? s->m : s->k, g.ldb = s->tb ? s->k : s->n, g.ldc = s->n;
    mxci_gemm(run, &g, NULL);
}

/* Rows or columns begin..end-1 of C. */
static void run_cblas_part(void *arg, int64_t begin, int64_t end, int part) {
    const operands *o = arg;
    const shape *s = o->s;
    int lda = s->ta ? s->m : s->k, ldb = s->tb ? s->k : s->n, size = (int)(end - begin);
    const float *a = o->a + (o->by_row ? begin * (s->ta ? 1 : lda) : 0);
    const float *b = o->b + (o->by_row ? 0 : begin * (s->tb ? ldb : 1));
    (void)part;
    cblas_sgemm(CblasRowMajor, s->ta ? CblasTrans : CblasNoTrans, s->tb ? CblasTrans : CblasNoTrans,
                o->by_row ? size : s->m, o->by_row ? s->n : size, s->k, 1, a, lda, b, ldb, 0,
                o->c + begin * (o->by_row ? s->n : 1), s->n);
}

static void run_cblas(const mxc_run *run, void *arg) {
    const operands *o = arg;
    mxc_parallel_for(run, o->by_row ? o->s->m : o->s->n, 8, run_cblas_part, arg);
}

static float *matrix(int rows, int columns) {
    size_t n = (size_t)rows * (size_t)columns;
    float *x = mxci_pages_alloc(n * sizeof *x);
    if (!x)
        measure_fail("no memory");
    for (size_t i = 0; i < n; i++)
        x[i] = (float)(i * 7919 % 1009) / 1009 - 0.5f;
    return x;
}

typedef struct row {
    const shape *s;
    int threads, quick;
    double flops[3]; /* per second: peak, own, CBLAS */
} row;

static mxc_status measure_row(const mxc_run *run, void *arg) {
    row *r = arg;
    const shape *s = r->s;
    operands o = {s, matrix(s->m, s->k), matrix(s->k, s->n), matrix(s->m, s->n), s->m >= s->n};
    measure_case cases[3] = {
        {.call = measure_peak, .arg = &r->threads},
        {.call = run_own, .arg = &o},
        {.call = run_cblas, .arg = &o},
    };
    double work = 2.0 * s->m * s->n * s->k;
    measure_in_turn(run, 3, cases, r->quick);
    for (int i = 0; i < 3; i++)
        r->flops[i] = (i ? work : measure_peak_flops(r->threads)) / cases[i].seconds;
    mxci_pages_free(o.a, sizeof(float) * (size_t)s->m * (size_t)s->k);
    mxci_pages_free(o.b, sizeof(float) * (size_t)s->k * (size_t)s->n);
    mxci_pages_free(o.c, sizeof(float) * (size_t)s->m * (size_t)s->n);
    return MXC_OK;
}

static void print_row(const shape *s, int quick) {
    char size[48];
    snprintf(size, sizeof size, "%dx%dx%d %s%s", s->m, s->n, s->k, s->ta ? "T" : "N", s->tb ? "T" : "N");
    printf("%-21s %-17s", s->title, size);
    for (int threads = 1; threads <= THREADS; threads++) {
        row r = {.s = s, .threads = threads, .quick = quick};
        measure_inside(threads, measure_row, &r);
        printf("  %6.1f %6.1f %3.0f%% %6.1f %3.0f%%", 1e-9 * r.flops[0], 1e-9 * r.flops[1],
               100 * r.flops[1] / r.flops[0], 1e-9 * r.flops[2], 100 * r.flops[2] / r.flops[0]);
    }
    printf("\n");
}

int main(int argc, char **argv) {
    int quick = measure_is_quick(argc, argv);
    mxci_blas_init(); /* CBLAS itself has one thread */
    printf("%-21s %-17s  %6s %6s %4s %6s %4s  %6s %6s %4s %6s %4s\n", "GFLOP/s", "m x n x k", "peak 1", "own", "",
           "CBLAS", "", "peak 2", "own", "", "CBLAS", "");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        print_row(&shapes[i], quick);
    return 0;
}
