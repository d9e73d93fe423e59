/* SPDX-License-Identifier: Apache-2.0 */
/* References that several operators on images share. */
#ifndef MXC_TESTS_OPERATOR_VISION_REFERENCE_H
#define MXC_TESTS_OPERATOR_VISION_REFERENCE_H

#include "operator/cases.h"

/* Coordinate k (0: x, 1: y) of position i of a regular grid over [-1, 1]. */
double case_grid_coordinate(int k, int64_t i, int64_t height, int64_t width);

/* The same after the affine transformation theta (2 x 3). */
double case_affine_coordinate(const double *theta, int k, int64_t i, int64_t height, int64_t width);

#endif
