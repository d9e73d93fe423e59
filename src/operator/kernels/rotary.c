#include "operator/kernels/rotary.h"

#include "operator/kernels/fastmath.h"

#define BODY "operator/kernels/rotary.inc"
#include "operator/kernels/for_floats.inc"

const mxci_rotary_fn mxci_rotary_rotate[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(rotate);
