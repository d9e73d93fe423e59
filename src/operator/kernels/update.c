/* Optimizer steps by rule and dtype. */
#include "operator/kernels/update.h"

#include <math.h>

#include "operator/kernels/loop.h"

#define BODY "operator/kernels/update.inc"
#include "operator/kernels/for_floats.inc"

#define RULE(name, states) const mxci_update_fn mxci_update_##name[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(name##_steps);
#include "operator/kernels/update.def"
#undef RULE
