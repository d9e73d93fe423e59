/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels on NVIDIA GPUs: what cuda/runtime/kernel.h builds on. tests/fake_gpu/cuda_platform/ has the emulator's. */
#ifndef MXCI_CUDA_NVIDIA_PLATFORM_H
#define MXCI_CUDA_NVIDIA_PLATFORM_H

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "base/half.h"
#include "cuda/nvidia/stream.h"
#include "cuda/runtime/module.h"

#define MXCU_LAMBDA __device__
#define MXCU_DEVICE __device__ __forceinline__
/* A function that both host code and kernels call. */
#define MXCU_BOTH __host__ __device__ __forceinline__

MXCU_DEVICE float mxcu_f16_to_float(mxci_f16 x) {
    return __half2float(__ushort_as_half(x.bits));
}
MXCU_DEVICE float mxcu_bf16_to_float(mxci_bf16 x) {
    return __bfloat162float(__ushort_as_bfloat16(x.bits));
}
MXCU_DEVICE mxci_f16 mxcu_float_to_f16(float x) {
    return {__half_as_ushort(__float2half_rn(x))};
}
MXCU_DEVICE mxci_bf16 mxcu_float_to_bf16(float x) {
    return {__bfloat16_as_ushort(__float2bfloat16_rn(x))};
}

template <class T> T *mxcu_pointer(void *data) {
    return static_cast<T *>(data);
}

/* ---- one thread per element -------------------------------------------------------------------------------------- */

enum { MXCU_THREADS = 256, MXCU_MOST_BLOCKS = 65535 };

template <class F> __global__ void __launch_bounds__(MXCU_THREADS) mxcu_for_kernel(int64_t n, F body) {
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        body(i);
}

/* Queue body(i) for i from 0 to n - 1, in any order. */
template <class F> mxc_status mxcu_for(const mxc_op_call *call, int64_t n, F body) {
    int64_t blocks = (n + MXCU_THREADS - 1) / MXCU_THREADS;
    cudaStream_t stream;
    if (n == 0)
        return MXC_OK;
    MXC_TRY(mxcu_enter(call, &stream));
    if (blocks > MXCU_MOST_BLOCKS)
        blocks = MXCU_MOST_BLOCKS;
    mxcu_for_kernel<<<(unsigned)blocks, MXCU_THREADS, 0, stream>>>(n, body);
    return mxcu_launched(call);
}

/* ---- one team of threads per row --------------------------------------------------------------------------------- */

/* The threads that work on one row. All of them must come to every call. */
struct mxcu_team {
    int rank, size;
    void *shared; /* room for one number a warp */

    MXCU_DEVICE void sync() const {
        __syncthreads();
    }
    /* value combined over the team, the same on every thread. */
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
    /* NaN if one is. */
    template <class T> MXCU_DEVICE T max(T value) const {
        return combine(value, [](T a, T b) { return b > a || b != b ? b : a; });
    }
    template <class T> MXCU_DEVICE T min(T value) const {
        return combine(value, [](T a, T b) { return b < a || b != b ? b : a; });
    }
};

template <class F> __global__ void __launch_bounds__(MXCU_THREADS) mxcu_rows_kernel(int64_t rows, F body) {
    __shared__ double shared[MXCU_THREADS / 32];
    mxcu_team team = {(int)threadIdx.x, (int)blockDim.x, shared};
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x)
        body(row, team);
}

/* Queue body(row, team) for every row, rows in any order, one team each; width: of a row, for the team's size. */
template <class F> mxc_status mxcu_rows(const mxc_op_call *call, int64_t rows, int64_t width, F body) {
    unsigned threads = width <= 32 ? 32 : width <= 64 ? 64 : width <= 128 ? 128 : MXCU_THREADS;
    cudaStream_t stream;
    if (rows == 0)
        return MXC_OK;
    MXC_TRY(mxcu_enter(call, &stream));
    mxcu_rows_kernel<<<(unsigned)(rows < MXCU_MOST_BLOCKS ? rows : MXCU_MOST_BLOCKS), threads, 0, stream>>>(rows, body);
    return mxcu_launched(call);
}

#endif
