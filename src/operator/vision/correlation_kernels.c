/* SPDX-License-Identifier: Apache-2.0 */
#include "operator/vision/correlation_kernels.h"

#include <string.h>

#include "math/loop.h"

#define BODY "operator/vision/correlation_kernels.inc"
#define FOR_REALS
#include "math/for_types.inc"
