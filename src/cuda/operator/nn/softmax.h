/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax along an axis on the GPU, for the operators that contain one. */
#ifndef MXCI_CUDA_OPERATOR_NN_SOFTMAX_H
#define MXCI_CUDA_OPERATOR_NN_SOFTMAX_H

#include "cuda/runtime/strided_iterator.h"

/* Which elements of (outer, k, inner) take part: all; the first ones of each (outer, inner), as many as length says; or
 * those whose mask, broadcast to the array, is not 0. */
struct mxcu_visible {
    enum { ALL, LENGTH, MASK } kind;
    mxcu_any by;
    mxcu_strided_iterator iterator;
};

/* Arrays (outer, k, inner) of one dtype. */
struct mxcu_softmax {
    int64_t outer, k, inner;
    double scale; /* of x; may be negative */
    int is_log;
    double hidden; /* what out has where an element does not take part */
    mxcu_visible visible;
};

/* Data's axis (negative: from the end), all elements visible. */
mxcu_softmax mxcu_softmax_along(const mxc_shape *data, int64_t axis, double scale, int is_log);
/* to = or += softmax(scale x); to may be x. */
mxc_status mxcu_softmax_put(const mxc_op_call *call, const mxcu_softmax *s, const mxc_tensor *x, const mxc_tensor *to,
                            mxc_req req);
/* to = or += the gradient of x, of those of the result, dy, and the result y; to may be either. */
mxc_status mxcu_softmax_put_gradient(const mxc_op_call *call, const mxcu_softmax *s, const mxc_tensor *dy,
                                     const mxc_tensor *y, const mxc_tensor *to, mxc_req req);

#endif
