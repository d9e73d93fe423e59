/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deconvolution: the convolution's gradient with respect to its data as a layer of its own.
 *
 * data (N,C,spatial), weight (C, F/groups, kernel), bias (F), out (N,F,spatial'), spatial' = stride (spatial - 1) +
 * dilate (kernel - 1) + 1 - 2 pad + adj, for one to three spatial axes; target_shape asks for spatial' and sets pad and
 * adj. Everything is computed by Convolution's functions with data and out in each other's place: out is the gradient
 * of the data of a convolution (N,F,spatial') -> (N,C,spatial), data's gradient is that convolution.
 */
#include "operator/nn/deconvolution.h"

#include "math/tile_kernels.h"
#include "operator/nn/batch_norm_kernels.h"

extern const mxc_op_def mxci_op_convolution;

typedef mxci_deconv_params deconv_params;

enum { DATA, WEIGHT, BIAS };

#define AXES_LIMIT 2147483647.0
#define MOST_CHANNELS 100000
static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(deconv_params, kernel), .name = "kernel", .type = MXC_PARAM_TUPLE, .bounded = 1, .minimum = 1,
     .maximum = AXES_LIMIT, .doc = "Kernel size of each spatial axis: (w), (h,w) or (d,h,w)."},
    {MXC_PARAM_FIELD(deconv_params, stride), .name = "stride", .type = MXC_PARAM_TUPLE, .initial = "()", .bounded = 1,
     .minimum = 1, .maximum = AXES_LIMIT, .doc = "Stride along each spatial axis of the output. (): 1."},
    {MXC_PARAM_FIELD(deconv_params, dilate), .name = "dilate", .type = MXC_PARAM_TUPLE, .initial = "()", .bounded = 1,
     .minimum = 1, .maximum = AXES_LIMIT, .doc = "Dilation, the distance between neighbouring kernel elements. (): 1."},
    {MXC_PARAM_FIELD(deconv_params, pad), .name = "pad", .type = MXC_PARAM_TUPLE, .initial = "()", .bounded = 1,
     .minimum = 0, .maximum = AXES_LIMIT,
     .doc = "Padding: elements removed at both ends of each spatial axis of the output. (): 0."},
    {MXC_PARAM_FIELD(deconv_params, adj), .name = "adj", .type = MXC_PARAM_TUPLE, .initial = "()", .bounded = 1,
     .minimum = 0, .maximum = AXES_LIMIT,
     .doc = "Elements added to each spatial axis of the output, less than stride. (): 0."},
    {MXC_PARAM_FIELD(deconv_params, target_shape), .name = "target_shape", .type = MXC_PARAM_TUPLE, .initial = "()",
     .bounded = 1, .minimum = 0, .maximum = AXES_LIMIT,
     .doc = "Spatial shape of the output, which determines pad and adj. () and zeros: not given."},
    {MXC_PARAM_FIELD(deconv_params, num_filter), .name = "num_filter", .type = MXC_PARAM_INT, .bounded = 1,
     .minimum = 1, .maximum = MOST_CHANNELS, .doc = "Number of filters, the channels of the output."},
    {MXC_PARAM_FIELD(deconv_params, num_group), .name = "num_group", .type = MXC_PARAM_INT, .initial = "1",
     .bounded = 1, .minimum = 1, .maximum = MOST_CHANNELS,
     .doc = "Number of groups of channels that are computed separately."},
    {MXC_PARAM_FIELD(deconv_params, workspace), .name = "workspace", .type = MXC_PARAM_INT, .initial = "512",
     .bounded = 1, .minimum = 0, .maximum = 8192, .doc = "Maximum scratch memory of cuDNN in MiB."},
    {MXC_PARAM_FIELD(deconv_params, no_bias), .name = "no_bias", .type = MXC_PARAM_BOOL, .initial = "True",
     .doc = "Leave out the argument bias."},
    {MXC_PARAM_FIELD(deconv_params, cudnn_tune), .name = "cudnn_tune", .type = MXC_PARAM_ENUM, .initial = "None",
     .choices = "off,limited_workspace,fastest", .optional = 1,
     .doc = "How the algorithm of cuDNN is chosen: off by its heuristics, limited_workspace by measuring those that "
            "fit workspace, fastest by measuring those that fit 8 GiB. None: limited_workspace."},
    {MXC_PARAM_FIELD(deconv_params, cudnn_off), .name = "cudnn_off", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "Do not use cuDNN."},
    {MXC_PARAM_FIELD(deconv_params, layout), .name = "layout", .type = MXC_PARAM_ENUM, .initial = "None",
     .choices = "NCW,NCHW,NCDHW,NHWC,NDHWC", .optional = 1,
     .doc = "Order of the axes. Only channels second is supported."},
    MXC_PARAM_END,
};

