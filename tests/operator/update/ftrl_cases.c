/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of ftrl_update. */
#include <math.h>

#include "operator/update/update_reference.h"

static void ref_ftrl(const op_run *r) {
    double lr = case_number(r, "lr", 0), lamda1 = case_number(r, "lamda1", 0.01);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        double g = case_clipped_gradient(r, r->in[1][i]), n = r->aux[1][i];
        double z = r->aux[0][i] + g - (sqrt(n + g * g) - sqrt(n)) / lr * r->in[0][i];
        double scale = (case_number(r, "beta", 1) + sqrt(n + g * g)) / lr + case_number(r, "wd", 0);
        r->aux[0][i] = z;
        r->aux[1][i] = n + g * g;
        r->out[0][i] = fabs(z) <= lamda1 ? 0 : (case_sign(z) * lamda1 - z) / scale;
    }
}

static const op_case cases[] = {
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
    {.op = "ftrl_update", .params = "lr=1", .infer = "?,2x3,?,? -> ? => 2x3,2x3,2x3,2x3 -> 2x3"},
    {.op = "ftrl_update", .params = "lr=1", .infer = "?,?,?,? -> 2x3 => 2x3,2x3,2x3,2x3 -> 2x3"},
    {.op = "ftrl_update", .params = "lr=1", .in = "2 2 2 3", .status = MXC_ESHAPE, .error = "auxiliary state 'n'"},
    {.op = "ftrl_update", .in = "2 2 2 2", .status = MXC_EINVAL, .error = "lr"},
};

MXC_CASES(update_ftrl_cases, cases);
