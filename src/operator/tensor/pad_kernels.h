/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Padding of the last three axes; the axes before them count planes. Outside of in, out holds a constant, the nearest
 * element, or the element mirrored at the border.
 */
#ifndef MXCI_OPERATOR_TENSOR_PAD_KERNELS_H
#define MXCI_OPERATOR_TENSOR_PAD_KERNELS_H

#include <stdint.h>

#include <mxc/types.h>

#include "math/loop.h"

enum { MXCI_PAD_CONSTANT, MXCI_PAD_EDGE, MXCI_PAD_REFLECT };

typedef struct mxci_pad_shape {
    int mode;
    int64_t in[3], out[3], before[3]; /* MXCI_PAD_REFLECT: less than in on either side */
    double value;
    int add; /* results are added to what is there */
} mxci_pad_shape;

/* The element of in that element o of out along an axis is; -1: none, it is the constant. */
MXCI_SCALAR int64_t mxci_pad_source(const mxci_pad_shape *s, int axis, int64_t o) {
    int64_t i = o - s->before[axis], last = s->in[axis] - 1;
    if (i >= 0 && i <= last)
        return i;
    if (s->mode == MXCI_PAD_CONSTANT)
        return -1;
    if (s->mode == MXCI_PAD_EDGE)
        return i < 0 ? 0 : last;
    return i < 0 ? -i : 2 * last - i;
}

/* forward: rows begin..end-1 (of all planes) of out; backward: rows of in's gradient, from out's. */
typedef void (*mxci_pad_fn)(const mxci_pad_shape *s, const void *from, void *to, int64_t begin, int64_t end);

extern const mxci_pad_fn mxci_pad_forward[MXC_DTYPE_LIMIT];
extern const mxci_pad_fn mxci_pad_backward[MXC_DTYPE_LIMIT];

#endif
