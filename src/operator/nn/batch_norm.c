/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BatchNorm: out = gamma (data - mean) / sqrt(var + eps) + beta for each channel (of axis) over all other axes.
 *
 * In training mean and var are those of the batch (var divided by the count, not count - 1), and forward moves the
 * auxiliary states: moving = momentum moving + (1 - momentum) batch. (MXNet's CPU kernel does that in backward; here a
 * training forward pass without backward counts too.) Otherwise, and with use_global_stats, the moving ones are used,
 * as constants. fix_gamma takes gamma as 1 and gives it no gradient. mean and var are outputs, hidden unless
 * output_mean_var, var as 1 / sqrt(var + eps), as in MXNet; no gradient flows through them. gamma, beta and the
 * statistics are f32 where data is f16 or bf16, else of data's type.
 *
 * BatchNormWithReLU: max(BatchNorm, 0).
 */
#include "operator/nn/batch_norm.h"

#include <math.h>
#include <string.h>

#include "math/assign.h"
#include "math/tile_kernels.h"
#include "operator/infer.h"
#include "operator/nn/batch_norm_kernels.h"

enum { DATA, GAMMA, BETA };
enum { OUT, MEAN, VAR };
enum { MOVING_MEAN, MOVING_VAR };

#define RANGE(bound)                                                                                               \
    {                                                                                                              \
        .name = #bound, .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(mxci_bn_ranged_params, bound), .initial = "None", \
        .optional = 1, .doc = "Accepted for compatibility with MXNet; only the quantized operator uses it."        \
    }

static const mxc_param bn_schema[] = {
    MXCI_BN_SCHEMA(mxci_bn_ranged_params, norm.),
    RANGE(min_calib_range),
    RANGE(max_calib_range),
    MXC_PARAM_END,
};

static const mxc_param sync_schema[] = {
    MXCI_BN_SCHEMA(mxci_sync_bn_params, norm.),
    {MXC_PARAM_FIELD(mxci_sync_bn_params, ndev), .name = "ndev", .type = MXC_PARAM_INT, .initial = "1", .bounded = 1,
     .minimum = 1, .maximum = 65536,
     .doc = "Number of devices that train together. A training pass with more than 1 is an error."},
    {MXC_PARAM_FIELD(mxci_sync_bn_params, key), .name = "key", .type = MXC_PARAM_STRING, .initial = "",
     .doc = "Accepted for compatibility with MXNet; has no effect."},
    MXC_PARAM_END,
};

static int bn_visible(const void *params) {
    return ((const mxci_bn_params *)params)->output_mean_var ? 3 : 1;
}

/* ---- inference ------------------------------------------------------------------------------------------------- */

/* Slots with one value per channel. */
static const int channel_slots[] = {
    GAMMA, BETA, MXC_SLOT_OUT(MEAN), MXC_SLOT_OUT(VAR), MXC_SLOT_AUX(MOVING_MEAN), MXC_SLOT_AUX(MOVING_VAR),
};
enum { N_CHANNEL_SLOTS = sizeof channel_slots / sizeof channel_slots[0] };

/* gamma, beta and the statistics have one entry per channel; the number of channels is inferred both ways. */
static mxc_status bn_infer(mxc_op_sig *sig) {
    mxc_shape *data = &sig->in_shape[DATA], channels = mxci_shape_axes(1);
    int axis = 0;
    MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){DATA, MXC_SLOT_OUT(OUT)}));
    if (data->ndim >= 0 && data->ndim < 2)
        return mxc_sig_fail(sig, "argument 'data': expected at least 2 axes, found %d", data->ndim);
    if (data->ndim >= 0) {
        MXC_TRY(mxci_sig_axis(sig, ((const mxci_bn_params *)sig->params)->axis, data->ndim, &axis));
        channels.dim[0] = data->dim[axis];
    }
    MXC_TRY(mxc_sig_set_shape(sig, GAMMA, &channels));
    MXC_TRY(mxci_sig_same_shape(sig, N_CHANNEL_SLOTS, channel_slots));
    if (data->ndim >= 0)
        data->dim[axis] = sig->out_shape[OUT].dim[axis] = sig->in_shape[GAMMA].dim[0];
    return MXC_OK;
}

