/* SPDX-License-Identifier: Apache-2.0 */
/* Activation functions over dense tiles, tables by function and compute type (the floating ones). */
#ifndef MXCI_OPERATOR_NN_ACTIVATION_KERNELS_H
#define MXCI_OPERATOR_NN_ACTIVATION_KERNELS_H

#include "math/tile_kernels.h"

enum {
#define ACTIVATION(id, name) MXCI_ACT_##id,
#include "operator/nn/activation_kernels.def"
#undef ACTIVATION
    MXCI_ACT_COUNT
};

/* forward of x; backward of (dy, y), for mish of (dy, x). */
typedef struct mxci_activation {
    mxci_map_fn forward[MXCI_COMPUTE_LIMIT], backward[MXCI_COMPUTE_LIMIT];
} mxci_activation;
extern const mxci_activation mxci_activations[MXCI_ACT_COUNT];

#endif
