/* Cases of updates with f32 copies of the weights, of several weights at once, and of the norm of many arrays. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "operator/cases.h"

/* Number i of key=(a,b,...). */
static double listed(const op_run *r, const char *key, int i) {
    const char *at = strstr(r->params, key);
    at = at ? strchr(at, '(') : NULL;
    for (; at && i > 0; i--)
        at = strchr(at + 1, ',');
    return at ? strtod(at + 1, NULL) : NAN;
}

static double clipped(const op_run *r, double grad) {
    double limit = case_number(r, "clip_gradient", -1), g = grad * case_number(r, "rescale_grad", 1);
    return limit < 0 ? g : fmax(-limit, fmin(limit, g));
}

/* One weight: mom and master are NULL where there are none. */
static void sgd(const op_run *r, int i, double lr, double wd, double *mom, double *master) {
    double momentum = case_number(r, "momentum", 0);
    for (int64_t k = 0; k < case_size(&r->out_shape[i]); k++) {
        double w = master ? master[k] : r->in[2 * i][k];
        double step = -lr * wd * w - lr * clipped(r, r->in[2 * i + 1][k]);
        if (mom)
            step = mom[k] = momentum * mom[k] + step;
        r->out[i][k] = w + step;
        if (master)
            master[k] = w + step;
    }
}

static void ref_mp_sgd(const op_run *r) {
    sgd(r, 0, case_number(r, "lr", 0), case_number(r, "wd", 0), NULL, r->aux[0]);
}

static void ref_mp_sgd_mom(const op_run *r) {
    sgd(r, 0, case_number(r, "lr", 0), case_number(r, "wd", 0), r->aux[0], r->aux[1]);
}

static void ref_multi_sgd(const op_run *r) {
    for (int i = 0; i < r->n_out; i++)
        sgd(r, i, listed(r, "lrs", i), listed(r, "wds", i), NULL, NULL);
}

static void ref_multi_sgd_mom(const op_run *r) {
    for (int i = 0; i < r->n_out; i++)
        sgd(r, i, listed(r, "lrs", i), listed(r, "wds", i), r->aux[i], NULL);
}

static void ref_multi_mp_sgd(const op_run *r) {
    for (int i = 0; i < r->n_out; i++)
        sgd(r, i, listed(r, "lrs", i), listed(r, "wds", i), NULL, r->aux[i]);
}

static void ref_multi_mp_sgd_mom(const op_run *r) {
    for (int i = 0; i < r->n_out; i++)
        sgd(r, i, listed(r, "lrs", i), listed(r, "wds", i), r->aux[2 * i], r->aux[2 * i + 1]);
}

