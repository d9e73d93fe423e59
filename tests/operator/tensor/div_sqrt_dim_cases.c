/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _contrib_div_sqrt_dim. */
#include <math.h>

#include "operator/cases.h"

static void ref_div_sqrt_dim(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->out[0][i] = r->in[0][i] / sqrt((double)case_last_dim(&r->in_shape[0]));
}

static const op_case cases[] = {
    RUN("_contrib_div_sqrt_dim", "", "2x3@-2:2.3" CASE_AXES(CASE_ONE) "; 5x9@-2:2nf; 40x900", ref_div_sqrt_dim),
    FAILS("_contrib_div_sqrt_dim", "", "s", MXC_ESHAPE, "expected at least 1"),
    INFERS("_contrib_div_sqrt_dim", "", "? -> 2x3 => 2x3 -> 2x3"),
};

MXC_CASES(tensor_div_sqrt_dim_cases, cases);
