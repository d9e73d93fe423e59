/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two-bit gradient compression with error feedback: +threshold, -threshold or 0 is sent for each value, and the error
 * (the residual) is added to the next gradient before that is quantized. (Seide et al. 2014, "1-bit SGD"; Strom 2015.)
 * The codes are packed as MXNet packs them: 16 values in 32 bits, the first in the highest bits; 11 is +, 10 is -, 00
 * is 0.
 */
#ifndef MXCI_KVSTORE_COMPRESS_H
#define MXCI_KVSTORE_COMPRESS_H

#include <mxc/ndarray.h>

enum { MXCI_VALUES_PER_WORD = 16 };

/* Queue codes = quantized(values + residual), residual = the error of that. values, residual (16 n,) f32; codes (n,)
 * i32. */
mxc_status mxci_compress(mxc_ndarray *values, mxc_ndarray *residual, mxc_ndarray *codes, float threshold, int priority);
/* Queue values = the sum of the ranks' decoded values, in the order of ranks. codes (ranks, n). */
mxc_status mxci_expand(mxc_ndarray *codes, mxc_ndarray *values, float threshold, int priority);

#endif
