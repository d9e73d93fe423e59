/* SPDX-License-Identifier: Apache-2.0 */
/* LeakyReLU's functions and their gradients, tables by compute type. s is the slope of each element below 0. */
#ifndef MXCI_OPERATOR_NN_LEAKY_RELU_KERNELS_H
#define MXCI_OPERATOR_NN_LEAKY_RELU_KERNELS_H

#include "math/tile_kernels.h"

#define MXCI_SELU_SCALE 1.0507009873554804934193349852946
#define MXCI_SELU_SLOPE 1.6732632423543772848170429916717

extern const mxci_map_fn mxci_leaky[MXCI_COMPUTE_LIMIT];      /* of (x, s): x where x > 0, else s x */
extern const mxci_map_fn mxci_leaky_grad[MXCI_COMPUTE_LIMIT]; /* of (g, x, s): g where x > 0, else s g */
extern const mxci_map_fn
    mxci_leaky_slope_grad[MXCI_COMPUTE_LIMIT];         /* of (g, x, s): the gradient of s: 0 where x > 0, else x g */
extern const mxci_map_fn mxci_elu[MXCI_COMPUTE_LIMIT]; /* of (x, s): x where x > 0, else s (e^x - 1) */
extern const mxci_map_fn mxci_elu_grad[MXCI_COMPUTE_LIMIT]; /* of (g, y, s): g where y > 0, else (y + s) g */
/* They do not use s. */
extern const mxci_map_fn mxci_selu[MXCI_COMPUTE_LIMIT];      /* of (x, s) */
extern const mxci_map_fn mxci_selu_grad[MXCI_COMPUTE_LIMIT]; /* of (g, y, s) */
extern const mxci_map_fn mxci_gelu[MXCI_COMPUTE_LIMIT];      /* of (x, s) */
extern const mxci_map_fn mxci_gelu_grad[MXCI_COMPUTE_LIMIT]; /* of (g, x, s) */

#endif
