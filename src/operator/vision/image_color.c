/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes of the colours of an image (height, width, channels) of 1 or 3 channels, red first:
 *   _image_random_brightness, _contrast, _saturation, _hue, _color_jitter, _lighting, and _image_adjust_lighting
 * The numbers are computed in float64 and stored with their fraction cut off, saturated, in an integer dtype. The
 * gradient is out_grad unchanged, as in MXNet, whatever was drawn.
 */
#include "operator/vision/image_color.h"

#include "math/assign.h"
#include "math/tile_kernels.h"
#include "operator/infer.h"

enum { PIXELS = MXCI_TILE / 3 }; /* of a tile */

/* ---- inference --------------------------------------------------------------------------------------------------- */

static mxc_status infer_image_color(mxc_op_sig *sig) {
    const mxc_shape image = mxci_shape_axes(3), *in = &sig->in_shape[0];
    MXC_TRY(mxc_sig_set_shape(sig, 0, &image));
    MXC_TRY(mxci_infer_shape_same(sig));
    if (in->dim[2] >= 0 && in->dim[2] != 1 && in->dim[2] != 3)
        return mxc_sig_fail(sig, "data has %lld channels, expected 1 or 3", (long long)in->dim[2]);
    return MXC_OK;
}

static uint64_t count_draws(const mxc_op_sig *sig) {
    (void)sig;
    return MXCI_COLOR_DRAWS;
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

typedef struct color_run {
    const mxc_op_call *call;
    int channels;
    mxci_color_steps steps;
} color_run;

/* Pixels begin..end-1 as the first n steps leave them. */
static void load_pixels(const color_run *r, int n, int64_t begin, int64_t end, double *x) {
    const mxc_tensor *in = &r->call->in[0];
    mxci_convert(in->dtype, mxci_at(in, begin * r->channels), MXC_F64, x, (end - begin) * r->channels);
    for (int64_t i = 0; i < end - begin; i++)
        mxci_color_apply(&r->steps, n, r->channels, x + i * r->channels);
}

static double mean_grey(const color_run *r, int n) {
    const int64_t pixels = mxci_tensor_size(&r->call->in[0]) / r->channels;
    double x[MXCI_TILE], sum = 0;
    for (int64_t at = 0; at < pixels; at += PIXELS) {
        const int64_t end = at + PIXELS < pixels ? at + PIXELS : pixels;
        load_pixels(r, n, at, end, x);
        for (int64_t i = 0; i < end - at; i++)
            sum += r->channels == 3 ? mxci_grey_of(x + 3 * i) : x[i];
    }
    return sum / (double)pixels;
}

static void color_range(void *arg, int64_t begin, int64_t end, int part) {
    const color_run *r = arg;
    const mxc_tensor *out = &r->call->out[0];
    double x[MXCI_TILE], y[MXCI_TILE];
    (void)part;
    for (int64_t at = begin; at < end; at += PIXELS) {
        const int64_t last = at + PIXELS < end ? at + PIXELS : end, n = (last - at) * r->channels;
        load_pixels(r, r->steps.n, at, last, x);
        if (MXC_DTYPES_INT & MXC_DTYPE_BIT(out->dtype))
            for (int64_t i = 0; i < n; i++)
                x[i] = mxci_color_whole(x[i]);
        mxci_convert(MXC_F64, x, out->dtype, y, n);
        mxci_assign_row(r->call->req[0], out->dtype, mxci_at(out, at * r->channels), y, n);
    }
}

static mxc_status change_colors(const mxc_op_call *call, int kind) {
    color_run r = {.call = call, .channels = (int)call->in[0].shape.dim[2]};
    int contrast;
    if (call->req[0] == MXC_REQ_NULL || mxci_tensor_size(&call->out[0]) == 0)
        return MXC_OK;
    mxci_color_steps_of(kind, call->params, call->random, &r.steps);
    contrast = mxci_color_mean_step(&r.steps);
    if (contrast >= 0)
        r.steps.step[contrast].mean = mean_grey(&r, contrast);
    mxc_parallel_for(call->run, mxci_tensor_size(&call->out[0]) / r.channels, MXCI_GRAIN / 16, color_range, &r);
    return MXC_OK;
}

static mxc_status colors_backward(const mxc_op_call *call) {
    mxci_assign(call->run, call->req[0], &call->in_grad[0], &call->out_grad[0]);
    return MXC_OK;
}

/* ---- the operators ----------------------------------------------------------------------------------------------- */

#define NUMBER(field, value, text)                                                                            \
    {                                                                                                         \
        MXC_PARAM_FIELD(mxci_color_params, field), .name = #field, .type = MXC_PARAM_FLOAT, .initial = value, \
                                                   .bounded = 1, .minimum = 0, .maximum = 1e30, .doc = text   \
    }

static const mxc_param factor_schema[] = {
    NUMBER(min_factor, NULL, "Least amount."),
    NUMBER(max_factor, NULL, "Greatest amount."),
    MXC_PARAM_END,
};

static const mxc_param jitter_schema[] = {
    NUMBER(brightness, NULL, "Largest change of the factor of brightness, which is 1 + a number of [-value, value)."),
    NUMBER(contrast, NULL, "Largest change of the factor of contrast."),
    NUMBER(saturation, NULL, "Largest change of the factor of saturation."),
    NUMBER(hue, NULL, "Largest turn of the hue, as a part of the circle."),
    MXC_PARAM_END,
};

static const mxc_param alpha_schema[] = {
    {MXC_PARAM_FIELD(mxci_color_params, alpha), .name = "alpha", .type = MXC_PARAM_FLOATS,
     .doc = "Amounts of the three components. Further numbers are ignored, as in MXNet."},
    MXC_PARAM_END,
};

static const mxc_param std_schema[] = {
    NUMBER(alpha_std, "0.05", "Standard deviation of the amounts."),
    MXC_PARAM_END,
};

static mxc_status check_alpha(void *params) {
    const mxci_color_params *p = params;
    if (p->alpha.n >= 3)
        return MXC_OK;
    return MXC_FAIL(MXC_EINVAL, "_image_adjust_lighting: alpha has %d numbers, expected at least 3", (int)p->alpha.n);
}

static const mxc_inplace color_inplace[] = {{MXC_FROM_IN(0), 0}, MXC_INPLACE_END};
static const mxc_inplace color_inplace_backward[] = {{MXC_FROM_OUT_GRAD(0), 0}, MXC_INPLACE_END};

#define COLOR_DEF                                                                                          \
    .size = sizeof(mxc_op_def), .param_size = sizeof(mxci_color_params), .infer_shape = infer_image_color, \
    .dtypes = MXC_DTYPES_NUMBER, .needs = {.out_grad = 1}, .inplace_forward = color_inplace,               \
    .inplace_backward = color_inplace_backward, .backward = {[MXC_CPU] = colors_backward}

#define FORWARD(name, kind)                           \
    static mxc_status name(const mxc_op_call *call) { \
        return change_colors(call, kind);             \
    }
FORWARD(random_brightness, MXCI_BRIGHTNESS)
FORWARD(random_contrast, MXCI_CONTRAST)
FORWARD(random_saturation, MXCI_SATURATION)
FORWARD(random_hue, MXCI_HUE)
FORWARD(random_color_jitter, MXCI_COLOR_JITTER)
FORWARD(adjust_lighting, MXCI_LIGHTING)
FORWARD(random_lighting, MXCI_LIGHTING_DRAWN)

const mxc_op_def mxci_op_image_random_brightness = {
    COLOR_DEF,
    .name = "_image_random_brightness",
    .aliases = "_npx__image_random_brightness",
    .doc = "The image times a random factor of [min_factor, max_factor): data (height,width,channels) of 1 or 3 "
           "channels; grey images too",
    .params = factor_schema,
    .random_count = count_draws,
    .forward = {[MXC_CPU] = random_brightness},
};

const mxc_op_def mxci_op_image_random_contrast = {
    COLOR_DEF,
    .name = "_image_random_contrast",
    .aliases = "_npx__image_random_contrast",
    .doc = "data f + mean (1 - f), where f is a random factor of [min_factor, max_factor) and mean the mean grey value "
           "of the image: data (height,width,channels) of 1 or 3 channels; grey images too",
    .params = factor_schema,
    .random_count = count_draws,
    .forward = {[MXC_CPU] = random_contrast},
};

const mxc_op_def mxci_op_image_random_saturation = {
    COLOR_DEF,
    .name = "_image_random_saturation",
    .aliases = "_npx__image_random_saturation",
    .doc = "data f + grey (1 - f), where f is a random factor of [min_factor, max_factor) and grey the grey value of "
           "each pixel: data (height,width,channels) of 1 or 3 channels; grey images stay",
    .params = factor_schema,
    .random_count = count_draws,
    .forward = {[MXC_CPU] = random_saturation},
};

const mxc_op_def mxci_op_image_random_hue = {
    COLOR_DEF,
    .name = "_image_random_hue",
    .aliases = "_npx__image_random_hue",
    .doc = "The hue of all pixels turned by a random part of the circle, of [min_factor, max_factor): data "
           "(height,width,channels) of 1 or 3 channels; grey images stay",
    .params = factor_schema,
    .random_count = count_draws,
    .forward = {[MXC_CPU] = random_hue},
};

const mxc_op_def mxci_op_image_random_color_jitter = {
    COLOR_DEF,
    .name = "_image_random_color_jitter",
    .aliases = "_npx__image_random_color_jitter",
    .doc = "Random changes of brightness, contrast, saturation and hue, in a random order: data "
           "(height,width,channels) of 1 or 3 channels; grey images have brightness and contrast only",
    .params = jitter_schema,
    .random_count = count_draws,
    .forward = {[MXC_CPU] = random_color_jitter},
};

const mxc_op_def mxci_op_image_adjust_lighting = {
    COLOR_DEF,
    .name = "_image_adjust_lighting",
    .aliases = "_npx__image_adjust_lighting",
    .doc = "data plus light along the principal components of the colours of ImageNet, alpha times their standard "
           "deviations: data (height,width,channels) of 1 or 3 channels; grey images stay",
    .params = alpha_schema,
    .params_check = check_alpha,
    .forward = {[MXC_CPU] = adjust_lighting},
};

const mxc_op_def mxci_op_image_random_lighting = {
    COLOR_DEF,
    .name = "_image_random_lighting",
    .aliases = "_npx__image_random_lighting",
    .doc = "data plus light along the principal components of the colours of ImageNet, whose amounts are normally "
           "distributed: data (height,width,channels) of 1 or 3 channels; grey images stay",
    .params = std_schema,
    .random_count = count_draws,
    .forward = {[MXC_CPU] = random_lighting},
};
