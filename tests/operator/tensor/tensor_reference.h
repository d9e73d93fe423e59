/* SPDX-License-Identifier: Apache-2.0 */
/* References that several operators on whole arrays share. */
#ifndef MXC_TESTS_OPERATOR_TENSOR_REFERENCE_H
#define MXC_TESTS_OPERATOR_TENSOR_REFERENCE_H

#include "operator/cases.h"

/* The elements of the array that begin, end and step select, in order; returns how many there are. */
int64_t case_slice_elements(const op_run *r, const mxc_shape *array, int64_t *element);

#endif
