/* SPDX-License-Identifier: Apache-2.0 */
/* _image_to_tensor and _image_normalize: a thread per element. */
#include "operator/vision/image_tensor.h"

#include "cuda/runtime/convert.h"

template <class T> static mxc_status put_tensor(const mxc_op_call *call) {
    const mxc_shape *shape = &call->out[0].shape;
    const int64_t channels = shape->dim[shape->ndim - 3], plane = mxcu_product(shape, shape->ndim - 2, shape->ndim);
    mxcu_any x = mxcu_any_data(&call->in[0]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t of = mxcu_divide(at, plane), i = mxcu_divide(of, channels), c = of - i * channels;
        const int64_t pixel = i * plane + at - of * plane;
        y.put(at, (mxcu_compute_t<T>)(x.as<double>(pixel * channels + c) / 255));
    });
}

static mxc_status to_tensor(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL || mxcu_size(&call->out[0]) == 0)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->out[0].dtype, put_tensor, call)
}

namespace {
struct channel_numbers {
    double mean[MXC_FLOATS_MAX], std[MXC_FLOATS_MAX];
};
} // namespace

/* Numbers of a channel beyond the last: inference lets one number stand for all. */
static channel_numbers numbers_of(const mxc_op_call *call, int is_gradient) {
    const mxci_image_normalize_params *p = static_cast<const mxci_image_normalize_params *>(call->params);
    channel_numbers n;
    for (int c = 0; c < MXC_FLOATS_MAX; c++) {
        n.mean[c] = is_gradient ? 0 : mxci_image_channel_number(&p->mean, c);
        n.std[c] = mxci_image_channel_number(&p->std, c);
    }
    return n;
}

template <class T>
static mxc_status normalized(const mxc_op_call *call, const mxc_tensor *from, const mxc_tensor *to, int is_gradient) {
    const mxc_shape *shape = &from->shape;
    const int64_t channels = shape->dim[shape->ndim - 3], plane = mxcu_product(shape, shape->ndim - 2, shape->ndim);
    const channel_numbers n = numbers_of(call, is_gradient);
    mxcu_in<T> x = mxcu_data<T>(from);
    mxcu_out<T> y = mxcu_result<T>(call, to, 0);
    return mxcu_for(call, mxcu_size(from), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t of = mxcu_divide(at, plane), c = of % channels, k = c < MXC_FLOATS_MAX ? c : MXC_FLOATS_MAX - 1;
        y.put(at, (mxcu_compute_t<T>)(((double)x[at] - n.mean[k]) / n.std[k]));
    });
}

static mxc_status normalize(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL || mxcu_size(&call->out[0]) == 0)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->out[0].dtype, normalized, call, &call->in[0], &call->out[0], 0)
}

static mxc_status normalize_backward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL || mxcu_size(&call->in_grad[0]) == 0)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->in_grad[0].dtype, normalized, call, &call->out_grad[0], &call->in_grad[0], 1)
}

MXCU_OP_IMPLS(image_tensor, {"_image_to_tensor", to_tensor}, {"_image_normalize", normalize, normalize_backward})
