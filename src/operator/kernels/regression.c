#include "operator/kernels/regression.h"

#include "operator/kernels/fastmath.h"

#define BODY "operator/kernels/regression.inc"
#include "operator/kernels/for_floats.inc"

const mxci_logistic_fn mxci_logistic[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(logistic);
const mxci_difference_fn mxci_difference[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(difference);
