/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FullyConnected: out (N,H) = data (N,K) weight (H,K)^T + bias (H); data of more axes is read as (N, product of the
 * rest), or without flatten as (product of all but the last, K), and out keeps those axes. _fc_relu: max(that, 0).
 */
#include "operator/nn/fully_connected.h"

#include <math.h>

#include "math/gemm.h"
#include "math/map.h"
#include "operator/nn/activation_kernels.h"
#include "operator/op.h"

typedef mxci_fc_params fc_params;

enum { DATA, WEIGHT, BIAS };

const mxc_param mxci_fc_schema[] = {
    {MXC_PARAM_FIELD(fc_params, num_hidden), .name = "num_hidden", .type = MXC_PARAM_INT, .bounded = 1, .minimum = 1,
     .maximum = 2147483647.0, .doc = "Number of columns of the output."},
    {MXC_PARAM_FIELD(fc_params, no_bias), .name = "no_bias", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "Leave out the argument bias."},
    {MXC_PARAM_FIELD(fc_params, flatten), .name = "flatten", .type = MXC_PARAM_BOOL, .initial = "True",
     .doc = "Flatten all axes of data but the first; otherwise the last axis is K, and output keeps the others."},
    MXC_PARAM_END,
};

static int fc_args(const void *params) {
    return ((const fc_params *)params)->no_bias ? 2 : 3;
}

/* Axes of data that are one sample each, for which out has the same. */
static int row_axes(const fc_params *p, const mxc_shape *data) {
    return p->flatten ? 1 : data->ndim - 1;
}

/* Sizes of a sample's axes from the weight's, where there is one axis; and its rows from out. */
static void complete_data(mxc_op_sig *sig, int rows) {
    mxc_shape *data = &sig->in_shape[DATA];
    for (int i = 0; i < rows; i++)
        data->dim[i] = sig->out_shape[0].dim[i];
    if (data->ndim == rows + 1)
        data->dim[rows] = sig->in_shape[WEIGHT].dim[1];
}

/* weight (num_hidden, K), with K the product of data's sample axes; data's shape is completed from out's and
 * weight's. */
mxc_status mxci_fc_infer(mxc_op_sig *sig) {
    const fc_params *p = sig->params;
    const mxc_shape *data = &sig->in_shape[DATA];
    mxc_shape weight = mxci_shape_of(2, (int64_t[]){p->num_hidden, -1}), bias = mxci_shape_of(1, &p->num_hidden);
    mxc_shape out = mxci_shape_axes(data->ndim < 0 ? (p->flatten ? 2 : -1) : row_axes(p, data) + 1);
    if (data->ndim == 0 || (data->ndim == 1 && !p->flatten)) /* an axis of samples there must be */
        return mxc_sig_fail(sig, "argument 'data': expected at least %d axes, found %d", p->flatten ? 1 : 2,
                            data->ndim);
    if (data->ndim > 0) {
        mxc_shape sample = *data;
        for (int i = 0; i < row_axes(p, data); i++) {
            out.dim[i] = data->dim[i];
            sample.dim[i] = 1;
        }
        weight.dim[1] = mxc_shape_size(&sample);
    }
    if (out.ndim > 0)
        out.dim[out.ndim - 1] = p->num_hidden;
    MXC_TRY(mxc_sig_set_shape(sig, WEIGHT, &weight));
    if (!p->no_bias)
        MXC_TRY(mxc_sig_set_shape(sig, BIAS, &bias));
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
    if (data->ndim > 0)
        complete_data(sig, row_axes(p, data));
    return MXC_OK;
}

/* n, h, k of the product. */
typedef struct fc_size {
    int64_t n, h, k;
} fc_size;

static fc_size size_of(const mxc_shape *out, const mxc_shape *weight) {
    return (fc_size){mxci_shape_count(out, 0, out->ndim - 1), weight->dim[0], weight->dim[1]};
}

static size_t fully_connected_larger(size_t a, size_t b) {
    return a > b ? a : b;
}

