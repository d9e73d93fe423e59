/* SPDX-License-Identifier: Apache-2.0 */
/* Slices of an array along every axis ("boxes"): from begin to end by step, with the rules of Python's slices. */
#ifndef MXCI_OPERATOR_TENSOR_BOX_H
#define MXCI_OPERATOR_TENSOR_BOX_H

#include "math/assign.h"
#include "math/strided_kernels.h"
#include "operator/infer.h"

/* The bounds as given for each axis; MXC_PARAM_UNSET: from the first, to the last, by 1. Negative indices count from
 * the end, those beyond an end are clamped. A negative step goes from the last to the first. */
typedef struct mxci_bounds {
    int64_t begin[MXC_MAX_NDIM], end[MXC_MAX_NDIM], step[MXC_MAX_NDIM];
} mxci_bounds;

/* Parameters of operators that take bounds. */
typedef struct mxci_box_params {
    mxc_tuple begin, end, step;
} mxci_box_params;

#define MXCI_BOX_PARAMS(struct_type, member)                                                                          \
    {MXC_PARAM_FIELD(struct_type, member.begin), .name = "begin", .type = MXC_PARAM_TUPLE, .optional = 1,             \
     .doc = "First index along each axis. Negative values count from the end. None: the first."},                     \
        {MXC_PARAM_FIELD(struct_type, member.end), .name = "end", .type = MXC_PARAM_TUPLE, .optional = 1,             \
         .doc =                                                                                                       \
             "End index along each axis, exclusive. Negative values count from the end. None: the end of the axis."}, \
    {                                                                                                                 \
        MXC_PARAM_FIELD(struct_type, member.step),                                                                    \
            .name = "step", .type = MXC_PARAM_TUPLE, .initial = "()", .optional = 1,                                  \
            .doc = "Step along each axis; negative steps go backwards. None: 1."                                      \
    }

/* MXC_EINVAL, with the operator's name, for a step of 0. */
mxc_status mxci_box_check(const char *op, const mxci_box_params *p);
/* MXC_ESHAPE if they name more axes than ndim. */
mxc_status mxci_box_check_axes(const mxc_op_sig *sig, const mxci_box_params *p, int ndim);

/* The rest is inline for the GPU modules, which link nothing of the library. */

static inline int64_t mxci_box_entry(const mxc_tuple *tuple, int i) {
    return i < tuple->n ? tuple->value[i] : MXC_PARAM_UNSET;
}

static inline mxci_bounds mxci_box_bounds(const mxci_box_params *p) {
    mxci_bounds bounds;
    for (int i = 0; i < MXC_MAX_NDIM; i++) {
        bounds.begin[i] = mxci_box_entry(&p->begin, i);
        bounds.end[i] = mxci_box_entry(&p->end, i);
        bounds.step[i] = mxci_box_entry(&p->step, i);
    }
    return bounds;
}

/* All of each axis. */
static inline mxci_bounds mxci_bounds_whole(void) {
    mxci_bounds bounds;
    for (int i = 0; i < MXC_MAX_NDIM; i++)
        bounds.begin[i] = bounds.end[i] = bounds.step[i] = MXC_PARAM_UNSET;
    return bounds;
}

/* One axis of a box in an axis of dim elements. */
typedef struct mxci_box_axis {
    int64_t begin, size, step; /* step 1 where size is at most 1 */
} mxci_box_axis;

/* An index, counted from the end where negative, clamped to low..high. */
static inline int64_t mxci_box_within(int64_t index, int64_t dim, int64_t low, int64_t high) {
    index += index < 0 ? dim : 0;
    return index < low ? low : index > high ? high : index;
}

/* Resolves the bounds of one axis: Python's slice.indices. */
static inline mxci_box_axis mxci_box_axis_of(const mxci_bounds *bounds, int axis, int64_t dim) {
    int64_t begin = bounds->begin[axis], end = bounds->end[axis], step = bounds->step[axis], length;
    mxci_box_axis out;
    step = step == MXC_PARAM_UNSET ? 1 : step;
    if (step > 0) {
        begin = begin == MXC_PARAM_UNSET ? 0 : mxci_box_within(begin, dim, 0, dim);
        end = end == MXC_PARAM_UNSET ? dim : mxci_box_within(end, dim, 0, dim);
        length = end - begin;
    } else {
        begin = begin == MXC_PARAM_UNSET ? dim - 1 : mxci_box_within(begin, dim, -1, dim - 1);
        end = end == MXC_PARAM_UNSET ? -1 : mxci_box_within(end, dim, -1, dim - 1);
        length = begin - end;
    }
    out.size = length > 0 ? (length - 1) / (step > 0 ? step : -step) + 1 : 0;
    out.begin = out.size ? begin : 0;
    out.step = out.size > 1 ? step : 1;
    return out;
}

/* The box's shape; axes of unknown size are unknown. */
mxc_shape mxci_box_shape(const mxci_bounds *bounds, const mxc_shape *array);

/* The strides of the box in the array; returns the element where it begins. */
static inline int64_t mxci_box_strides(const mxci_bounds *bounds, const mxc_shape *array, mxci_strided *strides) {
    int64_t dim[MXC_MAX_NDIM], step[MXC_MAX_NDIM], first = 0;
    for (int i = 0; i < array->ndim; i++) {
        mxci_box_axis axis = mxci_box_axis_of(bounds, i, array->dim[i]);
        int64_t inner = mxci_shape_count(array, i + 1, array->ndim);
        dim[i] = axis.size;
        step[i] = axis.step * inner;
        first += axis.begin * inner;
    }
    mxci_strided_set(strides, array->ndim, dim, step);
    return first;
}

#endif
