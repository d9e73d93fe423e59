#include "operator/nn/attention_kernels.h"

#include "math/fastmath.h"

#define R float
#define NAME(f) f##_f32
#define FN(f) mxci_##f##_f32
#include "operator/nn/attention_kernels.inc"

#define R double
#define NAME(f) f##_f64
#define FN(f) mxci_##f##_f64
#include "operator/nn/attention_kernels.inc"

const mxci_attention_kernels mxci_attention_f32 = {hide_f32, score_f32, exp_f32, scale_f32, dot_f32, gradient_f32};
const mxci_attention_kernels mxci_attention_f64 = {hide_f64, score_f64, exp_f64, scale_f64, dot_f64, gradient_f64};
