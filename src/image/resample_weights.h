/* SPDX-License-Identifier: Apache-2.0 */
/* What an element of a resized image reads, and what stands around an image: the same for C and GPU kernels. */
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

/* Keys' cubic convolution with a = -0.75; t: how far behind the second tap. */
MXCI_SCALAR void mxci_share_cubic(double t, float *share) {
    const double a = -0.75;
    double sum = 0, w[4];
    w[0] = ((a * (t + 1) - 5 * a) * (t + 1) + 8 * a) * (t + 1) - 4 * a;
    w[1] = ((a + 2) * t - (a + 3)) * t * t + 1;
    w[2] = ((a + 2) * (1 - t) - (a + 3)) * (1 - t) * (1 - t) + 1;
    for (int i = 0; i < 3; i++)
        sum += w[i];
    w[3] = 1 - sum;
    for (int i = 0; i < 4; i++)
        share[i] = (float)w[i];
}

/* sinc(x) sinc(x / 4) at the eight taps around, made to sum to 1; t: how far behind the fourth. */
MXCI_SCALAR void mxci_share_lanczos(double t, float *share) {
    double sum = 0, w[MXCI_LANCZOS_TAPS];
    for (int i = 0; i < MXCI_LANCZOS_TAPS; i++) {
        double x = 3.14159265358979323846 * (i - 3 - t);
        w[i] = fabs(x) < 1e-6 ? 1 : 4 * sin(x) * sin(x / 4) / (x * x);
        sum += w[i];
    }
    for (int i = 0; i < MXCI_LANCZOS_TAPS; i++)
        share[i] = (float)(w[i] / sum);
}

/* Element i covers the elements from i scale to (i + 1) scale. */
MXCI_SCALAR void mxci_taps_mean(const mxci_resample *r, int64_t i, double scale) {
    double from = (double)i * scale, to = fmin(from + scale, (double)r->in);
    float *share = r->share + i * r->width;
    r->first[i] = (int64_t)from;
    for (int64_t k = 0; k < r->width; k++) {
        double low = fmax(from, (double)(r->first[i] + k)), high = fmin(to, (double)(r->first[i] + k + 1));
        share[k] = high - low > 1e-3 || k == 0 ? (float)((high - low) / (to - from)) : 0;
    }
}

/* An element of the result that lies within one of the image is that one; one that reaches into the next is between. */
MXCI_SCALAR void mxci_taps_step(const mxci_resample *r, int64_t i, double scale) {
    int64_t first = (int64_t)floor((double)i * scale);
    double t = (double)(i + 1) - (double)(first + 1) / scale;
    t = t <= 0 ? 0 : t - floor(t);
    r->first[i] = first;
    r->share[2 * i] = (float)(1 - t);
    r->share[2 * i + 1] = (float)t;
}

MXCI_SCALAR void mxci_taps_element(const mxci_resample *r, int interpolation, int64_t i, double scale) {
    double at = ((double)i + 0.5) * scale - 0.5, t = at - floor(at); /* middles of elements lie half an element in */
    float *share = r->share + i * r->width;
    int64_t before = (int64_t)floor(at);
    switch (interpolation) {
    case MXCI_NEAREST:
        r->first[i] = (int64_t)floor((double)i * scale);
        share[0] = 1;
        break;
    case MXCI_CUBIC:
        r->first[i] = before - 1;
        mxci_share_cubic(t, share);
        break;
    case MXCI_LANCZOS:
        r->first[i] = before - 3;
        mxci_share_lanczos(t, share);
        break;
    default:
        r->first[i] = before;
        share[0] = (float)(1 - t);
        share[1] = (float)t;
    }
}

/* The taps of element i. */
MXCI_SCALAR void mxci_resample_taps(const mxci_resample *r, int interpolation, int64_t i) {
    const double scale = (double)r->in / (double)r->out;
    if (interpolation == MXCI_AREA)
        mxci_taps_mean(r, i, scale);
    else if (interpolation == MXCI_STEP)
        mxci_taps_step(r, i, scale);
    else
        mxci_taps_element(r, interpolation, i, scale);
}

/* The element of 0..n-1 that a tap reads. */
MXCI_SCALAR int64_t mxci_inside(int64_t at, int64_t n) {
    return at < 0 ? 0 : at < n ? at : n - 1;
}

MXCI_SCALAR uint8_t mxci_pixel_byte(float x) {
    return (uint8_t)(x > 0 ? x < 255 ? rintf(x) : 255 : 0);
}

/* ---- borders ----------------------------------------------------------------------------------------------------- */

MXCI_SCALAR int64_t mxci_modulo(int64_t a, int64_t n) {
    return (a % n + n) % n;
}

/* The element of 0..n-1 that stands at place at of the infinite axis; -1: the value. n above 0. */
MXCI_SCALAR int64_t mxci_border_place(int border, int64_t at, int64_t n) {
    if (at >= 0 && at < n)
        return at;
    switch (border) {
    case MXCI_BORDER_EDGE:
        return mxci_inside(at, n);
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
