/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _quantized_fused_conv. The reference quantizes weights and biases in float32, as the operator does, since a
 * filter's largest weight lies halfway between two codes, and computes with the codes. */
#include <math.h>

#include "operator/quantized/quantized_reference.h"

/* Where the optional arguments are, and what follows from the arguments. */
typedef struct fused {
    const op_run *r;
    int bias, gamma, sum, bounds;
    int64_t filters, k; /* weights of a filter */
    double data_unit, weight_unit;
} fused;

static int has(const op_run *r, const char *key) {
    return case_is(r, key, "true");
}

static fused fused_of(const op_run *r) {
    fused f = {.r = r, .bias = 2};
    f.gamma = f.bias + !has(r, "no_bias");
    f.sum = f.gamma + 2 * has(r, "with_bn");
    f.bounds = f.sum + has(r, "with_sum");
    f.filters = r->in_shape[1].dim[0];
    f.k = f.filters ? case_size(&r->in_shape[1]) / f.filters : 0;
    f.data_unit = fmax(case_quantized_unit(r, 0, f.bounds), 1e-30);
    return f;
}

static float factor_of(const fused *f, int64_t filter) {
    double gamma = case_is(f->r, "fix_gamma", "false") ? f->r->in[f->gamma][filter] : 1;
    return has(f->r, "with_bn") ? (float)(gamma / sqrt(f->r->aux[1][filter] + case_number(f->r, "eps", 1e-3))) : 1;
}

static double real_bias(const fused *f, int64_t filter) {
    double bias = has(f->r, "no_bias") ? 0 : f->r->in[f->bias][filter];
    return has(f->r, "with_bn")
               ? f->r->in[f->gamma + 1][filter] + (double)factor_of(f, filter) * (bias - f->r->aux[0][filter])
               : bias;
}

/* The unit of one filter's weights, and that of all where the output is not calibrated. */
static double own_unit(const fused *f, int64_t filter) {
    float most = 0;
    for (int64_t i = 0; i < f->k; i++)
        most = fmaxf(most, fabsf((float)f->r->in[1][filter * f->k + i]));
    most *= fabsf(factor_of(f, filter));
    return fmax((double)most / (has(f->r, "half_steps") ? 127.5 : 127),
                fabs(real_bias(f, filter)) / (INT32_MAX / 2) / f->data_unit);
}

static double weight_unit(const fused *f, int64_t filter) {
    double unit = own_unit(f, filter);
    for (int64_t i = 0; i < f->filters && !case_is_calibrated(f->r); i++)
        unit = fmax(unit, own_unit(f, i));
    return unit;
}

static double code_of(const fused *f, int64_t filter, int64_t i, double unit) {
    float code = (float)f->r->in[1][filter * f->k + i] * factor_of(f, filter) * (float)(1 / unit);
    return fmin(fmax((double)rintf(code), -128), 127);
}

/* Sums of products of element i of the output, and their unit. */
static double sum_of(const fused *f, const case_windows *w, int64_t i, double *unit) {
    const op_run *r = f->r;
    int64_t groups = (int64_t)case_number(r, "num_group", 1), channels = r->in_shape[1].dim[1];
    int64_t pixels = case_volume(w->windows), places = case_volume(w->kernel), plane = case_volume(w->plane);
    int64_t p = i % pixels, filter = i / pixels % f->filters, n = i / pixels / f->filters;
    int64_t first = filter / (f->filters / groups);
    double weights = weight_unit(f, filter), sum = rint(real_bias(f, filter) * (1 / (weights * f->data_unit)));
    for (int64_t c = 0; c < channels * places; c++) {
        int64_t at = case_under(w, p, c % places);
        const double *image = r->in[0] + (n * groups + first) * channels * plane + c / places * plane;
        sum += at < 0 ? 0 : image[at] * code_of(f, filter, c, weights);
    }
    *unit = weights * f->data_unit;
    return sum;
}

static void ref_fused(const op_run *r) {
    const fused f = fused_of(r);
    case_windows w = case_windows_of(r, &r->out_shape[0], &r->in_shape[0]);
    double unit = weight_unit(&f, 0) * f.data_unit, out = unit, most;
    if (case_is_calibrated(r))
        out = case_range_unit(r, case_calibrated_bound(r), r->out_type[0]);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        double x = sum_of(&f, &w, i, &unit);
        x *= case_is_calibrated(r) ? unit / out : 1;
        if (has(r, "with_act")) {
            x = x < 0 ? x * case_number(r, "act_slope", 0) : x;
            x = fmin(x, case_number(r, "act_max", INFINITY) / out);
        }
        if (has(r, "with_sum"))
            x += r->in[f.sum][i] * case_quantized_unit(r, f.sum, f.bounds + 2) / out;
        x = has(r, "with_sum_act") ? fmax(x, 0) : x;
        r->out[0][i] = case_saturate(r, r->out_type[0] == MXC_I32 ? x : rint(x), r->out_type[0]);
    }
    most = out * case_quantized_max(r->out_type[0]);
    r->out[1][0] = r->out_type[0] == MXC_U8 ? 0 : -most;
    r->out[2][0] = most;
}

