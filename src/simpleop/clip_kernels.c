/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of clip and hard_sigmoid. A NaN stays. */
#include "math/loop.h"
#include "simpleop/map_kernels.h"

#define BODY "simpleop/clip_kernels.inc"
#define FOR_COMPUTE
#include "math/for_types.inc"

const mxci_map_fn mxci_clip_forward[MXCI_COMPUTE_LIMIT] = {
    [MXC_F32] = clip_f32,
    [MXC_F64] = clip_f64,
    [MXC_I64] = clip_i64,
};
const mxci_map_fn mxci_clip_backward[MXCI_COMPUTE_LIMIT] = {
    [MXC_F32] = clip_grad_f32,
    [MXC_F64] = clip_grad_f64,
    [MXC_I64] = clip_grad_i64,
};
const mxci_map_fn mxci_hard_sigmoid_forward[MXCI_COMPUTE_LIMIT] = {
    [MXC_F32] = hard_sigmoid_f32,
    [MXC_F64] = hard_sigmoid_f64,
};
const mxci_map_fn mxci_hard_sigmoid_backward[MXCI_COMPUTE_LIMIT] = {
    [MXC_F32] = hard_sigmoid_grad_f32,
    [MXC_F64] = hard_sigmoid_grad_f64,
};
