/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products on all threads: the choice between our kernels and BLAS, the split into units of work, and 16-bit
 * types through f32 copies. */
#include "math/gemm.h"

#include <cblas.h>
#include <limits.h>

#include "base/sys.h"
#include "math/assign.h"
#include "math/gemm_kernels.h"
#include "math/tile_kernels.h"

#define PART_FLOPS 300000 /* least work of a part: about 3 us */

/* Present in OpenBLAS; absent in other CBLAS libraries, which then stay as they are. */
extern void openblas_set_num_threads(int count) __attribute__((weak));

void mxci_blas_init(void) {
    static mxci_global_mutex lock = MXCI_GLOBAL_MUTEX_INIT;
    static int done;
    mxci_global_lock(&lock);
    if (!done && openblas_set_num_threads)
        openblas_set_num_threads(1);
    done = 1;
    mxci_global_unlock(&lock);
}

/* ---- one product, one thread ----------------------------------------------------------------------------------- */

/* Whether dot products of rows of A with columns of B are faster than the packed product. */
static int is_for_dots(const mxci_gemm_args *g) {
    return g->m <= MXCI_GEMM_FEW && g->transpose_b && !g->transpose_a;
}

/* Whether BLAS computes a share of a product: where it is faster (measured: our kernel is ahead of OpenBLAS up to about
 * 256 cubed, except on long dot products of few rows), and where ours does not apply: it has no alpha but 1, no beta
 * but 0 and 1. */
static int is_for_blas(const mxci_gemm_args *whole, const mxci_gemm_args *g) {
    if (g->bias || g->lda == 0 || g->ldb == 0 || g->m > INT_MAX || g->n > INT_MAX || g->k > INT_MAX)
        return 0;
    if (g->alpha != 1 || (g->beta != 0 && g->beta != 1))
        return 1;
    if (whole->m <= 4 && whole->n <= 4)
        return g->k > 64 && !is_for_dots(whole);
    return g->m >= 256 && g->n >= 256 && g->k >= 256;
}

static void run_blas(const mxci_gemm_args *g) {
    enum CBLAS_TRANSPOSE a = g->transpose_a ? CblasTrans : CblasNoTrans, b = g->transpose_b ? CblasTrans : CblasNoTrans;
    int m = (int)g->m, n = (int)g->n, k = (int)g->k, lda = (int)g->lda, ldb = (int)g->ldb, ldc = (int)g->ldc;
    if (g->dtype == MXC_F32)
        cblas_sgemm(CblasRowMajor, a, b, m, n, k, (float)g->alpha, g->a, lda, g->b, ldb, (float)g->beta, g->c, ldc);
    else
        cblas_dgemm(CblasRowMajor, a, b, m, n, k, g->alpha, g->a, lda, g->b, ldb, g->beta, g->c, ldc);
}

/* For our kernels. C starts from itself (beta), from bias in every row, or from zero. */
static mxci_product product_of(const mxci_gemm_args *g) {
    static const double zero;
    mxci_product p = {
        .m = g->m,
        .n = g->n,
        .k = g->k,
        .a = g->a,
        .b = g->b,
        .c = g->c,
        .c_row = g->ldc,
        .a_row = g->transpose_a ? 1 : g->lda,
        .a_step = g->transpose_a ? g->lda : 1,
        .b_row = g->transpose_b ? 1 : g->ldb,
        .b_col = g->transpose_b ? g->ldb : 1,
        .start = &zero,
    };
    if (g->beta != 0) {
        p.start = g->c;
        p.start_row = g->ldc;
        p.start_col = 1;
    } else if (g->bias) {
        p.start = g->bias;
        p.start_col = 1;
    }
    return p;
}

static void run_own(const mxci_gemm_args *g, int by_dots) {
    const mxci_product p = product_of(g);
    if (by_dots)
        (g->dtype == MXC_F32 ? mxci_product_dots_f32 : mxci_product_dots_f64)(&p);
    else
        (g->dtype == MXC_F32 ? mxci_product_run_f32 : mxci_product_run_f64)(&p);
}

/* ---- threads --------------------------------------------------------------------------------------------------- */

