/* SPDX-License-Identifier: Apache-2.0 */
/* Concatenating arrays along an axis on the GPU, and splitting an array into such parts. */
#ifndef MXCI_CUDA_OPERATOR_TENSOR_CONCAT_SPLIT_H
#define MXCI_CUDA_OPERATOR_TENSOR_CONCAT_SPLIT_H

#include "cuda/runtime/kernel.h"

/* The place of a part in the whole array: its rows have n elements, from offset on in the whole's rows of row elements.
 * operator() returns the element of the whole that element `at` of the part is. */
struct mxcu_concat_part {
    int64_t offset, n, row;
    MXCU_DEVICE int64_t operator()(int64_t at) const {
        const int64_t outer = at / n;
        return outer * row + offset + (at - outer * n);
    }
};

/* outer: elements of the axes before the one; offset: elements of earlier parts in a row. A part may lack the axis, if
 * it has one row of it (stack). */
static inline mxcu_concat_part mxcu_concat_part_of(const mxc_tensor *whole, const mxc_tensor *part, int64_t outer,
                                                   int64_t offset) {
    return {offset, outer ? mxcu_size(part) / outer : 0, outer ? mxcu_size(whole) / outer : 0};
}

/* Result 0 of a call, whole, = the n parts side by side along the axis. */
mxc_status mxcu_concat(const mxc_op_call *call, const mxc_tensor *whole, int n, const mxc_tensor *parts, int axis);
/* Each of the call's n results, parts, = its part of whole. */
mxc_status mxcu_split(const mxc_op_call *call, const mxc_tensor *whole, int n, const mxc_tensor *parts, int axis);

#endif
