/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AdaGrad with one learning rate for each row of a weight (rows, ...); g = c(grad) as in update.h:
 *   _contrib_group_adagrad_update  history = history + mean over the row of g^2;
 *                                  out = weight - lr g / sqrt(history + epsilon)
 * MXNet has it for gradients of few rows (row_sparse) only.
 */
#include "math/tile_kernels.h"
#include "operator/update/update.h"

static const mxc_param adagrad_params[] = {
    MXCI_LR,       MXCI_RESCALE, MXCI_CLIP, MXCI_FACTOR(epsilon, "1e-5", "Added under the square root, for stability."),
    MXC_PARAM_END,
};

/* history has weight's axes, all but the first of length 1. */
static mxc_status infer_adagrad_shape(mxc_op_sig *sig) {
    const mxc_shape *weight = &sig->in_shape[0];
    mxc_shape history;
    MXC_TRY(mxci_sig_same_shape(sig, 3, (const int[]){0, 1, MXC_SLOT_OUT(0)}));
    if (weight->ndim < 0)
        return MXC_OK;
    if (weight->ndim == 0)
        return mxc_sig_fail(sig, "weight has no axes, expected rows");
    history = mxci_shape_axes(weight->ndim);
    history.dim[0] = weight->dim[0];
    for (int i = 1; i < history.ndim; i++)
        history.dim[i] = 1;
    return mxc_sig_set_shape(sig, MXC_SLOT_AUX(0), &history);
}

/* n <= MXCI_TILE clipped gradients from element at on. */
static void load_gradients(const mxc_op_call *call, int64_t at, int64_t n, double *to) {
    mxci_convert(call->in[1].dtype, mxci_at(&call->in[1], at), MXC_F64, to, n);
    for (int64_t i = 0; i < n; i++)
        to[i] = mxci_update_gradient(call->params, to[i]);
}

/* Rows begin..end-1. The gradients are read twice: first for the history, which the step divides by. */
static void step_rows(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    const mxci_update *u = call->params;
    const mxc_tensor *out = &call->out[0];
    const int64_t width = mxci_tensor_size(&call->in[0]) / call->in[0].shape.dim[0];
    double grad[MXCI_TILE], weight[MXCI_TILE];
    (void)part;
    for (int64_t row = begin; row < end; row++) {
        const int64_t last = (row + 1) * width;
        double sum = 0, history, rate;
        for (int64_t at = row * width, n; at < last; at += n) {
            n = last - at < MXCI_TILE ? last - at : MXCI_TILE;
            load_gradients(call, at, n, grad);
            for (int64_t i = 0; i < n; i++)
                sum += grad[i] * grad[i];
        }
        history = mxci_value_at(&call->aux[0], row) + sum / (double)width;
        rate = u->lr / sqrt(history + u->epsilon);
        mxci_assign_value(MXC_REQ_WRITE, &call->aux[0], row, history);
        for (int64_t at = row * width, n; at < last && call->req[0] != MXC_REQ_NULL; at += n) {
            n = last - at < MXCI_TILE ? last - at : MXCI_TILE;
            load_gradients(call, at, n, grad);
            mxci_convert(call->in[0].dtype, mxci_at(&call->in[0], at), MXC_F64, weight, n);
            for (int64_t i = 0; i < n; i++)
                weight[i] -= rate * grad[i];
            mxci_assign_cast_row(call->req[0], MXC_F64, weight, out->dtype, mxci_at(out, at), n);
        }
    }
}

static mxc_status group_adagrad(const mxc_op_call *call) {
    const int64_t n = mxci_tensor_size(&call->in[0]);
    if (n > 0)
        mxc_parallel_for(call->run, call->in[0].shape.dim[0], MXCI_GRAIN / 8 / (n / call->in[0].shape.dim[0]) + 1,
                         step_rows, (void *)call);
    return MXC_OK;
}

const mxc_op_def mxci_op_group_adagrad_update = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_group_adagrad_update",
    .args = "weight,grad",
    .aux = "history",
    .doc = "g = clip(rescale_grad grad); history += the mean of g^2 over a row; out = weight - lr g / sqrt(history + "
           "epsilon); weight and grad (rows,...), history (rows,1,...)",
    .params = adagrad_params,
    .param_size = sizeof(mxci_update),
    .infer_shape = infer_adagrad_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .inplace_forward = mxci_update_inplace,
    .forward = {[MXC_CPU] = group_adagrad},
};
