/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views: the index mappings of operators whose results are elements of their data in another order or number, such as
 * transpose, slice and tile, and of their gradients. A mapping is a set of strides (math/strided_kernels.h), computed
 * from parameters and shapes that inference has checked. In a header because GPU modules, which link nothing of the
 * library, move elements by the same strides.
 */
#ifndef MXCI_OPERATOR_TENSOR_VIEWS_H
#define MXCI_OPERATOR_TENSOR_VIEWS_H

#include "operator/tensor/box.h"

/* Element i of a view's space is element first + strides(i) of the array. */
typedef struct mxci_view {
    int64_t first;
    mxci_strided strides;
} mxci_view;

/* The view of an operator from its parameters and the shapes of data and out. Out's space in data unless it says
 * otherwise. */
typedef mxci_view (*mxci_view_fn)(const void *params, const mxc_shape *data, const mxc_shape *out);

/* An axis counted from the end where negative. */
static inline int mxci_axis_of(int64_t axis, int ndim) {
    return (int)(axis < 0 ? axis + ndim : axis);
}

/* ---- transpose, SwapAxis ----------------------------------------------------------------------------------------- */

typedef struct mxci_transpose_params {
    mxc_tuple axes;
} mxci_transpose_params;

typedef struct mxci_swap_params {
    int64_t dim1, dim2;
} mxci_swap_params;

/* source[i]: the axis of data that out's axis i is. */
static inline void mxci_transpose_order(const mxci_transpose_params *p, int ndim, int *source) {
    for (int i = 0; i < ndim; i++)
        source[i] = p->axes.n > 0 ? mxci_axis_of(p->axes.value[i], ndim) : ndim - 1 - i;
}

static inline void mxci_swap_order(const mxci_swap_params *p, int ndim, int *source) {
    int a = mxci_axis_of(p->dim1, ndim), b = mxci_axis_of(p->dim2, ndim);
    for (int i = 0; i < ndim; i++)
        source[i] = i == a ? b : i == b ? a : i;
}

/* data over out's space. */
static inline mxci_view mxci_view_order(const mxc_shape *data, const mxc_shape *out, const int *source) {
    int64_t step[MXC_MAX_NDIM];
    mxci_view view;
    for (int i = 0; i < out->ndim; i++)
        step[i] = mxci_shape_count(data, source[i] + 1, data->ndim);
    view.first = 0;
    mxci_strided_set(&view.strides, out->ndim, out->dim, step);
    return view;
}

/* out over data's space: the inverse. */
static inline mxci_view mxci_view_order_back(const mxc_shape *data, const mxc_shape *out, const int *source) {
    int64_t step[MXC_MAX_NDIM];
    mxci_view view;
    for (int i = 0; i < out->ndim; i++)
        step[source[i]] = mxci_shape_count(out, i + 1, out->ndim);
    view.first = 0;
    mxci_strided_set(&view.strides, data->ndim, data->dim, step);
    return view;
}

static inline mxci_view mxci_view_transpose(const void *params, const mxc_shape *data, const mxc_shape *out) {
    int source[MXC_MAX_NDIM];
    mxci_transpose_order((const mxci_transpose_params *)params, data->ndim, source);
    return mxci_view_order(data, out, source);
}

static inline mxci_view mxci_view_transpose_back(const void *params, const mxc_shape *data, const mxc_shape *out) {
    int source[MXC_MAX_NDIM];
    mxci_transpose_order((const mxci_transpose_params *)params, data->ndim, source);
    return mxci_view_order_back(data, out, source);
}

static inline mxci_view mxci_view_swap(const void *params, const mxc_shape *data, const mxc_shape *out) {
    int source[MXC_MAX_NDIM];
    mxci_swap_order((const mxci_swap_params *)params, data->ndim, source);
    return mxci_view_order(data, out, source);
}

static inline mxci_view mxci_view_swap_back(const void *params, const mxc_shape *data, const mxc_shape *out) {
    int source[MXC_MAX_NDIM];
    mxci_swap_order((const mxci_swap_params *)params, data->ndim, source);
    return mxci_view_order_back(data, out, source);
}

