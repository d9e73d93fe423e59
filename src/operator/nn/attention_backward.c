/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gradients of attention (attention.c). With P = e^(score - log_sum) the probabilities, computed again tile by
 * tile, and G the gradient of attended: value: P^T G;  D = scale P (G value^T - r), r_i = sum over a row of G attended;
 * query: D key;  key: D^T query
 *
 * The work is cut by heads and, where these are fewer than threads, by slices of the keys. A slice
 * computes its keys' gradients alone; what it adds to the queries' gradient goes to a copy of its own, and the copies
 * are summed at the end. The cut depends on the number of threads, and so does the order of these sums.
 */
#include <math.h>

#include "operator/index/rows.h"
#include "operator/nn/attention.h"

enum { ROWS = MXCI_ATTENTION_ROWS, KEYS = MXCI_ATTENTION_KEYS };

typedef struct backward_run {
    mxci_attention a;
    int64_t slices;   /* of each head */
    char *row_dot;    /* r (H,L), compute type */
    char *query_sums; /* gradients of a head's queries (L,D): of each slice, or with one slice of each part */
    char *tiles;      /* of each part */
} backward_run;

/* One part's scratch: copies of 16-bit rows, P, D, a row of the mask, and the sums of the keys' gradients. */
typedef struct backward_tiles {
    void *query, *key, *value, *grad;
    char *p, *d;
    void *mask, *key_sums, *value_sums;
} backward_tiles;

/* ---- scratch ----------------------------------------------------------------------------------------------------- */

/* As many slices per head as give every thread work, but each of at least one block of keys. */
static int64_t slices_of(int64_t heads, int64_t keys, int parallelism) {
    int64_t blocks = (keys + KEYS - 1) / KEYS, wanted = heads > 0 ? (parallelism + heads - 1) / heads : 1;
    return wanted < blocks ? wanted : blocks > 0 ? blocks : 1;
}

/* How many copies of a head's gradient of the queries are needed: one per slice, or with one slice per head one per
 * thread. */
static int64_t sums_of(int64_t heads, int64_t slices, int parallelism) {
    return slices > 1 ? mxci_dim_mul(heads, slices) : parallelism;
}

/* The memory of one thread: copies of a block's operands, its probabilities and their gradient, and the sums. */
static void take_tiles(mxci_scratch *s, mxc_dtype dtype, int64_t width, int64_t values, backward_tiles *out) {
    const size_t element = mxc_dtype_size(mxci_compute_type(dtype));
    out->query = mxci_attention_copy(s, dtype, ROWS, width);
    out->key = mxci_attention_copy(s, dtype, KEYS, width);
    out->value = mxci_attention_copy(s, dtype, KEYS, values);
    out->grad = mxci_attention_copy(s, dtype, ROWS, values);
    out->p = mxci_scratch_array(s, ROWS * KEYS, element);
    out->d = mxci_scratch_array(s, ROWS * KEYS, element);
    out->mask = mxci_scratch_array(s, KEYS, element);
    out->key_sums = mxci_scratch_array(s, mxci_dim_mul(KEYS, width), element);
    out->value_sums = mxci_scratch_array(s, mxci_dim_mul(KEYS, values), element);
}

static size_t tile_bytes(mxc_dtype dtype, int64_t width, int64_t values) {
    mxci_scratch measure = {0};
    backward_tiles unused;
    take_tiles(&measure, dtype, width, values, &unused);
    return measure.bytes;
}

static void open_tiles(const backward_run *r, int part, backward_tiles *out) {
    const mxci_attention *a = &r->a;
    mxci_scratch s = {.base = r->tiles + (size_t)part * tile_bytes(a->dtype, a->width, a->values)};
    take_tiles(&s, a->dtype, a->width, a->values, out);
}

/* Bytes of a head's queries' gradient in the compute type. */
static size_t query_sum_bytes(mxc_dtype dtype, int64_t queries, int64_t width) {
    return mxci_size_align(mxci_size_of(mxci_dim_mul(queries, width), mxc_dtype_size(mxci_compute_type(dtype))));
}

/* As attention_backward_open_run takes them, with a set of tiles for each thread. */
size_t mxci_attention_backward_bytes(const mxc_op_sig *sig) {
    const mxc_shape *query = &sig->in_shape[MXCI_QUERY], *value = &sig->in_shape[MXCI_VALUE];
    int last = query->ndim - 1;
    int64_t heads = mxci_shape_count(query, 0, last - 1), queries = query->dim[last - 1], width = query->dim[last];
    int64_t slices = slices_of(heads, value->dim[last - 1], sig->parallelism);
    mxc_dtype dtype = sig->in_type[MXCI_QUERY];
    mxci_scratch s = {0};
    mxci_scratch_array(&s, mxci_dim_mul(heads, queries), mxc_dtype_size(mxci_compute_type(dtype)));
    mxci_scratch_array(&s, sums_of(heads, slices, sig->parallelism), query_sum_bytes(dtype, queries, width));
    mxci_scratch_array(&s, sig->parallelism, tile_bytes(dtype, width, value->dim[last]));
    return s.bytes;
}

