/* SPDX-License-Identifier: Apache-2.0 */
/* Gathering rows of an array by index into a dense array, and scatter-adding a dense array's rows
 * (operator/index/rows.h). Additions to one row are made in the order of the dense rows, without atomics: where several
 * indices may be equal, they are sorted first, and one team sums all rows of an index. So results do not depend on
 * timing. */
#ifndef MXCI_CUDA_OPERATOR_INDEX_ROWS_H
#define MXCI_CUDA_OPERATOR_INDEX_ROWS_H

#include "cuda/operator/index/index.h"
#include "cuda/runtime/readback.h"

enum mxcu_rows_kind {
    MXCU_ALONG,  /* array (groups, size, length), index (count): dense row j of each group is row index[j] (take) */
    MXCU_PICKED, /* array (outer, size, inner), index (outer, inner): single elements along the axis (pick) */
    MXCU_ND      /* slices: each column of index (M, count) names a place along each of the first M axes, modulo them */
};

/* An index of rows, from the functions below. */
struct mxcu_row_index {
    int kind;
    int64_t groups, count, length; /* count rows in each group; MXCU_PICKED: indices are never equal */
    int64_t size, inner;           /* size: rows of the array in each group */
    int mode;
    mxcu_numbers index;
    int axes; /* MXCU_ND: M, and their sizes */
    int64_t dim[MXC_MAX_NDIM];

    /* Which of the group's rows in the array dense row j of the group is. */
    MXCU_DEVICE int64_t key(int64_t j) const {
        int64_t at = 0;
        if (kind != MXCU_ND)
            return index.index(j, size, mode);
        for (int i = 0; i < axes; i++)
            at = at * dim[i] + index.index(i * count + j, dim[i], mode);
        return at;
    }
    /* The element of the array at which dense row r begins. */
    MXCU_DEVICE int64_t operator()(int64_t r) const {
        if (kind == MXCU_PICKED)
            return (r / count * size + key(r)) * inner + r % inner;
        return (r / count * size + key(r % count)) * length;
    }
};

/* The three kinds of index, of an array with this shape. mode: MXCI_INDEX_WRAP or _CLIP. */
mxcu_row_index mxcu_rows_along(const mxc_shape *array, int axis, const mxc_tensor *index, int mode);
mxcu_row_index mxcu_rows_picked(const mxc_shape *array, int axis, const mxc_tensor *index, int mode);
mxcu_row_index mxcu_rows_nd(const mxc_shape *array, const mxc_tensor *index);

/* Result i of a call, to, = or += the rows of array, as dense rows. */
mxc_status mxcu_rows_take(const mxc_op_call *call, const mxc_tensor *to, int i, const mxcu_row_index *rows,
                          const mxc_tensor *array);
/* Result i of a call, an array, = or += the sums of dense rows by index, 0 elsewhere. The call's scratch begins with
 * mxcu_rows_temp(count) bytes (not used for MXCU_PICKED, whose indices are never equal). */
mxc_status mxcu_rows_add(const mxc_op_call *call, const mxc_tensor *array, int i, const mxcu_row_index *rows,
                         const mxc_tensor *from);
size_t mxcu_rows_temp(int64_t count);

/* count rows of n indices; the indices of row i must be in [low[i], high[i]). */
struct mxcu_bounded_rows {
    int count;
    int64_t n, low[MXC_MAX_NDIM], high[MXC_MAX_NDIM];
};

/* MXC_EINVAL unless the integer parts of an argument's elements are within the bounds of their rows. Waits for the
 * device. The call's scratch begins with room for MXCU_CHECK_BYTES. */
enum { MXCU_CHECK_BYTES = sizeof(mxcu_invalid_element) };
mxc_status mxcu_check_indices(const mxc_op_call *call, const char *op, const char *argument, const mxc_tensor *index,
                              const mxcu_bounded_rows *rows);

#endif
