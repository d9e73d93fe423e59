/* SPDX-License-Identifier: Apache-2.0 */
/* Compiling the registration of a SimpleOp into an operator descriptor. */
#ifndef MXCI_SIMPLEOP_SIMPLE_H
#define MXCI_SIMPLEOP_SIMPLE_H

#include <mxc/simpleop.h>

/* The parameters of a SimpleOp that takes a scalar. */
typedef struct mxci_scalar_params {
    double scalar;
    int32_t is_int;
} mxci_scalar_params;

/* The descriptor and what it points to; exists until the process ends. */
typedef struct mxci_simple_op {
    mxc_op_def op; /* first: a descriptor is cast back to this */
    const mxc_simple_def *simple;
    mxc_param scalar_schema[3];
    mxc_inplace forward[3], backward[3];
    char aliases[256];
} mxci_simple_op;

/* Fill out from def. MXC_EINVAL where options contradict each other. */
mxc_status mxci_simple_compile(const mxc_simple_def *def, mxci_simple_op *out);

#endif
