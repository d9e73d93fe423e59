/* SPDX-License-Identifier: Apache-2.0 */
/* gather_nd, scatter_nd: elements or slices of an array by columns of indices. indices (M,Y...) holds, for each of
 * Y..., a position along each of the first M axes of (X1,...,XM,...); negative ones count from the end, others outside
 * are an error.
 *
 *   gather_nd   out (Y...,XM+1,...) = data (X1,...) at indices; gradient: added up where elements were used
 *   scatter_nd  out of the given shape = 0, and data (Y...,XM+1,...) added at indices; gradient: as gather_nd's out */
#include "operator/index/rows.h"

enum { DATA, INDICES };

/* ---- inference --------------------------------------------------------------------------------------------------- */

/* array_slot: the array that is indexed, X1,...; rows_slot: the slices, Y...,XM+1,... Each shape is set as far as it
 * follows from the others. */
static mxc_status gather_nd_infer(mxc_op_sig *sig, int array_slot, int rows_slot) {
    const mxc_shape *array = mxci_sig_shape(sig, array_slot), *indices = &sig->in_shape[INDICES];
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
    return mxc_sig_set_shape(sig, INDICES, &shape);
}

/* ---- both -------------------------------------------------------------------------------------------------------- */

static mxc_status check_positions(const mxc_op_call *call, const mxc_shape *array) {
    const mxc_shape *indices = &call->in[INDICES].shape;
    int64_t n = mxci_shape_count(indices, 1, indices->ndim);
    for (int i = 0; i < indices->dim[0]; i++)
        MXC_TRY(mxci_check_indices(call, INDICES, i * n, n, -array->dim[i], array->dim[i]));
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
    return gather_nd_infer(sig, DATA, MXC_SLOT_OUT(0));
}

static size_t gather_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    return pass == MXC_BACKWARD ? mxci_rows_temp(&sig->in_shape[DATA], sig->in_type[DATA]) : 0;
}

static mxc_status gather_forward(const mxc_op_call *call) {
    MXC_TRY(check_positions(call, &call->in[DATA].shape));
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

static mxc_status scatter_infer_shape(mxc_op_sig *sig) {
    const scatter_params *p = sig->params;
    mxc_shape out;
    if (mxc_shape_set(&out, p->shape.n, p->shape.value) != MXC_OK)
        return mxc_sig_fail(sig, "shape has %d axes or too many elements, expected at most %d axes", (int)p->shape.n,
                            MXC_MAX_NDIM);
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
    return gather_nd_infer(sig, MXC_SLOT_OUT(0), DATA);
}

static size_t scatter_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    return pass == MXC_FORWARD ? mxci_rows_temp(&sig->out_shape[0], sig->out_type[0]) : 0;
}

static mxc_status scatter_forward(const mxc_op_call *call) {
    MXC_TRY(check_positions(call, &call->out[0].shape));
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
