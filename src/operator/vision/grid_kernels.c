/* SPDX-License-Identifier: Apache-2.0 */
#include "operator/vision/grid_kernels.h"

#include <math.h>
#include <string.h>

enum { PLACES = 64 }; /* worked on at a time: each is read in all planes */

#define BODY "operator/vision/grid_kernels.inc"
#define FOR_REALS
#include "math/for_types.inc"
