/* SPDX-License-Identifier: Apache-2.0 */
/* LeakyReLU: leaky, prelu, rrelu, elu, selu and gelu; a thread per element. The functions are the CPU's C source
 * (operator/nn/leaky_relu_kernels.inc). prelu's slope gamma is broadcast, and its gradient is a reduction. */
#include "operator/nn/leaky_relu.h"

#include "cuda/operator/random/random.h"
#include "cuda/operator/reduce/reduce.h"
#include "cuda/runtime/overload.h"
#include "math/fastmath.h"
#include "operator/nn/leaky_relu_kernels.h"

#define BODY "operator/nn/leaky_relu_kernels.inc"
#define FOR_REALS
#include "math/for_types.inc"

MXCU_OVERLOAD_2(leaky, leaky_op)
MXCU_OVERLOAD_2(elu, elu_op)
MXCU_OVERLOAD_2(selu, selu_op)
MXCU_OVERLOAD_2(gelu, gelu_op)
MXCU_OVERLOAD_3(leaky_grad, leaky_grad_op)
MXCU_OVERLOAD_3(leaky_slope_grad, leaky_slope_grad_op)
MXCU_OVERLOAD_3(elu_grad, elu_grad_op)
MXCU_OVERLOAD_3(selu_grad, selu_grad_op)
MXCU_OVERLOAD_3(gelu_grad, gelu_grad_op)

enum { DATA, GAMMA };
enum { OUT, MASK };

static const mxci_leaky_params *leaky_params(const mxc_op_call *call) {
    return static_cast<const mxci_leaky_params *>(call->params);
}

/* kind is the same for all threads, so the branches do not diverge. */
template <class C> static MXCU_DEVICE C leaky_value(int kind, C x, C s) {
    return kind == MXCI_LEAKY_ELU    ? elu(x, s)
           : kind == MXCI_LEAKY_SELU ? selu(x, s)
           : kind == MXCI_LEAKY_GELU ? gelu(x, s)
                                     : leaky(x, s);
}

template <class C> static MXCU_DEVICE C leaky_gradient(int kind, C g, C x, C s) {
    return kind == MXCI_LEAKY_ELU    ? elu_grad(g, x, s)
           : kind == MXCI_LEAKY_SELU ? selu_grad(g, x, s)
           : kind == MXCI_LEAKY_GELU ? gelu_grad(g, x, s)
                                     : leaky_grad(g, x, s);
}

/* Data as (N,C,D), of which gamma has C elements or one: the strides of gamma, and of the kept and the reduced part. */
static void gamma_strides(const mxc_shape *data, const mxc_shape *gamma, mxci_strided *strides, mxci_strided *kept,
                          mxci_strided *part) {
    const int64_t n = data->dim[0], c = data->dim[1], d = mxcu_product(data, 2, data->ndim);
    const int many = mxcu_product(gamma, 0, gamma->ndim) > 1;
    const int64_t dim[3] = {n, c, d}, step[3] = {0, many, 0}, place[3] = {c * d, d, 1};
    const int64_t others[2] = {n, d}, other_steps[2] = {c * d, 1};
    mxci_strided_set(strides, 3, dim, step);
    mxci_strided_set(kept, many, dim + 1, place + 1);
    mxci_strided_set(part, many ? 2 : 3, many ? others : dim, many ? other_steps : place);
}

/* The slope of each element: gamma's, rrelu's random ones (`random`), or the parameter. */
template <class T> static mxcu_operand<T> slope_of(const mxc_op_call *call, const void *random) {
    const int kind = leaky_params(call)->act_type;
    mxcu_operand<T> s = {nullptr, mxcu_parameter<T>(leaky_params(call)->slope), 0, {}};
    mxci_strided strides, kept, part;
    if (kind == MXCI_LEAKY_RRELU) {
        s.data = mxcu_pointer<const T>(const_cast<void *>(random));
    } else if (kind == MXCI_LEAKY_PRELU) {
        gamma_strides(&call->in[DATA].shape, &call->in[GAMMA].shape, &strides, &kept, &part);
        s = {mxcu_pointer<const T>(call->in[GAMMA].data), 0, 1, mxcu_iterate(&strides)};
    }
    return s;
}

/* rrelu's slopes, in scratch and, if it is wanted, in the mask: uniform in [lower, upper) in training, else their mean.
 * 2.328e-10 is 2^-32. */
