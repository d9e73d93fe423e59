/* SPDX-License-Identifier: Apache-2.0 */
/* From a Convolution to _pack_convolution, which packs its weight, and _packed_convolution, which reads that. */
#ifndef MXCI_OPERATOR_NN_PACKED_CONVOLUTION_H
#define MXCI_OPERATOR_NN_PACKED_CONVOLUTION_H

#include "operator/nn/convolution.h"

typedef enum mxci_packed_algorithm {
    MXCI_PACKED_DIRECT,
    MXCI_PACKED_BY_CHANNEL, /* one filter a channel */
    MXCI_PACKED_WINOGRAD    /* operator/nn/packed_winograd.h */
} mxci_packed_algorithm;

typedef struct mxci_packed_params {
    mxci_conv_params conv; /* without workspace and cuDNN's */
    int32_t algorithm;
    double slope, limit;
} mxci_packed_params;

/* The two operators for a convolution of these shapes, if it is faster so: float32, channels last, on a CPU. Else both
 * NULL. The caller releases them. */
mxc_status mxci_packed_convolution(const mxc_op_sig *sig, mxc_op **pack, mxc_op **packed);

#endif
