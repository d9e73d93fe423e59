/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels on NVIDIA GPUs: what cuda/runtime/kernel.h builds on. tests/fake_gpu/cuda_platform/ has the emulator's
 * version with the same names.
 *
 * There are three kinds of launches: mxcu_for (a thread per element), mxcu_rows (a block per row) and mxcu_tiles
 * (tiles.h). Blocks have at most 256 threads, and grids are one-dimensional with at most 65535 blocks; each block takes
 * further elements, rows or tiles in a loop, so any int64_t size works. No kernel uses atomics or dynamic shared
 * memory. Sizes of grids and teams follow from shapes alone, so the order of floating-point operations is the same in
 * every run on any GPU. */
#ifndef MXCI_CUDA_NVIDIA_PLATFORM_H
#define MXCI_CUDA_NVIDIA_PLATFORM_H

#include <cuda_runtime.h>

#include <mxc/half.h>

#include "cuda/nvidia/stream.h"
#include "cuda/runtime/module.h"

/* An extended lambda (nvcc --extended-lambda): captures by value what the kernel receives as its argument. */
#define MXCU_LAMBDA __device__
#define MXCU_DEVICE __device__ __forceinline__
/* A function that both host code and kernels call. */
#define MXCU_BOTH __host__ __device__ __forceinline__

/* Conversions by their PTX instructions, which round to nearest even: cuda_fp16.h and cuda_bf16.h would add more than a
 * second to the compilation of every operator. */
MXCU_DEVICE float mxcu_f16_to_float(mxc_f16 x) {
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
    return y;
}
MXCU_DEVICE float mxcu_bf16_to_float(mxc_bf16 x) {
    return __uint_as_float((unsigned)x.bits << 16);
}
MXCU_DEVICE mxc_f16 mxcu_float_to_f16(float x) {
    mxc_f16 y;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
}
MXCU_DEVICE mxc_bf16 mxcu_float_to_bf16(float x) {
    mxc_bf16 y;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
}

template <class T> T *mxcu_pointer(void *data) {
    return static_cast<T *>(data);
}

/* ---- one thread per element -------------------------------------------------------------------------------------- */

enum { MXCU_THREADS = 256, MXCU_MAX_BLOCKS = 65535 };

/* A grid-stride loop: thread t of T takes elements t, t + T, t + 2 T, ... Neighbouring threads of a warp take
 * neighbouring elements, so that accesses by i are coalesced. The launch bound of 256 threads leaves 255 registers to a
 * thread. */
template <class F> __global__ void __launch_bounds__(MXCU_THREADS) mxcu_for_kernel(int64_t n, F body) {
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        body(i);
}

/* Queue body(i) for i from 0 to n - 1, in any order, on the call's stream. n = 0 launches nothing. */
template <class F> mxc_status mxcu_for(const mxc_op_call *call, int64_t n, F body) {
    int64_t blocks = (n + MXCU_THREADS - 1) / MXCU_THREADS;
    cudaStream_t stream;
    if (n == 0)
        return MXC_OK;
    MXC_TRY(mxcu_enter(call, &stream));
    if (blocks > MXCU_MAX_BLOCKS)
        blocks = MXCU_MAX_BLOCKS;
    mxcu_for_kernel<<<(unsigned)blocks, MXCU_THREADS, 0, stream>>>(n, body);
    return mxcu_launched(call);
}

/* ---- one team of threads per row --------------------------------------------------------------------------------- */

/* The threads of one block, which work on one row. size is a power of two from 32 to 256. sync and the functions that
 * combine contain barriers: all threads of the team must call them, also those without elements of their own. */
struct mxcu_team {
    int rank, size;
    void *shared; /* one number of 8 bytes for each warp */

    MXCU_DEVICE void sync() const {
        __syncthreads();
    }
    /* op over the values of all threads; the result is the same on every thread. Within a warp by a butterfly of
     * shuffles, then every thread combines the warps' results from shared memory in the order of warps: a fixed tree
     * for a given team size. The first barrier protects `shared` from threads that still read the result of an earlier
     * call. */
    template <class T, class F> MXCU_DEVICE T combine(T value, F op) const {
        T *parts = static_cast<T *>(shared);
        int lane = rank % 32, warp = rank / 32, warps = size / 32;
        for (int step = 16; step > 0; step /= 2)
            value = op(value, __shfl_xor_sync(0xffffffffu, value, step));
        __syncthreads();
        if (lane == 0)
            parts[warp] = value;
        __syncthreads();
        value = parts[0];
        for (int i = 1; i < warps; i++)
            value = op(value, parts[i]);
        return value;
    }
    template <class T> MXCU_DEVICE T sum(T value) const {
        return combine(value, [](T a, T b) { return a + b; });
    }
    /* The maximum; NaN if any value is NaN. */
    template <class T> MXCU_DEVICE T max(T value) const {
        return combine(value, [](T a, T b) { return b > a || b != b ? b : a; });
    }
    /* The minimum; NaN if any value is NaN. */
    template <class T> MXCU_DEVICE T min(T value) const {
        return combine(value, [](T a, T b) { return b < a || b != b ? b : a; });
    }
};

/* Block b takes rows b, b + gridDim.x, ... A body may return early on some threads only behind its last barrier. */
template <class F> __global__ void __launch_bounds__(MXCU_THREADS) mxcu_rows_kernel(int64_t rows, F body) {
    __shared__ double shared[MXCU_THREADS / 32];
    mxcu_team team = {(int)threadIdx.x, (int)blockDim.x, shared};
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x)
        body(row, team);
}

/* Queue body(row, team) for every row, rows in any order, one team each. width: elements of a row; it chooses the
 * team's size (32, 64, 128 or 256), so that short rows leave few threads idle. */
template <class F> mxc_status mxcu_rows(const mxc_op_call *call, int64_t rows, int64_t width, F body) {
    unsigned threads = width <= 32 ? 32 : width <= 64 ? 64 : width <= 128 ? 128 : MXCU_THREADS;
    cudaStream_t stream;
    if (rows == 0)
        return MXC_OK;
    MXC_TRY(mxcu_enter(call, &stream));
    mxcu_rows_kernel<<<(unsigned)(rows < MXCU_MAX_BLOCKS ? rows : MXCU_MAX_BLOCKS), threads, 0, stream>>>(rows, body);
    return mxcu_launched(call);
}

#endif
