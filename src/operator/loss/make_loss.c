/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Losses that a network computes itself: data passes through, and its gradient is a constant, whatever the gradient of
 * the output. make_loss: 1. MakeLoss: grad_scale, divided as normalization says: by nothing (null), by the size of
 * data's first axis (batch), or by the number of elements above valid_thresh, at least 1 (valid).
 */
#include <mxc/op.h>

#include "math/assign.h"
#include "math/tile_kernels.h"
#include "operator/loss/losses.h"

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(mxci_make_loss_params, grad_scale), .name = "grad_scale", .type = MXC_PARAM_FLOAT, .initial = "1",
     .doc = "Value of the gradient."},
    {MXC_PARAM_FIELD(mxci_make_loss_params, valid_thresh), .name = "valid_thresh", .type = MXC_PARAM_FLOAT,
     .initial = "0", .doc = "With normalization=valid, elements above this value are counted."},
    {MXC_PARAM_FIELD(mxci_make_loss_params, normalization), .name = "normalization", .type = MXC_PARAM_ENUM,
     .initial = "null", .choices = "null,batch,valid",
     .doc = "What the gradient is divided by: nothing, the batch size, or the number of valid elements."},
    MXC_PARAM_END,
};

static void loss_needs(const void *params, mxc_op_needs *needs) {
    *needs = (mxc_op_needs){.in = ((const mxci_make_loss_params *)params)->normalization == MXCI_NORM_VALID};
}

/* Elements above the threshold, for normalization=valid. */
static int64_t count_above(const mxc_tensor *data, double threshold) {
    double tile[MXCI_TILE];
    int64_t size = mxci_tensor_size(data), count = 0;
    for (int64_t i = 0; i < size; i += MXCI_TILE) {
        int64_t n = size - i < MXCI_TILE ? size - i : MXCI_TILE;
        mxci_convert(data->dtype, mxci_at(data, i), MXC_F64, tile, n);
        for (int64_t k = 0; k < n; k++)
            count += tile[k] > threshold;
    }
    return count;
}

static mxc_status make_loss_forward(const mxc_op_call *call) {
    mxci_assign(call->run, call->req[0], &call->out[0], &call->in[0]);
    return MXC_OK;
}

static mxc_status backward_one(const mxc_op_call *call) {
    mxci_assign_constant(call->run, call->req[0], &call->in_grad[0], 1);
    return MXC_OK;
}

/* The gradient is grad_scale everywhere, whatever out's is, divided as normalization says. */
static mxc_status backward_scaled(const mxc_op_call *call) {
    const mxci_make_loss_params *p = call->params;
    const mxc_shape *shape = &call->in[0].shape;
    int64_t divisor = 1;
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    if (p->normalization == MXCI_NORM_BATCH && shape->ndim > 0)
        divisor = shape->dim[0];
    else if (p->normalization == MXCI_NORM_VALID)
        divisor = count_above(&call->in[0], p->valid_thresh);
    mxci_assign_constant(call->run, call->req[0], &call->in_grad[0],
                         p->grad_scale / (double)(divisor > 0 ? divisor : 1));
    return MXC_OK;
}

const mxc_op_def mxci_op_make_loss = {
    .size = sizeof(mxc_op_def),
    .name = "make_loss",
    .outputs = "loss",
    .doc = "out = data, which becomes a loss: its gradient is 1, whatever the gradient of out",
    .dtypes = MXC_DTYPES_FLOAT,
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(0), 0}, MXC_INPLACE_END},
    .forward = {[MXC_CPU] = make_loss_forward},
    .backward = {[MXC_CPU] = backward_one},
};

const mxc_op_def mxci_op_make_loss_layer = {
    .size = sizeof(mxc_op_def),
    .name = "MakeLoss",
    .doc = "out = data, which becomes a loss: its gradient is grad_scale, divided according to normalization, whatever "
           "the gradient of out",
    .params = schema,
    .param_size = sizeof(mxci_make_loss_params),
    .dtypes = MXC_DTYPES_FLOAT,
    .backward_needs = loss_needs,
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(0), 0}, MXC_INPLACE_END},
    .forward = {[MXC_CPU] = make_loss_forward},
    .backward = {[MXC_CPU] = backward_scaled},
};
