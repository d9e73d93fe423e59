/* Convolution, and Deconvolution, which is its gradient with respect to data as a layer. */
#include "cuda/bias.h"
#include "cuda/conv.h"
#include "cuda/kernel.h"
#include "operator/convolution.h"
#include "operator/deconvolution.h"

enum { DATA, WEIGHT, BIAS };

/* The convolution from what has x's shape to what has y's. */
static mxcu_conv conv_of(const mxci_conv_params *p, const mxc_shape *x, const mxc_shape *y, mxc_dtype dtype) {
    return {mxci_conv_group(p, x, y), x->dim[0], p->num_group, dtype};
}

static int64_t plane_of(const mxc_tensor *t) {
    return mxcu_product(&t->shape, 2, t->shape.ndim);
}

/* The bias goes to the output first, and what else does is added. */
static mxc_status put_bias(const mxc_op_call *call, int *add) {
    *add = call->req[0] == MXC_REQ_ADD;
    if (call->n_in <= BIAS)
        return MXC_OK;
    MXC_TRY(mxcu_bias_put(call, call->req[0], &call->out[0], &call->in[BIAS], plane_of(&call->out[0])));
    *add = 1;
    return MXC_OK;
}

static mxc_status bias_gradient(const mxc_op_call *call) {
    const mxc_tensor *grad = &call->out_grad[0];
    if (call->n_in <= BIAS || call->req[BIAS] == MXC_REQ_NULL)
        return MXC_OK;
    return mxcu_bias_sum(call, call->req[BIAS], &call->in_grad[BIAS], grad, plane_of(grad));
}

/* ---- Convolution ------------------------------------------------------------------------------------------------- */

static mxcu_conv convolution_of(const mxc_op_call *call) {
    return conv_of(static_cast<const mxci_conv_params *>(call->params), &call->in[DATA].shape, &call->out[0].shape,
                   call->in[DATA].dtype);
}

static size_t conv_temp(const mxc_op_sig *sig, mxc_pass) {
    mxcu_conv c = conv_of(static_cast<const mxci_conv_params *>(sig->params), &sig->in_shape[DATA], &sig->out_shape[0],
                          sig->in_type[DATA]);
    return mxcu_conv_temp(&c);
}

static mxc_status conv_forward(const mxc_op_call *call) {
    mxcu_conv c = convolution_of(call);
    int add;
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXC_TRY(put_bias(call, &add));
    return mxcu_conv_forward(call, &c, call->in[DATA].data, call->in[WEIGHT].data, call->out[0].data, add, call->temp);
}

static mxc_status conv_backward(const mxc_op_call *call) {
    mxcu_conv c = convolution_of(call);
    const void *grad = call->out_grad[0].data;
    MXC_TRY(bias_gradient(call));
    if (call->req[WEIGHT] != MXC_REQ_NULL)
        MXC_TRY(mxcu_conv_weight(call, &c, call->in[DATA].data, grad, call->in_grad[WEIGHT].data,
                                 call->req[WEIGHT] == MXC_REQ_ADD, call->temp));
    if (call->req[DATA] == MXC_REQ_NULL)
        return MXC_OK;
    return mxcu_conv_data(call, &c, grad, call->in[WEIGHT].data, call->in_grad[DATA].data,
                          call->req[DATA] == MXC_REQ_ADD, call->temp);
}

/* ---- Deconvolution ----------------------------------------------------------------------------------------------- */

static mxcu_conv deconvolution_conv(const void *params, const mxc_shape *data, const mxc_shape *out, mxc_dtype dtype) {
    mxci_conv_params p;
    mxci_deconv_conv(static_cast<const mxci_deconv_params *>(params), data, &p);
    return conv_of(&p, out, data, dtype);
}

static mxcu_conv deconvolution_of(const mxc_op_call *call) {
    return deconvolution_conv(call->params, &call->in[DATA].shape, &call->out[0].shape, call->in[DATA].dtype);
}

static size_t deconv_temp(const mxc_op_sig *sig, mxc_pass) {
    mxcu_conv c = deconvolution_conv(sig->params, &sig->in_shape[DATA], &sig->out_shape[0], sig->in_type[DATA]);
    return mxcu_conv_temp(&c);
}

static mxc_status deconv_forward(const mxc_op_call *call) {
    mxcu_conv c = deconvolution_of(call);
    int add;
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXC_TRY(put_bias(call, &add));
    return mxcu_conv_data(call, &c, call->in[DATA].data, call->in[WEIGHT].data, call->out[0].data, add, call->temp);
}

static mxc_status deconv_backward(const mxc_op_call *call) {
    mxcu_conv c = deconvolution_of(call);
    const void *grad = call->out_grad[0].data;
    MXC_TRY(bias_gradient(call));
    if (call->req[WEIGHT] != MXC_REQ_NULL)
        MXC_TRY(mxcu_conv_weight(call, &c, grad, call->in[DATA].data, call->in_grad[WEIGHT].data,
                                 call->req[WEIGHT] == MXC_REQ_ADD, call->temp));
    if (call->req[DATA] == MXC_REQ_NULL)
        return MXC_OK;
    return mxcu_conv_forward(call, &c, grad, call->in[WEIGHT].data, call->in_grad[DATA].data,
                             call->req[DATA] == MXC_REQ_ADD, call->temp);
}

MXCU_FORMS(convolution, {"Convolution", conv_forward, conv_backward, conv_temp},
           {"Deconvolution", deconv_forward, deconv_backward, deconv_temp})
