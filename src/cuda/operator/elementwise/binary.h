/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of binary.def in kernels, one struct each: id_function::of(a, b), and the gradients left and right of
 * (g, a, b). numbers: whether it is defined for integers too. */
#ifndef MXCI_CUDA_OPERATOR_ELEMENTWISE_BINARY_H
#define MXCI_CUDA_OPERATOR_ELEMENTWISE_BINARY_H

#include "cuda/runtime/strided_iterator.h"
#include "math/scalar_math.h"

#define MAP_BINARY
#define BODY "simpleop/map_kernels.inc"
#define FOR_COMPUTE
#include "math/for_types.inc"

namespace {

#define OF_FLOAT(id) enum { numbers = 0 };
#define OF_NUMBER(id)                                     \
    enum { numbers = 1 };                                 \
    MXCU_DEVICE static int64_t of(int64_t a, int64_t b) { \
        return id##_op_i64(a, b);                         \
    }
#define OF_REAL(id, R, suffix)                  \
    MXCU_DEVICE static R of(R a, R b) {         \
        return id##_op_##suffix(a, b);          \
    }                                           \
    MXCU_DEVICE static R left(R g, R a, R b) {  \
        return id##_left_op_##suffix(g, a, b);  \
    }                                           \
    MXCU_DEVICE static R right(R g, R a, R b) { \
        return id##_right_op_##suffix(g, a, b); \
    }
#define BINARY(id, types, ...)   \
    struct id##_function {       \
        OF_REAL(id, float, f32)  \
        OF_REAL(id, double, f64) \
        OF_##types(id)           \
    };
#include "simpleop/binary.def"
#undef BINARY

} // namespace

/* out = id(lhs, rhs) of arrays of one shape, none of them broadcast; and both gradients, where values that do not
 * matter have no data. For what broadcast operators do without broadcasting. */
mxc_status mxcu_binary_forward(const mxc_op_call *call, int id);
mxc_status mxcu_binary_backward(const mxc_op_call *call, int id);

#endif
