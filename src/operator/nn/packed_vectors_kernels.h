/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of the level, for convolutions with channels last by packed weights: parts of a vector, and what the epilogue
 * does to one. */
#ifndef MXCI_OPERATOR_NN_PACKED_VECTORS_KERNELS_H
#define MXCI_OPERATOR_NN_PACKED_VECTORS_KERNELS_H

#include "base/simd_wide.h"

/* The first n lanes, 1 to all, and zeros. */
MXCI_INLINE mxci_wide_f32 mxci_packed_load(const float *p, int n) {
    if (n == MXCI_WIDE_F32)
        return mxci_wide_load_f32(p);
#if MXCI_WIDE_MASKS
    return mxci_wide_load_first_f32(p, n);
#else
    float lane[MXCI_WIDE_F32] = {0};
    memcpy(lane, p, (size_t)n * sizeof *lane);
    return mxci_wide_load_f32(lane);
#endif
}

MXCI_INLINE void mxci_packed_store(float *p, int n, mxci_wide_f32 v) {
    if (n == MXCI_WIDE_F32) {
        mxci_wide_store_f32(p, v);
        return;
    }
#if MXCI_WIDE_MASKS
    mxci_wide_store_first_f32(p, n, v);
#else
    float lane[MXCI_WIDE_F32];
    mxci_wide_store_f32(lane, v);
    memcpy(p, lane, (size_t)n * sizeof *lane);
#endif
}

/* x < 0 ? slope x : x, at most limit. NaN stays NaN; slope 0 makes 0 of -infinity too. */
MXCI_INLINE mxci_wide_f32 mxci_packed_rectify(mxci_wide_f32 x, float slope, float limit) {
    const mxci_wide_f32 zero = mxci_wide_splat_f32(0), most = mxci_wide_splat_f32(limit);
    x = mxci_wide_select_f32(x < zero, slope == 0 ? zero : x * slope, x);
    return mxci_wide_select_f32(x > most, most, x);
}

#endif