/* The most that one of the products of a pass needs: they run one after the other in the same scratch. */
static size_t fc_temp(const mxc_op_sig *sig, mxc_pass pass) {
    mxc_dtype type = sig->in_type[DATA];
    fc_size size = size_of(&sig->out_shape[0], &sig->in_shape[WEIGHT]);
    int64_t n = size.n, h = size.h, k = size.k;
    if (pass == MXC_FORWARD)
        return fully_connected_larger(mxci_gemm_temp_bytes(type, n, h, k, 1), mxci_gemm_temp_bytes(type, n, h, 1, 1));
    return fully_connected_larger(
        fully_connected_larger(mxci_gemm_temp_bytes(type, n, k, h, 1), mxci_gemm_temp_bytes(type, h, k, n, 1)),
        mxci_gemm_temp_bytes(type, 1, h, n, 1));
}

/* A one of the dtype: with a leading dimension of 0 it is a vector of ones of any length. */
static const void *one(mxc_dtype dtype) {
    static const float f32 = 1;
    static const double f64 = 1;
    static const uint16_t f16 = 0x3c00, bf16 = 0x3f80;
    return dtype == MXC_F32   ? (const void *)&f32
           : dtype == MXC_F64 ? (const void *)&f64
           : dtype == MXC_F16 ? &f16
                              : &bf16;
}

/* A bias is part of the product, except where the result is added: then it follows as a product with a column of
 * ones. */
static mxc_status fc_forward(const mxc_op_call *call) {
    fc_size size = size_of(&call->out[0].shape, &call->in[WEIGHT].shape);
    int64_t n = size.n, h = size.h, k = size.k;
    int add = call->req[0] == MXC_REQ_ADD;
    const void *bias = call->n_in > BIAS ? call->in[BIAS].data : NULL;
    mxc_dtype type = call->in[DATA].dtype;
    mxci_gemm_args g = MXCI_GEMM_INIT;
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    g.dtype = type;
    g.transpose_b = 1;
    g.m = n, g.n = h, g.k = k;
    g.a = call->in[DATA].data, g.b = call->in[WEIGHT].data, g.c = call->out[0].data;
    g.lda = k, g.ldb = k, g.ldc = h;
    g.beta = add;
    g.bias = add ? NULL : bias;
    mxci_gemm(call->run, &g, call->temp);
    if (add && bias) { /* += ones (N,1) bias (1,H) */
        g.transpose_b = 0;
        g.k = 1;
        g.a = one(type), g.b = bias;
        g.lda = 0, g.ldb = h;
        mxci_gemm(call->run, &g, call->temp);
    }
    return MXC_OK;
}

/* in_grad[slot] = or += op(a) b, m x n. */
static void fully_connected_gradient(const mxc_op_call *call, int slot, int transpose_a, int64_t m, int64_t n,
                                     int64_t k, const void *a, int64_t lda, const void *b) {
    mxci_gemm_args g = MXCI_GEMM_INIT;
    if (slot >= call->n_in || call->req[slot] == MXC_REQ_NULL)
        return;
    g.dtype = call->in_grad[slot].dtype;
    g.transpose_a = transpose_a;
    g.m = m, g.n = n, g.k = k;
    g.a = a, g.b = b, g.c = call->in_grad[slot].data;
    g.lda = lda, g.ldb = n, g.ldc = n;
    g.beta = call->req[slot] == MXC_REQ_ADD;
    mxci_gemm(call->run, &g, call->temp);
}

static mxc_status fc_backward(const mxc_op_call *call) {
    fc_size size = size_of(&call->out[0].shape, &call->in[WEIGHT].shape);
    int64_t n = size.n, h = size.h, k = size.k;
    const void *out_grad = call->out_grad[0].data;
    fully_connected_gradient(call, DATA, 0, n, k, h, out_grad, h, call->in[WEIGHT].data);     /* (N,H) (H,K) */
    fully_connected_gradient(call, WEIGHT, 1, h, k, n, out_grad, h, call->in[DATA].data);     /* (N,H)^T (N,K) */
    fully_connected_gradient(call, BIAS, 1, 1, h, n, one(call->in[DATA].dtype), 0, out_grad); /* ones (N,1)^T (N,H) */
    return MXC_OK;
}

