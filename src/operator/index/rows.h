/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of an array that stand where indices say: taking them into a dense array, and adding a dense array's rows to
 * them. An operator says how many rows there are, how long each is, and where each stands. Also reading indices of any
 * dtype: none leads outside the array.
 */
#ifndef MXCI_OPERATOR_INDEX_ROWS_H
#define MXCI_OPERATOR_INDEX_ROWS_H

#include "math/assign.h"
#include "math/index.h"
#include "operator/infer.h"

/* The whole parts of n elements of index, from the first one on, as rows 0..size-1 (size > 0); a NaN is 0. */
void mxci_read_indices(const mxc_tensor *index, int64_t first, int64_t n, int64_t size, int mode, int64_t *out);
/* MXC_EINVAL, with the operator and the place, unless the whole parts of these elements of argument slot are within
 * low..high-1. */
mxc_status mxci_check_indices(const mxc_op_call *call, int slot, int64_t first, int64_t n, int64_t low, int64_t high);
/* The same for all elements, which are of 0..classes-1 or equal to ignore, if that is not NULL. */
mxc_status mxci_check_labels(const mxc_op_call *call, int slot, int64_t classes, const double *ignore);

typedef struct mxci_rows mxci_rows;
struct mxci_rows {
    int64_t groups, count, length; /* count rows in each group; rows of two groups never meet */
    /* where[i] = the element at which row first + i begins, i < n <= MXCI_TILE; row r is of group r / count. */
    void (*find)(const mxci_rows *rows, int64_t first, int64_t n, int64_t *where);
    /* For find. Here: array (outer, size, inner). */
    const mxc_tensor *index;
    const mxc_shape *array; /* borrowed */
    int64_t size, inner, per_outer;
    int mode;
};

/* Rows of an array as (groups, size, inner), inner long: row j of each group is the one that index[j] names. */
mxci_rows mxci_rows_along(const mxc_shape *array, int axis, const mxc_tensor *index, int mode);
/* Elements of it: index (outer, count, inner) names the place of each along the axis. */
mxci_rows mxci_rows_picked(const mxc_shape *array, int axis, const mxc_tensor *index, int mode);
/* Slices of it: each column of index (M,count...) names a place along each of the first M axes, taken modulo them. */
mxci_rows mxci_rows_named(const mxc_shape *array, const mxc_tensor *index);

/* Row r of to = row r of array. to has groups * count * length elements. */
void mxci_rows_take(const mxc_run *run, mxc_req req, const mxc_tensor *to, const mxci_rows *rows,
                    const mxc_tensor *array);
/* array = what comes of adding each row r of from to its row r, and 0 elsewhere; temp of mxci_rows_temp. */
void mxci_rows_add(const mxc_run *run, mxc_req req, const mxc_tensor *array, const mxci_rows *rows,
                   const mxc_tensor *from, void *temp);
/* Scratch for adding to an array: f32 sums of the 16-bit types. */
size_t mxci_rows_temp(const mxc_shape *array, mxc_dtype dtype);

/* Type inference where argument 1 is the index: the other arguments and output 0 have one type, the index any (where
 * it is not known, that of the others). */
mxc_status mxci_rows_infer_type(mxc_op_sig *sig);
/* MXC_ESHAPE if an argument's axis has no elements to index. */
mxc_status mxci_sig_check_axis(const mxc_op_sig *sig, int slot, int axis);

/* A gradient of 0 for an argument that has none. */
static inline void mxci_assign_zero_gradient(const mxc_op_call *call, int slot) {
    if (call->req[slot] == MXC_REQ_WRITE || call->req[slot] == MXC_REQ_INPLACE)
        mxci_assign_constant(call->run, MXC_REQ_WRITE, &call->in_grad[slot], 0);
}

#endif
