/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _multi_update. */
#include <math.h>

#include "operator/update/update_reference.h"

/* _multi_update: one step, whose states and f32 copy are those given. */
static double ruled_step(const op_run *r, int i, double w, double g, double *s) {
    double lr = case_entry(r, "lrs", i, NAN), wd = case_entry(r, "wds", i, NAN), d, step;
    g *= case_is(r, "scaled", "1") ? r->aux[r->n_aux - 1][0] : 1;
    d = case_clipped_gradient(r, g);
    if (case_is(r, "rule", "sgd_mom")) {
        s[0] = case_number(r, "momentum", 0) * s[0] - lr * wd * w - lr * d;
        return w + s[0];
    }
    if (case_is(r, "rule", "adamw")) {
        s[0] = 0.9 * s[0] + 0.1 * d;
        s[1] = 0.999 * s[1] + 0.001 * d * d;
        step = lr * s[0] / (sqrt(s[1]) + 1e-8) + wd * w;
        return w - case_entry(r, "etas", i, NAN) * step;
    }
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
    INFERS("_multi_update", "rule=adam lrs=(1) wds=(0) etas=(0)", "?,2x3,?,? -> ? => 2x3,2x3,2x3,2x3 -> 2x3"),
    FAILS("_multi_update", "rule=lamb lrs=(1) wds=(0) etas=(0)", "2 2 2 2", MXC_EINVAL, "two operators"),
    FAILS("_multi_update", "rule=sgd lrs=(1) wds=(0) etas=()", "2 2", MXC_EINVAL, "etas 0, expected num_weights, 1"),
    FAILS("_multi_update", "rule=sgd lrs=(1) wds=(0) etas=(0) scaled=1", "2 2 2", MXC_ESHAPE, "the factor has shape"),
};

MXC_CASES(update_rule_update_cases, cases);
