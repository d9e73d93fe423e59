/* SPDX-License-Identifier: Apache-2.0 */
/* SoftmaxOutput: softmax forward (nn/softmax.h), whose gradient is that of the cross entropy with the label: a thread
 * per element. */
#include "operator/loss/losses.h"

#include <cstring>

#include "cuda/operator/loss/count.h"
#include "cuda/operator/nn/softmax.h"
#include "cuda/runtime/gradient.h"

enum { DATA, LABEL };

/* The softmax axis: the last (preserve_shape), the second (multi_output), or all of a sample. */
static mxcu_softmax softmax_of(const mxc_op_call *call) {
    const mxci_softmax_output_params *p = static_cast<const mxci_softmax_output_params *>(call->params);
    const mxc_shape *data = &call->out[0].shape;
    if (p->multi_output || p->preserve_shape)
        return mxcu_softmax_along(data, p->multi_output ? 1 : -1, 1, 0);
    return {data->dim[0], mxcu_product(data, 1, data->ndim), 1, 1, 0, 0, {}};
}

static mxc_status forward(const mxc_op_call *call) {
    mxcu_softmax s = softmax_of(call);
    return mxcu_softmax_put(call, &s, &call->in[DATA], &call->out[0], call->req[0]);
}

namespace {
/* The gradient of element i of (outer, k, inner). */
template <class T> struct softmax_loss {
    using C = mxcu_compute_t<T>;
    mxcu_in<T> y, label, dy; /* dy has no data where it does not matter */
    int64_t k, inner;
    int dense, use_ignore;
    double ignore;
    C scale, on, off;      /* on, off: the smoothed one-hot label at its class and at others */
    const double *divisor; /* or NULL */

    MXCU_DEVICE C difference(int64_t i) const {
        if (dense)
            return y[i] - label[i];
        const int64_t row = i / inner, column = i - row * inner, o = row / k;
        const double value = (double)label[o * inner + column];
        const int64_t target = value > -1 && value < (double)k ? (int64_t)value : -1;
        if (use_ignore && trunc(value) == trunc(ignore))
            return 0;
        return y[i] - (row - o * k == target ? on : off);
    }
    MXCU_DEVICE C operator()(int64_t i) const {
        const C factor = divisor ? scale / (C)*divisor : scale, g = factor * difference(i);
        return dy.data ? g * dy[i] : g;
    }
};
} // namespace

/* What the gradient is divided by, as far as shapes determine it. */
static double divisor_of(const mxci_softmax_output_params *p, const mxcu_softmax *s) {
    return p->normalization == MXCI_NORM_BATCH  ? (double)s->outer * (double)s->inner
           : p->normalization == MXCI_NORM_NULL ? (double)s->inner
                                                : 1;
}

/* dense: the label has out's shape and is a distribution; else class numbers. The number of valid labels, where the
 * gradient is divided by it, is counted on the device. */
template <class T> static mxc_status softmax_gradient(const mxc_op_call *call) {
    const mxci_softmax_output_params *p = static_cast<const mxci_softmax_output_params *>(call->params);
    const mxcu_softmax s = softmax_of(call);
    const int dense =
        mxcu_size(&call->in[LABEL]) == mxcu_size(&call->out[0]) &&
        call->in[LABEL].shape.ndim == call->out[0].shape.ndim &&
        !memcmp(call->in[LABEL].shape.dim, call->out[0].shape.dim, (size_t)call->out[0].shape.ndim * sizeof(int64_t));
    const int valid = !dense && p->normalization == MXCI_NORM_VALID;
    const double scale = dense ? p->grad_scale : p->grad_scale / divisor_of(p, &s);
    softmax_loss<T> loss = {
        mxcu_data<T>(&call->out[0]),
        mxcu_data<T>(&call->in[LABEL]),
        {nullptr},
        s.k,
        s.inner,
        dense,
        p->use_ignore,
        p->ignore_label,
        (mxcu_compute_t<T>)scale,
        (mxcu_compute_t<T>)(1 - p->smooth_alpha),
        (mxcu_compute_t<T>)(s.k > 1 ? p->smooth_alpha / (double)(s.k - 1) : 0),
        nullptr,
    };
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[DATA], DATA);
    if (p->out_grad)
        loss.dy = mxcu_data<T>(&call->out_grad[0]);
    if (valid) {
        MXC_TRY(mxcu_count(call, &call->in[LABEL], p->ignore_label, MXCU_COUNT_OTHERS));
        loss.divisor = mxcu_temp<double>(call, 0);
    }
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t i) { dx.put(i, loss(i)); });
}

static mxc_status backward(const mxc_op_call *call) {
    MXC_TRY(mxcu_no_gradient(call, LABEL));
    if (call->req[DATA] == MXC_REQ_NULL || mxcu_size(&call->out[0]) == 0)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->out[0].dtype, softmax_gradient, call)
}

static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    const mxci_softmax_output_params *p = static_cast<const mxci_softmax_output_params *>(sig->params);
    return pass == MXC_BACKWARD && p->normalization == MXCI_NORM_VALID ? mxcu_count_bytes(&sig->in_shape[LABEL]) : 0;
}

MXCU_OP_IMPLS(softmax_output, {"SoftmaxOutput", forward, backward, temp_bytes})
