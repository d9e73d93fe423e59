/* SPDX-License-Identifier: Apache-2.0 */
/* The row kernels of attention for float and double. */
#include "operator/nn/attention_kernels.h"

#include "math/fastmath.h"

#define BODY "operator/nn/attention_kernels.inc"
#define FOR_REALS
#include "math/for_types.inc"

const mxci_attention_kernels mxci_attention_f32 = {hide_f32, score_f32, exp_f32, scale_f32, dot_f32, gradient_f32};
const mxci_attention_kernels mxci_attention_f64 = {hide_f64, score_f64, exp_f64, scale_f64, dot_f64, gradient_f64};
