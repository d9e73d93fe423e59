/* SPDX-License-Identifier: Apache-2.0 */
/* LRN for each floating dtype. */
#include "operator/nn/lrn_kernels.h"

#include "math/fastmath.h"

/* The window of channels around c: begin..end-1, cut to those that exist. */
static int64_t window_begin(const mxci_lrn_shape *s, int64_t c) {
    return c > s->half_window ? c - s->half_window : 0;
}
static int64_t window_end(const mxci_lrn_shape *s, int64_t c) {
    return s->channels - c > s->half_window ? c + s->half_window + 1 : s->channels;
}

#define BODY "operator/nn/lrn_kernels.inc"
#define FOR_FLOATS
#include "math/for_types.inc"

const mxci_lrn_forward_fn mxci_lrn_forward[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(forward);
const mxci_lrn_ratio_fn mxci_lrn_ratio[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(ratio);
const mxci_lrn_backward_fn mxci_lrn_backward[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(backward);
