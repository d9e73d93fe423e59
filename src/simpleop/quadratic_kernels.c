/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of _contrib_quadratic. */
#include "math/loop.h"
#include "simpleop/map_kernels.h"

#define BODY "simpleop/quadratic_kernels.inc"
#define FOR_REALS
#include "math/for_types.inc"

const mxci_map_fn mxci_quadratic_forward[MXCI_COMPUTE_LIMIT] = MXCI_REAL_TABLE(quadratic);
const mxci_map_fn mxci_quadratic_backward[MXCI_COMPUTE_LIMIT] = MXCI_REAL_TABLE(quadratic_grad);