typedef struct split {
    const mxci_gemm_args *g;
    int by_row;          /* cut m, else n */
    int64_t size, units; /* rows or columns in one unit of work, units in one product */
} split;

/* base advanced by some elements; a matrix without elements may be NULL. */
static void *offset_by(const void *base, int64_t elements, size_t element) {
    return base ? (char *)base + elements * (int64_t)element : NULL;
}

/* Units begin..end-1 of the product number index. */
static void run_units(const split *s, int64_t index, int64_t begin, int64_t end) {
    mxci_gemm_args g = *s->g;
    size_t element = mxc_dtype_size(g.dtype);
    int64_t limit = s->by_row ? g.m : g.n, from = begin * s->size, to = end * s->size < limit ? end * s->size : limit;
    int64_t a = index * g.a_stride, b = index * g.b_stride, c = index * g.c_stride;
    if (s->by_row) {
        g.m = to - from;
        a += from * (g.transpose_a ? 1 : g.lda);
        c += from * g.ldc;
    } else {
        g.n = to - from;
        b += from * (g.transpose_b ? g.ldb : 1);
        c += from;
        g.bias = offset_by(g.bias, from, element);
    }
    g.a = offset_by(g.a, a, element);
    g.b = offset_by(g.b, b, element);
    g.c = offset_by(g.c, c, element);
    if (is_for_blas(s->g, &g))
        run_blas(&g);
    else
        run_own(&g, is_for_dots(s->g)); /* that of the whole product, so that threads do not matter */
}

/* Units begin..end-1 of all products of the batch: those of one product at a time. */
static void gemm_run_part(void *arg, int64_t begin, int64_t end, int part) {
    const split *s = arg;
    (void)part;
    while (begin < end) {
        int64_t index = begin / s->units, first = begin % s->units;
        int64_t last = end - begin < s->units - first ? first + end - begin : s->units;
        run_units(s, index, first, last);
        begin += last - first;
    }
}

/* Cut m into strips or n into panels, whichever leaves the parts more even; cutting n packs B once only. */
static void gemm_plan(split *s, int parts) {
    const mxci_gemm_args *g = s->g;
    int64_t strips = (g->m + 5) / 6, panels = (g->n + 15) / 16;
    double by_row = (double)((strips + parts - 1) / parts) / (double)strips;
    double by_column = (double)((panels + parts - 1) / parts) / (double)panels;
    s->by_row = by_row < by_column * 0.85 && !is_for_dots(g);
    s->size = s->by_row ? 6 : 16;
    s->units = s->by_row ? strips : panels;
}

/* Whether a thread's share of a product goes to BLAS, whose speed needs large pieces. */
static int is_share_for_blas(const split *s, int parts) {
    mxci_gemm_args share = *s->g;
    if (s->by_row)
        share.m = (share.m + parts - 1) / parts;
    else
        share.n = (share.n + parts - 1) / parts;
    return is_for_blas(s->g, &share);
}

/* A unit is a strip of 6 rows or a panel of 16 columns. Each part has at least about PART_FLOPS of work, and as many
 * units as packing takes little time beside: each packs its columns of B, and reads the rows of A. */
static void run_split(const mxc_run *run, const mxci_gemm_args *g) {
    enum { STRIPS = 12, PANELS = 8 };
    const int threads = run ? mxc_engine_parallelism(run->engine) : 1;
    split s = {.g = g};
    mxci_blas_init();
    gemm_plan(&s, threads);
    const double flops = 2.0 * (double)g->m * (double)g->n * (double)(g->k + 1) / (double)s.units;
    const int64_t grain = (int64_t)(PART_FLOPS / flops) + 1, least = s.by_row ? STRIPS : PANELS;
    if (g->batch * s.units < 2 * least * threads || is_share_for_blas(&s, threads))
        mxc_parallel_for(run, g->batch * s.units, grain, gemm_run_part, &s);
    else
        mxc_parallel_for_dynamic(run, g->batch * s.units, grain > least ? grain : least, gemm_run_part, &s);
}

/* ---- packed B -------------------------------------------------------------------------------------------------- */

