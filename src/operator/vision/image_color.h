/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes of an image's colours (operator/vision/image_color.c), for C and GPU modules: up to four steps on each pixel,
 * whose amounts are drawn or given. Values are numbers of any range; float64.
 */
#ifndef MXCI_OPERATOR_VISION_IMAGE_COLOR_H
#define MXCI_OPERATOR_VISION_IMAGE_COLOR_H

#include <mxc/param.h>
#include <mxc/random.h>

#include "math/distributions.h"

typedef struct mxci_color_params {
    double min_factor, max_factor;                /* of one step: the range of its amount */
    double brightness, contrast, saturation, hue; /* color_jitter: largest changes */
    double alpha_std;                             /* random_lighting */
    mxc_floats alpha;                             /* adjust_lighting */
} mxci_color_params;

typedef enum mxci_color_kind {
    MXCI_BRIGHTNESS, /* x amount */
    MXCI_CONTRAST,   /* x amount + mean (1 - amount), mean that of the grey values of the image */
    MXCI_SATURATION, /* x amount + grey (1 - amount), grey that of the pixel */
    MXCI_HUE,        /* the hue is turned by amount circles */
    MXCI_LIGHTING,   /* x + add */
    MXCI_COLOR_KINDS,
    MXCI_COLOR_JITTER = MXCI_COLOR_KINDS, /* the first four in a random order */
    MXCI_LIGHTING_DRAWN
} mxci_color_kind;

typedef struct mxci_color_step {
    int kind;
    double amount, add[3], mean; /* mean: filled in before the step is applied */
} mxci_color_step;

enum { MXCI_COLOR_STEPS = 4, MXCI_COLOR_DRAWS = 8 };

typedef struct mxci_color_steps {
    int n;
    mxci_color_step step[MXCI_COLOR_STEPS];
} mxci_color_steps;

MXC_PHILOX_FN double mxci_grey_of(const double *rgb) {
    return 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2];
}

/* Noise along the principal components of the colours of ImageNet: alpha times their standard deviations. */
MXC_PHILOX_FN void mxci_lighting_add(const double *alpha, double *add) {
    const double deviation[3] = {55.46, 4.794, 1.148};
    const double colour[3][3] = {
        {-0.5675, 0.7192, 0.4009},
        {-0.5808, -0.0045, -0.8140},
        {-0.5836, -0.6948, 0.4203},
    };
    for (int c = 0; c < 3; c++) {
        add[c] = 0;
        for (int k = 0; k < 3; k++)
            add[c] += colour[c][k] * deviation[k] * alpha[k];
    }
}

MXC_PHILOX_FN double mxci_color_draw(mxc_random random, uint64_t i, double low, double high) {
    mxc_draws draws = {random.seed, random.stream, random.offset + i, 0};
    return mxci_draw_uniform(&draws, low, high);
}

/* The four steps of color_jitter in a random order (R. Durstenfeld's shuffle); those of no change are left out. */
MXC_PHILOX_FN void mxci_jitter_draw(const mxci_color_params *p, mxc_random random, mxci_color_steps *out) {
    const double most[4] = {p->brightness, p->contrast, p->saturation, p->hue};
    int order[4] = {MXCI_BRIGHTNESS, MXCI_CONTRAST, MXCI_SATURATION, MXCI_HUE};
    out->n = 0;
    for (int i = 3; i > 0; i--) {
        mxc_draws draws = {random.seed, random.stream, random.offset + 4 + (uint64_t)i, 0};
        const int at = (int)mxc_draw_integer(&draws, 0, i + 1), kept = order[i];
        order[i] = order[at];
        order[at] = kept;
    }
    for (int i = 0; i < 4; i++) {
        const int kind = order[i], around = kind == MXCI_HUE ? 0 : 1;
        if (most[kind] > 0) {
            out->step[out->n].kind = kind;
            out->step[out->n++].amount =
                mxci_color_draw(random, (uint64_t)kind, around - most[kind], around + most[kind]);
        }
    }
}

