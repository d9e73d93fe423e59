/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multi-head attention on interleaved projections, without copies: the projections of all heads are side by side in one
 * array, and each product reads its matrices by strides. B samples, H heads, D elements of a head.
 *   selfatt_qk      queries_keys_values (L,B,H*3*D)                       -> (B*H,L,L) = Q K^T / sqrt(D)
 *   selfatt_valatt  queries_keys_values (L,B,H*3*D), attention (B*H,L,L)  -> (L,B,H*D) = attention V
 *   encdec_qk       queries (Lq,B,H*D), keys_values (Lk,B,H*2*D)          -> (B*H,Lq,Lk) = Q K^T / sqrt(D)
 *   encdec_valatt   keys_values (Lk,B,H*2*D), attention (B*H,Lq,Lk)       -> (Lq,B,H*D) = attention V
 */
#include "operator/contrib/interleaved_matmul.h"

#include "math/assign.h"
#include "operator/infer.h"

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(mxci_interleaved_params, heads), .name = "heads", .type = MXC_PARAM_INT, .bounded = 1,
     .minimum = 1, .maximum = 1 << 24, .doc = "Number of heads."},
    MXC_PARAM_END,
};

/* ---- inference --------------------------------------------------------------------------------------------------- */

/* An array: a projection (length, B, H*parts*D), or with parts 0 the scores (B*H, Lq, Lk). length: 0 Lq, 1 Lk. */
typedef struct slot_layout {
    int slot, parts, length;
} slot_layout;

enum { SCORES = 0, SLOTS = 3, LQ = 0, LK = 1 };

/* Of self attention both lengths are one, which is kept as Lq. */
static const slot_layout layouts[][SLOTS] = {
    [MXCI_SELF_QK] = {{0, 3, LQ}, {MXC_SLOT_OUT(0), SCORES, LQ}, {0, 3, LQ}},
    [MXCI_SELF_VALUE] = {{0, 3, LQ}, {1, SCORES, LQ}, {MXC_SLOT_OUT(0), 1, LQ}},
    [MXCI_CROSS_QK] = {{0, 1, LQ}, {1, 2, LK}, {MXC_SLOT_OUT(0), SCORES, LK}},
    [MXCI_CROSS_VALUE] = {{0, 2, LK}, {1, SCORES, LK}, {MXC_SLOT_OUT(0), 1, LQ}},
};

/* What the arrays say of the sizes; -1: not known. */
typedef struct sizes {
    int64_t length[2], batch, width; /* width: H*D */
} sizes;

static void learn(int64_t *size, int64_t value) {
    *size = mxci_known(*size, value);
}

/* Collects what one array says. last: of the two lengths, the one of the scores' last axis. */
static mxc_status collect(mxc_op_sig *sig, const slot_layout *l, sizes *s) {
    const int64_t heads = ((const mxci_interleaved_params *)sig->params)->heads;
    const int64_t unit = l->parts ? l->parts * heads : heads;
    const mxc_shape axes = mxci_shape_axes(3);
    const mxc_shape *shape = mxci_sig_shape(sig, l->slot);
    const int axis = l->parts ? 2 : 0;
    MXC_TRY(mxc_sig_set_shape(sig, l->slot, &axes));
    if (shape->dim[axis] >= 0 && shape->dim[axis] % unit)
        return mxc_sig_fail(sig, "axis %d of %s has %lld elements, expected a multiple of %lld (heads=%lld)", axis,
                            l->parts ? "a projection" : "the scores", (long long)shape->dim[axis], (long long)unit,
                            (long long)heads);
    if (l->parts) {
        learn(&s->length[l->length], shape->dim[0]);
        learn(&s->batch, shape->dim[1]);
        learn(&s->width, shape->dim[2] < 0 ? -1 : shape->dim[2] / l->parts);
        return MXC_OK;
    }
    learn(&s->batch, shape->dim[0] < 0 ? -1 : shape->dim[0] / heads);
    learn(&s->length[LQ], shape->dim[1]);
    learn(&s->length[l->length], shape->dim[2]);
    return MXC_OK;
}

