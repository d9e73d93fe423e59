/* SPDX-License-Identifier: Apache-2.0 */
/* LinearRegressionOutput, LogisticRegressionOutput, MAERegressionOutput; a thread per element. The gradient is out -
 * label or its sign, times grad_scale over the elements of a sample. */
#include "operator/loss/losses.h"

#include "cuda/runtime/gradient.h"
#include "cuda/runtime/math.h"

enum { DATA, LABEL };

static mxc_status pass_through(const mxc_op_call *call) {
    return mxcu_put(call, &call->out[0], 0, &call->in[DATA]);
}

template <class T> static mxc_status logistic(const mxc_op_call *call) {
    mxcu_in<T> x = mxcu_data<T>(&call->in[DATA]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t i) { y.put(i, mxcu_sigmoid(x[i])); });
}

static mxc_status logistic_forward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->out[0].dtype, logistic, call)
}

/* sign 0: out - label (linear, logistic); 1: its sign (MAE). */
template <class T> static mxc_status difference(const mxc_op_call *call, int sign) {
    using C = mxcu_compute_t<T>;
    const mxc_shape *label = &call->in[LABEL].shape;
    const double scale = static_cast<const mxci_regression_params *>(call->params)->grad_scale;
    const C factor = (C)(scale / (double)mxcu_product(label, 1, label->ndim));
    mxcu_in<T> y = mxcu_data<T>(&call->out[0]), t = mxcu_data<T>(&call->in[LABEL]);
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[DATA], DATA);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t i) {
        C d = y[i] - t[i];
        dx.put(i, factor * (!sign ? d : d > 0 ? (C)1 : d < 0 ? (C)-1 : (C)0));
    });
}

template <int sign> static mxc_status regression_backward(const mxc_op_call *call) {
    MXC_TRY(mxcu_no_gradient(call, LABEL));
    if (call->req[DATA] == MXC_REQ_NULL || mxcu_size(&call->in[LABEL]) == 0)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->out[0].dtype, difference, call, sign)
}

MXCU_OP_IMPLS(regression_output, {"LinearRegressionOutput", pass_through, regression_backward<0>},
              {"LogisticRegressionOutput", logistic_forward, regression_backward<0>},
              {"MAERegressionOutput", pass_through, regression_backward<1>})
