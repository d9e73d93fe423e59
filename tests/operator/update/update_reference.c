/* SPDX-License-Identifier: Apache-2.0 */
#include "operator/update/update_reference.h"

#include <math.h>

double case_clipped_gradient(const op_run *r, double grad) {
    double limit = case_number(r, "clip_gradient", -1), g = grad * case_number(r, "rescale_grad", 1);
    return limit < 0 ? g : fmax(-limit, fmin(limit, g));
}

double case_sign(double x) {
    return x > 0 ? 1 : x < 0 ? -1 : 0;
}

double case_decayed_gradient(const op_run *r, int64_t i) {
    double limit = case_number(r, "clip_gradient", -1);
    double g = r->in[1][i] * case_number(r, "rescale_grad", 1) + case_number(r, "wd", 0) * r->in[0][i];
    return limit < 0 ? g : fmax(-limit, fmin(limit, g));
}

void case_update_moments(const op_run *r, int64_t i, double g) {
    double beta1 = case_number(r, "beta1", 0.9), beta2 = case_number(r, "beta2", 0.999);
    r->aux[0][i] = beta1 * r->aux[0][i] + (1 - beta1) * g;
    r->aux[1][i] = beta2 * r->aux[1][i] + (1 - beta2) * g * g;
}
