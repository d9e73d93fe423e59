/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of recurrent layers, instantiated for float and double. */
#include "operator/nn/rnn_kernels.h"

#include "math/fastmath.h"

#define BODY "operator/nn/rnn_kernels.inc"
#define FOR_REALS
#include "math/for_types.inc"
