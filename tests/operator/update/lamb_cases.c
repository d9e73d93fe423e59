/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of lamb_update_phase1, lamb_update_phase2 and those with float32 copies. */
#include <math.h>

#include "operator/update/update_reference.h"

static void lamb1(const op_run *r, const double *weight) {
    double t = case_number(r, "t", 1), scale1 = 1, scale2 = 1;
    if (!case_is(r, "bias_correction", "false")) {
        scale1 = 1 - pow(case_number(r, "beta1", 0.9), t);
        scale2 = 1 - pow(case_number(r, "beta2", 0.999), t);
    }
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        case_update_moments(r, i, case_clipped_gradient(r, r->in[1][i]));
        r->out[0][i] = r->aux[0][i] / scale1 / (sqrt(r->aux[1][i] / scale2) + case_number(r, "epsilon", 1e-6)) +
                       case_number(r, "wd", 0) * weight[i];
    }
}

static void ref_lamb1(const op_run *r) {
    lamb1(r, r->in[0]);
}

static void ref_mp_lamb1(const op_run *r) {
    lamb1(r, r->aux[2]);
}

static void lamb2(const op_run *r, const double *weight) {
    double lower = case_number(r, "lower_bound", -1), upper = case_number(r, "upper_bound", -1);
    double r1 = r->in[2][0], r2 = r->in[3][0], rate = case_number(r, "lr", 0);
    r1 = lower >= 0 ? fmax(r1, lower) : r1;
    r1 = upper >= 0 ? fmin(r1, upper) : r1;
    if (r1 != 0 && r2 != 0)
        rate *= r1 / r2;
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = weight[i] - rate * r->in[1][i];
}

static void ref_lamb2(const op_run *r) {
    lamb2(r, r->in[0]);
}

static void ref_mp_lamb2(const op_run *r) {
    lamb2(r, r->aux[0]);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->aux[0][i] = r->out[0][i];
}

#define LAMB2_SET(s) CASE_TWO(s) " 1 1"
#define MP_LAMB2_SET(s) CASE_TWO(s) " 1 1 " s

static const op_case cases[] = {
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
    UPDATE("mp_lamb_update_phase1", "wd=0.01 t=3", "3x5 3x5 3x5 3x5@0.1:1 3x5" CASE_EACH(CASE_FIVE), ref_mp_lamb1),
    UPDATE("mp_lamb_update_phase1",
           "wd=0.01 t=3 rescale_grad=0.5 clip_gradient=0.2 beta1=0.8 beta2=0.9 epsilon=0.01 bias_correction=false",
           "1031 1031 1031 1031@0.1:1 1031; 40000 40000 40000 40000 40000", ref_mp_lamb1),
    INFERS("mp_lamb_update_phase1", "wd=0 t=1", "?,?,?,?,2x3 -> ? => 2x3,2x3,2x3,2x3,2x3 -> 2x3"),
    FAILS("mp_lamb_update_phase1", "wd=0 t=1", "2 2 2 2 3", MXC_ESHAPE, "auxiliary state 'weight32'"),
    UPDATE("mp_lamb_update_phase2", "lr=0.1; lr=0.1 lower_bound=4; lr=0.2 upper_bound=0.5",
           "3x5 3x5 1@1:3 1@1:3 3x5" CASE_EACH(MP_LAMB2_SET) "; 7 7 1@0:0 1@1:3 7", ref_mp_lamb2),
    INFERS("mp_lamb_update_phase2", "lr=1", "?,?,?,?,2x3 -> ? => 2x3,2x3,1,1,2x3 -> 2x3"),
    FAILS("mp_lamb_update_phase2", "lr=1", "2 2 1 1 3", MXC_ESHAPE, "auxiliary state 'weight32'"),
    {.op = "lamb_update_phase1", .params = "wd=0 t=1", .infer = "?,2x3,?,? -> ? => 2x3,2x3,2x3,2x3 -> 2x3"},
    {.op = "lamb_update_phase1", .params = "wd=0 t=1", .infer = "?,?,?,? -> 2x3 => 2x3,2x3,2x3,2x3 -> 2x3"},
    {.op = "lamb_update_phase1",
     .params = "wd=0 t=1",
     .in = "2 2 2 3",
     .status = MXC_ESHAPE,
     .error = "auxiliary state 'var'"},
    {.op = "lamb_update_phase1", .params = "wd=0", .in = "2 2 2 2", .status = MXC_EINVAL, .error = "t"},
    {.op = "lamb_update_phase1", .params = "wd=0 t=0", .in = "2 2 2 2", .status = MXC_EINVAL, .error = "t"},
    {.op = "lamb_update_phase2", .params = "lr=1", .infer = "?,2x3,?,? -> ? => 2x3,2x3,1,1 -> 2x3"},
    {.op = "lamb_update_phase2", .params = "lr=1", .in = "2 2 1 0", .status = MXC_ESHAPE, .error = "r2 has shape (0,)"},
};

MXC_CASES(update_lamb_cases, cases);
