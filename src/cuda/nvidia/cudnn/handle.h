/* SPDX-License-Identifier: Apache-2.0 */
/* cuDNN on each GPU: one handle per GPU, which one thread at a time may use. A handle has state (its stream, the
 * descriptors that are modified before a call), so each call into cuDNN is made under the GPU's lock; calls only queue
 * work, so the lock is held for microseconds, except while algorithms are measured. */
#ifndef MXCI_CUDA_NVIDIA_CUDNN_HANDLE_H
#define MXCI_CUDA_NVIDIA_CUDNN_HANDLE_H

#include <cudnn.h>
#include <mutex>

#include "cuda/nvidia/stream.h"
#include "cuda/runtime/module.h"

enum { MXCU_DNN_GPUS = 64 };

struct mxcu_dnn {
    std::mutex lock; /* over all that follows, and over what other files keep of the GPU */
    int id;
    bool tried;
    cudnnHandle_t handle; /* NULL: cuDNN does not start here */
    cudaStream_t stream;  /* the handle's */
};

/* The GPU's handle, locked as long as *held is, and the GPU becomes the thread's current device. The handle is created
 * at the first call. NULL: cuDNN does not start on this GPU, and serves nothing. */
mxcu_dnn *mxcu_dnn_take(int id, std::unique_lock<std::mutex> *held);
/* The same for work on the call's stream, which becomes the handle's. */
mxcu_dnn *mxcu_dnn_take_for(const mxc_op_call *call, std::unique_lock<std::mutex> *held, cudaStream_t *stream);

static inline cudnnDataType_t mxcu_dnn_type(mxc_dtype dtype) {
    switch (dtype) {
    case MXC_F64:
        return CUDNN_DATA_DOUBLE;
    case MXC_F16:
        return CUDNN_DATA_HALF;
    case MXC_BF16:
        return CUDNN_DATA_BFLOAT16;
    default:
        return CUDNN_DATA_FLOAT;
    }
}

/* Tensor cores for 16-bit types; for float32 only where TF32 is allowed (MXC_GPU_TF32), as in PyTorch by default. */
static inline cudnnMathType_t mxcu_dnn_math(mxc_dtype dtype) {
    if (dtype == MXC_F16 || dtype == MXC_BF16)
        return CUDNN_TENSOR_OP_MATH;
    return dtype == MXC_F32 && mxcu_option(MXCI_OPT_MXC_GPU_TF32) == 0 ? CUDNN_FMA_MATH : CUDNN_DEFAULT_MATH;
}

static inline bool mxcu_dnn_succeeded(cudnnStatus_t status) {
    return status == CUDNN_STATUS_SUCCESS;
}

#endif
