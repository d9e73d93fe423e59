/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of sgd_update, sgd_mom_update, nag_mom_update, signsgd_update and signum_update. */
#include "operator/update/update_reference.h"

static void ref_sgd(const op_run *r) {
    double lr = case_number(r, "lr", 0), wd = case_number(r, "wd", 0);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = (1 - lr * wd) * r->in[0][i] - lr * case_clipped_gradient(r, r->in[1][i]);
}

static void ref_sgd_mom(const op_run *r) {
    double lr = case_number(r, "lr", 0), wd = case_number(r, "wd", 0), momentum = case_number(r, "momentum", 0);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        double step = momentum * r->aux[0][i] - lr * wd * r->in[0][i] - lr * case_clipped_gradient(r, r->in[1][i]);
        r->aux[0][i] = step;
        r->out[0][i] = r->in[0][i] + step;
    }
}

static void ref_nag_mom(const op_run *r) {
    double lr = case_number(r, "lr", 0), wd = case_number(r, "wd", 0), momentum = case_number(r, "momentum", 0);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        double g = case_clipped_gradient(r, r->in[1][i]) + wd * r->in[0][i];
        r->aux[0][i] = momentum * r->aux[0][i] - lr * g;
        r->out[0][i] = r->in[0][i] + momentum * r->aux[0][i] - lr * g;
    }
}

static void ref_signsgd(const op_run *r) {
    double lr = case_number(r, "lr", 0), wd = case_number(r, "wd", 0);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = (1 - lr * wd) * r->in[0][i] - lr * case_sign(r->in[1][i]);
}

static void ref_signum(const op_run *r) {
    double lr = case_number(r, "lr", 0), wd = case_number(r, "wd", 0), momentum = case_number(r, "momentum", 0);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        double g = case_clipped_gradient(r, r->in[1][i]) + wd * r->in[0][i];
        r->aux[0][i] = momentum * r->aux[0][i] - (1 - momentum) * g;
        r->out[0][i] = (1 - lr * case_number(r, "wd_lh", 0)) * r->in[0][i] + lr * case_sign(r->aux[0][i]);
    }
}

static const op_case cases[] = {
    {.op = "sgd_update",
     .params = "lr=0.1",
     .in = "3x5 3x5" CASE_EACH(CASE_TWO) "; 5x9@-1:1n 5x9@-1:1nf",
     .reference = ref_sgd},
    {.op = "sgd_update",
     .params = "lr=0.1 lazy_update=True; lr=0.1 lazy_update=False",
     .in = "7 7",
     .reference = ref_sgd},
    {.op = "sgd_mom_update", .params = "lr=0.1 lazy_update=False", .in = "7 7 7", .reference = ref_sgd_mom},
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
};

MXC_CASES(update_sgd_cases, cases);
