/* SPDX-License-Identifier: Apache-2.0 */
/* The operators of unary.def: one function of each element, a thread per element, one kernel per function and dtype.
 * The functions are the CPU's C source (simpleop/map_kernels.inc), so that results agree. */
#include "cuda/runtime/gradient.h"
#include "math/scalar_math.h"

#define MAP_UNARY
#define BODY "simpleop/map_kernels.inc"
#define FOR_COMPUTE
#include "math/for_types.inc"

/* The functions of an operator by type. */
#define OF_FLOAT(id)
#define OF_NUMBER(id)                          \
    MXCU_DEVICE static int64_t of(int64_t x) { \
        return id##_op_i64(x);                 \
    }
#define UNARY(id, name, aliases, types, ...)                     \
    struct id##_function {                                       \
        MXCU_DEVICE static float of(float x) {                   \
            return id##_op_f32(x);                               \
        }                                                        \
        MXCU_DEVICE static double of(double x) {                 \
            return id##_op_f64(x);                               \
        }                                                        \
        MXCU_DEVICE static float gradient(float g, float x) {    \
            return id##_grad_op_f32(g, x);                       \
        }                                                        \
        MXCU_DEVICE static double gradient(double g, double x) { \
            return id##_grad_op_f64(g, x);                       \
        }                                                        \
        OF_##types(id)                                           \
    };
namespace {
#include "simpleop/unary.def"
}
#undef UNARY

/* The kernels of one function. A gradient reads the input, the output, or neither, as unary.def says. */
template <class Function> struct unary {
    template <class T> static mxc_status run(const mxc_op_call *call) {
        mxcu_in<T> x = mxcu_data<T>(&call->in[0]);
        mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
        return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t i) { y.put(i, Function::of(x[i])); });
    }
    static mxc_status forward_FLOAT(const mxc_op_call *call) {
        if (call->req[0] == MXC_REQ_NULL)
            return MXC_OK;
        MXCU_SWITCH_FLOAT(call->out[0].dtype, run, call)
    }
    static mxc_status forward_NUMBER(const mxc_op_call *call) {
        if (call->req[0] == MXC_REQ_NULL)
            return MXC_OK;
        MXCU_SWITCH_NUMBER(call->out[0].dtype, run, call)
    }

    template <class T> static mxc_status run_gradient(const mxc_op_call *call, const mxc_tensor *value) {
        mxcu_in<T> g = mxcu_data<T>(&call->out_grad[0]), x = mxcu_data<T>(value);
        mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[0], 0);
        return mxcu_for(call, mxcu_size(&call->in_grad[0]),
                        [=] MXCU_LAMBDA(int64_t i) { dx.put(i, Function::gradient(g[i], x[i])); });
    }
    static mxc_status backward(const mxc_op_call *call, const mxc_tensor *value) {
        if (call->req[0] == MXC_REQ_NULL)
            return MXC_OK;
        MXCU_SWITCH_FLOAT(call->in_grad[0].dtype, run_gradient, call, value)
    }
    static mxc_status backward_IN(const mxc_op_call *call) {
        return backward(call, &call->in[0]);
    }
    static mxc_status backward_OUT(const mxc_op_call *call) {
        return backward(call, &call->out[0]);
    }
    static mxc_status backward_OUT_GRAD(const mxc_op_call *call) {
        return backward(call, &call->out_grad[0]);
    }
    static constexpr mxc_op_compute_fn backward_ZERO = mxcu_zero_gradient;
};

#define UNARY(id, name, aliases, types, kind, ...) \
    {name, unary<id##_function>::forward_##types, unary<id##_function>::backward_##kind},
static const mxci_op_impl impls[] = {
#include "simpleop/unary.def"
};
#undef UNARY

const mxcu_op_impl_list mxcu_op_impls_unary = {impls, (int)(sizeof impls / sizeof *impls)};
