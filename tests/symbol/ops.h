/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of the tests' own, so that symbols are tested whatever the library has; see test_ops_register. */
#ifndef MXC_TESTS_SYMBOL_OPS_H
#define MXC_TESTS_SYMBOL_OPS_H

#include <mxc/symbol.h>

#include "support.h"

/*
 * t_fc      (data, weight, bias) num_hidden, no_bias, workspace; shapes follow both ways; backward needs out_grad, in
 * t_bn      (data, gamma, beta; moving_mean, moving_var) eps; outputs output, mean, var, of which one is visible
 * t_act     (data) act_type; one shape; backward needs out_grad and out
 * t_add     (lhs, rhs) one shape
 * t_concat  (arg0, arg1, ...) num_args; all inputs have one shape, which the output has too
 * t_split   (data) num_outputs; all have one shape
 * t_liar    (data) changes a shape that it was given
 */
void test_ops_register(void);

/* Shorthands; each fails the test if the call fails. */
mxc_symbol *test_var(const char *name);
/* keys_values: "num_hidden", "10", NULL. */
mxc_symbol *test_op(const char *op, const char *name, int n_in, mxc_symbol *const *in, ...);
/* fc1 -> relu1 -> fc2 over variable "data". */
mxc_symbol *test_mlp(void);
/* The list must be the comma-separated words; releases it. */
void test_names(mxc_names *names, const char *expected);
mxc_shape test_shape(int ndim, ...); /* axes as int */

#endif
