/* Leaky rectifiers by compute type. */
#include "operator/nn/leaky_relu_kernels.h"

#include "math/fastmath.h"
#include "math/loop.h"

#define R float
#define NAME(f) f##_f32
#define FN(f) mxci_##f##_f32
#include "operator/nn/leaky_relu_kernels.inc"

#define R double
#define NAME(f) f##_f64
#define FN(f) mxci_##f##_f64
#include "operator/nn/leaky_relu_kernels.inc"

#define BY_TYPE(f) \
    { [MXC_F32] = f##_f32, [MXC_F64] = f##_f64 }
const mxci_map_fn mxci_leaky[MXCI_COMPUTE_LIMIT] = BY_TYPE(leaky);
const mxci_map_fn mxci_leaky_grad[MXCI_COMPUTE_LIMIT] = BY_TYPE(leaky_grad);
const mxci_map_fn mxci_leaky_slope[MXCI_COMPUTE_LIMIT] = BY_TYPE(leaky_slope);
const mxci_map_fn mxci_elu[MXCI_COMPUTE_LIMIT] = BY_TYPE(elu);
const mxci_map_fn mxci_elu_grad[MXCI_COMPUTE_LIMIT] = BY_TYPE(elu_grad);
const mxci_map_fn mxci_selu[MXCI_COMPUTE_LIMIT] = BY_TYPE(selu);
const mxci_map_fn mxci_selu_grad[MXCI_COMPUTE_LIMIT] = BY_TYPE(selu_grad);
const mxci_map_fn mxci_gelu[MXCI_COMPUTE_LIMIT] = BY_TYPE(gelu);
const mxci_map_fn mxci_gelu_grad[MXCI_COMPUTE_LIMIT] = BY_TYPE(gelu_grad);