/* Units of work are blocks of rows times panels: those of a panel follow each other, and read it from the cache. */
typedef struct packed_run {
    const mxci_gemm_args *g;
    mxci_product product;
    void *packed; /* of pack_panels */
    int64_t panel, blocks;
} packed_run;

enum { BLOCK_ROWS = 12 }; /* two strips of the register tile */

static packed_run packed_run_of(const mxci_gemm_args *g) {
    const int64_t panel = g->dtype == MXC_F32 ? mxci_product_panel_f32() : mxci_product_panel_f64();
    return (packed_run){
        .g = g, .product = product_of(g), .panel = panel, .blocks = (g->m + BLOCK_ROWS - 1) / BLOCK_ROWS};
}

size_t mxci_gemm_packed_bytes(mxc_dtype dtype, int64_t n, int64_t k) {
    const int64_t panel = dtype == MXC_F32 ? mxci_product_panel_f32() : mxci_product_panel_f64();
    return mxci_size_of(mxci_dim_mul(mxci_dim_add(n, panel - 1) / panel, mxci_dim_mul(panel, k)),
                        mxc_dtype_size(dtype));
}

static void pack_panels(void *arg, int64_t begin, int64_t end, int thread) {
    const packed_run *r = arg;
    (void)thread;
    if (r->g->dtype == MXC_F32)
        mxci_product_pack_f32(&r->product, r->packed, begin, end);
    else
        mxci_product_pack_f64(&r->product, r->packed, begin, end);
}

void mxci_gemm_pack(const mxc_run *run, const mxci_gemm_args *g, void *packed) {
    packed_run r = packed_run_of(g);
    r.packed = packed;
    mxc_parallel_for_dynamic(run, (g->n + r.panel - 1) / r.panel, MXCI_GRAIN / (r.panel * g->k + 1) + 1, pack_panels,
                             &r);
}

/* Rows of blocks begin..end-1 of one panel. */
static void run_panel(const packed_run *r, int64_t panel, int64_t begin, int64_t end) {
    const mxci_gemm_args *g = r->g;
    const int64_t row = begin * BLOCK_ROWS, column = panel * r->panel, size = (int64_t)mxc_dtype_size(g->dtype);
    mxci_product p = r->product;
    p.m = (end * BLOCK_ROWS < g->m ? end * BLOCK_ROWS : g->m) - row;
    p.n = g->n - column < r->panel ? g->n - column : r->panel;
    p.a = (const char *)p.a + row * p.a_row * size;
    p.start = (const char *)p.start + (row * p.start_row + column * p.start_col) * size;
    p.c = (char *)p.c + (row * p.c_row + column) * size;
    if (g->dtype == MXC_F32)
        mxci_product_packed_f32(&p, (const float *)g->packed + column * g->k);
    else
        mxci_product_packed_f64(&p, (const double *)g->packed + column * g->k);
}

static void run_blocks(void *arg, int64_t begin, int64_t end, int thread) {
    const packed_run *r = arg;
    (void)thread;
    while (begin < end) {
        const int64_t panel = begin / r->blocks, first = begin % r->blocks;
        const int64_t last = end - begin < r->blocks - first ? first + end - begin : r->blocks;
        run_panel(r, panel, first, last);
        begin += last - first;
    }
}

static void run_packed(const mxc_run *run, const mxci_gemm_args *g) {
    packed_run r = packed_run_of(g);
    const double flops = 2.0 * BLOCK_ROWS * (double)r.panel * (double)(g->k + 1);
    mxc_parallel_for_dynamic(run, (g->n + r.panel - 1) / r.panel * r.blocks, (int64_t)(PART_FLOPS / flops) + 1,
                             run_blocks, &r);
}

/* ---- 16-bit types ---------------------------------------------------------------------------------------------- */

/* A batch of 16-bit matrices in memory and its dense f32 copy. */
typedef struct matrices {
    mxc_dtype dtype;
    char *narrow;
    float *wide;
    int64_t rows, columns, row, stride; /* row, stride: elements between rows and matrices of narrow */
} matrices;

