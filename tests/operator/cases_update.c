/* Cases of optimizer updates and of operators that make arrays. */
#include <math.h>

#include "operator/cases.h"

static double clipped(const op_run *r, double grad) {
    double limit = case_number(r, "clip_gradient", -1), g = grad * case_number(r, "rescale_grad", 1);
    return limit < 0 ? g : fmax(-limit, fmin(limit, g));
}

static void ref_sgd(const op_run *r) {
    double lr = case_number(r, "lr", 0), wd = case_number(r, "wd", 0);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = (1 - lr * wd) * r->in[0][i] - lr * clipped(r, r->in[1][i]);
}

static void ref_sgd_mom(const op_run *r) {
    double lr = case_number(r, "lr", 0), wd = case_number(r, "wd", 0), momentum = case_number(r, "momentum", 0);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        double step = momentum * r->aux[0][i] - lr * wd * r->in[0][i] - lr * clipped(r, r->in[1][i]);
        r->aux[0][i] = step;
        r->out[0][i] = r->in[0][i] + step;
    }
}

static void ref_nag_mom(const op_run *r) {
    double lr = case_number(r, "lr", 0), wd = case_number(r, "wd", 0), momentum = case_number(r, "momentum", 0);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        double g = clipped(r, r->in[1][i]) + wd * r->in[0][i];
        r->aux[0][i] = momentum * r->aux[0][i] - lr * g;
        r->out[0][i] = r->in[0][i] + momentum * r->aux[0][i] - lr * g;
    }
}

static double sign(double x) {
    return x > 0 ? 1 : x < 0 ? -1 : 0;
}

static void ref_signsgd(const op_run *r) {
    double lr = case_number(r, "lr", 0), wd = case_number(r, "wd", 0);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = (1 - lr * wd) * r->in[0][i] - lr * sign(r->in[1][i]);
}

static void ref_signum(const op_run *r) {
    double lr = case_number(r, "lr", 0), wd = case_number(r, "wd", 0), momentum = case_number(r, "momentum", 0);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        double g = clipped(r, r->in[1][i]) + wd * r->in[0][i];
        r->aux[0][i] = momentum * r->aux[0][i] - (1 - momentum) * g;
        r->out[0][i] = (1 - lr * case_number(r, "wd_lh", 0)) * r->in[0][i] + lr * sign(r->aux[0][i]);
    }
}

/* The gradient with decay, limited together. */
static double decayed(const op_run *r, int64_t i) {
    double limit = case_number(r, "clip_gradient", -1);
    double g = r->in[1][i] * case_number(r, "rescale_grad", 1) + case_number(r, "wd", 0) * r->in[0][i];
    return limit < 0 ? g : fmax(-limit, fmin(limit, g));
}

static void move_moments(const op_run *r, int64_t i, double g) {
    double beta1 = case_number(r, "beta1", 0.9), beta2 = case_number(r, "beta2", 0.999);
    r->aux[0][i] = beta1 * r->aux[0][i] + (1 - beta1) * g;
    r->aux[1][i] = beta2 * r->aux[1][i] + (1 - beta2) * g * g;
}

static void ref_adam(const op_run *r) {
    double lr = case_number(r, "lr", 0), epsilon = case_number(r, "epsilon", 1e-8);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        move_moments(r, i, decayed(r, i));
        r->out[0][i] = r->in[0][i] - lr * r->aux[0][i] / (sqrt(r->aux[1][i]) + epsilon);
    }
}

static void ref_adamw(const op_run *r) {
    double lr = case_number(r, "lr", 0), eta = case_number(r, "eta", 0), wd = case_number(r, "wd", 0);
    double limit = case_number(r, "clip_gradient", -1), rescale = r->aux[2][0];
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        double w = r->in[0][i], g = rescale * r->in[1][i];
        r->out[0][i] = w;
        if (rescale == 0)
            continue;
        move_moments(r, i, limit < 0 ? g : fmax(-limit, fmin(limit, g)));
        r->out[0][i] -= eta * (lr * r->aux[0][i] / (sqrt(r->aux[1][i]) + case_number(r, "epsilon", 1e-8)) + wd * w);
    }
}

