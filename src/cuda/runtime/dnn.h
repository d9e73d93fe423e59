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

/* Bytes of scratch, the largest that mxcu_dnn_conv may use for the pass on that GPU; 0: it is not served. Thread-safe.
 * The first call for a shape queries the library's heuristics, which takes milliseconds; later calls find the plan in a
 * cache. */
size_t mxcu_dnn_conv_temp(mxc_context context, const mxcu_conv *c, mxcu_conv_pass pass);
/* Queue to = or += the result of the pass from a and b: y from x and w; dx from dy and w; dw from x and dy. May measure
 * algorithms, and then waits for the stream, in the first run of a shape that overwrites its result and is not being
 * captured. */
mxc_status mxcu_dnn_conv(const mxc_op_call *call, const mxcu_conv *c, mxcu_conv_pass pass, const void *a, const void *b,
                         void *to, int add, int *served);

/* An RNN (operator/nn/rnn.h) without dropout, whose parameters are packed as the operator's are. */
struct mxcu_dnn_rnn {
    int mode; /* MXCI_RNN_... */
    int64_t t, n, inputs, h, layers, directions;
    mxc_dtype dtype;
};

/* The arrays of one run. Forward writes y, hy, cy and, for training, reserve. Backward reads y and reserve, changes
 * reserve, writes dx, dhx, dcx and adds to dweight. Cells (cx, cy and their gradients) are LSTM's only. hy, cy, dhy,
 * dcy and dweight may be NULL: not wanted, or a gradient of 0. */
struct mxcu_dnn_rnn_arrays {
    const void *x, *weight, *hx, *cx;
    void *y, *hy, *cy;
    const void *dy, *dhy, *dcy;
    void *dx, *dhx, *dcx, *dweight;
    void *reserve; /* NULL: inference */
    void *temp;
};

/* Returns 1 if the library serves it; then *temp = bytes of scratch that suffice for any pass, *reserve = bytes of the
 * library's reserve space. Thread-safe. */
int mxcu_dnn_rnn_serves(mxc_context context, const mxcu_dnn_rnn *r, size_t *temp, size_t *reserve);
/* Queue a run that mxcu_dnn_rnn_serves accepts. Failures of the library are MXC_EDEVICE. */
mxc_status mxcu_dnn_rnn_forward(const mxc_op_call *call, const mxcu_dnn_rnn *r, const mxcu_dnn_rnn_arrays *a);
mxc_status mxcu_dnn_rnn_backward(const mxc_op_call *call, const mxcu_dnn_rnn *r, const mxcu_dnn_rnn_arrays *a);

#endif
