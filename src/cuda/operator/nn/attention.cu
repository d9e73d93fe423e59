/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scaled dot-product attention by matrix products. The matrix of scores is never whole in memory: a block of it, some
 * queries by all keys, is computed in scratch. Letters as in operator/nn/attention.h. In scratch scores are of the
 * compute type; probabilities stand beside them in data's type, for the products, or in their place where that is the
 * same.
 */
#include <cmath>

#include "cuda/runtime/blas.h"
#include "cuda/runtime/gradient.h"
#include "cuda/runtime/kernel.h"
#include "cuda/runtime/math.h"
#include "cuda/runtime/strided_iterator.h"
#include "operator/nn/attention.h"

enum { SCRATCH = 128 << 20 }; /* bytes of a piece, about */

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

struct sizes {
    int64_t heads, queries, keys, width, values; /* H, L, S, D, V */
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

static int is_wide(const sizes *s) {
    return s->element == s->compute;
}

/* Some queries of some heads: of one head where they are not all of its queries. */
struct piece {
    int64_t head, heads, query, queries;
};

static int64_t bounded(int64_t n, int64_t least, int64_t most) {
    return n > most ? most : n < least ? least : n;
}

/* The first piece, which is as large as any. matrices: of scores. */
static piece first_piece(const sizes *s, int matrices) {
    int64_t row = s->keys * matrices * (s->compute + (is_wide(s) ? 0 : s->element)), fit = SCRATCH / (row ? row : 1);
    return {0, bounded(fit / (s->queries ? s->queries : 1), 1, s->heads ? s->heads : 1), 0,
            bounded(fit, 1, s->queries ? s->queries : 1)};
}

/* Whether there is another one. */
static int next_piece(const sizes *s, const piece *first, piece *p) {
    p->query += p->queries;
    if (p->query >= s->queries) {
        p->query = 0;
        p->head += p->heads;
    }
    p->heads = bounded(s->heads - p->head, 0, first->heads);
    p->queries = bounded(s->queries - p->query, 0, first->queries);
    return p->heads > 0;
}

static int64_t aligned(int64_t bytes) {
    return (bytes + 255) / 256 * 256;
}

/* What pieces take of scratch: scores and, in backward, their gradients; both in data's type; and in backward the sums
 * for a head's keys and values, which may be added up from several pieces. */
struct plan {
    int64_t scores, score_grads, p, d, key_sums, value_sums, end;
};

static plan plan_of(const sizes *s, int matrices) {
    piece first = first_piece(s, matrices);
    int64_t n = first.heads * first.queries * s->keys, wide = aligned(n * s->compute);
    int64_t narrow = is_wide(s) ? 0 : aligned(n * s->element);
    plan a = {0, wide, matrices * wide, matrices * wide + narrow, matrices * (wide + narrow), 0, 0};
    if (is_wide(s)) {
        a.p = a.scores;
        a.d = a.score_grads;
    }
    a.value_sums = a.key_sums + (matrices > 1 ? aligned(s->keys * s->width * s->compute) : 0);
    a.end = a.value_sums + (matrices > 1 ? aligned(s->keys * s->values * s->compute) : 0);
    return a;
}

static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    sizes s = sizes_of(&sig->in_shape[MXCI_QUERY], &sig->in_shape[MXCI_VALUE], sig->in_type[MXCI_QUERY]);
    return (size_t)plan_of(&s, pass == MXC_BACKWARD ? 2 : 1).end;
}

/* ---- scores ------------------------------------------------------------------------------------------------------ */

