/* Convolution, and Deconvolution, which is its gradient with respect to data as a layer. */
#include "cuda/operator/nn/bias.h"
#include "cuda/operator/nn/conv.h"
#include "cuda/operator/reduce/reduce.h"
#include "operator/nn/convolution.h"
#include "operator/nn/deconvolution.h"

enum { DATA, WEIGHT, BIAS };

/* cudnn_tune, whose default is what MXNet's is: to measure within the workspace. */
enum { TUNE_OFF, TUNE_LIMITED, TUNE_FASTEST };

/* The convolution from what has x's shape to what has y's; user: the operator's parameters. */
template <class P>
static mxcu_conv conv_of(const mxci_conv_params *p, const P *user, const mxc_shape *x, const mxc_shape *y,
                         mxc_dtype dtype) {
    const int tuned = user->cudnn_tune != TUNE_OFF && mxcu_option(MXCI_OPT_MXC_GPU_TUNE);
    const int off = user->cudnn_off || !mxcu_option(MXCI_OPT_MXC_GPU_DNN);
    const int64_t megabytes = user->cudnn_tune == TUNE_FASTEST ? 8192 : user->workspace;
    return {mxci_conv_group(p, x, y), x->dim[0],       p->num_group,        dtype,
            off ? 0 : 1 + tuned,      megabytes << 20, mxci_conv_is_last(p)};
}

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

static mxc_status add_bias(const mxc_op_call *call, const mxcu_conv_array &y, int last) {
    if (call->n_in <= BIAS)
        return MXC_OK;
    return mxcu_bias_put(call, MXC_REQ_ADD, &call->out[0], &call->in[BIAS], last ? 1 : y.inner);
}

static mxcu_reduction plan_rows(const mxc_shape *grad) {
    return mxcu_plan_channels(grad, grad->ndim - 1);
}

template <class T> static mxc_status sum_rows(const mxc_op_call *call) {
    mxcu_reduction plan = plan_rows(&call->out_grad[0].shape);
    mxcu_summing<T, mxcu_element<T>> sums = {
        {mxcu_data<T>(&call->out_grad[0])},
        mxcu_result<T>(call, &call->in_grad[BIAS], BIAS),
    };
    return mxcu_reduce(call, &plan, sums, call->temp);
}

static mxc_status bias_gradient(const mxc_op_call *call, const mxcu_conv_array &y, int last) {
    const mxc_tensor *grad = &call->out_grad[0];
    if (call->n_in <= BIAS || call->req[BIAS] == MXC_REQ_NULL)
        return MXC_OK;
    if (!last)
        return mxcu_bias_sum(call, call->req[BIAS], &call->in_grad[BIAS], grad, y.inner);
    MXCU_SWITCH_FLOAT(grad->dtype, sum_rows, call)
}

/* ---- Convolution ------------------------------------------------------------------------------------------------- */

static mxcu_conv convolution(const void *params, const mxc_shape *data, const mxc_shape *out, mxc_dtype dtype) {
    const mxci_conv_params *p = static_cast<const mxci_conv_params *>(params);
    return conv_of(p, p, data, out, dtype);
}

static mxcu_conv convolution_of(const mxc_op_call *call) {
    return convolution(call->params, &call->in[DATA].shape, &call->out[0].shape, call->in[DATA].dtype);
}

static size_t conv_temp(const mxc_op_sig *sig, mxc_pass pass) {
    mxcu_conv c = convolution(sig->params, &sig->in_shape[DATA], &sig->out_shape[0], sig->in_type[DATA]);
    mxcu_reduction rows = plan_rows(&sig->out_shape[0]);
    return pass == MXC_FORWARD
               ? mxcu_conv_temp(sig->context, &c, MXCU_CONV_FORWARD)
               : larger(mxcu_reduction_bytes(&rows), larger(mxcu_conv_temp(sig->context, &c, MXCU_CONV_WEIGHT),
                                                            mxcu_conv_temp(sig->context, &c, MXCU_CONV_DATA)));
}

