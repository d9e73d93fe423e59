/* SPDX-License-Identifier: Apache-2.0 */
/* SoftmaxActivation: softmax along the last axis (mode instance) or along axis 1 (mode channel). */
#include "math/assign.h"
#include "operator/infer.h"
#include "operator/nn/softmax.h"
#include "operator/nn/softmax_kernels.h"

static const mxc_param softmax_activation_schema[] = {
    {MXC_PARAM_FIELD(mxci_softmax_activation_params, mode), .name = "mode", .type = MXC_PARAM_ENUM,
     .initial = "instance", .choices = "instance,channel",
     .doc = "Where softmax is computed. instance: along the last axis; channel: along axis 1."},
    MXC_PARAM_END,
};

static mxc_status softmax_activation_infer(mxc_op_sig *sig) {
    MXC_TRY(mxci_infer_shape_same(sig));
    if (sig->in_shape[0].ndim >= 0 && sig->in_shape[0].ndim < 2)
        return mxc_sig_fail(sig, "argument 'data': expected at least 2 axes, found %d", sig->in_shape[0].ndim);
    return MXC_OK;
}

typedef struct softmax_run {
    const mxc_op_call *call;
    mxci_softmax_shape shape;
    int add;
} softmax_run;

static void softmax_activation_forward_part(void *arg, int64_t begin, int64_t end, int part) {
    const softmax_run *r = arg;
    (void)part;
    mxci_softmax_forward[r->call->out[0].dtype](&r->shape, r->add, r->call->in[0].data, r->call->out[0].data, begin,
                                                end);
}

static void softmax_activation_backward_part(void *arg, int64_t begin, int64_t end, int part) {
    const softmax_run *r = arg;
    (void)part;
    mxci_softmax_backward[r->call->out[0].dtype](&r->shape, r->add, r->call->out_grad[0].data, r->call->out[0].data,
                                                 r->call->in_grad[0].data, begin, end);
}

/* Data as (outer, k, inner): k is the last axis with inner 1, or the channels of each sample. */
static mxc_status softmax_activation_run_rows(const mxc_op_call *call, mxc_range_fn part) {
    const mxci_softmax_activation_params *p = call->params;
    const mxc_shape *data = &call->in[0].shape;
    const int last = data->ndim - 1;
    softmax_run r = {.call = call, .shape = {data->dim[last], 1, 1, NULL}, .add = call->req[0] == MXC_REQ_ADD};
    int64_t outer = mxci_shape_count(data, 0, last), row = data->dim[last];
    if (p->mode == MXCI_MODE_CHANNEL) {
        outer = data->dim[0], row = mxci_shape_count(data, 1, data->ndim);
        r.shape = (mxci_softmax_shape){data->dim[1], mxci_shape_count(data, 2, data->ndim), 1, NULL};
    }
    if (call->req[0] != MXC_REQ_NULL && row > 0)
        mxc_parallel_for_dynamic(call->run, outer, MXCI_GRAIN / 4 / row + 1, part, &r);
    return MXC_OK;
}

static mxc_status softmax_activation_forward(const mxc_op_call *call) {
    return softmax_activation_run_rows(call, softmax_activation_forward_part);
}

static mxc_status softmax_activation_backward(const mxc_op_call *call) {
    return softmax_activation_run_rows(call, softmax_activation_backward_part);
}

const mxc_op_def mxci_op_softmax_activation = {
    .size = sizeof(mxc_op_def),
    .name = "SoftmaxActivation",
    .doc = "output = exp(data) / sum of exp(data), along the last axis or along axis 1",
    .flags = MXC_OP_SAMPLEWISE,
    .params = softmax_activation_schema,
    .param_size = sizeof(mxci_softmax_activation_params),
    .infer_shape = softmax_activation_infer,
    .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1, .out = 1},
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(0), 0}, MXC_INPLACE_END},
    .inplace_backward = (const mxc_inplace[]){{MXC_FROM_OUT_GRAD(0), 0}, MXC_INPLACE_END},
    .forward = {[MXC_CPU] = softmax_activation_forward},
    .backward = {[MXC_CPU] = softmax_activation_backward},
};
