/* SPDX-License-Identifier: Apache-2.0 */
/* Forms of cases that the element-wise operators share. */
#ifndef MXC_TESTS_OPERATOR_ELEMENTWISE_REFERENCE_H
#define MXC_TESTS_OPERATOR_ELEMENTWISE_REFERENCE_H

#include "operator/cases.h"

/* Values of a range, some of them not finite in the last set; and shapes known from the output. */
#define INPUTS(first, range) first "@" range CASE_EACH(CASE_ONE) "; 5x9@" range "nf"

#define SHAPES(name, ref, range)                                  \
    {.op = name, .in = INPUTS("3x5", range), .reference = ref}, { \
        .op = name, .infer = "? -> 2x3 => 2x3 -> 2x3"             \
    }

#endif
