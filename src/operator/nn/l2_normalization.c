/* SPDX-License-Identifier: Apache-2.0 */
/*
 * L2Normalization: out = data / sqrt(sum of data^2 + eps). data and out (N,C,spatial...). mode says what is summed:
 * instance: a sample, channel: the channels of one position, spatial: the positions of one channel. Backward
 * computes the sums again, so that nothing is saved.
 */
#include "math/assign.h"
#include "operator/infer.h"
#include "operator/nn/l2_normalization_kernels.h"
#include "operator/nn/norms.h"

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(mxci_l2_params, eps), .name = "eps", .type = MXC_PARAM_FLOAT, .initial = "1e-10",
     .doc = "Added to the sum of squares, for stability."},
    {MXC_PARAM_FIELD(mxci_l2_params, mode), .name = "mode", .type = MXC_PARAM_ENUM, .initial = "instance",
     .choices = "instance,spatial,channel",
     .doc = "What shares one norm: a sample (instance), the channels of a position (channel), or the positions of a "
            "channel (spatial)."},
    MXC_PARAM_END,
};

static mxc_status l2_normalization_infer_shape(mxc_op_sig *sig) {
    int least = ((const mxci_l2_params *)sig->params)->mode == MXCI_L2_INSTANCE ? 1 : 3;
    MXC_TRY(mxci_infer_shape_same(sig));
    if (sig->in_shape[0].ndim >= 0 && sig->in_shape[0].ndim < least)
        return mxc_sig_fail(sig, "argument 'data': expected at least %d axes, found %d", least, sig->in_shape[0].ndim);
    return MXC_OK;
}

typedef struct l2_run {
    const mxc_op_call *call;
    mxci_l2_shape shape;
} l2_run;

/* Data as (outer, k, inner) by mode, split into strips (l2_normalization_kernels.h). */
static mxc_status run_strips(const mxc_op_call *call, mxc_range_fn part) {
    const mxci_l2_params *p = call->params;
    const mxc_shape *data = &call->in[0].shape;
    int first = p->mode == MXCI_L2_SPATIAL ? 2 : 1, end = p->mode == MXCI_L2_CHANNEL ? 2 : data->ndim;
    l2_run r = {
        call,
        {.k = mxci_shape_count(data, first, end),
         .inner = mxci_shape_count(data, end, data->ndim),
         .eps = p->eps,
         .add = call->req[0] == MXC_REQ_ADD},
    };
    if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, mxci_l2_strips(mxci_shape_count(data, 0, first), r.shape.inner),
                         MXCI_GRAIN / (mxci_l2_strip_size(&r.shape) + 1) + 1, part, &r);
    return MXC_OK;
}

static void l2_normalization_forward_part(void *arg, int64_t begin, int64_t end, int part) {
    const l2_run *r = arg;
    const mxc_tensor *data = &r->call->in[0];
    (void)part;
    mxci_l2_forward[data->dtype](&r->shape, data->data, r->call->out[0].data, begin, end);
}

static void l2_normalization_backward_part(void *arg, int64_t begin, int64_t end, int part) {
    const l2_run *r = arg;
    const mxc_tensor *data = &r->call->in[0];
    (void)part;
    mxci_l2_backward[data->dtype](&r->shape, data->data, r->call->out_grad[0].data, r->call->in_grad[0].data, begin,
                                  end);
}

static mxc_status l2_normalization_forward(const mxc_op_call *call) {
    return run_strips(call, l2_normalization_forward_part);
}

static mxc_status l2_normalization_backward(const mxc_op_call *call) {
    return run_strips(call, l2_normalization_backward_part);
}

const mxc_op_def mxci_op_l2_normalization = {
    .size = sizeof(mxc_op_def),
    .name = "L2Normalization",
    .doc = "out = data / sqrt(sum of data^2 + eps), data (N,C,...), with the sum over what mode selects",
    .flags = MXC_OP_SAMPLEWISE,
    .params = schema,
    .param_size = sizeof(mxci_l2_params),
    .infer_shape = l2_normalization_infer_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1, .in = 1},
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(0), 0}, MXC_INPLACE_END},
    .inplace_backward = (const mxc_inplace[]){{MXC_FROM_OUT_GRAD(0), 0}, MXC_INPLACE_END},
    .forward = {[MXC_CPU] = l2_normalization_forward},
    .backward = {[MXC_CPU] = l2_normalization_backward},
};
