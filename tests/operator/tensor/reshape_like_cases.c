/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of reshape_like. */
#include "operator/cases.h"

static const op_case cases[] = {
    RUN("reshape_like", "",
        "6x4 2x3x4; 1 1; 7 7; 7 1x7; 65 5x13; 0 0x3; 0x3 3x0; 12 3x4; 3x4 12; 1x17 17; 2x3x4 24; "
        "1031 1031x1; 3x129 387; 2x3x2x5 6x10; 1x1x1x1 1; 5x9@-1:1nf 45; 2x2 4; 2x1x3x1x2 12; "
        "8 2x2x2",
        case_copy),
    RUN("reshape_like", "lhs_begin=0 lhs_end=1 rhs_begin=0 rhs_end=2", "30x7 15x2x4", case_copy),
    RUN("reshape_like", "lhs_end=2 rhs_begin=1 rhs_end=2", "3x5 1x15x4", case_copy),
    RUN("reshape_like", "lhs_begin=-1 lhs_end=None rhs_begin=1 rhs_end=None", "30x12 4x2x2x3", case_copy),
    FAILS("reshape_like", "", "6 7", MXC_ESHAPE, "argument 'lhs': shape (6,) has not as many elements as (7,)"),
    FAILS("reshape_like", "rhs_begin=3", "6 6", MXC_ESHAPE, "argument 'rhs': axes 3 to 1 of 1 axes"),
    INFERS("reshape_like", "", "?,2x3 -> ? => ?,2x3 -> 2x3"),
    INFERS("reshape_like", "", "6,? -> ? => 6,? -> ?"),
};

MXC_CASES(tensor_reshape_like_cases, cases);
