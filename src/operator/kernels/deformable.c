#include "operator/kernels/deformable.h"

#include <string.h>

#include "operator/kernels/loop.h"

enum { PLACES = 64 }; /* worked on at a time: each is read in all channels of a group */

#define T float
#define NAME(x) x##_f32
#include "operator/kernels/deformable.inc"
#undef T
#undef NAME

#define T double
#define NAME(x) x##_f64
#include "operator/kernels/deformable.inc"