/* ---- reverse, its own inverse ------------------------------------------------------------------------------------ */

typedef struct mxci_reverse_params {
    mxc_tuple axis;
} mxci_reverse_params;

static inline mxci_view mxci_view_reverse(const void *params, const mxc_shape *data, const mxc_shape *out) {
    const mxc_tuple *axes = &((const mxci_reverse_params *)params)->axis;
    int64_t step[MXC_MAX_NDIM];
    mxci_view view;
    view.first = 0;
    for (int i = 0; i < data->ndim; i++)
        step[i] = mxci_shape_count(data, i + 1, data->ndim);
    for (int i = 0; i < axes->n; i++) {
        int axis = mxci_axis_of(axes->value[i], data->ndim);
        view.first += step[axis] * (data->dim[axis] - 1);
        step[axis] = -step[axis];
    }
    mxci_strided_set(&view.strides, out->ndim, out->dim, step);
    return view;
}

/* ---- depth_to_space, space_to_depth, each other's inverse -------------------------------------------------------- */

typedef struct mxci_block_params {
    int64_t block_size;
} mxci_block_params;

/* The wide array as (N,C,H,b,W,b), over the deep one, which is (N,b,b,C,H,W). */
static inline mxci_view mxci_view_spread(const void *params, const mxc_shape *deep) {
    const int64_t b = ((const mxci_block_params *)params)->block_size, *d = deep->dim;
    const int64_t c = d[1] / (b * b), plane = d[2] * d[3];
    const int64_t dim[6] = {d[0], c, d[2], b, d[3], b};
    const int64_t step[6] = {d[1] * plane, plane, d[3], b * c * plane, 1, c * plane};
    mxci_view view;
    view.first = 0;
    mxci_strided_set(&view.strides, 6, dim, step);
    return view;
}

/* The deep array as (N,b,b,C,H,W), over the wide one, which is (N,C,H,b,W,b). */
static inline mxci_view mxci_view_gather(const void *params, const mxc_shape *wide) {
    const int64_t b = ((const mxci_block_params *)params)->block_size, *w = wide->dim;
    const int64_t dim[6] = {w[0], b, b, w[1], w[2] / b, w[3] / b};
    const int64_t step[6] = {w[1] * w[2] * w[3], w[3], 1, w[2] * w[3], b * w[3], b};
    mxci_view view;
    view.first = 0;
    mxci_strided_set(&view.strides, 6, dim, step);
    return view;
}

/* From the deep array to the wide one. _back: the deep one's space in the wide one. */
static inline mxci_view mxci_view_to_space(const void *params, const mxc_shape *data, const mxc_shape *out) {
    (void)out;
    return mxci_view_spread(params, data);
}
static inline mxci_view mxci_view_to_space_back(const void *params, const mxc_shape *data, const mxc_shape *out) {
    (void)data;
    return mxci_view_gather(params, out);
}
static inline mxci_view mxci_view_to_depth(const void *params, const mxc_shape *data, const mxc_shape *out) {
    (void)out;
    return mxci_view_gather(params, data);
}
static inline mxci_view mxci_view_to_depth_back(const void *params, const mxc_shape *data, const mxc_shape *out) {
    (void)data;
    return mxci_view_spread(params, out);
}

/* ---- slice, slice_axis, slice_like, Crop ------------------------------------------------------------------------- */

typedef struct mxci_slice_params {
    mxci_box_params box;
} mxci_slice_params;

/* _slice_assign, _crop_assign_scalar */
typedef struct mxci_assign_params {
    mxci_box_params box;
    double scalar;
} mxci_assign_params;

typedef struct mxci_slice_axis_params {
    int64_t axis, begin, end;
} mxci_slice_axis_params;

typedef struct mxci_crop_params {
    int64_t num_args;
    mxc_tuple offset, h_w;
    int32_t center_crop;
} mxci_crop_params;

