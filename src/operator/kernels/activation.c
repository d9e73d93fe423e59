#include "operator/kernels/activation.h"

#include "operator/kernels/fastmath.h"

#define BODY "operator/kernels/activation.inc"
#include "operator/kernels/for_floats.inc"

const mxci_activation_forward_fn mxci_activation_forward[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(forward);
const mxci_activation_backward_fn mxci_activation_backward[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(backward);
