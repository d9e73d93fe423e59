/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of activation_kernels.def in float and double, and the table of them. 16-bit arrays are computed in float,
 * tile by tile (math/map.h). */
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
