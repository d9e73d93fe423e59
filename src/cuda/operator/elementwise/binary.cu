/* SPDX-License-Identifier: Apache-2.0 */
/* Element-wise functions of two arrays of one shape, or of an array and a number (binary_names.def). One kernel per
 * function and dtype, a thread per element; the functions are the CPU's C source (simpleop/map_kernels.inc). */
#include "cuda/operator/elementwise/binary.h"

#include "cuda/runtime/gradient.h"
#include "simpleop/map_kernels.h"
#include "simpleop/simple.h"

/* ---- one function ------------------------------------------------------------------------------------------------ */

namespace {

/* What a run reads and writes: an operand is an array or, where that is NULL, the number; a gradient may be NULL. */
struct operands {
    const mxc_tensor *g, *lhs, *rhs;
    double number;
    const mxc_tensor *left, *right; /* gradients, in_grad[0] and in_grad[right_slot] */
    int right_slot;
};

} // namespace

template <class T> static mxcu_dense<T> operand(const operands &o, const mxc_tensor *array) {
    return array ? mxcu_array<T>(array) : mxcu_number<T>(o.number);
}

template <class T> static mxcu_out<T> wanted(const mxc_op_call *call, const mxc_tensor *grad, int slot) {
    return grad && call->req[slot] != MXC_REQ_NULL ? mxcu_result<T>(call, grad, slot) : mxcu_out<T>{nullptr, 0};
}

/* The kernels of one function. Both gradients are computed by one launch. */
template <class Function> struct binary {
    template <class T> static mxc_status run(const mxc_op_call *call, const operands &o) {
        mxcu_dense<T> a = operand<T>(o, o.lhs), b = operand<T>(o, o.rhs);
        mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
        return mxcu_for(call, mxcu_size(&call->out[0]),
                        [=] MXCU_LAMBDA(int64_t i) { y.put(i, Function::of(a[i], b[i])); });
    }
    static mxc_status forward(const mxc_op_call *call, const operands &o) {
        if (call->req[0] == MXC_REQ_NULL)
            return MXC_OK;
        if constexpr (Function::numbers)
            MXCU_SWITCH_NUMBER(call->out[0].dtype, run, call, o)
        else
            MXCU_SWITCH_FLOAT(call->out[0].dtype, run, call, o)
    }

    template <class T> static mxc_status run_gradient(const mxc_op_call *call, const operands &o) {
        mxcu_in<T> g = mxcu_data<T>(o.g);
        mxcu_dense<T> a = operand<T>(o, o.lhs), b = operand<T>(o, o.rhs);
        mxcu_out<T> left = wanted<T>(call, o.left, 0), right = wanted<T>(call, o.right, o.right_slot);
        if (!left.data && !right.data)
            return MXC_OK;
        return mxcu_for(call, mxcu_size(o.g), [=] MXCU_LAMBDA(int64_t i) {
            mxcu_compute_t<T> dy = g[i], x = a[i], y = b[i]; /* all read first: a gradient may take g's memory */
            if (left.data)
                left.put(i, Function::left(dy, x, y));
            if (right.data)
                right.put(i, Function::right(dy, x, y));
        });
    }
    static mxc_status backward(const mxc_op_call *call, const operands &o) {
        MXCU_SWITCH_FLOAT(o.g->dtype, run_gradient, call, o)
    }
};

/* ---- two arrays -------------------------------------------------------------------------------------------------- */

/* An argument, or out_grad in its place where its values do not matter. */
static const mxc_tensor *given(const mxc_op_call *call, int i) {
    return call->in[i].data ? &call->in[i] : &call->out_grad[0];
}

static operands both_arrays(const mxc_op_call *call) {
    return {nullptr, &call->in[0], &call->in[1], 0, nullptr, nullptr, 1};
}

static operands both_gradients(const mxc_op_call *call) {
    return {&call->out_grad[0], given(call, 0), given(call, 1), 0, &call->in_grad[0], &call->in_grad[1], 1};
}

