/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of ftml_update. */
#include <math.h>

#include "operator/update/update_reference.h"

static void ref_ftml(const op_run *r) {
    const double lr = case_number(r, "lr", 0), beta1 = case_number(r, "beta1", 0.6);
    const double beta2 = case_number(r, "beta2", 0.999), t = case_number(r, "t", 1);
    const double limit = case_number(r, "clip_grad", -1);
    double *d = r->aux[0], *v = r->aux[1], *z = r->aux[2];
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        double g = r->in[1][i] * case_number(r, "rescale_grad", 1) + case_number(r, "wd", 0) * r->in[0][i], next;
        g = limit < 0 ? g : fmax(-limit, fmin(limit, g));
        v[i] = beta2 * v[i] + (1 - beta2) * g * g;
        next = (1 - pow(beta1, t)) / lr * (sqrt(v[i] / (1 - pow(beta2, t))) + case_number(r, "epsilon", 1e-8));
        z[i] = beta1 * z[i] + (1 - beta1) * g - (next - beta1 * d[i]) * r->in[0][i];
        d[i] = next;
        r->out[0][i] = -z[i] / d[i];
    }
}

static const op_case cases[] = {
    UPDATE("ftml_update", "lr=0.1 t=1", "3x5 3x5 3x5@0.1:1 3x5@0.1:1 3x5" CASE_EACH(CASE_FIVE), ref_ftml),
    UPDATE("ftml_update",
           "lr=0.1 t=3 wd=0.01 rescale_grad=0.5 clip_grad=0.2; lr=1 t=100 beta1=0.9 beta2=0.99 epsilon=0.01",
           "1031 1031 1031@0.1:1 1031@0.1:1 1031; 40000 40000 40000 40000 40000", ref_ftml),
    INFERS("ftml_update", "lr=1 t=1", "?,2x3,?,?,? -> ? => 2x3,2x3,2x3,2x3,2x3 -> 2x3"),
    FAILS("ftml_update", "lr=1 t=1", "2 2 2 2 3", MXC_ESHAPE, "auxiliary state 'z'"),
    FAILS("ftml_update", "lr=1", "2 2 2 2 2", MXC_EINVAL, "t"),
    FAILS("ftml_update", "lr=1 t=0", "2 2 2 2 2", MXC_EINVAL, "t"),
    FAILS("ftml_update", "t=1", "2 2 2 2 2", MXC_EINVAL, "lr"),
};

MXC_CASES(update_ftml_cases, cases);
