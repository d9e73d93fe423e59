/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UpSampling: images enlarged by integer factors. nearest: each element becomes a square of equal ones. Arguments
 * (N,C,h,w), out (N,C,H,W): H and W are those of the first argument times scale, and the others are enlarged to them by
 * factors of their own. Several arguments are put side by side along the channels (concat) or added up (sum).
 * bilinear: data (N,C,h,w), weight (C,1,k,k), out (N,C,H,W) is a Deconvolution of each channel by its own kernel of
 * k = 2 scale - scale % 2, which the initializer "bilinear" sets to interpolation.
 */
#include "base/check.h"
#include "base/text.h"
#include "math/assign.h"
#include "operator/converted_call.h"
#include "operator/infer.h"
#include "operator/nn/upsampling_kernels.h"
#include "operator/vision/vision.h"

extern const mxc_op_def mxci_op_deconvolution;

typedef mxci_upsampling_params upsampling_params;

enum { DATA, WEIGHT };
enum { ROWS_AT_ONCE = 16 }; /* of arguments that one pass of a sum adds up */

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(upsampling_params, scale), .name = "scale", .type = MXC_PARAM_INT, .bounded = 1, .minimum = 1,
     .maximum = 1000, .doc = "Scale factor of height and width of the first argument."},
    {MXC_PARAM_FIELD(upsampling_params, num_filter), .name = "num_filter", .type = MXC_PARAM_INT, .initial = "0",
     .bounded = 1, .minimum = 0, .maximum = 9e15,
     .doc = "Number of channels of data. Only used with sample_type=bilinear."},
    {MXC_PARAM_FIELD(upsampling_params, sample_type), .name = "sample_type", .type = MXC_PARAM_ENUM,
     .choices = "nearest,bilinear",
     .doc = "Interpolation. nearest repeats each element; bilinear computes a Deconvolution with the argument weight."},
    {MXC_PARAM_FIELD(upsampling_params, multi_input_mode), .name = "multi_input_mode", .type = MXC_PARAM_ENUM,
     .initial = "concat", .choices = "concat,sum",
     .doc = "How several arguments are combined: concatenated along the channels, or summed."},
    {MXC_PARAM_FIELD(upsampling_params, num_args), .name = "num_args", .type = MXC_PARAM_INT, .bounded = 1,
     .minimum = 1, .maximum = 65536, .doc = "Number of arguments."},
    {MXC_PARAM_FIELD(upsampling_params, workspace), .name = "workspace", .type = MXC_PARAM_INT, .initial = "512",
     .bounded = 1, .minimum = 0, .maximum = 8192, .doc = "Accepted for compatibility with MXNet; has no effect."},
    MXC_PARAM_END,
};

static int is_bilinear(const void *params) {
    return ((const upsampling_params *)params)->sample_type == MXCI_UPSAMPLING_BILINEAR;
}

static mxc_status upsampling_check_params(void *params) {
    if (is_bilinear(params) && ((const upsampling_params *)params)->num_filter < 1)
        return MXC_FAIL(MXC_EINVAL, "UpSampling: sample_type bilinear needs num_filter, the channels of data");
    return MXC_OK;
}

static const char *args_of(const void *params) {
    return is_bilinear(params) ? "data,weight" : NULL;
}

static void upsampling_backward_needs(const void *params, mxc_op_needs *needs) {
    if (is_bilinear(params))
        needs->in = 1 << DATA | 1 << WEIGHT;
}

/* ---- bilinear: a deconvolution ----------------------------------------------------------------------------------- */

/* Its parameters, which only Deconvolution's schema reads and writes. */
typedef struct deconv_params {
    _Alignas(16) char bytes[1024];
} deconv_params;

/* The Deconvolution that interpolates by scale: kernel 2 scale - scale % 2, stride scale, pad scale / 2, one group per
 * channel. */
