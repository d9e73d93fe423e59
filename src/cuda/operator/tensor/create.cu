/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that create arrays: constants, _eye, and sequences; a thread per element. */
#include "cuda/runtime/convert.h"
#include "cuda/runtime/gradient.h"
#include "operator/tensor/create.h"

static mxc_status zeros(const mxc_op_call *call) {
    return mxcu_put_constant(call, &call->out[0], 0, 0);
}

static mxc_status ones(const mxc_op_call *call) {
    return mxcu_put_constant(call, &call->out[0], 0, 1);
}

static mxc_status set_value(const mxc_op_call *call) {
    return mxcu_put_constant(call, &call->out[0], 0, static_cast<const mxci_set_params *>(call->params)->src);
}

/* ---- _eye -------------------------------------------------------------------------------------------------------- */

template <class T> static mxc_status put_diagonal(const mxc_op_call *call) {
    const int64_t columns = call->out[0].shape.dim[1], k = static_cast<const mxci_eye_params *>(call->params)->k;
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t i) {
        const int64_t row = mxcu_divide(i, columns);
        y.put(i, (mxcu_compute_t<T>)(i - row * columns - row == k));
    });
}

static mxc_status eye(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_ALL(call->out[0].dtype, put_diagonal, call)
}

/* ---- sequences --------------------------------------------------------------------------------------------------- */

template <class T> static mxc_status put_sequence_as(const mxc_op_call *call, mxci_sequence s) {
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t i) {
        y.put(i, mxcu_converted<T>(s.start + s.step * (double)(i / s.repeat)));
    });
}

static mxc_status put_sequence(const mxc_op_call *call, mxci_sequence s) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_NUMBER(call->out[0].dtype, put_sequence_as, call, s)
}

static mxc_status arange(const mxc_op_call *call) {
    const mxci_arange_params *p = static_cast<const mxci_arange_params *>(call->params);
    return put_sequence(call, {p->start, p->step, p->repeat});
}

static mxc_status linspace(const mxc_op_call *call) {
    return put_sequence(call, mxci_sequence_linspace(static_cast<const mxci_linspace_params *>(call->params)));
}

static mxc_status arange_like(const mxc_op_call *call) {
    return put_sequence(call, static_cast<const mxci_arange_like_params *>(call->params)->sequence);
}

MXCU_OP_IMPLS(create, {"_zeros", zeros}, {"_zeros_without_dtype", zeros}, {"_ones", ones}, {"_set_value", set_value},
              {"_full", set_value}, {"_eye", eye}, {"_arange", arange}, {"_linspace", linspace},
              {"_contrib_arange_like", arange_like, mxcu_zero_gradient})
