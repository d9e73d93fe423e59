/* SPDX-License-Identifier: Apache-2.0 */
#include "operator/nn/lrn_kernels.h"

#include "math/fastmath.h"

/* Channels near c: from begin to end - 1. */
static int64_t near_begin(const mxci_lrn_shape *s, int64_t c) {
    return c > s->reach ? c - s->reach : 0;
}
static int64_t near_end(const mxci_lrn_shape *s, int64_t c) {
    return s->channels - c > s->reach ? c + s->reach + 1 : s->channels;
}

#define BODY "operator/nn/lrn_kernels.inc"
#define FOR_FLOATS
#include "math/for_types.inc"

const mxci_lrn_forward_fn mxci_lrn_forward[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(forward);
const mxci_lrn_share_fn mxci_lrn_share[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(share);
const mxci_lrn_backward_fn mxci_lrn_backward[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(backward);
