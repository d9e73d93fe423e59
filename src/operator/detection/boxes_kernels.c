/* SPDX-License-Identifier: Apache-2.0 */
/* detection/boxes_kernels.h for f32 and f64. */
#include "operator/detection/boxes_kernels.h"

#include <stddef.h>

#include "math/loop.h"

#define BODY "operator/detection/boxes_kernels.inc"
#define FOR_REALS
#include "math/for_types.inc"
