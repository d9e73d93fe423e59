#include "operator/nn/deformable_convolution_kernels.h"

#include <string.h>

#include "math/loop.h"

enum { PLACES = 64 }; /* worked on at a time: each is read in all channels of a group */

#define T float
#define NAME(x) x##_f32
#include "operator/nn/deformable_convolution_kernels.inc"
#undef T
#undef NAME

#define T double
#define NAME(x) x##_f64
#include "operator/nn/deformable_convolution_kernels.inc"