static mxc_status bn_infer_type(mxc_op_sig *sig) {
    mxc_dtype type;
    MXC_TRY(mxci_sig_same_type(sig, 2, (int[]){DATA, MXC_SLOT_OUT(OUT)}));
    type = sig->in_type[DATA];
    if (type == MXC_F16 || type == MXC_BF16)
        type = MXC_F32;
    MXC_TRY(mxc_sig_set_type(sig, GAMMA, type));
    return mxci_sig_same_type(sig, N_CHANNEL_SLOTS, channel_slots);
}

/* ---- values per channel, f32 or f64 ---------------------------------------------------------------------------- */

/* Element i of an array of f32 or f64: statistics and parameters. */
static double get(const mxc_tensor *t, int64_t i) {
    return t->dtype == MXC_F64 ? ((const double *)t->data)[i] : (double)((const float *)t->data)[i];
}

/* Element i of a statistic, which is float32 or float64. */
static void batch_norm_put(mxc_req req, const mxc_tensor *t, int64_t i, double value) {
    if (req == MXC_REQ_NULL)
        return;
    if (req == MXC_REQ_ADD)
        value += get(t, i);
    if (t->dtype == MXC_F64)
        ((double *)t->data)[i] = value;
    else
        ((float *)t->data)[i] = (float)value;
}

/* Whether this run takes the statistics from the batch, not from the moving averages. */
static int uses_batch(const mxc_op_call *call) {
    return call->is_train && !((const mxci_bn_params *)call->params)->use_global_stats;
}

/* One run, and the memory of a channel: n = outer axes, d = inner axes, step = C d apart. */
typedef struct bn_run {
    const mxc_op_call *call;
    mxci_channel channel;
    int relu; /* forward */
} bn_run;

/* Channels are independent, so each is computed by one thread from start to end; results do not depend on the
 * threads. */
static mxc_status run_channels(const mxc_op_call *call, mxc_range_fn part, int relu) {
    const mxc_shape *data = &call->in[DATA].shape;
    const int axis = mxci_bn_axis(call->params, data->ndim);
    int64_t d = mxci_shape_count(data, axis + 1, data->ndim);
    bn_run r = {call, {.n = d ? mxci_shape_count(data, 0, axis) : 0, .d = d, .step = data->dim[axis] * d}, relu};
    mxc_parallel_for_dynamic(call->run, data->dim[axis], MXCI_GRAIN / 2 / (r.channel.n * d + 1) + 1, part, &r);
    return MXC_OK;
}

/* ---- forward --------------------------------------------------------------------------------------------------- */

/* Mean and variance of channel c for this run; in training also moves the averages. */
static void statistics(const bn_run *r, int64_t c, double *mean, double *var) {
    const mxc_op_call *call = r->call;
    double keep = ((const mxci_bn_params *)call->params)->momentum;
    *mean = get(&call->aux[MOVING_MEAN], c);
    *var = get(&call->aux[MOVING_VAR], c);
    if (uses_batch(call) && r->channel.n * r->channel.d > 0) {
        double moving_mean = *mean, moving_var = *var;
        mxci_bn_moments[call->in[DATA].dtype](&r->channel, mxci_at(&call->in[DATA], c * r->channel.d), mean, var);
        batch_norm_put(MXC_REQ_WRITE, &call->aux[MOVING_MEAN], c, keep * moving_mean + (1 - keep) * *mean);
        batch_norm_put(MXC_REQ_WRITE, &call->aux[MOVING_VAR], c, keep * moving_var + (1 - keep) * *var);
    }
    batch_norm_put(call->req[MEAN], &call->out[MEAN], c, *mean);
    batch_norm_put(call->req[VAR], &call->out[VAR], c, 1 / sqrt(*var + ((const mxci_bn_params *)call->params)->eps));
}

