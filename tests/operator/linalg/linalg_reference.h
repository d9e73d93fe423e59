/* SPDX-License-Identifier: Apache-2.0 */
/* References that several operators on matrices share. A matrix is the last two axes of an array, the others are its
 * batch. */
#ifndef MXC_TESTS_OPERATOR_LINALG_REFERENCE_H
#define MXC_TESTS_OPERATOR_LINALG_REFERENCE_H

#include "operator/cases.h"

/* Rows of each matrix, and how many matrices there are. */
int64_t case_rows(const mxc_shape *s);
int64_t case_batch(const mxc_shape *s);

/* Element (i, j) of the lower or upper triangle of an n x n matrix, 0 outside it. */
double case_triangle_at(const double *a, int64_t n, int64_t i, int64_t j, int lower);

/* x (n) = the solution of T x = b by substitution, where T is a triangle of a or its transpose. */
void case_substitute(int64_t n, const double *a, int lower, int transposed, const double *b, double *x);

/* Makes the diagonals at least 1.5, so that systems with the triangles are well conditioned. */
void case_strengthen_diagonal(const op_run *r);

/* A case whose inputs are prepared by fit. */
#define FITTED(name, given, shapes, ref, fit) \
    { .op = name, .params = given, .in = shapes, .reference = ref, .prepare = fit, .tolerance = 20 }

#endif
