/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix products.
 *   dot        contracts the last axis of lhs with the first of rhs (with transpose_a the first of lhs, with
 *              transpose_b the last of rhs): out has lhs's other axes, then rhs's; of two vectors it is (1,)
 *   batch_dot  lhs (B,M,K), rhs (B,K,N), out (B,M,N); transposed lhs is (B,K,M), rhs (B,N,K)
 */
#include "operator/linalg/dot.h"

#include "operator/infer.h"

typedef mxci_dot_params dot_params;

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(dot_params, transpose_a), .name = "transpose_a", .type = MXC_PARAM_BOOL, .initial = "false",
     .doc = "Transpose lhs first."},
    {MXC_PARAM_FIELD(dot_params, transpose_b), .name = "transpose_b", .type = MXC_PARAM_BOOL, .initial = "false",
     .doc = "Transpose rhs first."},
    {MXC_PARAM_FIELD(dot_params, forward_stype), .name = "forward_stype", .type = MXC_PARAM_ENUM, .initial = "None",
     .choices = "default", .optional = 1, .doc = "Storage type of out. Only default, which None means, is supported."},
    MXC_PARAM_END,
};

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

/* The contracted axes, a of lhs and b of rhs, have one size. */
static mxc_status check_inner(const mxc_op_sig *sig, int a, int b) {
    const mxc_shape *lhs = &sig->in_shape[0], *rhs = &sig->in_shape[1];
    char left[MXC_SHAPE_TEXT], right[MXC_SHAPE_TEXT];
    if (lhs->dim[a] == rhs->dim[b] || lhs->dim[a] < 0 || rhs->dim[b] < 0)
        return MXC_OK;
    return mxc_sig_fail(sig, "argument 'rhs': expected %lld in axis %d, as axis %d of 'lhs' %s has, found %s",
                        (long long)lhs->dim[a], b, a, mxc_shape_format(lhs, left, sizeof left),
                        mxc_shape_format(rhs, right, sizeof right));
}

/* out has the axes of lhs but the contracted one, then those of rhs. */
static mxc_status infer_dot_shape(mxc_op_sig *sig) {
    const dot_params *p = sig->params;
    const mxc_shape *lhs = &sig->in_shape[0], *rhs = &sig->in_shape[1];
    mxc_shape out = {.ndim = 0};
    int a, b;
    if (lhs->ndim < 0 || rhs->ndim < 0)
        return MXC_OK;
    if (lhs->ndim == 0 || rhs->ndim == 0)
        return mxc_sig_fail(sig, "argument '%s' has no axes, expected at least 1", lhs->ndim ? "rhs" : "lhs");
    a = p->transpose_a ? 0 : lhs->ndim - 1;
    b = p->transpose_b ? rhs->ndim - 1 : 0;
    MXC_TRY(check_inner(sig, a, b));
    if (lhs->ndim + rhs->ndim - 2 > MXC_MAX_NDIM)
        return mxc_sig_fail(sig, "out would have %d axes, expected at most %d", lhs->ndim + rhs->ndim - 2,
                            MXC_MAX_NDIM);
    for (int i = 0; i < lhs->ndim; i++)
        if (i != a)
            out.dim[out.ndim++] = lhs->dim[i];
    for (int i = 0; i < rhs->ndim; i++)
        if (i != b)
            out.dim[out.ndim++] = rhs->dim[i];
    if (out.ndim == 0)
        out = mxci_shape_of(1, (int64_t[]){1});
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

/* B, M and N follow from the arguments or from the output, K from either argument. */
static mxc_status infer_batch_dot_shape(mxc_op_sig *sig) {
    const dot_params *p = sig->params;
    mxc_shape *lhs = &sig->in_shape[0], *rhs = &sig->in_shape[1], *out = &sig->out_shape[0], axes = mxci_shape_axes(3);
    int m = p->transpose_a ? 2 : 1, n = p->transpose_b ? 1 : 2;
    MXC_TRY(mxc_sig_set_shape(sig, 0, &axes));
    MXC_TRY(mxc_sig_set_shape(sig, 1, &axes));
    axes.dim[0] = lhs->dim[0];
    MXC_TRY(mxc_sig_set_shape(sig, 1, &axes));
    axes.dim[0] = rhs->dim[0];
    MXC_TRY(mxc_sig_set_shape(sig, 0, &axes));
    MXC_TRY(check_inner(sig, 3 - m, 3 - n));
    axes = mxci_shape_of(3, (int64_t[]){lhs->dim[0], lhs->dim[m], rhs->dim[n]});
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &axes));
    axes = mxci_shape_of(3, (int64_t[]){out->dim[0], -1, -1});
    axes.dim[m] = out->dim[1];
    axes.dim[3 - m] = rhs->dim[3 - n];
    MXC_TRY(mxc_sig_set_shape(sig, 0, &axes));
    axes = mxci_shape_of(3, (int64_t[]){out->dim[0], -1, -1});
    axes.dim[n] = out->dim[2];
    axes.dim[3 - n] = lhs->dim[3 - m];
    return mxc_sig_set_shape(sig, 1, &axes);
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

