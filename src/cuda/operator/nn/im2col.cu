/* SPDX-License-Identifier: Apache-2.0 */
/* im2col and col2im; a thread per element of the result. Images are gathered from the columns, without atomics. */
#include "operator/nn/im2col.h"

#include "cuda/operator/nn/convolution_index.h"

/* Columns (N,C,K,P): each element is one of the image, or 0 in the padding. */
template <class T>
static mxc_status to_columns_as(const mxc_op_call *call, const mxc_tensor *to, const mxc_tensor *from) {
    const mxci_conv_shape s = mxci_im2col_windows(call->params, &from->shape);
    const int64_t kernel = s.kernel[0] * s.kernel[1] * s.kernel[2], windows = s.out[0] * s.out[1] * s.out[2];
    const int64_t image = s.in[0] * s.in[1] * s.in[2];
    mxcu_in<T> x = mxcu_data<T>(from);
    mxcu_out<T> y = mxcu_result<T>(call, to, 0);
    return mxcu_for(call, mxcu_size(to), [=] MXCU_LAMBDA(int64_t i) {
        const int64_t row = mxcu_divide(i, windows), channel = mxcu_divide(row, kernel);
        const int64_t at = mxcu_conv_read(s, mxcu_position_of(i - row * windows, s.out),
                                          mxcu_position_of(row - channel * kernel, s.kernel));
        y.put(i, at < 0 ? mxcu_compute_t<T>(0) : x[channel * image + at]);
    });
}

/* An element of an image is the sum of at most K elements of the columns. */
template <class T>
static mxc_status to_images_as(const mxc_op_call *call, const mxc_tensor *to, const mxc_tensor *from) {
    const mxci_conv_shape s = mxci_im2col_windows(call->params, &to->shape);
    const int64_t kernel = s.kernel[0] * s.kernel[1] * s.kernel[2], windows = s.out[0] * s.out[1] * s.out[2];
    const int64_t image = s.in[0] * s.in[1] * s.in[2];
    mxcu_in<T> x = mxcu_data<T>(from);
    mxcu_out<T> y = mxcu_result<T>(call, to, 0);
    return mxcu_for(call, mxcu_size(to), [=] MXCU_LAMBDA(int64_t i) {
        const int64_t channel = mxcu_divide(i, image);
        const mxcu_position p = mxcu_position_of(i - channel * image, s.in);
        mxcu_compute_t<T> sum = 0;
        for (int64_t k = 0; k < kernel; k++) {
            const int64_t at = mxcu_conv_reader(s, p, mxcu_position_of(k, s.kernel));
            if (at >= 0)
                sum += x[(channel * kernel + k) * windows + at];
        }
        y.put(i, sum);
    });
}

static mxc_status to_columns(const mxc_op_call *call, const mxc_tensor *to, const mxc_tensor *from) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(to->dtype, to_columns_as, call, to, from)
}

static mxc_status to_images(const mxc_op_call *call, const mxc_tensor *to, const mxc_tensor *from) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(to->dtype, to_images_as, call, to, from)
}

static mxc_status im2col_forward(const mxc_op_call *call) {
    return to_columns(call, &call->out[0], &call->in[0]);
}

static mxc_status im2col_backward(const mxc_op_call *call) {
    return to_images(call, &call->in_grad[0], &call->out_grad[0]);
}

static mxc_status col2im_forward(const mxc_op_call *call) {
    return to_images(call, &call->out[0], &call->in[0]);
}

static mxc_status col2im_backward(const mxc_op_call *call) {
    return to_columns(call, &call->in_grad[0], &call->out_grad[0]);
}

MXCU_OP_IMPLS(im2col, {"im2col", im2col_forward, im2col_backward}, {"col2im", col2im_forward, col2im_backward})
