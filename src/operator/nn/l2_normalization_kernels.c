/* SPDX-License-Identifier: Apache-2.0 */
/* L2Normalization for each floating dtype, by strips of up to 64 columns. */
#include "operator/nn/l2_normalization_kernels.h"

#include <math.h>

#include "math/loop.h"

enum { COLUMNS = MXCI_L2_COLUMNS };

/* A strip as rows of width elements, step apart, the last one of last elements. Where inner is 1 its k elements are cut
 * into rows, so that the loops over a row are long; their sums are then one. */
typedef struct strip {
    int64_t at, rows, step, width, last;
} strip;

/*
 * Strip `index`. With inner > 1 a row is one index of k and the columns are neighbours in memory. With inner == 1 a
 * vector is contiguous and is itself laid out as rows of COLUMNS, the last of them shorter.
 */
static strip strip_of(const mxci_l2_shape *s, int64_t index) {
    int64_t per_outer = (s->inner + COLUMNS - 1) / COLUMNS, column = index % per_outer * COLUMNS;
    int64_t width = s->inner - column < COLUMNS ? s->inner - column : COLUMNS;
    strip t = {index / per_outer * s->k * s->inner + column, s->k, s->inner, width, width};
    if (s->inner > 1)
        return t;
    t.rows = (s->k + COLUMNS - 1) / COLUMNS;
    t.step = t.width = COLUMNS;
    t.last = s->k - (t.rows - 1) * COLUMNS;
    return t;
}

static int64_t row_width(const strip *t, int64_t row) {
    return row < t->rows - 1 ? t->width : t->last;
}

/* Sums by column, or in all columns the one sum of a strip that was cut. */
static void finish_sums(const mxci_l2_shape *s, double *sum) {
    double all = 0;
    if (s->inner > 1)
        return;
    for (int c = 0; c < COLUMNS; c++)
        all += sum[c];
    for (int c = 0; c < COLUMNS; c++)
        sum[c] = all;
}

#define BODY "operator/nn/l2_normalization_kernels.inc"
#define FOR_FLOATS
#include "math/for_types.inc"

const mxci_l2_forward_fn mxci_l2_forward[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(forward);
const mxci_l2_backward_fn mxci_l2_backward[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(backward);
