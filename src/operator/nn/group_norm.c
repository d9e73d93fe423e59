/* SPDX-License-Identifier: Apache-2.0 */
/*
 * InstanceNorm and GroupNorm: out = gamma (data - mean) / std + beta, where mean and std = sqrt(variance + eps) are
 * those of a sample's group of neighbouring channels (InstanceNorm: of one channel) over all axes behind.
 *
 * data (N,C,...), gamma and beta (C) or, of GroupNorm, one for each group, as MXNet's is, mean and std (N, groups),
 * which are outputs, hidden ones unless output_mean_var; they are f32 where data is f16 or bf16. No gradient flows
 * through them.
 */
#include <math.h>

#include "math/assign.h"
#include "math/tile_kernels.h"
#include "operator/infer.h"
#include "operator/nn/batch_norm_kernels.h"
#include "operator/nn/norms.h"

enum { DATA, GAMMA, BETA };
enum { OUT, MEAN, STD };

static const mxc_param instance_schema[] = {
    {MXC_PARAM_FIELD(mxci_group_norm_params, eps), .name = "eps", .type = MXC_PARAM_FLOAT, .initial = "0.001",
     .bounded = 1, .minimum = 0, .maximum = 1e30, .doc = "Added to the variance, for stability."},
    MXC_PARAM_END,
};

static const mxc_param group_schema[] = {
    {MXC_PARAM_FIELD(mxci_group_norm_params, num_groups), .name = "num_groups", .type = MXC_PARAM_INT, .initial = "1",
     .bounded = 1, .minimum = 1, .maximum = 1e9, .doc = "Number of groups of channels."},
    {MXC_PARAM_FIELD(mxci_group_norm_params, eps), .name = "eps", .type = MXC_PARAM_FLOAT, .initial = "1e-5",
     .bounded = 1, .minimum = 0, .maximum = 1e30, .doc = "Added to the variance, for stability."},
    {MXC_PARAM_FIELD(mxci_group_norm_params, output_mean_var), .name = "output_mean_var", .type = MXC_PARAM_BOOL,
     .initial = "False", .doc = "Return mean and std as outputs."},
    MXC_PARAM_END,
};

static int instance_visible(const void *params) {
    (void)params;
    return 1;
}

static int group_visible(const void *params) {
    return ((const mxci_group_norm_params *)params)->output_mean_var ? 3 : 1;
}

/* ---- inference --------------------------------------------------------------------------------------------------- */

/* 1 if gamma has an element for each group. */
static int is_of_groups(const mxc_shape *gamma, int64_t groups) {
    return groups > 0 && gamma->ndim == 1 && gamma->dim[0] == groups;
}

/* groups 0: as many as channels. */
static mxc_status group_norm_infer_shape(mxc_op_sig *sig, int64_t groups) {
    mxc_shape *data = &sig->in_shape[DATA], channels = mxci_shape_axes(1), statistics = mxci_shape_axes(2);
    MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){DATA, MXC_SLOT_OUT(OUT)}));
    if (data->ndim >= 0 && data->ndim < 3)
        return mxc_sig_fail(sig, "argument 'data': expected at least 3 axes, found %d", data->ndim);
    if (data->ndim >= 0)
        channels.dim[0] = data->dim[1];
    if (!is_of_groups(&sig->in_shape[GAMMA], groups) && !is_of_groups(&sig->in_shape[BETA], groups))
        MXC_TRY(mxc_sig_set_shape(sig, GAMMA, &channels));
    MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){GAMMA, BETA}));
    if (!is_of_groups(&sig->in_shape[GAMMA], groups))
        channels = sig->in_shape[GAMMA];
    if (groups > 0 && channels.dim[0] >= 0 && channels.dim[0] % groups != 0)
        return mxc_sig_fail(sig, "%lld channels do not divide into %lld groups", (long long)channels.dim[0],
                            (long long)groups);
    if (data->ndim >= 0) {
        data->dim[1] = sig->out_shape[OUT].dim[1] = channels.dim[0];
        statistics.dim[0] = data->dim[0];
    }
    statistics.dim[1] = groups > 0 ? groups : channels.dim[0];
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(MEAN), &statistics));
    return mxci_sig_same_shape(sig, 2, (int[]){MXC_SLOT_OUT(MEAN), MXC_SLOT_OUT(STD)});
}

static mxc_status infer_instance(mxc_op_sig *sig) {
    return group_norm_infer_shape(sig, 0);
}

