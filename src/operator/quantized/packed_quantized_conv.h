/* SPDX-License-Identifier: Apache-2.0 */
/* From a _contrib_quantized_conv to _pack_quantized_conv, which packs its weight, and _packed_quantized_conv. */
#ifndef MXCI_OPERATOR_QUANTIZED_PACKED_QUANTIZED_CONV_H
#define MXCI_OPERATOR_QUANTIZED_PACKED_QUANTIZED_CONV_H

#include "operator/nn/convolution.h"

/* The two operators for a convolution of these shapes, if there are such: channels last, one group. Else both NULL. The
 * caller releases them. */
mxc_status mxci_packed_quantized_conv(const mxc_op_sig *sig, mxc_op **pack, mxc_op **packed);

#endif
