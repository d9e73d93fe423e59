/* SPDX-License-Identifier: Apache-2.0 */
/* moments: mean and variance by one reduction (reduce.h) of the sum and the sum of squares, in float64, about the first
 * of the elements that are reduced to one output (shifted data), so that no digits are lost where the mean is far from
 * 0; the gradient by a thread per element. */
#include "cuda/operator/reduce/reduce.h"
#include "operator/reduce/axes.h"

enum { MEAN, VAR };

namespace {

template <class T> struct moment_sums : mxcu_pair_sum {
    mxcu_in<T> x;
    mxcu_out<T> mean, var;             /* data NULL where it is not wanted */
    mxcu_strided_iterator first, kept; /* data's element i, output k: the first element of the same output */
    double scale;                      /* 1 / number of elements reduced */
    /* 0 where the element is infinite or NaN, as the differences from it would be NaN: the mean may be infinite. */
    MXCU_DEVICE double origin(int64_t at) const {
        const double value = (double)x[at];
        return value - value == 0 ? value : 0;
    }
    MXCU_DEVICE sum step(sum a, int64_t i) const {
        const double value = (double)x[i] - origin(first(i));
        return {a.a + value, a.b + value * value};
    }
    MXCU_DEVICE void put(int64_t k, sum a) const {
        const double m = a.a * scale, square = a.b * scale - m * m;
        const double o = scale < INFINITY ? origin(kept(k)) : 0; /* of no elements there is no first one */
        if (mean.data)
            mean.put(k, (mxcu_compute_t<T>)(o + m));
        if (var.data)
            var.put(k, (mxcu_compute_t<T>)(square < 0 ? 0 : square));
    }
};

} // namespace

static mxcu_reduction plan_axes(const mxc_shape *data, const void *params) {
    int reduced[MXC_MAX_NDIM];
    mxci_strided kept, part;
    mxci_axes_of(static_cast<const mxci_axes_params *>(params), data->ndim, reduced);
    mxci_axes_part(data, reduced, 0, &kept);
    mxci_axes_part(data, reduced, 1, &part);
    return mxcu_plan_reduction(&kept, &part);
}

/* For each element of data the first of those that are reduced together with it. */
static mxcu_strided_iterator first_of_each(const mxc_shape *data, const void *params) {
    int reduced[MXC_MAX_NDIM];
    int64_t step[MXC_MAX_NDIM], size = 1;
    mxci_strided strides;
    mxci_axes_of(static_cast<const mxci_axes_params *>(params), data->ndim, reduced);
    for (int i = data->ndim - 1; i >= 0; i--) {
        step[i] = reduced[i] ? 0 : size;
        size *= data->dim[i];
    }
    mxci_strided_set(&strides, data->ndim, data->dim, step);
    return mxcu_iterate(&strides);
}

static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    mxcu_reduction plan = plan_axes(&sig->in_shape[0], sig->params);
    return pass == MXC_FORWARD ? mxcu_reduction_bytes(&plan, sizeof(mxcu_pair)) : 0;
}

template <class T> static mxc_status run(const mxc_op_call *call) {
    mxcu_reduction plan = plan_axes(&call->in[0].shape, call->params);
    moment_sums<T> r;
    r.x = mxcu_data<T>(&call->in[0]);
    r.mean = mxcu_wanted<T>(call, &call->out[MEAN], MEAN);
    r.var = mxcu_wanted<T>(call, &call->out[VAR], VAR);
    r.first = first_of_each(&call->in[0].shape, call->params);
    r.kept = plan.kept;
    r.scale = 1 / (double)plan.part.size;
    return mxcu_reduce(call, &plan, r, call->temp);
}

/* (mean' + 2 (x - mean) var') / n, with mean' and var' the outputs' gradients. */
template <class T> static mxc_status run_gradient(const mxc_op_call *call) {
    const mxc_tensor *grad = &call->in_grad[0];
    const int64_t n = mxcu_size(grad);
    const double scale = (double)mxcu_size(&call->out[MEAN]) / (double)n;
    int reduced[MXC_MAX_NDIM];
    mxci_strided strides;
    mxci_axes_of(static_cast<const mxci_axes_params *>(call->params), grad->shape.ndim, reduced);
    mxci_axes_strides(&grad->shape, reduced, &strides);
    mxcu_strided_iterator kept = mxcu_iterate(&strides);
    mxcu_in<T> x = mxcu_data<T>(&call->in[0]), mean = mxcu_data<T>(&call->out[MEAN]);
    mxcu_in<T> mean_grad = mxcu_data<T>(&call->out_grad[MEAN]), var_grad = mxcu_data<T>(&call->out_grad[VAR]);
    mxcu_out<T> dx = mxcu_result<T>(call, grad, 0);
    return mxcu_for(call, n, [=] MXCU_LAMBDA(int64_t i) {
        const int64_t k = kept(i);
        const double slope = 2 * ((double)x[i] - (double)mean[k]) * (double)var_grad[k];
        dx.put(i, (mxcu_compute_t<T>)(scale * ((double)mean_grad[k] + slope)));
    });
}

static mxc_status forward(const mxc_op_call *call) {
    MXCU_SWITCH_FLOAT(call->in[0].dtype, run, call)
}

static mxc_status backward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->in_grad[0].dtype, run_gradient, call)
}

MXCU_OP_IMPLS(moments, {"moments", forward, backward, temp_bytes})