/* The steps of an operator. The call has MXCI_COLOR_DRAWS random numbers where it draws. */
MXC_PHILOX_FN void mxci_color_steps_of(int kind, const mxci_color_params *p, mxc_random random, mxci_color_steps *out) {
    double alpha[3];
    out->n = 1;
    out->step[0].kind = kind;
    if (kind == MXCI_COLOR_JITTER) {
        mxci_jitter_draw(p, random, out);
    } else if (kind < MXCI_LIGHTING) {
        out->step[0].amount = mxci_color_draw(random, 0, p->min_factor, p->max_factor);
    } else {
        for (int i = 0; i < 3; i++) {
            mxc_draws draws = {random.seed, random.stream, random.offset + (uint64_t)i, 0};
            alpha[i] = kind == MXCI_LIGHTING ? p->alpha.value[i] : mxc_draw_normal(&draws, 0, p->alpha_std);
        }
        out->step[0].kind = MXCI_LIGHTING;
        mxci_lighting_add(alpha, out->step[0].add);
    }
}

/* The value of a channel, given the hue of the colour relative to that channel, in sixths of the circle. */
MXC_PHILOX_FN double mxci_hue_channel(double hue, double low, double high) {
    const double at = hue - 6 * floor(hue / 6), falling = 4 - at > 0 ? 4 - at : 0, share = at < falling ? at : falling;
    return low + (high - low) * (share < 1 ? share : 1);
}

/* The hue is 0 at red, 2 at green and 4 at blue. Turning it keeps the largest and the smallest of the channels. */
MXC_PHILOX_FN void mxci_turn_hue(double *rgb, double circles) {
    const double r = rgb[0], g = rgb[1], b = rgb[2];
    const double high = r > g ? (r > b ? r : b) : (g > b ? g : b), low = r < g ? (r < b ? r : b) : (g < b ? g : b);
    const double range = high > low ? high - low : 1;
    double hue = high == r ? (g - b) / range : high == g ? 2 + (b - r) / range : 4 + (r - g) / range;
    hue += 6 * circles;
    rgb[0] = mxci_hue_channel(hue + 2, low, high);
    rgb[1] = mxci_hue_channel(hue, low, high);
    rgb[2] = mxci_hue_channel(hue - 2, low, high);
}

/* Steps 0 to n - 1 on a pixel of 1 or 3 channels. A grey one has neither hue nor saturation nor colours of light. */
MXC_PHILOX_FN void mxci_color_apply(const mxci_color_steps *steps, int n, int channels, double *x) {
    for (int i = 0; i < n; i++) {
        const mxci_color_step *s = &steps->step[i];
        const double grey = channels == 3 ? mxci_grey_of(x) : x[0];
        if (s->kind == MXCI_HUE && channels == 3)
            mxci_turn_hue(x, s->amount);
        for (int c = 0; c < channels; c++) {
            if (s->kind == MXCI_BRIGHTNESS)
                x[c] *= s->amount;
            else if (s->kind == MXCI_CONTRAST)
                x[c] = x[c] * s->amount + s->mean * (1 - s->amount);
            else if (s->kind == MXCI_SATURATION && channels == 3)
                x[c] = x[c] * s->amount + grey * (1 - s->amount);
            else if (s->kind == MXCI_LIGHTING && channels == 3)
                x[c] += s->add[c];
        }
    }
}

/* The step that needs the mean of the image as the steps before leave it; -1: none. */
MXC_PHILOX_FN int mxci_color_mean_step(const mxci_color_steps *steps) {
    for (int i = 0; i < steps->n; i++)
        if (steps->step[i].kind == MXCI_CONTRAST)
            return i;
    return -1;
}

/* What an integer dtype stores, before the fraction is cut off: numbers that are whole but for rounding stay whole. */
MXC_PHILOX_FN double mxci_color_whole(double x) {
    return x < 0 ? x - 1e-6 : x + 1e-6;
}

#endif
