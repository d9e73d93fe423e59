/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of all_finite, multi_all_finite, _scale_gradient and _update_loss_scale. */
#include <math.h>

#include "operator/update/update_reference.h"

static void ref_finite(const op_run *r) {
    r->out[0][0] = 1;
    for (int i = 0; i < r->n_in; i++)
        for (int64_t k = 0; k < case_size(&r->in_shape[i]); k++)
            if (!isfinite(r->in[i][k]))
                r->out[0][0] = 0;
}

static void ref_scale(const op_run *r) {
    for (int64_t k = 0; k < case_size(&r->out_shape[0]); k++)
        r->out[0][k] = r->in[0][k];
}

static void grad_scale(const op_run *r) {
    for (int64_t k = 0; k < case_size(&r->out_shape[0]); k++)
        r->in_grad[0][k] = r->in[1][0] * r->out_grad[0][k];
}

static void ref_loss_scale(const op_run *r) {
    double *s = r->aux[0], interval = case_number(r, "interval", 0);
    int finite = r->in[0][0] != 0;
    r->out[0][0] = finite ? 1 / s[0] : 0;
    if (interval == 0)
        return;
    s[1] = finite ? s[1] + 1 : 0;
    s[0] = finite ? s[0] : fmax(1, s[0] / 2);
    if (s[1] >= interval) {
        s[0] = fmin(16777216, 2 * s[0]);
        s[1] = 0;
    }
}

#define SCALE_SET(s) CASE_ONE(s) " 2"

static const op_case cases[] = {
    UPDATE("all_finite", "", "7" CASE_EACH(CASE_ONE) "; 5x9@-1:1n; 5x9@-1:1f; 40000; 40000@-1:1n", ref_finite),
    INFERS("all_finite", "", "2x3 -> ? => 2x3 -> 1"),
    UPDATE("multi_all_finite", "num_arrays=1", "7" CASE_EACH(CASE_ONE) "; 5x9@-1:1nf", ref_finite),
    UPDATE("multi_all_finite", "num_arrays=3", "2x3 0x5 s; 2x3 7 3@-1:1f; 2x3@-1:1n 7 3", ref_finite),
    FAILS("multi_all_finite", "num_arrays=0", "", MXC_EINVAL, "num_arrays"),
    {.op = "_scale_gradient",
     .in = "7 2@2:9" CASE_EACH(SCALE_SET),
     .reference = ref_scale,
     .gradient = grad_scale,
     .constant = 2},
    FAILS("_scale_gradient", "", "7 3", MXC_ESHAPE, "argument 'state'"),
    UPDATE("_update_loss_scale", "interval=0; interval=1; interval=2; interval=7; interval=8",
           "1@1:1 2@4:6i; 1@0:0 2@4:6i; 1@1:1 2@16777216:16777216; 1@0:0 2@1:1", ref_loss_scale),
};

MXC_CASES(update_loss_scale_cases, cases);
