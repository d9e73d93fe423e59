/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of squeeze. */
#include "operator/cases.h"

static const op_case cases[] = {
    RUN("squeeze", "", "1x3x1x2; 7; 2x1; 1x7; 1x1x1x1; 3x1x0; 65x1; 1x2x1x3x1x2x1x2; 2x3x4; 129x1x3; 1; 5x1x9@-1:1nf",
        case_copy),
    RUN("squeeze", "axis=0", "1x3x1", case_copy),
    RUN("squeeze", "axis=(0,-1)", "1x3x1", case_copy),
    RUN("squeeze", "axis=1", "70x1x301", case_copy),
    RUN("squeeze", "", "3x4", case_copy),
    RUN("squeeze", "", "1x1", case_copy),
    RUN("squeeze", "axis=(0,1)", "1x1", case_copy),
    RUN("squeeze", "", "s", case_copy),
    RUN("squeeze", "", "0x1", case_copy),
    FAILS("squeeze", "axis=1", "1x3", MXC_ESHAPE, "argument 'data': expected shape (?,1), found (1,3)"),
    FAILS("squeeze", "axis=2", "1x3", MXC_ESHAPE, "axis 2 is not in [-2, 2)"),
    FAILS("squeeze", "axis=(0,-2)", "1x3", MXC_ESHAPE, "axis 0 is named twice"),
    INFERS("squeeze", "axis=1", "2x?x? -> ?x5 => 2x1x5 -> 2x5"),
    INFERS("squeeze", "", "1x? -> ? => 1x? -> ?"),
};

MXC_CASES(tensor_squeeze_cases, cases);
