/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _chain. */
#include <math.h>

#include "operator/cases.h"

/* _chain: relu(a + b); tanh(a / 2 + a); max((1 - a) b, c). */
static void ref_chain(const op_run *r) {
    for (int64_t k = 0; k < case_size(&r->out_shape[0]); k++) {
        double a = r->in[0][k], b = r->n_in > 1 ? r->in[1][k] : 0, x;
        if (r->n_in == 1) {
            r->out[0][k] = tanh(a * 0.5 + a);
            continue;
        }
        x = r->n_in == 2 ? a + b : (1 - a) * b;
        r->out[0][k] = fmax(x, r->n_in == 2 ? 0 : r->in[2][k]);
    }
}

#define CHAIN(given, shapes) \
    { .op = "_chain", .params = given, .in = shapes, .reference = ref_chain, .flags = CASE_NO_GRADIENT }

static const op_case cases[] = {
    CHAIN("num_args=2 steps=add:i0:i1,relu:s0", "7 7" CASE_EACH(CASE_TWO) "; 40000 40000"),
    CHAIN("num_args=1 steps=mul:i0:0.5,add:s0:i0,tanh:s1", "3x129; 0"),
    CHAIN("num_args=3 steps=sub:1:i0,mul:s0:i1,maximum:s1:i2", "2x3x4 2x3x4 2x3x4; 1031 1031 1031"),
    FAILS("_chain", "num_args=1 steps=", "2", MXC_EINVAL, "no step"),
    FAILS("_chain", "num_args=1 steps=add:i0:i1", "2", MXC_EINVAL, "step 0, \"add:i0:i1\""),
    FAILS("_chain", "num_args=1 steps=relu:s0", "2", MXC_EINVAL, "step 0"),
    FAILS("_chain", "num_args=1 steps=gamma:i0", "2", MXC_EINVAL, "step 0"),
};

MXC_CASES(elementwise_chain_cases, cases);