/* The factor gamma / sqrt(var + eps). */
static double scale_of(const mxc_op_call *call, int64_t c, double var) {
    const mxci_bn_params *p = call->params;
    return (p->fix_gamma ? 1 : get(&call->in[GAMMA], c)) / sqrt(var + p->eps);
}

/* y = scale (x - mean) + shift for channel c, or max(0, that). Results too large for the caches, and those of ReLU, go
 * by tiles. */
static void put_affine(const bn_run *r, int64_t c, double scale, double mean, double shift) {
    const mxc_op_call *call = r->call;
    const mxc_tensor *x = &call->in[DATA], *y = &call->out[OUT];
    const int store_mode = mxci_store_mode(call->req[OUT], mxci_tensor_bytes(y), x->data == y->data);
    const int64_t d = r->channel.d;
    _Alignas(64) int64_t tile[MXCI_TILE];
    if (store_mode != MXCI_STORE_STREAM && !r->relu) {
        mxci_bn_affine[x->dtype](&r->channel, store_mode == MXCI_STORE_ADD, scale, mean, shift, mxci_at(x, c * d),
                                 mxci_at(y, c * d));
        return;
    }
    for (int64_t i = 0; i < r->channel.n; i++)
        for (int64_t j = c * d, n; j < (c + 1) * d; j += n) {
            int64_t at = i * r->channel.step + j;
            n = mxci_tile_at(j, (c + 1) * d);
            mxci_bn_affine[x->dtype](&(mxci_channel){.n = 1, .d = n}, 0, scale, mean, shift, mxci_at(x, at), tile);
            if (r->relu)
                mxci_bn_relu(y->dtype, n, tile);
            if (store_mode == MXCI_STORE_STREAM)
                mxci_stream(mxci_at(y, at), tile, (size_t)n * mxc_dtype_size(y->dtype));
            else
                mxci_assign_row(call->req[OUT], y->dtype, mxci_at(y, at), tile, n);
        }
    mxci_stream_end();
}

/* Channels begin..end-1: their statistics, then out = (x - mean) scale + beta. */
static void batch_norm_forward_part(void *arg, int64_t begin, int64_t end, int part) {
    const bn_run *r = arg;
    const mxc_op_call *call = r->call;
    (void)part;
    for (int64_t c = begin; c < end; c++) {
        double mean, var;
        statistics(r, c, &mean, &var);
        if (call->req[OUT] != MXC_REQ_NULL)
            put_affine(r, c, scale_of(call, c, var), mean, get(&call->in[BETA], c));
    }
}

/* ---- forward, channels last: loops along the channels ------------------------------------------------------------ */

enum { CYCLE = 128 }; /* coefficients at least */

/* The axis of channels is the last one with more than one element. */
static int is_last(const void *params, const mxc_shape *data) {
    return mxci_shape_count(data, mxci_bn_axis(params, data->ndim) + 1, data->ndim) == 1;
}

/* Takes the coefficients from scratch; channels: at least 1. */
static mxci_channel_cycle take_cycle(mxci_scratch *s, int64_t channels, mxc_dtype dtype) {
    mxci_channel_cycle cycle = {.n = channels >= CYCLE ? channels : channels * ((CYCLE + channels - 1) / channels)};
    const size_t element = mxc_dtype_size(mxci_compute_type(dtype));
    cycle.factor = mxci_scratch_array(s, cycle.n, element);
    cycle.mean = mxci_scratch_array(s, cycle.n, element);
    cycle.shift = mxci_scratch_array(s, cycle.n, element);
    return cycle;
}

static size_t bn_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    const mxc_shape *data = &sig->in_shape[DATA];
    const int64_t channels = data->dim[mxci_bn_axis(sig->params, data->ndim)];
    mxci_scratch s = {0};
    if (pass == MXC_FORWARD && channels > 0 && is_last(sig->params, data))
        take_cycle(&s, channels, sig->in_type[DATA]);
    return s.bytes;
}

