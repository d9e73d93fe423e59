/* SPDX-License-Identifier: Apache-2.0 */
/* The single-threaded product for float and double. */
#include "math/gemm_kernels.h"

#include "base/simd_wide.h"

#define BODY "math/gemm_kernels.inc"
#include "math/for_vectors.inc"
