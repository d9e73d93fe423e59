/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of batches of matrices (...,rows,columns):
 *   _linalg_gemm   out = alpha op(A) op(B) + beta C
 *   _linalg_gemm2  out = alpha op(A) op(B)
 *   _linalg_syrk   out = alpha A A', or with transpose alpha A' A
 * op is transposing where the flags say so. In the first two, the rows may be along another axis than the last but one.
 */
#include "operator/linalg/linalg_gemm.h"

#include "math/map.h"

typedef mxci_linalg_gemm_params gemm_params;

enum { A, B, C };

#define GEMM_PARAMS                                                                                                    \
    {MXC_PARAM_FIELD(gemm_params, transpose_a), .name = "transpose_a", .type = MXC_PARAM_BOOL, .initial = "false",     \
     .doc = "Use the transpose of A as op(A)."},                                                                       \
        {MXC_PARAM_FIELD(gemm_params, transpose_b), .name = "transpose_b", .type = MXC_PARAM_BOOL, .initial = "false", \
         .doc = "Use the transpose of B as op(B)."},                                                                   \
    {                                                                                                                  \
        MXC_PARAM_FIELD(gemm_params, alpha), .name = "alpha", .type = MXC_PARAM_FLOAT, .initial = "1",                 \
                                             .doc = "Factor of the product."                                           \
    }
#define AXIS_PARAM                                                                                               \
    {                                                                                                            \
        MXC_PARAM_FIELD(gemm_params, axis),                                                                      \
            .name = "axis", .type = MXC_PARAM_INT, .initial = "-2",                                              \
            .doc = "Axis of the matrix rows; the columns are the last axis. Negative values count from the end." \
    }

static const mxc_param gemm_schema[] = {
    GEMM_PARAMS,
    {MXC_PARAM_FIELD(gemm_params, beta), .name = "beta", .type = MXC_PARAM_FLOAT, .initial = "1",
     .doc = "Factor of C."},
    AXIS_PARAM,
    MXC_PARAM_END,
};
static const mxc_param gemm2_schema[] = {GEMM_PARAMS, AXIS_PARAM, MXC_PARAM_END};

/* ---- inference --------------------------------------------------------------------------------------------------- */

/* All have one number of axes; that, and the axis of the rows. ndim is -1 where nothing is known. */
static mxc_status find_axes(mxc_op_sig *sig, int n, const int *slots, int *ndim, int *rows) {
    mxc_shape axes = {.ndim = -1};
    for (int i = 0; i < n && axes.ndim < 0; i++)
        axes = mxci_shape_axes(mxci_sig_shape(sig, slots[i])->ndim);
    *ndim = axes.ndim;
    *rows = 0;
    if (axes.ndim < 0)
        return MXC_OK;
    for (int i = 0; i < n; i++)
        MXC_TRY(mxc_sig_set_shape(sig, slots[i], &axes));
    MXC_TRY(mxci_linalg_check(sig, A));
    MXC_TRY(mxci_sig_axis(sig, ((const gemm_params *)sig->params)->axis, *ndim, rows));
    if (*rows == *ndim - 1)
        return mxc_sig_fail(sig, "axis %d is that of the columns, expected another one", *rows);
    return MXC_OK;
}

