/* Boxes: the part of an array from begin to end by step along each axis, given as Python's slices are. */
#ifndef MXCI_OPERATOR_BOX_H
#define MXCI_OPERATOR_BOX_H

#include "operator/common.h"
#include "operator/kernels/strided.h"

/* As given for each axis; MXC_PARAM_UNSET: from the first, to the last, by 1. Negative places count from the end,
 * those beyond an end are cut. A negative step goes from the last to the first. */
typedef struct mxci_bounds {
    int64_t begin[MXC_MAX_NDIM], end[MXC_MAX_NDIM], step[MXC_MAX_NDIM];
} mxci_bounds;

/* Parameters of operators that take bounds. */
typedef struct mxci_box_params {
    mxc_tuple begin, end, step;
} mxci_box_params;

#define MXCI_BOX_PARAMS(struct_type, member)                                                                           \
    {.name = "begin", .type = MXC_PARAM_TUPLE, MXC_PARAM_FIELD(struct_type, member.begin), .optional = 1,              \
     .doc = "first element of each axis; negative: from the end; None: the first"},                                    \
    {.name = "end", .type = MXC_PARAM_TUPLE, MXC_PARAM_FIELD(struct_type, member.end), .optional = 1,                  \
     .doc = "element after the last one of each axis; negative: from the end; None: to the end"},                      \
    {.name = "step", .type = MXC_PARAM_TUPLE, MXC_PARAM_FIELD(struct_type, member.step), .initial = "()",              \
     .optional = 1, .doc = "from element to element of each axis, negative: backwards; None: 1"}

/* MXC_EINVAL, with the operator's name, for a step of 0. */
mxc_status mxci_box_check(const char *op, const mxci_box_params *p);
/* MXC_ESHAPE if they name more axes than ndim. */
mxc_status mxci_box_check_axes(const mxc_op_sig *sig, const mxci_box_params *p, int ndim);
mxci_bounds mxci_box_bounds(const mxci_box_params *p);
/* All of each axis. */
mxci_bounds mxci_bounds_whole(void);

/* One axis of a box in an axis of dim elements. */
typedef struct mxci_box_axis {
    int64_t begin, size, step; /* step 1 where size is at most 1 */
} mxci_box_axis;
mxci_box_axis mxci_box_axis_of(const mxci_bounds *bounds, int axis, int64_t dim);

/* The box's shape; axes of unknown size are unknown. */
mxc_shape mxci_box_shape(const mxci_bounds *bounds, const mxc_shape *array);
/* The box as a walk through the array; returns the element where it begins. */
int64_t mxci_box_walk(const mxci_bounds *bounds, const mxc_shape *array, mxci_strided *walk);

#endif
