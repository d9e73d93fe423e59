/* SPDX-License-Identifier: Apache-2.0 */
/*
 * _quantized_fused_conv, one 8-bit layer as MXNet fuses it for oneDNN: Convolution, BatchNorm, a relu, the addition of
 * quantized data and another relu, of int8 or uint8 data and float32 weights.
 *
 *   z = act(gamma (Convolution(data, weight, bias) - mean) / sqrt(var + eps) + beta),   y = sum_act(z + sum)
 *
 * BatchNorm is folded into weight and bias; then each filter's weights are quantized with a unit of their own, and the
 * bias with that of the filter's sums, which are of 32 bits. They are scaled, clipped, added to the summand and rounded
 * once, tile by tile, so sums of the whole image never stand in memory. Where the output has no calibrated range,
 * all filters share a unit, and the sums are output 0.
 *
 * Weights are quantized in each run, which takes about as long as one product of each with 10 pixels.
 */
#include "base/text.h"
#include "math/tile_kernels.h"
#include "operator/quantized/quantize_kernels.h"
#include "operator/quantized/quantized_conv.h"

enum { DATA, WEIGHT };
enum { AUX_MEAN, AUX_VAR };

/* In place of a unit of 0 of data that is 0, so that sums, which are the bias then, have one. */
#define LEAST_UNIT 1e-30

typedef struct fused_params {
    mxci_conv_params conv; /* first: what mxci_conv_infer reads */
    mxci_calib calib;
    double eps, act_slope, act_max; /* act_max: NaN where not given */
    int32_t with_bn, fix_gamma, with_act, with_sum, with_sum_act;
    char names[128];
} fused_params;

#define TUPLE(field, least, text)                                                                                    \
    {                                                                                                                \
        MXC_PARAM_FIELD(fused_params, conv.field), .name = #field, .type = MXC_PARAM_TUPLE, .initial = "()",         \
                                                   .bounded = 1, .minimum = least, .maximum = INT32_MAX, .doc = text \
    }
