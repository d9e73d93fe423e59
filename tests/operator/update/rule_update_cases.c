/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _multi_update, _multi_adamw_update and _multi_mp_adamw_update. */
#include <math.h>

#include "operator/update/update_reference.h"

static double adamw_step(const op_run *r, int i, double w, double d, double *s) {
    double beta1 = case_number(r, "beta1", 0.9), beta2 = case_number(r, "beta2", 0.999), step;
    s[0] = beta1 * s[0] + (1 - beta1) * d;
    s[1] = beta2 * s[1] + (1 - beta2) * d * d;
    step = case_entry(r, "lrs", i, NAN) * s[0] / (sqrt(s[1]) + case_number(r, "epsilon", 1e-8));
    return w - case_entry(r, "etas", i, NAN) * (step + case_entry(r, "wds", i, NAN) * w);
}

/* The operators named after adamw: the factor is the last state. */
static void multi_adamw(const op_run *r, int has_master) {
    const int states = 2 + has_master;
    const double factor = r->aux[r->n_aux - 1][0];
    for (int i = 0; i < r->n_out; i++)
        for (int64_t k = 0; k < case_size(&r->out_shape[i]); k++) {
            double *const *aux = r->aux + states * i, s[2] = {aux[0][k], aux[1][k]};
            double w = has_master ? aux[2][k] : r->in[2 * i][k];
            if (factor != 0)
                w = adamw_step(r, i, w, case_clipped_gradient(r, factor * r->in[2 * i + 1][k]), s);
            aux[0][k] = s[0];
            aux[1][k] = s[1];
            if (has_master)
                aux[2][k] = w;
            r->out[i][k] = w;
        }
}

static void ref_multi_adamw(const op_run *r) {
    multi_adamw(r, 0);
}

static void ref_multi_mp_adamw(const op_run *r) {
    multi_adamw(r, 1);
}

/* _multi_update: one step, whose states and f32 copy are those given. */
static double ruled_step(const op_run *r, int i, double w, double g, double *s) {
    double lr = case_entry(r, "lrs", i, NAN), wd = case_entry(r, "wds", i, NAN), d;
    g *= case_is(r, "scaled", "1") ? r->aux[r->n_aux - 1][0] : 1;
    d = case_clipped_gradient(r, g);
    if (case_is(r, "rule", "sgd_mom")) {
        s[0] = case_number(r, "momentum", 0) * s[0] - lr * wd * w - lr * d;
        return w + s[0];
    }
    if (case_is(r, "rule", "adamw"))
        return adamw_step(r, i, w, d, s);
    return w - lr * wd * w - lr * d;
}

static void ref_multi(const op_run *r) {
    int scaled = case_is(r, "scaled", "1"), has_master = case_is(r, "multi_precision", "1");
    int states = (r->n_aux - scaled) / r->n_out;
    double factor = scaled ? r->aux[r->n_aux - 1][0] : 1;
    for (int i = 0; i < r->n_out; i++) {
        double *const *aux = r->aux + states * i, *master = has_master ? aux[states - 1] : NULL;
        for (int64_t k = 0; k < case_size(&r->out_shape[i]); k++) {
            double s[2] = {0}, w = master ? master[k] : r->in[2 * i][k];
            for (int j = 0; j < states - has_master; j++)
                s[j] = aux[j][k];
            if (factor != 0 && isfinite(factor))
                w = ruled_step(r, i, w, r->in[2 * i + 1][k], s);
            for (int j = 0; j < states - has_master; j++)
                aux[j][k] = s[j];
            r->out[i][k] = w;
            if (master)
                master[k] = w;
        }
    }
}

#define FACTOR_SET(s) CASE_THREE(s) " 1"
#define ADAMW_SET(s) CASE_FOUR(s) " 1"
#define MP_ADAMW_SET(s) CASE_FIVE(s) " 1"
#define ADAMW_TWO "lrs=(0.5,0.2) wds=(0.1,0) etas=(0.1,0.2) num_weights=2 clip_gradient=0.2"

