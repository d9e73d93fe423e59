/* SPDX-License-Identifier: Apache-2.0 */
/* Scaled dot-product attention by matrix products: softmax(scale Q K^T + mask) V. The scores (H, L, S) are never whole
 * in memory: a tile of them, some queries by all keys, is computed in scratch, by batched products of cuBLASLt and a
 * softmax kernel with a team per query. Letters as in operator/nn/attention.h. In scratch, scores have the compute
 * type; probabilities stand beside them in data's type, for the next product, or in their place where the types are the
 * same. docs/internals/cuda.md says why cuDNN's fused attention is not used. */
#include <cmath>

#include "cuda/runtime/blas.h"
#include "cuda/runtime/gradient.h"
#include "cuda/runtime/kernel.h"
#include "cuda/runtime/math.h"
#include "cuda/runtime/strided_iterator.h"
#include "operator/nn/attention.h"

enum { SCRATCH = 128 << 20 }; /* bytes of a tile, about */

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

struct sizes {
    int64_t heads, queries, keys, width, values; /* H (batch and heads), L, S, D, V */
    mxc_dtype dtype;
    int64_t element, compute; /* bytes of the types */
};

static sizes sizes_of(const mxc_shape *query, const mxc_shape *value, mxc_dtype dtype) {
    const int last = query->ndim - 1, element = mxcu_element_bytes(dtype);
    return {mxci_shape_count(query, 0, last - 1),
            query->dim[last - 1],
            value->dim[last - 1],
            query->dim[last],
            value->dim[last],
            dtype,
            element,
            element == 8 ? 8 : 4};
}

/* Whether the compute type is data's own, so that scores and probabilities share memory. */
static int is_wide(const sizes *s) {
    return s->element == s->compute;
}

/* All keys for the queries `query` to query + queries - 1 of the heads `head` to head + heads - 1. heads is 1 unless
 * the queries are all of a head. */
struct score_tile {
    int64_t head, heads, query, queries;
};

static int64_t bounded(int64_t n, int64_t least, int64_t most) {
    return n > most ? most : n < least ? least : n;
}

/* The first tile, which is as large as any: as many heads as fit into SCRATCH, else as many queries of one. matrices:
 * of scores, 1 in forward, 2 in backward. */
static score_tile first_tile(const sizes *s, int matrices) {
    int64_t row = s->keys * matrices * (s->compute + (is_wide(s) ? 0 : s->element)), fit = SCRATCH / (row ? row : 1);
    return {0, bounded(fit / (s->queries ? s->queries : 1), 1, s->heads ? s->heads : 1), 0,
            bounded(fit, 1, s->queries ? s->queries : 1)};
}

/* Advance to the next tile; 0: there is none. Queries first, then heads, so that the tiles of a head follow each
 * other. */
static int next_tile(const sizes *s, const score_tile *first, score_tile *tile) {
    tile->query += tile->queries;
    if (tile->query >= s->queries) {
        tile->query = 0;
        tile->head += tile->heads;
    }
    tile->heads = bounded(s->heads - tile->head, 0, first->heads);
    tile->queries = bounded(s->queries - tile->query, 0, first->queries);
    return tile->heads > 0;
}

static int64_t aligned(int64_t bytes) {
    return (bytes + 255) / 256 * 256;
}

/* Offsets in scratch: scores and, in backward, their gradients, in the compute type; both in data's type; and in
 * backward the sums for a head's keys and values, which are accumulated over several tiles. */
struct scratch_plan {
    int64_t scores, score_grads, probabilities, grads, key_sums, value_sums, end;
};

static scratch_plan plan_of(const sizes *s, int matrices) {
    score_tile first = first_tile(s, matrices);
    int64_t n = first.heads * first.queries * s->keys, wide = aligned(n * s->compute);
    int64_t narrow = is_wide(s) ? 0 : aligned(n * s->element);
    scratch_plan scratch = {0, wide, matrices * wide, matrices * wide + narrow, matrices * (wide + narrow), 0, 0};
    if (is_wide(s)) {
        scratch.probabilities = scratch.scores;
        scratch.grads = scratch.score_grads;
    }
    scratch.value_sums = scratch.key_sums + (matrices > 1 ? aligned(s->keys * s->width * s->compute) : 0);
    scratch.end = scratch.value_sums + (matrices > 1 ? aligned(s->keys * s->values * s->compute) : 0);
    return scratch;
}

