/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversion of dense rows from one element type to another, and filling. dtypes are the flags of mxc/dtype.def.
 *
 * Float to integer truncates towards zero and saturates, NaN gives 0. Integers to narrower integers keep the low bits.
 * Anything to bool is != 0, and a bool converts as 0 or 1 whatever its byte. To f16 and bf16 the way is through float.
 */
#ifndef MXCI_MATH_CAST_KERNELS_H
#define MXCI_MATH_CAST_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* to[i] = from[i] for n elements; both dtypes must exist; the rows must not overlap. */
void mxci_convert(int from_dtype, const void *from, int to_dtype, void *to, int64_t n);

/* Copy one element of bytes bytes (1, 2, 4 or 8) n times. */
void mxci_repeat(const void *element, size_t bytes, void *to, int64_t n);

#endif
