/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _identity_with_attr_like_rhs. */
#include "operator/cases.h"

static const op_case cases[] = {
    RUN("_identity_with_attr_like_rhs", "", "3 3" CASE_EACH(CASE_TWO) "; 5x9@-1:1nf 5x9", case_copy),
    RUN("_identity_with_attr_like_rhs", "", "3x4 3x4", case_copy),
    RUN("_identity_with_attr_like_rhs", "", "1 1", case_copy),
    RUN("_identity_with_attr_like_rhs", "", "s s", case_copy),
    RUN("_identity_with_attr_like_rhs", "", "2x3x4x5 2x3x4x5", case_copy),
    RUN("_identity_with_attr_like_rhs", "", "7x1 7x1", case_copy),
    RUN("_identity_with_attr_like_rhs", "", "70x301 70x301", case_copy),
    RUN("_identity_with_attr_like_rhs", "", "0x3 0x3", case_copy),
    FAILS("_identity_with_attr_like_rhs", "", "3 4", MXC_ESHAPE, "argument 'rhs': expected shape (3,), found (4,)"),
    INFERS("_identity_with_attr_like_rhs", "", "?,2x3 -> ? => 2x3,2x3 -> 2x3"),
};

MXC_CASES(tensor_identity_with_attr_like_rhs_cases, cases);