static mxc_status infer_group(mxc_op_sig *sig) {
    return group_norm_infer_shape(sig, ((const mxci_group_norm_params *)sig->params)->num_groups);
}

static mxc_status group_norm_infer_type(mxc_op_sig *sig) {
    MXC_TRY(mxci_sig_same_type(sig, 4, (int[]){DATA, GAMMA, BETA, MXC_SLOT_OUT(OUT)}));
    if (sig->in_type[DATA] == MXC_DTYPE_UNKNOWN)
        return MXC_OK;
    MXC_TRY(mxc_sig_set_type(sig, MXC_SLOT_OUT(MEAN), mxci_compute_type(sig->in_type[DATA])));
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(STD), mxci_compute_type(sig->in_type[DATA]));
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

typedef struct group_run {
    const mxc_op_call *call;
    int64_t groups, per, inner; /* groups of a sample, channels of a group, elements of a channel */
    int64_t span;               /* channels that share an element of gamma and of beta */
    double *sums;               /* backward: of dy, then of dy (x - mean), for each sample and channel */
} group_run;

static group_run group_norm_open_run(const mxc_op_call *call) {
    const mxc_shape *data = &call->in[DATA].shape;
    group_run r = {.call = call, .groups = call->out[MEAN].shape.dim[1], .sums = call->temp};
    r.per = r.groups ? data->dim[1] / r.groups : 0;
    r.inner = mxci_shape_count(data, 2, data->ndim);
    r.span = data->dim[1] > 0 ? data->dim[1] / call->in[GAMMA].shape.dim[0] : 1;
    return r;
}

/* Groups begin..end-1 of all samples. A group's channels are neighbours, so that its statistics are those of one dense
 * row. */
static void group_norm_forward_part(void *arg, int64_t begin, int64_t end, int part) {
    const group_run *r = arg;
    const mxc_op_call *call = r->call;
    const mxc_tensor *x = &call->in[DATA];
    const mxci_channel group = {.n = 1, .d = r->per * r->inner}, channel = {.n = 1, .d = r->inner};
    (void)part;
    for (int64_t i = begin; i < end; i++) {
        double mean = 0, variance = 0, std;
        if (group.d > 0)
            mxci_bn_moments[x->dtype](&group, mxci_at(x, i * group.d), &mean, &variance);
        std = sqrt(variance + ((const mxci_group_norm_params *)call->params)->eps);
        mxci_assign_value(call->req[MEAN], &call->out[MEAN], i, mean);
        mxci_assign_value(call->req[STD], &call->out[STD], i, std);
        for (int64_t k = 0; k < r->per && call->req[OUT] != MXC_REQ_NULL; k++) {
            int64_t c = i % r->groups * r->per + k, at = i * group.d + k * r->inner;
            mxci_bn_affine[x->dtype](
                &channel, call->req[OUT] == MXC_REQ_ADD, mxci_value_at(&call->in[GAMMA], c / r->span) / std, mean,
                mxci_value_at(&call->in[BETA], c / r->span), mxci_at(x, at), mxci_at(&call->out[OUT], at));
        }
    }
}

static mxc_status group_norm_forward(const mxc_op_call *call) {
    group_run r = group_norm_open_run(call);
    mxc_parallel_for_dynamic(call->run, mxci_tensor_size(&call->out[MEAN]), MXCI_GRAIN / 2 / (r.per * r.inner + 1) + 1,
                             group_norm_forward_part, &r);
    return MXC_OK;
}

/* ---- backward ---------------------------------------------------------------------------------------------------- */

static size_t group_norm_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    const mxc_shape *data = &sig->in_shape[DATA];
    return pass == MXC_FORWARD ? 0 : mxci_size_of(mxci_dim_mul(2, mxci_shape_count(data, 0, 2)), sizeof(double));
}

/* With m elements in the group, g = gamma dy:
 * dx = (g - sum(g) / m - (x - mean) sum(g (x - mean)) / (m std^2)) / std */
