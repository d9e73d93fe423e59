/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs element-wise kernels over arrays: splits the work over threads, goes tile by tile where elements are converted,
 * broadcast or summed, and in one sweep otherwise.
 */
#ifndef MXCI_MATH_MAP_H
#define MXCI_MATH_MAP_H

#include <mxc/engine.h>
#include <mxc/types.h>

#include "base/size.h"
#include "math/strided_kernels.h"
#include "math/tile_kernels.h"

#define MXCI_MAP_INPUTS 4
#define MXCI_MAP_RESULTS 2

/* One input of the kernels. */
typedef struct mxci_operand {
    const void *data;            /* NULL: every element is value */
    const mxci_strided *strides; /* how data is broadcast over the space; NULL: it has the space's shape */
    double value;
} mxci_operand;

/* A kernel as mxci_map_fn with parameters: those of the operators that a program defines (mxc_map). */
typedef void (*mxci_map_params_fn)(int64_t n, const void *const *in, const void *params, void *out);

/* One result: fn of all inputs, or in its place fn_params. */
typedef struct mxci_result {
    mxci_map_fn fn; /* NULL, and fn_params too: there is no kernel for the dtype */
    mxci_map_params_fn fn_params;
    const void *params;
    mxc_req req; /* MXC_REQ_NULL: not wanted */
    void *data;
    /* Where data is broadcast over the space (a gradient of such an input), values that fall on one element are added
     * up: how data is broadcast, its elements, and scratch of mxci_sum_bytes. Float dtypes only. */
    const mxci_strided *sum_strides;
    int64_t n_sums;
    double *sums;
} mxci_result;

typedef struct mxci_mapping {
    mxc_dtype dtype; /* of all arrays */
    int64_t n;       /* elements of the space */
    int64_t grain;   /* elements worth giving to another thread; 0: MXCI_GRAIN */
    int n_in;
    mxci_operand in[MXCI_MAP_INPUTS];
    mxci_result result[MXCI_MAP_RESULTS];
} mxci_mapping;

/* Scratch for adding up n_sums elements in up to parts parts. */
static inline size_t mxci_sum_bytes(int64_t n_sums, int parts) {
    return mxci_size_of(mxci_dim_mul(n_sums, parts), sizeof(double));
}

/* Size of the axis that is i-th from the last. */
static inline int64_t mxci_axis_from_end(const mxc_shape *shape, int i) {
    return i < shape->ndim ? shape->dim[shape->ndim - 1 - i] : 1;
}

/* 1 if an array is broadcast at all over a space whose axes its own, aligned at the last, equal or broadcast to. */
static inline int mxci_is_broadcast(const mxc_shape *array, const mxc_shape *space) {
    for (int i = 0; i < space->ndim; i++)
        if (mxci_axis_from_end(array, i) != mxci_axis_from_end(space, i))
            return 1;
    return 0;
}

/* Its strides over the space. */
static inline void mxci_broadcast_strides(const mxc_shape *array, const mxc_shape *space, mxci_strided *out) {
    int64_t step[MXC_MAX_NDIM], size = 1;
    for (int i = 0; i < space->ndim; i++) {
        int64_t axis = mxci_axis_from_end(array, i);
        step[space->ndim - 1 - i] = axis == 1 ? 0 : size;
        size *= axis;
    }
    mxci_strided_set(out, space->ndim, space->dim, step);
}

/* MXC_EDTYPE where a wanted result has no kernel: a gradient in integers. */
mxc_status mxci_mapping_run(const mxc_run *run, const mxci_mapping *map);

/* to = or += scale times from; one float dtype and size. */
mxc_status mxci_assign_scaled(const mxc_run *run, mxc_req req, const mxc_tensor *to, const mxc_tensor *from,
                              double scale);

/* to = for each element the sum of the elements of from, over whose space strides goes, that fall on it; one float
 * dtype. sums: scratch of mxci_sum_bytes for to's elements. */
mxc_status mxci_sum_to_strided(const mxc_run *run, mxc_req req, const mxc_tensor *to, const mxci_strided *strides,
                               const mxc_tensor *from, double *sums);

#endif
