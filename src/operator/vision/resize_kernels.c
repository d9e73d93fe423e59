/* SPDX-License-Identifier: Apache-2.0 */
#include "operator/vision/resize_kernels.h"

#include <string.h>

void mxci_resize_neighbours(int64_t in, int64_t out, int aligned, mxci_resize_tap *taps) {
    for (int64_t i = 0; i < out; i++)
        taps[i] = mxci_resize_neighbour(in, out, aligned, i);
}

void mxci_resize_blocks(int64_t in, int64_t out, mxci_resize_tap *taps) {
    for (int64_t i = 0; i < out; i++)
        taps[i] = mxci_resize_block(in, out, i);
}

#define BODY "operator/vision/resize_kernels.inc"
#define FOR_REALS
#include "math/for_types.inc"