/* Products of slots A and B: out, and C which has its shape. */
static mxc_status gemm_infer_shape(mxc_op_sig *sig) {
    const gemm_params *p = sig->params;
    const int slots[] = {A, B, MXC_SLOT_OUT(0), C};
    const mxc_shape *a = &sig->in_shape[A], *b = &sig->in_shape[B], *out = &sig->out_shape[0];
    mxc_shape shape;
    int ndim, rows, columns;
    int64_t m, n, k;
    MXC_TRY(find_axes(sig, sig->n_in + 1, slots, &ndim, &rows));
    if (ndim < 0)
        return MXC_OK;
    if (sig->n_in > C)
        MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){C, MXC_SLOT_OUT(0)}));
    columns = ndim - 1;
    m = mxci_known(a->dim[p->transpose_a ? columns : rows], out->dim[rows]);
    n = mxci_known(b->dim[p->transpose_b ? rows : columns], out->dim[columns]);
    k = mxci_known(a->dim[p->transpose_a ? rows : columns], b->dim[p->transpose_b ? columns : rows]);
    shape = *a;
    for (int i = 0; i < ndim; i++)
        shape.dim[i] = mxci_known(a->dim[i], mxci_known(b->dim[i], out->dim[i]));
    for (int i = 0; i < sig->n_in + 1; i++) {
        shape.dim[rows] = slots[i] == A ? (p->transpose_a ? k : m) : slots[i] == B && !p->transpose_b ? k : m;
        shape.dim[columns] = slots[i] == A ? (p->transpose_a ? m : k) : slots[i] == B && p->transpose_b ? k : n;
        if (slots[i] == B)
            shape.dim[rows] = p->transpose_b ? n : k;
        MXC_TRY(mxc_sig_set_shape(sig, slots[i], &shape));
    }
    return mxci_linalg_check(sig, B);
}

/* ---- gemm and gemm2 ---------------------------------------------------------------------------------------------- */

static mxci_matmul product_of(const mxc_op_call *call) {
    return mxci_linalg_gemm_sizes(call->params, &call->in[A].shape, &call->in[B].shape);
}

static mxc_status gemm2_forward(const mxc_op_call *call) {
    mxci_matmul p = product_of(call);
    mxci_matmul_product(call->run, &p, call->req[0], &call->out[0], call->in[A].data, call->in[B].data, NULL);
    return MXC_OK;
}

static mxc_status gemm2_backward(const mxc_op_call *call) {
    mxci_matmul p = product_of(call);
    const void *a = call->in[A].data, *b = call->in[B].data, *g = call->out_grad[0].data;
    mxci_matmul_gradient_a(call->run, &p, call->req[A], &call->in_grad[A], g, b, NULL);
    mxci_matmul_gradient_b(call->run, &p, call->req[B], &call->in_grad[B], a, g, NULL);
    return MXC_OK;
}

static mxc_status gemm_forward(const mxc_op_call *call) {
    mxci_matmul p = product_of(call);
    const mxc_tensor *out = &call->out[0];
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXC_TRY(mxci_assign_scaled(call->run, call->req[0], out, &call->in[C], ((const gemm_params *)call->params)->beta));
    mxci_matmul_product(call->run, &p, MXC_REQ_ADD, out, call->in[A].data, call->in[B].data, NULL);
    return MXC_OK;
}

static mxc_status gemm_backward(const mxc_op_call *call) {
    MXC_TRY(gemm2_backward(call));
    return mxci_assign_scaled(call->run, call->req[C], &call->in_grad[C], &call->out_grad[0],
                              ((const gemm_params *)call->params)->beta);
}

const mxc_op_def mxci_op_linalg_gemm = {
    .size = sizeof(mxc_op_def),
    .name = "_linalg_gemm",
    .aliases = "linalg_gemm",
    .args = "A,B,C",
    .doc = "out (...,M,N) = alpha op(A) op(B) + beta C for op(A) (...,M,K), op(B) (...,K,N), C (...,M,N)",
    .params = gemm_schema,
    .param_size = sizeof(gemm_params),
    .infer_shape = gemm_infer_shape,
    .needs = {.out_grad = 1, .in = 1 << A | 1 << B},
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(C), 0}, MXC_INPLACE_END},
    .forward = {[MXC_CPU] = gemm_forward},
    .backward = {[MXC_CPU] = gemm_backward},
};

