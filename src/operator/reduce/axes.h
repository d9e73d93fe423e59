/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of axes as parameters: axis=(0,2), negative ones from the end, () for all; exclude for all others. */
#ifndef MXCI_OPERATOR_REDUCE_AXES_H
#define MXCI_OPERATOR_REDUCE_AXES_H

#include <string.h>

#include "math/assign.h"
#include "math/strided_kernels.h"
#include "operator/infer.h"

typedef struct mxci_axes_params {
    mxc_tuple axis;
    int32_t keepdims, exclude;
} mxci_axes_params;

/* Those of norm. */
typedef struct mxci_norm_params {
    mxci_axes_params axes;
    int64_t ord;
    int32_t out_dtype;
} mxci_norm_params;

/* The three parameters, for a schema. */
#define MXCI_AXES_PARAMS                                                                                              \
    {MXC_PARAM_FIELD(mxci_axes_params, axis),                                                                         \
     .name = "axis",                                                                                                  \
     .type = MXC_PARAM_TUPLE,                                                                                         \
     .initial = "()",                                                                                                 \
     .optional = 1,                                                                                                   \
     .doc = "Axes to reduce. Negative values count from the end. (): all."},                                          \
        {MXC_PARAM_FIELD(mxci_axes_params, keepdims), .name = "keepdims", .type = MXC_PARAM_BOOL, .initial = "false", \
         .doc = "Keep the reduced axes with size 1."},                                                                \
    {                                                                                                                 \
        MXC_PARAM_FIELD(mxci_axes_params, exclude), .name = "exclude", .type = MXC_PARAM_BOOL, .initial = "false",    \
                                                    .doc = "Reduce all axes except those in axis."                    \
    }

/* 1 if no axes are named, which means all. */
static inline int mxci_axes_all(const mxci_axes_params *p) {
    return p->axis.n <= 0;
}

/* reduced[i] = 1 for each axis of ndim that is reduced. MXC_ESHAPE for an axis that is not there or named twice. */
mxc_status mxci_axes_mark(const mxc_op_sig *sig, const mxci_axes_params *p, int ndim, int *reduced);
/* The same where inference has checked already. */
static inline void mxci_axes_of(const mxci_axes_params *p, int ndim, int *reduced) {
    int others = !mxci_axes_all(p) && p->exclude;
    for (int i = 0; i < ndim; i++)
        reduced[i] = mxci_axes_all(p) || others;
    for (int i = 0; i < p->axis.n; i++)
        reduced[p->axis.value[i] < 0 ? p->axis.value[i] + ndim : p->axis.value[i]] = !others;
}

/* Shapes of data and output 0, both ways. All axes reduced without keepdims: (1,). */
mxc_status mxci_axes_infer_shape(mxc_op_sig *sig);

/* The strides of the reduced array over the space of the full one. */
static inline void mxci_axes_strides(const mxc_shape *full, const int *reduced, mxci_strided *out) {
    int64_t step[MXC_MAX_NDIM], size = 1;
    for (int i = full->ndim - 1; i >= 0; i--) {
        step[i] = reduced[i] ? 0 : size;
        size *= reduced[i] ? 1 : full->dim[i];
    }
    mxci_strided_set(out, full->ndim, full->dim, step);
}

/* The part of the full array's space that is reduced (which 1) or kept (0), as steps in the full array. */
static inline void mxci_axes_part(const mxc_shape *full, const int *reduced, int which, mxci_strided *out) {
    int64_t dim[MXC_MAX_NDIM], step[MXC_MAX_NDIM], size = 1;
    int n = 0;
    for (int i = full->ndim - 1; i >= 0; i--) {
        if (reduced[i] == which) {
            memmove(dim + 1, dim, (size_t)n * sizeof *dim);
            memmove(step + 1, step, (size_t)n * sizeof *step);
            dim[0] = full->dim[i];
            step[0] = size;
            n++;
        }
        size *= full->dim[i];
    }
    mxci_strided_set(out, n, dim, step);
}

#endif
