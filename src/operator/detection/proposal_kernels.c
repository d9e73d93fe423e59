#include "operator/detection/proposal_kernels.h"

#include <math.h>
#include <string.h>

#include "math/loop.h"
#include "math/sort_kernels.h"
#include "operator/detection/boxes_kernels.h"

#define T float
#define DTYPE MXC_F32
#define NAME(x) x##_f32
#include "operator/detection/proposal_kernels.inc"
#undef T
#undef DTYPE
#undef NAME

#define T double
#define DTYPE MXC_F64
#define NAME(x) x##_f64
#include "operator/detection/proposal_kernels.inc"
