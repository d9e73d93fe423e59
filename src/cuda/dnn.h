/*
 * What a library has better kernels for than ours: on NVIDIA's GPUs cuDNN; nothing where it was not found when libmxc
 * was built. The tests' stand-in serves part of it. What is "not served" (served: 0) has queued nothing and left
 * results as they were, and the caller's own kernels do it.
 */
#ifndef MXCU_DNN_H
#define MXCU_DNN_H

#include "cuda/conv.h"

/* Most bytes of scratch that mxcu_dnn_conv may use for the pass on that GPU. Thread-safe. */
size_t mxcu_dnn_conv_temp(mxc_context context, const mxcu_conv *c, mxcu_conv_pass pass);
/* Queue to = or += what the pass computes of a and b: y of x and w, dx of dy and w, dw of x and dy. */
mxc_status mxcu_dnn_conv(const mxc_op_call *call, const mxcu_conv *c, mxcu_conv_pass pass, const void *a, const void *b,
                         void *to, int add, int *served);

#endif
