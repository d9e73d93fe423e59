/* SPDX-License-Identifier: Apache-2.0 */
/* Rotation of pairs of a row's elements, tables by dtype (the floating ones). */
#ifndef MXCI_OPERATOR_NN_ROTARY_EMBEDDING_KERNELS_H
#define MXCI_OPERATOR_NN_ROTARY_EMBEDDING_KERNELS_H

#include <stdint.h>

#include <mxc/types.h>

typedef struct mxci_rotary {
    int64_t pairs;
    int interleaved; /* a pair is (2 i, 2 i + 1), else (i, pairs + i) */
    int inverse;     /* rotate by the negative angles */
    int add;
} mxci_rotary;

/* (y1, y2) = or += (x1 cos - x2 sin, x1 sin + x2 cos) for each pair. angles: cosines of all pairs, then sines, float
 * (double for f64). y may be x. */
typedef void (*mxci_rotary_fn)(const mxci_rotary *r, const void *angles, const void *x, void *y);
extern const mxci_rotary_fn mxci_rotary_rotate[MXC_DTYPE_LIMIT];

#endif