static int fc_quantized(const mxc_op *op, mxc_quantized *out) {
    (void)op;
    *out = (mxc_quantized){.op = "_contrib_quantized_fully_connected", .has_weights = 1, .is_32bit = 1};
    return 1;
}

/* relu, by cuBLASLt. */
static mxc_status fc_epilogue(const mxc_op *op, mxc_device device, const mxc_epilogue *what, mxc_op **out) {
    *out = NULL;
    if (device != MXC_GPU || what->adds || what->slope != 0 || what->limit != INFINITY)
        return MXC_OK;
    return mxci_op_like(op, "_fc_relu", NULL, NULL, out);
}

static int fc_linear(const mxc_op *op, mxc_linear *out) {
    *out = (mxc_linear){.ndim = 2, .axis = 1, .no_bias = "no_bias"};
    return ((const fc_params *)mxc_op_params(op))->flatten;
}

const mxc_op_def mxci_op_fully_connected = {
    .size = sizeof(mxc_op_def),
    .name = "FullyConnected",
    .doc = "Fully connected layer: output (N,H) = data (N,K) weight (H,K)^T + bias (H,), with H = num_hidden; data of "
           "more than two axes is flattened to (N,K)",
    .flags = MXC_OP_SAMPLEWISE,
    .params = mxci_fc_schema,
    .param_size = sizeof(fc_params),
    .args = "data,weight,bias",
    .n_args = fc_args,
    .infer_shape = mxci_fc_infer,
    .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1, .in = 1 << DATA | 1 << WEIGHT},
    .temp_bytes = fc_temp,
    .epilogue = fc_epilogue,
    .quantized = fc_quantized,
    .linear = fc_linear,
    .forward = {[MXC_CPU] = fc_forward},
    .backward = {[MXC_CPU] = fc_backward},
};

/* ---- _fc_relu: the product in scratch, then relu of it ---------------------------------------------------------- */

static size_t product_bytes(mxc_dtype type, const mxc_shape *out) {
    return mxci_size_align(mxci_shape_bytes(out, mxc_dtype_size(type)));
}

static size_t fc_relu_temp(const mxc_op_sig *sig, mxc_pass pass) {
    return mxci_size_add(product_bytes(sig->in_type[DATA], &sig->out_shape[0]), fc_temp(sig, pass));
}

/* The product into scratch, by FullyConnected's own forward, then relu of it into out by the request. */
static mxc_status fc_relu_forward(const mxc_op_call *call) {
    const mxc_tensor *out = &call->out[0];
    const mxc_req write = MXC_REQ_WRITE;
    mxc_tensor product = *out;
    mxc_op_call first = *call;
    mxci_mapping relu = {.dtype = out->dtype, .n = mxci_tensor_size(out), .n_in = 1, .in = {{.data = call->temp}}};
    relu.result[0].fn = mxci_activations[MXCI_ACT_RELU].forward[mxci_compute_type(out->dtype)];
    relu.result[0].req = call->req[0];
    relu.result[0].data = out->data;
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    product.data = call->temp;
    first.temp = (char *)call->temp + product_bytes(out->dtype, &out->shape);
    first.out = &product;
    first.req = &write;
    MXC_TRY(fc_forward(&first));
    return mxci_mapping_run(call->run, &relu);
}

const mxc_op_def mxci_op_fc_relu = {
    .size = sizeof(mxc_op_def),
    .name = "_fc_relu",
    .doc = "output = max(FullyConnected(data, weight, bias), 0)",
    .flags = MXC_OP_HIDDEN | MXC_OP_ZERO_GRADIENT,
    .params = mxci_fc_schema,
    .param_size = sizeof(fc_params),
    .args = "data,weight,bias",
    .n_args = fc_args,
    .infer_shape = mxci_fc_infer,
    .dtypes = MXC_DTYPES_FLOAT,
    .temp_bytes = fc_relu_temp,
    .forward = {[MXC_CPU] = fc_relu_forward},
};
