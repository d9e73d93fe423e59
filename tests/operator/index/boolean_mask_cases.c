/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _contrib_boolean_mask. */
#include "operator/cases.h"

static void ref_mask(const op_run *r) {
    const int64_t n = r->in_shape[0].dim[0], length = n ? case_size(&r->in_shape[0]) / n : 0;
    int64_t at = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < length && r->in[1][i] != 0; k++)
            r->out[0][at++] = r->in[0][i * length + k];
}

#define MASK(sets) \
    { .op = "_contrib_boolean_mask", .in = sets, .reference = ref_mask, .constant = 2 }

static const op_case cases[] = {
    MASK(
        "4x3 4@0:1i; 1 1; 7 7; 64 64; 65 65; 1031 1031; 0 0; 0x3 0; 3x0x2 3; 1x1 1; 1x17 1; 17x1 17; 3x129 3; 2x3x4 2; "
        "5x1x4 5; 3x1x7 3; 2x3x2x5 2; 9x2x1x3 9; 40x300 40; 5x9@-1:1nf 5"),
    MASK("5x2 5@0:0; 3 3@0:0"),
    MASK("5x2 5@1:1; 3x4 3@-2:-1i"),
    FAILS("_contrib_boolean_mask", "axis=1", "3x2 2", MXC_EUNSUPPORTED, "axis=1 is not supported"),
    FAILS("_contrib_boolean_mask", "", "3x2 2", MXC_ESHAPE, "argument 'index': expected shape (3,), found (2,)"),
    INFERS("_contrib_boolean_mask", "", "?x2,3 -> ? => 3x2,3 -> ?x2"),
};

MXC_CASES(index_boolean_mask_cases, cases);