#define FLAG(field, text) \
    { MXC_PARAM_FIELD(fused_params, field), .name = #field, .type = MXC_PARAM_BOOL, .initial = "False", .doc = text }

static const mxc_param fused_schema[] = {
    {MXC_PARAM_FIELD(fused_params, conv.kernel), .name = "kernel", .type = MXC_PARAM_TUPLE, .bounded = 1, .minimum = 1,
     .maximum = INT32_MAX, .doc = "Kernel size of each spatial axis: (w), (h,w) or (d,h,w)."},
    TUPLE(stride, 1, "Stride along each spatial axis. (): 1."),
    TUPLE(dilate, 1, "Dilation, the distance between neighbouring kernel elements. (): 1."),
    TUPLE(pad, 0, "Zero padding at both ends of each spatial axis. (): 0."),
    {MXC_PARAM_FIELD(fused_params, conv.num_filter), .name = "num_filter", .type = MXC_PARAM_INT, .bounded = 1,
     .minimum = 1, .maximum = 100000, .doc = "Number of filters, the channels of the output."},
    {MXC_PARAM_FIELD(fused_params, conv.num_group), .name = "num_group", .type = MXC_PARAM_INT, .initial = "1",
     .bounded = 1, .minimum = 1, .maximum = 100000,
     .doc = "Number of groups of channels that are convolved separately."},
    {MXC_PARAM_FIELD(fused_params, conv.no_bias), .name = "no_bias", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "Leave out the argument bias."},
    FLAG(with_bn, "Normalize by the arguments gamma and beta and the auxiliary states mean and var."),
    {MXC_PARAM_FIELD(fused_params, eps), .name = "eps", .type = MXC_PARAM_FLOAT, .initial = "0.001", .bounded = 1,
     .minimum = 0, .maximum = 1e30, .doc = "Added to var, for stability."},
    {MXC_PARAM_FIELD(fused_params, fix_gamma), .name = "fix_gamma", .type = MXC_PARAM_BOOL, .initial = "True",
     .doc = "Use 1 in place of gamma."},
    FLAG(with_act, "Apply act, max(x, 0) or what act_slope and act_max make of it."),
    {MXC_PARAM_FIELD(fused_params, act_slope), .name = "act_slope", .type = MXC_PARAM_FLOAT, .initial = "0",
     .bounded = 1, .minimum = -1e30, .maximum = 1e30, .doc = "What act multiplies negative numbers by."},
    {MXC_PARAM_FIELD(fused_params, act_max), .name = "act_max", .type = MXC_PARAM_FLOAT, .initial = "None",
     .optional = 1, .doc = "Upper limit of what act gives. None: there is none."},
    FLAG(with_sum, "Add the argument sum."),
    FLAG(with_sum_act, "Apply sum_act, max(x, 0)."),
    MXCI_CALIB_SCHEMA(fused_params, calib),
    MXC_PARAM_END,
};

/* Where the optional arguments are; -1: nowhere. */
typedef struct fused_slots {
    int bias, gamma, beta, sum, bounds, sum_bounds, n;
} fused_slots;

static fused_slots slots_of(const fused_params *p) {
    fused_slots s = {.bias = -1, .gamma = -1, .beta = -1, .sum = -1, .sum_bounds = -1, .n = WEIGHT + 1};
    if (!p->conv.no_bias)
        s.bias = s.n++;
    if (p->with_bn) {
        s.gamma = s.n++;
        s.beta = s.n++;
    }
    if (p->with_sum)
        s.sum = s.n++;
    s.bounds = s.n;
    s.n += 2;
    if (p->with_sum) {
        s.sum_bounds = s.n;
        s.n += 2;
    }
    return s;
}

static mxc_status fused_check(void *params) {
    fused_params *p = params;
    mxci_line line = {p->names, sizeof p->names, 0};
    p->conv.layout = p->conv.cudnn_tune = -1;
    MXC_TRY(mxci_conv_check(&p->conv));
    mxci_line_printf(&line, "data,weight%s%s%s,min_data,max_data%s", p->conv.no_bias ? "" : ",bias",
                     p->with_bn ? ",gamma,beta" : "", p->with_sum ? ",sum" : "", p->with_sum ? ",min_sum,max_sum" : "");
    if (p->with_sum_act && !p->with_sum)
        return MXC_FAIL(MXC_EINVAL, "_quantized_fused_conv: with_sum_act needs with_sum");
    return MXC_OK;
}

static int fused_n_args(const void *params) {
    return slots_of(params).n;
}

static const char *fused_names(const void *params) {
    return ((const fused_params *)params)->names;
}

static int fused_n_aux(const void *params) {
    return ((const fused_params *)params)->with_bn ? 2 : 0;
}

/* ---- inference --------------------------------------------------------------------------------------------------- */

static mxc_status fused_infer(mxc_op_sig *sig) {
    const fused_params *p = sig->params;
    const fused_slots s = slots_of(p);
    mxc_shape filters = mxci_shape_of(1, &p->conv.num_filter);
    if (p->with_sum)
        MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){s.sum, MXC_SLOT_OUT(0)}));
    MXC_TRY(mxci_conv_infer(sig));
    if (p->with_sum)
        MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){s.sum, MXC_SLOT_OUT(0)}));
    for (int i = s.gamma; p->with_bn && i <= s.beta; i++)
        MXC_TRY(mxc_sig_set_shape(sig, i, &filters));
    for (int i = 0; i < sig->n_aux; i++)
        MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_AUX(i), &filters));
    return mxci_infer_bounds(sig, s.bounds);
}

/* 8 bits are unsigned where a relu comes last. */
static mxc_dtype out_type(const fused_params *p) {
    if (!mxci_calib_given(&p->calib))
        return MXC_I32;
    return p->with_sum_act || (p->with_act && p->act_slope == 0 && !p->with_sum) ? MXC_U8 : MXC_I8;
}

