#include "operator/vision/roi_pooling_kernels.h"

#include <string.h>

#define T float
#define NAME(x) x##_f32
#include "operator/vision/roi_pooling_kernels.inc"
#undef T
#undef NAME

#define T double
#define NAME(x) x##_f64
#include "operator/vision/roi_pooling_kernels.inc"
