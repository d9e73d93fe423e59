/* SPDX-License-Identifier: Apache-2.0 */
/* What mxc_run_stream gives to a program on the GPU emulator, where CUDA gives a cudaStream_t; and its memory. */
#ifndef MXC_TESTS_FAKE_GPU_STREAM_H
#define MXC_TESTS_FAKE_GPU_STREAM_H

#include <stdint.h>

typedef struct fake_gpu_stream {
    void (*queue)(void *self, void (*fn)(void *arg), void *arg); /* have the stream call fn(arg) later */
    void *self;
} fake_gpu_stream;

/* The host address of an array's bytes on the emulator, as cuda_platform/platform.h computes it. */
static inline void *fake_gpu_memory(const void *data) {
    return (void *)((uintptr_t)data - ((uintptr_t)1 << 60));
}

#endif
