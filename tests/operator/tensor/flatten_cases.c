/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of Flatten. */
#include "operator/cases.h"

#define FLATTEN(shapes) \
    { .op = "Flatten", .in = shapes, .reference = case_copy }

static const op_case cases[] = {
    FLATTEN("3x4" CASE_AXES(CASE_ONE) "; 5x9@-1:1nf"),
    FLATTEN("3"),
    FLATTEN("2x3x4x5"),
    FLATTEN("0x3x4"),
    FLATTEN("3x0x4"),
    FAILS("Flatten", "", "s", MXC_ESHAPE, "at least one axis"),
    INFERS("Flatten", "", "?x3x4 -> 7x? => 7x3x4 -> 7x12"),
    INFERS("Flatten", "", "?x? -> 7x5 => 7x5 -> 7x5"),
};

MXC_CASES(tensor_flatten_cases, cases);
