/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scaled dot-product attention: attended = softmax(scale query key^T + mask) value, the softmax along the keys.
 * query (..., L, D), key (..., S, D), value (..., S, V), attended (..., L, V), the leading axes alike. mask broadcasts
 * to (..., L, S): of a float dtype it is added to the scores, of another it hides the keys where it is 0. causal hides
 * the keys behind i + S - L from query i, so that the last query sees all. A query that sees nothing gives 0.
 *
 * The matrix of scores (L, S) never stands in memory: it is computed in tiles, and an online softmax keeps for each
 * query the largest score and the sum of exponentials so far, by which the results of earlier tiles are corrected (T.
 * Dao et al., "FlashAttention", 2022; M. Milakov and N. Gimelshein, "Online normalizer calculation for softmax", 2018).
 * The second output, hidden, is log_sum (...,L), the logarithm of each query's sum, from which backward
 * (attention_backward.c) computes the probabilities again.
 */
#include "operator/nn/attention.h"

#include <math.h>

#include "math/gemm_kernels.h"
#include "math/map.h"
#include "operator/index/rows.h"

enum { ROWS = MXCI_ATTENTION_ROWS, KEYS = MXCI_ATTENTION_KEYS };

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(mxci_attention_params, use_mask), .name = "use_mask", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "Use the argument mask."},
    {MXC_PARAM_FIELD(mxci_attention_params, causal), .name = "causal", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "Causal mask: query i sees keys up to i + S - L only."},
    {MXC_PARAM_FIELD(mxci_attention_params, scale), .name = "scale", .type = MXC_PARAM_FLOAT, .initial = "None",
     .optional = 1, .doc = "Factor of the scores. None: 1 / sqrt(D)."},
    MXC_PARAM_END,
};

static int attention_count_args(const void *params) {
    return ((const mxci_attention_params *)params)->use_mask ? 4 : 3;
}

static int attention_count_visible(const void *params) {
    (void)params;
    return 1;
}

/* ---- inference --------------------------------------------------------------------------------------------------- */

/* The axes that slots have in common: L, S, D and V, each with its place from the end in query, key, value and output;
 * 0 where the slot has no such axis. */
enum { SLOTS = 4, BATCH = -1 };
static const int slots[SLOTS] = {MXCI_QUERY, MXCI_KEY, MXCI_VALUE, MXC_SLOT_OUT(MXCI_ATTENDED)};
static const struct {
    int from_end[SLOTS];
} common[] = {{{2, 0, 0, 2}}, {{0, 2, 2, 0}}, {{1, 1, 0, 0}}, {{0, 0, 1, 1}}};

/* Copy the size of a common axis from a slot where it is known to all slots that have it. axes: -1 for none. */
static void spread(mxc_shape *const *shapes, const int *axes) {
    int64_t size = -1;
    for (int i = 0; i < SLOTS; i++)
        if (axes[i] >= 0 && shapes[i]->dim[axes[i]] >= 0 && size < 0)
            size = shapes[i]->dim[axes[i]];
    for (int i = 0; i < SLOTS; i++)
        if (axes[i] >= 0)
            shapes[i]->dim[axes[i]] = size;
}

static mxc_status infer_mask(mxc_op_sig *sig) {
    mxc_shape full = sig->in_shape[MXCI_QUERY];
    full.dim[full.ndim - 1] = sig->in_shape[MXCI_KEY].dim[full.ndim - 2];
    return mxci_sig_broadcasts_to(sig, MXCI_MASK, &full);
}

/*
 * All of query, key, value and out have the leading axes (batch, heads) in common, and the pairs of axes in the table
 * common[]; a size known in one is set in the others. log_sum is query without its last axis, the mask broadcasts.
 */
static mxc_status attention_infer_shape(mxc_op_sig *sig) {
    mxc_shape *shapes[SLOTS], expected[SLOTS], log_sum;
    int ndim = -1;
    for (int i = 0; i < SLOTS; i++) {
        shapes[i] = mxci_sig_shape(sig, slots[i]);
        ndim = ndim < 0 ? shapes[i]->ndim : ndim;
    }
    if (ndim < 0)
        return MXC_OK;
    if (ndim < 2)
        return mxc_sig_fail(sig, "expected at least 2 axes, found %d", ndim);
    for (int i = 0; i < SLOTS; i++) {
        log_sum = mxci_shape_axes(ndim);
        MXC_TRY(mxc_sig_set_shape(sig, slots[i], &log_sum));
        expected[i] = *shapes[i];
        shapes[i] = &expected[i];
    }
    for (int i = 0; i < ndim - 2; i++)
        spread(shapes, (int[]){i, i, i, i});
    for (int k = 0; k < (int)(sizeof common / sizeof *common); k++) {
        int axes[SLOTS];
        for (int i = 0; i < SLOTS; i++)
            axes[i] = common[k].from_end[i] ? ndim - common[k].from_end[i] : -1;
        spread(shapes, axes);
    }
    for (int i = 0; i < SLOTS; i++)
        MXC_TRY(mxc_sig_set_shape(sig, slots[i], &expected[i]));
    log_sum = expected[MXCI_QUERY];
    log_sum.ndim--;
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(MXCI_LOG_SUM), &log_sum));
    return sig->n_in > MXCI_MASK ? infer_mask(sig) : MXC_OK;
}

