/* SPDX-License-Identifier: Apache-2.0 */
/* argmax and argmin by compute type. */
#include "operator/reduce/argmax_kernels.h"

#include "math/loop.h"

enum { FEW = 32 };

#define BODY "operator/reduce/argmax_kernels.inc"
#define FOR_COMPUTE
#include "math/for_types.inc"

#define KERNEL(name, type) \
    { name##_update_##type, name##_update_row_##type, name##_merge_##type }
#define KERNELS(name) \
    { [MXC_F32] = KERNEL(name, f32), [MXC_F64] = KERNEL(name, f64), [MXC_I64] = KERNEL(name, i64) }
const mxci_arg_kernel mxci_argmax_kernels[MXCI_COMPUTE_LIMIT] = KERNELS(argmax);
const mxci_arg_kernel mxci_argmin_kernels[MXCI_COMPUTE_LIMIT] = KERNELS(argmin);
