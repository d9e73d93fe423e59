/* SPDX-License-Identifier: Apache-2.0 */
/* The taps and weights of each interpolation, and the elements of borders; for C and GPU kernels. They are OpenCV's. */
#ifndef MXCI_IMAGE_RESAMPLE_WEIGHTS_H
#define MXCI_IMAGE_RESAMPLE_WEIGHTS_H

#include <math.h>

#include "image/resample_kernels.h"
#include "math/loop.h"

/* ---- tables ------------------------------------------------------------------------------------------------------ */

enum { MXCI_LANCZOS_TAPS = 8 };

/* The interpolation that an image of (h,w) is resized to (to_h,to_w) by. */
static inline int mxci_resample_kind(int interpolation, int64_t h, int64_t w, int64_t to_h, int64_t to_w) {
    return interpolation == MXCI_AREA && (to_h > h || to_w > w) ? MXCI_STEP : interpolation;
}

/* Taps of each element. in and out above 0. */
static inline int64_t mxci_resample_width(int interpolation, int64_t in, int64_t out) {
    switch (interpolation) {
    case MXCI_NEAREST:
        return 1;
    case MXCI_CUBIC:
        return 4;
    case MXCI_LANCZOS:
        return MXCI_LANCZOS_TAPS;
    case MXCI_AREA:
        return (in + out - 1) / out + 1;
    default:
        return 2;
    }
}

/* ---- taps -------------------------------------------------------------------------------------------------------- */

/* Cubic convolution (R. Keys, 1981) with a = -0.75; t: distance behind the second tap. */
MXCI_SCALAR void mxci_weights_cubic(double t, float *weight) {
    const double a = -0.75;
    double sum = 0, w[4];
    w[0] = ((a * (t + 1) - 5 * a) * (t + 1) + 8 * a) * (t + 1) - 4 * a;
    w[1] = ((a + 2) * t - (a + 3)) * t * t + 1;
    w[2] = ((a + 2) * (1 - t) - (a + 3)) * (1 - t) * (1 - t) + 1;
    for (int i = 0; i < 3; i++)
        sum += w[i];
    w[3] = 1 - sum;
    for (int i = 0; i < 4; i++)
        weight[i] = (float)w[i];
}

/* Lanczos window sinc(x) sinc(x / 4) at eight taps, normalized to sum to 1; t: distance behind the fourth. */
MXCI_SCALAR void mxci_weights_lanczos(double t, float *weight) {
    double sum = 0, w[MXCI_LANCZOS_TAPS];
    for (int i = 0; i < MXCI_LANCZOS_TAPS; i++) {
        double x = 3.14159265358979323846 * (i - 3 - t);
        w[i] = fabs(x) < 1e-6 ? 1 : 4 * sin(x) * sin(x / 4) / (x * x);
        sum += w[i];
    }
    for (int i = 0; i < MXCI_LANCZOS_TAPS; i++)
        weight[i] = (float)(w[i] / sum);
}

/* Result i is the mean over i scale to (i + 1) scale of the image, with parts of elements at both ends. */
MXCI_SCALAR void mxci_taps_area(const mxci_resample *r, int64_t i, double scale) {
    double from = (double)i * scale, to = fmin(from + scale, (double)r->in);
    float *weight = r->weight + i * r->width;
    r->first[i] = (int64_t)from;
    for (int64_t k = 0; k < r->width; k++) {
        double low = fmax(from, (double)(r->first[i] + k)), high = fmin(to, (double)(r->first[i] + k + 1));
        weight[k] = high - low > 1e-3 || k == 0 ? (float)((high - low) / (to - from)) : 0;
    }
}

/* A result within one element of the image is that element; one that reaches into the next interpolates linearly. */
MXCI_SCALAR void mxci_taps_step(const mxci_resample *r, int64_t i, double scale) {
    int64_t first = (int64_t)floor((double)i * scale);
    double t = (double)(i + 1) - (double)(first + 1) / scale;
    t = t <= 0 ? 0 : t - floor(t);
    r->first[i] = first;
    r->weight[2 * i] = (float)(1 - t);
    r->weight[2 * i + 1] = (float)t;
}

MXCI_SCALAR void mxci_taps_element(const mxci_resample *r, int interpolation, int64_t i, double scale) {
    double at = ((double)i + 0.5) * scale - 0.5, t = at - floor(at); /* centres of pixels are at half-integers */
    float *weight = r->weight + i * r->width;
    int64_t before = (int64_t)floor(at);
    switch (interpolation) {
    case MXCI_NEAREST:
        r->first[i] = (int64_t)floor((double)i * scale);
        weight[0] = 1;
        break;
    case MXCI_CUBIC:
        r->first[i] = before - 1;
        mxci_weights_cubic(t, weight);
        break;
    case MXCI_LANCZOS:
        r->first[i] = before - 3;
        mxci_weights_lanczos(t, weight);
        break;
    default:
        r->first[i] = before;
        weight[0] = (float)(1 - t);
        weight[1] = (float)t;
    }
}

/* The taps of element i. */
MXCI_SCALAR void mxci_resample_taps(const mxci_resample *r, int interpolation, int64_t i) {
    const double scale = (double)r->in / (double)r->out;
    if (interpolation == MXCI_AREA)
        mxci_taps_area(r, i, scale);
    else if (interpolation == MXCI_STEP)
        mxci_taps_step(r, i, scale);
    else
        mxci_taps_element(r, interpolation, i, scale);
}

/* The nearest index in 0..n-1. */
MXCI_SCALAR int64_t mxci_clamp_index(int64_t at, int64_t n) {
    return at < 0 ? 0 : at < n ? at : n - 1;
}

MXCI_SCALAR uint8_t mxci_pixel_byte(float x) {
    return (uint8_t)(x > 0 ? x < 255 ? rintf(x) : 255 : 0);
}

/* ---- borders ----------------------------------------------------------------------------------------------------- */

MXCI_SCALAR int64_t mxci_modulo(int64_t a, int64_t n) {
    return (a % n + n) % n;
}

/* The element of 0..n-1 at index `at` of the axis continued by the border; -1: the border's value. n above 0. */
MXCI_SCALAR int64_t mxci_border_index(int border, int64_t at, int64_t n) {
    if (at >= 0 && at < n)
        return at;
    switch (border) {
    case MXCI_BORDER_EDGE:
        return mxci_clamp_index(at, n);
    case MXCI_BORDER_WRAP:
        return mxci_modulo(at, n);
    case MXCI_BORDER_MIRROR:
        at = mxci_modulo(at, 2 * n);
        return at < n ? at : 2 * n - 1 - at;
    case MXCI_BORDER_MIRROR_INSIDE:
        if (n == 1)
            return 0;
        at = mxci_modulo(at, 2 * n - 2);
        return at < n ? at : 2 * n - 2 - at;
    default:
        return -1;
    }
}

#endif