static mxc_status deconvolution_complete(const char *name, mxc_tuple *tuple, int n, int64_t value) {
    if (tuple->n != 0 && tuple->n != n)
        return MXC_FAIL(MXC_EINVAL, "Deconvolution: %s has %d entries, kernel has %d", name, (int)tuple->n, n);
    for (int i = tuple->n; i < n; i++)
        tuple->value[i] = value;
    tuple->n = n;
    return MXC_OK;
}

static mxc_status deconvolution_check_params(void *params) {
    deconv_params *p = params;
    int n = p->kernel.n;
    if (n < 1 || n > 3)
        return MXC_FAIL(MXC_EINVAL, "Deconvolution: kernel has %d entries, expected 1 to 3", n);
    MXC_TRY(deconvolution_complete("stride", &p->stride, n, 1));
    MXC_TRY(deconvolution_complete("dilate", &p->dilate, n, 1));
    MXC_TRY(deconvolution_complete("pad", &p->pad, n, 0));
    MXC_TRY(deconvolution_complete("adj", &p->adj, n, 0));
    MXC_TRY(deconvolution_complete("target_shape", &p->target_shape, n, 0));
    for (int i = 0; i < n; i++)
        if (p->adj.value[i] >= p->stride.value[i] && p->adj.value[i] > 0)
            return MXC_FAIL(MXC_EINVAL, "Deconvolution: adj of axis %d is %lld, expected less than stride %lld", i,
                            (long long)p->adj.value[i], (long long)p->stride.value[i]);
    if (p->num_filter % p->num_group != 0)
        return MXC_FAIL(MXC_EINVAL, "Deconvolution: num_filter %lld is not a multiple of num_group %lld",
                        (long long)p->num_filter, (long long)p->num_group);
    if (p->layout >= 0 && p->layout != n - 1)
        return MXC_FAIL(MXC_EUNSUPPORTED, "Deconvolution: only layouts NCW, NCHW and NCDHW, as the kernel has %d axes",
                        n);
    return MXC_OK;
}

static int deconvolution_n_args(const void *params) {
    return ((const deconv_params *)params)->no_bias ? 2 : 3;
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

/* out = stride (in - 1) + dilate (kernel - 1) + 1 - 2 pad + adj, or target_shape. */
static mxc_status deconvolution_infer_axis(mxc_op_sig *sig, int i) {
    const deconv_params *p = sig->params;
    int64_t in = sig->in_shape[DATA].dim[i + 2], span;
    mxc_shape expected = mxci_shape_axes(p->kernel.n + 2);
    if (in < 0)
        return MXC_OK;
    if (in == 0 || in > (int64_t)AXES_LIMIT)
        return mxc_sig_fail(sig, "argument 'data': spatial axis %d has %lld elements, expected 1 to %lld", i,
                            (long long)in, (long long)AXES_LIMIT);
    span = mxci_deconv_span(p, i, in);
    if (mxci_deconv_has_target(p) && (p->target_shape.value[i] < 1 || p->target_shape.value[i] > span))
        return mxc_sig_fail(sig, "target_shape of axis %d is %lld, expected 1 to the %lld that the kernels span", i,
                            (long long)p->target_shape.value[i], (long long)span);
    if (mxci_deconv_pad(p, i, in) > (int64_t)AXES_LIMIT)
        return mxc_sig_fail(sig, "target_shape of axis %d cuts off %lld elements, expected at most %lld", i,
                            (long long)mxci_deconv_pad(p, i, in), (long long)AXES_LIMIT);
    expected.dim[i + 2] =
        mxci_deconv_has_target(p) ? p->target_shape.value[i] : span - 2 * p->pad.value[i] + p->adj.value[i];
    if (expected.dim[i + 2] < 1)
        return mxc_sig_fail(sig, "pad %lld of axis %d leaves nothing of the %lld elements that the kernels span",
                            (long long)p->pad.value[i], i, (long long)span);
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &expected);
}

