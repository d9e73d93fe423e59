/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pooling: out[n,c,p] = maximum, average, sum or p-norm of data[n,c] over a window that starts at stride p - pad.
 *
 * data (N,C,spatial), out (N,C,spatial'), one to three spatial axes. spatial' = 1 + (spatial + 2 pad - kernel) /
 * stride, rounded down ("valid") or up ("full"), or spatial / stride, rounded up ("same", without pad); global_pool
 * takes the whole plane. Windows are cut to the input; an average divides by the window cut to input and padding, or
 * to the input alone (count_include_pad=False); a window without elements gives 0. lp is the root number p_value of the
 * sum of the elements' powers, signs kept. The gradient of a maximum goes to the first of equal elements, found again
 * by comparison: no indices are stored. With channels last, forward goes along the channels, and backward is computed
 * through copies.
 */
#include "operator/nn/pooling.h"

#include "base/text.h"

typedef mxci_pooling_params pooling_params;

const mxc_param mxci_pooling_schema[] = {
    {MXC_PARAM_FIELD(pooling_params, global_pool), .name = "global_pool", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "Use one window over all spatial axes; kernel, stride and pad are ignored."},
    {MXC_PARAM_FIELD(pooling_params, cudnn_off), .name = "cudnn_off", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "Accepted for compatibility with MXNet; has no effect."},
    {MXC_PARAM_FIELD(pooling_params, kernel), .name = "kernel", .type = MXC_PARAM_TUPLE, .initial = "()", .bounded = 1,
     .minimum = 1, .maximum = 2147483647.0,
     .doc = "Window size of each spatial axis: (w), (h,w) or (d,h,w). Not needed with global_pool."},
    {MXC_PARAM_FIELD(pooling_params, pool_type), .name = "pool_type", .type = MXC_PARAM_ENUM, .initial = "max",
     .choices = "max,avg,sum,lp", .doc = "Function of a window: maximum, average, sum, or with lp the p-norm."},
    {MXC_PARAM_FIELD(pooling_params, pooling_convention), .name = "pooling_convention", .type = MXC_PARAM_ENUM,
     .initial = "valid", .choices = "full,valid,same",
     .doc = "Rounding of the output size: valid rounds down, full rounds up, same gives the size of data divided by "
            "stride, rounded up."},
    {MXC_PARAM_FIELD(pooling_params, stride), .name = "stride", .type = MXC_PARAM_TUPLE, .initial = "()", .bounded = 1,
     .minimum = 1, .maximum = 2147483647.0, .doc = "Stride along each spatial axis. (): 1."},
    {MXC_PARAM_FIELD(pooling_params, pad), .name = "pad", .type = MXC_PARAM_TUPLE, .initial = "()", .bounded = 1,
     .minimum = 0, .maximum = 2147483647.0, .doc = "Padding at both ends of each spatial axis. (): 0."},
    {MXC_PARAM_FIELD(pooling_params, count_include_pad), .name = "count_include_pad", .type = MXC_PARAM_BOOL,
     .initial = "None", .optional = 1, .doc = "Count the padding in the divisor of an average. None: True."},
    {MXC_PARAM_FIELD(pooling_params, p_value), .name = "p_value", .type = MXC_PARAM_INT, .initial = "None",
     .optional = 1, .bounded = 1, .minimum = 1, .maximum = 3,
     .doc = "Order p of the norm with pool_type=lp: 1, 2 or 3."},
    {MXC_PARAM_FIELD(pooling_params, layout), .name = "layout", .type = MXC_PARAM_ENUM, .initial = "None",
     .choices = "NCW,NCHW,NCDHW,NWC,NHWC,NDHWC", .optional = 1,
     .doc = "Order of the axes of data and output: channels second or channels last. None: channels second."},
    MXC_PARAM_END,
};

enum { FULL, VALID, SAME };

static mxc_status check_kind(const pooling_params *p) {
    if (p->pool_type == MXCI_POOL_LP && p->p_value == MXC_PARAM_UNSET)
        return MXC_FAIL(MXC_EINVAL, "Pooling: pool_type lp needs p_value, 1 to 3");
    for (int i = 0; i < p->pad.n && p->pooling_convention == SAME; i++)
        if (p->pad.value[i] != 0)
            return MXC_FAIL(MXC_EINVAL, "Pooling: pad is %lld with pooling_convention same, expected 0",
                            (long long)p->pad.value[i]);
    return MXC_OK;
}

/* A global pooling without a kernel has as many axes as the layout or the data says. */
static mxc_status check_global(pooling_params *p) {
    if (!p->global_pool)
        return MXC_FAIL(MXC_EINVAL, "Pooling: kernel is missing, which only global_pool can do without");
    p->stride.n = p->pad.n = 0;
    return check_kind(p);
}

/* Completes stride by 1 and pad by 0. An empty kernel is for global pooling only. */
mxc_status mxci_pooling_check(void *params) {
    pooling_params *p = params;
    int n = p->kernel.n;
    if (n == 0)
        return check_global(p);
    if (n < 1 || n > 3)
        return MXC_FAIL(MXC_EINVAL, "Pooling: kernel has %d entries, expected 1 to 3", n);
    if (p->stride.n != 0 && p->stride.n != n)
        return MXC_FAIL(MXC_EINVAL, "Pooling: stride has %d entries, kernel has %d", p->stride.n, n);
    if (p->pad.n != 0 && p->pad.n != n)
        return MXC_FAIL(MXC_EINVAL, "Pooling: pad has %d entries, kernel has %d", p->pad.n, n);
    if (p->layout >= 0 && p->layout != n - 1 && p->layout != n + 2)
        return MXC_FAIL(MXC_EINVAL, "Pooling: the layout is not one of the kernel's %d axes", n);
    for (int i = p->stride.n; i < n; i++)
        p->stride.value[i] = 1;
    for (int i = p->pad.n; i < n; i++)
        p->pad.value[i] = 0;
    p->stride.n = p->pad.n = n;
    return check_kind(p);
}

/* The output size of spatial axis i by pooling_convention; -1 where in is not known. */
static mxc_status pooling_infer_axis(mxc_op_sig *sig, int i, int64_t in, int64_t *out) {
    const pooling_params *p = sig->params;
    int64_t padded, kernel = p->kernel.value[i], stride = p->stride.value[i];
    *out = p->global_pool ? 1 : -1;
    if (p->global_pool || in < 0)
        return MXC_OK;
    padded = in + 2 * p->pad.value[i];
    if (p->pooling_convention == SAME)
        *out = in / stride + (in % stride > 0);
    else if (padded < kernel)
        return mxc_sig_fail(sig,
                            "argument 'data': spatial axis %d has %lld elements with padding, fewer than the kernel's "
                            "%lld",
                            i, (long long)padded, (long long)kernel);
    else
        *out = 1 + (padded - kernel + (p->pooling_convention == FULL ? stride - 1 : 0)) / stride;
    return MXC_OK;
}

/* How many axes the arrays have; -1: not known yet. */
static mxc_status count_axes(const mxc_op_sig *sig, int *ndim) {
    const pooling_params *p = sig->params;
    *ndim = p->kernel.n > 0 ? p->kernel.n + 2 : p->layout >= 0 ? p->layout % 3 + 3 : sig->in_shape[0].ndim;
    if (*ndim < 0)
        *ndim = sig->out_shape[0].ndim;
    if (*ndim >= 0 && (*ndim < 3 || *ndim > 5))
        return mxc_sig_fail(sig, "argument 'data': expected 3 to 5 axes, found %d", *ndim);
    return MXC_OK;
}

/* Sizes of the batch and the channels go both ways, those of the spatial axes only from data to out. */
mxc_status mxci_pooling_infer(mxc_op_sig *sig) {
    const pooling_params *p = sig->params;
    int ndim, channels_last = mxci_pooling_channels_last(p), channels;
    mxc_shape data, out;
    MXC_TRY(count_axes(sig, &ndim));
    if (ndim < 0)
        return MXC_OK;
    channels = mxci_channel_axis(channels_last, ndim);
    data = out = mxci_shape_axes(ndim);
    MXC_TRY(mxc_sig_set_shape(sig, 0, &data));
    data = sig->in_shape[0];
    out.dim[0] = data.dim[0];
    out.dim[channels] = data.dim[channels];
    for (int i = 0; i < ndim - 2; i++) {
        int axis = mxci_spatial_axis(channels_last, i);
        MXC_TRY(pooling_infer_axis(sig, i, data.dim[axis], &out.dim[axis]));
    }
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
    sig->in_shape[0].dim[0] = sig->out_shape[0].dim[0];
    sig->in_shape[0].dim[channels] = sig->out_shape[0].dim[channels];
    return MXC_OK;
}

/* Sums and averages differentiate without data; the maximum looks for it in data by comparison with the output. */
static void pooling_needs(const void *params, mxc_op_needs *needs) {
    const pooling_params *p = params;
    uint64_t reads = p->pool_type == MXCI_POOL_MAX || (p->pool_type == MXCI_POOL_LP && p->p_value > 1);
    *needs = (mxc_op_needs){.out_grad = 1, .in = reads, .out = reads};
}

/* ---- running --------------------------------------------------------------------------------------------------- */

typedef struct pooling_run {
    mxci_pool_shape shape;
    const mxc_op_call *call;
    int64_t in, out; /* elements of a plane */
} pooling_run;

static pooling_run pooling_open_run(const mxc_op_call *call) {
    const mxc_shape *data = &call->in[0].shape, *out = &call->out[0].shape;
    return (pooling_run){.shape = mxci_pooling_shape(call->params, data, out),
                         .call = call,
                         .in = mxci_shape_count(data, 2, data->ndim),
                         .out = mxci_shape_count(out, 2, out->ndim)};
}

/* Planes (sample, channel) begin..end-1; r->in and r->out are the elements of one. */
static void pooling_forward_part(void *arg, int64_t begin, int64_t end, int part) {
    const pooling_run *r = arg;
    const mxc_tensor *x = &r->call->in[0], *y = &r->call->out[0];
    int add = r->call->req[0] == MXC_REQ_ADD;
    (void)part;
    for (int64_t i = begin; i < end; i++) {
        if (x->dtype == MXC_F32)
            mxci_pool_forward_f32(&r->shape, add, mxci_at(x, i * r->in), mxci_at(y, i * r->out));
        else
            mxci_pool_forward_f64(&r->shape, add, mxci_at(x, i * r->in), mxci_at(y, i * r->out));
    }
}

/* The same for the gradient; windows of a plane may overlap, so a plane is not split. */
static void pooling_backward_part(void *arg, int64_t begin, int64_t end, int part) {
    const pooling_run *r = arg;
    const mxc_op_call *call = r->call;
    const mxc_tensor *dy = &call->out_grad[0], *x = &call->in[0], *y = &call->out[0], *dx = &call->in_grad[0];
    int add = call->req[0] == MXC_REQ_ADD;
    (void)part;
    for (int64_t i = begin; i < end; i++) {
        int64_t in = i * r->in, out = i * r->out;
        if (dx->dtype == MXC_F32)
            mxci_pool_backward_f32(&r->shape, add, mxci_at(dy, out), mxci_at(x, in), mxci_at(y, out), mxci_at(dx, in));
        else
            mxci_pool_backward_f64(&r->shape, add, mxci_at(dy, out), mxci_at(x, in), mxci_at(y, out), mxci_at(dx, in));
    }
}

static mxc_status run_planes(const mxc_op_call *call, mxc_range_fn part) {
    pooling_run r = pooling_open_run(call);
    const mxc_shape *data = &call->in[0].shape;
    if (r.in == 0) /* only padding, forward */
        mxci_assign_constant(call->run, call->req[0], &call->out[0], 0);
    else if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for_dynamic(call->run, data->dim[0] * data->dim[1], MXCI_GRAIN / (r.in + r.out + 1) + 1, part, &r);
    return MXC_OK;
}

/* Forward with channels last: the channels of a row of outputs, or a few of them where there are few rows. */
typedef struct pooling_last_run {
    mxci_pool_shape shape;
    const mxc_op_call *call;
    int64_t channels, width; /* all, and those of a unit of work */
    int64_t in, out, rows;   /* elements of a sample, and its rows of outputs */
} pooling_last_run;

/* Units begin..end-1, each `width` channels of one row of outputs. */
static void pooling_last_part(void *arg, int64_t begin, int64_t end, int part) {
    const pooling_last_run *r = arg;
    const mxc_tensor *x = &r->call->in[0], *y = &r->call->out[0];
    const int64_t units = (r->channels + r->width - 1) / r->width;
    mxci_pool_last piece = {.channels = r->channels, .add = r->call->req[0] == MXC_REQ_ADD};
    (void)part;
    for (int64_t i = begin; i < end; i++) {
        const int64_t sample = i / units / r->rows;
        piece.row = i / units % r->rows;
        piece.begin = i % units * r->width;
        piece.end = piece.begin + r->width < r->channels ? piece.begin + r->width : r->channels;
        if (x->dtype == MXC_F32)
            mxci_pool_last_f32(&r->shape, &piece, mxci_at(x, sample * r->in), mxci_at(y, sample * r->out));
        else
            mxci_pool_last_f64(&r->shape, &piece, mxci_at(x, sample * r->in), mxci_at(y, sample * r->out));
    }
}

static mxc_status run_channels_last(const mxc_op_call *call) {
    enum { FEW_ROWS = 16, FEW_CHANNELS = 64 };
    const mxc_shape *data = &call->in[0].shape, *out = &call->out[0].shape;
    const int64_t samples = data->dim[0], channels = data->dim[data->ndim - 1];
    pooling_last_run r = {.shape = mxci_pooling_shape(call->params, data, out),
                          .call = call,
                          .channels = channels,
                          .in = mxci_shape_count(data, 1, data->ndim),
                          .out = mxci_shape_count(out, 1, out->ndim)};
    int64_t window = 1;
    for (int i = 0; i < 3; i++)
        window *= r.shape.kernel[i] < r.shape.in[i] ? r.shape.kernel[i] : r.shape.in[i];
    window = window < MXCI_GRAIN ? window : MXCI_GRAIN;
    r.rows = r.shape.out[0] * r.shape.out[1];
    r.width = samples * r.rows < FEW_ROWS && channels > FEW_CHANNELS ? FEW_CHANNELS : channels;
    if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for_dynamic(call->run, samples * r.rows * ((channels + r.width - 1) / r.width),
                                 MXCI_GRAIN / (r.width * r.shape.out[2] * (window + 3) / 4 + 1) + 1, pooling_last_part,
                                 &r);
    return MXC_OK;
}

static mxc_status pooling_forward(const mxc_op_call *call) {
    return mxci_pooling_channels_last(call->params) ? run_channels_last(call) : run_planes(call, pooling_forward_part);
}

static mxc_status pooling_backward(const mxc_op_call *call) {
    return run_planes(call, pooling_backward_part);
}

static int to_channels_second(const void *params, mxc_pass pass, void *out) {
    pooling_params *to = out;
    *to = *(const pooling_params *)params;
    to->layout = -1;
    return pass == MXC_BACKWARD && mxci_pooling_channels_last(params);
}

/* ---- what passes ask -------------------------------------------------------------------------------------------- */

static int pooling_channels_last(const mxc_op *op, int ndim, mxc_channels_last *out) {
    *out = (mxc_channels_last){.key = "layout"};
    mxci_format(out->value, sizeof out->value, "%s", ndim == 4 ? "NHWC" : "NDHWC");
    return !mxci_pooling_channels_last(mxc_op_params(op));
}

static int pooling_quantized(const mxc_op *op, mxc_quantized *out) {
    const pooling_params *p = mxc_op_params(op);
    *out = (mxc_quantized){.op = "_contrib_quantized_pooling"};
    return p->pool_type != MXCI_POOL_SUM &&
           !mxci_pooling_channels_last(p); /* the counterpart takes channels second only */
}

const mxc_op_def mxci_op_pooling = {
    .size = sizeof(mxc_op_def),
    .name = "Pooling",
    .aliases = "Pooling_v1",
    .doc = "output[n,c,p] = maximum, average, sum or p-norm of data[n,c] over the window at stride p - pad, for one to "
           "three spatial axes; data (N,C,...), or (N,...,C) with channels last. Averages divide by the part of the "
           "window within data and padding",
    .flags = MXC_OP_SAMPLEWISE,
    .params = mxci_pooling_schema,
    .param_size = sizeof(pooling_params),
    .params_check = mxci_pooling_check,
    .infer_shape = mxci_pooling_infer,
    .dtypes = MXC_DTYPES_FLOAT,
    .cpu_dtypes = MXC_DTYPES_REAL,
    .to_channels_second = to_channels_second,
    .backward_needs = pooling_needs,
    .channels_last = pooling_channels_last,
    .quantized = pooling_quantized,
    .forward = {[MXC_CPU] = pooling_forward},
    .backward = {[MXC_CPU] = pooling_backward},
};