static mxc_status fused_infer_type(mxc_op_sig *sig) {
    const fused_params *p = sig->params;
    const fused_slots s = slots_of(p);
    mxc_dtype sum = p->with_sum ? sig->in_type[s.sum] : MXC_DTYPE_UNKNOWN;
    if (sum != MXC_DTYPE_UNKNOWN && !(MXCI_DTYPES_QUANTIZED & MXC_DTYPE_BIT(sum)))
        return MXC_FAIL(MXC_EDTYPE, "_quantized_fused_conv: argument 'sum': expected int8 or uint8, found %s",
                        mxc_dtype_name(sum));
    for (int i = WEIGHT; i < s.bounds; i++)
        if (i != s.sum)
            MXC_TRY(mxc_sig_set_type(sig, i, MXC_F32));
    for (int i = 0; i < sig->n_aux; i++)
        MXC_TRY(mxc_sig_set_type(sig, MXC_SLOT_AUX(i), MXC_F32));
    MXC_TRY(mxc_sig_set_type(sig, MXC_SLOT_OUT(0), out_type(p)));
    return mxci_infer_bound_types(sig, s.bounds);
}

/* Scratch: the units of all filters' weights, and that of convolutions. */
static size_t fused_temp(const mxc_op_sig *sig, mxc_pass pass) {
    const fused_params *p = sig->params;
    mxci_scratch s = {0};
    (void)pass;
    mxci_scratch_array(&s, p->conv.num_filter, sizeof(double));
    if (mxc_shape_size(&sig->out_shape[0]) > 0) {
        mxci_int8_conv_plan plan = mxci_int8_conv_measure(&p->conv, &sig->in_shape[DATA], &sig->out_shape[0]);
        mxci_int8_conv_take(&s, &plan, sig->parallelism);
    }
    return s.bytes;
}

/* ---- weights ----------------------------------------------------------------------------------------------------- */

typedef struct fused_run {
    const mxc_op_call *call;
    const fused_params *p;
    fused_slots slots;
    int64_t k; /* weights of a filter */
    mxci_int8_conv conv;
    double data_unit, sum_unit, out_unit; /* out_unit: of 8 bits */
    double *units;                        /* of the filters' weights; before, the largest magnitudes */
} fused_run;

static const float *floats(const fused_run *r, int slot) {
    return r->call->in[slot].data;
}

/* What BatchNorm multiplies a filter by, rounded to float32 as the weights are. */
static float factor_of(const fused_run *r, int64_t f) {
    double gamma = r->p->fix_gamma || !r->p->with_bn ? 1 : (double)floats(r, r->slots.gamma)[f];
    return r->p->with_bn ? (float)(gamma / sqrt((double)((const float *)r->call->aux[AUX_VAR].data)[f] + r->p->eps))
                         : 1;
}

static double bias_of(const fused_run *r, int64_t f) {
    double bias = r->slots.bias < 0 ? 0 : (double)floats(r, r->slots.bias)[f];
    if (!r->p->with_bn)
        return bias;
    return (double)floats(r, r->slots.beta)[f] +
           (double)factor_of(r, f) * (bias - (double)((const float *)r->call->aux[AUX_MEAN].data)[f]);
}

/* The unit of a filter's weights, the largest of which is `most`, so large that the bias is at most half of what 32
 * bits hold. */
static double weight_unit(const fused_run *r, double most, double bias) {
    double unit = most / (r->p->calib.half_steps ? 127.5 : 127);
    double least = fabs(bias) / (INT32_MAX / 2) * mxci_inverse_unit(r->data_unit);
    return least > unit ? least : unit;
}

/* The largest magnitudes of filters begin..end-1. */
static void most_range(void *arg, int64_t begin, int64_t end, int part) {
    const fused_run *r = arg;
    (void)part;
    for (int64_t f = begin; f < end; f++)
        r->units[f] = (double)(mxci_int8_most(r->k, floats(r, WEIGHT) + f * r->k) * fabsf(factor_of(r, f)));
}

