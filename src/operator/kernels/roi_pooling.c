#include "operator/kernels/roi_pooling.h"

#include <string.h>

#define T float
#define NAME(x) x##_f32
#include "operator/kernels/roi_pooling.inc"
#undef T
#undef NAME

#define T double
#define NAME(x) x##_f64
#include "operator/kernels/roi_pooling.inc"
