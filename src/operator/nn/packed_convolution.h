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

/* ---- what packed convolutions of all dtypes share ---------------------------------------------------------------- */

enum {
    MXCI_PACKED_POINTS_LIMIT = 1 << 13, /* points of a block of pixels: 64 KiB */
    MXCI_PACKED_LAYOUT = 3              /* a value of layout for which mxci_conv_channels_last is 1 */
};

/* A parameter that Convolution has, too; first: its default, NULL for none. The struct begins with mxci_conv_params. */
#define MXCI_PACKED_PARAM(field, kind, first, least, most)                                                       \
    {                                                                                                            \
        MXC_PARAM_FIELD(mxci_conv_params, field), .name = #field, .type = kind, .initial = first, .bounded = 1,  \
                                                  .minimum = least, .maximum = most, .doc = "As of Convolution." \
    }
#define MXCI_PACKED_GEOMETRY                                               \
    MXCI_PACKED_PARAM(kernel, MXC_PARAM_TUPLE, NULL, 1, 2147483647.0),     \
        MXCI_PACKED_PARAM(stride, MXC_PARAM_TUPLE, "()", 1, 2147483647.0), \
        MXCI_PACKED_PARAM(dilate, MXC_PARAM_TUPLE, "()", 1, 2147483647.0), \
        MXCI_PACKED_PARAM(pad, MXC_PARAM_TUPLE, "()", 0, 2147483647.0),    \
        MXCI_PACKED_PARAM(num_filter, MXC_PARAM_INT, NULL, 1, 100000)

/* Strips of pixels in a block, whose points, strip_points for each strip, are made together: several blocks times
 * panels for each of parts threads, and no more points than the limit. */
int64_t mxci_packed_block(int64_t strips, int64_t panels, int64_t strip_points, int parts);

/* ------------------------------------------------------------------------------------------------------------------ */

/* The two operators for a convolution of these shapes, if it is faster so: float32, channels last, on a CPU. Else both
 * NULL. The caller releases them. */
mxc_status mxci_packed_convolution(const mxc_op_sig *sig, mxc_op **pack, mxc_op **packed);

#endif
