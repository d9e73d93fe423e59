/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of math/fastmath.h by the type of their argument, for kernels written once for all types. */
#ifndef MXCI_CUDA_RUNTIME_MATH_H
#define MXCI_CUDA_RUNTIME_MATH_H

#include "math/fastmath.h"
#include "cuda_platform/platform.h"

#define MXCU_OVERLOADS(name)                   \
    MXCU_DEVICE float mxcu_##name(float x) {   \
        return mxci_##name##_f32(x);           \
    }                                          \
    MXCU_DEVICE double mxcu_##name(double x) { \
        return mxci_##name##_f64(x);           \
    }
MXCU_OVERLOADS(exp)
MXCU_OVERLOADS(log)
MXCU_OVERLOADS(tanh)
MXCU_OVERLOADS(sigmoid)
#undef MXCU_OVERLOADS

#endif
