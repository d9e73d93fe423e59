/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Diagonals of matrices. A positive k or offset counts above the main diagonal, a negative one below.
 *   diag                 data (n): out (n+|k|,n+|k|) = data on diagonal k, 0 elsewhere; of more axes: out (...,m) =
 *                        diagonal k of the matrices that axis1 and axis2 span, behind the other axes
 *   _linalg_extractdiag  A (...,n,n): out (...,n-|offset|) = the diagonals
 *   _linalg_makediag     A (...,n): out (...,n+|offset|,n+|offset|) = A on the diagonals, 0 elsewhere
 */
#include "math/strided_copy.h"
#include "operator/infer.h"
#include "operator/tensor/view_ops.h"

/* ---- moves ------------------------------------------------------------------------------------------------------ */

/* out = data at the elements that the view selects, 0 elsewhere. */
static mxc_status diag_put(const mxc_op_call *call, mxci_view_fn view_of) {
    mxci_view view = view_of(call->params, &call->in[0].shape, &call->out[0].shape);
    mxci_assign_to_strided(call->run, call->req[0], &call->out[0], view.first, &view.strides, &call->in[0]);
    return MXC_OK;
}

/* ---- diag ------------------------------------------------------------------------------------------------------- */

#define DIAGONAL_OFFSETS .bounded = 1, .minimum = -9e15, .maximum = 9e15

static const mxc_param diag_schema[] = {
    {MXC_PARAM_FIELD(mxci_diag_params, k), .name = "k", .type = MXC_PARAM_INT, .initial = "0", DIAGONAL_OFFSETS,
     .doc = "Diagonal: 0 is the main one, positive ones are above it, negative ones below."},
    {MXC_PARAM_FIELD(mxci_diag_params, axis1), .name = "axis1", .type = MXC_PARAM_INT, .initial = "0",
     .doc = "Axis of the matrices' rows. Negative values count from the end. Not used for data of one axis."},
    {MXC_PARAM_FIELD(mxci_diag_params, axis2), .name = "axis2", .type = MXC_PARAM_INT, .initial = "1",
     .doc = "Axis of the matrices' columns. Negative values count from the end. Not used for data of one axis."},
    MXC_PARAM_END,
};

static int64_t magnitude(int64_t offset) {
    return offset < 0 ? -offset : offset;
}

/* The side of the square matrix with a diagonal of so many elements, and the reverse; -1 is unknown. */
static int64_t side_with(int64_t diagonal, int64_t offset) {
    return mxci_dim_add(diagonal, magnitude(offset));
}
static int64_t diagonal_of_side(int64_t side, int64_t offset) {
    return side < 0 ? -1 : side > magnitude(offset) ? side - magnitude(offset) : 0;
}

/* A vector and the square matrix with it on a diagonal, in both directions. */
static mxc_status infer_vector(mxc_op_sig *sig, int64_t k) {
    const int64_t side = side_with(sig->in_shape[0].dim[0], k);
    mxc_shape shape = mxci_shape_of(2, (int64_t[]){side, side});
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &shape));
    const int64_t out = mxci_known(sig->out_shape[0].dim[0], sig->out_shape[0].dim[1]);
    if (out >= 0 && out < magnitude(k))
        return mxc_sig_fail(sig, "output: %lld rows do not have diagonal %lld", (long long)out, (long long)k);
    shape = mxci_shape_of(2, (int64_t[]){out, out});
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &shape));
    shape = mxci_shape_of(1, (int64_t[]){out < 0 ? -1 : out - magnitude(k)});
    return mxc_sig_set_shape(sig, 0, &shape);
}

static mxc_status diag_infer_shape(mxc_op_sig *sig) {
    const mxci_diag_params *p = sig->params;
    mxc_shape *data = &sig->in_shape[0], out, back;
    int axis1, axis2, n = 0;
    int64_t row, column;
    if (data->ndim < 0)
        return MXC_OK;
    if (data->ndim == 0)
        return mxc_sig_fail(sig, "argument 'data' has no axes, expected at least 1");
    if (data->ndim == 1)
        return infer_vector(sig, p->k);
    MXC_TRY(mxci_sig_axis(sig, p->axis1, data->ndim, &axis1));
    MXC_TRY(mxci_sig_axis(sig, p->axis2, data->ndim, &axis2));
    if (axis1 == axis2)
        return mxc_sig_fail(sig, "axis1 and axis2 are both axis %d, expected two different axes", axis1);
    out = mxci_shape_axes(data->ndim - 1);
    for (int i = 0; i < data->ndim; i++)
        if (i != axis1 && i != axis2)
            out.dim[n++] = data->dim[i];
    if (data->dim[axis1] >= 0 && data->dim[axis2] >= 0)
        out.dim[n] = mxci_diagonal(data->dim[axis1], data->dim[axis2], p->k, &row, &column);
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
    back = mxci_shape_axes(data->ndim);
    n = 0;
    for (int i = 0; i < data->ndim; i++)
        if (i != axis1 && i != axis2)
            back.dim[i] = sig->out_shape[0].dim[n++];
    return mxc_sig_set_shape(sig, 0, &back);
}

static mxc_status diag_forward(const mxc_op_call *call) {
    return call->in[0].shape.ndim == 1 ? diag_put(call, mxci_view_diag) : mxci_view_take(call, mxci_view_diag);
}

