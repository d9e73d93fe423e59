/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of multi_sum_sq and clip_global_norm. */
#include <math.h>

#include "operator/update/update_reference.h"

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

#define NORM_SET(s) CASE_ONE(s) " 3"

static const op_case cases[] = {
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

MXC_CASES(update_global_norm_cases, cases);
