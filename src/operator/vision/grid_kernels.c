/* SPDX-License-Identifier: Apache-2.0 */
/* vision/grid_kernels.h for f32 and f64. */
#include "operator/vision/grid_kernels.h"

#include <math.h>
#include <string.h>

enum { POINTS = 64 }; /* whose corners are found at a time, since each point is read in all planes */

#define BODY "operator/vision/grid_kernels.inc"
#define FOR_REALS
#include "math/for_types.inc"
