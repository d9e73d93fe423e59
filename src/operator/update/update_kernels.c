/* SPDX-License-Identifier: Apache-2.0 */
/* Optimizer steps by rule and dtype. */
#include "operator/update/update_kernels.h"

#include <math.h>

#include "math/loop.h"

#define BODY "operator/update/update_kernels.inc"
#define FOR_FLOATS
#include "math/for_types.inc"

#define RULE(name, states) const mxci_update_fn mxci_update_##name[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(name##_steps);
#include "operator/update/update_kernels.def"
#undef RULE