static void widen_rows(void *arg, int64_t begin, int64_t end, int part) {
    const matrices *x = arg;
    (void)part;
    for (int64_t r = begin; r < end; r++) {
        int64_t at = r / x->rows * x->stride + r % x->rows * x->row;
        mxci_load(x->dtype, x->narrow + 2 * at, x->wide + r * x->columns, x->columns);
    }
}

static void narrow_rows(void *arg, int64_t begin, int64_t end, int part) {
    const matrices *x = arg;
    (void)part;
    for (int64_t r = begin; r < end; r++) {
        int64_t at = r / x->rows * x->stride + r % x->rows * x->row;
        mxci_store(x->dtype, x->wide + r * x->columns, x->narrow + 2 * at, x->columns);
    }
}

static void convert(const mxc_run *run, const matrices *x, int64_t batch, mxc_range_fn rows) {
    mxc_parallel_for(run, batch * x->rows, MXCI_GRAIN / (x->columns + 1) + 1, rows, (void *)x);
}

/* f32 copies: of A, B and C, and of the bias. */
typedef struct copies {
    float *a, *b, *c, *bias;
} copies;

static copies take_copies(mxci_scratch *s, int64_t m, int64_t n, int64_t k, int64_t batch) {
    copies wide;
    wide.a = mxci_scratch_array(s, mxci_dim_mul(batch, mxci_dim_mul(m, k)), sizeof(float));
    wide.b = mxci_scratch_array(s, mxci_dim_mul(batch, mxci_dim_mul(k, n)), sizeof(float));
    wide.c = mxci_scratch_array(s, mxci_dim_mul(batch, mxci_dim_mul(m, n)), sizeof(float));
    wide.bias = mxci_scratch_array(s, n, sizeof(float));
    return wide;
}

size_t mxci_gemm_temp_bytes(mxc_dtype dtype, int64_t m, int64_t n, int64_t k, int64_t batch) {
    mxci_scratch measure = {0};
    if (mxc_dtype_size(dtype) == 2)
        take_copies(&measure, m, n, k, batch);
    return measure.bytes;
}

/* f32 copies of A, B and C in scratch, the product in f32, and C converted back. */
static void run_16bit(const mxc_run *run, const mxci_gemm_args *g, void *temp) {
    const copies to = take_copies(&(mxci_scratch){.base = temp}, g->m, g->n, g->k, g->batch);
    mxci_gemm_args wide = *g;
    int64_t a_rows = g->transpose_a ? g->k : g->m, b_rows = g->transpose_b ? g->n : g->k, a_columns, b_columns;
    matrices a, b, c;
    wide.lda = a_columns = g->transpose_a ? g->m : g->k;
    wide.ldb = b_columns = g->transpose_b ? g->k : g->n;
    a = (matrices){g->dtype, (char *)g->a, to.a, a_rows, a_columns, g->lda, g->a_stride};
    b = (matrices){g->dtype, (char *)g->b, to.b, b_rows, b_columns, g->ldb, g->b_stride};
    c = (matrices){g->dtype, g->c, to.c, g->m, g->n, g->ldc, g->c_stride};
    convert(run, &a, g->batch, widen_rows);
    convert(run, &b, g->batch, widen_rows);
    if (g->beta != 0)
        convert(run, &c, g->batch, widen_rows);
    if (g->bias)
        mxci_load(g->dtype, g->bias, to.bias, g->n);
    wide.dtype = MXC_F32;
    wide.a = a.wide, wide.b = b.wide, wide.c = c.wide, wide.ldc = g->n;
    wide.bias = g->bias ? to.bias : NULL;
    wide.a_stride = g->m * g->k, wide.b_stride = g->k * g->n, wide.c_stride = g->m * g->n;
    run_split(run, &wide);
    convert(run, &c, g->batch, narrow_rows);
}

void mxci_gemm(const mxc_run *run, const mxci_gemm_args *g, void *temp) {
    if (g->m == 0 || g->n == 0 || g->batch == 0)
        return;
    if (g->packed)
        run_packed(run, g);
    else if (mxc_dtype_size(g->dtype) == 2)
        run_16bit(run, g, temp);
    else
        run_split(run, g);
}