static mxc_status deconvolution_infer_shape(mxc_op_sig *sig) {
    const deconv_params *p = sig->params;
    int ndim = p->kernel.n + 2;
    mxc_shape *data = &sig->in_shape[DATA], axes = mxci_shape_axes(ndim), bias = mxci_shape_of(1, &p->num_filter);
    MXC_TRY(mxc_sig_set_shape(sig, DATA, &axes));
    axes.dim[0] = data->dim[1];
    axes.dim[1] = p->num_filter / p->num_group;
    for (int i = 0; i < p->kernel.n; i++)
        axes.dim[i + 2] = p->kernel.value[i];
    MXC_TRY(mxc_sig_set_shape(sig, WEIGHT, &axes));
    data->dim[1] = sig->in_shape[WEIGHT].dim[0];
    if (data->dim[1] >= 0 && (data->dim[1] == 0 || data->dim[1] > MOST_CHANNELS || data->dim[1] % p->num_group != 0))
        return mxc_sig_fail(sig, "argument 'data': %lld channels, expected a multiple of num_group %lld up to %d",
                            (long long)data->dim[1], (long long)p->num_group, MOST_CHANNELS);
    if (!p->no_bias)
        MXC_TRY(mxc_sig_set_shape(sig, BIAS, &bias));
    axes = mxci_shape_axes(ndim);
    axes.dim[0] = data->dim[0];
    axes.dim[1] = p->num_filter;
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &axes));
    data->dim[0] = sig->out_shape[0].dim[0];
    for (int i = 0; i < p->kernel.n; i++)
        MXC_TRY(deconvolution_infer_axis(sig, i));
    return MXC_OK;
}

/* ---- the convolution --------------------------------------------------------------------------------------------- */

/* Scratch of the convolution of out with weight, which gives data: its data is our output and its output our data. */
static size_t deconvolution_conv_temp(const mxc_op_sig *sig, mxc_pass pass) {
    mxci_conv_params params;
    mxc_op_sig conv = *sig;
    mxc_dtype type = mxci_compute_type(sig->in_type[DATA]);
    mxci_deconv_conv(sig->params, &sig->in_shape[DATA], &params);
    conv.params = &params;
    conv.n_in = 2;
    conv.in_shape = (mxc_shape[]){sig->out_shape[0], sig->in_shape[WEIGHT]};
    conv.out_shape = &sig->in_shape[DATA];
    conv.in_type = (mxc_dtype[]){type, type};
    conv.out_type = &type;
    return mxci_op_convolution.temp_bytes(&conv, pass);
}

/* Forward is the convolution's backward; backward uses both of its passes, one after the other. */
static size_t deconvolution_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    size_t forward = pass == MXC_BACKWARD ? deconvolution_conv_temp(sig, MXC_FORWARD) : 0,
           backward = deconvolution_conv_temp(sig, MXC_BACKWARD);
    return forward > backward ? forward : backward;
}

/* A call of the convolution (image, weight) -> what has data's shape. */
typedef struct conv_call {
    mxc_op_call call;
    mxci_conv_params params;
    mxc_tensor in[2];
} conv_call;

static void open_conv(const mxc_op_call *call, const mxc_tensor *image, conv_call *out) {
    out->call = *call;
    out->call.params = &out->params;
    out->call.n_in = 2;
    out->call.in = out->in;
    out->in[0] = *image;
    out->in[1] = call->in[WEIGHT];
    mxci_deconv_conv(call->params, &call->in[DATA].shape, &out->params);
}

/* out = conv(image, weight). */
static mxc_status run_conv(const mxc_op_call *call, const mxc_tensor *image, const mxc_tensor *out, mxc_req req) {
    conv_call conv;
    open_conv(call, image, &conv);
    conv.call.out = out;
    conv.call.req = &req;
    return mxci_op_convolution.forward[MXC_CPU](&conv.call);
}