static mxc_status set_deconv(const upsampling_params *p, deconv_params *out) {
    static const char *const keys[] = {"kernel", "stride", "pad", "num_filter", "num_group", "no_bias"};
    char text[4][64];
    const int64_t size[3] = {2 * p->scale - p->scale % 2, p->scale, p->scale / 2};
    const char *values[6] = {text[0], text[1], text[2], text[3], text[3], "True"};
    MXCI_ASSERT(mxci_op_deconvolution.param_size <= sizeof *out);
    for (int i = 0; i < 3; i++)
        mxci_format(text[i], sizeof text[i], "(%lld,%lld)", (long long)size[i], (long long)size[i]);
    mxci_format(text[3], sizeof text[3], "%lld", (long long)p->num_filter);
    MXC_TRY(mxc_params_parse("UpSampling", mxci_op_deconvolution.params, 6, keys, values, out));
    return mxci_op_deconvolution.params_check(out);
}

static mxc_status infer_bilinear(mxc_op_sig *sig) {
    mxc_shape data = mxci_shape_axes(4);
    mxc_op_sig deconv = *sig;
    deconv_params params;
    data.dim[1] = ((const upsampling_params *)sig->params)->num_filter;
    MXC_TRY(mxc_sig_set_shape(sig, DATA, &data));
    MXC_TRY(set_deconv(sig->params, &params));
    deconv.params = &params;
    return mxci_op_deconvolution.infer_shape(&deconv);
}

static size_t upsampling_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    mxc_op_sig deconv = *sig;
    deconv_params params;
    if (!is_bilinear(sig->params) || set_deconv(sig->params, &params) != MXC_OK)
        return 0; /* then inference has failed */
    deconv.params = &params;
    if (mxc_dtype_size(sig->in_type[0]) == 2)
        return mxci_f32_temp(&deconv, pass, mxci_op_deconvolution.temp_bytes);
    return mxci_op_deconvolution.temp_bytes(&deconv, pass);
}

/* Deconvolution's function on the same arrays, which are data, weight and output there too; 16-bit arrays through f32
 * copies. */
static mxc_status run_bilinear(const mxc_op_call *call, mxc_pass pass, mxc_op_compute_fn compute) {
    mxc_op_call deconv = *call;
    deconv_params params;
    MXC_TRY(set_deconv(call->params, &params));
    deconv.params = &params;
    if (mxc_dtype_size(call->in[0].dtype) == 2)
        return mxci_f32_run(&deconv, pass, compute);
    return compute(&deconv);
}

/* ---- inference --------------------------------------------------------------------------------------------------- */

/* The sizes of out and of the first argument follow from each other. */
static mxc_status upsampling_infer_sizes(mxc_op_sig *sig, mxc_shape *out) {
    int64_t scale = ((const upsampling_params *)sig->params)->scale;
    mxc_shape first = sig->in_shape[0];
    for (int i = 2; i < 4; i++) {
        if (first.dim[i] >= 0)
            out->dim[i] = mxci_dim_mul(first.dim[i], scale);
        else if (out->dim[i] >= 0 && out->dim[i] % scale)
            return mxc_sig_fail(sig, "output: axis %d has %lld elements, expected a multiple of %lld", i,
                                (long long)out->dim[i], (long long)scale);
        else
            first.dim[i] = out->dim[i] < 0 ? -1 : out->dim[i] / scale;
    }
    return mxc_sig_set_shape(sig, 0, &first);
}

/* Every argument is enlarged by one factor in both directions. */
static mxc_status check_factor(const mxc_op_sig *sig, int i, const mxc_shape *out) {
    const int64_t *in = sig->in_shape[i].dim, *full = out->dim;
    if (in[2] < 0 || in[3] < 0 || full[2] < 0 || full[3] < 0 || (full[2] == 0 && in[2] == 0) ||
        (full[3] == 0 && in[3] == 0))
        return MXC_OK;
    if (in[2] && in[3] && full[2] && full[2] % in[2] == 0 && full[3] == full[2] / in[2] * in[3])
        return MXC_OK;
    return mxc_sig_fail(sig, "argument %d: %lld x %lld elements do not become %lld x %lld by one whole factor", i,
                        (long long)in[2], (long long)in[3], (long long)full[2], (long long)full[3]);
}