/* One type for all but log_sum, which is kept in the compute type: backward recomputes the probabilities from it. */
static mxc_status attention_infer_type(mxc_op_sig *sig) {
    mxc_dtype query;
    MXC_TRY(mxci_sig_same_type(sig, SLOTS, slots));
    query = sig->in_type[MXCI_QUERY];
    if (query == MXC_DTYPE_UNKNOWN)
        return MXC_OK;
    if (sig->n_in > MXCI_MASK && sig->in_type[MXCI_MASK] == MXC_DTYPE_UNKNOWN)
        MXC_TRY(mxc_sig_set_type(sig, MXCI_MASK, query));
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(MXCI_LOG_SUM), mxci_compute_type(query));
}

/* ---- what both passes share -------------------------------------------------------------------------------------- */

void mxci_attention_open(const mxc_op_call *call, mxci_attention *out) {
    const mxci_attention_params *p = call->params;
    const mxc_shape *query = &call->in[MXCI_QUERY].shape, *value = &call->in[MXCI_VALUE].shape;
    mxc_shape scores = *query;
    int last = query->ndim - 1;
    *out = (mxci_attention){.call = call,
                            .heads = mxci_shape_count(query, 0, last - 1),
                            .queries = query->dim[last - 1],
                            .keys = value->dim[last - 1],
                            .width = query->dim[last],
                            .values = value->dim[last],
                            .dtype = call->in[MXCI_QUERY].dtype,
                            .causal = p->causal,
                            .scratch = call->temp};
    out->compute = mxci_compute_type(out->dtype);
    out->element = mxc_dtype_size(out->compute);
    out->scale = !isnan(p->scale) ? p->scale : out->width > 0 ? 1 / sqrt((double)out->width) : 1;
    out->causal_offset = out->keys - out->queries;
    out->kernel = out->compute == MXC_F64 ? &mxci_attention_f64 : &mxci_attention_f32;
    scores.dim[last] = out->keys;
    if (call->n_in > MXCI_MASK)
        mxci_broadcast_strides(&call->in[MXCI_MASK].shape, &scores, &out->mask_strides);
}

const void *mxci_attention_rows(const mxci_attention *a, const mxc_tensor *t, int64_t head, int64_t count,
                                int64_t columns, int64_t begin, int64_t n, void *buffer) {
    const void *from = mxci_at(t, (head * count + begin) * columns);
    if (a->dtype == a->compute)
        return from;
    mxci_load(a->dtype, from, buffer, n * columns);
    return buffer;
}

/* Transposition is only a choice of strides here, of which the product takes any. */
void mxci_attention_gemm(const mxci_attention *a, const mxci_attention_product *p) {
    static const double zero;
    mxci_product g = {
        .m = p->m,
        .n = p->n,
        .k = p->k,
        .a = p->a,
        .b = p->b,
        .c = p->c,
        .c_row = p->ldc,
        .a_row = p->ta ? 1 : p->lda,
        .a_step = p->ta ? p->lda : 1,
        .b_row = p->tb ? 1 : p->ldb,
        .b_col = p->tb ? p->ldb : 1,
        .start = &zero,
    };
    if (p->add) {
        g.start = p->c;
        g.start_row = p->ldc;
        g.start_col = 1;
    }
    (a->compute == MXC_F64 ? mxci_product_run_f64 : mxci_product_run_f32)(&g);
}

int64_t mxci_attention_visible(const mxci_attention *a, const mxci_attention_tile *t, int64_t i) {
    int64_t n = t->query + i + a->causal_offset + 1 - t->key;
    return !a->causal || n > t->n_keys ? t->n_keys : n > 0 ? n : 0;
}