/* In the order of mxci_attention_backward_bytes; what is left at the end is the threads' tiles. */
static void attention_backward_open_run(const mxc_op_call *call, backward_run *r) {
    mxci_scratch s = {.base = call->temp};
    mxci_attention *a = &r->a;
    int parallelism = mxc_engine_parallelism(call->run->engine);
    mxci_attention_open(call, a);
    r->slices = slices_of(a->heads, a->keys, parallelism);
    r->row_dot = mxci_scratch_array(&s, a->heads * a->queries, a->element);
    r->query_sums = mxci_scratch_array(&s, sums_of(a->heads, r->slices, parallelism),
                                       query_sum_bytes(a->dtype, a->queries, a->width));
    r->tiles = mxci_scratch_take(&s, 0);
}

/* ---- one tile ---------------------------------------------------------------------------------------------------- */

/* r of rows begin..end-1 of all heads: G times attended. */
static void row_dots(void *arg, int64_t begin, int64_t end, int part) {
    const backward_run *r = arg;
    const mxci_attention *a = &r->a;
    backward_tiles w;
    open_tiles(r, part, &w);
    for (int64_t i = begin; i < end; i++) {
        const void *grad = mxci_attention_rows(a, &a->call->out_grad[0], 0, 0, a->values, i, 1, w.p);
        const void *out = mxci_attention_rows(a, &a->call->out[MXCI_ATTENDED], 0, 0, a->values, i, 1, w.d);
        double sum = a->kernel->dot(a->values, grad, out);
        mxci_fill_compute(a->compute, sum, r->row_dot + (size_t)i * a->element, 1);
    }
}

/* In p, scores become probabilities; in d, G value^T becomes D. */
static void attention_scores_gradient(const backward_run *r, const mxci_attention_tile *t, backward_tiles *w) {
    const mxci_attention *a = &r->a;
    const mxc_tensor row_dot = {.data = r->row_dot, .dtype = a->compute};
    for (int64_t i = 0; i < t->n_queries; i++) {
        int64_t query = t->head * a->queries + t->query + i, n = mxci_attention_visible(a, t, i);
        char *p = w->p + (size_t)(i * KEYS) * a->element, *d = w->d + (size_t)(i * KEYS) * a->element;
        a->kernel->score(n, a->scale, mxci_attention_bias(a, t, i, w->mask), p);
        a->kernel->exp(n, mxci_value_at(&a->call->out[MXCI_LOG_SUM], query), p);
        mxci_fill_compute(a->compute, 0, p + (size_t)n * a->element, t->n_keys - n);
        a->kernel->gradient(t->n_keys, a->scale, mxci_value_at(&row_dot, query), p, d);
    }
}

/* Five products per tile: scores and G value^T, from which P and D follow, then what they add to the sums of the tile's
 * values, keys and queries. */
static void attention_backward_add_tile(const backward_run *r, const mxci_attention_tile *t, backward_tiles *w,
                                        const void *key, const void *value, char *query_sum) {
    const mxci_attention *a = &r->a;
    const void *query = mxci_attention_rows(a, &a->call->in[MXCI_QUERY], t->head, a->queries, a->width, t->query,
                                            t->n_queries, w->query);
    const void *grad =
        mxci_attention_rows(a, &a->call->out_grad[0], t->head, a->queries, a->values, t->query, t->n_queries, w->grad);
    mxci_attention_gemm(a, &(mxci_attention_product){.m = t->n_queries,
                                                     .n = t->n_keys,
                                                     .k = a->width,
                                                     .a = query,
                                                     .lda = a->width,
                                                     .b = key,
                                                     .ldb = a->width,
                                                     .tb = 1,
                                                     .c = w->p,
                                                     .ldc = KEYS});
    mxci_attention_gemm(a, &(mxci_attention_product){.m = t->n_queries,
                                                     .n = t->n_keys,
                                                     .k = a->values,
                                                     .a = grad,
                                                     .lda = a->values,
                                                     .b = value,
                                                     .ldb = a->values,
                                                     .tb = 1,
                                                     .c = w->d,
                                                     .ldc = KEYS});
    attention_scores_gradient(r, t, w);
    mxci_attention_gemm(a, &(mxci_attention_product){.m = t->n_keys,
                                                     .n = a->values,
                                                     .k = t->n_queries,
                                                     .a = w->p,
                                                     .lda = KEYS,
                                                     .ta = 1,
                                                     .b = grad,
                                                     .ldb = a->values,
                                                     .c = w->value_sums,
                                                     .ldc = a->values,
                                                     .add = 1});
    mxci_attention_gemm(a, &(mxci_attention_product){.m = t->n_keys,
                                                     .n = a->width,
                                                     .k = t->n_queries,
                                                     .a = w->d,
                                                     .lda = KEYS,
                                                     .ta = 1,
                                                     .b = query,
                                                     .ldb = a->width,
                                                     .c = w->key_sums,
                                                     .ldc = a->width,
                                                     .add = 1});
    mxci_attention_gemm(a, &(mxci_attention_product){.m = t->n_queries,
                                                     .n = a->width,
                                                     .k = t->n_keys,
                                                     .a = w->d,
                                                     .lda = KEYS,
                                                     .b = key,
                                                     .ldb = a->width,
                                                     .c = query_sum + (size_t)(t->query * a->width) * a->element,
                                                     .ldc = a->width,
                                                     .add = 1});
}

