/* SPDX-License-Identifier: Apache-2.0 */
/* Leaky rectifiers by compute type. */
#include "operator/nn/leaky_relu_kernels.h"

#include "math/fastmath.h"
#include "math/loop.h"

#define BODY "operator/nn/leaky_relu_kernels.inc"
#define FOR_REALS
#include "math/for_types.inc"

const mxci_map_fn mxci_leaky[MXCI_COMPUTE_LIMIT] = MXCI_REAL_TABLE(leaky);
const mxci_map_fn mxci_leaky_grad[MXCI_COMPUTE_LIMIT] = MXCI_REAL_TABLE(leaky_grad);
const mxci_map_fn mxci_leaky_slope_grad[MXCI_COMPUTE_LIMIT] = MXCI_REAL_TABLE(leaky_slope_grad);
const mxci_map_fn mxci_elu[MXCI_COMPUTE_LIMIT] = MXCI_REAL_TABLE(elu);
const mxci_map_fn mxci_elu_grad[MXCI_COMPUTE_LIMIT] = MXCI_REAL_TABLE(elu_grad);
const mxci_map_fn mxci_selu[MXCI_COMPUTE_LIMIT] = MXCI_REAL_TABLE(selu);
const mxci_map_fn mxci_selu_grad[MXCI_COMPUTE_LIMIT] = MXCI_REAL_TABLE(selu_grad);
const mxci_map_fn mxci_gelu[MXCI_COMPUTE_LIMIT] = MXCI_REAL_TABLE(gelu);
const mxci_map_fn mxci_gelu_grad[MXCI_COMPUTE_LIMIT] = MXCI_REAL_TABLE(gelu_grad);
