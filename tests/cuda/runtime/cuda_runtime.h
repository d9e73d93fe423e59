/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As much of CUDA's runtime as src/cuda/nvidia/device.cu calls, emulated on the host, so that the real source runs
 * in tests on machines without CUDA. What matters of the real one is kept: the legacy stream does not wait for non-
 * blocking streams, a copy from pageable memory or within the device returns before it has ended, and a thread's last
 * error stays until it is asked for. runtime.cpp has the functions.
 */
#ifndef CUDA_RUNTIME_H
#define CUDA_RUNTIME_H

#include <cstddef>

#define __global__

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidResourceHandle = 400
};
enum cudaMemcpyKind { cudaMemcpyDefault = 4 };
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal = 1 };
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2, cudaHostAllocPortable = 1 };

typedef struct emulated_stream *cudaStream_t;
typedef struct emulated_event *cudaEvent_t;
typedef struct emulated_graph *cudaGraph_t;
typedef struct emulated_graph *cudaGraphExec_t;

struct dim3 {
    unsigned x;
    explicit dim3(unsigned n) : x(n) {
    }
};

cudaError_t cudaGetLastError();
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetDeviceCount(int *out);
cudaError_t cudaSetDevice(int id);
cudaError_t cudaMalloc(void **out, size_t bytes);
template <class T> cudaError_t cudaMalloc(T **out, size_t bytes) {
    return cudaMalloc(reinterpret_cast<void **>(out), bytes);
}
cudaError_t cudaFree(void *block);
cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void *block);
cudaError_t cudaMemGetInfo(size_t *free_now, size_t *total);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *out);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph);
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream);
cudaError_t cudaLaunchKernel(const void *kernel, dim3 blocks, dim3 threads, void **args, size_t shared,
                             cudaStream_t stream);

/* ---- for tests --------------------------------------------------------------------------------------------------- */

struct emulated_counts {
    int device_counts, streams, events; /* calls that ask for the number of devices; what there is now */
};
emulated_counts emulated_count();
/* Run what a stream was given; NULL: the legacy stream. No stream does anything before it is waited for. */
void emulated_run(cudaStream_t stream);

#endif
