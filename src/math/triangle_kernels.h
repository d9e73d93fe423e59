/* SPDX-License-Identifier: Apache-2.0 */
/* Triangles of square matrices in C order, by dtype: float32 and float64. */
#ifndef MXCI_MATH_TRIANGLE_KERNELS_H
#define MXCI_MATH_TRIANGLE_KERNELS_H

#include <mxc/types.h>

#include "math/loop.h"

typedef void (*mxci_triangle_fn)(int64_t n, int lower, void *a);

/* Elements outside of the lower (or upper) triangle, which includes the diagonal, become 0 (clear), or the element
 * across the diagonal (mirror). */
extern const mxci_triangle_fn mxci_triangle_clear[MXC_F64 + 1], mxci_triangle_mirror[MXC_F64 + 1];

/* Packed storage: the elements of a triangle one behind the other. A triangle of a matrix (n,n) has its corners on a
 * diagonal, `offset` away from the main one; it is stored by rows if it is the lower one, by columns otherwise, so that
 * row i of the storage has i + 1 elements in both. */
typedef struct mxci_packed_triangle {
    int64_t n, rows; /* side of the matrix, and of the triangle */
    int64_t offset;  /* distance from the main diagonal, 0 or more */
    int lower;
} mxci_packed_triangle;

/* The element of the matrix that is element j of the storage's row i. */
MXCI_SCALAR int64_t mxci_packed_element(const mxci_packed_triangle *t, int64_t i, int64_t j) {
    return t->lower ? (i + t->offset) * t->n + j : j * t->n + i + t->offset;
}

/* pack: to, packed, = or += the triangle of from; unpack: the triangle of to = or += from, packed. The rest of the
 * matrix is left as it is. */
typedef void (*mxci_packed_triangle_fn)(const mxci_packed_triangle *t, int add, const void *from, void *to);
extern const mxci_packed_triangle_fn mxci_triangle_pack[MXC_F64 + 1], mxci_triangle_unpack[MXC_F64 + 1];

#endif
