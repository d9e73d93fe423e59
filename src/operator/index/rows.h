/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of an array that are selected by indices: gathering them into a dense array, and scatter-adding a dense array's
 * rows to them. An operator says how many rows there are, how long each is, and where each begins. Also reading indices
 * of any dtype, which are always clipped or wrapped into the array. */
#ifndef MXCI_OPERATOR_INDEX_ROWS_H
#define MXCI_OPERATOR_INDEX_ROWS_H

#include "math/assign.h"
#include "math/index.h"
#include "operator/infer.h"

/* out = the integer parts of n elements of index, from element `first` on, as indices 0..size-1 (size > 0), wrapped or
 * clipped (MXCI_INDEX_...); NaN is 0. */
void mxci_read_indices(const mxc_tensor *index, int64_t first, int64_t n, int64_t size, int mode, int64_t *out);
/* The number of steps of sequence n, at most t: element n of lengths rounded towards 0 and cut to 0..t; NaN is 0. */
int64_t mxci_sequence_length(const mxc_tensor *lengths, int64_t n, int64_t t);
/* MXC_EINVAL, with operator, argument and element, unless the integer parts of these elements of argument slot are
 * within low..high-1. */
mxc_status mxci_check_indices(const mxc_op_call *call, int slot, int64_t first, int64_t n, int64_t low, int64_t high);
/* The same for all elements, within 0..classes-1 or equal to *ignore, if that is not NULL. */
mxc_status mxci_check_labels(const mxc_op_call *call, int slot, int64_t classes, const double *ignore);

/* An index of rows, from the functions below; borrows its tensors and shapes. */
typedef struct mxci_rows mxci_rows;
struct mxci_rows {
    int64_t groups, count, length; /* count rows in each group; rows of two groups are never the same */
    /* where[i] = the element at which row first + i begins, i < n <= MXCI_TILE; row r is of group r / count. */
    void (*find)(const mxci_rows *rows, int64_t first, int64_t n, int64_t *where);
    /* For find. Here: array (outer, size, inner). */
    const mxc_tensor *index;
    const mxc_shape *array; /* borrowed */
    int64_t size, inner, per_outer;
    int mode;
};

/* Array (groups, size, inner): row j of each group is row index[j] of the axis, inner elements long (take). */
mxci_rows mxci_rows_along(const mxc_shape *array, int axis, const mxc_tensor *index, int mode);
/* Array (outer, size, inner): single elements; index (outer, count, inner) has the position of each along the axis
 * (pick). */
mxci_rows mxci_rows_picked(const mxc_shape *array, int axis, const mxc_tensor *index, int mode);
/* Slices: each column of index (M,count...) has a position along each of the first M axes, wrapped (gather_nd). */
mxci_rows mxci_rows_nd(const mxc_shape *array, const mxc_tensor *index);

/* Row r of to = row r of array. to has groups * count * length elements. */
void mxci_rows_take(const mxc_run *run, mxc_req req, const mxc_tensor *to, const mxci_rows *rows,
                    const mxc_tensor *array);
/* array = or += the sums, per row, of the rows of from; 0 elsewhere if it is overwritten. Additions to a row are in the
 * order of from's rows, for any number of threads. temp: mxci_rows_temp bytes. */
void mxci_rows_add(const mxc_run *run, mxc_req req, const mxc_tensor *array, const mxci_rows *rows,
                   const mxc_tensor *from, void *temp);
/* Bytes of scratch for mxci_rows_add: float32 sums where the array is 16-bit. */
size_t mxci_rows_temp(const mxc_shape *array, mxc_dtype dtype);

/* to = old with its rows of the one group replaced by those of from, the last where indices are equal; where from is
 * NULL, by 0. old may be to. temp: mxci_rows_replace_temp bytes, for an array of so many rows. */
void mxci_rows_replace(const mxc_run *run, mxc_req req, const mxc_tensor *to, const mxc_tensor *old,
                       const mxci_rows *rows, const mxc_tensor *from, void *temp);
size_t mxci_rows_replace_temp(int64_t rows);

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