typedef struct bn_last_run {
    bn_run run;
    mxci_channel_cycle cycle;
} bn_last_run;

/* The statistics and coefficients of channels begin..end-1. What rounding the mean leaves of it goes to the shift. */
static void coefficients_part(void *arg, int64_t begin, int64_t end, int part) {
    const bn_last_run *r = arg;
    const mxc_op_call *call = r->run.call;
    const int is_f64 = call->in[DATA].dtype == MXC_F64;
    (void)part;
    for (int64_t c = begin; c < end; c++) {
        double mean, var, scale, rest;
        statistics(&r->run, c, &mean, &var);
        scale = scale_of(call, c, var);
        rest = get(&call->in[BETA], c) - (is_f64 ? 0 : scale * (mean - (double)(float)mean));
        for (int64_t i = c; i < r->cycle.n; i += r->run.channel.step) {
            if (is_f64) {
                ((double *)r->cycle.factor)[i] = scale;
                ((double *)r->cycle.mean)[i] = mean;
                ((double *)r->cycle.shift)[i] = rest;
            } else {
                ((float *)r->cycle.factor)[i] = (float)scale;
                ((float *)r->cycle.mean)[i] = (float)mean;
                ((float *)r->cycle.shift)[i] = (float)rest;
            }
        }
    }
}

/* Elements begin..end-1 of out; as in put_affine, some go by tiles. */
static void affine_last_part(void *arg, int64_t begin, int64_t end, int part) {
    const bn_last_run *r = arg;
    const mxc_op_call *call = r->run.call;
    const mxc_tensor *x = &call->in[DATA], *y = &call->out[OUT];
    const int store_mode = mxci_store_mode(call->req[OUT], mxci_tensor_bytes(y), x->data == y->data);
    _Alignas(64) int64_t tile[MXCI_TILE];
    (void)part;
    if (store_mode != MXCI_STORE_STREAM && !r->run.relu) {
        mxci_bn_affine_last[x->dtype](&r->cycle, store_mode == MXCI_STORE_ADD, begin, end - begin, mxci_at(x, begin),
                                      mxci_at(y, begin));
        return;
    }
    for (int64_t i = begin, n; i < end; i += n) {
        n = mxci_tile_at(i, end);
        mxci_bn_affine_last[x->dtype](&r->cycle, 0, i, n, mxci_at(x, i), tile);
        if (r->run.relu)
            mxci_bn_relu(y->dtype, n, tile);
        mxci_assign_elements(store_mode, y->dtype, tile, mxci_at(y, i), n);
    }
    mxci_stream_end();
}

static mxc_status run_channels_last(const mxc_op_call *call, int relu) {
    const mxc_tensor *data = &call->in[DATA];
    const int64_t channels = data->shape.dim[mxci_bn_axis(call->params, data->shape.ndim)];
    const int64_t n = mxci_tensor_size(data) / channels;
    mxci_scratch s = {.base = call->temp};
    bn_last_run r = {.run = {call, {.n = n, .d = 1, .step = channels}, relu},
                     .cycle = take_cycle(&s, channels, data->dtype)};
    mxc_parallel_for_dynamic(call->run, channels, MXCI_GRAIN / 32 / (uses_batch(call) ? n + 1 : 1) + 1,
                             coefficients_part, &r);
    if (call->req[OUT] != MXC_REQ_NULL)
        mxc_parallel_for_dynamic(call->run, n * channels, MXCI_GRAIN, affine_last_part, &r);
    return MXC_OK;
}

static mxc_status run_forward(const mxc_op_call *call, int relu) {
    const mxc_shape *data = &call->in[DATA].shape;
    if (is_last(call->params, data) && data->dim[mxci_bn_axis(call->params, data->ndim)] > 0)
        return run_channels_last(call, relu);
    return run_channels(call, batch_norm_forward_part, relu);
}

