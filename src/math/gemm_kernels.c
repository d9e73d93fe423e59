#include "math/gemm_kernels.h"

#include "base/simd.h"

#define T float
#define V mxci_v_f32
#define LANES 8
#define NAME(x) x##_f32
#include "math/gemm_kernels.inc"
#undef T
#undef V
#undef LANES
#undef NAME

#define T double
#define V mxci_v_f64
#define LANES 4
#define NAME(x) x##_f64
#include "math/gemm_kernels.inc"
