/* SPDX-License-Identifier: Apache-2.0 */
/* sum, mean, prod, nansum, nanprod, max, min (reduce_names.def) and norm: the steps of each, by the launches of
 * reduce.h; gradients by a thread per element. */
#include "cuda/operator/reduce/reduce.h"

#include "cuda/runtime/convert.h"
#include "cuda/runtime/gradient.h"
#include "operator/reduce/axes.h"

/* ---- what is accumulated ----------------------------------------------------------------------------------------- */

namespace {

template <class X> MXCU_DEVICE X lowest() {
    return -INFINITY;
}
template <> MXCU_DEVICE int64_t lowest() {
    return INT64_MIN;
}
template <class X> MXCU_DEVICE X highest() {
    return INFINITY;
}
template <> MXCU_DEVICE int64_t highest() {
    return INT64_MAX;
}
MXCU_DEVICE double add(double a, double b) {
    return a + b;
}
/* Sums of integers wrap, without undefined behaviour. */
MXCU_DEVICE int64_t add(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
MXCU_DEVICE double multiply(double a, double b) {
    return a * b;
}
MXCU_DEVICE int64_t multiply(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

#define ADD(a, b) add(a, b)
#define MUL(a, b) multiply(a, b)
#define PICK(condition, yes, no) ((condition) ? (yes) : (no))
#define LOWEST lowest<X>()
#define HIGHEST highest<X>()
/* The steps of a reduction of reduce_names.def, for an accumulator of type X. The cast to void silences warnings about
 * parameters that a step does not use. */
#define REDUCE(id, initial, its_step, its_combine) \
    template <class X> struct id##_steps {         \
        MXCU_DEVICE static X start() {             \
            return initial;                        \
        }                                          \
        MXCU_DEVICE static X step(X a, X v) {      \
            const X zero = 0;                      \
            (void)(zero + v);                      \
            return its_step;                       \
        }                                          \
        MXCU_DEVICE static X combine(X a, X b) {   \
            return its_combine;                    \
        }                                          \
    };
#include "math/reduce_kernels.def"
#undef REDUCE

#define REDUCE_GRADIENT(id, n, expression)                          \
    struct id##_gradient {                                          \
        template <class R> MXCU_DEVICE static R of(R g, R x, R y) { \
            (void)(g + x + y);                                      \
            return expression;                                      \
        }                                                           \
    };
#include "math/reduce_grad_kernels.def"
#undef REDUCE_GRADIENT

/* What a gradient reads besides that of the output: nothing, the input, or input and output. */
enum needs { NEEDS_GRAD, NEEDS_IN, NEEDS_ALL };

/* How an accumulator becomes the result; n elements were reduced. */
enum finish { NONE, MEAN, ROOT };
template <class X> MXCU_DEVICE X finished(X a, finish how, int64_t n) { /* integers */
    return how == MEAN && n ? (X)(a / (X)n) : a;
}
template <> MXCU_DEVICE double finished(double a, finish how, int64_t n) {
    return how == MEAN ? a / (double)n : how == ROOT ? sqrt(a) : a;
}

/* What T is accumulated in: double for floats, int64_t for integers. */
template <class T> struct accumulator { using type = double; };
template <> struct accumulator<int8_t> { using type = int64_t; };
template <> struct accumulator<uint8_t> : accumulator<int8_t> {};
template <> struct accumulator<int32_t> : accumulator<int8_t> {};
template <> struct accumulator<int64_t> : accumulator<int8_t> {};
template <> struct accumulator<bool> : accumulator<int8_t> {};

/* A reduction for reduce.h from its steps. */
template <class T, class Sum, template <class> class Steps> struct reducer {
    using sum = Sum;
    mxcu_in<T> x;
    mxcu_out<T> y;
    finish how;
    int64_t n;
    MXCU_DEVICE sum start() const {
        return Steps<sum>::start();
    }
    MXCU_DEVICE sum step(sum a, int64_t i) const {
        return Steps<sum>::step(a, (sum)x[i]);
    }
    MXCU_DEVICE sum combine(sum a, sum b) const {
        return Steps<sum>::combine(a, b);
    }
    MXCU_DEVICE void put(int64_t k, sum a) const {
        y.put(k, mxcu_converted<mxcu_compute_t<T>>(finished(a, how, n)));
    }
};

} // namespace

/* ---- reductions -------------------------------------------------------------------------------------------------- */

/* The strides of kept and reduced axes, by the parameters axis, exclude and keepdims. */
static mxcu_reduction plan_axes(const mxc_shape *data, const void *params) {
    int reduced[MXC_MAX_NDIM];
    mxci_strided kept, part;
    mxci_axes_of(static_cast<const mxci_axes_params *>(params), data->ndim, reduced);
    mxci_axes_part(data, reduced, 0, &kept);
    mxci_axes_part(data, reduced, 1, &part);
    return mxcu_plan_reduction(&kept, &part);
}