static mxc_status product(const mxc_op_call *call, int batched) {
    mxci_matmul p = mxci_dot_sizes(&call->in[0].shape, &call->in[1].shape, call->params, batched);
    mxci_matmul_product(call->run, &p, call->req[0], &call->out[0], call->in[0].data, call->in[1].data, call->temp);
    return MXC_OK;
}

static mxc_status gradients(const mxc_op_call *call, int batched) {
    mxci_matmul p = mxci_dot_sizes(&call->in[0].shape, &call->in[1].shape, call->params, batched);
    const void *a = call->in[0].data, *b = call->in[1].data, *g = call->out_grad[0].data;
    mxci_matmul_gradient_a(call->run, &p, call->req[0], &call->in_grad[0], g, b, call->temp);
    mxci_matmul_gradient_b(call->run, &p, call->req[1], &call->in_grad[1], a, g, call->temp);
    return MXC_OK;
}

static size_t product_temp_bytes(const mxc_op_sig *sig, mxc_pass pass, int batched) {
    mxci_matmul p = mxci_dot_sizes(&sig->in_shape[0], &sig->in_shape[1], sig->params, batched);
    return mxci_matmul_temp(&p, sig->in_type[0], pass);
}

/* ---- descriptors ------------------------------------------------------------------------------------------------- */

static mxc_status dot_forward(const mxc_op_call *call) {
    return product(call, 0);
}

static mxc_status dot_backward(const mxc_op_call *call) {
    return gradients(call, 0);
}

static size_t dot_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    return product_temp_bytes(sig, pass, 0);
}

const mxc_op_def mxci_op_dot = {
    .size = sizeof(mxc_op_def),
    .name = "dot",
    .args = "lhs,rhs",
    .doc =
        "out = matrix product: the sum over the last axis of lhs and the first axis of rhs; of two vectors shape (1,)",
    .params = schema,
    .param_size = sizeof(dot_params),
    .infer_shape = infer_dot_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1, .in = 3},
    .temp_bytes = dot_temp_bytes,
    .forward = {[MXC_CPU] = dot_forward},
    .backward = {[MXC_CPU] = dot_backward},
};

static mxc_status batch_dot_forward(const mxc_op_call *call) {
    return product(call, 1);
}

static mxc_status batch_dot_backward(const mxc_op_call *call) {
    return gradients(call, 1);
}

static size_t batch_dot_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    return product_temp_bytes(sig, pass, 1);
}

const mxc_op_def mxci_op_batch_dot = {
    .size = sizeof(mxc_op_def),
    .name = "batch_dot",
    .args = "lhs,rhs",
    .doc = "Matrix products of a batch: out (B,M,N) = lhs (B,M,K) rhs (B,K,N)",
    .params = schema,
    .param_size = sizeof(dot_params),
    .infer_shape = infer_batch_dot_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1, .in = 3},
    .temp_bytes = batch_dot_temp_bytes,
    .forward = {[MXC_CPU] = batch_dot_forward},
    .backward = {[MXC_CPU] = batch_dot_backward},
};
