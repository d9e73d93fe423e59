/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _contrib_index_copy. */
#include <string.h>

#include "operator/cases.h"

static void ref_copy(const op_run *r) {
    const int64_t n = r->in_shape[0].dim[0], length = n ? case_size(&r->in_shape[0]) / n : 0;
    case_copy(r);
    for (int64_t i = 0; i < case_size(&r->in_shape[1]); i++)
        memcpy(r->out[0] + (int64_t)r->in[1][i] * length, r->in[2] + i * length, (size_t)length * sizeof(double));
}

/* Every row of new_tensor receives the gradient of its row of out, also where a later one has replaced it. */
static void grad_copy(const op_run *r) {
    const int64_t n = r->in_shape[0].dim[0], length = n ? case_size(&r->in_shape[0]) / n : 0;
    memcpy(r->in_grad[0], r->out_grad[0], (size_t)(n * length) * sizeof(double));
    for (int64_t i = 0; i < case_size(&r->in_shape[1]) * length; i++) {
        const int64_t at = (int64_t)r->in[1][i / length] * length + i % length;
        r->in_grad[2][i] = r->out_grad[0][at];
        r->in_grad[0][at] = 0;
    }
}

static const op_case cases[] = {
    {.op = "_contrib_index_copy",
     .in = "5x3 2@0:4i 2x3; 5 3 3; 65 9@0:64i 9; 5 0 0; 5x0 2 2x0; 5x1 1 1x1; 17x7 5@0:16i 5x7; 7x2x3 4@0:6i 4x2x3; "
           "9x1x5x1 2@0:8i 2x1x5x1; 1031 5@0:100i 5; 5x9@-1:1nf 2 2x9; 6x300 5@0:5i 5x300; 5x3 5 5x3",
     .reference = ref_copy,
     .constant = 2},
    {.op = "_contrib_index_copy",
     .in = "2x3 5@0:1i 5x3; 3 7 7; 9x2 40 40x2; 1x4 3@0:0 3x4; 0x3 0 0x3; 4x2x2 9 9x2x2; 2 2 2",
     .reference = ref_copy,
     .gradient = grad_copy,
     .constant = 2},
    FAILS("_contrib_index_copy", "", "5x2 2 1x2", MXC_ESHAPE, "expected shape (1,), found (2,)"),
    FAILS("_contrib_index_copy", "", "5x2 2 2x3", MXC_ESHAPE, "old_tensor"),
    FAILS("_contrib_index_copy", "", "0x2 2 2x2", MXC_ESHAPE, "axis 0 has no elements"),
    INFERS("_contrib_index_copy", "", "5x?,2,?x3 -> ? => 5x3,2,2x3 -> 5x3"),
};

MXC_CASES(index_index_copy_cases, cases);
