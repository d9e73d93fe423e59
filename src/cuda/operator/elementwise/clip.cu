/* SPDX-License-Identifier: Apache-2.0 */
/* clip and hard_sigmoid; a thread per element. The functions are the CPU's C source (simpleop/clip_kernels.inc). */
#include "simpleop/clip.h"

#include "cuda/runtime/convert.h"
#include "cuda/runtime/overload.h"
#include "math/loop.h"

#define BODY "simpleop/clip_kernels.inc"
#define FOR_COMPUTE
#include "math/for_types.inc"

MXCU_OVERLOAD_3(clip, clip_op)
MXCU_OVERLOAD_4(clip_grad, clip_grad_op)
MXCU_OVERLOAD_3(hard_sigmoid, hard_sigmoid_op)
MXCU_OVERLOAD_4(hard_sigmoid_grad, hard_sigmoid_grad_op)
static MXCU_DEVICE int64_t clip(int64_t x, int64_t low, int64_t high) {
    return clip_op_i64(x, low, high);
}

/* Forward and backward of a function of x and two parameters. */
#define LIMITED(name)                                                                                                \
    template <class T> static mxc_status name##_run(const mxc_op_call *call) {                                       \
        const mxci_clip_params *p = static_cast<const mxci_clip_params *>(call->params);                             \
        const mxcu_compute_t<T> a = mxcu_parameter<T>(p->first), b = mxcu_parameter<T>(p->second);                   \
        mxcu_in<T> x = mxcu_data<T>(&call->in[0]);                                                                   \
        mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);                                                      \
        return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t i) { y.put(i, name(x[i], a, b)); }); \
    }                                                                                                                \
    template <class T> static mxc_status name##_run_gradient(const mxc_op_call *call) {                              \
        const mxci_clip_params *p = static_cast<const mxci_clip_params *>(call->params);                             \
        const mxcu_compute_t<T> a = mxcu_parameter<T>(p->first), b = mxcu_parameter<T>(p->second);                   \
        mxcu_in<T> g = mxcu_data<T>(&call->out_grad[0]), x = mxcu_data<T>(&call->in[0]);                             \
        mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[0], 0);                                                 \
        return mxcu_for(call, mxcu_size(&call->in_grad[0]),                                                          \
                        [=] MXCU_LAMBDA(int64_t i) { dx.put(i, name##_grad(g[i], x[i], a, b)); });                   \
    }                                                                                                                \
    static mxc_status name##_backward(const mxc_op_call *call) {                                                     \
        if (call->req[0] == MXC_REQ_NULL)                                                                            \
            return MXC_OK;                                                                                           \
        MXCU_SWITCH_FLOAT(call->in_grad[0].dtype, name##_run_gradient, call)                                         \
    }
LIMITED(clip)
LIMITED(hard_sigmoid)

static mxc_status clip_forward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_NUMBER(call->out[0].dtype, clip_run, call)
}

static mxc_status hard_sigmoid_forward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->out[0].dtype, hard_sigmoid_run, call)
}

MXCU_OP_IMPLS(clip, {"clip", clip_forward, clip_backward},
              {"hard_sigmoid", hard_sigmoid_forward, hard_sigmoid_backward})
