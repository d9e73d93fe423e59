/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tiles: how kernels serve dtypes other than those they compute in. Kernels that are written for the compute types only
 * (float, double, int64_t) load and store tiles of the other dtypes through these.
 */
#ifndef MXCI_MATH_TILE_KERNELS_H
#define MXCI_MATH_TILE_KERNELS_H

#include <stdint.h>

#include <mxc/types.h>

#include "math/cast_kernels.h"

/* A kernel over dense tiles in a compute type: out[i] = f(in[0][i], in[1][i], ...) for i < n; out may be one of the
 * inputs. Tables of them are indexed by compute type. */
typedef void (*mxci_map_fn)(int64_t n, const void *const *in, void *out);
#define MXCI_COMPUTE_LIMIT (MXC_I64 + 1)

/* Elements in a tile that is converted to the stack: the buffers of a kernel call stay in the first-level cache. */
#define MXCI_TILE 512

/* Elements of the tile that begins at element i of end: tiles end at multiples of MXCI_TILE, so that no cache line of a
 * result is in two of them. */
static inline int64_t mxci_tile_at(int64_t i, int64_t end) {
    int64_t n = MXCI_TILE - i % MXCI_TILE;
    return n < end - i ? n : end - i;
}

/* The type that a dtype computes in: f32 for f32, f16, bf16; f64 for f64; i64 for integers and bool. */
static inline mxc_dtype mxci_compute_type(mxc_dtype dtype) {
    switch (dtype) {
    case MXC_F32:
    case MXC_F16:
    case MXC_BF16:
        return MXC_F32;
    case MXC_F64:
        return MXC_F64;
    default:
        return MXC_I64;
    }
}

/* n elements of a dtype to its compute type, and back (integers keep their low bits, bool becomes != 0). No overlap. */
static inline void mxci_load(mxc_dtype dtype, const void *from, void *to, int64_t n) {
    mxci_convert(dtype, from, mxci_compute_type(dtype), to, n);
}
static inline void mxci_store(mxc_dtype dtype, const void *from, void *to, int64_t n) {
    mxci_convert(mxci_compute_type(dtype), from, dtype, to, n);
}
/* to += from, n elements of a dtype, from in its compute type. */
void mxci_store_add(mxc_dtype dtype, const void *from, void *to, int64_t n);
/* A tile of results, n <= MXCI_TILE elements in the compute type, to memory: written, added, or streamed. */
enum { MXCI_STORE_WRITE, MXCI_STORE_ADD, MXCI_STORE_STREAM };
void mxci_assign_tile(int store_mode, mxc_dtype dtype, const void *from, void *to, int64_t n);
/* The same of any number of elements that have the dtype already; they may overlap where they are written. */
void mxci_assign_elements(int store_mode, mxc_dtype dtype, const void *from, void *to, int64_t n);
/* to += from, both of the dtype; rounds once. */
void mxci_add_row(mxc_dtype dtype, void *to, const void *from, int64_t n);
/* Copy bytes past the caches (non-temporal stores), for results that no cache would hold until they are read: their
 * lines are not read before they are written. Best where `to` is aligned to 64. mxci_stream_end before another thread
 * reads them. */
void mxci_stream(void *to, const void *from, size_t bytes);
void mxci_stream_end(void);
/* n elements of the compute type set to value. */
void mxci_fill_compute(mxc_dtype compute, double value, void *to, int64_t n);

#endif
