/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of adam_update, _adamw_update and _mp_adamw_update. */
#include <math.h>

#include "operator/update/update_reference.h"

static void ref_adam(const op_run *r) {
    double lr = case_number(r, "lr", 0), epsilon = case_number(r, "epsilon", 1e-8);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        case_update_moments(r, i, case_decayed_gradient(r, i));
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
        case_update_moments(r, i, limit < 0 ? g : fmax(-limit, fmin(limit, g)));
        r->out[0][i] -= eta * (lr * r->aux[0][i] / (sqrt(r->aux[1][i]) + case_number(r, "epsilon", 1e-8)) + wd * w);
    }
}

/* The same of weight32, which comes before the factor. */
static void ref_mp_adamw(const op_run *r) {
    double lr = case_number(r, "lr", 0), eta = case_number(r, "eta", 0), wd = case_number(r, "wd", 0);
    double limit = case_number(r, "clip_gradient", -1), rescale = r->aux[3][0], *master = r->aux[2];
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        double g = rescale * r->in[1][i];
        if (rescale != 0) {
            case_update_moments(r, i, limit < 0 ? g : fmax(-limit, fmin(limit, g)));
            g = lr * r->aux[0][i] / (sqrt(r->aux[1][i]) + case_number(r, "epsilon", 1e-8));
            master[i] -= eta * (g + wd * master[i]);
        }
        r->out[0][i] = master[i];
    }
}

#define ADAMW_SET(s) CASE_FOUR(s) " 1"
#define MP_ADAMW_SET(s) CASE_FIVE(s) " 1"

static const op_case cases[] = {
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
    {.op = "adam_update", .params = "lr=0.1 lazy_update=False", .in = "3 3 3 3@0.1:1", .reference = ref_adam},
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
    UPDATE("_mp_adamw_update", "lr=0.5 eta=0.1", "3x5 3x5 3x5 3x5@0.1:1 3x5 1@0.25:1" CASE_EACH(MP_ADAMW_SET),
           ref_mp_adamw),
    UPDATE("_mp_adamw_update", "lr=0.5 eta=0.1 wd=0.01 clip_gradient=0.2 beta1=0.8 beta2=0.9 epsilon=0.01",
           "1031 1031 1031 1031@0.1:1 1031 1@0.25:1", ref_mp_adamw),
    UPDATE("_mp_adamw_update", "lr=0.5 eta=0.1 wd=0.1", "7 7 7 7 7 1@0:0", ref_mp_adamw),
    INFERS("_mp_adamw_update", "lr=1 eta=1", "?,2x3,?,?,?,? -> ? => 2x3,2x3,2x3,2x3,2x3,1 -> 2x3"),
    FAILS("_mp_adamw_update", "lr=1 eta=1", "2 2 2 2 2 2", MXC_ESHAPE, "rescale_grad has shape (2,)"),
    FAILS("_mp_adamw_update", "lr=1 eta=1", "2 2 2 2 3 1", MXC_ESHAPE, "auxiliary state 'weight32'"),
    {.op = "adam_update", .params = "lr=1", .infer = "?,2x3,?,? -> ? => 2x3,2x3,2x3,2x3 -> 2x3"},
    {.op = "adam_update", .params = "lr=1", .infer = "?,?,?,? -> 2x3 => 2x3,2x3,2x3,2x3 -> 2x3"},
    {.op = "adam_update", .params = "lr=1", .in = "2 2 2 3", .status = MXC_ESHAPE, .error = "auxiliary state 'var'"},
    {.op = "adam_update", .in = "2 2 2 2", .status = MXC_EINVAL, .error = "lr"},
    {.op = "_adamw_update", .params = "lr=1 eta=1", .infer = "?,2x3,?,?,? -> ? => 2x3,2x3,2x3,2x3,1 -> 2x3"},
    {.op = "_adamw_update",
     .params = "lr=1 eta=1",
     .in = "2 2 2 2 2",
     .status = MXC_ESHAPE,
     .error = "rescale_grad has shape (2,), expected one element"},
    {.op = "_adamw_update", .params = "lr=1", .in = "2 2 2 2 1", .status = MXC_EINVAL, .error = "eta"},
};

MXC_CASES(update_adam_cases, cases);
