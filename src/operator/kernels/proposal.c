#include "operator/kernels/proposal.h"

#include <math.h>
#include <string.h>

#include "operator/kernels/boxes.h"
#include "operator/kernels/loop.h"
#include "operator/kernels/order.h"

#define T float
#define DTYPE MXC_F32
#define NAME(x) x##_f32
#include "operator/kernels/proposal.inc"
#undef T
#undef DTYPE
#undef NAME

#define T double
#define DTYPE MXC_F64
#define NAME(x) x##_f64
#include "operator/kernels/proposal.inc"