static mxc_status infer(mxc_op_sig *sig, mxci_interleaved_kind kind) {
    const int64_t heads = ((const mxci_interleaved_params *)sig->params)->heads;
    sizes s = {{-1, -1}, -1, -1};
    for (int i = 0; i < SLOTS; i++)
        MXC_TRY(collect(sig, &layouts[kind][i], &s));
    for (int i = 0; i < SLOTS; i++) {
        const slot_layout *l = &layouts[kind][i];
        mxc_shape shape =
            l->parts ? mxci_shape_of(3, (int64_t[]){s.length[l->length], s.batch, mxci_dim_mul(s.width, l->parts)})
                     : mxci_shape_of(3, (int64_t[]){mxci_dim_mul(s.batch, heads), s.length[LQ], s.length[l->length]});
        MXC_TRY(mxc_sig_set_shape(sig, l->slot, &shape));
    }
    return MXC_OK;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* The largest scratch of the three products: they are of (Lq,Lk), (Lq,D) and (Lk,D). */
static size_t temp_bytes(const mxc_op_sig *sig, mxci_interleaved_kind kind) {
    const mxc_shape *scores = mxci_interleaved_is_qk(kind) ? &sig->out_shape[0] : &sig->in_shape[1];
    const mxc_shape *pairs = &sig->in_shape[kind == MXCI_CROSS_QK ? 1 : 0];
    const int64_t batch = scores->dim[0], lq = scores->dim[1], lk = scores->dim[2];
    const int64_t parts = kind == MXCI_SELF_QK || kind == MXCI_SELF_VALUE ? 3 : 2;
    const int64_t d = pairs->dim[2] / mxci_dim_mul(parts, ((const mxci_interleaved_params *)sig->params)->heads);
    const size_t bytes[] = {mxci_gemm_temp_bytes(sig->in_type[0], lq, lk, d, batch),
                            mxci_gemm_temp_bytes(sig->in_type[0], lq, d, lk, batch),
                            mxci_gemm_temp_bytes(sig->in_type[0], lk, d, lq, batch)};
    size_t most = bytes[0] > bytes[1] ? bytes[0] : bytes[1];
    return most > bytes[2] ? most : bytes[2];
}

static mxc_status run(const mxc_op_call *call, mxci_interleaved_kind kind, mxc_pass pass) {
    mxci_interleaved_step steps[2];
    const int n = mxci_interleaved_steps(call, kind, pass, mxc_dtype_size(call->in[0].dtype), steps);
    /* parts of a projection that the product does not read have a gradient of 0 */
    for (int i = 0; i < call->n_in && pass == MXC_BACKWARD; i++)
        if (call->req[i] == MXC_REQ_WRITE || call->req[i] == MXC_REQ_INPLACE)
            mxci_assign_constant(call->run, MXC_REQ_WRITE, &call->in_grad[i], 0);
    for (int i = 0; i < n; i++) {
        mxci_gemm_args *g = &steps[i].gemm;
        const mxc_req req = call->req[steps[i].result];
        g->beta = req == MXC_REQ_ADD;
        if (req != MXC_REQ_NULL && g->batch > 0 && g->m > 0 && g->n > 0)
            mxci_gemm(call->run, g, call->temp);
    }
    return MXC_OK;
}

/* ---- descriptors ------------------------------------------------------------------------------------------------- */

#define FUNCTIONS(symbol, kind)                                               \
    static mxc_status symbol##_infer(mxc_op_sig *sig) {                       \
        return infer(sig, kind);                                              \
    }                                                                         \
    static size_t symbol##_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) { \
        (void)pass;                                                           \
        return temp_bytes(sig, kind);                                         \
    }                                                                         \
    static mxc_status symbol##_forward(const mxc_op_call *call) {             \
        return run(call, kind, MXC_FORWARD);                                  \
    }                                                                         \
    static mxc_status symbol##_backward(const mxc_op_call *call) {            \
        return run(call, kind, MXC_BACKWARD);                                 \
    }
FUNCTIONS(selfatt_qk, MXCI_SELF_QK)
FUNCTIONS(selfatt_valatt, MXCI_SELF_VALUE)
FUNCTIONS(encdec_qk, MXCI_CROSS_QK)
FUNCTIONS(encdec_valatt, MXCI_CROSS_VALUE)

#define COMMON(symbol)                                                                            \
    .size = sizeof(mxc_op_def), .params = schema, .param_size = sizeof(mxci_interleaved_params),  \
    .infer_shape = symbol##_infer, .dtypes = MXC_DTYPES_FLOAT, .temp_bytes = symbol##_temp_bytes, \
    .forward = {[MXC_CPU] = symbol##_forward}, .backward = {[MXC_CPU] = symbol##_backward}

const mxc_op_def mxci_op_selfatt_qk = {
    COMMON(selfatt_qk),
    .name = "_contrib_interleaved_matmul_selfatt_qk",
    .doc = "Scores of self attention: out (B*heads,L,L) = Q K^T / sqrt(D) for each sample and head; "
           "queries_keys_values (L,B,heads*3*D) with Q, K and V of each head side by side",
    .args = "queries_keys_values",
    .needs = {.out_grad = 1, .in = 1},
};

const mxc_op_def mxci_op_selfatt_valatt = {
    COMMON(selfatt_valatt),
    .name = "_contrib_interleaved_matmul_selfatt_valatt",
    .doc = "Weighted values of self attention: out (L,B,heads*D) = attention V for each sample and head; "
           "queries_keys_values (L,B,heads*3*D) with Q, K and V of each head side by side, attention (B*heads,L,L)",
    .args = "queries_keys_values,attention",
    .needs = {.out_grad = 1, .in = 3},
};

const mxc_op_def mxci_op_encdec_qk = {
    COMMON(encdec_qk),
    .name = "_contrib_interleaved_matmul_encdec_qk",
    .doc = "Scores of attention between two sequences: out (B*heads,Lq,Lk) = Q K^T / sqrt(D) for each sample and head; "
           "queries (Lq,B,heads*D), keys_values (Lk,B,heads*2*D) with K and V of each head side by side",
    .args = "queries,keys_values",
    .needs = {.out_grad = 1, .in = 3},
};

const mxc_op_def mxci_op_encdec_valatt = {
    COMMON(encdec_valatt),
    .name = "_contrib_interleaved_matmul_encdec_valatt",
    .doc = "Weighted values of attention between two sequences: out (Lq,B,heads*D) = attention V for each sample and "
           "head; keys_values (Lk,B,heads*2*D) with K and V of each head side by side, attention (B*heads,Lq,Lk)",
    .args = "keys_values,attention",
    .needs = {.out_grad = 1, .in = 3},
};
