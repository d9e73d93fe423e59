/* SPDX-License-Identifier: Apache-2.0 */
#include "operator/quantized/quantized_pooling_kernels.h"

#include <string.h>

#include "base/simd.h"

/* to = max(to, from). */
MXCI_INLINE void merge(const int is_signed, int64_t n, const uint8_t *restrict from, uint8_t *restrict to) {
    const uint8_t flip = is_signed ? 128 : 0; /* codes with a sign are ordered as bytes without, once this is flipped */
    MXCI_VECTOR_LOOP
    for (int64_t i = 0; i < n; i++) {
        const uint8_t a = to[i] ^ flip, b = from[i] ^ flip;
        to[i] = (a > b ? a : b) ^ flip;
    }
}

MXCI_INLINE void pool_row(const int is_signed, const mxci_pool_shape *s, int64_t channels, int64_t row,
                          const uint8_t *from, uint8_t *to) {
    int64_t begin[3], end[3];
    mxci_pool_window(s, 0, row / s->out[1], &begin[0], &end[0]);
    mxci_pool_window(s, 1, row % s->out[1], &begin[1], &end[1]);
    for (int64_t ox = 0; ox < s->out[2]; ox++, to += channels) {
        int is_first = 1;
        mxci_pool_window(s, 2, ox, &begin[2], &end[2]);
        for (int64_t iz = begin[0]; iz < end[0]; iz++)
            for (int64_t iy = begin[1]; iy < end[1]; iy++)
                for (int64_t ix = begin[2]; ix < end[2]; ix++, is_first = 0) {
                    const uint8_t *pixel = from + ((iz * s->in[1] + iy) * s->in[2] + ix) * channels;
                    if (is_first)
                        memcpy(to, pixel, (size_t)channels);
                    else
                        merge(is_signed, channels, pixel, to);
                }
        if (is_first)
            memset(to, 0, (size_t)channels);
    }
}

void mxci_quantized_pool_max(const mxci_pool_shape *s, int is_signed, int64_t channels, int64_t row, const void *from,
                             void *to) {
    if (is_signed)
        pool_row(1, s, channels, row, from, to);
    else
        pool_row(0, s, channels, row, from, to);
}
