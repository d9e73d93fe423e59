/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers that a library computes faster than libmxc's kernels: cuDNN on NVIDIA's GPUs, none where it was not found when
 * libmxc was built; the GPU emulator supports some of them. A call that is "not served" (served: 0) has queued nothing
 * and left the results as they were, and the caller runs its own kernels.
 */
#ifndef MXCI_CUDA_RUNTIME_DNN_H
#define MXCI_CUDA_RUNTIME_DNN_H

#include "cuda/operator/nn/convolution.h"

/* Whether there is such a library. */
extern const int mxcu_has_dnn;

/* Most bytes of scratch that mxcu_dnn_conv may use for the pass on that GPU; 0: it is not served. Thread-safe. */
size_t mxcu_dnn_conv_temp(mxc_context context, const mxcu_conv *c, mxcu_conv_pass pass);
/* Queue to = or += what the pass computes of a and b: y of x and w, dx of dy and w, dw of x and dy. */
mxc_status mxcu_dnn_conv(const mxc_op_call *call, const mxcu_conv *c, mxcu_conv_pass pass, const void *a, const void *b,
                         void *to, int add, int *served);

/* An RNN (operator/nn/rnn.h) without dropout, whose parameters are packed as the operator's are. */
struct mxcu_dnn_rnn {
    int mode; /* MXCI_RNN_... */
    int64_t t, n, inputs, h, layers, directions;
    mxc_dtype dtype;
};

/* The arrays of one run. Forward writes y, hy, cy and, for training, reserve, which backward reads with y and changes;
 * backward writes dx, dhx, dcx and adds to dweight. Cells are LSTM's; hy, cy and the gradients of both may be NULL:
 * not wanted, or 0; so may dweight. */
struct mxcu_dnn_rnn_arrays {
    const void *x, *weight, *hx, *cx;
    void *y, *hy, *cy;
    const void *dy, *dhy, *dcy;
    void *dx, *dhx, *dcx, *dweight;
    void *reserve; /* NULL: inference */
    void *temp;
};

/* Whether it is served, and then bytes of scratch for any pass and of reserve. Thread-safe. */
int mxcu_dnn_rnn_serves(mxc_context context, const mxcu_dnn_rnn *r, size_t *temp, size_t *reserve);
/* Queue one that is served. */
mxc_status mxcu_dnn_rnn_forward(const mxc_op_call *call, const mxcu_dnn_rnn *r, const mxcu_dnn_rnn_arrays *a);
mxc_status mxcu_dnn_rnn_backward(const mxc_op_call *call, const mxcu_dnn_rnn *r, const mxcu_dnn_rnn_arrays *a);

#endif
