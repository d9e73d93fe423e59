/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of identity, BlockGrad, zeros_like and ones_like. */
#include "operator/elementwise/elementwise_reference.h"

static void ref_zeros(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = 0;
}

static void ref_ones(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = 1;
}

static const op_case cases[] = {
    SHAPES("_copy", case_copy, "-2:2.3"),
    SHAPES("identity", case_copy, "-2:2.3"),
    {.op = "BlockGrad",
     .in = "2x3" CASE_EACH(CASE_ONE) "; 5x9@-1:1nf",
     .reference = case_copy,
     .gradient = case_zero_gradient},
    {.op = "zeros_like", .in = "2x3" CASE_EACH(CASE_ONE) "; 5x9@-1:1nf", .reference = ref_zeros},
    {.op = "ones_like", .in = "2x3" CASE_EACH(CASE_ONE) "; 5x9@-1:1nf", .reference = ref_ones},
};

MXC_CASES(elementwise_copy_cases, cases);
