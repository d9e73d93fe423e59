/* SPDX-License-Identifier: Apache-2.0 */
/* Results that need no computing: gradients of 0, constants, copies. */
#ifndef MXCI_CUDA_RUNTIME_GRADIENT_H
#define MXCI_CUDA_RUNTIME_GRADIENT_H

#include "cuda/runtime/kernel.h"

/* A gradient of 0 for argument i: nothing is done where it would be added. */
mxc_status mxcu_no_gradient(const mxc_op_call *call, int i);
/* The same for every argument: backward of operators whose gradient is zero everywhere. */
mxc_status mxcu_zero_gradient(const mxc_op_call *call);
/* Result i of a call = value, or += value, in any dtype. */
mxc_status mxcu_put_constant(const mxc_op_call *call, const mxc_tensor *to, int i, double value);
/* Result i of a call = or += from, which has the same number of elements and the same dtype. Queues nothing where the
 * result is from's own memory and is overwritten. */
mxc_status mxcu_put(const mxc_op_call *call, const mxc_tensor *to, int i, const mxc_tensor *from);
/* The same with conversion of the dtype. */
mxc_status mxcu_put_cast(const mxc_op_call *call, const mxc_tensor *to, mxc_req req, const mxc_tensor *from);

#endif
