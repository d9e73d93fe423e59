/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of binary.def, and their table. */
#include "math/scalar_math.h"
#include "simpleop/map_kernels.h"

#define MAP_BINARY
#define BODY "simpleop/map_kernels.inc"
#define FOR_COMPUTE
#include "math/for_types.inc"

#define INTEGER_NUMBER(id) , [MXC_I64] = id##_i64
#define INTEGER_FLOAT(id)

const mxci_binary_kernel mxci_binary_kernels[MXCI_BINARY_COUNT] = {
#define BINARY(id, types, ...)                                                                         \
    [MXCI_BINARY_##id] = {.forward = {[MXC_F32] = id##_f32, [MXC_F64] = id##_f64 INTEGER_##types(id)}, \
                          .left = {[MXC_F32] = id##_left_f32, [MXC_F64] = id##_left_f64},              \
                          .right = {[MXC_F32] = id##_right_f32, [MXC_F64] = id##_right_f64}},
#include "simpleop/binary.def"
#undef BINARY
};