/* Channels: one number where arguments are added up, else out's is the sum, and one unknown number is what is left. */
static mxc_status infer_channels(mxc_op_sig *sig, mxc_shape *out) {
    int is_sum = ((const upsampling_params *)sig->params)->multi_input_mode == MXCI_UPSAMPLING_SUM;
    int unknown = 0, last = 0;
    int64_t total = 0;
    mxc_shape shape = mxci_shape_axes(4);
    for (int i = 0; i < sig->n_in; i++) {
        int64_t channels = sig->in_shape[i].dim[1];
        total = mxci_dim_add(total, channels < 0 ? 0 : channels);
        unknown += channels < 0;
        last = channels < 0 ? i : last;
        out->dim[1] = is_sum && channels >= 0 ? channels : out->dim[1];
    }
    shape.dim[1] = out->dim[1];
    for (int i = 0; i < sig->n_in && is_sum; i++)
        MXC_TRY(mxc_sig_set_shape(sig, i, &shape));
    if (is_sum || unknown > 1 || (unknown && out->dim[1] < 0))
        return MXC_OK;
    shape.dim[1] = unknown ? out->dim[1] - total : total;
    if (shape.dim[1] < 0)
        return mxc_sig_fail(sig, "output: axis 1 has %lld elements, fewer than the %lld of the arguments",
                            (long long)out->dim[1], (long long)total);
    return mxc_sig_set_shape(sig, unknown ? last : MXC_SLOT_OUT(0), &shape);
}

static mxc_status upsampling_infer_shape(mxc_op_sig *sig) {
    mxc_shape samples = mxci_shape_axes(4), out;
    if (is_bilinear(sig->params))
        return infer_bilinear(sig);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i <= sig->n_in; i++) {
            int slot = i < sig->n_in ? i : MXC_SLOT_OUT(0);
            MXC_TRY(mxc_sig_set_shape(sig, slot, &samples));
            samples.dim[0] = mxci_sig_shape(sig, slot)->dim[0];
        }
    out = sig->out_shape[0];
    MXC_TRY(upsampling_infer_sizes(sig, &out));
    MXC_TRY(infer_channels(sig, &out));
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
    for (int i = 0; i < sig->n_in; i++)
        MXC_TRY(check_factor(sig, i, &out));
    return MXC_OK;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

typedef struct upsampling_run {
    const mxc_op_call *call;
    int first, n;    /* forward: the arguments that are added up; backward: the argument */
    int64_t channel; /* of out where they begin */
    int add;
} upsampling_run;

/* The factor by which argument i is enlarged. */
static int64_t factor(const mxc_op_call *call, int i) {
    int64_t in = call->in[i].shape.dim[2];
    return in ? call->out[0].shape.dim[2] / in : 1;
}

/* The number of out's row that row (n, c, y) of channels channels, each height high, stands on from channel on. */
static int64_t row_in_out(const upsampling_run *r, int64_t row, int64_t channels, int64_t height) {
    const mxc_shape *out = &r->call->out[0].shape;
    int64_t n = row / (channels * height), c = row / height % channels, y = row % height;
    return (n * out->dim[1] + r->channel + c) * out->dim[2] + y * (out->dim[2] / height);
}

/* Rows begin..end-1 of the part of out that the arguments fill. */
static void upsampling_forward_part(void *arg, int64_t begin, int64_t end, int part) {
    const upsampling_run *r = arg;
    const mxc_op_call *call = r->call;
    const mxc_tensor *out = &call->out[0];
    int64_t height = out->shape.dim[2], width = out->shape.dim[3], channels = call->in[r->first].shape.dim[1];
    const void *rows[ROWS_AT_ONCE];
    int64_t scale[ROWS_AT_ONCE];
    (void)part;
    for (int64_t row = begin; row < end; row++) {
        for (int i = 0; i < r->n; i++) {
            const mxc_tensor *in = &call->in[r->first + i];
            scale[i] = factor(call, r->first + i);
            rows[i] = mxci_at(in, (row / height * in->shape.dim[2] + row % height / scale[i]) * in->shape.dim[3]);
        }
        mxci_upsample[out->dtype](r->n, rows, scale, r->add, mxci_at(out, row_in_out(r, row, channels, height) * width),
                                  width);
    }
}