static mxc_status bn_forward(const mxc_op_call *call) {
    return run_forward(call, 0);
}

/* ---- backward -------------------------------------------------------------------------------------------------- */

/* With s = gamma / sqrt(var + eps), m elements and h = 1 / (var + eps):
 *   batch statistics:   dx = s (dy - sum(dy) / m - (x - mean) h sum(dy (x - mean)) / m)
 *   moving statistics:  dx = s dy
 *   dgamma = sum(dy (x - mean)) sqrt(h), dbeta = sum(dy) */
static void batch_norm_backward_part(void *arg, int64_t begin, int64_t end, int part) {
    const bn_run *r = arg;
    const mxc_op_call *call = r->call;
    const mxci_bn_params *p = call->params;
    const mxc_tensor *x = &call->in[DATA], *dy = &call->out_grad[OUT], *dx = &call->in_grad[DATA];
    const double count = (double)r->channel.n * (double)r->channel.d;
    (void)part;
    for (int64_t c = begin; c < end; c++) {
        double mean = get(&call->out[MEAN], c), factor = get(&call->out[VAR], c), sum, product, abc[3] = {0};
        int64_t at = c * r->channel.d;
        mxci_bn_sums[x->dtype](&r->channel, mean, mxci_at(dy, at), mxci_at(x, at), &sum, &product);
        abc[0] = p->fix_gamma ? factor : get(&call->in[GAMMA], c) * factor;
        if (uses_batch(call)) {
            abc[1] = -abc[0] * product * factor * factor / count;
            abc[2] = -abc[0] * sum / count;
        }
        if (call->req[DATA] != MXC_REQ_NULL && count > 0)
            mxci_bn_combine[x->dtype](&r->channel, call->req[DATA] == MXC_REQ_ADD, abc, mean, mxci_at(dy, at),
                                      mxci_at(x, at), mxci_at(dx, at));
        batch_norm_put(call->req[GAMMA], &call->in_grad[GAMMA], c, p->fix_gamma ? 0 : product * factor);
        batch_norm_put(call->req[BETA], &call->in_grad[BETA], c, sum);
    }
}

static mxc_status bn_backward(const mxc_op_call *call) {
    return run_channels(call, batch_norm_backward_part, 0);
}

static mxc_status sync_forward(const mxc_op_call *call) {
    MXC_TRY(mxci_sync_bn_check(call));
    return bn_forward(call);
}

/* ---- BatchNormWithReLU ----------------------------------------------------------------------------------------- */

static mxc_status bn_relu_forward(const mxc_op_call *call) {
    return run_forward(call, 1);
}

/* Backward: the gradient of the norm's output. */
static size_t bn_relu_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    if (pass == MXC_FORWARD)
        return bn_temp_bytes(sig, pass);
    return mxci_shape_bytes(&sig->in_shape[DATA], mxc_dtype_size(sig->in_type[DATA]));
}

/* Scratch = dy where the output is above 0, else 0. */
static void bn_relu_mask_part(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    const mxc_tensor *dy = &call->out_grad[OUT], *y = &call->out[OUT];
    const size_t element = mxc_dtype_size(dy->dtype);
    double values[MXCI_TILE];
    (void)part;
    for (int64_t i = begin, n; i < end; i += n) {
        n = mxci_tile_at(i, end);
        mxci_convert(y->dtype, mxci_at(y, i), MXC_F64, values, n);
        memcpy((char *)call->temp + (size_t)i * element, mxci_at(dy, i), (size_t)n * element);
        for (int64_t k = 0; k < n; k++)
            if (values[k] <= 0)
                memset((char *)call->temp + (size_t)(i + k) * element, 0, element);
    }
}

static mxc_status bn_relu_backward(const mxc_op_call *call) {
    mxc_op_call masked = *call;
    mxc_tensor gradients[VAR + 1];
    memcpy(gradients, call->out_grad, sizeof gradients);
    gradients[OUT].data = call->temp;
    masked.out_grad = gradients;
    mxc_parallel_for_dynamic(call->run, mxci_tensor_size(&call->in[DATA]), MXCI_GRAIN, bn_relu_mask_part, (void *)call);
    return bn_backward(&masked);
}

