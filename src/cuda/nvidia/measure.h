/* SPDX-License-Identifier: Apache-2.0 */
/* Measuring which of several algorithms is the fastest on a GPU, for cuBLASLt's and cuDNN's plans. */
#ifndef MXCI_CUDA_NVIDIA_MEASURE_H
#define MXCI_CUDA_NVIDIA_MEASURE_H

#include <cuda_runtime.h>

/* Milliseconds of two runs by events on the stream, after a first run that loads code and warms caches; negative: the
 * algorithm does not run. */
template <class Run> float mxcu_time_of(cudaStream_t stream, const cudaEvent_t *events, int i, Run run) {
    float time = -1;
    if (!run(i) || cudaEventRecord(events[0], stream) != cudaSuccess || !run(i) || !run(i) ||
        cudaEventRecord(events[1], stream) != cudaSuccess || cudaEventSynchronize(events[1]) != cudaSuccess ||
        cudaEventElapsedTime(&time, events[0], events[1]) != cudaSuccess)
        return -1;
    return time;
}

/* The fastest of n algorithms, or -1: none runs. run(i) queues algorithm i on the stream, which must not be in capture,
 * and returns whether that succeeded. Waits for the stream. The algorithms are in the order of the library's
 * heuristics, and a later one is chosen only if it is at least 5 % faster, so that noise rarely changes the choice, and
 * with it the last digits of results, between processes. */
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
    (void)cudaGetLastError(); /* of algorithms that failed */
    return found;
}

#endif
