/* SPDX-License-Identifier: Apache-2.0 */
/* gather_nd, scatter_nd, _scatter_set_nd: elements or slices of an array by columns of indices. indices (M,Y...) holds,
 * for each of Y..., a position along each of the first M axes of (X1,...,XM,...); negative ones count from the end,
 * others outside are an error.
 *
 *   gather_nd   out (Y...,XM+1,...) = data (X1,...) at indices; gradient: added up where elements were used
 *   scatter_nd  out of the given shape = 0, and data (Y...,XM+1,...) added at indices; gradient: as gather_nd's out
 *   _scatter_set_nd  out = lhs (X1,...), and rhs (Y...,XM+1,...) at indices; the last of equal indices counts */
#include "operator/index/rows.h"

enum { DATA, INDICES };

/* ---- inference --------------------------------------------------------------------------------------------------- */

/* array_slot: the array that is indexed, X1,...; rows_slot: the slices, Y...,XM+1,... Each shape is set as far as it
 * follows from the others. */
static mxc_status gather_nd_infer(mxc_op_sig *sig, int array_slot, int rows_slot, int index_slot) {
    const mxc_shape *array = mxci_sig_shape(sig, array_slot), *indices = &sig->in_shape[index_slot];
    int columns, ahead, ndim;
    mxc_shape shape;
    if (indices->ndim == 0)
        return mxc_sig_fail(sig, "argument 'indices' has no axes, expected at least 1");
    if (array->ndim < 0 || indices->ndim < 0 || indices->dim[0] < 0)
        return MXC_OK;
    if (indices->dim[0] > array->ndim)
        return mxc_sig_fail(sig, "argument 'indices': has %lld positions in axis 0, expected at most the %d axes",
                            (long long)indices->dim[0], (int)array->ndim);
    for (int i = 0; i < indices->dim[0]; i++)
        if (array->dim[i] == 0)
            return mxc_sig_fail(sig, "axis %d, which is indexed, has no elements", i);
    columns = (int)indices->dim[0], ahead = indices->ndim - 1, ndim = ahead + array->ndim - columns;
    if (ndim > MXC_MAX_NDIM)
        return mxc_sig_fail(sig, "the slices that indices select would have %d axes, expected at most %d", ndim,
                            MXC_MAX_NDIM);
    shape = mxci_shape_axes(ndim); /* rows from indices and array */
    for (int i = 0; i < ndim; i++)
        shape.dim[i] = i < ahead ? indices->dim[i + 1] : array->dim[i - ahead + columns];
    MXC_TRY(mxc_sig_set_shape(sig, rows_slot, &shape));
    shape = mxci_shape_axes(array->ndim); /* array and indices from rows */
    for (int i = columns; i < array->ndim; i++)
        shape.dim[i] = mxci_sig_shape(sig, rows_slot)->dim[i - columns + ahead];
    MXC_TRY(mxc_sig_set_shape(sig, array_slot, &shape));
    shape = *indices;
    for (int i = 0; i < ahead; i++)
        shape.dim[i + 1] = mxci_sig_shape(sig, rows_slot)->dim[i];
    return mxc_sig_set_shape(sig, index_slot, &shape);
}

/* ---- both -------------------------------------------------------------------------------------------------------- */

static mxc_status check_positions(const mxc_op_call *call, const mxc_shape *array, int index_slot) {
    const mxc_shape *indices = &call->in[index_slot].shape;
    int64_t n = mxci_shape_count(indices, 1, indices->ndim);
    for (int i = 0; i < indices->dim[0]; i++)
        MXC_TRY(mxci_check_indices(call, index_slot, i * n, n, -array->dim[i], array->dim[i]));
    return MXC_OK;
}

static mxc_status gather_nd_take(const mxc_op_call *call, mxc_req req, const mxc_tensor *rows,
                                 const mxc_tensor *array) {
    mxci_rows index = mxci_rows_nd(&array->shape, &call->in[INDICES]);
    mxci_rows_take(call->run, req, rows, &index, array);
    return MXC_OK;
}

static mxc_status gather_nd_add(const mxc_op_call *call, mxc_req req, const mxc_tensor *rows, const mxc_tensor *array) {
    mxci_rows index = mxci_rows_nd(&array->shape, &call->in[INDICES]);
    mxci_rows_add(call->run, req, array, &index, rows, call->temp);
    return MXC_OK;
}

/* ---- gather_nd --------------------------------------------------------------------------------------------------- */

static mxc_status gather_infer_shape(mxc_op_sig *sig) {
    return gather_nd_infer(sig, DATA, MXC_SLOT_OUT(0), INDICES);
}

static size_t gather_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    return pass == MXC_BACKWARD ? mxci_rows_temp(&sig->in_shape[DATA], sig->in_type[DATA]) : 0;
}

static mxc_status gather_forward(const mxc_op_call *call) {
    MXC_TRY(check_positions(call, &call->in[DATA].shape, INDICES));
    return gather_nd_take(call, call->req[0], &call->out[0], &call->in[DATA]);
}

static mxc_status gather_backward(const mxc_op_call *call) {
    mxci_assign_zero_gradient(call, INDICES);
    return gather_nd_add(call, call->req[DATA], &call->out_grad[0], &call->in_grad[DATA]);
}

