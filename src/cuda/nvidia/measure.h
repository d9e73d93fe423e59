/* Which of several ways to do some work on a GPU is the fastest. */
#ifndef MXCI_CUDA_NVIDIA_MEASURE_H
#define MXCI_CUDA_NVIDIA_MEASURE_H

#include <cuda_runtime.h>

/* Milliseconds of two runs after a first one; negative: it does not run. */
template <class Run> float mxcu_time_of(cudaStream_t stream, const cudaEvent_t *events, int way, Run run) {
    float time = -1;
    if (!run(way) || cudaEventRecord(events[0], stream) != cudaSuccess || !run(way) || !run(way) ||
        cudaEventRecord(events[1], stream) != cudaSuccess || cudaEventSynchronize(events[1]) != cudaSuccess ||
        cudaEventElapsedTime(&time, events[0], events[1]) != cudaSuccess)
        return -1;
    return time;
}

/* The fastest of n ways, the best first as far as was known: a later one must take a twentieth less. -1: none runs.
 * run(way) queues it on the stream, which is not being recorded, and says whether that went well. Waits for it. */
template <class Run> int mxcu_fastest(cudaStream_t stream, int n, Run run) {
    cudaEvent_t events[2] = {nullptr, nullptr};
    float best = -1;
    int found = -1;
    if (cudaEventCreate(&events[0]) == cudaSuccess && cudaEventCreate(&events[1]) == cudaSuccess)
        for (int i = 0; i < n; i++) {
            const float time = mxcu_time_of(stream, events, i, run);
            if (time >= 0 && (found < 0 || time < 0.95f * best)) {
                best = time;
                found = i;
            }
        }
    for (cudaEvent_t event : events)
        if (event)
            (void)cudaEventDestroy(event);
    (void)cudaGetLastError(); /* of ways that did not run */
    return found;
}

#endif