#define FUSED(given, shapes) RUN("_quantized_fused_conv", given, shapes, ref_fused)
#define SIGNED " min_calib_range=-6.1 max_calib_range=5.3"
#define UNSIGNED " min_calib_range=0 max_calib_range=6.1"
#define IMAGES "2x3x5x6@-128:255i 4x3x3x3 4 "
#define STATISTICS "4@0.5:1.5 4 "
#define MORE "1x3x3x3 4x3x3x3 4 1 1; 0x3x4x4 4x3x3x3 4 1 1; 1x3x19x13 4x3x3x3 4 1 1"

static const op_case cases[] = {
    FUSED("kernel=(3,3) num_filter=4;kernel=(3,3) num_filter=4 half_steps=true" SIGNED, IMAGES BOUNDS "; " MORE),
    FUSED("kernel=(3,3) num_filter=4 with_act=true half_steps=true" UNSIGNED
          ";kernel=(3,3) num_filter=4 with_act=true act_max=1.5" UNSIGNED
          ";kernel=(3,3) num_filter=4 with_act=true act_slope=0.1" SIGNED
          ";kernel=(3,3) num_filter=4 with_act=true act_max=0.5 act_slope=0.25",
          IMAGES BOUNDS "; " MORE),
    FUSED("kernel=(3,3) num_filter=4 stride=(2,1) pad=(1,2) with_bn=true fix_gamma=false half_steps=true" SIGNED
          ";kernel=(3,3) num_filter=4 stride=(2,1) pad=(1,2) with_bn=true eps=0.1 with_act=true" UNSIGNED
          ";kernel=(3,3) num_filter=4 stride=(2,1) pad=(1,2) with_bn=true",
          IMAGES STATISTICS BOUNDS " 4 4@0.5:2"),
    FUSED("kernel=(1,1) num_filter=8 no_bias=true with_sum=true with_sum_act=true half_steps=true" UNSIGNED
          ";kernel=(1,1) num_filter=8 no_bias=true with_sum=true" SIGNED
          ";kernel=(1,1) num_filter=8 no_bias=true with_sum=true with_act=true with_sum_act=true" UNSIGNED
          ";kernel=(1,1) num_filter=8 no_bias=true with_sum=true with_sum_act=true",
          "1x4x4x4@-128:255i 8x4x1x1 1x8x4x4@-128:255i " TWO_BOUNDS "; 2x1x1x1 8x1x1x1 2x8x1x1 1 1 1 1; "
          "1x20x11x13 8x20x1x1 1x8x11x13 1 1 1 1"),
    FUSED("kernel=(3,3) num_filter=6 num_group=3 pad=(1,1) dilate=(2,1) no_bias=true half_steps=true" SIGNED,
          "1x6x7x5@-128:255i 6x2x3x3 " BOUNDS "; 2x3x5x3 6x1x3x3 1 1"),
    FUSED("kernel=(1,1) num_filter=2" SIGNED, "1x3x2x2@-128:255i 2x3x1x1 2 1@0:0 1@0:0"), /* the bias alone */
    FUSED("kernel=(3,) num_filter=2 pad=(1,)" SIGNED, "2x3x7@-128:255i 2x3x3 2 " BOUNDS),
    FAILS("_quantized_fused_conv", "kernel=(1,1) num_filter=4 with_sum_act=true", "1x4x2x2 4x4x1x1 4 1 1", MXC_EINVAL,
          "with_sum_act needs with_sum"),
    FAILS("_quantized_fused_conv", "kernel=(1,1) num_filter=4 no_bias=true", "1x4x2x2 4x4x1x1 1 1", MXC_EDTYPE,
          "_quantized_fused_conv"),
    INFERS("_quantized_fused_conv", "kernel=(3,3) num_filter=4 with_bn=true with_sum=true",
           "2x8x5x5,?,?,?,?,?,?,?,?,?,?,? -> ?,?,? => 2x8x5x5,4x8x3x3,4,4,4,2x4x3x3,1,1,1,1,4,4 -> 2x4x3x3,1,1"),
};

MXC_CASES(quantized_quantized_fused_conv_cases, cases);