static void group_norm_backward_part(void *arg, int64_t begin, int64_t end, int part) {
    const group_run *r = arg;
    const mxc_op_call *call = r->call;
    const mxc_tensor *x = &call->in[DATA], *dy = &call->out_grad[OUT];
    const mxci_channel channel = {.n = 1, .d = r->inner};
    const double count = (double)r->per * (double)r->inner;
    (void)part;
    for (int64_t i = begin; i < end; i++) {
        double mean = mxci_value_at(&call->out[MEAN], i), std = mxci_value_at(&call->out[STD], i), sum = 0, product = 0;
        for (int64_t k = 0; k < r->per; k++) {
            double gamma = mxci_value_at(&call->in[GAMMA], (i % r->groups * r->per + k) / r->span);
            double *s = r->sums + 2 * (i * r->per + k);
            int64_t at = (i * r->per + k) * r->inner;
            mxci_bn_sums[x->dtype](&channel, mean, mxci_at(dy, at), mxci_at(x, at), &s[0], &s[1]);
            sum += gamma * s[0];
            product += gamma * s[1];
        }
        for (int64_t k = 0; k < r->per && call->req[DATA] != MXC_REQ_NULL && count > 0; k++) {
            double gamma = mxci_value_at(&call->in[GAMMA], (i % r->groups * r->per + k) / r->span);
            double abc[3] = {gamma / std, -product / (count * std * std * std), -sum / (count * std)};
            int64_t at = (i * r->per + k) * r->inner;
            mxci_bn_combine[x->dtype](&channel, call->req[DATA] == MXC_REQ_ADD, abc, mean, mxci_at(dy, at),
                                      mxci_at(x, at), mxci_at(&call->in_grad[DATA], at));
        }
    }
}

/* The parts leave the sums of each sample and channel, from which gamma's and beta's gradients follow in a fixed
 * order. */
static mxc_status group_norm_backward(const mxc_op_call *call) {
    group_run r = group_norm_open_run(call);
    int64_t samples = call->in[DATA].shape.dim[0], channels = call->in[DATA].shape.dim[1];
    mxc_parallel_for_dynamic(call->run, mxci_tensor_size(&call->out[MEAN]), MXCI_GRAIN / 4 / (r.per * r.inner + 1) + 1,
                             group_norm_backward_part, &r);
    for (int64_t c = 0; c < channels; c += r.span) {
        double gamma = 0, beta = 0;
        for (int64_t n = 0; n < samples; n++)
            for (int64_t k = c; k < c + r.span; k++) {
                const double *s = r.sums + 2 * (n * channels + k);
                beta += s[0];
                gamma += s[1] / mxci_value_at(&call->out[STD], n * r.groups + k / r.per);
            }
        mxci_assign_value(call->req[GAMMA], &call->in_grad[GAMMA], c / r.span, gamma);
        mxci_assign_value(call->req[BETA], &call->in_grad[BETA], c / r.span, beta);
    }
    return MXC_OK;
}

static const mxc_inplace in_to_out[] = {{MXC_FROM_IN(DATA), OUT}, MXC_INPLACE_END};
static const mxc_inplace grad_to_grad[] = {{MXC_FROM_OUT_GRAD(OUT), DATA}, MXC_INPLACE_END};

#define NORM(title, text, schema, visible, infer)                                                                    \
    {                                                                                                                \
        .size = sizeof(mxc_op_def), .name = title, .doc = text, .flags = MXC_OP_SAMPLEWISE, .params = schema,        \
        .param_size = sizeof(mxci_group_norm_params), .args = "data,gamma,beta", .outputs = "output,mean,std",       \
        .n_visible = visible, .infer_shape = infer, .infer_type = group_norm_infer_type, .dtypes = MXC_DTYPES_FLOAT, \
        .needs = {.out_grad = 1 << OUT, .in = 1 << DATA | 1 << GAMMA, .out = 1 << MEAN | 1 << STD},                  \
        .inplace_forward = in_to_out, .inplace_backward = grad_to_grad, .temp_bytes = group_norm_temp_bytes,         \
        .forward = {[MXC_CPU] = group_norm_forward}, .backward = {                                                   \
            [MXC_CPU] = group_norm_backward                                                                          \
        }                                                                                                            \
    }

const mxc_op_def mxci_op_instance_norm =
    NORM("InstanceNorm",
         "Instance normalization: output = gamma (data - mean) / sqrt(variance + eps) + beta, with mean and variance "
         "of each channel of each sample of data (N,C,...)",
         instance_schema, instance_visible, infer_instance);
const mxc_op_def mxci_op_group_norm =
    NORM("GroupNorm",
         "Group normalization: output = gamma (data - mean) / sqrt(variance + eps) + beta, with mean and variance of "
         "each group of channels of each sample of data (N,C,...), gamma and beta of each channel or of each group",
         group_schema, group_visible, infer_group);
