/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as indices of size elements (size > 0): their whole part, a NaN as 0. C and GPU kernels both read this. */
#ifndef MXCI_MATH_INDEX_H
#define MXCI_MATH_INDEX_H

#include <math.h>
#include <stdint.h>

#include "math/loop.h"

/* An index outside 0..size-1 becomes the nearest one, or is taken modulo size. */
enum { MXCI_INDEX_CLIP, MXCI_INDEX_WRAP };

MXCI_SCALAR int64_t mxci_index_clip(double index, int64_t size) {
    return index >= (double)size ? size - 1 : index > 0 ? (int64_t)index : 0;
}

MXCI_SCALAR int64_t mxci_index_wrap(double index, int64_t size) {
    double rest;
    if (index > -1 && index < (double)size) /* most are */
        return (int64_t)index;
    rest = fmod(trunc(index), (double)size); /* NaN for infinities too */
    rest += rest < 0 ? (double)size : 0;
    return rest > 0 ? (int64_t)rest : 0;
}

#endif
