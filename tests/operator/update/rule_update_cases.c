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

/* ---- rules that only _multi_update has --------------------------------------------------------------------------- */

/* One step of weight i, with the trust ratio of lars and lbsgd; d is the rescaled and clipped gradient. */
static double other_step(const op_run *r, int i, double ratio, double w, double g, double *s) {
    const double lr = case_entry(r, "lrs", i, NAN), wd = case_entry(r, "wds", i, NAN),
                 eta = case_entry(r, "etas", i, 0);
    const double beta1 = case_number(r, "beta1", 0.9), beta2 = case_number(r, "beta2", 0.999);
    const double epsilon = case_number(r, "epsilon", 1e-8), momentum = case_number(r, "momentum", 0);
    const double scale = case_entry(r, "scales", i, 1), rho = case_number(r, "rho", 0.9),
                 d = case_clipped_gradient(r, g);
    const double limit = case_number(r, "clip_gradient", INFINITY),
                 sum = g * case_number(r, "rescale_grad", 1) + wd * w;
    const double decayed = limit < 0 ? sum : fmax(-limit, fmin(limit, sum)), before = s[0];
    if (case_is(r, "rule", "adagrad")) {
        s[0] += d * d;
        return w - lr * (d / sqrt(s[0] + epsilon) + wd * w);
    }
    if (case_is(r, "rule", "adadelta")) {
        s[0] = rho * s[0] + (1 - rho) * d * d;
        const double step = sqrt(s[1] + epsilon) / sqrt(s[0] + epsilon) * d;
        s[1] = rho * s[1] + (1 - rho) * step * step;
        return w - step - wd * w;
    }
    if (case_is(r, "rule", "dcasgd")) {
        s[0] = momentum * s[0] - lr * (d + wd * w + case_number(r, "lamda", 0.04) * d * d * (w - s[1]));
        s[1] = w;
        return w + s[0];
    }
    if (case_is(r, "rule", "lion")) {
        s[0] = beta2 * before + (1 - beta2) * d;
        return w - lr * (case_sign(beta1 * before + (1 - beta1) * d) + wd * w);
    }
    if (case_is(r, "rule", "lars")) {
        s[0] = momentum * s[0] + eta * ratio * (d + wd * w);
        return w - lr * s[0];
    }
    if (case_is(r, "rule", "lbsgd")) {
        s[1] += g * case_number(r, "rescale_grad", 1);
        if (lr == 0)
            return w;
        s[0] = momentum * s[0] + eta * ratio * (fmax(-limit, fmin(limit, scale * s[1])) + wd * w);
        s[1] = 0;
        return w - s[0];
    }
    s[0] = beta1 * s[0] + (1 - beta1) * decayed;
    if (case_is(r, "rule", "adamax")) {
        s[1] = fmax(beta2 * s[1], fabs(decayed));
        return s[1] == 0 ? w : w - lr * s[0] / s[1];
    }
    s[1] = beta2 * s[1] + (1 - beta2) * decayed * decayed; /* nadam */
    return w - (lr * decayed + eta * s[0]) / (sqrt(scale * s[1]) + epsilon);
}

static double other_ratio(const op_run *r, int i, double weight_sq, double grad_sq) {
    const double wd = case_entry(r, "wds", i, 0), scale = case_entry(r, "scales", i, 1);
    if (!case_is(r, "trust_ratio", "1"))
        return 1;
    if (case_is(r, "rule", "lbsgd"))
        return fmax(0.01, fmin(100, sqrt(weight_sq / (grad_sq + wd * weight_sq + 1e-18))));
    if (weight_sq == 0 || grad_sq == 0 || scale == 0)
        return 1;
    return scale * sqrt(weight_sq) / (sqrt(grad_sq) + wd * sqrt(weight_sq) + case_number(r, "epsilon", 1e-8));
}

static void ref_other(const op_run *r) {
    const int has_master = case_is(r, "multi_precision", "1"), scaled = case_is(r, "scaled", "1");
    const int states = (r->n_aux - scaled) / r->n_out - has_master, is_lbsgd = case_is(r, "rule", "lbsgd");
    const double late = scaled ? r->aux[r->n_aux - 1][0] : 1, rescale = case_number(r, "rescale_grad", 1);
    for (int i = 0; i < r->n_out; i++) {
        double *const *aux = r->aux + (states + has_master) * i, *w = has_master ? aux[states] : r->in[2 * i];
        double weight_sq = 0, grad_sq = 0;
        const int64_t n = case_size(&r->out_shape[i]);
        for (int64_t k = 0; k < n; k++) {
            const double g = late * rescale * r->in[2 * i + 1][k];
            weight_sq += w[k] * w[k];
            grad_sq += pow(is_lbsgd ? (g + aux[1][k]) * case_entry(r, "scales", i, 1) / rescale : g, 2);
        }
        const double ratio = other_ratio(r, i, weight_sq, grad_sq);
        for (int64_t k = 0; k < n; k++) {
            double s[2] = {aux[0][k], states > 1 ? aux[1][k] : 0};
            r->out[i][k] = other_step(r, i, ratio, w[k], late * r->in[2 * i + 1][k], s);
            aux[0][k] = s[0];
            if (states > 1)
                aux[1][k] = s[1];
            if (has_master)
                w[k] = r->out[i][k];
        }
    }
}

