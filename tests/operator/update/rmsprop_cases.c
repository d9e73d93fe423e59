/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of rmsprop_update and rmspropalex_update. */
#include <math.h>

#include "operator/update/update_reference.h"

static double limited_weight(const op_run *r, double w) {
    double limit = case_number(r, "clip_weights", -1);
    return limit < 0 ? w : fmax(-limit, fmin(limit, w));
}

static void ref_rmsprop(const op_run *r) {
    double gamma1 = case_number(r, "gamma1", 0.95), epsilon = case_number(r, "epsilon", 1e-8);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        double g = case_decayed_gradient(r, i), n = gamma1 * r->aux[0][i] + (1 - gamma1) * g * g;
        r->aux[0][i] = n;
        r->out[0][i] = limited_weight(r, r->in[0][i] - case_number(r, "lr", 0) * g / sqrt(n + epsilon));
    }
}

static void ref_rmspropalex(const op_run *r) {
    double gamma1 = case_number(r, "gamma1", 0.95), gamma2 = case_number(r, "gamma2", 0.9);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        double d = case_decayed_gradient(r, i), n = gamma1 * r->aux[0][i] + (1 - gamma1) * d * d;
        double g = gamma1 * r->aux[1][i] + (1 - gamma1) * d, root = sqrt(n - g * g + case_number(r, "epsilon", 1e-8));
        r->aux[0][i] = n;
        r->aux[1][i] = g;
        r->aux[2][i] = gamma2 * r->aux[2][i] - case_number(r, "lr", 0) * d / root;
        r->out[0][i] = limited_weight(r, r->in[0][i] + r->aux[2][i]);
    }
}

static const op_case cases[] = {
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
};

MXC_CASES(update_rmsprop_cases, cases);
