/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of changes of an image's colours: where the amount is certain, and drawn. */
#include <math.h>

#include "operator/cases.h"

static double grey_of(const double *x, int64_t channels) {
    return channels == 3 ? 0.299 * x[0] + 0.587 * x[1] + 0.114 * x[2] : x[0];
}

/* Integers lose their fraction, but for a millionth, which is taken for rounding; narrow ones saturate. */
static void store(const op_run *r, int64_t i, double x) {
    const int is_integer = (MXC_DTYPES_INT & MXC_DTYPE_BIT(r->in_type[0])) != 0;
    r->out[0][i] = is_integer ? trunc(x + (x < 0 ? -1e-6 : 1e-6)) : x;
    if (r->in_type[0] == MXC_U8)
        r->out[0][i] = fmin(fmax(r->out[0][i], 0), 255);
    if (r->in_type[0] == MXC_I8)
        r->out[0][i] = fmin(fmax(r->out[0][i], -128), 127);
}

static void ref_brightness(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        store(r, i, r->in[0][i] * case_number(r, "min_factor", 1));
}

static void ref_contrast(const op_run *r) {
    const int64_t channels = case_last_dim(&r->in_shape[0]), n = case_size(&r->in_shape[0]);
    const double factor = case_number(r, "min_factor", 1);
    double mean = 0;
    for (int64_t i = 0; i < n; i += channels)
        mean += grey_of(r->in[0] + i, channels) / (double)(n / channels);
    for (int64_t i = 0; i < n; i++)
        store(r, i, r->in[0][i] * factor + (1 - factor) * mean);
}

static void ref_saturation(const op_run *r) {
    const int64_t channels = case_last_dim(&r->in_shape[0]), n = case_size(&r->in_shape[0]);
    const double factor = channels == 3 ? case_number(r, "min_factor", 1) : 1;
    for (int64_t i = 0; i < n; i++) {
        const double grey = grey_of(r->in[0] + i / channels * channels, channels);
        store(r, i, r->in[0][i] * factor + (1 - factor) * grey);
    }
}

/* By way of the hue in degrees. */
static void ref_hue(const op_run *r) {
    const int64_t channels = case_last_dim(&r->in_shape[0]), n = case_size(&r->in_shape[0]);
    for (int64_t i = 0; i < n; i++) {
        const double *x = r->in[0] + i / channels * channels;
        double high, low, hue = 0, at;
        if (channels == 1) {
            store(r, i, *x);
            continue;
        }
        high = fmax(x[0], fmax(x[1], x[2]));
        low = fmin(x[0], fmin(x[1], x[2]));
        if (high > low)
            hue = high == x[0]   ? 60 * (x[1] - x[2]) / (high - low)
                  : high == x[1] ? 120 + 60 * (x[2] - x[0]) / (high - low)
                                 : 240 + 60 * (x[0] - x[1]) / (high - low);
        hue += 360 * case_number(r, "min_factor", 0);
        at = fmod(hue + 120 - 120 * (double)(i % 3) + 720, 360);
        at = at < 60 ? at / 60 : at < 180 ? 1 : at < 240 ? (240 - at) / 60 : 0;
        store(r, i, low + (high - low) * at);
    }
}

static void ref_lighting(const op_run *r) {
    static const double eigen[3][3] = {
        {55.46 * -0.5675, 4.794 * 0.7192, 1.148 * 0.4009},
        {55.46 * -0.5808, 4.794 * -0.0045, 1.148 * -0.8140},
        {55.46 * -0.5836, 4.794 * -0.6948, 1.148 * 0.4203},
    };
    const int64_t channels = case_last_dim(&r->in_shape[0]);
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++) {
        double add = 0;
        for (int k = 0; channels == 3 && k < 3; k++)
            add += eigen[i % 3][k] * case_entry(r, "alpha", k, 0);
        store(r, i, r->in[0][i] + add);
    }
}

static void ref_none(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        store(r, i, r->in[0][i]);
}

/* out_grad as it is. */
static void grad_same(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->in_grad[0][i] = r->out_grad[0][i];
}

#define IMAGES "2x2x3@0:100i; 1x1x1; 3x5x3; 7x4x1; 0x3x3; 3x0x3; 1x9x3; 17x33x3; 40x30x3; 65x3x1"
#define COLORS(name, given, ref)                                                                    \
    {.op = "_image_" name, .params = given, .in = IMAGES, .reference = ref, .gradient = grad_same}, \
        INFERS("_image_" name, given, "? -> 2x?x3 => 2x?x3 -> 2x?x3"),                              \
        FAILS("_image_" name, given, "2x2x2", MXC_ESHAPE, "data has 2 channels"),                   \
        FAILS("_image_" name, given, "2x2x2x3", MXC_ESHAPE, "argument 'data'")
#define DRAWN(name, given) \
    { .op = "_image_" name, .params = given, .in = IMAGES, .flags = CASE_RANDOM, .gradient = grad_same }

static const op_case cases[] = {
    COLORS("random_brightness", "min_factor=0.5 max_factor=0.5", ref_brightness),
    COLORS("random_brightness", "min_factor=1.25 max_factor=1.25", ref_brightness),
    DRAWN("random_brightness", "min_factor=0.5 max_factor=1.5"),
    FAILS("_image_random_brightness", "min_factor=-1 max_factor=1", "2x2x3", MXC_EINVAL, "min_factor"),
    FAILS("_image_random_brightness", "min_factor=1", "2x2x3", MXC_EINVAL, "max_factor"),
    COLORS("random_contrast", "min_factor=0.5 max_factor=0.5", ref_contrast),
    DRAWN("random_contrast", "min_factor=0.5 max_factor=1.5"),
    COLORS("random_saturation", "min_factor=0.5 max_factor=0.5", ref_saturation),
    DRAWN("random_saturation", "min_factor=0.5 max_factor=1.5"),
    COLORS("random_hue", "min_factor=0.25 max_factor=0.25", ref_hue),
    COLORS("random_hue", "min_factor=1.125 max_factor=1.125", ref_hue),
    DRAWN("random_hue", "min_factor=0 max_factor=1"),
    COLORS("random_color_jitter", "brightness=0 contrast=0 saturation=0 hue=0", ref_none),
    DRAWN("random_color_jitter", "brightness=0.5 contrast=0.25 saturation=0.125 hue=0.5; brightness=1 contrast=0 "
                                 "saturation=0 hue=0; brightness=0 contrast=1 saturation=0 hue=1"),
    FAILS("_image_random_color_jitter", "brightness=-1 contrast=0 saturation=0 hue=0", "2x2x3", MXC_EINVAL,
          "brightness"),
    COLORS("adjust_lighting", "alpha=(0.1,-0.2,0.3)", ref_lighting),
    COLORS("adjust_lighting", "alpha=(0,0,0)", ref_lighting),
    FAILS("_image_adjust_lighting", "alpha=(1,2)", "2x2x3", MXC_EINVAL, "alpha has 2 numbers"),
    COLORS("random_lighting", "alpha_std=0", ref_none),
    DRAWN("random_lighting", "alpha_std=0.5; alpha_std=0.05"),
};

MXC_CASES(vision_image_color_cases, cases);
