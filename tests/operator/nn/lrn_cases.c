/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of LRN. */
#include <math.h>

#include "operator/cases.h"

static void ref_lrn(const op_run *r) {
    const mxc_shape *s = &r->in_shape[0];
    int64_t inner = 1, size = (int64_t)case_number(r, "nsize", 1);
    for (int i = 2; i < s->ndim; i++)
        inner *= s->dim[i];
    for (int64_t i = 0; i < case_size(s); i++) {
        int64_t c = i / inner % s->dim[1];
        double sum = 0;
        for (int64_t k = -(size / 2); k <= size / 2; k++)
            if (c + k >= 0 && c + k < s->dim[1])
                sum += r->in[0][i + k * inner] * r->in[0][i + k * inner];
        r->out[1][i] = case_number(r, "knorm", 2) + case_number(r, "alpha", 1e-4) / (double)size * sum;
        r->out[0][i] = r->in[0][i] * pow(r->out[1][i], -case_number(r, "beta", 0.75));
    }
}

#define ROUGH(name, given, shapes, ref) \
    { .op = name, .params = given, .in = shapes, .reference = ref, .tolerance = 4 }

static const op_case cases[] = {
    ROUGH("LRN", "nsize=3", "2x5x3; 1x7; 7x1; 1x65; 2x1x3; 3x2x2x2; 1x3x1x2x3; 17x4; 2x33x2; 1x2x129; 2x5x9@-1:1nf",
          ref_lrn),
    ROUGH("LRN", "nsize=5 alpha=0.5 beta=0.6 knorm=1", "2x7x3x2", ref_lrn),
    ROUGH("LRN", "nsize=1 alpha=1", "3x4", ref_lrn),
    ROUGH("LRN", "nsize=3 alpha=2 beta=1 knorm=0.5", "1x1x5", ref_lrn),
    ROUGH("LRN", "nsize=9 alpha=0.9", "2x4x3", ref_lrn),
    ROUGH("LRN", "nsize=3 alpha=0.3", "1x3x23x31", ref_lrn),
    ROUGH("LRN", "nsize=5 alpha=0.3", "2x96x7x7", ref_lrn),
    ROUGH("LRN", "nsize=3", "1x1", ref_lrn),
    ROUGH("LRN", "nsize=3", "0x4x3", ref_lrn),
    ROUGH("LRN", "nsize=3", "2x4x0", ref_lrn),
    FAILS("LRN", "nsize=4", "2x5x3", MXC_EINVAL, "nsize is 4, expected an odd number"),
    FAILS("LRN", "", "2x5x3", MXC_EINVAL, "\"nsize\" is missing"),
    FAILS("LRN", "nsize=3", "5", MXC_ESHAPE, "expected at least 2 axes"),
    INFERS("LRN", "nsize=3", "2x? -> ?x3,? => 2x3 -> 2x3,2x3"),
};

MXC_CASES(nn_lrn_cases, cases);
