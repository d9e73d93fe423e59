/* SPDX-License-Identifier: Apache-2.0 */
/* Counting the valid elements of an array on the GPU, for the losses that divide by their number. */
#ifndef MXCI_CUDA_OPERATOR_LOSS_COUNT_H
#define MXCI_CUDA_OPERATOR_LOSS_COUNT_H

#include "cuda/runtime/module.h"

/* Which elements are valid: those above limit, or those whose integer part is not limit's. */
enum mxcu_count_rule { MXCU_COUNT_ABOVE, MXCU_COUNT_OTHERS };

/* Bytes of scratch, and the count: it becomes the first double of the call's scratch, at least 1, where kernels read
 * it; the host does not wait. */
size_t mxcu_count_bytes(const mxc_shape *shape);
mxc_status mxcu_count(const mxc_op_call *call, const mxc_tensor *x, double limit, mxcu_count_rule rule);

#endif
