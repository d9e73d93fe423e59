/* SPDX-License-Identifier: Apache-2.0 */
/* Adding with conversion by tiles, non-temporal stores, and filling. */
#include "math/tile_kernels.h"

#include <string.h>

#include "base/simd.h"
#include "math/loop.h"

static void add_f32(const float *from, float *to, int64_t n) {
    MXCI_VECTOR_LOOP
    for (int64_t i = 0; i < n; i++)
        to[i] += from[i];
}

static void add_f64(const double *from, double *to, int64_t n) {
    MXCI_VECTOR_LOOP
    for (int64_t i = 0; i < n; i++)
        to[i] += from[i];
}

/* Unsigned addition, since signed overflow is undefined. */
static void add_i64(const int64_t *from, int64_t *to, int64_t n) {
    MXCI_VECTOR_LOOP
    for (int64_t i = 0; i < n; i++)
        to[i] = (int64_t)((uint64_t)to[i] + (uint64_t)from[i]); /* wraps */
}

/* to += from in a compute type. */
static void tile_kernels_add(mxc_dtype compute, const void *from, void *to, int64_t n) {
    if (compute == MXC_F32)
        add_f32(from, to, n);
    else if (compute == MXC_F64)
        add_f64(from, to, n);
    else
        add_i64(from, to, n);
}

/* Other dtypes are added in the compute type, tile by tile, and rounded once. */
void mxci_store_add(mxc_dtype dtype, const void *from, void *to, int64_t n) {
    mxc_dtype compute = mxci_compute_type(dtype);
    size_t from_size = mxc_dtype_size(compute), to_size = mxc_dtype_size(dtype);
    _Alignas(64) int64_t tile[MXCI_TILE];
    if (compute == dtype) {
        tile_kernels_add(dtype, from, to, n);
        return;
    }
    for (int64_t i = 0; i < n; i += MXCI_TILE) {
        int64_t count = n - i < MXCI_TILE ? n - i : MXCI_TILE;
        char *at = (char *)to + (size_t)i * to_size;
        mxci_load(dtype, at, tile, count);
        tile_kernels_add(compute, (const char *)from + (size_t)i * from_size, tile, count);
        mxci_store(dtype, tile, at, count);
    }
}

void mxci_add_row(mxc_dtype dtype, void *to, const void *from, int64_t n) {
    size_t size = mxc_dtype_size(dtype);
    _Alignas(64) int64_t tile[MXCI_TILE];
    if (mxci_compute_type(dtype) == dtype) {
        tile_kernels_add(dtype, from, to, n);
        return;
    }
    for (int64_t i = 0; i < n; i += MXCI_TILE) {
        int64_t count = n - i < MXCI_TILE ? n - i : MXCI_TILE;
        mxci_load(dtype, (const char *)from + (size_t)i * size, tile, count);
        mxci_store_add(dtype, tile, (char *)to + (size_t)i * size, count);
    }
}

/* Bytes from p on to an address aligned to 32, at most n. */
static size_t to_aligned(const void *p, size_t n) {
    size_t bytes = -(uintptr_t)p & 31;
    return bytes < n ? bytes : n;
}

/* Bytes up to the first aligned address and behind the last whole vector are stored normally. */
void mxci_stream(void *to, const void *from, size_t bytes) {
    size_t i = to_aligned(to, bytes);
    memcpy(to, from, i);
    for (; i + 32 <= bytes; i += 32) {
        mxci_v_f32 v;
        memcpy(&v, (const char *)from + i, sizeof v);
        mxci_store_nontemporal_f32((float *)(void *)((char *)to + i), v);
    }
    memcpy((char *)to + i, (const char *)from + i, bytes - i);
}

void mxci_stream_end(void) {
    mxci_fence();
}

/* Streaming a converted tile goes through the stack, which stays in the cache. */
void mxci_assign_tile(int store_mode, mxc_dtype dtype, const void *from, void *to, int64_t n) {
    _Alignas(64) int64_t tile[MXCI_TILE];
    if (store_mode == MXCI_STORE_ADD) {
        mxci_store_add(dtype, from, to, n);
    } else if (store_mode == MXCI_STORE_WRITE) {
        mxci_store(dtype, from, to, n);
    } else if (mxci_compute_type(dtype) == dtype) {
        mxci_stream(to, from, (size_t)n * mxc_dtype_size(dtype));
    } else {
        mxci_store(dtype, from, tile, n);
        mxci_stream(to, tile, (size_t)n * mxc_dtype_size(dtype));
    }
}

void mxci_assign_elements(int store_mode, mxc_dtype dtype, const void *from, void *to, int64_t n) {
    size_t bytes = (size_t)n * mxc_dtype_size(dtype);
    if (store_mode == MXCI_STORE_ADD)
        mxci_add_row(dtype, to, from, n);
    else if (store_mode == MXCI_STORE_STREAM)
        mxci_stream(to, from, bytes);
    else if (bytes > 0 && to != from)
        memmove(to, from, bytes);
}

void mxci_fill_compute(mxc_dtype compute, double value, void *to, int64_t n) {
    int64_t element;
    mxci_convert(MXC_F64, &value, compute, &element, 1);
    mxci_repeat(&element, mxc_dtype_size(compute), to, n);
}