static void ref_lamb1(const op_run *r) {
    double t = case_number(r, "t", 1), scale1 = 1, scale2 = 1;
    if (!case_is(r, "bias_correction", "false")) {
        scale1 = 1 - pow(case_number(r, "beta1", 0.9), t);
        scale2 = 1 - pow(case_number(r, "beta2", 0.999), t);
    }
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        move_moments(r, i, clipped(r, r->in[1][i]));
        r->out[0][i] = r->aux[0][i] / scale1 / (sqrt(r->aux[1][i] / scale2) + case_number(r, "epsilon", 1e-6)) +
                       case_number(r, "wd", 0) * r->in[0][i];
    }
}

static void ref_lamb2(const op_run *r) {
    double lower = case_number(r, "lower_bound", -1), upper = case_number(r, "upper_bound", -1);
    double r1 = r->in[2][0], r2 = r->in[3][0], rate = case_number(r, "lr", 0);
    r1 = lower >= 0 ? fmax(r1, lower) : r1;
    r1 = upper >= 0 ? fmin(r1, upper) : r1;
    if (r1 != 0 && r2 != 0)
        rate *= r1 / r2;
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = r->in[0][i] - rate * r->in[1][i];
}

static double limited_weight(const op_run *r, double w) {
    double limit = case_number(r, "clip_weights", -1);
    return limit < 0 ? w : fmax(-limit, fmin(limit, w));
}

static void ref_rmsprop(const op_run *r) {
    double gamma1 = case_number(r, "gamma1", 0.95), epsilon = case_number(r, "epsilon", 1e-8);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        double g = decayed(r, i), n = gamma1 * r->aux[0][i] + (1 - gamma1) * g * g;
        r->aux[0][i] = n;
        r->out[0][i] = limited_weight(r, r->in[0][i] - case_number(r, "lr", 0) * g / sqrt(n + epsilon));
    }
}

static void ref_rmspropalex(const op_run *r) {
    double gamma1 = case_number(r, "gamma1", 0.95), gamma2 = case_number(r, "gamma2", 0.9);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        double d = decayed(r, i), n = gamma1 * r->aux[0][i] + (1 - gamma1) * d * d;
        double g = gamma1 * r->aux[1][i] + (1 - gamma1) * d, root = sqrt(n - g * g + case_number(r, "epsilon", 1e-8));
        r->aux[0][i] = n;
        r->aux[1][i] = g;
        r->aux[2][i] = gamma2 * r->aux[2][i] - case_number(r, "lr", 0) * d / root;
        r->out[0][i] = limited_weight(r, r->in[0][i] + r->aux[2][i]);
    }
}

static void ref_ftrl(const op_run *r) {
    double lr = case_number(r, "lr", 0), lamda1 = case_number(r, "lamda1", 0.01);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        double g = clipped(r, r->in[1][i]), n = r->aux[1][i];
        double z = r->aux[0][i] + g - (sqrt(n + g * g) - sqrt(n)) / lr * r->in[0][i];
        double scale = (case_number(r, "beta", 1) + sqrt(n + g * g)) / lr + case_number(r, "wd", 0);
        r->aux[0][i] = z;
        r->aux[1][i] = n + g * g;
        r->out[0][i] = fabs(z) <= lamda1 ? 0 : (sign(z) * lamda1 - z) / scale;
    }
}

static void ref_set_value(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = case_number(r, "src", 0);
}

static void ref_full(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = case_number(r, "value", 0);
}

static void ref_zeros(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = 0;
}

static void ref_ones(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = 1;
}

static void ref_arange(const op_run *r) {
    double start = case_number(r, "start", 0), step = case_number(r, "step", 1);
    int64_t repeat = (int64_t)case_number(r, "repeat", 1);
    if (isnan(case_number(r, "stop", NAN)) && !case_is(r, "infer_range", "True"))
        start = 0;
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = start + step * (double)(i / repeat);
}

#define ADAMW_SET(s) CASE_FOUR(s) " 1"
#define LAMB2_SET(s) CASE_TWO(s) " 1 1"

