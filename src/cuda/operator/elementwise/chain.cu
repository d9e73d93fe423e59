/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of element-wise functions (simpleop/chain.c): one kernel per dtype interprets the steps, each thread for one
 * element. All threads take the same branch at each step, so the switch costs little beside the memory traffic that the
 * chain saves. Intermediate results are in the compute type, in an array that is indexed by the step and so lives in
 * local memory. */
#include "simpleop/chain.h"

#include "cuda/runtime/kernel.h"
#include "simpleop/map_kernels.h"
#include "math/scalar_math.h"

#define MAP_UNARY
#define MAP_BINARY
#define BODY "simpleop/map_kernels.inc"
#define FOR_COMPUTE
#include "math/for_types.inc"

namespace {

MXCU_DEVICE float apply(int function, float a, float b) {
    switch (function) {
#define CHAIN_UNARY(id)   \
    case MXCI_UNARY_##id: \
        return id##_op_f32(a);
#define CHAIN_BINARY(id)                      \
    case MXCI_UNARY_COUNT + MXCI_BINARY_##id: \
        return id##_op_f32(a, b);
#include "simpleop/chain.def"
    default:
        return 0;
    }
}

MXCU_DEVICE double apply(int function, double a, double b) {
    switch (function) {
#define CHAIN_UNARY(id)   \
    case MXCI_UNARY_##id: \
        return id##_op_f64(a);
#define CHAIN_BINARY(id)                      \
    case MXCI_UNARY_COUNT + MXCI_BINARY_##id: \
        return id##_op_f64(a, b);
#include "simpleop/chain.def"
    default:
        return 0;
    }
}

/* The kernel's argument: inputs, output and steps by value. */
template <class T> struct chain {
    using C = mxcu_compute_t<T>;
    struct step {
        int16_t function;
        int8_t a, b;
        C number;
    };
    mxcu_in<T> in[MXCI_CHAIN_INPUTS];
    mxcu_out<T> out;
    int n;
    step steps[MXCI_CHAIN_STEPS];

    /* A number, the result of an earlier step, or an input's element. */
    MXCU_DEVICE C operand(const step &s, int which, int64_t i, const C *results) const {
        return which == MXCI_CHAIN_NUMBER   ? s.number
               : which >= MXCI_CHAIN_RESULT ? results[which - MXCI_CHAIN_RESULT]
                                            : in[which][i];
    }
    MXCU_DEVICE void operator()(int64_t i) const {
        C results[MXCI_CHAIN_STEPS];
        for (int k = 0; k < n; k++) {
            const step &s = steps[k];
            C a = operand(s, s.a, i, results);
            results[k] = apply(s.function, a, s.function < MXCI_UNARY_COUNT ? a : operand(s, s.b, i, results));
        }
        out.put(i, results[n - 1]);
    }
};

} // namespace

template <class T> static mxc_status run(const mxc_op_call *call) {
    const mxci_chain_params *p = static_cast<const mxci_chain_params *>(call->params);
    chain<T> c;
    for (int i = 0; i < call->n_in; i++)
        c.in[i] = mxcu_data<T>(&call->in[i]);
    c.out = mxcu_result<T>(call, &call->out[0], 0);
    c.n = p->n;
    for (int i = 0; i < p->n; i++)
        c.steps[i] = {p->step[i].function, p->step[i].a, p->step[i].b, (mxcu_compute_t<T>)p->step[i].number};
    return mxcu_for(call, mxcu_size(&call->out[0]), c);
}

static mxc_status forward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->out[0].dtype, run, call)
}

MXCU_OP_IMPLS(chain, {"_chain", forward})