template <class T> static mxc_status make_slopes(const mxc_op_call *call) {
    const mxci_leaky_params p = *leaky_params(call);
    const mxcu_random random = mxcu_random_of(call);
    const int is_train = call->is_train, keep = call->req[MASK] != MXC_REQ_NULL;
    const double width = p.upper_bound - p.lower_bound, mean = (p.lower_bound + p.upper_bound) / 2;
    mxcu_out<T> slopes = {mxcu_temp<T>(call, 0), 0}, mask = mxcu_result<T>(call, &call->out[MASK], MASK);
    return mxcu_for(call, mxcu_size(&call->in[DATA]), [=] MXCU_LAMBDA(int64_t i) {
        double s = is_train ? p.lower_bound + width * 2.3283064365386962891e-10 * random((uint64_t)i) : mean;
        slopes.put(i, (mxcu_compute_t<T>)s);
        if (keep)
            mask.put(i, mxcu_widen<T>(slopes.data[i]));
    });
}

/* rrelu's slopes are drawn by a launch of their own, before they are used. */
template <class T> static mxc_status forward_as(const mxc_op_call *call) {
    const int kind = leaky_params(call)->act_type;
    mxcu_in<T> x = mxcu_data<T>(&call->in[DATA]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[OUT], OUT);
    if (kind == MXCI_LEAKY_RRELU)
        MXC_TRY(make_slopes<T>(call));
    if (call->req[OUT] == MXC_REQ_NULL)
        return MXC_OK;
    mxcu_operand<T> s = slope_of<T>(call, call->temp);
    return mxcu_for(call, mxcu_size(&call->in[DATA]),
                    [=] MXCU_LAMBDA(int64_t i) { y.put(i, leaky_value(kind, x[i], s[i])); });
}

namespace {
/* What an element contributes to the gradient of its slope: g x where x < 0. */
template <class T> struct gamma_term {
    mxcu_in<T> g, x;
    MXCU_DEVICE mxcu_compute_t<T> operator()(int64_t i) const {
        return leaky_slope_grad(g[i], x[i], (mxcu_compute_t<T>)0);
    }
};
} // namespace

static mxcu_reduction plan_gamma(const mxc_shape *data, const mxc_shape *gamma) {
    mxci_strided strides, kept, part;
    gamma_strides(data, gamma, &strides, &kept, &part);
    return mxcu_plan_reduction(&kept, &part);
}

/* gamma's gradient first, since data's may take out_grad's memory. elu and selu have derivatives of the output. */
template <class T> static mxc_status backward_as(const mxc_op_call *call) {
    const int kind = leaky_params(call)->act_type, by_output = kind == MXCI_LEAKY_ELU || kind == MXCI_LEAKY_SELU;
    mxcu_in<T> g = mxcu_data<T>(&call->out_grad[0]), x = mxcu_data<T>(by_output ? &call->out[OUT] : &call->in[DATA]);
    if (kind == MXCI_LEAKY_PRELU && call->req[GAMMA] != MXC_REQ_NULL) {
        mxcu_reduction plan = plan_gamma(&call->in[DATA].shape, &call->in[GAMMA].shape);
        mxcu_summing<T, gamma_term<T>> sums = {{g, x}, mxcu_result<T>(call, &call->in_grad[GAMMA], GAMMA)};
        MXC_TRY(mxcu_reduce(call, &plan, sums, call->temp));
    }
    if (call->req[DATA] == MXC_REQ_NULL)
        return MXC_OK;
    mxcu_operand<T> s = slope_of<T>(call, kind == MXCI_LEAKY_RRELU ? call->out[MASK].data : nullptr);
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[DATA], DATA);
    return mxcu_for(call, mxcu_size(&call->in_grad[DATA]),
                    [=] MXCU_LAMBDA(int64_t i) { dx.put(i, leaky_gradient(kind, g[i], x[i], s[i])); });
}

static mxc_status forward(const mxc_op_call *call) {
    MXCU_SWITCH_FLOAT(call->in[DATA].dtype, forward_as, call)
}

static mxc_status backward(const mxc_op_call *call) {
    MXCU_SWITCH_FLOAT(call->in[DATA].dtype, backward_as, call)
}

static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    const int kind = static_cast<const mxci_leaky_params *>(sig->params)->act_type;
    const mxc_shape *data = &sig->in_shape[DATA];
    if (kind == MXCI_LEAKY_RRELU && pass == MXC_FORWARD)
        return mxci_shape_bytes(data, (size_t)mxcu_element_bytes(sig->in_type[DATA]));
    if (kind != MXCI_LEAKY_PRELU || pass == MXC_FORWARD)
        return 0;
    mxcu_reduction plan = plan_gamma(data, &sig->in_shape[GAMMA]);
    return mxcu_reduction_bytes(&plan);
}

MXCU_OP_IMPLS(leaky_relu, {"LeakyReLU", forward, backward, temp_bytes})
