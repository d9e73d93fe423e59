/* SPDX-License-Identifier: Apache-2.0 */
/* References that several quantized operators share. */
#ifndef MXC_TESTS_OPERATOR_QUANTIZED_REFERENCE_H
#define MXC_TESTS_OPERATOR_QUANTIZED_REFERENCE_H

#include "operator/cases.h"

/* The integer that stands for the largest magnitude. */
double case_quantized_max(mxc_dtype type);

/* The real number that 1 of argument slot stands for; arguments low and low + 1 hold its range. */
double case_quantized_unit(const op_run *r, int slot, int low);

/* What a code of output 0 stands for whose range has this bound; with half_steps it ends half a step beyond the codes.
 */
double case_range_unit(const op_run *r, double bound, mxc_dtype type);

/* x rounded and limited to what the dtype holds. */
double case_saturate(const op_run *r, double x, mxc_dtype type);

/* Writes the range of output 0 to outputs 1 and 2; with half_steps that of its codes. */
void case_put_range(const op_run *r, double low, double high);

/* Whether the parameters give the range, and the magnitude that they give. */
int case_is_calibrated(const op_run *r);
double case_calibrated_bound(const op_run *r);

/* Inputs: the range of one argument, of the same one again, data with its range, the ranges of two arguments. */
#define BOUNDS "1@-1.3:-1.1 1@0.9:1"
#define SAME " 1 1"
#define ANY(shape) shape "@-128:255i " BOUNDS
#define TWO_BOUNDS BOUNDS " 1@-0.5:-0.4 1@0.6:0.7"

#endif
