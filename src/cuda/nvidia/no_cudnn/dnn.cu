/* SPDX-License-Identifier: Apache-2.0 */
/* runtime/dnn.h where cuDNN was not found when libmxc was built: nothing is served. The two functions that run an RNN
 * are never called then. */
#include "cuda/runtime/dnn.h"

const int mxcu_has_dnn = 0;

size_t mxcu_dnn_conv_temp(mxc_context, const mxcu_conv *, mxcu_conv_pass) {
    return 0;
}

mxc_status mxcu_dnn_conv(const mxc_op_call *, const mxcu_conv *, mxcu_conv_pass, const void *, const void *, void *,
                         int, int *served) {
    *served = 0;
    return MXC_OK;
}

int mxcu_dnn_rnn_serves(mxc_context, const mxcu_dnn_rnn *, size_t *, size_t *) {
    return 0;
}

mxc_status mxcu_dnn_rnn_forward(const mxc_op_call *, const mxcu_dnn_rnn *, const mxcu_dnn_rnn_arrays *) {
    return MXC_FAIL(MXC_EUNSUPPORTED, "RNN: built without cuDNN");
}

mxc_status mxcu_dnn_rnn_backward(const mxc_op_call *, const mxcu_dnn_rnn *, const mxcu_dnn_rnn_arrays *) {
    return MXC_FAIL(MXC_EUNSUPPORTED, "RNN: built without cuDNN");
}
