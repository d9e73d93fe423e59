/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of expand_dims. */
#include "operator/cases.h"

static const op_case cases[] = {
    RUN("expand_dims", "axis=0", "3", case_copy),
    RUN("expand_dims", "axis=1",
        "3x4; 1; 7; 1x1; 7x1; 1x7; 65x2; 2x3x4; 3x0x2; 2x1x3x1x2; 129x3; 33; 1x2x1x3x1x2x1; "
        "5x9@-1:1nf",
        case_copy),
    RUN("expand_dims", "axis=2", "3x4", case_copy),
    RUN("expand_dims", "axis=-1", "3x4", case_copy),
    RUN("expand_dims", "axis=-3", "3x4", case_copy),
    RUN("expand_dims", "axis=0", "s", case_copy),
    RUN("expand_dims", "axis=1", "0x4", case_copy),
    FAILS("expand_dims", "", "2x3", MXC_EINVAL, "\"axis\" is missing"),
    FAILS("expand_dims", "axis=3", "2x3", MXC_ESHAPE, "axis 3 is not in [-3, 3)"),
    FAILS("expand_dims", "axis=0", "1x1x1x1x1x1x1x1", MXC_ESHAPE, "out would have 9 axes"),
    INFERS("expand_dims", "axis=1", "2x? -> ? => 2x? -> 2x1x?"),
    INFERS("expand_dims", "axis=1", "? -> 2x1x3 => 2x3 -> 2x1x3"),
};

MXC_CASES(tensor_expand_dims_cases, cases);