/* Its gradients from grad, the gradient of what it gives. */
static mxc_status run_conv_backward(const mxc_op_call *call, const mxc_tensor *image, const mxc_tensor *grad,
                                    const mxc_tensor in_grad[2], const mxc_req req[2]) {
    conv_call conv;
    open_conv(call, image, &conv);
    conv.call.out = conv.call.out_grad = grad;
    conv.call.in_grad = in_grad;
    conv.call.req = req;
    return mxci_op_convolution.backward[MXC_CPU](&conv.call);
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

/* out = or += bias in the planes begin..end-1. */
static void deconvolution_bias_part(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    const mxc_tensor *out = &call->out[0];
    int64_t plane = mxci_shape_count(&out->shape, 2, out->shape.ndim);
    _Alignas(64) int64_t tile[MXCI_TILE];
    (void)part;
    for (int64_t i = begin; i < end; i++) {
        mxci_fill_compute(out->dtype, mxci_value_at(&call->in[BIAS], i % out->shape.dim[1]), tile, MXCI_TILE);
        for (int64_t k = 0; k < plane; k += MXCI_TILE)
            mxci_assign_row(call->req[0], out->dtype, mxci_at(out, i * plane + k), tile,
                            plane - k < MXCI_TILE ? plane - k : MXCI_TILE);
    }
}

static mxc_status deconvolution_forward(const mxc_op_call *call) {
    const mxc_shape *out = &call->out[0].shape;
    mxc_req req[2] = {call->req[0], MXC_REQ_NULL};
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    if (call->n_in > BIAS) {
        mxc_parallel_for(call->run, out->dim[0] * out->dim[1],
                         MXCI_GRAIN / (mxci_shape_count(out, 2, out->ndim) + 1) + 1, deconvolution_bias_part,
                         (void *)call);
        req[0] = MXC_REQ_ADD;
    }
    return run_conv_backward(call, &call->out[0], &call->in[DATA], (mxc_tensor[]){call->out[0], call->in[WEIGHT]}, req);
}

/* ---- backward ---------------------------------------------------------------------------------------------------- */

static void deconvolution_bias_gradient(const mxc_op_call *call) {
    const mxc_tensor *grad = &call->out_grad[0];
    int64_t filters = grad->shape.dim[1], plane = mxci_shape_count(&grad->shape, 2, grad->shape.ndim);
    mxci_channel channel = {.n = grad->shape.dim[0], .d = plane, .step = filters * plane};
    double sum, product;
    for (int64_t f = 0; f < filters; f++) {
        const void *from = mxci_at(grad, f * plane);
        mxci_bn_sums[grad->dtype](&channel, 0, from, from, &sum, &product);
        mxci_assign_value(call->req[BIAS], &call->in_grad[BIAS], f, sum);
    }
}

static mxc_status deconvolution_backward(const mxc_op_call *call) {
    const mxc_tensor *grad = &call->out_grad[0];
    if (call->n_in > BIAS && call->req[BIAS] != MXC_REQ_NULL)
        deconvolution_bias_gradient(call);
    if (call->req[WEIGHT] != MXC_REQ_NULL)
        MXC_TRY(run_conv_backward(call, grad, &call->in[DATA], (mxc_tensor[]){*grad, call->in_grad[WEIGHT]},
                                  (mxc_req[]){MXC_REQ_NULL, call->req[WEIGHT]}));
    if (call->req[DATA] == MXC_REQ_NULL)
        return MXC_OK;
    return run_conv(call, grad, &call->in_grad[DATA], call->req[DATA]);
}

const mxc_op_def mxci_op_deconvolution = {
    .size = sizeof(mxc_op_def),
    .name = "Deconvolution",
    .doc = "Transposed convolution: each element of data (N,C,...) adds its multiple of weight (C, num_filter / "
           "num_group, kernel...) to output (N,num_filter,...), plus bias; for one to three spatial axes",
    .flags = MXC_OP_SAMPLEWISE,
    .params = schema,
    .param_size = sizeof(deconv_params),
    .params_check = deconvolution_check_params,
    .args = "data,weight,bias",
    .n_args = deconvolution_n_args,
    .infer_shape = deconvolution_infer_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .cpu_dtypes = MXC_DTYPES_REAL,
    .needs = {.out_grad = 1, .in = 1 << DATA | 1 << WEIGHT},
    .temp_bytes = deconvolution_temp_bytes,
    .forward = {[MXC_CPU] = deconvolution_forward},
    .backward = {[MXC_CPU] = deconvolution_backward},
};
