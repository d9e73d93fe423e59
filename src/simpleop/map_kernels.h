/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The element-wise kernels: loops over dense tiles in a compute type (float, double, int64_t), one per function,
 * direction and type. Tables by function and dtype; an entry is NULL where a function has no such version.
 */
#ifndef MXCI_SIMPLEOP_MAP_KERNELS_H
#define MXCI_SIMPLEOP_MAP_KERNELS_H

#include "math/tile_kernels.h"

enum {
#define UNARY(id, ...) MXCI_UNARY_##id,
#include "simpleop/unary.def"
#undef UNARY
    MXCI_UNARY_COUNT
};

enum {
#define BINARY(id, ...) MXCI_BINARY_##id,
#include "simpleop/binary.def"
#undef BINARY
    MXCI_BINARY_COUNT
};

/* forward of (x); backward of (g, x or y) */
typedef struct mxci_unary_kernel {
    mxci_map_fn forward[MXCI_COMPUTE_LIMIT], backward[MXCI_COMPUTE_LIMIT];
} mxci_unary_kernel;
extern const mxci_unary_kernel mxci_unary_kernels[MXCI_UNARY_COUNT];

/* forward of (a, b); left and right of (g, a, b) */
typedef struct mxci_binary_kernel {
    mxci_map_fn forward[MXCI_COMPUTE_LIMIT], left[MXCI_COMPUTE_LIMIT], right[MXCI_COMPUTE_LIMIT];
} mxci_binary_kernel;
extern const mxci_binary_kernel mxci_binary_kernels[MXCI_BINARY_COUNT];

/* clip: forward of (x, low, high), backward of (g, x, low, high). */
extern const mxci_map_fn mxci_clip_forward[MXCI_COMPUTE_LIMIT], mxci_clip_backward[MXCI_COMPUTE_LIMIT];
/* hard_sigmoid: forward of (x, alpha, beta), backward of (g, x, alpha, beta). */
extern const mxci_map_fn mxci_hard_sigmoid_forward[MXCI_COMPUTE_LIMIT], mxci_hard_sigmoid_backward[MXCI_COMPUTE_LIMIT];
/* _contrib_quadratic: forward of (x, a, b, c), backward of (g, x, a, b). */
extern const mxci_map_fn mxci_quadratic_forward[MXCI_COMPUTE_LIMIT], mxci_quadratic_backward[MXCI_COMPUTE_LIMIT];

#endif
