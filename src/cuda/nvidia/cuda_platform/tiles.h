/* SPDX-License-Identifier: Apache-2.0 */
/* Moving elements where neighbours that are read are not neighbours that are written, on NVIDIA GPUs. */
#ifndef MXCI_CUDA_NVIDIA_TILES_H
#define MXCI_CUDA_NVIDIA_TILES_H

#include "cuda/runtime/kernel.h"

enum { MXCU_TILE = 32, MXCU_TILE_ROWS = MXCU_THREADS / MXCU_TILE };

/* One block of 256 threads, as 8 rows of 32, per tile of 32 x 32 elements of a plane (m, n). A tile is loaded row by
 * row (neighbouring threads: neighbouring j), and stored column by column (neighbouring threads: neighbouring i), so
 * that both sides are coalesced. Rows of shared memory have 33 elements, so that a column's elements lie in different
 * banks. The second barrier keeps the next tile's loads from overwriting elements that are still to be stored. */
template <class T, class Load, class Store>
__global__ void __launch_bounds__(MXCU_THREADS)
    mxcu_tiles_kernel(int64_t tiles, int64_t m, int64_t n, Load load, Store store) {
    __shared__ T shared[MXCU_TILE][MXCU_TILE + 1];
    const int64_t down = (m + MXCU_TILE - 1) / MXCU_TILE, across = (n + MXCU_TILE - 1) / MXCU_TILE;
    const int x = threadIdx.x % MXCU_TILE, y = threadIdx.x / MXCU_TILE;
    for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const int64_t row = tile / across, b = row / down;
        const int64_t i = (row - b * down) * MXCU_TILE, j = (tile - row * across) * MXCU_TILE;
        for (int k = y; k < MXCU_TILE; k += MXCU_TILE_ROWS)
            if (i + k < m && j + x < n)
                shared[k][x] = load(b, i + k, j + x);
        __syncthreads();
        for (int k = y; k < MXCU_TILE; k += MXCU_TILE_ROWS)
            if (i + x < m && j + k < n)
                store(b, i + x, j + k, shared[x][k]);
        __syncthreads();
    }
}

/* Queue store(b, i, j, load(b, i, j)) for all b below batch, i below m and j below n, in any order; load gives a T.
 * Neighbouring j should be neighbours where load reads, and neighbouring i where store writes. */
template <class T, class Load, class Store>
mxc_status mxcu_tiles(const mxc_op_call *call, int64_t batch, int64_t m, int64_t n, Load load, Store store) {
    const int64_t tiles = batch * ((m + MXCU_TILE - 1) / MXCU_TILE) * ((n + MXCU_TILE - 1) / MXCU_TILE);
    cudaStream_t stream;
    if (tiles == 0)
        return MXC_OK;
    MXC_TRY(mxcu_enter(call, &stream));
    mxcu_tiles_kernel<T>
        <<<(unsigned)(tiles < MXCU_MAX_BLOCKS ? tiles : (int64_t)MXCU_MAX_BLOCKS), MXCU_THREADS, 0, stream>>>(
            tiles, m, n, load, store);
    return mxcu_launched(call);
}

#endif
