/* SPDX-License-Identifier: Apache-2.0 */
/* What convolutions of 8-bit data share: weights as rows of 16-bit integers, and one loop over tiles of pixels, whose
 * sums of products are written to the output or handed to a function that converts them. */
#ifndef MXCI_OPERATOR_QUANTIZED_QUANTIZED_CONV_H
#define MXCI_OPERATOR_QUANTIZED_QUANTIZED_CONV_H

#include "operator/nn/convolution.h"
#include "operator/quantized/int8_kernels.h"
#include "operator/quantized/quantized.h"

/* Of layers whose arguments are data, weight, bias or not, and the bounds of each: the unit of one of these, and to = n
 * elements of bias in the output's unit, saturated to int32. */
double mxci_quantized_layer_unit(const mxc_op_call *call, int slot);
void mxci_quantized_layer_bias(const mxc_op_call *call, int64_t n, int32_t *to);

/* Bytes of scratch: all weights, a bias of 32 bits for each filter, the geometry's tables, and for each part a block of
 * a padded image, a tile of patches and a tile of sums. */
typedef struct mxci_int8_conv_plan {
    mxci_conv_geometry geo;
    int64_t step; /* elements of a row of weights */
    size_t weights, bias, tables, image, patches, block;
} mxci_int8_conv_plan;

mxci_int8_conv_plan mxci_int8_conv_measure(const mxci_conv_params *p, const mxc_shape *data, const mxc_shape *out);
/* Takes them all, for so many parts. */
void mxci_int8_conv_take(mxci_scratch *s, const mxci_int8_conv_plan *plan, int64_t parts);

typedef struct mxci_int8_conv {
    const mxc_op_call *call; /* its argument 0 is the data */
    const mxci_int8_conv_plan *plan;
    int64_t groups, image, tiles; /* image: elements of a sample's group in data; tiles: of its output pixels */
    int16_t *weight;              /* (num_filter, plan->step), to be filled in */
    int32_t *bias;                /* num_filter, to be filled in; NULL: 0 */
    char *blocks;
    /* Converts n pixels of each filter of a group, whose first is element at of the output: sums (filters of the group,
     * MXCI_INT8_TILE). NULL: the sums are output 0. */
    void (*put)(const struct mxci_int8_conv *run, int64_t at, int64_t group, int64_t n, const int32_t *sums);
    const void *arg; /* for put */
} mxci_int8_conv;

/* Lays out the scratch of mxci_int8_conv_take; there must be output pixels. */
mxci_int8_conv mxci_int8_conv_begin(const mxc_op_call *call, const mxci_conv_params *p, void *scratch,
                                    mxci_int8_conv_plan *plan);
void mxci_int8_conv_run(const mxci_int8_conv *run);

#endif
