/* Sets of axes as parameters: axis=(0,2), negative ones from the end, () for all; exclude for all others. */
#ifndef MXCI_OPERATOR_AXES_H
#define MXCI_OPERATOR_AXES_H

#include "operator/common.h"
#include "operator/kernels/strided.h"

typedef struct mxci_axes_params {
    mxc_tuple axis;
    int32_t keepdims, exclude;
} mxci_axes_params;

/* The three parameters, for a schema. */
#define MXCI_AXES_PARAMS                                                                                               \
    {.name = "axis", .type = MXC_PARAM_TUPLE, MXC_PARAM_FIELD(mxci_axes_params, axis), .initial = "()",                \
     .optional = 1,                                                                                                    \
     .doc = "axes to reduce, negative ones counted from the end; () for all"},                                         \
    {.name = "keepdims", .type = MXC_PARAM_BOOL, MXC_PARAM_FIELD(mxci_axes_params, keepdims), .initial = "false",      \
     .doc = "leave reduced axes with size 1"},                                                                         \
    {.name = "exclude", .type = MXC_PARAM_BOOL, MXC_PARAM_FIELD(mxci_axes_params, exclude), .initial = "false",        \
     .doc = "reduce all axes but those named"}

/* reduced[i] = 1 for each axis of ndim that is reduced. MXC_ESHAPE for an axis that is not there or named twice. */
mxc_status mxci_axes_mark(const mxc_op_sig *sig, const mxci_axes_params *p, int ndim, int *reduced);
/* The same where inference has checked already. */
void mxci_axes_of(const mxci_axes_params *p, int ndim, int *reduced);

/* Shapes of data and output 0, both ways. All axes reduced without keepdims: (1,). */
mxc_status mxci_axes_infer_shape(mxc_op_sig *sig);

/* How the reduced array is walked by the space of the full one. */
void mxci_axes_walk(const mxc_shape *full, const int *reduced, mxci_strided *out);
/* The part of the full array's space that is reduced (which 1) or kept (0), as steps in the full array. */
void mxci_axes_part(const mxc_shape *full, const int *reduced, int which, mxci_strided *out);

#endif
