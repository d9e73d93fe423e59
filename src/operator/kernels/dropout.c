#include "operator/kernels/dropout.h"

#include "operator/kernels/loop.h"

#define BODY "operator/kernels/dropout.inc"
#include "operator/kernels/for_floats.inc"

const mxci_dropout_mask_fn mxci_dropout_mask[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(mask);
const mxci_dropout_apply_fn mxci_dropout_apply[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(apply);
