/* SPDX-License-Identifier: Apache-2.0 */
/* Triangles of square matrices in C order, by dtype: float32 and float64. */
#ifndef MXCI_MATH_TRIANGLE_KERNELS_H
#define MXCI_MATH_TRIANGLE_KERNELS_H

#include <mxc/types.h>

typedef void (*mxci_triangle_fn)(int64_t n, int lower, void *a);

/* Elements outside of the lower (or upper) triangle, which includes the diagonal, become 0 (clear), or the element
 * across the diagonal (mirror). */
extern const mxci_triangle_fn mxci_triangle_clear[MXC_F64 + 1], mxci_triangle_mirror[MXC_F64 + 1];

#endif
