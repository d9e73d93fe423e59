/* SPDX-License-Identifier: Apache-2.0 */
/* References that several indexing operators share. */
#ifndef MXC_TESTS_OPERATOR_INDEX_REFERENCE_H
#define MXC_TESTS_OPERATOR_INDEX_REFERENCE_H

#include "operator/cases.h"

/* The integral part of an index as one of 0..size-1: clipped, or modulo size with mode=wrap. */
int64_t case_index_position(const op_run *r, double index, int64_t size);

/* The parameter axis as one of 0..ndim-1. */
int case_axis(const op_run *r, double initial);

/* The number of elements of the axes from axis on. */
int64_t case_size_from(const mxc_shape *s, int axis);

/* out[i] = data[source(i)] for every element. */
void case_select(const op_run *r, int64_t (*source)(const op_run *r, int64_t i));

/* A case whose second input holds indices, which have no gradient. */
#define INDEXED(name, given, shapes, ref) \
    { .op = name, .params = given, .in = shapes, .constant = 2, .reference = ref }

#endif
