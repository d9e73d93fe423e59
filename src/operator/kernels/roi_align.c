#include "operator/kernels/roi_align.h"

#include <math.h>
#include <string.h>

enum { TAPS = 64 }; /* places worked on at a time: each is read in all planes */

/* The four elements around a place, and what each counts. */
typedef struct align_tap {
    int64_t at[4];
    double share[4];
} align_tap;

/* The places of one part of a region: first..last-1 along each axis (y, x) are those that may be in the plane. */
typedef struct align_part {
    double start[2], step[2], count; /* count: of all places */
    int64_t first[2], last[2];
} align_part;

/* Which of n places, step apart, may lie between -1 and size. */
static void find_places(double start, double step, int64_t n, int64_t size, int64_t *first, int64_t *last) {
    *first = 0;
    *last = n;
    if (!(step > 0))
        return;
    double low = (-1 - start) / step - 2, high = ((double)size - start) / step + 2;
    *first = low > 0 ? low < (double)n ? (int64_t)low : n : 0;
    *last = high < (double)n ? high > 0 ? (int64_t)high : 0 : n;
}

/* Part (row, column) of a region. Coordinates are cut to what a number of places can hold. */
static align_part open_part(const mxci_align_shape *s, const double *roi, int64_t index) {
    const int64_t at[2] = {index / s->out[1], index % s->out[1]};
    align_part p = {.count = 1};
    for (int k = 0; k < 2; k++) {
        double low = fmin(fmax(roi[2 - k] * s->scale, -1e9), 1e9), high = fmin(fmax(roi[4 - k] * s->scale, -1e9), 1e9);
        double size = s->aligned ? high - low : fmax(high - low, 1), part = size / (double)s->out[k];
        int64_t n = s->ratio > 0 ? s->ratio : (int64_t)ceil(part);
        p.step[k] = n > 0 ? part / (double)n : 0;
        p.start[k] = low - (s->aligned ? 0.5 : 0) + (double)at[k] * part + p.step[k] / 2;
        p.count *= (double)n;
        find_places(p.start[k], p.step[k], n, s->in[k], &p.first[k], &p.last[k]);
    }
    p.count = p.count > 1 ? p.count : 1;
    return p;
}

/* The neighbours of a place along an axis of n elements, and what the second counts; 0: it is outside. */
static int find_pair(double at, int64_t n, int64_t *pair, double *share) {
    if (!(at >= -1 && at <= (double)n))
        return 0;
    at = at > 0 ? at : 0;
    pair[0] = at < (double)(n - 1) ? (int64_t)at : n - 1;
    pair[1] = pair[0] + 1 < n ? pair[0] + 1 : pair[0];
    *share = pair[1] > pair[0] ? at - (double)pair[0] : 0;
    return 1;
}

/* Taps of up to TAPS places from *place on, row by row, which moves behind them; -1: there are no more places. */
static int next_taps(const mxci_align_shape *s, const align_part *p, int64_t *place, align_tap *taps) {
    const int64_t rows = p->last[0] - p->first[0], columns = p->last[1] - p->first[1];
    int n = 0;
    if (rows <= 0 || columns <= 0 || *place >= rows * columns)
        return -1;
    for (; n < TAPS && *place < rows * columns; ++*place) {
        double y = p->start[0] + (double)(p->first[0] + *place / columns) * p->step[0], v;
        double x = p->start[1] + (double)(p->first[1] + *place % columns) * p->step[1], u;
        int64_t row[2], column[2];
        if (!find_pair(y, s->in[0], row, &v) || !find_pair(x, s->in[1], column, &u))
            continue;
        for (int k = 0; k < 4; k++) {
            taps[n].at[k] = row[k >> 1] * s->in[1] + column[k & 1];
            taps[n].share[k] = (k >> 1 ? v : 1 - v) * (k & 1 ? u : 1 - u) / p->count;
        }
        n++;
    }
    return n;
}

#define T float
#define NAME(x) x##_f32
#include "operator/kernels/roi_align.inc"
#undef T
#undef NAME

#define T double
#define NAME(x) x##_f64
#include "operator/kernels/roi_align.inc"