const mxc_op_def mxci_op_linalg_gemm2 = {
    .size = sizeof(mxc_op_def),
    .name = "_linalg_gemm2",
    .aliases = "linalg_gemm2",
    .args = "A,B",
    .doc = "out (...,M,N) = alpha op(A) op(B) for op(A) (...,M,K), op(B) (...,K,N)",
    .params = gemm2_schema,
    .param_size = sizeof(gemm_params),
    .infer_shape = gemm_infer_shape,
    .needs = {.out_grad = 1, .in = 1 << A | 1 << B},
    .forward = {[MXC_CPU] = gemm2_forward},
    .backward = {[MXC_CPU] = gemm2_backward},
};

/* ---- syrk -------------------------------------------------------------------------------------------------------- */

typedef mxci_syrk_params syrk_params;

static const mxc_param syrk_schema[] = {
    {MXC_PARAM_FIELD(syrk_params, transpose), .name = "transpose", .type = MXC_PARAM_BOOL, .initial = "false",
     .doc = "Compute A' A instead of A A'."},
    {MXC_PARAM_FIELD(syrk_params, alpha), .name = "alpha", .type = MXC_PARAM_FLOAT, .initial = "1",
     .doc = "Factor of the product."},
    MXC_PARAM_END,
};

/* out (..., n, n) of a (..., n, k), or of (..., k, n) transposed; batch axes and n go both ways. */
static mxc_status syrk_infer_shape(mxc_op_sig *sig) {
    const syrk_params *p = sig->params;
    mxc_shape *a = &sig->in_shape[0], *out = &sig->out_shape[0], axes;
    MXC_TRY(mxci_linalg_check(sig, 0));
    if (a->ndim < 0 && out->ndim < 0)
        return MXC_OK;
    axes = mxci_shape_axes(mxci_known(a->ndim, out->ndim));
    MXC_TRY(mxc_sig_set_shape(sig, 0, &axes));
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &axes));
    MXC_TRY(mxci_linalg_check(sig, 0));
    MXC_TRY(mxci_linalg_same_batch(sig, MXC_SLOT_OUT(0), 0));
    MXC_TRY(mxci_linalg_same_batch(sig, 0, MXC_SLOT_OUT(0)));
    axes.dim[axes.ndim - 1] = axes.dim[axes.ndim - 2] = p->transpose ? mxci_linalg_columns(a) : mxci_linalg_rows(a);
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &axes));
    MXC_TRY(mxci_linalg_square(sig, MXC_SLOT_OUT(0)));
    axes = mxci_shape_axes(a->ndim);
    axes.dim[axes.ndim - (p->transpose ? 1 : 2)] = mxci_linalg_rows(out);
    return mxc_sig_set_shape(sig, 0, &axes);
}

static mxc_status syrk_forward(const mxc_op_call *call) {
    mxci_matmul p = mxci_syrk_sizes(call->params, &call->in[0].shape);
    mxci_matmul_product(call->run, &p, call->req[0], &call->out[0], call->in[0].data, call->in[0].data, NULL);
    return MXC_OK;
}

/* A is both operands, so that its gradient is the sum of both. */
static mxc_status syrk_backward(const mxc_op_call *call) {
    mxci_matmul p = mxci_syrk_sizes(call->params, &call->in[0].shape);
    const void *a = call->in[0].data, *g = call->out_grad[0].data;
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    mxci_matmul_gradient_a(call->run, &p, call->req[0], &call->in_grad[0], g, a, NULL);
    mxci_matmul_gradient_b(call->run, &p, MXC_REQ_ADD, &call->in_grad[0], a, g, NULL);
    return MXC_OK;
}

const mxc_op_def mxci_op_linalg_syrk = {
    .size = sizeof(mxc_op_def),
    .name = "_linalg_syrk",
    .aliases = "linalg_syrk",
    .args = "A",
    .doc = "A (...,M,K): out (...,M,M) = alpha A A', or with transpose (...,K,K) = alpha A' A",
    .params = syrk_schema,
    .param_size = sizeof(syrk_params),
    .infer_shape = syrk_infer_shape,
    .needs = {.out_grad = 1, .in = 1},
    .forward = {[MXC_CPU] = syrk_forward},
    .backward = {[MXC_CPU] = syrk_backward},
};
