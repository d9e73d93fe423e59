/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax, its logarithm, their gradients and the gradient of cross entropy, for each floating dtype. */
#include "operator/nn/softmax_kernels.h"

#include "math/fastmath.h"

enum { COLUMNS = 1024, LANES = 64 }; /* of inner, worked on at a time; partial results of a row side by side */

/* The class of a label: its whole part where that is 0..k-1, else -1. */
static int64_t softmax_kernels_class_of(double label, int64_t k) {
    return label > -1 && label < (double)k ? (int64_t)label : -1;
}

static int is_ignored(double label, double ignore) {
    return trunc(label) == trunc(ignore);
}

#define BODY "operator/nn/softmax_kernels.inc"
#define FOR_FLOATS
#include "math/for_types.inc"

const mxci_softmax_forward_fn mxci_softmax_forward[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(forward);
const mxci_softmax_forward_fn mxci_log_softmax_forward[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(log_forward);
const mxci_softmax_backward_fn mxci_softmax_backward[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(backward);
const mxci_softmax_backward_fn mxci_log_softmax_backward[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(log_backward);
const mxci_softmax_loss_fn mxci_softmax_loss_gradient[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(loss_gradient);
const mxci_softmax_count_fn mxci_softmax_count[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(count);
