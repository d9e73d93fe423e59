/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of SoftmaxActivation. */
#include "operator/nn/nn_reference.h"

#define SOFT_ACT(given, shapes) \
    { .op = "SoftmaxActivation", .params = given, .in = shapes, .reference = case_softmax_forward }

static const op_case cases[] = {
    SOFT_ACT("", "3x5@-4:4; 1x1; 1x7; 7x1; 0x3; 65x3; 3x129; 2x3x4; 1x2x1x3; 17x2; 2x1x3x1x2; 5x9@-4:4nf"),
    SOFT_ACT("", "3x5x2@-4:4"),
    SOFT_ACT("mode=channel", "3x5x2x3@-4:4; 1x1x1x1; 1x7x1; 2x1x3; 7x3; 0x3x2; 9x5x3@-4:4nf"),
    SOFT_ACT("mode=channel", "2x3x520@-4:4"),
    SOFT_ACT("", "0x5"),
    FAILS("SoftmaxActivation", "mode=channel", "5", MXC_ESHAPE, "at least 2 axes"),
};

MXC_CASES(nn_softmax_activation_cases, cases);