/* _multi_update: one step, whose states and f32 copy are those given. */
static double ruled_step(const op_run *r, int i, double w, double g, double *s) {
    double lr = listed(r, "lrs", i), wd = listed(r, "wds", i), d, step;
    g *= case_is(r, "scaled", "1") ? r->aux[r->n_aux - 1][0] : 1;
    d = clipped(r, g);
    if (case_is(r, "rule", "sgd_mom")) {
        s[0] = case_number(r, "momentum", 0) * s[0] - lr * wd * w - lr * d;
        return w + s[0];
    }
    if (case_is(r, "rule", "adamw")) {
        s[0] = 0.9 * s[0] + 0.1 * d;
        s[1] = 0.999 * s[1] + 0.001 * d * d;
        step = lr * s[0] / (sqrt(s[1]) + 1e-8) + wd * w;
        return w - listed(r, "etas", i) * step;
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

static void ref_sum_sq(const op_run *r) {
    for (int i = 0; i < r->n_in; i++) {
        r->out[0][i] = 0;
        for (int64_t k = 0; k < case_size(&r->in_shape[i]); k++)
            r->out[0][i] += r->in[i][k] * r->in[i][k];
    }
}

static void ref_clip_norm(const op_run *r) {
    double sum = 0;
    for (int64_t i = 0; i < case_size(&r->in_shape[1]); i++)
        sum += r->in[1][i];
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = r->in[0][i] * fmin(1, case_number(r, "max_norm", 0) / (sqrt(sum) + 1e-8));
}

#define UPDATE(name, given, shapes, ref) \
    { .op = name, .params = given, .in = shapes, .reference = ref, .flags = CASE_NO_GRADIENT }
#define NORM_SET(s) CASE_ONE(s) " 3"
#define SCALE_SET(s) CASE_ONE(s) " 2"
#define FACTOR_SET(s) CASE_THREE(s) " 1"

static const op_case cases[] = {
    UPDATE("mp_sgd_update", "lr=0.1", "7 7 7" CASE_EACH(CASE_THREE) "; 5x9@-1:1n 5x9@-1:1nf 5x9", ref_mp_sgd),
    UPDATE("mp_sgd_update", "lr=0.1 wd=0.01 rescale_grad=0.5 clip_gradient=0.2", "1031 1031 1031", ref_mp_sgd),
    UPDATE("mp_sgd_update", "lr=0.5", "40000 40000 40000", ref_mp_sgd),
    INFERS("mp_sgd_update", "lr=1", "?,2x3,? -> ? => 2x3,2x3,2x3 -> 2x3"),
    FAILS("mp_sgd_update", "", "2 2 2", MXC_EINVAL, "lr"),
    FAILS("mp_sgd_update", "lr=1", "2 2 3", MXC_ESHAPE, "auxiliary state 'weight32'"),
    UPDATE("mp_sgd_mom_update", "lr=0.1 momentum=0.9",
           "7 7 7 7" CASE_EACH(CASE_FOUR) "; "
                                          "5x9@-1:1n 5x9@-1:1nf 5x9 5x9",
           ref_mp_sgd_mom),
    UPDATE("mp_sgd_mom_update", "lr=0.1 wd=0.01 momentum=0.5 rescale_grad=0.5 clip_gradient=0.2",
           "3x700 3x700 3x700 3x700", ref_mp_sgd_mom),
    UPDATE("mp_sgd_mom_update", "lr=0.1", "40000 40000 40000 40000", ref_mp_sgd_mom),
    INFERS("mp_sgd_mom_update", "lr=1", "?,?,?,? -> 2x3 => 2x3,2x3,2x3,2x3 -> 2x3"),
    FAILS("mp_sgd_mom_update", "lr=1", "2 2 3 2", MXC_ESHAPE, "auxiliary state 'mom'"),
    UPDATE("multi_sgd_update", "lrs=(0.1) wds=(0)", "7 7" CASE_EACH(CASE_TWO) "; 5x9@-1:1n 5x9@-1:1nf", ref_multi_sgd),
    UPDATE("multi_sgd_update", "lrs=(0.1,0.2) wds=(0,0.1) num_weights=2", "7 7 2x3 2x3", ref_multi_sgd),
    UPDATE("multi_sgd_update", "lrs=(0.1,0.2,0.3) wds=(0.1,0,0.2) num_weights=3 rescale_grad=0.5 clip_gradient=0.3",
           "1031 1031 0 0 s s", ref_multi_sgd),
    UPDATE("multi_sgd_update", "lrs=(0.1,0.2) wds=(0,0.1) num_weights=2", "40000 40000 3 3", ref_multi_sgd),
    INFERS("multi_sgd_update", "lrs=(1,1) wds=(0,0) num_weights=2", "?,2x3,4,? -> ?,? => 2x3,2x3,4,4 -> 2x3,4"),
    FAILS("multi_sgd_update", "lrs=(1) wds=(0,0) num_weights=2", "2 2 3 3", MXC_EINVAL, "lrs has 1 numbers and wds 2"),
    FAILS("multi_sgd_update", "lrs=(1) wds=(0) num_weights=17", "2 2", MXC_EINVAL, "num_weights"),
    FAILS("multi_sgd_update", "lrs=(1,1) wds=(0,0) num_weights=2", "2 2 3 4", MXC_ESHAPE, "argument 'grad_1'"),
    UPDATE("multi_sgd_mom_update", "lrs=(0.1) wds=(0.1) momentum=0.9",
           "7 7 7" CASE_EACH(CASE_THREE) "; 5x9@-1:1n 5x9@-1:1nf 5x9", ref_multi_sgd_mom),
    UPDATE("multi_sgd_mom_update", "lrs=(0.1,0.2) wds=(0,0.1) num_weights=2 momentum=0.5 clip_gradient=0.3",
           "7 7 2x3 2x3 7 2x3", ref_multi_sgd_mom),
    UPDATE("multi_sgd_mom_update", "lrs=(0.1,0.2) wds=(0,0.1) num_weights=2", "1031 1031 0 0 1031 0",
           ref_multi_sgd_mom),
    INFERS("multi_sgd_mom_update", "lrs=(1,1) wds=(0,0) num_weights=2",
           "?,2x3,4,?,?,? -> ?,? => 2x3,2x3,4,4,2x3,4 -> 2x3,4"),
    FAILS("multi_sgd_mom_update", "lrs=(1,1) wds=(0,0) num_weights=2", "2 2 3 3 2 2", MXC_ESHAPE,
          "auxiliary state 'mom_1'"),
    UPDATE("multi_mp_sgd_update", "lrs=(0.1) wds=(0.1)", "7 7 7" CASE_EACH(CASE_THREE) "; 5x9@-1:1n 5x9@-1:1nf 5x9",
           ref_multi_mp_sgd),
    UPDATE("multi_mp_sgd_update", "lrs=(0.1,0.2) wds=(0,0.1) num_weights=2 rescale_grad=0.5", "7 7 2x3 2x3 7 2x3",
           ref_multi_mp_sgd),
    UPDATE("multi_mp_sgd_update", "lrs=(0.1,0.2) wds=(0,0.1) num_weights=2", "1031 1031 0 0 1031 0", ref_multi_mp_sgd),
    FAILS("multi_mp_sgd_update", "lrs=(1) wds=(0)", "2 2 3", MXC_ESHAPE, "auxiliary state 'weight32_0'"),
    UPDATE("multi_mp_sgd_mom_update", "lrs=(0.1) wds=(0.1) momentum=0.9",
           "7 7 7 7" CASE_EACH(CASE_FOUR) "; 5x9@-1:1n 5x9@-1:1nf 5x9 5x9", ref_multi_mp_sgd_mom),
    UPDATE("multi_mp_sgd_mom_update", "lrs=(0.1,0.2) wds=(0,0.1) num_weights=2 momentum=0.5", "7 7 2x3 2x3 7 7 2x3 2x3",
           ref_multi_mp_sgd_mom),
    INFERS("multi_mp_sgd_mom_update", "lrs=(1) wds=(0)", "?,?,?,5 -> ? => 5,5,5,5 -> 5"),
    FAILS("multi_mp_sgd_mom_update", "lrs=(1) wds=(0)", "2 2 3 2", MXC_ESHAPE, "auxiliary state 'mom_0'"),

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
    UPDATE("_chain", "num_args=2 steps=add:i0:i1,relu:s0", "7 7" CASE_EACH(CASE_TWO) "; 40000 40000", ref_chain),
    UPDATE("_chain", "num_args=1 steps=mul:i0:0.5,add:s0:i0,tanh:s1", "3x129; 0", ref_chain),
    UPDATE("_chain", "num_args=3 steps=sub:1:i0,mul:s0:i1,maximum:s1:i2", "2x3x4 2x3x4 2x3x4; 1031 1031 1031",
           ref_chain),
    FAILS("_chain", "num_args=1 steps=", "2", MXC_EINVAL, "no step"),
    FAILS("_chain", "num_args=1 steps=add:i0:i1", "2", MXC_EINVAL, "step 0, \"add:i0:i1\""),
    FAILS("_chain", "num_args=1 steps=relu:s0", "2", MXC_EINVAL, "step 0"),
    FAILS("_chain", "num_args=1 steps=gamma:i0", "2", MXC_EINVAL, "step 0"),
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
    UPDATE("multi_sum_sq", "num_arrays=1", "7" CASE_EACH(CASE_ONE) "; 5x9@-1:1nf; 7@-1:1f", ref_sum_sq),
    UPDATE("multi_sum_sq", "num_arrays=3", "2x3 0x5 s", ref_sum_sq),
    UPDATE("multi_sum_sq", "num_arrays=2", "1 1x1", ref_sum_sq),
    UPDATE("multi_sum_sq", "num_arrays=2", "100000@-0.1:0.1 33000@-0.1:0.1", ref_sum_sq),
    UPDATE("multi_sum_sq", "num_arrays=4", "513 3 512 2x511", ref_sum_sq),
    INFERS("multi_sum_sq", "num_arrays=2", "2x3,? -> ? => 2x3,? -> 2"),
    FAILS("multi_sum_sq", "num_arrays=0", "", MXC_EINVAL, "num_arrays"),
    FAILS("multi_sum_sq", "num_arrays=2", "3", MXC_EINVAL, "expected 2 arrays"),
    UPDATE("clip_global_norm", "max_norm=1", "7 3@1:4" CASE_EACH(NORM_SET) "; 5x9@-1:1nf 3", ref_clip_norm),
    UPDATE("clip_global_norm", "max_norm=10", "7 3@1:4", ref_clip_norm),
    UPDATE("clip_global_norm", "max_norm=0", "2x3 1@1:4", ref_clip_norm),
    UPDATE("clip_global_norm", "max_norm=0.5", "1031 200@0:4", ref_clip_norm),
    UPDATE("clip_global_norm", "max_norm=0.5", "40000 1@1:2", ref_clip_norm),
    UPDATE("clip_global_norm", "max_norm=0.5", "0 1@1:2", ref_clip_norm),
    UPDATE("clip_global_norm", "max_norm=0.5", "s 0", ref_clip_norm),
    INFERS("clip_global_norm", "max_norm=1", "?,4 -> 2x3 => 2x3,4 -> 2x3"),
    FAILS("clip_global_norm", "", "2 1", MXC_EINVAL, "max_norm"),
    FAILS("clip_global_norm", "max_norm=-1", "2 1", MXC_EINVAL, "max_norm"),
    FAILS("clip_global_norm", "max_norm=1", "2 1x1", MXC_ESHAPE, "argument 'sum_sq'"),
};

MXC_CASES(multi_cases, cases);