/* ---- slices ------------------------------------------------------------------------------------------------------ */

/* n elements from the compute type to a gradient, from its element `at` on. */
static void store_sums(const mxci_attention *a, int slot, int64_t at, const void *sums, int64_t n) {
    mxc_req req = a->call->req[slot];
    if (req != MXC_REQ_NULL && n > 0)
        (req == MXC_REQ_ADD ? mxci_store_add : mxci_store)(a->dtype, sums, mxci_at(&a->call->in_grad[slot], at), n);
}

/* The gradients of KEYS keys from t->key on. */
static void keys_gradient(const backward_run *r, mxci_attention_tile t, backward_tiles *w, char *query_sum) {
    const mxci_attention *a = &r->a;
    const mxc_tensor *in = a->call->in;
    const void *key = mxci_attention_rows(a, &in[MXCI_KEY], t.head, a->keys, a->width, t.key, t.n_keys, w->key);
    const void *value = mxci_attention_rows(a, &in[MXCI_VALUE], t.head, a->keys, a->values, t.key, t.n_keys, w->value);
    int64_t first = t.head * a->keys + t.key;
    mxci_fill_compute(a->compute, 0, w->key_sums, t.n_keys * a->width);
    mxci_fill_compute(a->compute, 0, w->value_sums, t.n_keys * a->values);
    for (t.query = 0; t.query < a->queries; t.query += ROWS) {
        t.n_queries = a->queries - t.query < ROWS ? a->queries - t.query : ROWS;
        if (mxci_attention_visible(a, &t, t.n_queries - 1) > 0)
            attention_backward_add_tile(r, &t, w, key, value, query_sum);
    }
    store_sums(a, MXCI_KEY, first * a->width, w->key_sums, t.n_keys * a->width);
    store_sums(a, MXCI_VALUE, first * a->values, w->value_sums, t.n_keys * a->values);
}

static char *query_sum_of(const backward_run *r, int64_t index) {
    return r->query_sums + (size_t)index * query_sum_bytes(r->a.dtype, r->a.queries, r->a.width);
}

/* Item i: slice i % slices of head i / slices. */
static void run_slices(void *arg, int64_t begin, int64_t end, int part) {
    const backward_run *r = arg;
    const mxci_attention *a = &r->a;
    int64_t blocks = (a->keys + KEYS - 1) / KEYS;
    backward_tiles w;
    open_tiles(r, part, &w);
    for (int64_t item = begin; item < end; item++) {
        int64_t slice = item % r->slices, last = (slice + 1) * blocks / r->slices;
        char *query_sum = query_sum_of(r, r->slices > 1 ? item : part);
        mxci_fill_compute(a->compute, 0, query_sum, a->queries * a->width);
        for (int64_t block = slice * blocks / r->slices; block < last; block++) {
            mxci_attention_tile t = {.head = item / r->slices, .key = block * KEYS};
            t.n_keys = a->keys - t.key < KEYS ? a->keys - t.key : KEYS;
            keys_gradient(r, t, &w, query_sum);
        }
        if (r->slices == 1)
            store_sums(a, MXCI_QUERY, item * a->queries * a->width, query_sum, a->queries * a->width);
    }
}

/* Heads begin..end-1: the queries' gradient is the sum of the slices' copies. */
static void sum_slices(void *arg, int64_t begin, int64_t end, int part) {
    const backward_run *r = arg;
    const mxci_attention *a = &r->a;
    int64_t n = a->queries * a->width;
    (void)part;
    for (int64_t head = begin; head < end; head++) {
        char *sum = query_sum_of(r, head * r->slices);
        for (int64_t slice = 1; slice < r->slices; slice++)
            mxci_add_row(a->compute, sum, query_sum_of(r, head * r->slices + slice), n);
        store_sums(a, MXCI_QUERY, head * n, sum, n);
    }
}

/*
 * Three passes: the dot products of out and its gradient for each query; the gradients by slices of keys; and, where a
 * head has several slices, the sum of their parts of query's gradient, in a fixed order.
 */
mxc_status mxci_attention_backward(const mxc_op_call *call) {
    backward_run r;
    attention_backward_open_run(call, &r);
    if (call->n_in > MXCI_MASK)
        mxci_assign_zero_gradient(call, MXCI_MASK);
    mxc_parallel_for(call->run, r.a.heads * r.a.queries, 256, row_dots, &r);
    mxc_parallel_for_dynamic(call->run, r.a.heads * r.slices, 1, run_slices, &r);
    if (r.slices > 1)
        mxc_parallel_for(call->run, r.a.heads, 1, sum_slices, &r);
    return MXC_OK;
}
