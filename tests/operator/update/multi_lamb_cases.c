/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _multi_lamb_update and _multi_mp_lamb_update. */
#include <math.h>

#include "operator/update/update_reference.h"

static void ref_weight(const op_run *r, int i, double *const *aux, double *master) {
    const double beta1 = case_number(r, "beta1", 0.9), beta2 = case_number(r, "beta2", 0.999);
    const double lower = case_number(r, "lower_bound", -1), upper = case_number(r, "upper_bound", -1);
    const double t = (double)case_tuple(r, "step_count").value[i];
    const double wd = case_entry(r, "wds", i, NAN), lr = case_entry(r, "learning_rates", i, NAN);
    const double *w = master ? master : r->in[2 * i];
    const int64_t n = case_size(&r->out_shape[i]);
    const int corrects = !case_is(r, "bias_correction", "false");
    double *step = r->out[i], r1 = 0, r2 = 0, ratio;
    for (int64_t k = 0; k < n; k++) {
        const double g = case_clipped_gradient(r, r->in[2 * i + 1][k]);
        aux[0][k] = beta1 * aux[0][k] + (1 - beta1) * g;
        aux[1][k] = beta2 * aux[1][k] + (1 - beta2) * g * g;
        const double mean = corrects ? aux[0][k] / (1 - pow(beta1, t)) : aux[0][k];
        const double var = corrects ? aux[1][k] / (1 - pow(beta2, t)) : aux[1][k];
        step[k] = mean / (sqrt(var) + case_number(r, "epsilon", 1e-6)) + wd * w[k];
        r1 += w[k] * w[k];
        r2 += step[k] * step[k];
    }
    r1 = sqrt(r1);
    r1 = lower >= 0 ? fmax(r1, lower) : r1;
    r1 = upper >= 0 ? fmin(r1, upper) : r1;
    ratio = r1 == 0 || r2 == 0 ? 1 : r1 / sqrt(r2);
    for (int64_t k = 0; k < n; k++) {
        step[k] = w[k] - lr * ratio * step[k];
        if (master)
            master[k] = step[k];
    }
}

static void ref_multi_lamb(const op_run *r) {
    for (int i = 0; i < r->n_out; i++)
        ref_weight(r, i, r->aux + 2 * i, NULL);
}

static void ref_multi_mp_lamb(const op_run *r) {
    for (int i = 0; i < r->n_out; i++)
        ref_weight(r, i, r->aux + 3 * i, r->aux[3 * i + 2]);
}

#define ONE "learning_rates=(0.1) wds=(0.1) step_count=(2)"
#define TWO "learning_rates=(0.1,0.05) wds=(0.1,0) step_count=(2,5) num_tensors=2"
static const op_case cases[] = {
    UPDATE("_multi_lamb_update", ONE "; " ONE " lower_bound=4; " ONE " upper_bound=0.5 bias_correction=false",
           "7 7 7 7@0.1:1" CASE_EACH(CASE_FOUR), ref_multi_lamb),
    UPDATE("_multi_lamb_update", TWO "; " TWO " rescale_grad=0.5 clip_gradient=0.2 beta1=0.8 beta2=0.9 epsilon=0.01",
           "7 7 2x3 2x3 7 7@0.1:1 2x3 2x3@0.1:1; 1031 1031 0 0 1031 1031 0 0", ref_multi_lamb),
    UPDATE("_multi_lamb_update", ONE, "70000 70000 70000 70000@0.1:1; 5@0:0 5 5 5", ref_multi_lamb),
    INFERS("_multi_lamb_update", TWO, "?,2x3,4,?,?,?,?,? -> ?,? => 2x3,2x3,4,4,2x3,2x3,4,4 -> 2x3,4"),
    FAILS("_multi_lamb_update", "learning_rates=(1,2) wds=(0) step_count=(1)", "2 2 2 2", MXC_EINVAL,
          "learning_rates has 2 numbers"),
    FAILS("_multi_lamb_update", "learning_rates=(1) wds=(0) step_count=(0)", "2 2 2 2", MXC_EINVAL, "step_count"),
    FAILS("_multi_lamb_update", "learning_rates=(1) wds=(0) step_count=(1.5)", "2 2 2 2", MXC_EINVAL,
          "step_count 0 is 1.5, expected a whole number"),
    FAILS("_multi_lamb_update", TWO, "2 2 2 2 3 3 3 2", MXC_ESHAPE, "auxiliary state 'var_1'"),
    FAILS("_multi_lamb_update", ONE, "2 2 3 2", MXC_ESHAPE, "auxiliary state 'mean_0'"),
    UPDATE("_multi_mp_lamb_update", ONE "; " ONE " lower_bound=4", "7 7 7 7@0.1:1 7" CASE_EACH(CASE_FIVE),
           ref_multi_mp_lamb),
    UPDATE("_multi_mp_lamb_update", TWO, "7 7 2x3 2x3 7 7@0.1:1 7 2x3 2x3@0.1:1 2x3", ref_multi_mp_lamb),
    INFERS("_multi_mp_lamb_update", ONE, "?,?,?,?,2x3 -> ? => 2x3,2x3,2x3,2x3,2x3 -> 2x3"),
    FAILS("_multi_mp_lamb_update", "learning_rates=(1,2) wds=(0) step_count=(1)", "2 2 2 2 2", MXC_EINVAL,
          "_multi_mp_lamb_update: learning_rates has 2"),
    FAILS("_multi_mp_lamb_update", ONE, "2 2 2 2 3", MXC_ESHAPE, "auxiliary state 'weight32_0'"),
};

MXC_CASES(update_multi_lamb_cases, cases);
