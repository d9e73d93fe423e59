/* SPDX-License-Identifier: Apache-2.0 */
/* detection/proposal_kernels.h for f32 and f64. */
#include "operator/detection/proposal_kernels.h"

#include <math.h>
#include <string.h>

#include "math/loop.h"
#include "math/sort_kernels.h"
#include "operator/detection/boxes_kernels.h"

#define BODY "operator/detection/proposal_kernels.inc"
#define FOR_REALS
#include "math/for_types.inc"
