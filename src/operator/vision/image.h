/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of _cvimresize, _image_resize and _cvcopyMakeBorder, for C and GPU modules. */
#ifndef MXCI_OPERATOR_VISION_IMAGE_H
#define MXCI_OPERATOR_VISION_IMAGE_H

#include <mxc/op.h>

typedef struct mxci_image_resize_params {
    int64_t w, h, interp;
} mxci_image_resize_params;

/* Of _image_resize. */
typedef struct mxci_image_size_params {
    mxc_tuple size; /* (width, height), or one number */
    int32_t keep_ratio;
    int64_t interp;
} mxci_image_size_params;

/* A long side in proportion; INT64_MAX where it does not fit. */
static inline int64_t mxci_image_long_side(int64_t side, int64_t to, int64_t from) {
    const double wanted = (double)side * (double)to / (double)from;
    return wanted < 9e18 ? (int64_t)wanted : INT64_MAX;
}

/* What _image_resize makes of an image of (h,w): one number is that of both sides or, with keep_ratio, of the shorter
 * one. */
static inline mxci_image_resize_params mxci_image_target(const mxci_image_size_params *p, int64_t h, int64_t w) {
    mxci_image_resize_params to;
    to.w = p->size.value[0];
    to.h = p->size.value[p->size.n - 1];
    to.interp = p->interp;
    if (p->size.n == 1 && p->keep_ratio && h < w)
        to.w = mxci_image_long_side(w, to.h, h);
    else if (p->size.n == 1 && p->keep_ratio)
        to.h = mxci_image_long_side(h, to.w, w);
    return to;
}

typedef struct mxci_image_border_params {
    int64_t top, bot, left, right, type;
    double value;
    mxc_floats values;
} mxci_image_border_params;

/* The value of a constant border in channel c; 0 for channels that the parameter values lacks. */
static inline double mxci_border_value(const mxci_image_border_params *p, int64_t c) {
    return p->values.n > 0 ? c < p->values.n ? p->values.value[c] : 0 : p->value;
}

#endif