/* ---- what passes ask -------------------------------------------------------------------------------------------- */

static int bn_channels_last(const mxc_op *op, int ndim, mxc_channels_last *out) {
    *out = (mxc_channels_last){.key = "axis", .value = "-1"};
    return mxci_bn_axis(mxc_op_params(op), ndim) == 1;
}

static int bn_norm(const mxc_op *op, int ndim, mxc_norm *out) {
    const mxci_bn_params *p = mxc_op_params(op);
    *out = (mxc_norm){.axis = mxci_bn_axis(p, ndim), .fix_gamma = p->fix_gamma, .eps = p->eps};
    return 1;
}

/* Members that both descriptors have alike. */
#define COMMON                                                                                                       \
    .size = sizeof(mxc_op_def), .flags = MXC_OP_SAMPLEWISE, .args = "data,gamma,beta", .outputs = "output,mean,var", \
    .aux = "moving_mean,moving_var", .n_visible = bn_visible, .infer_shape = bn_infer, .infer_type = bn_infer_type,  \
    .dtypes = MXC_DTYPES_FLOAT,                                                                                      \
    .needs = {.out_grad = 1 << OUT, .in = 1 << DATA | 1 << GAMMA, .out = 1 << MEAN | 1 << VAR},                      \
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(DATA), OUT}, MXC_INPLACE_END},                             \
    .inplace_backward = (const mxc_inplace[]){{MXC_FROM_OUT_GRAD(OUT), DATA}, MXC_INPLACE_END},                      \
    .temp_bytes = bn_temp_bytes, .backward = {[MXC_CPU] = bn_backward}

const mxc_op_def mxci_op_batch_norm = {
    COMMON,
    .name = "BatchNorm",
    .aliases = "BatchNorm_v1",
    .doc = "Batch normalization: output = gamma (data - mean) / sqrt(var + eps) + beta for each channel. In training, "
           "mean and var are those of the batch, and a forward pass updates moving = momentum moving + (1 - momentum) "
           "batch; otherwise they are moving_mean and moving_var. The output var is 1 / sqrt(var + eps)",
    .params = bn_schema,
    .param_size = sizeof(mxci_bn_ranged_params),
    .channels_last = bn_channels_last,
    .norm = bn_norm,
    .forward = {[MXC_CPU] = bn_forward},
};

const mxc_op_def mxci_op_batch_norm_relu = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_BatchNormWithReLU",
    .doc = "Batch normalization and ReLU: output = max(BatchNorm(data), 0)",
    .flags = MXC_OP_SAMPLEWISE,
    .params = bn_schema,
    .param_size = sizeof(mxci_bn_ranged_params),
    .args = "data,gamma,beta",
    .outputs = "output,mean,var",
    .aux = "moving_mean,moving_var",
    .n_visible = bn_visible,
    .infer_shape = bn_infer,
    .infer_type = bn_infer_type,
    .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1 << OUT, .in = 1 << DATA | 1 << GAMMA, .out = 1 << OUT | 1 << MEAN | 1 << VAR},
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(DATA), OUT}, MXC_INPLACE_END},
    .channels_last = bn_channels_last,
    .temp_bytes = bn_relu_temp_bytes,
    .forward = {[MXC_CPU] = bn_relu_forward},
    .backward = {[MXC_CPU] = bn_relu_backward},
};

const mxc_op_def mxci_op_sync_batch_norm = {
    COMMON,
    .name = "_contrib_SyncBatchNorm",
    .doc = "BatchNorm with statistics over the batches of all devices, of which only one is supported: a training pass "
           "with ndev above 1 is an error",
    .params = sync_schema,
    .param_size = sizeof(mxci_sync_bn_params),
    .forward = {[MXC_CPU] = sync_forward},
};