static const op_case cases[] = {
    {.op = "sgd_update",
     .params = "lr=0.1",
     .in = "3x5 3x5" CASE_EACH(CASE_TWO) "; 5x9@-1:1n 5x9@-1:1nf",
     .reference = ref_sgd},
    {.op = "sgd_update",
     .params = "lr=0.1 wd=0.01 rescale_grad=0.5 clip_gradient=0.2",
     .in = "1031 1031",
     .reference = ref_sgd},
    {.op = "sgd_update", .params = "lr=0.1", .infer = "?,2x3 -> ? => 2x3,2x3 -> 2x3"},
    {.op = "sgd_update", .params = "lr=0.1", .in = "2 3", .status = MXC_ESHAPE, .error = "argument 'grad'"},
    {.op = "sgd_update", .in = "2 2", .status = MXC_EINVAL, .error = "lr"},
    {.op = "sgd_mom_update",
     .params = "lr=0.1 momentum=0.9",
     .in = "3x5 3x5 3x5" CASE_EACH(CASE_THREE) "; 5x9@-1:1n 5x9@-1:1nf 5x9",
     .reference = ref_sgd_mom},
    {.op = "sgd_mom_update",
     .params = "lr=0.1 momentum=0.9 wd=0.01 rescale_grad=0.5 clip_gradient=0.2",
     .in = "40000 40000 40000",
     .reference = ref_sgd_mom},
    {.op = "sgd_mom_update", .params = "lr=0.1", .infer = "?,?,2x3 -> ? => 2x3,2x3,2x3 -> 2x3"},
    {.op = "sgd_mom_update", .params = "lr=0.1", .in = "2 2 3", .status = MXC_ESHAPE, .error = "auxiliary state 'mom'"},
    {.op = "nag_mom_update",
     .params = "lr=0.1",
     .in = "3x5 3x5 3x5" CASE_EACH(CASE_THREE) "; 5x9@-1:1n 5x9@-1:1nf 5x9",
     .reference = ref_nag_mom},
    {.op = "nag_mom_update",
     .params = "lr=0.1 wd=0.01 rescale_grad=0.5 clip_gradient=0.2 momentum=0.9",
     .in = "1031 1031 1031",
     .reference = ref_nag_mom},
    {.op = "nag_mom_update",
     .params = "lr=0.1 wd=0.01 rescale_grad=0.5 clip_gradient=0.2",
     .in = "40000 40000 40000",
     .reference = ref_nag_mom},
    {.op = "nag_mom_update", .params = "lr=0.1", .in = "1x1 1x1 1x1", .reference = ref_nag_mom},
    {.op = "nag_mom_update",
     .params = "lr=0.1 momentum=0.9",
     .in = "2x3x4x5 2x3x4x5 2x3x4x5",
     .reference = ref_nag_mom},
    {.op = "nag_mom_update",
     .params = "lr=0.1 clip_gradient=0 momentum=0.9",
     .in = "17 17 17",
     .reference = ref_nag_mom},
    {.op = "signsgd_update",
     .params = "lr=0.1",
     .in = "3x5 3x5" CASE_EACH(CASE_TWO) "; 5x9@-1:1n 5x9@-1:1nf",
     .reference = ref_signsgd},
    {.op = "signsgd_update",
     .params = "lr=0.1 wd=0.01 rescale_grad=0.5 clip_gradient=0.2",
     .in = "1031 1031",
     .reference = ref_signsgd},
    {.op = "signsgd_update",
     .params = "lr=0.1 wd=0.01 rescale_grad=0.5 clip_gradient=0.2",
     .in = "40000 40000",
     .reference = ref_signsgd},
    {.op = "signsgd_update", .params = "lr=0.1", .in = "1x1 1x1", .reference = ref_signsgd},
    {.op = "signsgd_update", .params = "lr=0.1", .in = "2x3x4x5 2x3x4x5", .reference = ref_signsgd},
    {.op = "signsgd_update", .params = "lr=0.1 clip_gradient=0", .in = "17 17", .reference = ref_signsgd},
    {.op = "signum_update",
     .params = "lr=0.1",
     .in = "3x5 3x5 3x5@0.25:1" CASE_EACH(CASE_THREE) "; 5x9@-1:1n 5x9@-1:1nf 5x9",
     .reference = ref_signum},
    {.op = "signum_update",
     .params = "lr=0.1 wd=0.01 rescale_grad=0.5 clip_gradient=0.2 momentum=0.75 wd_lh=0.1",
     .in = "1031 1031 1031@0.25:1",
     .reference = ref_signum},
    {.op = "signum_update",
     .params = "lr=0.1 wd=0.01 rescale_grad=0.5 clip_gradient=0.2",
     .in = "40000 40000 40000@0.25:1",
     .reference = ref_signum},
    {.op = "signum_update", .params = "lr=0.1", .in = "1x1 1x1 1x1@0.25:1", .reference = ref_signum},
    {.op = "signum_update",
     .params = "lr=0.1 momentum=0.75 wd_lh=0.1",
     .in = "2x3x4x5 2x3x4x5 2x3x4x5@0.25:1",
     .reference = ref_signum},
    {.op = "signum_update",
     .params = "lr=0.1 clip_gradient=0 momentum=0.75 wd_lh=0.1",
     .in = "17 17 17@0.25:1",
     .reference = ref_signum},
    {.op = "adam_update",
     .params = "lr=0.1",
     .in = "3x5 3x5 3x5 3x5@0.1:1" CASE_EACH(CASE_FOUR) "; 5x9@-1:1n 5x9@-1:1nf 5x9 5x9",
     .reference = ref_adam},
    {.op = "adam_update",
     .params = "lr=0.1 wd=0.01 rescale_grad=0.5 clip_gradient=0.2 beta1=0.8 beta2=0.9 epsilon=0.01",
     .in = "1031 1031 1031 1031@0.1:1",
     .reference = ref_adam},
    {.op = "adam_update",
     .params = "lr=0.1 wd=0.01 rescale_grad=0.5 clip_gradient=0.2",
     .in = "40000 40000 40000 40000@0.1:1",
     .reference = ref_adam},
    {.op = "adam_update", .params = "lr=0.1", .in = "1x1 1x1 1x1 1x1@0.1:1", .reference = ref_adam},
    {.op = "adam_update",
     .params = "lr=0.1 beta1=0.8 beta2=0.9 epsilon=0.01",
     .in = "2x3x4x5 2x3x4x5 2x3x4x5 2x3x4x5@0.1:1",
     .reference = ref_adam},
    {.op = "adam_update",
     .params = "lr=0.1 clip_gradient=0 beta1=0.8 beta2=0.9 epsilon=0.01",
     .in = "17 17 17 17@0.1:1",
     .reference = ref_adam},
    {.op = "_adamw_update",
     .params = "lr=0.5 eta=0.1",
     .in = "3x5 3x5 3x5 3x5@0.1:1 1@0.25:1" CASE_EACH(ADAMW_SET),
     .reference = ref_adamw},
    {.op = "_adamw_update",
     .params = "lr=0.5 eta=0.1 wd=0.01 clip_gradient=0.2 beta1=0.8 beta2=0.9 epsilon=0.01",
     .in = "1031 1031 1031 1031@0.1:1 1@0.25:1",
     .reference = ref_adamw},
    {.op = "_adamw_update",
     .params = "lr=0.5 eta=0.1 wd=0.01 clip_gradient=0.2",
     .in = "40000 40000 40000 40000@0.1:1 1@0.25:1",
     .reference = ref_adamw},
    {.op = "_adamw_update", .params = "lr=0.5 eta=0.1", .in = "1x1 1x1 1x1 1x1@0.1:1 1@0.25:1", .reference = ref_adamw},
    {.op = "_adamw_update",
     .params = "lr=0.5 eta=0.1 beta1=0.8 beta2=0.9 epsilon=0.01",
     .in = "2x3x4x5 2x3x4x5 2x3x4x5 2x3x4x5@0.1:1 1@0.25:1",
     .reference = ref_adamw},
    {.op = "_adamw_update",
     .params = "lr=0.5 eta=0.1 clip_gradient=0 beta1=0.8 beta2=0.9 epsilon=0.01",
     .in = "17 17 17 17@0.1:1 1@0.25:1",
     .reference = ref_adamw},
    {.op = "_adamw_update", .params = "lr=0.5 eta=0.1 wd=0.1", .in = "7 7 7 7 1@0:0", .reference = ref_adamw},
    {.op = "lamb_update_phase1",
     .params = "wd=0.01 t=3",
     .in = "3x5 3x5 3x5 3x5@0.1:1" CASE_EACH(CASE_FOUR) "; 5x9@-1:1n 5x9@-1:1nf 5x9 5x9",
     .reference = ref_lamb1},
    {.op = "lamb_update_phase1",
     .params = "wd=0.01 t=3 rescale_grad=0.5 clip_gradient=0.2 beta1=0.8 beta2=0.9 epsilon=0.01 bias_correction=false",
     .in = "1031 1031 1031 1031@0.1:1",
     .reference = ref_lamb1},
    {.op = "lamb_update_phase1",
     .params = "wd=0.01 t=3 rescale_grad=0.5 clip_gradient=0.2",
     .in = "40000 40000 40000 40000@0.1:1",
     .reference = ref_lamb1},
    {.op = "lamb_update_phase1", .params = "wd=0.01 t=3", .in = "1x1 1x1 1x1 1x1@0.1:1", .reference = ref_lamb1},
    {.op = "lamb_update_phase1",
     .params = "wd=0.01 t=3 beta1=0.8 beta2=0.9 epsilon=0.01 bias_correction=false",
     .in = "2x3x4x5 2x3x4x5 2x3x4x5 2x3x4x5@0.1:1",
     .reference = ref_lamb1},
    {.op = "lamb_update_phase1",
     .params = "wd=0.01 t=3 clip_gradient=0 beta1=0.8 beta2=0.9 epsilon=0.01 bias_correction=false",
     .in = "17 17 17 17@0.1:1",
     .reference = ref_lamb1},
    {.op = "lamb_update_phase2",
     .params = "lr=0.1",
     .in = "3x5 3x5 1@1:3 1@1:3" CASE_EACH(LAMB2_SET),
     .reference = ref_lamb2},
    {.op = "lamb_update_phase2", .params = "lr=0.1 lower_bound=4", .in = "3x5 3x5 1@1:3 1@1:3", .reference = ref_lamb2},
    {.op = "lamb_update_phase2",
     .params = "lr=0.1 upper_bound=0.5",
     .in = "40000 40000 s@1:3 1x1@1:3",
     .flags = CASE_ONE_OF_FORMS,
     .reference = ref_lamb2},
    {.op = "lamb_update_phase2", .params = "lr=0.1", .in = "7 7 1@0:0 1@1:3", .reference = ref_lamb2},
    {.op = "lamb_update_phase2", .params = "lr=0.1", .in = "7 7 1@1:3 1@0:0", .reference = ref_lamb2},
    {.op = "lamb_update_phase2", .params = "lr=0.1", .in = "0 0 1 1", .reference = ref_lamb2},
    {.op = "lamb_update_phase2", .params = "lr=0.1", .in = "s s 1@2:3 1@1:2", .reference = ref_lamb2},
    {.op = "lamb_update_phase2",
     .params = "lr=0.1 lower_bound=0 upper_bound=0",
     .in = "2x3x4 2x3x4 1@2:3 1@1:2",
     .reference = ref_lamb2},
    {.op = "rmsprop_update",
     .params = "lr=0.1",
     .in = "3x5 3x5 3x5@0.1:1" CASE_EACH(CASE_THREE) "; 5x9@-1:1n 5x9@-1:1nf 5x9",
     .reference = ref_rmsprop},
    {.op = "rmsprop_update",
     .params = "lr=0.1 wd=0.01 rescale_grad=0.5 clip_gradient=0.2 gamma1=0.8 epsilon=0.01 clip_weights=0.3",
     .in = "1031 1031 1031@0.1:1",
     .reference = ref_rmsprop},
    {.op = "rmsprop_update",
     .params = "lr=0.1 wd=0.01 rescale_grad=0.5 clip_gradient=0.2",
     .in = "40000 40000 40000@0.1:1",
     .reference = ref_rmsprop},
    {.op = "rmsprop_update", .params = "lr=0.1", .in = "1x1 1x1 1x1@0.1:1", .reference = ref_rmsprop},
    {.op = "rmsprop_update",
     .params = "lr=0.1 gamma1=0.8 epsilon=0.01 clip_weights=0.3",
     .in = "2x3x4x5 2x3x4x5 2x3x4x5@0.1:1",
     .reference = ref_rmsprop},
    {.op = "rmsprop_update",
     .params = "lr=0.1 clip_gradient=0 gamma1=0.8 epsilon=0.01 clip_weights=0.3",
     .in = "17 17 17@0.1:1",
     .reference = ref_rmsprop},
    {.op = "rmspropalex_update",
     .params = "lr=0.1",
     .in = "3x5 3x5 3x5@1:2 3x5@-0.5:0.5 3x5" CASE_EACH(CASE_FIVE) "; 5x9@-1:1n 5x9@-1:1nf 5x9 5x9 5x9",
     .reference = ref_rmspropalex},
    {.op = "rmspropalex_update",
     .params = "lr=0.1 wd=0.01 rescale_grad=0.5 clip_gradient=0.2 gamma1=0.8 gamma2=0.5 epsilon=0.01 clip_weights=0.3",
     .in = "1031 1031 1031@1:2 1031@-0.5:0.5 1031",
     .reference = ref_rmspropalex},
    {.op = "rmspropalex_update",
     .params = "lr=0.1 wd=0.01 rescale_grad=0.5 clip_gradient=0.2",
     .in = "40000 40000 40000@1:2 40000@-0.5:0.5 40000",
     .reference = ref_rmspropalex},
    {.op = "rmspropalex_update",
     .params = "lr=0.1",
     .in = "1x1 1x1 1x1@1:2 1x1@-0.5:0.5 1x1",
     .reference = ref_rmspropalex},
    {.op = "rmspropalex_update",
     .params = "lr=0.1 gamma1=0.8 gamma2=0.5 epsilon=0.01 clip_weights=0.3",
     .in = "2x3x4x5 2x3x4x5 2x3x4x5@1:2 2x3x4x5@-0.5:0.5 2x3x4x5",
     .reference = ref_rmspropalex},
    {.op = "rmspropalex_update",
     .params = "lr=0.1 clip_gradient=0 gamma1=0.8 gamma2=0.5 epsilon=0.01 clip_weights=0.3",
     .in = "17 17 17@1:2 17@-0.5:0.5 17",
     .reference = ref_rmspropalex},
    {.op = "ftrl_update",
     .params = "lr=0.5",
     .in = "3x5 3x5 3x5 3x5@0.1:1" CASE_EACH(CASE_FOUR) "; 5x9@-1:1n 5x9@-1:1nf 5x9 5x9",
     .reference = ref_ftrl},
    {.op = "ftrl_update",
     .params = "lr=0.5 wd=0.01 rescale_grad=0.5 clip_gradient=0.2 lamda1=0.5 beta=2",
     .in = "1031 1031 1031 1031@0.1:1",
     .reference = ref_ftrl},
    {.op = "ftrl_update",
     .params = "lr=0.5 wd=0.01 rescale_grad=0.5 clip_gradient=0.2",
     .in = "40000 40000 40000 40000@0.1:1",
     .reference = ref_ftrl},
    {.op = "ftrl_update", .params = "lr=0.5", .in = "1x1 1x1 1x1 1x1@0.1:1", .reference = ref_ftrl},
    {.op = "ftrl_update",
     .params = "lr=0.5 lamda1=0.5 beta=2",
     .in = "2x3x4x5 2x3x4x5 2x3x4x5 2x3x4x5@0.1:1",
     .reference = ref_ftrl},
    {.op = "ftrl_update",
     .params = "lr=0.5 clip_gradient=0 lamda1=0.5 beta=2",
     .in = "17 17 17 17@0.1:1",
     .reference = ref_ftrl},
    {.op = "nag_mom_update", .params = "lr=1", .infer = "?,2x3,? -> ? => 2x3,2x3,2x3 -> 2x3"},
    {.op = "nag_mom_update", .params = "lr=1", .infer = "?,?,? -> 2x3 => 2x3,2x3,2x3 -> 2x3"},
    {.op = "nag_mom_update", .params = "lr=1", .in = "2 2 3", .status = MXC_ESHAPE, .error = "auxiliary state 'mom'"},
    {.op = "nag_mom_update", .in = "2 2 2", .status = MXC_EINVAL, .error = "lr"},
    {.op = "signsgd_update", .params = "lr=1", .infer = "?,2x3 -> ? => 2x3,2x3 -> 2x3"},
    {.op = "signsgd_update", .params = "lr=1", .infer = "?,? -> 2x3 => 2x3,2x3 -> 2x3"},
    {.op = "signsgd_update", .params = "lr=1", .in = "2 3", .status = MXC_ESHAPE, .error = "argument 'grad'"},
    {.op = "signsgd_update", .in = "2 2", .status = MXC_EINVAL, .error = "lr"},
    {.op = "signum_update", .params = "lr=1", .infer = "?,2x3,? -> ? => 2x3,2x3,2x3 -> 2x3"},
    {.op = "signum_update", .params = "lr=1", .infer = "?,?,? -> 2x3 => 2x3,2x3,2x3 -> 2x3"},
    {.op = "signum_update", .params = "lr=1", .in = "2 2 3", .status = MXC_ESHAPE, .error = "auxiliary state 'mom'"},
    {.op = "signum_update", .in = "2 2 2", .status = MXC_EINVAL, .error = "lr"},
    {.op = "adam_update", .params = "lr=1", .infer = "?,2x3,?,? -> ? => 2x3,2x3,2x3,2x3 -> 2x3"},
    {.op = "adam_update", .params = "lr=1", .infer = "?,?,?,? -> 2x3 => 2x3,2x3,2x3,2x3 -> 2x3"},
    {.op = "adam_update", .params = "lr=1", .in = "2 2 2 3", .status = MXC_ESHAPE, .error = "auxiliary state 'var'"},
    {.op = "adam_update", .in = "2 2 2 2", .status = MXC_EINVAL, .error = "lr"},
    {.op = "lamb_update_phase1", .params = "wd=0 t=1", .infer = "?,2x3,?,? -> ? => 2x3,2x3,2x3,2x3 -> 2x3"},
    {.op = "lamb_update_phase1", .params = "wd=0 t=1", .infer = "?,?,?,? -> 2x3 => 2x3,2x3,2x3,2x3 -> 2x3"},
    {.op = "lamb_update_phase1",
     .params = "wd=0 t=1",
     .in = "2 2 2 3",
     .status = MXC_ESHAPE,
     .error = "auxiliary state 'var'"},
    {.op = "lamb_update_phase1", .params = "wd=0", .in = "2 2 2 2", .status = MXC_EINVAL, .error = "t"},
    {.op = "rmsprop_update", .params = "lr=1", .infer = "?,2x3,? -> ? => 2x3,2x3,2x3 -> 2x3"},
    {.op = "rmsprop_update", .params = "lr=1", .infer = "?,?,? -> 2x3 => 2x3,2x3,2x3 -> 2x3"},
    {.op = "rmsprop_update", .params = "lr=1", .in = "2 2 3", .status = MXC_ESHAPE, .error = "auxiliary state 'n'"},
    {.op = "rmsprop_update", .in = "2 2 2", .status = MXC_EINVAL, .error = "lr"},
    {.op = "rmspropalex_update", .params = "lr=1", .infer = "?,2x3,?,?,? -> ? => 2x3,2x3,2x3,2x3,2x3 -> 2x3"},
    {.op = "rmspropalex_update", .params = "lr=1", .infer = "?,?,?,?,? -> 2x3 => 2x3,2x3,2x3,2x3,2x3 -> 2x3"},
    {.op = "rmspropalex_update",
     .params = "lr=1",
     .in = "2 2 2 2 3",
     .status = MXC_ESHAPE,
     .error = "auxiliary state 'delta'"},
    {.op = "rmspropalex_update", .in = "2 2 2 2 2", .status = MXC_EINVAL, .error = "lr"},
    {.op = "ftrl_update", .params = "lr=1", .infer = "?,2x3,?,? -> ? => 2x3,2x3,2x3,2x3 -> 2x3"},
    {.op = "ftrl_update", .params = "lr=1", .infer = "?,?,?,? -> 2x3 => 2x3,2x3,2x3,2x3 -> 2x3"},
    {.op = "ftrl_update", .params = "lr=1", .in = "2 2 2 3", .status = MXC_ESHAPE, .error = "auxiliary state 'n'"},
    {.op = "ftrl_update", .in = "2 2 2 2", .status = MXC_EINVAL, .error = "lr"},
    {.op = "lamb_update_phase1", .params = "wd=0 t=0", .in = "2 2 2 2", .status = MXC_EINVAL, .error = "t"},
    {.op = "_adamw_update", .params = "lr=1 eta=1", .infer = "?,2x3,?,?,? -> ? => 2x3,2x3,2x3,2x3,1 -> 2x3"},
    {.op = "_adamw_update",
     .params = "lr=1 eta=1",
     .in = "2 2 2 2 2",
     .status = MXC_ESHAPE,
     .error = "rescale_grad has shape (2,), expected one element"},
    {.op = "_adamw_update", .params = "lr=1", .in = "2 2 2 2 1", .status = MXC_EINVAL, .error = "eta"},
    {.op = "lamb_update_phase2", .params = "lr=1", .infer = "?,2x3,?,? -> ? => 2x3,2x3,1,1 -> 2x3"},
    {.op = "lamb_update_phase2", .params = "lr=1", .in = "2 2 1 0", .status = MXC_ESHAPE, .error = "r2 has shape (0,)"},
    {.op = "_set_value", .params = CASE_SHAPED("src=2.5 dtype=float32 "), .in = "", .reference = ref_set_value},
    {.op = "_set_value",
     .params = "src=-2 shape=(7,) dtype=int32; src=3 shape=(0,4) dtype=int64; "
               "src=7 shape=9 dtype=uint8",
     .in = "",
     .reference = ref_set_value},
    {.op = "_set_value", .params = "src=0.5 shape=(90,700) dtype=float16", .in = "", .reference = ref_set_value},
    {.op = "_set_value", .params = "src=nan shape=3", .in = "", .status = MXC_EINVAL, .error = "finite"},
    {.op = "_set_value", .params = "src=1", .infer = "-> 2x3 => -> 2x3"},
    {.op = "_set_value", .params = "shape=(2,3)", .in = "", .status = MXC_EINVAL, .error = "\"src\" is missing"},
    {.op = "_set_value", .params = "src=1 dtype=int8", .in = "", .status = MXC_ESHAPE, .error = "_set_value"},
    {.op = "_full", .params = CASE_MADE("value=2.5 "), .in = "", .reference = ref_full},
    {.op = "_full", .params = "value=-3 shape=(2,3) dtype=int32", .in = "", .reference = ref_full},
    {.op = "_full", .params = "value=1", .infer = "-> 2x3 => -> 2x3"},
    {.op = "_full", .params = "shape=2", .in = "", .status = MXC_EINVAL, .error = "\"value\" is missing"},
    {.op = "_zeros", .params = CASE_MADE(""), .in = "", .reference = ref_zeros},
    {.op = "_zeros",
     .params = "shape=(2,3) dtype=int32; shape=7 dtype=uint8; shape=9 dtype=bool",
     .in = "",
     .reference = ref_zeros},
    {.op = "_zeros", .params = "shape=() dtype=int32", .infer = "-> 2x3 => -> 2x3"},
    {.op = "_zeros", .params = "shape=(2,3)", .infer = "-> ? => -> 2x3"},
    {.op = "_zeros", .params = "shape=(1,1,1,1,1,1,1,1,1)", .in = "", .status = MXC_ESHAPE, .error = "9 axes"},
    {.op = "_ones", .params = CASE_MADE(""), .in = "", .reference = ref_ones},
    {.op = "_ones",
     .params = "shape=(2,3) dtype=float16; shape=7 dtype=int8; shape=9 dtype=int64",
     .in = "",
     .reference = ref_ones},
    {.op = "_ones", .params = "shape=(2,3) dtype=bool", .in = "", .reference = ref_ones},
    {.op = "_arange", .params = "start=1 stop=7.5 step=1.5", .in = "", .reference = ref_arange},
    {.op = "_arange", .params = "start=5 repeat=3 dtype=int32", .in = "", .reference = ref_arange},
    {.op = "_arange", .params = "start=5 stop=-5 step=-2 dtype=float64", .in = "", .reference = ref_arange},
    {.op = "_arange",
     .params = "start=5 stop=1; stop=0 start=0; start=0 stop=1; start=7; start=7 stop=None",
     .in = "",
     .reference = ref_arange},
    {.op = "_arange",
     .params = "start=0 stop=5 repeat=2; start=0 stop=0.9 step=0.1; start=-3 stop=3; start=3 stop=-3 step=-1; "
               "start=3 stop=4 step=7; start=0 stop=65 dtype=int32; start=0 stop=64 dtype=uint8; "
               "start=1.5 stop=9 step=0.25 repeat=3 dtype=float64; start=0 stop=7 dtype=float16; "
               "start=0 stop=9 dtype=bfloat16; start=-4 stop=4 step=3 dtype=int64; start=0 stop=1 repeat=17; "
               "start=2 stop=2; start=0.5 stop=0.6; start=0 stop=1031 step=2",
     .in = "",
     .reference = ref_arange},
    {.op = "_arange",
     .params = "start=7 infer_range=False; start=2 stop=7 infer_range=True",
     .in = "",
     .reference = ref_arange},
    {.op = "_arange", .params = "start=2 infer_range=True", .infer = "-> 5 => -> 5"},
    {.op = "_arange", .params = "start=0 stop=40000", .in = "", .reference = ref_arange},
    {.op = "_arange", .params = "start=5 step=0", .in = "", .status = MXC_EINVAL, .error = "_arange: step is 0"},
};

MXC_CASES(update_cases, cases);
