/* SPDX-License-Identifier: Apache-2.0 */
#include "operator/vision/roi_pooling_kernels.h"

#include <string.h>

#define BODY "operator/vision/roi_pooling_kernels.inc"
#define FOR_REALS
#include "math/for_types.inc"
