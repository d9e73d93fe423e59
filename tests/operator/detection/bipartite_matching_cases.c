/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _contrib_bipartite_matching. */
#include <math.h>

#include "operator/cases.h"

/* Picks the best pair of a row and a column that are both free until none exceeds the threshold. */
static void ref_matching(const op_run *r) {
    const mxc_shape *s = &r->in_shape[0];
    const int64_t n = s->dim[s->ndim - 2], m = s->dim[s->ndim - 1], topk = (int64_t)case_number(r, "topk", -1);
    const double sign = case_is(r, "is_ascend", "true") ? -1 : 1, least = sign * case_number(r, "threshold", 0);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = -1;
    for (int64_t i = 0; i < case_size(&r->out_shape[1]); i++)
        r->out[1][i] = -1;
    for (int64_t g = 0; n * m > 0 && g < case_size(s) / (n * m); g++)
        for (int64_t count = 0; topk <= 0 || count <= topk; count++) {
            const double *x = r->in[0] + g * n * m;
            int64_t best = -1;
            for (int64_t i = 0; i < n * m; i++)
                if (r->out[0][g * n + i / m] < 0 && r->out[1][g * m + i % m] < 0 && sign * x[i] > least &&
                    (best < 0 || sign * x[i] > sign * x[best]))
                    best = i;
            if (best < 0)
                break;
            r->out[0][g * n + best / m] = (double)(best % m);
            r->out[1][g * m + best % m] = (double)(best / m);
        }
}

#define MATCHING(given, shapes)                                                                                       \
    {                                                                                                                 \
        .op = "_contrib_bipartite_matching", .params = given, .in = shapes, .reference = ref_matching, .constant = 1, \
        .flags = CASE_OUT_EXACT                                                                                       \
    }

static const op_case cases[] = {
    MATCHING("threshold=-0.5; threshold=0.4 is_ascend=true; threshold=-0.9 topk=2; threshold=1e-12 topk=0",
             "3x2; 2x3; 1x1; 7x9; 2x4x5; 2x3x2x2; 33x17; 1x20; 20x1; 3x65; 0x3; 3x0; 2x0x3; 0x3x3"),
    MATCHING("threshold=0.3", "4x6@0:2i; 5x5; 2x3x3; 9x2"),
    FAILS("_contrib_bipartite_matching", "", "3x2", MXC_EINVAL, "threshold"),
    FAILS("_contrib_bipartite_matching", "threshold=0", "3", MXC_ESHAPE, "expected 2 to 8 axes, found 1"),
    INFERS("bipartite_matching", "threshold=0", "2x?x5 -> ?x3,? => 2x3x5 -> 2x3,2x5"),
    INFERS("bipartite_matching", "threshold=0", "? -> ?x3,2x5 => 2x3x5 -> 2x3,2x5"),
};

MXC_CASES(detection_bipartite_matching_cases, cases);
