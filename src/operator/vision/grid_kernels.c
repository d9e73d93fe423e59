#include "operator/vision/grid_kernels.h"

#include <math.h>
#include <string.h>

enum { PLACES = 64 }; /* worked on at a time: each is read in all planes */

#define T float
#define NAME(x) x##_f32
#include "operator/vision/grid_kernels.inc"
#undef T
#undef NAME

#define T double
#define NAME(x) x##_f64
#include "operator/vision/grid_kernels.inc"