static size_t axes_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    mxcu_reduction plan = plan_axes(&sig->in_shape[0], sig->params);
    return pass == MXC_FORWARD ? mxcu_reduction_bytes(&plan) : 0;
}

/* One operator: the steps of its reduction, what becomes of the accumulator, and its gradient. */
template <template <class> class Steps, finish how, class Gradient, needs reads> struct reduction {
    template <class T> static mxc_status run(const mxc_op_call *call) {
        mxcu_reduction plan = plan_axes(&call->in[0].shape, call->params);
        reducer<T, std::conditional_t<how == ROOT, double, typename accumulator<T>::type>, Steps> r = {
            mxcu_data<T>(&call->in[0]), mxcu_result<T>(call, &call->out[0], 0), how, plan.part.size};
        return mxcu_reduce(call, &plan, r, call->temp);
    }
    static mxc_status forward_NUMBER(const mxc_op_call *call) {
        if (call->req[0] == MXC_REQ_NULL)
            return MXC_OK;
        MXCU_SWITCH_NUMBER(call->in[0].dtype, run, call)
    }
    static mxc_status forward_ALL(const mxc_op_call *call) {
        if (call->req[0] == MXC_REQ_NULL)
            return MXC_OK;
        MXCU_SWITCH_ALL(call->in[0].dtype, run, call)
    }

    /* A thread per element of data: the gradient of its kept element times what the function's derivative needs of x
     * and y. */
    template <class T> static mxc_status run_gradient(const mxc_op_call *call) {
        const mxc_tensor *grad = &call->in_grad[0];
        int64_t n = mxcu_size(grad), n_out = mxcu_size(&call->out_grad[0]);
        int reduced[MXC_MAX_NDIM];
        mxci_strided strides;
        mxci_axes_of(static_cast<const mxci_axes_params *>(call->params), grad->shape.ndim, reduced);
        mxci_axes_strides(&grad->shape, reduced, &strides);
        mxcu_strided_iterator kept = mxcu_iterate(&strides);
        mxcu_in<T> g = mxcu_data<T>(&call->out_grad[0]);
        mxcu_in<T> y = mxcu_data<T>(reads == NEEDS_ALL ? &call->out[0] : &call->out_grad[0]);
        mxcu_dense<T> x = reads != NEEDS_GRAD ? mxcu_array<T>(&call->in[0])
                                              : mxcu_number<T>(how == MEAN && n ? (double)n_out / (double)n : 1);
        mxcu_out<T> dx = mxcu_result<T>(call, grad, 0);
        return mxcu_for(call, n, [=] MXCU_LAMBDA(int64_t i) {
            int64_t k = kept(i);
            dx.put(i, Gradient::of(g[k], x[i], y[k]));
        });
    }
    static mxc_status backward(const mxc_op_call *call) {
        if (call->req[0] == MXC_REQ_NULL)
            return MXC_OK;
        MXCU_SWITCH_FLOAT(call->in_grad[0].dtype, run_gradient, call)
    }
};

using square_sum = reduction<sum_square_steps, NONE, square_gradient, NEEDS_IN>;

/* norm is one of two reductions, selected by ord when it runs. */
using norm_1 = reduction<sum_abs_steps, NONE, abs_gradient, NEEDS_IN>;
using norm_2 = reduction<sum_square_steps, ROOT, norm_gradient, NEEDS_ALL>;

static mxc_status norm_forward(const mxc_op_call *call) {
    const int is_sum = static_cast<const mxci_norm_params *>(call->params)->ord == 1;
    return is_sum ? norm_1::forward_ALL(call) : norm_2::forward_ALL(call);
}

static mxc_status norm_backward(const mxc_op_call *call) {
    const int is_sum = static_cast<const mxci_norm_params *>(call->params)->ord == 1;
    return is_sum ? norm_1::backward(call) : norm_2::backward(call);
}

/* ---- implementations --------------------------------------------------------------------------------------------- */

#define REDUCTION(symbol, aliases, kernel, how, gradient, reads, types, ...)               \
    {#symbol, reduction<kernel##_steps, how, gradient##_gradient, reads>::forward_##types, \
     reduction<kernel##_steps, how, gradient##_gradient, reads>::backward, axes_temp_bytes},
static const mxci_op_impl impls[] = {
#include "operator/reduce/reduce_names.def"
    {"_square_sum", square_sum::forward_NUMBER, square_sum::backward, axes_temp_bytes},
    {"norm", norm_forward, norm_backward, axes_temp_bytes},
};
#undef REDUCTION

const mxcu_op_impl_list mxcu_op_impls_reduce = {impls, (int)(sizeof impls / sizeof *impls)};