/* The operator of two arrays. backward_<kind>: IN reads the arguments, OUT_GRAD only out's gradient, ZERO nothing. */
template <class Function> struct arrays {
    static mxc_status forward(const mxc_op_call *call) {
        return binary<Function>::forward(call, both_arrays(call));
    }
    static mxc_status backward_IN(const mxc_op_call *call) {
        return binary<Function>::backward(call, both_gradients(call));
    }
    static constexpr mxc_op_compute_fn backward_OUT_GRAD = backward_IN, backward_ZERO = mxcu_zero_gradient;
};

/* Called by broadcast operators where nothing is broadcast. */
mxc_status mxcu_binary_forward(const mxc_op_call *call, int id) {
    switch (id) {
#define BINARY(id, ...)    \
    case MXCI_BINARY_##id: \
        return arrays<id##_function>::forward(call);
#include "simpleop/binary.def"
#undef BINARY
    default:
        return MXC_OK;
    }
}

mxc_status mxcu_binary_backward(const mxc_op_call *call, int id) {
    switch (id) {
#define BROADCAST(symbol, id, name, aliases, kind, ...) \
    case MXCI_BINARY_##id:                              \
        return arrays<id##_function>::backward_##kind(call);
#include "simpleop/binary_names.def"
    default:
        return MXC_OK;
    }
}

/* ---- an array and a number --------------------------------------------------------------------------------------- */

static double number_of(const mxc_op_call *call) {
    return static_cast<const mxci_scalar_params *>(call->params)->scalar;
}

enum { AFTER, BEFORE };

static size_t scalar_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    return pass == MXC_FORWARD && sig->in_type[0] != sig->out_type[0]
               ? mxci_shape_bytes(&sig->in_shape[0], sizeof(double))
               : 0;
}

/* The operator of an array and a number, in either order. */
template <class Function, int order> struct scalar {
    static mxc_status forward(const mxc_op_call *call) {
        const mxc_tensor *x = &call->in[0];
        mxc_tensor wide = *x;
        if (x->dtype != call->out[0].dtype && call->req[0] != MXC_REQ_NULL) { /* is_int=False, with data of integers */
            wide.dtype = MXC_F64;
            wide.data = call->temp;
            MXC_TRY(mxcu_put_cast(call, &wide, MXC_REQ_WRITE, x));
            x = &wide;
        }
        return binary<Function>::forward(call, {nullptr, order == AFTER ? x : nullptr, order == AFTER ? nullptr : x,
                                                number_of(call), nullptr, nullptr, 0});
    }
    static mxc_status backward_IN(const mxc_op_call *call) {
        const mxc_tensor *x = given(call, 0), *dx = &call->in_grad[0];
        if (dx->dtype != call->out_grad[0].dtype)
            return mxcu_no_gradient(call, 0);
        return binary<Function>::backward(call, {&call->out_grad[0], order == AFTER ? x : nullptr,
                                                 order == AFTER ? nullptr : x, number_of(call),
                                                 order == AFTER ? dx : nullptr, order == AFTER ? nullptr : dx, 0});
    }
    static constexpr mxc_op_compute_fn backward_OUT_GRAD = backward_IN, backward_ZERO = mxcu_zero_gradient;
};

/* ---- implementations --------------------------------------------------------------------------------------------- */

#define ELEMWISE(symbol, id, name, aliases, kind, ...) \
    {name, arrays<id##_function>::forward, arrays<id##_function>::backward_##kind},
#define SCALAR(symbol, id, name, aliases, order, kind, ...) \
    {name, scalar<id##_function, order>::forward, scalar<id##_function, order>::backward_##kind, scalar_temp_bytes},
static const mxci_op_impl impls[] = {
#include "simpleop/binary_names.def"
};

const mxcu_op_impl_list mxcu_op_impls_binary = {impls, (int)(sizeof impls / sizeof *impls)};
