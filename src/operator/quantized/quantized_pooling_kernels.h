/* SPDX-License-Identifier: Apache-2.0 */
/* Maxima of 8-bit images with channels last. */
#ifndef MXCI_OPERATOR_QUANTIZED_QUANTIZED_POOLING_KERNELS_H
#define MXCI_OPERATOR_QUANTIZED_QUANTIZED_POOLING_KERNELS_H

#include "operator/nn/pooling_kernels.h"

/* to (out[2], channels) = row number row of out[0] x out[1] of a sample (spatial, channels); 0 for an empty window. */
void mxci_quantized_pool_max(const mxci_pool_shape *s, int is_signed, int64_t channels, int64_t row, const void *from,
                             void *to);

#endif