static inline mxci_view mxci_view_bounds(const mxci_bounds *bounds, const mxc_shape *data) {
    mxci_view view;
    view.first = mxci_box_strides(bounds, data, &view.strides);
    return view;
}

static inline mxci_view mxci_view_slice(const void *params, const mxc_shape *data, const mxc_shape *out) {
    mxci_bounds bounds = mxci_box_bounds(&((const mxci_slice_params *)params)->box);
    (void)out;
    return mxci_view_bounds(&bounds, data);
}

static inline mxci_bounds mxci_slice_axis_bounds(const mxci_slice_axis_params *p, int ndim) {
    mxci_bounds bounds = mxci_bounds_whole();
    int axis = mxci_axis_of(p->axis, ndim);
    bounds.begin[axis] = p->begin;
    bounds.end[axis] = p->end;
    return bounds;
}

static inline mxci_view mxci_view_slice_axis(const void *params, const mxc_shape *data, const mxc_shape *out) {
    mxci_bounds bounds = mxci_slice_axis_bounds((const mxci_slice_axis_params *)params, data->ndim);
    (void)out;
    return mxci_view_bounds(&bounds, data);
}

/* As many elements of each axis as out has. */
static inline mxci_view mxci_view_slice_like(const void *params, const mxc_shape *data, const mxc_shape *out) {
    mxci_bounds bounds = mxci_bounds_whole();
    (void)params;
    for (int i = 0; i < out->ndim; i++)
        bounds.end[i] = out->dim[i];
    return mxci_view_bounds(&bounds, data);
}

/* First row (0) or column (1) of the window. */
static inline int64_t mxci_crop_first(const mxci_crop_params *p, const mxc_shape *data, const mxc_shape *out, int i) {
    return p->center_crop ? (data->dim[2 + i] - out->dim[2 + i]) / 2 : p->offset.value[i];
}

static inline mxci_view mxci_view_crop(const void *params, const mxc_shape *data, const mxc_shape *out) {
    const mxci_crop_params *p = (const mxci_crop_params *)params;
    const int64_t plane = data->dim[2] * data->dim[3];
    const int64_t step[4] = {data->dim[1] * plane, plane, data->dim[3], 1};
    mxci_view view;
    view.first = mxci_crop_first(p, data, out, 0) * data->dim[3] + mxci_crop_first(p, data, out, 1);
    mxci_strided_set(&view.strides, 4, out->dim, step);
    return view;
}

/* ---- tile, repeat ------------------------------------------------------------------------------------------------ */

typedef struct mxci_tile_params {
    mxc_tuple reps;
} mxci_tile_params;

typedef struct mxci_repeat_params {
    int64_t repeats, axis;
} mxci_repeat_params;

/* Copies along, and size in data of, the axis of out that is i-th of ndim. */
static inline int64_t mxci_tile_reps(const mxc_tuple *reps, int i, int ndim) {
    return i < ndim - reps->n ? 1 : reps->value[i - (ndim - reps->n)];
}
static inline int64_t mxci_tile_size(const mxc_shape *data, int i, int ndim) {
    return i < ndim - data->ndim ? 1 : data->dim[i - (ndim - data->ndim)];
}

/* Two axes of the strides for each of out: the copies, and the elements of one. */
static inline mxci_view mxci_view_tile(const void *params, const mxc_shape *data, const mxc_shape *out) {
    const mxc_tuple *reps = &((const mxci_tile_params *)params)->reps;
    int64_t dim[2 * MXC_MAX_NDIM], step[2 * MXC_MAX_NDIM], size = 1;
    mxci_view view;
    for (int i = out->ndim - 1; i >= 0; i--) {
        dim[2 * i] = mxci_tile_reps(reps, i, out->ndim);
        dim[2 * i + 1] = mxci_tile_size(data, i, out->ndim);
        step[2 * i] = 0;
        step[2 * i + 1] = size;
        size *= dim[2 * i + 1];
    }
    view.first = 0;
    mxci_strided_set(&view.strides, 2 * out->ndim, dim, step);
    return view;
}

