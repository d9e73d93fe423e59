/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of multi_lars. */
#include <math.h>

#include "operator/update/update_reference.h"

static void ref_lars(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        const double lr = r->in[0][i], w = sqrt(r->in[1][i]), g = sqrt(r->in[2][i]), wd = r->in[3][i];
        r->out[0][i] = lr;
        if (w > 0 && g > 0)
            r->out[0][i] = lr * case_number(r, "eta", 0) * w /
                           (g * case_number(r, "rescale_grad", 1) + wd * w + case_number(r, "eps", 0));
    }
}

static const op_case cases[] = {
    UPDATE("multi_lars", "eta=0.5 eps=0.01; eta=0.001 eps=0.1 rescale_grad=0.5",
           "7@0.1:1 7@0.1:4 7@0.1:4 7@0:1" CASE_EACH(CASE_FOUR), ref_lars),
    UPDATE("multi_lars", "eta=0.5 eps=0.01", "5@0.1:1 5@0:0 5@0:4 5@0:1; 5 5@1:2 5@0:0 5", ref_lars),
    INFERS("multi_lars", "eta=1 eps=1", "?,4,?,? -> ? => 4,4,4,4 -> 4"),
    FAILS("multi_lars", "eps=1", "2 2 2 2", MXC_EINVAL, "eta"),
    FAILS("multi_lars", "eta=1", "2 2 2 2", MXC_EINVAL, "eps"),
    FAILS("multi_lars", "eta=1 eps=1", "2 2 3 2", MXC_ESHAPE, "argument 'grads_sum_sq'"),
};

MXC_CASES(update_lars_cases, cases);
