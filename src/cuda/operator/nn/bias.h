/* SPDX-License-Identifier: Apache-2.0 */
/* Biases on the GPU: one value per channel, added to all of its elements; and its gradient, a sum per channel. */
#ifndef MXCI_CUDA_OPERATOR_NN_BIAS_H
#define MXCI_CUDA_OPERATOR_NN_BIAS_H

#include "cuda/runtime/module.h"

/* to (N,C,D) = or += bias (C), as req says; C elements of bias, N and D following from to. */
mxc_status mxcu_bias_put(const mxc_op_call *call, mxc_req req, const mxc_tensor *to, const mxc_tensor *bias, int64_t d);
/* grad (C) = or += the sums over n and d of from (N,C,D). */
mxc_status mxcu_bias_sum(const mxc_op_call *call, mxc_req req, const mxc_tensor *grad, const mxc_tensor *from,
                         int64_t d);
/* The same for D = 1, as a product with ones. temp: N elements of scratch. from may have another shape than (N,C). */
mxc_status mxcu_bias_sum_rows(const mxc_op_call *call, mxc_req req, mxc_dtype dtype, void *grad, const void *from,
                              int64_t n, int64_t c, void *temp);

#endif