const mxc_op_def mxci_op_gather_nd = {
    .size = sizeof(mxc_op_def),
    .name = "gather_nd",
    .args = "data,indices",
    .doc = "out[y...] = data[indices[0,y...], ..., indices[M-1,y...]]; data (X1,...), indices (M,Y...), "
           "out (Y...,XM+1,...)",
    .infer_shape = gather_infer_shape,
    .infer_type = mxci_rows_infer_type,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1, .in = 1 << INDICES},
    .temp_bytes = gather_temp_bytes,
    .forward = {[MXC_CPU] = gather_forward},
    .backward = {[MXC_CPU] = gather_backward},
};

/* ---- scatter_nd -------------------------------------------------------------------------------------------------- */

typedef struct scatter_params {
    mxc_tuple shape;
} scatter_params;

static const mxc_param scatter_schema[] = {
    {MXC_PARAM_FIELD(scatter_params, shape), .name = "shape", .type = MXC_PARAM_TUPLE, .bounded = 1, .minimum = 0,
     .maximum = 9e15, .doc = "Shape of out."},
    MXC_PARAM_END,
};

/* Out has the shape of the parameter. */
static mxc_status set_out_shape(mxc_op_sig *sig) {
    const scatter_params *p = sig->params;
    mxc_shape out;
    if (mxc_shape_set(&out, p->shape.n, p->shape.value) != MXC_OK)
        return mxc_sig_fail(sig, "shape has %d axes or too many elements, expected at most %d axes", (int)p->shape.n,
                            MXC_MAX_NDIM);
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

static mxc_status scatter_infer_shape(mxc_op_sig *sig) {
    MXC_TRY(set_out_shape(sig));
    return gather_nd_infer(sig, MXC_SLOT_OUT(0), DATA, INDICES);
}

static size_t scatter_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    return pass == MXC_FORWARD ? mxci_rows_temp(&sig->out_shape[0], sig->out_type[0]) : 0;
}

static mxc_status scatter_forward(const mxc_op_call *call) {
    MXC_TRY(check_positions(call, &call->out[0].shape, INDICES));
    return gather_nd_add(call, call->req[0], &call->in[DATA], &call->out[0]);
}

static mxc_status scatter_backward(const mxc_op_call *call) {
    mxci_assign_zero_gradient(call, INDICES);
    return gather_nd_take(call, call->req[DATA], &call->in_grad[DATA], &call->out_grad[0]);
}

const mxc_op_def mxci_op_scatter_nd = {
    .size = sizeof(mxc_op_def),
    .name = "scatter_nd",
    .args = "data,indices",
    .doc = "out (X1,...) = 0, then out[indices[0,y...], ..., indices[M-1,y...]] += data[y...]; data (Y...,XM+1,...), "
           "indices (M,Y...); the values of repeated indices are added",
    .params = scatter_schema,
    .param_size = sizeof(scatter_params),
    .infer_shape = scatter_infer_shape,
    .infer_type = mxci_rows_infer_type,
    .dtypes = MXC_DTYPES_NUMBER,
    .needs = {.out_grad = 1, .in = 1 << INDICES},
    .temp_bytes = scatter_temp_bytes,
    .forward = {[MXC_CPU] = scatter_forward},
    .backward = {[MXC_CPU] = scatter_backward},
};

/* ---- _scatter_set_nd --------------------------------------------------------------------------------------------- */

enum { LHS, RHS, SET_INDICES };

static mxc_status set_infer_shape(mxc_op_sig *sig) {
    MXC_TRY(set_out_shape(sig));
    MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){LHS, MXC_SLOT_OUT(0)}));
    return gather_nd_infer(sig, LHS, RHS, SET_INDICES);
}

/* Indices may have any dtype, that of the others where it is not known. */
static mxc_status set_infer_type(mxc_op_sig *sig) {
    MXC_TRY(mxci_sig_same_type(sig, 3, (int[]){LHS, RHS, MXC_SLOT_OUT(0)}));
    return sig->in_type[SET_INDICES] == MXC_DTYPE_UNKNOWN ? mxc_sig_set_type(sig, SET_INDICES, sig->in_type[LHS])
                                                          : MXC_OK;
}

static size_t set_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    const mxc_shape *array = &sig->in_shape[LHS];
    (void)pass;
    return mxci_rows_replace_temp(mxci_shape_count(array, 0, (int)sig->in_shape[SET_INDICES].dim[0]));
}

static mxc_status set_forward(const mxc_op_call *call) {
    const mxc_tensor *lhs = &call->in[LHS];
    mxci_rows index = mxci_rows_nd(&lhs->shape, &call->in[SET_INDICES]);
    MXC_TRY(check_positions(call, &lhs->shape, SET_INDICES));
    mxci_rows_replace(call->run, call->req[0], &call->out[0], lhs, &index, &call->in[RHS], call->temp);
    return MXC_OK;
}

const mxc_op_def mxci_op_scatter_set_nd = {
    .size = sizeof(mxc_op_def),
    .name = "_scatter_set_nd",
    .args = "lhs,rhs,indices",
    .doc = "out = lhs (X1,...), then out[indices[0,y...], ..., indices[M-1,y...]] = rhs[y...]; rhs (Y...,XM+1,...), "
           "indices (M,Y...); the last of equal indices counts",
    .params = scatter_schema,
    .param_size = sizeof(scatter_params),
    .infer_shape = set_infer_shape,
    .infer_type = set_infer_type,
    .dtypes = MXC_DTYPES_ALL,
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(LHS), 0}, MXC_INPLACE_END},
    .temp_bytes = set_temp_bytes,
    .forward = {[MXC_CPU] = set_forward},
};