static inline mxci_view mxci_view_repeat(const void *params, const mxc_shape *data, const mxc_shape *out) {
    const mxci_repeat_params *p = (const mxci_repeat_params *)params;
    int whole = p->axis == MXC_PARAM_UNSET, axis = whole ? 0 : mxci_axis_of(p->axis, data->ndim);
    int64_t inner = whole ? 1 : mxci_shape_count(data, axis + 1, data->ndim);
    int64_t rows = whole ? mxci_shape_count(data, 0, data->ndim) : mxci_shape_count(data, 0, axis + 1);
    const int64_t dim[3] = {rows, p->repeats, inner}, step[3] = {inner, 0, 1};
    mxci_view view;
    (void)out;
    view.first = 0;
    mxci_strided_set(&view.strides, 3, dim, step);
    return view;
}

/* ---- diagonals: _eye, diag, _linalg_extractdiag, _linalg_makediag ------------------------------------------------ */

/* Diagonal k of a matrix (rows,columns), positive above the main one: the row and the column of its first element.
 * Returns its length, 0 where the matrix has no such diagonal. */
static inline int64_t mxci_diagonal(int64_t rows, int64_t columns, int64_t k, int64_t *row, int64_t *column) {
    int64_t n;
    *row = k < 0 ? -k : 0;
    *column = k > 0 ? k : 0;
    n = rows - *row < columns - *column ? rows - *row : columns - *column;
    return n > 0 ? n : 0;
}

/* Diagonal k of the matrices that two axes of an array span: the space has the array's other axes, then the
 * diagonal. */
static inline mxci_view mxci_view_diagonal(const mxc_shape *array, int64_t k, int axis1, int axis2) {
    int64_t dim[MXC_MAX_NDIM], step[MXC_MAX_NDIM], row, column;
    const int64_t row_step = mxci_shape_count(array, axis1 + 1, array->ndim);
    const int64_t column_step = mxci_shape_count(array, axis2 + 1, array->ndim);
    mxci_view view;
    int n = 0;
    for (int i = 0; i < array->ndim; i++)
        if (i != axis1 && i != axis2) {
            dim[n] = array->dim[i];
            step[n++] = mxci_shape_count(array, i + 1, array->ndim);
        }
    dim[n] = mxci_diagonal(array->dim[axis1], array->dim[axis2], k, &row, &column);
    step[n] = row_step + column_step;
    view.first = dim[n++] > 0 ? row * row_step + column * column_step : 0;
    mxci_strided_set(&view.strides, n, dim, step);
    return view;
}

typedef struct mxci_diag_params {
    int64_t k, axis1, axis2;
} mxci_diag_params;

/* diag: the diagonals in data, or of an array of one axis data's place in out. */
static inline mxci_view mxci_view_diag(const void *params, const mxc_shape *data, const mxc_shape *out) {
    const mxci_diag_params *p = (const mxci_diag_params *)params;
    if (data->ndim == 1)
        return mxci_view_diagonal(out, p->k, 0, 1);
    return mxci_view_diagonal(data, p->k, mxci_axis_of(p->axis1, data->ndim), mxci_axis_of(p->axis2, data->ndim));
}

/* Of _linalg_extractdiag and _linalg_makediag, _linalg_extracttrian and _linalg_maketrian. */
typedef struct mxci_triangle_params {
    int64_t offset;
    int32_t lower;
} mxci_triangle_params;

static inline mxci_view mxci_view_extract_diagonal(const void *params, const mxc_shape *data, const mxc_shape *out) {
    (void)out;
    return mxci_view_diagonal(data, ((const mxci_triangle_params *)params)->offset, data->ndim - 2, data->ndim - 1);
}

/* data's place in out. */
static inline mxci_view mxci_view_make_diagonal(const void *params, const mxc_shape *data, const mxc_shape *out) {
    (void)data;
    return mxci_view_diagonal(out, ((const mxci_triangle_params *)params)->offset, out->ndim - 2, out->ndim - 1);
}

#endif
