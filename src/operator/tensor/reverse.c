/* SPDX-License-Identifier: Apache-2.0 */
/* reverse (flip): out = data with the order of elements reversed along the axes named. */
#include "operator/tensor/view_ops.h"

typedef mxci_reverse_params reverse_params;

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(reverse_params, axis), .name = "axis", .type = MXC_PARAM_TUPLE,
     .doc = "Axes to reverse. Negative values count from the end."},
    MXC_PARAM_END,
};

static mxc_status reverse_infer_shape(mxc_op_sig *sig) {
    const mxc_tuple *axes = &((const reverse_params *)sig->params)->axis;
    int seen[MXC_MAX_NDIM] = {0}, axis;
    MXC_TRY(mxci_infer_shape_same(sig));
    for (int i = 0; i < axes->n && sig->in_shape[0].ndim >= 0; i++) {
        MXC_TRY(mxci_sig_axis(sig, axes->value[i], sig->in_shape[0].ndim, &axis));
        if (seen[axis]++)
            return mxc_sig_fail(sig, "axis %d is named twice", axis);
    }
    return MXC_OK;
}

static mxc_status reverse_forward(const mxc_op_call *call) {
    return mxci_view_take(call, mxci_view_reverse);
}

static mxc_status reverse_backward(const mxc_op_call *call) {
    return mxci_view_take_back(call, mxci_view_reverse);
}

const mxc_op_def mxci_op_reverse = {
    .size = sizeof(mxc_op_def),
    .name = "reverse",
    .aliases = "flip",
    .doc = "out = data with its elements in reverse order along axis",
    .params = schema,
    .param_size = sizeof(reverse_params),
    .infer_shape = reverse_infer_shape,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .forward = {[MXC_CPU] = reverse_forward},
    .backward = {[MXC_CPU] = reverse_backward},
};
