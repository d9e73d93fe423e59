/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _contrib_quadratic. */
#include "operator/elementwise/elementwise_reference.h"

static void ref_quadratic(const op_run *r) {
    const double a = case_number(r, "a", 0), b = case_number(r, "b", 0), c = case_number(r, "c", 0);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        const double x = r->in[0][i];
        r->out[0][i] = a * x * x + b * x + c;
    }
}

static const op_case cases[] = {
    {.op = "_contrib_quadratic",
     .params = "a=1 b=2 c=3; a=-0.5 c=1; b=2",
     .in = INPUTS("3x5", "-2:2.3"),
     .reference = ref_quadratic},
    INFERS("_contrib_quadratic", "", "? -> 2x3 => 2x3 -> 2x3"),
};

MXC_CASES(elementwise_quadratic_cases, cases);