static const op_case cases[] = {
    UPDATE("_multi_update", "rule=sgd lrs=(0.1) wds=(0.1) etas=(0)", "7 7" CASE_EACH(CASE_TWO) "; 5x9@-1:1n 5x9@-1:1nf",
           ref_multi),
    UPDATE("_multi_update", "rule=sgd lrs=(0.2) wds=(0) etas=(0) clip_gradient=0.3", "7 7; 1031 1031", ref_multi),
    UPDATE("_multi_update", "rule=sgd_mom lrs=(0.1,0.2) wds=(0,0.1) etas=(0,0) num_weights=2 momentum=0.5",
           "7 7 2x3 2x3 7 2x3; 1031 1031 0 0 1031 0", ref_multi),
    UPDATE("_multi_update", "rule=sgd_mom multi_precision=1 lrs=(0.1) wds=(0.1) etas=(0) momentum=0.9",
           "7 7 7 7" CASE_EACH(CASE_FOUR), ref_multi),
    UPDATE("_multi_update", "rule=sgd_mom scaled=1 lrs=(0.1) wds=(0.1) etas=(0) momentum=0.9",
           "7 7 7 1@0.25:0.5" CASE_EACH(FACTOR_SET), ref_multi),
    UPDATE("_multi_update", "rule=sgd_mom scaled=1 lrs=(0.1) wds=(0.1) etas=(0) momentum=0.9", "7 7 7 1@0:0",
           ref_multi),
    UPDATE("_multi_update", "rule=sgd scaled=1 multi_precision=1 lrs=(0.1,1) wds=(0,0.1) etas=(0,0) num_weights=2",
           "7 7 2x3 2x3 7 2x3 1@0.25:0.5; 7 7 2x3 2x3 7 2x3 1@0:0", ref_multi),
    UPDATE("_multi_update", "rule=adamw scaled=1 lrs=(0.5) wds=(0.1) etas=(0.1) rescale_grad=0.5",
           "5 5 5 5@0.1:1 1@0.25:1; 2x3 2x3 2x3 2x3@0.1:1 1@0:0", ref_multi),
    UPDATE("_multi_adamw_update", "lrs=(0.5) wds=(0.1) etas=(0.1)",
           "3x5 3x5 3x5 3x5@0.1:1 1@0.25:1" CASE_EACH(ADAMW_SET), ref_multi_adamw),
    UPDATE("_multi_adamw_update", ADAMW_TWO " beta1=0.8 beta2=0.9 epsilon=0.01; " ADAMW_TWO,
           "7 7 2x3 2x3 7 7@0.1:1 2x3 2x3@0.1:1 1@0.25:1; 7 7 2x3 2x3 7 7 2x3 2x3 1@0:0", ref_multi_adamw),
    INFERS("_multi_adamw_update", "lrs=(1) wds=(0) etas=(1)", "?,2x3,?,?,? -> ? => 2x3,2x3,2x3,2x3,1 -> 2x3"),
    FAILS("_multi_adamw_update", "lrs=(1) wds=(0) etas=()", "2 2 2 2 1", MXC_EINVAL, "_multi_adamw_update: lrs has 1"),
    FAILS("_multi_adamw_update", "lrs=(1) wds=(0) etas=(1)", "2 2 2 2 2", MXC_ESHAPE, "the factor has shape"),
    UPDATE("_multi_mp_adamw_update", "lrs=(0.5) wds=(0.1) etas=(0.1)",
           "3x5 3x5 3x5 3x5@0.1:1 3x5 1@0.25:1" CASE_EACH(MP_ADAMW_SET), ref_multi_mp_adamw),
    UPDATE("_multi_mp_adamw_update", ADAMW_TWO, "7 7 2x3 2x3 7 7@0.1:1 7 2x3 2x3@0.1:1 2x3 1@0.25:1",
           ref_multi_mp_adamw),
    FAILS("_multi_mp_adamw_update", "lrs=(1) wds=() etas=(1)", "2 2 2 2 2 1", MXC_EINVAL, "wds 0"),
    FAILS("_multi_update", "rule=ftml lrs=(1) wds=(0) etas=(0)", "2 2 2 2 2", MXC_EINVAL, "ftml_update"),
    INFERS("_multi_update", "rule=adam lrs=(1) wds=(0) etas=(0)", "?,2x3,?,? -> ? => 2x3,2x3,2x3,2x3 -> 2x3"),
    FAILS("_multi_update", "rule=lamb lrs=(1) wds=(0) etas=(0)", "2 2 2 2", MXC_EINVAL, "two operators"),
    FAILS("_multi_update", "rule=sgd lrs=(1) wds=(0) etas=()", "2 2", MXC_EINVAL, "etas 0, expected num_weights, 1"),
    FAILS("_multi_update", "rule=sgd lrs=(1) wds=(0) etas=(0) scaled=1", "2 2 2", MXC_ESHAPE, "the factor has shape"),
};

MXC_CASES(update_rule_update_cases, cases);
