/* SPDX-License-Identifier: Apache-2.0 */
/* The computations of RNN on the CPU; the operator itself is described in rnn.c. */
#ifndef MXCI_OPERATOR_NN_RNN_RUN_H
#define MXCI_OPERATOR_NN_RNN_RUN_H

#include "operator/nn/rnn.h"

size_t mxci_rnn_temp_bytes(const mxc_op_sig *sig, mxc_pass pass);
/* Random numbers of the masks between layers. */
uint64_t mxci_rnn_random_count(const mxc_op_sig *sig);
mxc_status mxci_rnn_forward(const mxc_op_call *call);
mxc_status mxci_rnn_backward(const mxc_op_call *call);

#endif
