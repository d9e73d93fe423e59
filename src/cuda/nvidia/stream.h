/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of NVIDIA GPUs, CUDA graphs captured from them, and errors of CUDA calls. For the files of nvidia/ only;
 * operators see a stream as call->run->stream. */
#ifndef MXCI_CUDA_NVIDIA_STREAM_H
#define MXCI_CUDA_NVIDIA_STREAM_H

#include <atomic>
#include <cstdint>
#include <cuda_runtime.h>

#include <mxc/op.h>

enum { MXCU_EVENTS = 256 }; /* the host runs at most so many events ahead of the device */

/* A CUDA graph of what was queued on a stream between capture_begin and capture_end. */
struct mxcu_capture {
    cudaGraphExec_t graph;
    mxc_random *random; /* on the GPU: the range that the next launch draws from; NULL: it draws none */
    uint64_t begin;     /* the offset of the range during capture, which captured kernels subtract */
};

/* What mxc_run.stream points to. One thread at a time queues work on a stream; events are also read by
 * threads that wait for it. */
struct mxcu_stream {
    int id; /* of the GPU */
    cudaStream_t stream;
    struct mxcu_blas *blas;          /* of blas.cu; created at first use */
    mxcu_capture *capture;           /* in progress, or NULL */
    std::atomic<uint64_t> position;  /* of the last event recorded */
    cudaEvent_t events[MXCU_EVENTS]; /* position p is events[p % MXCU_EVENTS], until that is recorded again; NULL: not
                                        created */
};

/* Drop an error that is not reported. CUDA keeps it as this thread's last error, and the check after the next launch
 * would take it for an error of that launch. */
void mxcu_ignore_error(cudaError_t error);
/* MXC_OK, or a failure that names the call: MXC_ENOMEM for lack of memory, else MXC_EDEVICE. */
mxc_status mxcu_check(cudaError_t error, const char *what);

/* blas.cu: free the stream's handle and workspace; NULL is fine. */
void mxcu_blas_close(struct mxcu_blas *blas);

/* Whether the call's stream is being captured: nothing may wait for it then, and nothing is executed until the graph is
 * launched. */
static inline bool mxcu_is_capturing(const mxc_op_call *call) {
    return static_cast<const mxcu_stream *>(call->run->stream)->capture != nullptr;
}

/* Make the call's GPU the thread's current device, and return its stream. Every function that queues work begins with
 * this. */
mxc_status mxcu_enter(const mxc_op_call *call, cudaStream_t *out);
/* The error of the kernel launch just made (bad configuration, missing code for the device), not of its execution. */
mxc_status mxcu_launched(const mxc_op_call *call);

#endif
