/* SPDX-License-Identifier: Apache-2.0 */
/* tile and repeat: each element of data several times (tensor/views.h). The gradient is a reduction over the copies
 * (reduce.h). */
#include "cuda/operator/tensor/views.h"
#include "cuda/operator/reduce/reduce.h"

/* How out's space is summed: axes along which data does not vary (step 0) are reduced. */
static mxcu_reduction copies_plan(const mxci_strided *strides) {
    int64_t dim[2][MXCI_STRIDED_MAX], step[2][MXCI_STRIDED_MAX], size = 1;
    int begin[2] = {MXCI_STRIDED_MAX, MXCI_STRIDED_MAX};
    mxci_strided part[2];
    for (int i = strides->n - 1; i >= 0; i--) {
        int which = strides->step[i] == 0;
        dim[which][--begin[which]] = strides->dim[i];
        step[which][begin[which]] = size;
        size *= strides->dim[i];
    }
    for (int which = 0; which < 2; which++)
        mxci_strided_set(&part[which], MXCI_STRIDED_MAX - begin[which], dim[which] + begin[which],
                         step[which] + begin[which]);
    return mxcu_plan_reduction(&part[0], &part[1]);
}

template <mxci_view_fn fn> static size_t copies_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    if (pass == MXC_FORWARD)
        return 0;
    mxci_view view = fn(sig->params, &sig->in_shape[0], &sig->out_shape[0]);
    mxcu_reduction plan = copies_plan(&view.strides);
    return mxcu_reduction_bytes(&plan);
}

template <class T> static mxc_status sum_elements(const mxc_op_call *call, const mxci_view *view) {
    mxcu_in<T> x = mxcu_data<T>(&call->out_grad[0]);
    mxcu_reduction plan = copies_plan(&view->strides);
    mxcu_summing<T, mxcu_element<T>> summing = {{x}, mxcu_result<T>(call, &call->in_grad[0], 0)};
    return mxcu_reduce(call, &plan, summing, call->temp);
}

/* Each element of data is in out several times: its gradient is the sum over them. */
template <mxci_view_fn fn> static mxc_status copies_backward(const mxc_op_call *call) {
    mxci_view view = mxcu_view_of(call, fn);
    mxc_dtype dtype = call->in_grad[0].dtype;
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    if (!(MXC_DTYPES_FLOAT & MXC_DTYPE_BIT(dtype)))
        return MXC_FAIL(MXC_EDTYPE, "no gradient is computed in dtype number %d, expected a float dtype", (int)dtype);
    MXCU_SWITCH_FLOAT(dtype, sum_elements, call, &view)
}

#define COPIES(name, view) \
    { name, mxcu_view_forward<view>, copies_backward<view>, copies_temp_bytes<view> }

MXCU_OP_IMPLS(tile, COPIES("tile", mxci_view_tile), COPIES("repeat", mxci_view_repeat))
