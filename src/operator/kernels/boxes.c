#include "operator/kernels/boxes.h"

#include <stddef.h>

#include "operator/kernels/loop.h"

#define T float
#define NAME(x) x##_f32
#include "operator/kernels/boxes.inc"
#undef T
#undef NAME

#define T double
#define NAME(x) x##_f64
#include "operator/kernels/boxes.inc"