static mxc_status upsampling_forward(const mxc_op_call *call) {
    int is_sum = ((const upsampling_params *)call->params)->multi_input_mode == MXCI_UPSAMPLING_SUM;
    upsampling_run r = {.call = call, .add = call->req[0] == MXC_REQ_ADD};
    const mxc_shape *out = &call->out[0].shape;
    if (is_bilinear(call->params))
        return run_bilinear(call, MXC_FORWARD, mxci_op_deconvolution.forward[MXC_CPU]);
    if (call->req[0] == MXC_REQ_NULL || mxci_tensor_size(&call->out[0]) == 0)
        return MXC_OK;
    for (; r.first < call->n_in; r.first += r.n) {
        int64_t channels = call->in[r.first].shape.dim[1];
        r.n = !is_sum ? 1 : call->n_in - r.first < ROWS_AT_ONCE ? call->n_in - r.first : ROWS_AT_ONCE;
        mxc_parallel_for(call->run, out->dim[0] * channels * out->dim[2], MXCI_GRAIN / out->dim[3] + 1,
                         upsampling_forward_part, &r);
        r.channel += is_sum ? 0 : channels;
        r.add |= is_sum;
    }
    return MXC_OK;
}

/* Rows begin..end-1 of an argument's gradient. */
static void upsampling_backward_part(void *arg, int64_t begin, int64_t end, int part) {
    const upsampling_run *r = arg;
    const mxc_tensor *g = &r->call->out_grad[0], *dx = &r->call->in_grad[r->first];
    const int64_t *dim = dx->shape.dim, step = g->shape.dim[3];
    (void)part;
    for (int64_t row = begin; row < end; row++)
        mxci_upsample_grad[dx->dtype](mxci_at(g, row_in_out(r, row, dim[1], dim[2]) * step), factor(r->call, r->first),
                                      step, r->add, mxci_at(dx, row * dim[3]), dim[3]);
}

static mxc_status upsampling_backward(const mxc_op_call *call) {
    int is_sum = ((const upsampling_params *)call->params)->multi_input_mode == MXCI_UPSAMPLING_SUM;
    upsampling_run r = {.call = call};
    if (is_bilinear(call->params))
        return run_bilinear(call, MXC_BACKWARD, mxci_op_deconvolution.backward[MXC_CPU]);
    for (; r.first < call->n_in; r.first++) {
        const int64_t *dim = call->in[r.first].shape.dim;
        int64_t scale = factor(call, r.first);
        r.add = call->req[r.first] == MXC_REQ_ADD;
        if (mxci_is_wanted(call->req[r.first], &call->in_grad[r.first]))
            mxc_parallel_for(call->run, dim[0] * dim[1] * dim[2], MXCI_GRAIN / (dim[3] * scale * scale) + 1,
                             upsampling_backward_part, &r);
        r.channel += is_sum ? 0 : dim[1];
    }
    return MXC_OK;
}

const mxc_op_def mxci_op_upsampling = {
    .size = sizeof(mxc_op_def),
    .name = "UpSampling",
    .doc = "Upsampling: the arguments (N,C,h,w) are enlarged to scale times the size of the first one and concatenated "
           "along the channels or summed; with sample_type=bilinear, a Deconvolution of each channel of data (N,C,h,w) "
           "with weight (C,1,k,k), k = 2 scale - scale % 2",
    .params = schema,
    .param_size = sizeof(upsampling_params),
    .params_check = upsampling_check_params,
    .variadic = "num_args",
    .args_of = args_of,
    .infer_shape = upsampling_infer_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1},
    .backward_needs = upsampling_backward_needs,
    .temp_bytes = upsampling_temp_bytes,
    .forward = {[MXC_CPU] = upsampling_forward},
    .backward = {[MXC_CPU] = upsampling_backward},
};