const void *mxci_attention_bias(const mxci_attention *a, const mxci_attention_tile *t, int64_t i, void *row) {
    const mxc_tensor *mask = &a->call->in[MXCI_MASK];
    char raw[8 * KEYS];
    if (a->call->n_in <= MXCI_MASK)
        return NULL;
    mxci_gather(&a->mask_strides, mxc_dtype_size(mask->dtype), mask->data,
                (t->head * a->queries + t->query + i) * a->keys + t->key, t->n_keys, raw);
    mxci_convert(mask->dtype, raw, a->compute, row, t->n_keys);
    if (!(MXC_DTYPES_FLOAT & MXC_DTYPE_BIT(mask->dtype)))
        a->kernel->hide(t->n_keys, row);
    return row;
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

/* One part's scratch: copies of 16-bit rows (query ROWS x D, key KEYS x D, value KEYS x V), scores (ROWS, KEYS), a row
 * of the mask, and attended (ROWS, V), which is a sum until its division. row_max and sum are those of each query so
 * far. */
typedef struct forward_tiles {
    void *query, *key, *value;
    char *scores, *attended;
    void *mask;
    double row_max[ROWS], sum[ROWS];
} forward_tiles;

static void take_tiles(mxci_scratch *s, mxc_dtype dtype, int64_t width, int64_t values, forward_tiles *out) {
    const size_t element = mxc_dtype_size(mxci_compute_type(dtype));
    out->query = mxci_attention_copy(s, dtype, ROWS, width);
    out->key = mxci_attention_copy(s, dtype, KEYS, width);
    out->value = mxci_attention_copy(s, dtype, KEYS, values);
    out->scores = mxci_scratch_array(s, ROWS * KEYS, element);
    out->attended = mxci_scratch_array(s, mxci_dim_mul(ROWS, values), element);
    out->mask = mxci_scratch_array(s, KEYS, element);
}

static size_t tile_bytes(mxc_dtype dtype, int64_t width, int64_t values) {
    mxci_scratch measure = {0};
    forward_tiles unused;
    take_tiles(&measure, dtype, width, values, &unused);
    return measure.bytes;
}

static void open_tiles(const mxci_attention *a, int part, forward_tiles *out) {
    mxci_scratch s = {.base = a->scratch + (size_t)part * tile_bytes(a->dtype, a->width, a->values)};
    take_tiles(&s, a->dtype, a->width, a->values, out);
}

/* One step of the online softmax: scores of a tile become e^(score - row_max), with the largest score so far; sums and
 * attended of earlier tiles are multiplied by e^(old row_max - new row_max). Hidden scores become 0. */
static void softmax_tile(const mxci_attention *a, const mxci_attention_tile *t, forward_tiles *w) {
    for (int64_t i = 0; i < t->n_queries; i++) {
        char *row = w->scores + (size_t)(i * KEYS) * a->element;
        int64_t n = mxci_attention_visible(a, t, i);
        double max = a->kernel->score(n, a->scale, mxci_attention_bias(a, t, i, w->mask), row), correction;
        max = max > w->row_max[i] ? max : w->row_max[i];
        if (max == -INFINITY)
            n = 0; /* nothing is visible yet */
        correction = w->row_max[i] == max ? 1 : exp(w->row_max[i] - max);
        mxci_fill_compute(a->compute, 0, row + (size_t)n * a->element, t->n_keys - n);
        w->sum[i] = w->sum[i] * correction + a->kernel->exp(n, max, row);
        if (correction != 1)
            a->kernel->scale(a->values, correction, w->attended + (size_t)(i * a->values) * a->element);
        w->row_max[i] = max;
    }
}

/* Adds one tile of keys: scores = query key^T, softmax, attended += scores value. */
static void attention_add_tile(const mxci_attention *a, mxci_attention_tile *t, const void *query, forward_tiles *w) {
    const mxc_tensor *in = a->call->in;
    const void *key = mxci_attention_rows(a, &in[MXCI_KEY], t->head, a->keys, a->width, t->key, t->n_keys, w->key);
    const void *value =
        mxci_attention_rows(a, &in[MXCI_VALUE], t->head, a->keys, a->values, t->key, t->n_keys, w->value);
    mxci_attention_gemm(a, &(mxci_attention_product){.m = t->n_queries,
                                                     .n = t->n_keys,
                                                     .k = a->width,
                                                     .a = query,
                                                     .lda = a->width,
                                                     .b = key,
                                                     .ldb = a->width,
                                                     .tb = 1,
                                                     .c = w->scores,
                                                     .ldc = KEYS});
    softmax_tile(a, t, w);
    mxci_attention_gemm(a, &(mxci_attention_product){.m = t->n_queries,
                                                     .n = a->values,
                                                     .k = t->n_keys,
                                                     .a = w->scores,
                                                     .lda = KEYS,
                                                     .b = value,
                                                     .ldb = a->values,
                                                     .c = w->attended,
                                                     .ldc = a->values,
                                                     .add = 1});
}

/* Divides by the sums and stores the results. A query that sees no key has the result 0 and log_sum = inf, so that
 * backward gets probabilities of 0. */
static void store_attended(const mxci_attention *a, const mxci_attention_tile *t, forward_tiles *w) {
    const mxc_op_call *call = a->call;
    const mxc_tensor *out = &call->out[MXCI_ATTENDED];
    for (int64_t i = 0; i < t->n_queries; i++) {
        int64_t query = t->head * a->queries + t->query + i;
        char *row = w->attended + (size_t)(i * a->values) * a->element;
        int sees_no_key = w->row_max[i] == -INFINITY;
        a->kernel->scale(a->values, sees_no_key ? 0 : 1 / w->sum[i], row);
        if (call->req[MXCI_ATTENDED] != MXC_REQ_NULL)
            (call->req[MXCI_ATTENDED] == MXC_REQ_ADD ? mxci_store_add : mxci_store)(
                a->dtype, row, mxci_at(out, query * a->values), a->values);
        mxci_assign_value(call->req[MXCI_LOG_SUM], &call->out[MXCI_LOG_SUM], query,
                          sees_no_key ? INFINITY : w->row_max[i] + log(w->sum[i]));
    }
}

static int64_t blocks_of(const mxci_attention *a) {
    return (a->queries + ROWS - 1) / ROWS;
}

/* ROWS queries of a head and all keys that they see. With causal, tiles of keys behind the last query's are skipped. */
static void attention_block(const mxci_attention *a, int64_t head, int64_t block, forward_tiles *w) {
    mxci_attention_tile t = {.head = head, .query = block * ROWS};
    int64_t end = a->keys;
    const void *query;
    t.n_queries = a->queries - t.query < ROWS ? a->queries - t.query : ROWS;
    if (a->causal && t.query + t.n_queries + a->causal_offset < end)
        end = t.query + t.n_queries + a->causal_offset;
    query =
        mxci_attention_rows(a, &a->call->in[MXCI_QUERY], head, a->queries, a->width, t.query, t.n_queries, w->query);
    mxci_fill_compute(a->compute, 0, w->attended, t.n_queries * a->values);
    for (int64_t i = 0; i < t.n_queries; i++) {
        w->row_max[i] = -INFINITY;
        w->sum[i] = 0;
    }
    for (; t.key < end; t.key += KEYS) {
        t.n_keys = end - t.key < KEYS ? end - t.key : KEYS;
        attention_add_tile(a, &t, query, w);
    }
    store_attended(a, &t, w);
}

/* Items are blocks of ROWS queries, of all heads. */
static void attention_forward_part(void *arg, int64_t begin, int64_t end, int part) {
    const mxci_attention *a = arg;
    forward_tiles w;
    open_tiles(a, part, &w);
    for (int64_t i = begin; i < end; i++)
        attention_block(a, i / blocks_of(a), i % blocks_of(a), &w);
}

static size_t attention_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    const mxc_shape *query = &sig->in_shape[MXCI_QUERY], *value = &sig->in_shape[MXCI_VALUE];
    if (pass == MXC_BACKWARD)
        return mxci_attention_backward_bytes(sig);
    return mxci_size_mul(tile_bytes(sig->in_type[MXCI_QUERY], query->dim[query->ndim - 1], value->dim[value->ndim - 1]),
                         (size_t)sig->parallelism);
}