static mxc_status conv_forward(const mxc_op_call *call) {
    mxcu_conv c = convolution_of(call);
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXC_TRY(mxcu_conv_forward(call, &c, call->in[DATA].data, call->in[WEIGHT].data, call->out[0].data,
                              call->req[0] == MXC_REQ_ADD));
    return add_bias(call, mxcu_conv_y(&c), c.last);
}

static mxc_status conv_backward(const mxc_op_call *call) {
    mxcu_conv c = convolution_of(call);
    const void *grad = call->out_grad[0].data;
    MXC_TRY(bias_gradient(call, mxcu_conv_y(&c), c.last));
    if (call->req[WEIGHT] != MXC_REQ_NULL)
        MXC_TRY(mxcu_conv_weight(call, &c, call->in[DATA].data, grad, call->in_grad[WEIGHT].data,
                                 call->req[WEIGHT] == MXC_REQ_ADD));
    if (call->req[DATA] == MXC_REQ_NULL)
        return MXC_OK;
    return mxcu_conv_data(call, &c, grad, call->in[WEIGHT].data, call->in_grad[DATA].data,
                          call->req[DATA] == MXC_REQ_ADD);
}

/* ---- Deconvolution ----------------------------------------------------------------------------------------------- */

static mxcu_conv deconvolution(const void *params, const mxc_shape *data, const mxc_shape *out, mxc_dtype dtype) {
    const mxci_deconv_params *user = static_cast<const mxci_deconv_params *>(params);
    mxci_conv_params p;
    mxci_deconv_conv(user, data, &p);
    return conv_of(&p, user, out, data, dtype);
}

static mxcu_conv deconvolution_of(const mxc_op_call *call) {
    return deconvolution(call->params, &call->in[DATA].shape, &call->out[0].shape, call->in[DATA].dtype);
}

static size_t deconv_temp(const mxc_op_sig *sig, mxc_pass pass) {
    mxcu_conv c = deconvolution(sig->params, &sig->in_shape[DATA], &sig->out_shape[0], sig->in_type[DATA]);
    return pass == MXC_FORWARD ? mxcu_conv_temp(sig->context, &c, MXCU_CONV_DATA)
                               : larger(mxcu_conv_temp(sig->context, &c, MXCU_CONV_WEIGHT),
                                        mxcu_conv_temp(sig->context, &c, MXCU_CONV_FORWARD));
}

static mxc_status deconv_forward(const mxc_op_call *call) {
    mxcu_conv c = deconvolution_of(call);
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXC_TRY(mxcu_conv_data(call, &c, call->in[DATA].data, call->in[WEIGHT].data, call->out[0].data,
                           call->req[0] == MXC_REQ_ADD));
    return add_bias(call, mxcu_conv_x(&c), 0);
}

static mxc_status deconv_backward(const mxc_op_call *call) {
    mxcu_conv c = deconvolution_of(call);
    const void *grad = call->out_grad[0].data;
    MXC_TRY(bias_gradient(call, mxcu_conv_x(&c), 0));
    if (call->req[WEIGHT] != MXC_REQ_NULL)
        MXC_TRY(mxcu_conv_weight(call, &c, grad, call->in[DATA].data, call->in_grad[WEIGHT].data,
                                 call->req[WEIGHT] == MXC_REQ_ADD));
    if (call->req[DATA] == MXC_REQ_NULL)
        return MXC_OK;
    return mxcu_conv_forward(call, &c, grad, call->in[WEIGHT].data, call->in_grad[DATA].data,
                             call->req[DATA] == MXC_REQ_ADD);
}

MXCU_OP_IMPLS(convolution, {"Convolution", conv_forward, conv_backward, conv_temp},
              {"Deconvolution", deconv_forward, deconv_backward, deconv_temp})
