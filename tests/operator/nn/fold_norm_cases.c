/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _fold_norm. */
#include <math.h>

#include "operator/cases.h"

/* in: weight, gamma, beta, mean, variance, bias */
static void ref_fold(const op_run *r) {
    int64_t filters = r->in_shape[0].dim[0], filter_size = filters ? case_size(&r->in_shape[0]) / filters : 0;
    for (int64_t f = 0; f < filters; f++) {
        double s = (case_is(r, "fix_gamma", "True") ? 1 : r->in[1][f]) / sqrt(r->in[4][f] + case_number(r, "eps", 0));
        for (int64_t k = 0; k < filter_size; k++)
            r->out[0][f * filter_size + k] = s * r->in[0][f * filter_size + k];
        r->out[1][f] = ((r->n_in > 5 ? r->in[5][f] : 0) - r->in[3][f]) * s + r->in[2][f];
    }
}

static const op_case cases[] = {
    {.op = "_fold_norm",
     .params = "eps=0.01; eps=0.1 fix_gamma=True; eps=0.5",
     .reference = ref_fold,
     .flags = CASE_NO_GRADIENT,
     .in = "4x3x3 4@0.5:2 4 4 4@0.5:2 4; 1x1 1 1 1 1 1; 7x1031 7 7 7 7 7; 0x3 0 0 0 0 0; 3x0 3 3 3 3 3; 5 5 5 5 5 5; "
           "64x4x3x3 64 64 64 64 64"},
    {.op = "_fold_norm",
     .params = "eps=0.01 no_bias=True",
     .reference = ref_fold,
     .flags = CASE_NO_GRADIENT,
     .in = "4x3x3 4@0.5:2 4 4 4@0.5:2; 2x700 2 2 2 2"},
    INFERS("_fold_norm", "eps=1", "4x3,?,?,?,?,? -> ?,? => 4x3,4,4,4,4,4 -> 4x3,4"),
    FAILS("_fold_norm", "eps=1", "4x3 4 4 5 4 4", MXC_ESHAPE, "argument 'mean'"),
};

MXC_CASES(nn_fold_norm_cases, cases);
