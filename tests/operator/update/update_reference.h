/* SPDX-License-Identifier: Apache-2.0 */
/* References that several optimizer updates share. */
#ifndef MXC_TESTS_OPERATOR_UPDATE_REFERENCE_H
#define MXC_TESTS_OPERATOR_UPDATE_REFERENCE_H

#include "operator/cases.h"

/* A gradient times rescale_grad, clipped to clip_gradient. */
double case_clipped_gradient(const op_run *r, double grad);

/* -1, 0 or 1. */
double case_sign(double x);

/* Element i of the rescaled gradient plus wd times the weight, clipped together. */
double case_decayed_gradient(const op_run *r, int64_t i);

/* One step of the running means of g and of its square, element i of the two states. */
void case_update_moments(const op_run *r, int64_t i, double g);

/* A case of an operator without a gradient. */
#define UPDATE(name, given, shapes, ref) \
    { .op = name, .params = given, .in = shapes, .reference = ref, .flags = CASE_NO_GRADIENT }

#endif
