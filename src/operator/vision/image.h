/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of _cvimresize and _cvcopyMakeBorder, for C and GPU modules. */
#ifndef MXCI_OPERATOR_VISION_IMAGE_H
#define MXCI_OPERATOR_VISION_IMAGE_H

#include <mxc/param.h>

typedef struct mxci_image_resize_params {
    int64_t w, h, interp;
} mxci_image_resize_params;

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
