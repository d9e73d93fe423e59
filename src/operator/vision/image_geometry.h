/* SPDX-License-Identifier: Apache-2.0 */
/* Crops and mirrors of images, for C and GPU modules. */
#ifndef MXCI_OPERATOR_VISION_IMAGE_GEOMETRY_H
#define MXCI_OPERATOR_VISION_IMAGE_GEOMETRY_H

#include <mxc/op.h>

#include "math/distributions.h"

typedef struct mxci_crop_params {
    int64_t x, y, width, height;
} mxci_crop_params;

/* n images of (h,w) pixels; out has (to_h,to_w), from row y and column x on, or of the whole image mirrored. */
typedef struct mxci_image_part {
    int64_t n, h, w, channels, to_h, to_w, y, x;
    int flips_rows, flips_columns;
} mxci_image_part;

/* The part of the call's argument that its output is; params NULL: the whole. */
static inline mxci_image_part mxci_image_part_of(const mxc_op_call *call, const mxci_crop_params *params) {
    const mxc_shape *in = &call->in[0].shape, *out = &call->out[0].shape;
    const int first = in->ndim - 3;
    mxci_image_part p = {0};
    p.n = first > 0 ? in->dim[0] : 1;
    p.h = in->dim[first];
    p.w = in->dim[first + 1];
    p.channels = in->dim[first + 2];
    p.to_h = out->dim[first];
    p.to_w = out->dim[first + 1];
    p.y = params ? params->y : 0;
    p.x = params ? params->x : 0;
    return p;
}

/* The source's pixel of pixel (i,y,x) of out. */
MXC_PHILOX_FN int64_t mxci_image_source(const mxci_image_part *p, int64_t i, int64_t y, int64_t x) {
    const int64_t row = p->flips_rows ? p->h - 1 - y : p->y + y, column = p->flips_columns ? p->w - 1 - x : p->x + x;
    return (i * p->h + row) * p->w + column;
}

/* 0 or 1, equally likely: of a call with one random number. */
MXC_PHILOX_FN int mxci_image_coin(mxc_random random) {
    return (int)(mxc_philox_number(random.seed, random.stream, random.offset) >> 31);
}

#endif
