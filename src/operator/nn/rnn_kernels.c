#include "operator/nn/rnn_kernels.h"

#include "math/fastmath.h"

#define T float
#define NAME(f) f##_f32
#define UNIT(name) mxci_unit_##name##_f32
#define FN(f) mxci_##f##_f32
#include "operator/nn/rnn_unit_kernels.inc"

#include "operator/nn/rnn_kernels.inc"
#undef T
#undef NAME
#undef UNIT
#undef FN

#define T double
#define NAME(f) f##_f64
#define UNIT(name) mxci_unit_##name##_f64
#define FN(f) mxci_##f##_f64
#include "operator/nn/rnn_unit_kernels.inc"

#include "operator/nn/rnn_kernels.inc"
