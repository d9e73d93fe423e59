/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of activation.def, and their table. */
#include "operator/nn/activation_kernels.h"

#include "math/fastmath.h"

#define BODY "operator/nn/activation_kernels.inc"
#define FOR_REALS
#include "math/for_types.inc"

const mxci_activation mxci_activations[MXCI_ACT_COUNT] = {
#define ACTIVATION(id, name)                                                                    \
    [MXCI_ACT_##id] = {.forward = {[MXC_F32] = act_##name##_f32, [MXC_F64] = act_##name##_f64}, \
                       .backward = {[MXC_F32] = act_##name##_grad_f32, [MXC_F64] = act_##name##_grad_f64}},
#include "operator/nn/activation_kernels.def"
#undef ACTIVATION
};