static void quantize_range(void *arg, int64_t begin, int64_t end, int part) {
    const fused_run *r = arg;
    int64_t step = r->conv.plan->step;
    (void)part;
    for (int64_t f = begin; f < end; f++) {
        double unit = r->units[f] * r->data_unit, bias = bias_of(r, f) * mxci_inverse_unit(unit);
        mxci_int8_round(r->k, floats(r, WEIGHT) + f * r->k, factor_of(r, f), (float)mxci_inverse_unit(r->units[f]),
                        step, r->conv.weight + f * step);
        r->conv.bias[f] = bias >= INT32_MIN && bias <= INT32_MAX ? (int32_t)rint(bias) : 0; /* NaN, too */
    }
}

static int64_t grain_of(const fused_run *r) {
    return MXCI_GRAIN / (r->k + 1) + 1;
}

/* Fills units: one for each filter where the output is calibrated, else the same for all. */
static void find_units(fused_run *r) {
    int64_t filters = r->p->conv.num_filter;
    double largest = 0;
    mxc_parallel_for(r->call->run, filters, grain_of(r), most_range, r);
    for (int64_t f = 0; f < filters; f++) {
        r->units[f] = weight_unit(r, r->units[f], bias_of(r, f));
        largest = fmax(largest, r->units[f]);
    }
    for (int64_t f = 0; f < filters && !mxci_calib_given(&r->p->calib); f++)
        r->units[f] = largest;
}

/* ---- outputs ----------------------------------------------------------------------------------------------------- */

/* One filter's pixels as 8 bits, at element `at` of the output. sum: NULL or the codes that are added. */
static void put_codes(const fused_run *r, int64_t f, int64_t at, int64_t n, const int32_t *sums, const float *sum) {
    const fused_params *p = r->p;
    const mxc_tensor *out = &r->call->out[0];
    const double inverse = mxci_inverse_unit(r->out_unit);
    const mxci_requantization q = {
        .scale = (float)(r->data_unit * r->units[f] * inverse),
        .slope = p->with_act ? (float)p->act_slope : 1,
        .high = p->with_act && !isnan(p->act_max) ? (float)(p->act_max * inverse) : INFINITY,
        .sum_scale = (float)(r->sum_unit * inverse),
        .least = (float)mxci_calib_least(&p->calib, out->dtype),
        .most = (float)mxci_quantized_max(out->dtype),
    };
    uint8_t codes[MXCI_INT8_TILE];
    mxci_requantize_row(&q, n, sums, sum, codes);
    mxci_assign_row(r->call->req[0], out->dtype, mxci_at(out, at), codes, n);
}

/* The same as int32. */
static void put_sums(const fused_run *r, int64_t f, int64_t at, int64_t n, const int32_t *sums, const float *sum) {
    const fused_params *p = r->p;
    const mxc_tensor *out = &r->call->out[0];
    const double inverse = mxci_inverse_unit(r->data_unit * r->units[f]), slope = p->with_act ? p->act_slope : 1;
    const double high = p->with_act && !isnan(p->act_max) ? p->act_max * inverse : INFINITY;
    int32_t numbers[MXCI_INT8_TILE];
    double x[MXCI_INT8_TILE];
    for (int64_t i = 0; i < n; i++) {
        double y = sums[i] < 0 ? sums[i] * slope : sums[i];
        x[i] = (y > high ? high : y) + (sum ? (double)sum[i] * r->sum_unit * inverse : 0);
    }
    mxci_quantize_row(n, x, 0, 1, p->with_sum_act ? 0 : INT32_MIN, INT32_MAX, numbers);
    mxci_assign_row(r->call->req[0], out->dtype, mxci_at(out, at), numbers, n);
}