/* What is added to a score; and how many keys a query may see. */
struct bias {
    const void *mask; /* NULL: none */
    mxc_dtype dtype;
    mxcu_strided_iterator iterator; /* by (H,L,S) */
    int64_t queries, keys;
    int causal;

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
            return mxcu_f16_to_float(static_cast<const mxci_f16 *>(mask)[i]);
        case MXC_BF16:
            return mxcu_bf16_to_float(static_cast<const mxci_bf16 *>(mask)[i]);
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

/* The piece's queries, or all keys, of an array (H, rows, columns). */
static matrix queries_of(const sizes *s, const piece *p, const mxc_tensor *t, int64_t columns) {
    int64_t first = (p->head * s->queries + p->query) * columns;
    return {static_cast<char *>(t->data) + first * s->element, columns, s->queries * columns};
}
static matrix keys_of(const sizes *s, const piece *p, const mxc_tensor *t, int64_t columns) {
    return {static_cast<char *>(t->data) + p->head * s->keys * columns * s->element, columns, s->keys * columns};
}
static matrix scores_of(const mxc_op_call *call, const sizes *s, const piece *p, int64_t at) {
    return {static_cast<char *>(call->temp) + at, s->keys, p->queries * s->keys};
}

static mxci_gemm_args product_of(const sizes *s, const piece *p, double alpha, matrix a, matrix b, matrix c) {
    mxci_gemm_args g = MXCI_GEMM_INIT;
    g.dtype = s->dtype;
    g.alpha = alpha;
    g.a = a.data, g.lda = a.columns, g.a_stride = a.step;
    g.b = b.data, g.ldb = b.columns, g.b_stride = b.step;
    g.c = c.data, g.ldc = c.columns, g.c_stride = c.step;
    g.n = c.columns;
    g.batch = p->heads;
    return g;
}

/* scores (L,S) = alpha rows (L,k) columns (S,k)'. */
static mxc_status multiply_rows(const mxc_op_call *call, const sizes *s, const piece *p, double alpha, matrix rows,
                                matrix columns, matrix scores) {
    mxci_gemm_args g = product_of(s, p, alpha, rows, columns, scores);
    g.m = p->queries;
    g.k = rows.columns;
    g.transpose_b = 1;
    return mxcu_gemm_wide(call, &g);
}

/* to (L,n) = or += alpha p (L,S) from (S,n). */
static mxc_status weigh_keys(const mxc_op_call *call, const sizes *s, const piece *p, double alpha, matrix weights,
                             matrix from, matrix to, int add) {
    mxci_gemm_args g = product_of(s, p, alpha, weights, from, to);
    g.m = p->queries;
    g.k = s->keys;
    g.beta = add;
    return mxcu_gemm(call, &g);
}

/* to (S,n) = or += alpha p' (S,L) from (L,n). wide: to is of the compute type. */
static mxc_status weigh_queries(const mxc_op_call *call, const sizes *s, const piece *p, double alpha, matrix weights,
                                matrix from, matrix to, int wide, int add) {
    mxci_gemm_args g = product_of(s, p, alpha, weights, from, to);
    g.m = s->keys;
    g.k = p->queries;
    g.transpose_a = 1;
    g.beta = add;
    return wide ? mxcu_gemm_wide(call, &g) : mxcu_gemm(call, &g);
}

static mxc_status make_scores(const mxc_op_call *call, const sizes *s, const piece *p, const plan *a) {
    return multiply_rows(call, s, p, scale_of(call, s), queries_of(s, p, &call->in[MXCI_QUERY], s->width),
                         keys_of(s, p, &call->in[MXCI_KEY], s->width), scores_of(call, s, p, a->scores));
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

/* Scores become probabilities; the logarithms of their sums are put. */
template <class T> static mxc_status softmax(const mxc_op_call *call, const sizes *s, const piece *p, const plan *a) {
    using R = mxcu_compute_t<T>;
    const bias b = bias_of(call, s);
    const int64_t first = p->head * s->queries + p->query, keys = s->keys;
    const int wanted = call->req[MXCI_LOG_SUM] != MXC_REQ_NULL;
    R *scores = mxcu_temp<R>(call, a->scores);
    T *to = mxcu_temp<T>(call, a->p);
    mxcu_out<R> log_sum = mxcu_result<R>(call, &call->out[MXCI_LOG_SUM], MXCI_LOG_SUM);
    return mxcu_rows(call, p->heads * p->queries, keys, [=] MXCU_LAMBDA(int64_t row, mxcu_team team) {
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
    plan a = plan_of(&s, 1);
    piece first = first_piece(&s, 1), p = first;
    if (s.heads == 0 || s.queries == 0)
        return MXC_OK;
    do {
        MXC_TRY(make_scores(call, &s, &p, &a));
        MXC_TRY(softmax<T>(call, &s, &p, &a));
        if (call->req[MXCI_ATTENDED] != MXC_REQ_NULL)
            MXC_TRY(weigh_keys(call, &s, &p, 1, scores_of(call, &s, &p, a.p),
                               keys_of(&s, &p, &call->in[MXCI_VALUE], s.values), queries_of(&s, &p, out, s.values),
                               call->req[MXCI_ATTENDED] == MXC_REQ_ADD));
    } while (next_piece(&s, &first, &p));
    return MXC_OK;
}

static mxc_status forward(const mxc_op_call *call) {
    MXCU_SWITCH_FLOAT(call->in[MXCI_QUERY].dtype, forward_as, call)
}

/* ---- backward: as operator/nn/attention_backward.c says, D without its factor scale ------------------------------ */

/* Scores become probabilities P, products of gradient and values become D. */
template <class T>
static mxc_status differentiate(const mxc_op_call *call, const sizes *s, const piece *p, const plan *a) {
    using R = mxcu_compute_t<T>;
    const bias b = bias_of(call, s);
    const int64_t first = p->head * s->queries + p->query, keys = s->keys, values = s->values;
    mxcu_in<T> grad = mxcu_data<T>(&call->out_grad[0]), attended = mxcu_data<T>(&call->out[MXCI_ATTENDED]);
    mxcu_in<R> log_sum = mxcu_data<R>(&call->out[MXCI_LOG_SUM]);
    const R *scores = mxcu_temp<R>(call, a->scores), *grads = mxcu_temp<R>(call, a->score_grads);
    T *to_p = mxcu_temp<T>(call, a->p), *to_d = mxcu_temp<T>(call, a->d);
    return mxcu_rows(call, p->heads * p->queries, keys, [=] MXCU_LAMBDA(int64_t row, mxcu_team team) {
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
static mxc_status put_sums(const mxc_op_call *call, const sizes *s, const piece *p, int slot, int64_t at, int64_t n) {
    const mxcu_compute_t<T> *sums = mxcu_temp<mxcu_compute_t<T>>(call, at);
    mxcu_out<T> to = mxcu_result<T>(call, &call->in_grad[slot], slot);
    const int64_t first = p->head * s->keys * n;
    return mxcu_for(call, s->keys * n, [=] MXCU_LAMBDA(int64_t i) { to.put(first + i, sums[i]); });
}

/* The gradient of keys or values, n elements each: the weights' share of rows of queries, summed up in scratch where a
 * head is several pieces. */
template <class T>
static mxc_status key_gradient(const mxc_op_call *call, const sizes *s, const piece *p, int slot, double alpha,
                               int64_t weights, matrix rows, int64_t sums) {
    const int64_t n = rows.columns;
    const int whole = p->query == 0 && p->queries == s->queries;
    matrix to = keys_of(s, p, &call->in_grad[slot], n), in_scratch = {static_cast<char *>(call->temp) + sums, n, 0};
    if (call->req[slot] == MXC_REQ_NULL)
        return MXC_OK;
    MXC_TRY(weigh_queries(call, s, p, alpha, scores_of(call, s, p, weights), rows, whole ? to : in_scratch, !whole,
                          whole ? call->req[slot] == MXC_REQ_ADD : p->query > 0));
    if (whole || p->query + p->queries < s->queries)
        return MXC_OK;
    return put_sums<T>(call, s, p, slot, sums, n);
}

template <class T> static mxc_status gradients(const mxc_op_call *call, const sizes *s, const piece *p, const plan *a) {
    const double scale = scale_of(call, s);
    MXC_TRY(key_gradient<T>(call, s, p, MXCI_VALUE, 1, a->p, queries_of(s, p, &call->out_grad[0], s->values),
                            a->value_sums));
    MXC_TRY(key_gradient<T>(call, s, p, MXCI_KEY, scale, a->d, queries_of(s, p, &call->in[MXCI_QUERY], s->width),
                            a->key_sums));
    if (call->req[MXCI_QUERY] == MXC_REQ_NULL)
        return MXC_OK;
    return weigh_keys(call, s, p, scale, scores_of(call, s, p, a->d), keys_of(s, p, &call->in[MXCI_KEY], s->width),
                      queries_of(s, p, &call->in_grad[MXCI_QUERY], s->width), call->req[MXCI_QUERY] == MXC_REQ_ADD);
}

template <class T> static mxc_status backward_as(const mxc_op_call *call) {
    sizes s = sizes_of(&call->in[MXCI_QUERY].shape, &call->in[MXCI_VALUE].shape, call->in[MXCI_QUERY].dtype);
    plan a = plan_of(&s, 2);
    piece first = first_piece(&s, 2), p = first;
    if (call->n_in > MXCI_MASK)
        MXC_TRY(mxcu_no_gradient(call, MXCI_MASK));
    p.queries = bounded(p.queries, 0, s.queries); /* without queries, one piece of none for the keys' gradients */
    if (s.heads == 0)
        return MXC_OK;
    do {
        MXC_TRY(make_scores(call, &s, &p, &a));
        MXC_TRY(multiply_rows(call, &s, &p, 1, queries_of(&s, &p, &call->out_grad[0], s.values),
                              keys_of(&s, &p, &call->in[MXCI_VALUE], s.values),
                              scores_of(call, &s, &p, a.score_grads)));
        MXC_TRY(differentiate<T>(call, &s, &p, &a));
        MXC_TRY(gradients<T>(call, &s, &p, &a));
    } while (next_piece(&s, &first, &p));
    return MXC_OK;
}

static mxc_status backward(const mxc_op_call *call) {
    MXCU_SWITCH_FLOAT(call->in[MXCI_QUERY].dtype, backward_as, call)
}

MXCU_OP_IMPLS(attention, {"scaled_dot_product_attention", forward, backward, temp_bytes})
