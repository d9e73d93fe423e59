/* SPDX-License-Identifier: Apache-2.0 */
/* Regression outputs for each floating dtype. */
#include "operator/loss/regression_output_kernels.h"

#include "math/fastmath.h"

#define BODY "operator/loss/regression_output_kernels.inc"
#define FOR_FLOATS
#include "math/for_types.inc"

const mxci_logistic_fn mxci_logistic[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(logistic);
const mxci_difference_fn mxci_difference[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(difference);
