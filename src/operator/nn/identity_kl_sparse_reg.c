/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IdentityAttachKLSparseReg: out = data, whose gradient gets a penalty that draws each channel's mean activity towards
 * sparseness_target: to the gradient of every element of channel c (axis 1) is added
 *   penalty (-target / a_c + (1 - target) / (1 - a_c)),
 * the derivative of the Kullback-Leibler divergence of two coins, target and a_c; data are activities in (0, 1).
 *
 * a is the moving mean of data: moving_avg = momentum moving_avg + (1 - momentum) mean, taken by a forward pass in
 * training (MXNet takes it in backward). The second output, hidden, holds the a of this pass for backward.
 */
#include "operator/nn/identity_kl_sparse_reg.h"

#include "math/assign.h"
#include "math/tile_kernels.h"
#include "operator/infer.h"
#include "operator/nn/batch_norm_kernels.h"

typedef mxci_sparse_params sparse_params;

enum { OUT, AVERAGE };

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(sparse_params, sparseness_target), .name = "sparseness_target", .type = MXC_PARAM_FLOAT,
     .initial = "0.1", .bounded = 1, .minimum = 0, .maximum = 1, .doc = "Target of the mean activation."},
    {MXC_PARAM_FIELD(sparse_params, penalty), .name = "penalty", .type = MXC_PARAM_FLOAT, .initial = "0.001",
     .doc = "Weight of the divergence."},
    {MXC_PARAM_FIELD(sparse_params, momentum), .name = "momentum", .type = MXC_PARAM_FLOAT, .initial = "0.9",
     .bounded = 1, .minimum = 0, .maximum = 1, .doc = "Share of moving_avg that is kept in each training pass."},
    MXC_PARAM_END,
};

static int identity_kl_sparse_reg_count_visible(const void *params) {
    (void)params;
    return 1;
}

/* The moving average has an element for each channel, data's axis 1. */
static mxc_status identity_kl_sparse_reg_infer_shape(mxc_op_sig *sig) {
    static const int averages[] = {MXC_SLOT_AUX(0), MXC_SLOT_OUT(AVERAGE)};
    const mxc_shape *data = &sig->in_shape[0];
    mxc_shape channels = mxci_shape_axes(1);
    MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){0, MXC_SLOT_OUT(OUT)}));
    if (data->ndim >= 0 && data->ndim < 2)
        return mxc_sig_fail(sig, "argument 'data': expected at least 2 axes, found %d", (int)data->ndim);
    if (data->ndim >= 0)
        channels.dim[0] = data->dim[1];
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_AUX(0), &channels));
    return mxci_sig_same_shape(sig, 2, averages);
}

static mxc_status identity_kl_sparse_reg_infer_type(mxc_op_sig *sig) {
    MXC_TRY(mxci_sig_same_type(sig, 2, (int[]){0, MXC_SLOT_OUT(OUT)}));
    if (sig->in_type[0] == MXC_DTYPE_UNKNOWN)
        return MXC_OK;
    MXC_TRY(mxc_sig_set_type(sig, MXC_SLOT_AUX(0), mxci_compute_type(sig->in_type[0])));
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(AVERAGE), mxci_compute_type(sig->in_type[0]));
}

typedef struct sparse_run {
    const mxc_op_call *call;
    mxci_channel channel;
} sparse_run;

static void run_channels(const mxc_op_call *call, mxc_range_fn part) {
    const mxc_shape *data = &call->in[0].shape;
    int64_t d = mxci_shape_count(data, 2, data->ndim);
    sparse_run r = {call, {.n = data->dim[0], .d = d, .step = data->dim[1] * d}};
    mxc_parallel_for(call->run, data->dim[1], MXCI_GRAIN / 2 / (r.channel.n * d + 1) + 1, part, &r);
}

/* Channels begin..end-1; the average moves in training only. */
static void average_part(void *arg, int64_t begin, int64_t end, int part) {
    const sparse_run *r = arg;
    const mxc_op_call *call = r->call;
    const double keep = ((const sparse_params *)call->params)->momentum;
    (void)part;
    for (int64_t c = begin; c < end; c++) {
        double average = mxci_value_at(&call->aux[0], c), mean, variance;
        if (call->is_train && r->channel.n * r->channel.d > 0) {
            mxci_bn_moments[call->in[0].dtype](&r->channel, mxci_at(&call->in[0], c * r->channel.d), &mean, &variance);
            average = keep * average + (1 - keep) * mean;
            mxci_assign_value(MXC_REQ_WRITE, &call->aux[0], c, average);
        }
        mxci_assign_value(call->req[AVERAGE], &call->out[AVERAGE], c, average);
    }
}

static mxc_status identity_kl_sparse_reg_forward(const mxc_op_call *call) {
    run_channels(call, average_part);
    mxci_assign(call->run, call->req[OUT], &call->out[OUT], &call->in[0]);
    return MXC_OK;
}

/* out's gradient + penalty d/da KL(target || a), which is -target / a + (1 - target) / (1 - a). */
static void gradient_part(void *arg, int64_t begin, int64_t end, int part) {
    const sparse_run *r = arg;
    const mxc_op_call *call = r->call;
    const sparse_params *p = call->params;
    (void)part;
    for (int64_t c = begin; c < end; c++) {
        double a = mxci_value_at(&call->out[AVERAGE], c), target = p->sparseness_target;
        mxci_bn_affine[call->in_grad[0].dtype](
            &r->channel, call->req[0] == MXC_REQ_ADD, 1, 0, p->penalty * (-target / a + (1 - target) / (1 - a)),
            mxci_at(&call->out_grad[OUT], c * r->channel.d), mxci_at(&call->in_grad[0], c * r->channel.d));
    }
}

static mxc_status identity_kl_sparse_reg_backward(const mxc_op_call *call) {
    if (call->req[0] != MXC_REQ_NULL && mxci_tensor_size(&call->in_grad[0]) > 0)
        run_channels(call, gradient_part);
    return MXC_OK;
}

const mxc_op_def mxci_op_identity_kl_sparse_reg = {
    .size = sizeof(mxc_op_def),
    .name = "IdentityAttachKLSparseReg",
    .doc = "output = data, with a sparsity penalty: penalty (-target / a + (1 - target) / (1 - a)) is added to the "
           "gradient of each channel (axis 1), where a is its moving mean, which a training forward pass updates: a = "
           "momentum a + (1 - momentum) mean",
    .params = schema,
    .param_size = sizeof(sparse_params),
    .outputs = "output,average",
    .aux = "moving_avg",
    .n_visible = identity_kl_sparse_reg_count_visible,
    .infer_shape = identity_kl_sparse_reg_infer_shape,
    .infer_type = identity_kl_sparse_reg_infer_type,
    .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1 << OUT, .out = 1 << AVERAGE},
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(0), OUT}, MXC_INPLACE_END},
    .inplace_backward = (const mxc_inplace[]){{MXC_FROM_OUT_GRAD(OUT), 0}, MXC_INPLACE_END},
    .forward = {[MXC_CPU] = identity_kl_sparse_reg_forward},
    .backward = {[MXC_CPU] = identity_kl_sparse_reg_backward},
};
