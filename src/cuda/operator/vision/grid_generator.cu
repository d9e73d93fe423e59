/* SPDX-License-Identifier: Apache-2.0 */
/* GridGenerator: the grid of an affine transform (vision/grid.h), or of a flow, by a thread per element of out. */
#include "cuda/operator/vision/grid.h"
#include "operator/vision/vision.h"

template <class T> static mxc_status affine(const mxc_op_call *call) {
    return mxcu_grid_put_affine(call, mxcu_grid_size_of(&call->out[0].shape), mxcu_data<T>(&call->in[0]),
                                mxcu_result<T>(call, &call->out[0], 0));
}

template <class T> static mxc_status affine_grad(const mxc_op_call *call) {
    return mxcu_grid_put_affine_gradient(call, mxcu_grid_size_of(&call->out[0].shape), mxcu_data<T>(&call->out_grad[0]),
                                         mxcu_result<T>(call, &call->in_grad[0], 0));
}

/* A regular grid plus the flow, which counts elements. */
template <class T> static mxc_status warp(const mxc_op_call *call) {
    const mxcu_grid_size s = mxcu_grid_size_of(&call->out[0].shape);
    mxcu_in<T> flow = mxcu_data<T>(&call->in[0]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t i = at % s.points(), is_y = at / s.points() % 2, n = is_y ? s.out[0] : s.out[1];
        const double point = mxci_grid_even(is_y ? i / s.out[1] : i % s.out[1], n);
        y.put(at, (mxcu_compute_t<T>)(point + 2 * (double)flow[at] / mxci_grid_steps(n)));
    });
}

template <class T> static mxc_status warp_grad(const mxc_op_call *call) {
    const mxcu_grid_size s = mxcu_grid_size_of(&call->out[0].shape);
    mxcu_in<T> g = mxcu_data<T>(&call->out_grad[0]);
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[0], 0);
    return mxcu_for(call, mxcu_size(&call->in_grad[0]), [=] MXCU_LAMBDA(int64_t at) {
        const double steps = mxci_grid_steps(at / s.points() % 2 ? s.out[0] : s.out[1]);
        dx.put(at, (mxcu_compute_t<T>)(2 * (double)g[at] / steps));
    });
}

static int is_warp(const mxc_op_call *call) {
    return static_cast<const mxci_generator_params *>(call->params)->transform_type == MXCI_GENERATOR_WARP;
}

static mxc_status forward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    if (is_warp(call))
        MXCU_SWITCH_FLOAT(call->out[0].dtype, warp, call)
    MXCU_SWITCH_FLOAT(call->out[0].dtype, affine, call)
}

static mxc_status backward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    if (is_warp(call))
        MXCU_SWITCH_FLOAT(call->in_grad[0].dtype, warp_grad, call)
    MXCU_SWITCH_FLOAT(call->in_grad[0].dtype, affine_grad, call)
}

MXCU_OP_IMPLS(grid_generator, {"GridGenerator", forward, backward})
