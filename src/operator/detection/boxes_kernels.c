#include "operator/detection/boxes_kernels.h"

#include <stddef.h>

#include "math/loop.h"

#define T float
#define NAME(x) x##_f32
#include "operator/detection/boxes_kernels.inc"
#undef T
#undef NAME

#define T double
#define NAME(x) x##_f64
#include "operator/detection/boxes_kernels.inc"
