/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between an image's channel and the columns of its windows, for float and double. A channel (in) has K x P
 * columns: row k holds what each of the P windows (out) has under its position k, 0 in the padding. */
#ifndef MXCI_OPERATOR_NN_IM2COL_KERNELS_H
#define MXCI_OPERATOR_NN_IM2COL_KERNELS_H

#include <mxc/types.h>

#include "operator/nn/convolution_kernels.h"

/* columns (K,P) = or += the elements of the channel. */
typedef void (*mxci_im2col_fn)(const mxci_conv_shape *s, const void *channel, int add, void *columns);
/* channel += the sum of the columns' elements that are copies of each element. */
typedef void (*mxci_col2im_fn)(const mxci_conv_shape *s, const void *columns, void *channel);

extern const mxci_im2col_fn mxci_im2col[MXC_F64 + 1];
extern const mxci_col2im_fn mxci_col2im[MXC_F64 + 1];

#endif
