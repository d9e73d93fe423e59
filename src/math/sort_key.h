/* SPDX-License-Identifier: Apache-2.0 */
/* Sort keys: unsigned integers in the order of the numbers, 32 bits for float, 64 for others. flip, all bits set,
 * reverses the order. A NaN comes last in both, and -0 equals 0. C and GPU kernels both read this. */
#ifndef MXCI_MATH_SORT_KEY_H
#define MXCI_MATH_SORT_KEY_H

#include <stdint.h>
#include <string.h>

#include "math/loop.h"

/* Inverting all bits of negative numbers, and the sign of others, makes floats compare as unsigned integers. */
MXCI_SCALAR uint64_t mxci_sort_key_f32(float x, uint64_t flip) {
    float value = x + 0.0f; /* no -0 */
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits ^= bits >> 31 ? UINT32_MAX : UINT32_C(1) << 31;
    return x != x ? UINT32_MAX : bits ^ (uint32_t)flip;
}

MXCI_SCALAR uint64_t mxci_sort_key_f64(double x, uint64_t flip) {
    double value = x + 0.0;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits ^= bits >> 63 ? UINT64_MAX : UINT64_C(1) << 63;
    return x != x ? UINT64_MAX : bits ^ flip;
}

MXCI_SCALAR uint64_t mxci_sort_key_i64(int64_t x, uint64_t flip) {
    return ((uint64_t)x ^ UINT64_C(1) << 63) ^ flip;
}

#endif
