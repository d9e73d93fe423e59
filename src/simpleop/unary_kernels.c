/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of unary.def, and their table. */
#include "math/scalar_math.h"
#include "simpleop/map_kernels.h"

#define MAP_UNARY
#define BODY "simpleop/map_kernels.inc"
#define FOR_COMPUTE
#include "math/for_types.inc"

#define INTEGER_NUMBER(id) , [MXC_I64] = id##_i64
#define INTEGER_FLOAT(id)

const mxci_unary_kernel mxci_unary_kernels[MXCI_UNARY_COUNT] = {
#define UNARY(id, name, aliases, types, ...)                                                          \
    [MXCI_UNARY_##id] = {.forward = {[MXC_F32] = id##_f32, [MXC_F64] = id##_f64 INTEGER_##types(id)}, \
                         .backward = {[MXC_F32] = id##_grad_f32, [MXC_F64] = id##_grad_f64}},
#include "simpleop/unary.def"
#undef UNARY
};
