/* SGD steps by dtype. */
#include "operator/kernels/sgd.h"

#include <math.h>

#include "operator/kernels/loop.h"

#define BODY "operator/kernels/sgd.inc"
#include "operator/kernels/for_floats.inc"

const mxci_sgd_fn mxci_sgd_kernels[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(step);