#define OTHER "lrs=(0.1) wds=(0.05) etas=(0.2) rescale_grad=0.5 clip_gradient=0.3"
#define OTHER_TWO "lrs=(0.1,0.2) wds=(0,0.1) etas=(0.2,0.1) num_weights=2"
#define ONE_STATE "7 7 7@0.1:1; 2x3 2x3 2x3@0.1:1; 1031 1031 1031@0.1:1; 0x3 0x3 0x3"
#define TWO_STATES "7 7 7@0.1:1 7@0.1:1; 2x3 2x3 2x3@0.1:1 2x3@0.1:1; 1031 1031 1031@0.1:1 1031@0.1:1; 0x3 0x3 0x3 0x3"

/* ---- any rule ---------------------------------------------------------------------------------------------------- */

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
    FAILS("_multi_mp_adamw_update", "lrs=(1) wds=() etas=(1)", "2 2 2 2 2 1", MXC_EINVAL,
          "_multi_mp_adamw_update: lrs has 1 numbers, wds 0"),
    FAILS("_multi_update", "rule=ftml lrs=(1) wds=(0) etas=(0)", "2 2 2 2 2", MXC_EINVAL, "ftml_update"),
    UPDATE("_multi_update", "rule=adagrad epsilon=0.001 " OTHER "; rule=lion beta2=0.9 " OTHER, ONE_STATE, ref_other),
    UPDATE("_multi_update",
           "rule=adadelta epsilon=0.001 " OTHER "; rule=adamax " OTHER "; rule=dcasgd momentum=0.9 " OTHER, TWO_STATES,
           ref_other),
    UPDATE("_multi_update", "rule=nadam scales=(1.5) epsilon=0.01 " OTHER, TWO_STATES, ref_other),
    UPDATE("_multi_update",
           "rule=lars momentum=0.9 " OTHER "; rule=lars trust_ratio=1 scales=(0.5) momentum=0.9 " OTHER
           "; rule=lars trust_ratio=1 scales=(0) " OTHER,
           ONE_STATE "; 70003 70003 70003", ref_other),
    UPDATE("_multi_update",
           "rule=lbsgd scales=(0.5) momentum=0.9 " OTHER "; rule=lbsgd scales=(0.5) lrs=(0) wds=(0.1) etas=(0.1); "
           "rule=lbsgd trust_ratio=1 scales=(0.5) momentum=0.9 " OTHER,
           TWO_STATES, ref_other),
    UPDATE("_multi_update", "rule=lars trust_ratio=1 multi_precision=1 scales=(0.5,0.2) momentum=0.9 " OTHER_TWO,
           "7 7 2x3 2x3 7 7 2x3 2x3; 1 1 65 65 1 1 65 65", ref_other),
    UPDATE("_multi_update", "rule=lars trust_ratio=1 scaled=1 scales=(0.5,0.2) momentum=0.9 rescale_grad=2 " OTHER_TWO,
           "7 7 2x3 2x3 7 2x3 1@0.25:0.5", ref_other),
    UPDATE("_multi_update", "rule=lbsgd trust_ratio=1 scaled=1 multi_precision=1 scales=(0.5,0.2) " OTHER_TWO,
           "7 7 2x3 2x3 7 7 7 2x3 2x3 2x3 1@0.25:0.5", ref_other),
    FAILS("_multi_update", "rule=adam trust_ratio=1 lrs=(1) wds=(0) etas=(0)", "2 2 2 2", MXC_EINVAL,
          "with rule adam, expected rule lars"),
    FAILS("_multi_update", "rule=lars lrs=(1) wds=(0) etas=(0) scales=(1,2)", "2 2 2", MXC_EINVAL, "scales has 2"),
    INFERS("_multi_update", "rule=adam lrs=(1) wds=(0) etas=(0)", "?,2x3,?,? -> ? => 2x3,2x3,2x3,2x3 -> 2x3"),
    FAILS("_multi_update", "rule=lamb lrs=(1) wds=(0) etas=(0)", "2 2 2 2", MXC_EINVAL, "two operators"),
    FAILS("_multi_update", "rule=sgd lrs=(1) wds=(0) etas=()", "2 2", MXC_EINVAL, "etas 0, expected num_weights, 1"),
    FAILS("_multi_update", "rule=sgd lrs=(1) wds=(0) etas=(0) scaled=1", "2 2 2", MXC_ESHAPE, "the factor has shape"),
};

MXC_CASES(update_rule_update_cases, cases);
