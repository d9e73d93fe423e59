/* The loops of activation.def, and their table. */
#include "operator/nn/activation_kernels.h"

#include "math/fastmath.h"

#define A float
#define NAME(f) f##_act_f32
#define FN(f) mxci_##f##_f32
#include "operator/nn/activation_kernels.inc"

#define A double
#define NAME(f) f##_act_f64
#define FN(f) mxci_##f##_f64
#include "operator/nn/activation_kernels.inc"

const mxci_activation mxci_activations[MXCI_ACT_COUNT] = {
#define ACTIVATION(id, name)                                                                \
    [MXCI_ACT_##id] = {.forward = {[MXC_F32] = name##_act_f32, [MXC_F64] = name##_act_f64}, \
                       .backward = {[MXC_F32] = name##_grad_act_f32, [MXC_F64] = name##_grad_act_f64}},
#include "operator/nn/activation_kernels.def"
#undef ACTIVATION
};
