/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gathering rows of an array by index into a dense array, and scatter-adding a dense array's rows, as
 * operator/index/rows.h. Additions to one row are in the order of the dense rows: where several indices may be equal,
 * they are sorted.
 */
#ifndef MXCI_CUDA_OPERATOR_INDEX_ROWS_H
#define MXCI_CUDA_OPERATOR_INDEX_ROWS_H

#include "cuda/operator/index/index.h"
#include "cuda/runtime/readback.h"

enum mxcu_rows_kind {
    MXCU_ALONG,  /* array (groups, size, length): row j of each group is the one that index[j] names */
    MXCU_PICKED, /* array (outer, size, inner): elements; index (outer, inner) names the place of each along the axis */
    MXCU_NAMED   /* slices: each column of index (M, count) names a place along each of the first M axes, modulo them */
};

struct mxcu_places {
    int kind;
    int64_t groups, count, length; /* count rows in each group; MXCU_PICKED: indices are never equal */
    int64_t size, inner;           /* size: rows of the array in each group */
    int mode;
    mxcu_numbers index;
    int axes; /* MXCU_NAMED: M, and their sizes */
    int64_t dim[MXC_MAX_NDIM];

    /* Which of the group's rows in the array row j of the group is. */
    MXCU_DEVICE int64_t key(int64_t j) const {
        int64_t at = 0;
        if (kind != MXCU_NAMED)
            return index.index(j, size, mode);
        for (int i = 0; i < axes; i++)
            at = at * dim[i] + index.index(i * count + j, dim[i], mode);
        return at;
    }
    /* The element where dense row r begins. */
    MXCU_DEVICE int64_t operator()(int64_t r) const {
        if (kind == MXCU_PICKED)
            return (r / count * size + key(r)) * inner + r % inner;
        return (r / count * size + key(r % count)) * length;
    }
};

mxcu_places mxcu_rows_along(const mxc_shape *array, int axis, const mxc_tensor *index, int mode);
mxcu_places mxcu_rows_picked(const mxc_shape *array, int axis, const mxc_tensor *index, int mode);
mxcu_places mxcu_rows_named(const mxc_shape *array, const mxc_tensor *index);

/* Result i of a call = the rows of array. */
mxc_status mxcu_rows_take(const mxc_op_call *call, const mxc_tensor *to, int i, const mxcu_places *places,
                          const mxc_tensor *array);
/* Result i of a call, an array, = the sums of dense rows, 0 elsewhere. The call's scratch begins with room for
 * mxcu_rows_temp of count (not used for MXCU_PICKED). */
mxc_status mxcu_rows_add(const mxc_op_call *call, const mxc_tensor *array, int i, const mxcu_places *places,
                         const mxc_tensor *from);
size_t mxcu_rows_temp(int64_t count);

/* Rows of n indices, each with bounds of its own. */
struct mxcu_bounded_rows {
    int count;
    int64_t n, low[MXC_MAX_NDIM], high[MXC_MAX_NDIM];
};

/* MXC_EINVAL unless the whole parts of an argument's elements are within low..high-1 of their rows. Waits for the
 * device. The call's scratch begins with room for MXCU_CHECK_BYTES. */
enum { MXCU_CHECK_BYTES = sizeof(mxcu_invalid_element) };
mxc_status mxcu_check_indices(const mxc_op_call *call, const char *op, const char *argument, const mxc_tensor *index,
                              const mxcu_bounded_rows *rows);

#endif