/* Heads and blocks of queries are independent of each other, so each is a part of its own. */
static mxc_status attention_forward(const mxc_op_call *call) {
    mxci_attention a;
    mxci_attention_open(call, &a);
    if (a.width == 0 && a.values == 0) { /* keys of any number, all empty, and no gradient that would read log_sum */
        mxci_assign_constant(call->run, call->req[MXCI_LOG_SUM], &call->out[MXCI_LOG_SUM], 0);
        return MXC_OK;
    }
    mxc_parallel_for_dynamic(call->run, a.heads * blocks_of(&a), 1, attention_forward_part, &a);
    return MXC_OK;
}

const mxc_op_def mxci_op_attention = {
    .size = sizeof(mxc_op_def),
    .name = "scaled_dot_product_attention",
    .aliases = "_contrib_scaled_dot_product_attention",
    .doc = "output = softmax(scale query key^T + mask) value, with softmax over the keys: query (...,L,D), key "
           "(...,S,D), value (...,S,V), output (...,L,V). mask is broadcast to (...,L,S) and has no gradient; a float "
           "mask is added, one of another dtype hides the keys where it is 0. A query that sees no key gives 0",
    .params = schema,
    .param_size = sizeof(mxci_attention_params),
    .args = "query,key,value,mask",
    .n_args = attention_count_args,
    .outputs = "output,log_sum",
    .n_visible = attention_count_visible,
    .infer_shape = attention_infer_shape,
    .infer_type = attention_infer_type,
    .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1, .in = 15, .out = 3},
    .temp_bytes = attention_temp_bytes,
    .forward = {[MXC_CPU] = attention_forward},
    .backward = {[MXC_CPU] = mxci_attention_backward},
};
