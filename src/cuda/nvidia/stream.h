/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of NVIDIA GPUs, and errors of CUDA calls. */
#ifndef MXCI_CUDA_NVIDIA_STREAM_H
#define MXCI_CUDA_NVIDIA_STREAM_H

#include <atomic>
#include <cstdint>
#include <cuda_runtime.h>

#include <mxc/op.h>

enum { MXCU_EVENTS = 256 }; /* the host runs at most so many functions ahead */

/* What a stream was given, as a CUDA graph. */
struct mxcu_recording {
    cudaGraphExec_t graph;
    mxc_random *place; /* on the GPU, for the random numbers of a replay; NULL: it draws none */
    uint64_t begin;    /* offset that stands for the place's in what was recorded */
};

/* What mxc_run.stream points to. */
struct mxcu_stream {
    int id; /* of the GPU */
    cudaStream_t stream;
    struct mxcu_blas *blas;          /* of blas.cu; made at first use */
    mxcu_recording *recording;       /* that is being made, or NULL */
    std::atomic<uint64_t> position;  /* so far */
    cudaEvent_t events[MXCU_EVENTS]; /* position p is events[p % MXCU_EVENTS], until that is recorded again; NULL: not
                                        created */
};

/* An error that nobody is told of. CUDA would keep it as this thread's last error, and the check of the next launch
 * would take it for that launch's. */
void mxcu_forget(cudaError_t error);
/* MXC_OK, or a failure that names the call: MXC_ENOMEM for lack of memory, else MXC_EDEVICE. */
mxc_status mxcu_check(cudaError_t error, const char *what);

/* blas.cu: free what a stream has of cuBLAS; NULL is fine. */
void mxcu_blas_close(struct mxcu_blas *blas);

/* Whether the call's stream is being recorded, so that nothing may wait for it. */
static inline bool mxcu_is_recording(const mxc_op_call *call) {
    return static_cast<const mxcu_stream *>(call->run->stream)->recording != nullptr;
}

/* Make the call's GPU this thread's, and give its stream. */
mxc_status mxcu_enter(const mxc_op_call *call, cudaStream_t *out);
/* What the launch just made says. */
mxc_status mxcu_launched(const mxc_op_call *call);

#endif