static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    sizes s = sizes_of(&sig->in_shape[MXCI_QUERY], &sig->in_shape[MXCI_VALUE], sig->in_type[MXCI_QUERY]);
    return (size_t)plan_of(&s, pass == MXC_BACKWARD ? 2 : 1).end;
}

/* ---- scores ------------------------------------------------------------------------------------------------------ */

/* What is added to a score: 0, an element of the mask broadcast to (H,L,S), or -inf for a boolean or integer mask of 0;
 * and how many keys a query may see. */
struct bias {
    const void *mask; /* NULL: none */
    mxc_dtype dtype;
    mxcu_strided_iterator iterator; /* by (H,L,S) */
    int64_t queries, keys;
    int causal;

    /* Causal: query i sees keys up to i + S - L, so that the last query sees all. */
    MXCU_DEVICE int64_t visible(int64_t row) const {
        int64_t n = row % queries + keys - queries + 1;
        return !causal || n > keys ? keys : n > 0 ? n : 0;
    }
    template <class R> MXCU_DEVICE R at(int64_t row, int64_t key) const {
        return mask ? read<R>(iterator(row * keys + key)) : 0;
    }
    template <class R> MXCU_DEVICE R read(int64_t i) const {
        switch (dtype) {
        case MXC_F32:
            return (R) static_cast<const float *>(mask)[i];
        case MXC_F64:
            return (R) static_cast<const double *>(mask)[i];
        case MXC_F16:
            return mxcu_f16_to_float(static_cast<const mxc_f16 *>(mask)[i]);
        case MXC_BF16:
            return mxcu_bf16_to_float(static_cast<const mxc_bf16 *>(mask)[i]);
        case MXC_I32:
            return hide<R>(static_cast<const int32_t *>(mask)[i] != 0);
        case MXC_I64:
            return hide<R>(static_cast<const int64_t *>(mask)[i] != 0);
        default:
            return hide<R>(static_cast<const int8_t *>(mask)[i] != 0);
        }
    }
    template <class R> MXCU_DEVICE R hide(bool shown) const {
        return shown ? (R)0 : -(R)INFINITY;
    }
};

static bias bias_of(const mxc_op_call *call, const sizes *s) {
    bias b = {
        nullptr, MXC_F32, {}, s->queries, s->keys, static_cast<const mxci_attention_params *>(call->params)->causal,
    };
    mxc_shape scores = call->in[MXCI_QUERY].shape;
    mxci_strided strides;
    if (call->n_in <= MXCI_MASK)
        return b;
    scores.dim[scores.ndim - 1] = s->keys;
    mxci_broadcast_strides(&call->in[MXCI_MASK].shape, &scores, &strides);
    b.mask = mxcu_pointer<const void>(call->in[MXCI_MASK].data);
    b.dtype = call->in[MXCI_MASK].dtype;
    b.iterator = mxcu_iterate(&strides);
    return b;
}

