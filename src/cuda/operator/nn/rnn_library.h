/* SPDX-License-Identifier: Apache-2.0 */
/* RNN by a library (cuda/runtime/dnn.h), where it serves. */
#ifndef MXCI_CUDA_OPERATOR_NN_RNN_LIBRARY_H
#define MXCI_CUDA_OPERATOR_NN_RNN_LIBRARY_H

#include "cuda/runtime/module.h"

/* Bytes of scratch; 0 if the library does not support the call. */
size_t mxcu_rnn_library_temp(const mxc_op_sig *sig, mxc_pass pass);
/* Queue a run; served: 0 where nothing was. Backward is served where forward was. */
mxc_status mxcu_rnn_library_forward(const mxc_op_call *call, int *served);
mxc_status mxcu_rnn_library_backward(const mxc_op_call *call, int *served);

#endif
