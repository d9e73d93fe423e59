/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of DeformableConvolution and their gradients, for float and double. */
#include "operator/nn/deformable_convolution_kernels.h"

#include <string.h>

#include "math/loop.h"

enum { POSITIONS = 64 }; /* worked on at a time: each is read in all channels of a group */

#define BODY "operator/nn/deformable_convolution_kernels.inc"
#define FOR_REALS
#include "math/for_types.inc"
