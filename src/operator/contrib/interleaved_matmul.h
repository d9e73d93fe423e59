/* SPDX-License-Identifier: Apache-2.0 */
/* The matrix products of multi-head attention on interleaved projections, for C and GPU modules. Letters: B samples, H
 * heads, D elements of a head, Lq and Lk positions of queries and of keys. */
#ifndef MXCI_OPERATOR_CONTRIB_INTERLEAVED_MATMUL_H
#define MXCI_OPERATOR_CONTRIB_INTERLEAVED_MATMUL_H

#include <math.h>

#include <mxc/op.h>

#include "math/gemm.h"

typedef struct mxci_interleaved_params {
    int64_t heads;
} mxci_interleaved_params;

/* S = scores: Q K^T / sqrt(D) or the attention weights made of it. */
typedef enum mxci_interleaved_kind {
    MXCI_SELF_QK,     /* (L,B,H*3*D) -> S */
    MXCI_SELF_VALUE,  /* (L,B,H*3*D), S -> (L,B,H*D) */
    MXCI_CROSS_QK,    /* (Lq,B,H*D), (Lk,B,H*2*D) -> S */
    MXCI_CROSS_VALUE, /* (Lk,B,H*2*D), S -> (Lq,B,H*D) */
} mxci_interleaved_kind;

static inline int mxci_interleaved_is_qk(mxci_interleaved_kind kind) {
    return kind == MXCI_SELF_QK || kind == MXCI_CROSS_QK;
}

/* For each of B*H products one matrix within an array: part number `part` of `parts` of a projection (rows, B,
 * H*parts*D), or, where parts is 0, the scores (B*H, rows, columns). */
typedef struct mxci_interleaved_matrix {
    const mxc_tensor *of;
    int part, parts;
    int64_t rows, columns;
} mxci_interleaved_matrix;

/* A product whose result is number `result` of the call's outputs or gradients. */
typedef struct mxci_interleaved_step {
    mxci_gemm_args gemm;
    int result;
} mxci_interleaved_step;

/* The data, leading dimension and stride of a matrix. element: bytes. */
static inline void *mxci_interleaved_place(const mxci_interleaved_matrix *m, int64_t batch, size_t element, int64_t *ld,
                                           int64_t *stride) {
    *ld = m->parts ? batch * m->parts * m->columns : m->columns;
    *stride = m->parts ? m->parts * m->columns : m->rows * m->columns;
    return m->of->data ? (char *)m->of->data + (size_t)(m->part * m->columns) * element : NULL;
}

/* C = alpha op(A) op(B). */
static inline mxci_interleaved_step mxci_interleaved_product(int64_t batch, size_t element, double alpha,
                                                             mxci_interleaved_matrix a, int transpose_a,
                                                             mxci_interleaved_matrix b, int transpose_b,
                                                             mxci_interleaved_matrix c, int result) {
    mxci_interleaved_step s;
    mxci_gemm_args g = MXCI_GEMM_INIT;
    g.dtype = c.of->dtype;
    g.transpose_a = transpose_a, g.transpose_b = transpose_b;
    g.m = c.rows, g.n = c.columns;
    g.k = transpose_a ? a.rows : a.columns;
    g.alpha = alpha;
    g.batch = batch;
    g.a = mxci_interleaved_place(&a, batch, element, &g.lda, &g.a_stride);
    g.b = mxci_interleaved_place(&b, batch, element, &g.ldb, &g.b_stride);
    g.c = mxci_interleaved_place(&c, batch, element, &g.ldc, &g.c_stride);
    s.gemm = g;
    s.result = result;
    return s;
}

/* The products of a pass, at most 2, with Q, K, V of (L,D) and S of (Lq,Lk):
 *   QK     S = alpha Q K^T;  dQ = alpha dS K,  dK = alpha dS^T Q
 *   value  O = S V;          dS = dO V^T,      dV = S^T dO
 * Returns how many. */
static inline int mxci_interleaved_steps(const mxc_op_call *call, mxci_interleaved_kind kind, mxc_pass pass,
                                         size_t element, mxci_interleaved_step steps[2]) {
    const int is_self = kind == MXCI_SELF_QK || kind == MXCI_SELF_VALUE, is_backward = pass == MXC_BACKWARD;
    const int is_qk = mxci_interleaved_is_qk(kind), parts = is_self ? 3 : 2;
    const mxc_tensor *in = call->in, *result = is_backward ? call->out_grad : call->out,
                     *scores = is_qk ? result : in + 1;
    const mxc_tensor *pairs = kind == MXCI_CROSS_QK ? in + 1 : in; /* holds K and V */
    const int64_t batch = scores->shape.dim[0], lq = scores->shape.dim[1], lk = scores->shape.dim[2];
    const int64_t d = batch ? pairs->shape.dim[1] * pairs->shape.dim[2] / (batch * parts) : 0;
    const double alpha = is_qk && d ? 1 / sqrt((double)d) : 1;
    const mxci_interleaved_matrix s = {scores, 0, 0, lq, lk}, o = {result, 0, 1, lq, d},
                                  q = {in, 0, is_self ? 3 : 1, lq, d};
    const mxci_interleaved_matrix k = {pairs, parts - 2, parts, lk, d}, v = {pairs, parts - 1, parts, lk, d};
    mxci_interleaved_matrix to[2] = {is_qk ? q : s, is_qk ? k : v}; /* gradients */
    const int slot[2] = {is_qk ? 0 : 1, kind == MXCI_CROSS_QK ? 1 : 0};
    if (!is_backward) {
        steps[0] = is_qk ? mxci_interleaved_product(batch, element, alpha, q, 0, k, 1, s, 0)
                         : mxci_interleaved_product(batch, element, 1, s, 0, v, 0, o, 0);
        return 1;
    }
    to[0].of = &call->in_grad[slot[0]];
    to[1].of = &call->in_grad[slot[1]];
    steps[0] = is_qk ? mxci_interleaved_product(batch, element, alpha, s, 0, k, 0, to[0], slot[0])
                     : mxci_interleaved_product(batch, element, 1, o, 0, v, 1, to[0], slot[0]);
    steps[1] = is_qk ? mxci_interleaved_product(batch, element, alpha, s, 1, q, 0, to[1], slot[1])
                     : mxci_interleaved_product(batch, element, 1, s, 1, o, 0, to[1], slot[1]);
    return 2;
}

#endif