static void put_tile(const mxci_int8_conv *conv, int64_t at, int64_t group, int64_t n, const int32_t *sums) {
    const fused_run *r = conv->arg;
    const mxci_conv_geometry *geo = &conv->plan->geo;
    float added[MXCI_INT8_TILE];
    for (int64_t f = 0; f < geo->shape.filters; f++, at += geo->pixels, sums += MXCI_INT8_TILE) {
        const mxc_tensor *sum = r->p->with_sum ? &r->call->in[r->slots.sum] : NULL;
        if (sum)
            mxci_convert(sum->dtype, mxci_at(sum, at), MXC_F32, added, n);
        if (r->call->out[0].dtype == MXC_I32)
            put_sums(r, group * geo->shape.filters + f, at, n, sums, sum ? added : NULL);
        else
            put_codes(r, group * geo->shape.filters + f, at, n, sums, sum ? added : NULL);
    }
}

/* The range of the codes: calibrated, or what int32 holds in the unit of sums. */
static void put_range(const fused_run *r) {
    mxc_dtype type = r->call->out[0].dtype;
    double unit = type == MXC_I32 ? r->data_unit * r->units[0] : r->out_unit, most = unit * mxci_quantized_max(type);
    mxci_assign_bounds(r->call, type == MXC_U8 ? 0 : -most, most);
}

static mxc_status fused_forward(const mxc_op_call *call) {
    const fused_params *p = call->params;
    const fused_slots s = slots_of(p);
    mxci_int8_conv_plan plan;
    fused_run r = {.call = call, .p = p, .slots = s, .units = call->temp};
    r.k = mxci_tensor_size(&call->in[WEIGHT]) / p->conv.num_filter;
    r.data_unit = mxci_quantized_unit(call->in[DATA].dtype, &call->in[s.bounds], &call->in[s.bounds + 1]);
    if (!(r.data_unit > 0))
        r.data_unit = LEAST_UNIT;
    if (p->with_sum)
        r.sum_unit = mxci_quantized_unit(call->in[s.sum].dtype, &call->in[s.sum_bounds], &call->in[s.sum_bounds + 1]);
    r.out_unit = mxci_calib_unit(&p->calib, call->out[0].dtype, p->calib.low, p->calib.high);
    find_units(&r);
    put_range(&r);
    if (!mxci_is_wanted(call->req[0], &call->out[0]))
        return MXC_OK;
    r.conv = mxci_int8_conv_begin(
        call, &p->conv, r.units + mxci_size_align((size_t)p->conv.num_filter * sizeof *r.units) / sizeof *r.units,
        &plan);
    r.conv.put = put_tile;
    r.conv.arg = &r;
    mxc_parallel_for(call->run, p->conv.num_filter, grain_of(&r), quantize_range, &r);
    mxci_int8_conv_run(&r.conv);
    return MXC_OK;
}

const mxc_op_def mxci_op_quantized_fused_conv = {
    .size = sizeof(mxc_op_def),
    .name = "_quantized_fused_conv",
    .args = "data,weight,bias,gamma,beta,sum,min_data,max_data,min_sum,max_sum",
    .args_of = fused_names,
    .n_args = fused_n_args,
    .aux = "mean,var",
    .n_aux = fused_n_aux,
    .outputs = "output,min_output,max_output",
    .doc =
        "output = sum_act(sum + act(BatchNorm(Convolution(data, weight, bias)))) of quantized data, float32 weights, "
        "which are quantized filter by filter, and a quantized sum: 8 bits of the calibrated range, uint8 where "
        "max(x, 0) comes last, else int8; without a calibrated range int32 in the unit of data times that of all "
        "weights. An 8-bit layer that MXNet fused for oneDNN is read as this operator, which MXNet does not have",
    .flags = MXC_OP_ZERO_GRADIENT,
    .params = fused_schema,
    .param_size = sizeof(fused_params),
    .params_check = fused_check,
    .infer_shape = fused_infer,
    .infer_type = fused_infer_type,
    .dtypes = MXCI_DTYPES_QUANTIZED,
    .temp_bytes = fused_temp,
    .forward = {[MXC_CPU] = fused_forward},
};