static double scale_of(const mxc_op_call *call, const sizes *s) {
    double scale = static_cast<const mxci_attention_params *>(call->params)->scale;
    return !std::isnan(scale) ? scale : s->width > 0 ? 1 / std::sqrt((double)s->width) : 1;
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

/* An operand of a product: rows of `columns` elements, `step` of them from head to head. */
struct matrix {
    void *data;
    int64_t columns, step;
};

/* The tile's queries, or all keys, of an array (H, rows, columns). */
static matrix queries_of(const sizes *s, const score_tile *tile, const mxc_tensor *t, int64_t columns) {
    int64_t first = (tile->head * s->queries + tile->query) * columns;
    return {static_cast<char *>(t->data) + first * s->element, columns, s->queries * columns};
}
static matrix keys_of(const sizes *s, const score_tile *tile, const mxc_tensor *t, int64_t columns) {
    return {static_cast<char *>(t->data) + tile->head * s->keys * columns * s->element, columns, s->keys * columns};
}
static matrix scores_of(const mxc_op_call *call, const sizes *s, const score_tile *tile, int64_t at) {
    return {static_cast<char *>(call->temp) + at, s->keys, tile->queries * s->keys};
}

/* What all products of a tile share: one product per head. */
static mxci_gemm_args product_of(const sizes *s, const score_tile *tile, double alpha, matrix a, matrix b, matrix c) {
    mxci_gemm_args g = MXCI_GEMM_INIT;
    g.dtype = s->dtype;
    g.alpha = alpha;
    g.a = a.data, g.lda = a.columns, g.a_stride = a.step;
    g.b = b.data, g.ldb = b.columns, g.b_stride = b.step;
    g.c = c.data, g.ldc = c.columns, g.c_stride = c.step;
    g.n = c.columns;
    g.batch = tile->heads;
    return g;
}

/* scores (L,S) = alpha rows (L,k) columns (S,k)'. */
static mxc_status multiply_rows(const mxc_op_call *call, const sizes *s, const score_tile *tile, double alpha,
                                matrix rows, matrix columns, matrix scores) {
    mxci_gemm_args g = product_of(s, tile, alpha, rows, columns, scores);
    g.m = tile->queries;
    g.k = rows.columns;
    g.transpose_b = 1;
    return mxcu_gemm_wide(call, &g);
}

/* to (L,n) = or += alpha weights (L,S) from (S,n). */
static mxc_status weigh_keys(const mxc_op_call *call, const sizes *s, const score_tile *tile, double alpha,
                             matrix weights, matrix from, matrix to, int add) {
    mxci_gemm_args g = product_of(s, tile, alpha, weights, from, to);
    g.m = tile->queries;
    g.k = s->keys;
    g.beta = add;
    return mxcu_gemm(call, &g);
}

/* to (S,n) = or += alpha weights' (S,L) from (L,n). wide: `to` has the compute type. */
static mxc_status weigh_queries(const mxc_op_call *call, const sizes *s, const score_tile *tile, double alpha,
                                matrix weights, matrix from, matrix to, int wide, int add) {
    mxci_gemm_args g = product_of(s, tile, alpha, weights, from, to);
    g.m = s->keys;
    g.k = tile->queries;
    g.transpose_a = 1;
    g.beta = add;
    return wide ? mxcu_gemm_wide(call, &g) : mxcu_gemm(call, &g);
}

/* scores = scale Q K^T, without the mask. */
static mxc_status make_scores(const mxc_op_call *call, const sizes *s, const score_tile *tile,
                              const scratch_plan *scratch) {
    return multiply_rows(call, s, tile, scale_of(call, s), queries_of(s, tile, &call->in[MXCI_QUERY], s->width),
                         keys_of(s, tile, &call->in[MXCI_KEY], s->width), scores_of(call, s, tile, scratch->scores));
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

/* A team per query of the tile, with its row of S scores: adds the mask, subtracts the maximum, and normalizes. log_sum
 * = the logarithm of the sum, which backward uses instead of the probabilities; a query that sees no key gets
 * probabilities of 0 and log_sum = inf, so that exp(score - log_sum) is 0 in backward too. */
template <class T>
static mxc_status softmax(const mxc_op_call *call, const sizes *s, const score_tile *tile,
                          const scratch_plan *scratch) {
    using R = mxcu_compute_t<T>;
    const bias b = bias_of(call, s);
    const int64_t first = tile->head * s->queries + tile->query, keys = s->keys;
    const int wanted = call->req[MXCI_LOG_SUM] != MXC_REQ_NULL;
    R *scores = mxcu_temp<R>(call, scratch->scores);
    T *to = mxcu_temp<T>(call, scratch->probabilities);
    mxcu_out<R> log_sum = mxcu_result<R>(call, &call->out[MXCI_LOG_SUM], MXCI_LOG_SUM);
    return mxcu_rows(call, tile->heads * tile->queries, keys, [=] MXCU_LAMBDA(int64_t row, mxcu_team team) {
        const int64_t n = b.visible(first + row);
        R *z = scores + row * keys, most = -(R)INFINITY, sum = 0;
        T *out = to + row * keys;
        for (int64_t i = team.rank; i < n; i += team.size) {
            z[i] += b.template at<R>(first + row, i);
            most = z[i] > most ? z[i] : most;
        }
        most = team.max(most);
        for (int64_t i = team.rank; i < n && most != -(R)INFINITY; i += team.size)
            sum += z[i] = mxcu_exp(z[i] - most);
        sum = team.sum(sum);
        for (int64_t i = team.rank; i < keys; i += team.size)
            out[i] = mxcu_narrow<T>(i < n && sum != 0 ? z[i] / sum : 0);
        if (wanted && team.rank == 0)
            log_sum.put(first + row, sum != 0 ? most + mxcu_log(sum) : (R)INFINITY);
    });
}

template <class T> static mxc_status forward_as(const mxc_op_call *call) {
    const mxc_tensor *out = &call->out[MXCI_ATTENDED];
    sizes s = sizes_of(&call->in[MXCI_QUERY].shape, &call->in[MXCI_VALUE].shape, call->in[MXCI_QUERY].dtype);
    scratch_plan scratch = plan_of(&s, 1);
    score_tile first = first_tile(&s, 1), tile = first;
    if (s.heads == 0 || s.queries == 0)
        return MXC_OK;
    do {
        MXC_TRY(make_scores(call, &s, &tile, &scratch));
        MXC_TRY(softmax<T>(call, &s, &tile, &scratch));
        if (call->req[MXCI_ATTENDED] != MXC_REQ_NULL)
            MXC_TRY(weigh_keys(call, &s, &tile, 1, scores_of(call, &s, &tile, scratch.probabilities),
                               keys_of(&s, &tile, &call->in[MXCI_VALUE], s.values),
                               queries_of(&s, &tile, out, s.values), call->req[MXCI_ATTENDED] == MXC_REQ_ADD));
    } while (next_tile(&s, &first, &tile));
    return MXC_OK;
}

static mxc_status forward(const mxc_op_call *call) {
    MXCU_SWITCH_FLOAT(call->in[MXCI_QUERY].dtype, forward_as, call)
}

/* ---- backward: the formulas are in operator/nn/attention_backward.c; D is without its factor scale --------------- */

/* A team per query: scores become probabilities P = exp(score - log_sum); products of gradient and values become D = P
 * (dP - mean), mean = sum(grad attended), which equals sum(P dP) (Dao et al., FlashAttention, appendix B). */
template <class T>
static mxc_status differentiate(const mxc_op_call *call, const sizes *s, const score_tile *tile,
                                const scratch_plan *scratch) {
    using R = mxcu_compute_t<T>;
    const bias b = bias_of(call, s);
    const int64_t first = tile->head * s->queries + tile->query, keys = s->keys, values = s->values;
    mxcu_in<T> grad = mxcu_data<T>(&call->out_grad[0]), attended = mxcu_data<T>(&call->out[MXCI_ATTENDED]);
    mxcu_in<R> log_sum = mxcu_data<R>(&call->out[MXCI_LOG_SUM]);
    const R *scores = mxcu_temp<R>(call, scratch->scores), *grads = mxcu_temp<R>(call, scratch->score_grads);
    T *to_p = mxcu_temp<T>(call, scratch->probabilities), *to_d = mxcu_temp<T>(call, scratch->grads);
    return mxcu_rows(call, tile->heads * tile->queries, keys, [=] MXCU_LAMBDA(int64_t row, mxcu_team team) {
        const int64_t n = b.visible(first + row), at = (first + row) * values;
        const R sum = log_sum[first + row];
        R mean = 0;
        for (int64_t i = team.rank; i < values; i += team.size)
            mean += grad[at + i] * attended[at + i];
        mean = team.sum(mean);
        for (int64_t i = team.rank; i < keys; i += team.size) {
            R z = i < n ? scores[row * keys + i] + b.template at<R>(first + row, i) : -(R)INFINITY;
            R weight = z == -(R)INFINITY ? 0 : mxcu_exp(z - sum), d = weight * (grads[row * keys + i] - mean);
            to_p[row * keys + i] = mxcu_narrow<T>(weight);
            to_d[row * keys + i] = mxcu_narrow<T>(d);
        }
    });
}

/* Gradient number slot, of keys or values, = or += the sums for a head. */
template <class T>
static mxc_status put_sums(const mxc_op_call *call, const sizes *s, const score_tile *tile, int slot, int64_t at,
                           int64_t n) {
    const mxcu_compute_t<T> *sums = mxcu_temp<mxcu_compute_t<T>>(call, at);
    mxcu_out<T> to = mxcu_result<T>(call, &call->in_grad[slot], slot);
    const int64_t first = tile->head * s->keys * n;
    return mxcu_for(call, s->keys * n, [=] MXCU_LAMBDA(int64_t i) { to.put(first + i, sums[i]); });
}

/* The gradient of keys or values, n elements each: weights' (S,L) rows (L,n). Where a head is several tiles, their
 * products are added in scratch in the compute type, and the last tile puts the sum. */
template <class T>
static mxc_status key_gradient(const mxc_op_call *call, const sizes *s, const score_tile *tile, int slot, double alpha,
                               int64_t weights, matrix rows, int64_t sums) {
    const int64_t n = rows.columns;
    const int whole = tile->query == 0 && tile->queries == s->queries;
    matrix to = keys_of(s, tile, &call->in_grad[slot], n), in_scratch = {static_cast<char *>(call->temp) + sums, n, 0};
    if (call->req[slot] == MXC_REQ_NULL)
        return MXC_OK;
    MXC_TRY(weigh_queries(call, s, tile, alpha, scores_of(call, s, tile, weights), rows, whole ? to : in_scratch,
                          !whole, whole ? call->req[slot] == MXC_REQ_ADD : tile->query > 0));
    if (whole || tile->query + tile->queries < s->queries)
        return MXC_OK;
    return put_sums<T>(call, s, tile, slot, sums, n);
}

/* dV = P' dY, dK = scale D' Q, dQ = scale D K. */
template <class T>
static mxc_status gradients(const mxc_op_call *call, const sizes *s, const score_tile *tile,
                            const scratch_plan *scratch) {
    const double scale = scale_of(call, s);
    MXC_TRY(key_gradient<T>(call, s, tile, MXCI_VALUE, 1, scratch->probabilities,
                            queries_of(s, tile, &call->out_grad[0], s->values), scratch->value_sums));
    MXC_TRY(key_gradient<T>(call, s, tile, MXCI_KEY, scale, scratch->grads,
                            queries_of(s, tile, &call->in[MXCI_QUERY], s->width), scratch->key_sums));
    if (call->req[MXCI_QUERY] == MXC_REQ_NULL)
        return MXC_OK;
    return weigh_keys(call, s, tile, scale, scores_of(call, s, tile, scratch->grads),
                      keys_of(s, tile, &call->in[MXCI_KEY], s->width),
                      queries_of(s, tile, &call->in_grad[MXCI_QUERY], s->width), call->req[MXCI_QUERY] == MXC_REQ_ADD);
}

template <class T> static mxc_status backward_as(const mxc_op_call *call) {
    sizes s = sizes_of(&call->in[MXCI_QUERY].shape, &call->in[MXCI_VALUE].shape, call->in[MXCI_QUERY].dtype);
    scratch_plan scratch = plan_of(&s, 2);
    score_tile first = first_tile(&s, 2), tile = first;
    if (call->n_in > MXCI_MASK)
        MXC_TRY(mxcu_no_gradient(call, MXCI_MASK));
    tile.queries = bounded(tile.queries, 0, s.queries); /* without queries, one tile of none for the keys' gradients */
    if (s.heads == 0)
        return MXC_OK;
    do {
        MXC_TRY(make_scores(call, &s, &tile, &scratch));
        MXC_TRY(multiply_rows(call, &s, &tile, 1, queries_of(&s, &tile, &call->out_grad[0], s.values),
                              keys_of(&s, &tile, &call->in[MXCI_VALUE], s.values),
                              scores_of(call, &s, &tile, scratch.score_grads)));
        MXC_TRY(differentiate<T>(call, &s, &tile, &scratch));
        MXC_TRY(gradients<T>(call, &s, &tile, &scratch));
    } while (next_tile(&s, &first, &tile));
    return MXC_OK;
}

static mxc_status backward(const mxc_op_call *call) {
    MXCU_SWITCH_FLOAT(call->in[MXCI_QUERY].dtype, backward_as, call)
}

MXCU_OP_IMPLS(attention, {"scaled_dot_product_attention", forward, backward, temp_bytes})
