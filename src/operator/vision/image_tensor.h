/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of _image_normalize, for C and GPU modules. */
#ifndef MXCI_OPERATOR_VISION_IMAGE_TENSOR_H
#define MXCI_OPERATOR_VISION_IMAGE_TENSOR_H

#include <mxc/param.h>

typedef struct mxci_image_normalize_params {
    mxc_floats mean, std;
} mxci_image_normalize_params;

/* The number of channel c; one number is that of all channels. */
static inline double mxci_image_channel_number(const mxc_floats *numbers, int64_t c) {
    return numbers->value[numbers->n == 1 ? 0 : c];
}

#endif
