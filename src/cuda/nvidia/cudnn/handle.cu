/* SPDX-License-Identifier: Apache-2.0 */
/* The handles of nvidia/cudnn/handle.h. */
#include "cuda/nvidia/cudnn/handle.h"

static mxcu_dnn gpus[MXCU_DNN_GPUS]; /* for the life of the process: cuDNN may have ended before static destructors */

/* A handle that could not be created is not tried again (tried), so that a GPU without cuDNN costs one failure. */
mxcu_dnn *mxcu_dnn_take(int id, std::unique_lock<std::mutex> *held) {
    mxcu_dnn *d = &gpus[id < MXCU_DNN_GPUS ? id : 0];
    const cudaError_t error = id < MXCU_DNN_GPUS ? cudaSetDevice(id) : cudaErrorInvalidDevice;
    mxcu_ignore_error(error);
    if (error != cudaSuccess)
        return nullptr;
    *held = std::unique_lock<std::mutex>(d->lock);
    if (!d->tried && cudnnCreate(&d->handle) != CUDNN_STATUS_SUCCESS)
        d->handle = nullptr;
    d->tried = true;
    d->id = id;
    return d->handle ? d : nullptr;
}

/* cudnnSetStream is skipped where the handle already has the stream: it is slow enough to matter per layer. */
mxcu_dnn *mxcu_dnn_take_for(const mxc_op_call *call, std::unique_lock<std::mutex> *held, cudaStream_t *stream) {
    const mxcu_stream *s = static_cast<const mxcu_stream *>(call->run->stream);
    mxcu_dnn *d = mxcu_dnn_take(s->id, held);
    *stream = s->stream;
    if (d && d->stream != s->stream && cudnnSetStream(d->handle, s->stream) != CUDNN_STATUS_SUCCESS)
        return nullptr;
    if (d)
        d->stream = s->stream;
    return d;
}
