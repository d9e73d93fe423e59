/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SVMOutput: out = data (N,...,K), whose gradient is that of the hinge loss with label (N,...), class numbers of the
 * last axis, whatever the gradient of the output. With s = 1 for the label's class and -1 for the others, and
 * h = max(0, margin - s data): the loss is regularization_coefficient times h (use_linear) or h^2.
 */
#include "math/assign.h"
#include "math/tile_kernels.h"
#include "operator/index/rows.h"
#include "operator/infer.h"
#include "operator/loss/losses.h"

enum { DATA, LABEL };

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(mxci_svm_params, margin), .name = "margin", .type = MXC_PARAM_FLOAT, .initial = "1",
     .doc = "Margin: scores beyond it on the correct side have no loss."},
    {MXC_PARAM_FIELD(mxci_svm_params, regularization), .name = "regularization_coefficient", .type = MXC_PARAM_FLOAT,
     .initial = "1", .doc = "Factor of the gradient."},
    {MXC_PARAM_FIELD(mxci_svm_params, use_linear), .name = "use_linear", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "Use the hinge loss instead of its square."},
    MXC_PARAM_END,
};

/* label has data's shape without the last axis, the classes; sizes go both ways. */
static mxc_status svm_output_infer_shape(mxc_op_sig *sig) {
    mxc_shape *data = &sig->in_shape[DATA], label;
    MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){DATA, MXC_SLOT_OUT(0)}));
    if (data->ndim < 0)
        return MXC_OK;
    if (data->ndim < 2)
        return mxc_sig_fail(sig, "argument 'data': expected at least 2 axes, found %d", data->ndim);
    label = *data;
    label.ndim--;
    MXC_TRY(mxc_sig_set_shape(sig, LABEL, &label));
    for (int i = 0; i < label.ndim; i++)
        data->dim[i] = sig->out_shape[0].dim[i] = sig->in_shape[LABEL].dim[i];
    return MXC_OK;
}

static mxc_status svm_output_forward(const mxc_op_call *call) {
    mxci_assign(call->run, call->req[0], &call->out[0], &call->in[DATA]);
    return MXC_OK;
}

/* Rows begin..end-1 of K scores, computed in double tile by tile. */
static void svm_output_backward_part(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    const mxc_tensor *y = &call->out[0], *dx = &call->in_grad[DATA];
    const int64_t classes = y->shape.dim[y->shape.ndim - 1];
    double value[MXCI_TILE], result[MXCI_TILE];
    (void)part;
    for (int64_t i = begin; i < end; i++) {
        double label = mxci_value_at(&call->in[LABEL], i);
        for (int64_t k = 0; k < classes; k += MXCI_TILE) {
            int64_t n = classes - k < MXCI_TILE ? classes - k : MXCI_TILE;
            mxci_convert(y->dtype, mxci_at(y, i * classes + k), MXC_F64, value, n);
            for (int64_t j = 0; j < n; j++)
                value[j] = mxci_svm_derivative(call->params, (double)(k + j) == label, value[j]);
            mxci_convert(MXC_F64, value, dx->dtype, result, n);
            mxci_assign_row(call->req[DATA], dx->dtype, mxci_at(dx, i * classes + k), result, n);
        }
    }
}

/* By rows: the derivative of the hinge loss, without out's gradient. */
static mxc_status svm_output_backward(const mxc_op_call *call) {
    const mxc_shape *data = &call->out[0].shape;
    if (call->req[LABEL] != MXC_REQ_ADD) /* a label has no gradient */
        mxci_assign_constant(call->run, call->req[LABEL], &call->in_grad[LABEL], 0);
    if (mxc_shape_size(data) > 0)
        MXC_TRY(mxci_check_labels(call, LABEL, data->dim[data->ndim - 1], NULL));
    if (call->req[DATA] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, mxci_shape_count(data, 0, data->ndim - 1),
                         MXCI_GRAIN / 4 / (data->dim[data->ndim - 1] + 1) + 1, svm_output_backward_part, (void *)call);
    return MXC_OK;
}

const mxc_op_def mxci_op_svm_output = {
    .size = sizeof(mxc_op_def),
    .name = "SVMOutput",
    .doc = "output = data (N,...,K), with the gradient of the squared hinge loss (use_linear: hinge loss) against "
           "class numbers label (N,...), times regularization_coefficient",
    .flags = MXC_OP_SAMPLEWISE,
    .params = schema,
    .param_size = sizeof(mxci_svm_params),
    .args = "data,label",
    .labels = 1 << LABEL,
    .infer_shape = svm_output_infer_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.in = 1 << LABEL, .out = 1},
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(DATA), 0}, MXC_INPLACE_END},
    .inplace_backward = (const mxc_inplace[]){{MXC_FROM_OUT(0), DATA}, MXC_INPLACE_END},
    .forward = {[MXC_CPU] = svm_output_forward},
    .backward = {[MXC_CPU] = svm_output_backward},
};