static mxc_status diag_backward(const mxc_op_call *call) {
    return call->in[0].shape.ndim == 1 ? mxci_view_take_back(call, mxci_view_diag)
                                       : mxci_view_put_back(call, mxci_view_diag);
}

const mxc_op_def mxci_op_diag = {
    .size = sizeof(mxc_op_def),
    .name = "diag",
    .doc = "out = the diagonals k of the matrices that axis1 and axis2 of data span, as last axis; of data (n), a "
           "square matrix with data on diagonal k",
    .params = diag_schema,
    .param_size = sizeof(mxci_diag_params),
    .infer_shape = diag_infer_shape,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .forward = {[MXC_CPU] = diag_forward},
    .backward = {[MXC_CPU] = diag_backward},
};

/* ---- _linalg_extractdiag, _linalg_makediag ---------------------------------------------------------------------- */

static const mxc_param offset_schema[] = {
    {MXC_PARAM_FIELD(mxci_triangle_params, offset), .name = "offset", .type = MXC_PARAM_INT, .initial = "0",
     DIAGONAL_OFFSETS, .doc = "Diagonal: 0 is the main one, positive ones are above it, negative ones below."},
    MXC_PARAM_END,
};

/* The square matrices (...,n,n) are in one slot, their diagonals (...,m) in the other. */
static mxc_status infer_diagonals(mxc_op_sig *sig, int matrices, int diagonals) {
    const int64_t offset = ((const mxci_triangle_params *)sig->params)->offset;
    const mxc_shape *matrix = mxci_sig_shape(sig, matrices), *diagonal = mxci_sig_shape(sig, diagonals);
    const int ndim = matrix->ndim >= 0 ? matrix->ndim : diagonal->ndim + 1;
    mxc_shape shape;
    int64_t side = -1;
    if (ndim == 0 && matrix->ndim < 0)
        return MXC_OK;
    if (ndim < 2 || ndim > MXC_MAX_NDIM)
        return mxc_sig_fail(sig, "matrices would have %d axes, expected 2 to %d", ndim, MXC_MAX_NDIM);
    shape = mxci_shape_axes(ndim);
    if (matrix->ndim >= 0)
        side = mxci_known(matrix->dim[ndim - 2], matrix->dim[ndim - 1]);
    if (side < 0 && diagonal->ndim == ndim - 1 && diagonal->dim[ndim - 2] != 0)
        side = side_with(diagonal->dim[ndim - 2], offset);
    for (int i = 0; i < ndim - 2 && diagonal->ndim == ndim - 1; i++)
        shape.dim[i] = diagonal->dim[i];
    shape.dim[ndim - 2] = shape.dim[ndim - 1] = side;
    MXC_TRY(mxc_sig_set_shape(sig, matrices, &shape));
    shape = *matrix;
    shape.ndim--;
    shape.dim[ndim - 2] = diagonal_of_side(side, offset);
    return mxc_sig_set_shape(sig, diagonals, &shape);
}

static mxc_status extract_infer_shape(mxc_op_sig *sig) {
    return infer_diagonals(sig, 0, MXC_SLOT_OUT(0));
}

/* Diagonals of no elements have matrices of |offset| rows. */
static mxc_status make_infer_shape(mxc_op_sig *sig) {
    const int64_t offset = ((const mxci_triangle_params *)sig->params)->offset;
    const mxc_shape *a = &sig->in_shape[0];
    if (a->ndim > 0 && a->ndim < MXC_MAX_NDIM) {
        mxc_shape out = *a;
        out.ndim++;
        out.dim[a->ndim - 1] = out.dim[a->ndim] = side_with(a->dim[a->ndim - 1], offset);
        MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
    }
    return infer_diagonals(sig, MXC_SLOT_OUT(0), 0);
}

static mxc_status extract_forward(const mxc_op_call *call) {
    return mxci_view_take(call, mxci_view_extract_diagonal);
}

static mxc_status extract_backward(const mxc_op_call *call) {
    return mxci_view_put_back(call, mxci_view_extract_diagonal);
}

static mxc_status make_forward(const mxc_op_call *call) {
    return diag_put(call, mxci_view_make_diagonal);
}

static mxc_status make_backward(const mxc_op_call *call) {
    return mxci_view_take_back(call, mxci_view_make_diagonal);
}

const mxc_op_def mxci_op_linalg_extractdiag = {
    .size = sizeof(mxc_op_def),
    .name = "_linalg_extractdiag",
    .aliases = "linalg_extractdiag",
    .args = "A",
    .doc = "Diagonals of square matrices A (...,n,n): out (...,n-|offset|)",
    .params = offset_schema,
    .param_size = sizeof(mxci_triangle_params),
    .infer_shape = extract_infer_shape,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .forward = {[MXC_CPU] = extract_forward},
    .backward = {[MXC_CPU] = extract_backward},
};

const mxc_op_def mxci_op_linalg_makediag = {
    .size = sizeof(mxc_op_def),
    .name = "_linalg_makediag",
    .aliases = "linalg_makediag",
    .args = "A",
    .doc = "Square matrices out (...,n+|offset|,n+|offset|) with A (...,n) on a diagonal, 0 elsewhere",
    .params = offset_schema,
    .param_size = sizeof(mxci_triangle_params),
    .infer_shape = make_infer_shape,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .forward = {[MXC_CPU] = make_forward},
    .backward = {[MXC_CPU] = make_backward},
};
