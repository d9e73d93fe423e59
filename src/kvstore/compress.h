/*
 * Two-bit compression with error feedback: of each value +threshold, -threshold or 0 travels, and what is left over is
 * added to the next one. Words are MXNet's: 16 values in 32 bits, the first in the highest; 11 is +, 10 is -, 00 is 0.
 */
#ifndef MXCI_KVSTORE_COMPRESS_H
#define MXCI_KVSTORE_COMPRESS_H

#include <mxc/ndarray.h>

enum { MXCI_VALUES_PER_WORD = 16 };

/* Queue words = compressed(values + rest), rest = what is left over. values, rest (16 n,) f32; words (n,) i32. */
mxc_status mxci_compress(mxc_ndarray *values, mxc_ndarray *rest, mxc_ndarray *words, float threshold, int priority);
/* Queue values = the sum of what the ranks' words say, in the order of ranks. words (ranks, n). */
mxc_status mxci_expand(mxc_ndarray *words, mxc_ndarray *values, float threshold, int priority);

#endif
