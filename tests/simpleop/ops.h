/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators as a user of SimpleOp would register them, one for each choice that a registration has; float32 unless said
 * otherwise. Elements are put down with the request honoured.
 */
#ifndef MXC_TESTS_SIMPLEOP_OPS_H
#define MXC_TESTS_SIMPLEOP_OPS_H

#include <mxc/simpleop.h>

/*
 * t_ramp     ()          shape, step: i step; arity 0, keyword parameters, shape by function; float32 or float64
 * t_twice    (data)      2 data; gradient from out_grad; in place both ways; symbol t_Twice, aliases t_double, t_x2
 * t_exp      (data)      e^data; gradient from the output
 * t_scaled   (data)      scalar data^2; gradient from the input
 * t_over     (data)      scalar / data, scalar before; gradient from the input
 * t_power    (data)      data^exponent (keyword, default 2), negated where sign=minus
 * t_rowsum   (x)         (N,K) to (N); shape by function
 * t_centred  (data)      data - mean, through scratch; no gradient
 * t_noise    (data)      data + uniform [0,1); gradient from out_grad
 * t_step     (data)      data > 0; gradient zero; also integers
 * t_forget   (data)      data; arrays only
 * t_mix      (lhs, rhs)  lhs - 3 rhs; gradient from out_grad; in place of either
 * t_product  (a, b)      a b; gradient from the inputs; in place of the left
 * t_outer    (lhs, rhs)  (M) and (N) to (M,N); gradient from the inputs
 */
void register_all(void);

#endif
