/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of numbers, whose order is that of the numbers: the lower 32 bits of a float's, 64 bits of others'. turn, all
 * bits, reverses it. A NaN comes last both ways, and -0 is 0. C and GPU kernels both read this. */
#ifndef MXCI_MATH_SORT_KEY_H
#define MXCI_MATH_SORT_KEY_H

#include <stdint.h>
#include <string.h>

#include "math/loop.h"

/* Of negative numbers all bits are turned, of others the sign: then they compare as unsigned integers. */
MXCI_SCALAR uint64_t mxci_order_key_f32(float x, uint64_t turn) {
    float value = x + 0.0f; /* no -0 */
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits ^= bits >> 31 ? UINT32_MAX : UINT32_C(1) << 31;
    return x != x ? UINT32_MAX : bits ^ (uint32_t)turn;
}

MXCI_SCALAR uint64_t mxci_order_key_f64(double x, uint64_t turn) {
    double value = x + 0.0;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits ^= bits >> 63 ? UINT64_MAX : UINT64_C(1) << 63;
    return x != x ? UINT64_MAX : bits ^ turn;
}

MXCI_SCALAR uint64_t mxci_order_key_i64(int64_t x, uint64_t turn) {
    return ((uint64_t)x ^ UINT64_C(1) << 63) ^ turn;
}

#endif
