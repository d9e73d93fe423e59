/* SPDX-License-Identifier: Apache-2.0 */
/* vision/roi_align_kernels.h for f32 and f64. */
#include "operator/vision/roi_align_kernels.h"

#include <string.h>

enum { TAPS = 64 }; /* points whose taps are computed at a time, since each is read in all planes */

/* The four elements around a point, and their weights. */
typedef struct align_tap {
    int64_t at[4];
    double share[4];
} align_tap;

/* The taps of up to TAPS points from *point on, row by row; *point moves behind them. Points outside have no tap.
 * Returns the number of taps; -1: there are no more points. */
static int next_taps(const mxci_align_shape *s, const mxci_align_bin *p, int64_t *point, align_tap *taps) {
    const int64_t rows = p->last[0] - p->first[0], columns = p->last[1] - p->first[1];
    int n = 0;
    if (rows <= 0 || columns <= 0 || *point >= rows * columns)
        return -1;
    for (; n < TAPS && *point < rows * columns; ++*point) {
        double y = p->start[0] + (double)(p->first[0] + *point / columns) * p->step[0], v;
        double x = p->start[1] + (double)(p->first[1] + *point % columns) * p->step[1], u;
        int64_t row[2], column[2];
        if (!mxci_align_pair(y, s->in[0], row, &v) || !mxci_align_pair(x, s->in[1], column, &u))
            continue;
        for (int k = 0; k < 4; k++) {
            taps[n].at[k] = row[k >> 1] * s->in[1] + column[k & 1];
            taps[n].share[k] = (k >> 1 ? v : 1 - v) * (k & 1 ? u : 1 - u) / p->count;
        }
        n++;
    }
    return n;
}

#define BODY "operator/vision/roi_align_kernels.inc"
#define FOR_REALS
#include "math/for_types.inc"
