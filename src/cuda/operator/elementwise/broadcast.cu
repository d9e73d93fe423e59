/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of two arrays with broadcasting (BROADCAST of binary_names.def). One kernel serves all functions of a
 * dtype, selecting the function by number, since finding the operands' offsets takes longer than the switch, and one
 * kernel per function would multiply the module's size. A gradient is the sum over the axes that were broadcast, by a
 * reduction (reduce.h), without atomics. Without broadcasting these are the element-wise operators. */
#include "cuda/operator/elementwise/binary.h"
#include "cuda/runtime/gradient.h"
#include "cuda/operator/reduce/reduce.h"
#include "simpleop/map_kernels.h"

/* ---- functions by number ----------------------------------------------------------------------------------------- */

template <class Function, class R> static MXCU_DEVICE R value_of(R a, R b) {
    if constexpr (Function::numbers || std::is_floating_point<R>::value)
        return Function::of(a, b);
    else
        return a; /* inference has refused it */
}

/* The function with this number; the switch is the same for all threads. */
template <class R> static MXCU_DEVICE R value(int id, R a, R b) {
    switch (id) {
#define BINARY(id, ...)    \
    case MXCI_BINARY_##id: \
        return value_of<id##_function, R>(a, b);
#include "simpleop/binary.def"
#undef BINARY
    default:
        return a;
    }
}

template <class R> static MXCU_DEVICE R gradient(int id, int right, R g, R a, R b) {
    switch (id) {
#define BINARY(id, ...)    \
    case MXCI_BINARY_##id: \
        return right ? id##_function::right(g, a, b) : id##_function::left(g, a, b);
#include "simpleop/binary.def"
#undef BINARY
    default:
        return g;
    }
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

/* A thread per element of out; operands that are broadcast are read through iterators. */
template <class T> static mxc_status run(const mxc_op_call *call, int id) {
    const mxc_shape *space = &call->out[0].shape;
    mxcu_operand<T> a = mxcu_broadcast<T>(&call->in[0], space), b = mxcu_broadcast<T>(&call->in[1], space);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t i) { y.put(i, value(id, a[i], b[i])); });
}

static int is_broadcast(const mxc_op_call *call, int i) {
    return mxci_is_broadcast(&call->in[i].shape, &call->out[0].shape);
}

static mxc_status forward(const mxc_op_call *call, int id) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    if (!is_broadcast(call, 0) && !is_broadcast(call, 1))
        return mxcu_binary_forward(call, id);
    MXCU_SWITCH_NUMBER(call->out[0].dtype, run, call, id)
}

/* ---- backward ---------------------------------------------------------------------------------------------------- */

namespace {

/* Element i of a gradient before it is summed. */
template <class T> struct term {
    int id, right;
    mxcu_in<T> g;
    mxcu_operand<T> a, b;
    MXCU_DEVICE mxcu_compute_t<T> operator()(int64_t i) const {
        return gradient(id, right, g[i], a[i], b[i]);
    }
};

} // namespace

/* An operand, or out_grad where its values do not matter. */
template <class T> static mxcu_operand<T> given(const mxc_op_call *call, int i) {
    const mxc_tensor *g = &call->out_grad[0];
    return mxcu_broadcast<T>(call->in[i].data ? &call->in[i] : g, &g->shape);
}

/* The gradient of argument i: a thread per element where the argument has out's shape, else a reduction. */
template <class T> static mxc_status run_gradient(const mxc_op_call *call, int id, int i) {
    const mxc_tensor *g = &call->out_grad[0], *grad = &call->in_grad[i];
    term<T> f = {id, i, mxcu_data<T>(g), given<T>(call, 0), given<T>(call, 1)};
    mxcu_out<T> to = mxcu_result<T>(call, grad, i);
    if (!is_broadcast(call, i))
        return mxcu_for(call, mxcu_size(g), [=] MXCU_LAMBDA(int64_t at) { to.put(at, f(at)); });
    mxcu_reduction plan = mxcu_plan_broadcast(&grad->shape, &g->shape);
    return mxcu_reduce(call, &plan, mxcu_summing<T, term<T>>{f, to}, call->temp);
}

static mxc_status one_gradient(const mxc_op_call *call, int id, int i) {
    if (call->req[i] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->in_grad[i].dtype, run_gradient, call, id, i)
}

/* The gradient that takes out_grad's memory is computed last. */
static mxc_status backward(const mxc_op_call *call, int id) {
    int first = call->in_grad[0].data == call->out_grad[0].data;
    if (!is_broadcast(call, 0) && !is_broadcast(call, 1))
        return mxcu_binary_backward(call, id);
    MXC_TRY(one_gradient(call, id, first));
    return one_gradient(call, id, !first);
}

/* The larger of the two reductions, which run one after the other. */
static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    size_t most = 0;
    for (int i = 0; i < 2 && pass == MXC_BACKWARD; i++) {
        mxcu_reduction plan = mxcu_plan_broadcast(&sig->in_shape[i], &sig->out_shape[0]);
        size_t bytes = mxcu_reduction_bytes(&plan);
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* ---- implementations --------------------------------------------------------------------------------------------- */

namespace {

template <int id> struct broadcast {
    static mxc_status forward(const mxc_op_call *call) {
        return ::forward(call, id);
    }
    static mxc_status backward(const mxc_op_call *call) {
        return ::backward(call, id);
    }
};

} // namespace

#define BACKWARD_IN(id) broadcast<id>::backward
#define BACKWARD_OUT_GRAD(id) broadcast<id>::backward
#define BACKWARD_ZERO(id) mxcu_zero_gradient
#define BROADCAST(symbol, id, name, aliases, kind, ...) \
    {name, broadcast<MXCI_BINARY_##id>::forward, BACKWARD_##kind(MXCI_BINARY_##id), temp_bytes},
static const mxci_op_impl impls[] = {
#include "simpleop/binary_names.def"
};

const mxcu_op_impl_list mxcu_op_impls_broadcast = {impls, (int)(sizeof impls / sizeof *impls)};
