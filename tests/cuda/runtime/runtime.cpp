/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of cuda_runtime.h. A stream is a list of work, which is done when it is waited for: as late as it may
 * be. */
#include "cuda_runtime.h"

#include <cstdlib>
#include <cstring>
#include <functional>
#include <set>
#include <vector>

struct emulated_stream {
    std::vector<std::function<void()>> work;
};

struct emulated_event {
    cudaStream_t on;
};

struct emulated_graph {};

static thread_local cudaError_t last_error;
static emulated_counts counts;
static emulated_stream legacy;
static std::set<void *> *const blocks = new std::set<void *>; /* of the device */

static cudaError_t result(cudaError_t error) {
    if (error != cudaSuccess)
        last_error = error;
    return error;
}

cudaError_t cudaGetLastError() {
    const cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

const char *cudaGetErrorString(cudaError_t error) {
    return error == cudaErrorMemoryAllocation ? "out of memory" : error == cudaSuccess ? "no error" : "an error";
}

emulated_counts emulated_count() {
    return counts;
}

/* ---- devices and memory ------------------------------------------------------------------------------------------ */

cudaError_t cudaGetDeviceCount(int *out) {
    counts.device_counts++;
    *out = 2;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int id) {
    return result(id < 2 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaMalloc(void **out, size_t bytes) {
    *out = bytes < (size_t)1 << 30 ? malloc(bytes) : nullptr;
    if (*out)
        blocks->insert(*out);
    return result(*out ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaFree(void *block) {
    if (block && !blocks->erase(block))
        return result(cudaErrorInvalidValue);
    free(block);
    return cudaSuccess;
}

cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned) {
    *out = malloc(bytes);
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *block) {
    if (!block)
        return result(cudaErrorInvalidValue);
    free(block);
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free_now, size_t *total) {
    *total = (size_t)1 << 30;
    *free_now = *total / 2;
    return cudaSuccess;
}

/* ---- streams ----------------------------------------------------------------------------------------------------- */

void emulated_run(cudaStream_t stream) {
    std::vector<std::function<void()>> work;
    work.swap((stream ? stream : &legacy)->work);
    for (const std::function<void()> &piece : work)
        piece();
}

/* Addresses within a block are not looked for: tests copy whole ones. */
static bool is_on_device(const void *at) {
    return blocks->count(const_cast<void *>(at)) > 0;
}

/* From pageable memory, the bytes are read at once; to it, the call waits. */
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
    emulated_stream *on = stream ? stream : &legacy;
    if (is_on_device(from)) {
        on->work.push_back([=] { memmove(to, from, bytes); });
    } else {
        const char *source = static_cast<const char *>(from);
        on->work.push_back(
            [to, staged = std::vector<char>(source, source + bytes)] { memcpy(to, staged.data(), staged.size()); });
    }
    if (!is_on_device(to))
        emulated_run(stream);
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned) {
    *out = new emulated_stream;
    counts.streams++;
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    emulated_run(stream);
    delete stream;
    counts.streams--;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    emulated_run(stream);
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    if (!event)
        return result(cudaErrorInvalidResourceHandle);
    stream->work.push_back([=] { emulated_run(event->on); });
    return cudaSuccess;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned) {
    *out = new emulated_event{nullptr};
    counts.events++;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    if (!event)
        return result(cudaErrorInvalidResourceHandle);
    delete event;
    counts.events--;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    event->on = stream;
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    if (!event)
        return result(cudaErrorInvalidResourceHandle);
    if (event->on)
        emulated_run(event->on);
    return cudaSuccess;
}

/* ---- graphs: not emulated ---------------------------------------------------------------------------------------- */

cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
    return result(cudaErrorInvalidValue);
}

cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *out) {
    *out = nullptr;
    return result(cudaErrorInvalidValue);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t, unsigned long long) {
    *out = nullptr;
    return result(cudaErrorInvalidValue);
}

cudaError_t cudaGraphDestroy(cudaGraph_t) {
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) {
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) {
    return result(cudaErrorInvalidValue);
}

cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t) {
    return result(cudaErrorInvalidValue);
}
