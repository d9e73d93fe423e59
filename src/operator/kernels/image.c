#include "operator/kernels/image.h"

#include <math.h>

#include "base/simd.h"

/* ---- taps -------------------------------------------------------------------------------------------------------- */

enum { LANCZOS_TAPS = 8 };

int mxci_resample_kind(int interpolation, int64_t h, int64_t w, int64_t to_h, int64_t to_w) {
    return interpolation == MXCI_AREA && (to_h > h || to_w > w) ? MXCI_STEP : interpolation;
}

int64_t mxci_resample_width(int interpolation, int64_t in, int64_t out) {
    switch (interpolation) {
    case MXCI_NEAREST: return 1;
    case MXCI_CUBIC: return 4;
    case MXCI_LANCZOS: return LANCZOS_TAPS;
    case MXCI_AREA: return (in + out - 1) / out + 1;
    default: return 2;
    }
}

static size_t aligned(size_t bytes) {
    return (bytes + 63) & ~(size_t)63;
}

size_t mxci_resample_bytes(int interpolation, int64_t in, int64_t out) {
    return aligned((size_t)out * sizeof(int64_t)) +
           aligned((size_t)(out * mxci_resample_width(interpolation, in, out)) * sizeof(float));
}

/* Keys' cubic convolution with a = -0.75; t: how far behind the second tap. */
static void share_cubic(double t, float *share) {
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
static void share_lanczos(double t, float *share) {
    double sum = 0, w[LANCZOS_TAPS];
    for (int i = 0; i < LANCZOS_TAPS; i++) {
        double x = M_PI * (i - 3 - t);
        w[i] = fabs(x) < 1e-6 ? 1 : 4 * sin(x) * sin(x / 4) / (x * x);
        sum += w[i];
    }
    for (int i = 0; i < LANCZOS_TAPS; i++)
        share[i] = (float)(w[i] / sum);
}

/* Element i covers the elements from i scale to (i + 1) scale. */
static void plan_mean(mxci_resample *r, int64_t i, double scale) {
    double from = (double)i * scale, to = fmin(from + scale, (double)r->in);
    float *share = r->share + i * r->width;
    r->first[i] = (int64_t)from;
    for (int64_t k = 0; k < r->width; k++) {
        double low = fmax(from, (double)(r->first[i] + k)), high = fmin(to, (double)(r->first[i] + k + 1));
        share[k] = high - low > 1e-3 || k == 0 ? (float)((high - low) / (to - from)) : 0;
    }
}

/* An element of the result that lies within one of the image is that one; one that reaches into the next is between. */
static void plan_step(mxci_resample *r, int64_t i, double scale) {
    int64_t first = (int64_t)floor((double)i * scale);
    double t = (double)(i + 1) - (double)(first + 1) / scale;
    t = t <= 0 ? 0 : t - floor(t);
    r->first[i] = first;
    r->share[2 * i] = (float)(1 - t);
    r->share[2 * i + 1] = (float)t;
}

static void plan_element(mxci_resample *r, int interpolation, int64_t i, double scale) {
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
        share_cubic(t, share);
        break;
    case MXCI_LANCZOS:
        r->first[i] = before - 3;
        share_lanczos(t, share);
        break;
    default:
        r->first[i] = before;
        share[0] = (float)(1 - t);
        share[1] = (float)t;
    }
}

void mxci_resample_plan(int interpolation, int64_t in, int64_t out, void *table, mxci_resample *r) {
    double scale = (double)in / (double)out;
    *r = (mxci_resample){.in = in, .out = out, .width = mxci_resample_width(interpolation, in, out), .first = table,
                         .share = (float *)((char *)table + aligned((size_t)out * sizeof(int64_t)))};
    for (int64_t i = 0; i < out; i++)
        if (interpolation == MXCI_AREA)
            plan_mean(r, i, scale);
        else if (interpolation == MXCI_STEP)
            plan_step(r, i, scale);
        else
            plan_element(r, interpolation, i, scale);
}

static int64_t inside(int64_t at, int64_t n) {
    return at < 0 ? 0 : at < n ? at : n - 1;
}

/* ---- along rows -------------------------------------------------------------------------------------------------- */

#define T uint8_t
#define NAME(stem) stem##_u8
#include "operator/kernels/image_rows.inc"

#define T float
#define NAME(stem) stem##_f32
#include "operator/kernels/image_rows.inc"

/* ---- along columns ----------------------------------------------------------------------------------------------- */

enum { BLOCK = 256 };

/* sums = elements x..x+n-1 of row y of the result. */
static void add_rows(const mxci_resample *r, int64_t row, const float *from, int64_t y, int64_t x, int64_t n,
                     float *sums) {
    for (int64_t i = 0; i < n; i++)
        sums[i] = 0;
    for (int64_t k = 0; k < r->width; k++) {
        const float share = r->share[y * r->width + k], *source = from + inside(r->first[y] + k, r->in) * row + x;
        for (int64_t i = 0; i < n; i++)
            sums[i] += share * source[i];
    }
}

static uint8_t to_byte(float x) {
    return (uint8_t)(x > 0 ? x < 255 ? rintf(x) : 255 : 0);
}

static float to_float(float x) {
    return x;
}

#define COLUMNS(T, name, convert)                                                                                      \
    void name(const mxci_resample *r, int64_t row, const float *from, T *to, int64_t begin, int64_t end) {             \
        float sums[BLOCK];                                                                                             \
        for (int64_t y = begin; y < end; y++)                                                                          \
            for (int64_t x = 0; x < row; x += BLOCK) {                                                                 \
                int64_t n = row - x < BLOCK ? row - x : BLOCK;                                                         \
                add_rows(r, row, from, y, x, n, sums);                                                                 \
                for (int64_t i = 0; i < n; i++)                                                                        \
                    to[y * row + x + i] = convert(sums[i]);                                                            \
            }                                                                                                          \
    }
COLUMNS(uint8_t, mxci_resample_columns_u8, to_byte)
COLUMNS(float, mxci_resample_columns_f32, to_float)

/* ---- borders ----------------------------------------------------------------------------------------------------- */

static int64_t modulo(int64_t a, int64_t n) {
    return (a % n + n) % n;
}

int64_t mxci_border_place(int border, int64_t at, int64_t n) {
    if (at >= 0 && at < n)
        return at;
    switch (border) {
    case MXCI_BORDER_EDGE: return inside(at, n);
    case MXCI_BORDER_WRAP: return modulo(at, n);
    case MXCI_BORDER_MIRROR:
        at = modulo(at, 2 * n);
        return at < n ? at : 2 * n - 1 - at;
    case MXCI_BORDER_MIRROR_INSIDE:
        if (n == 1)
            return 0;
        at = modulo(at, 2 * n - 2);
        return at < n ? at : 2 * n - 2 - at;
    default: return -1;
    }
}
