/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of elements. tile: the whole array reps[i] times along each axis i, axes aligned at the last. repeat: each row
 * of an axis (each element where there is no axis) repeats times in succession. The gradient sums over the copies.
 */
#include "math/map.h"
#include "operator/tensor/view_ops.h"

/* Gradient: sums the elements of out's gradient that are copies of one element of data. */
static mxc_status add_up(const mxc_op_call *call, mxci_view_fn view_of) {
    mxci_view view = view_of(call->params, &call->in[0].shape, &call->out[0].shape);
    return mxci_sum_to_strided(call->run, call->req[0], &call->in_grad[0], &view.strides, &call->out_grad[0],
                               call->temp);
}

/* Backward sums by chunks, whose partial sums are in temporary memory (math/map.h). */
static size_t tile_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    return pass == MXC_BACKWARD ? mxci_sum_bytes(mxc_shape_size(&sig->in_shape[0]), sig->parallelism) : 0;
}

/* ---- tile -------------------------------------------------------------------------------------------------------- */

typedef mxci_tile_params tile_params;

static const mxc_param tile_schema[] = {
    {MXC_PARAM_FIELD(tile_params, reps), .name = "reps", .type = MXC_PARAM_TUPLE, .bounded = 1, .minimum = 0,
     .maximum = 9e15,
     .doc =
         "Number of copies along each axis. The shorter of reps and the shape of data is extended by 1 on the left."},
    MXC_PARAM_END,
};

static mxc_status tile_infer_shape(mxc_op_sig *sig) {
    const mxc_tuple *reps = &((const tile_params *)sig->params)->reps;
    const mxc_shape *data = &sig->in_shape[0];
    int ndim = data->ndim > reps->n ? data->ndim : reps->n;
    mxc_shape out;
    if (data->ndim < 0)
        return MXC_OK;
    if (ndim > MXC_MAX_NDIM)
        return mxc_sig_fail(sig, "reps names %d axes, expected at most %d", ndim, MXC_MAX_NDIM);
    out = mxci_shape_axes(ndim);
    for (int i = 0; i < ndim; i++)
        out.dim[i] = mxci_dim_mul(mxci_tile_size(data, i, ndim), mxci_tile_reps(reps, i, ndim));
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

static mxc_status tile_forward(const mxc_op_call *call) {
    return mxci_view_take(call, mxci_view_tile);
}

static mxc_status tile_backward(const mxc_op_call *call) {
    return add_up(call, mxci_view_tile);
}

const mxc_op_def mxci_op_tile = {
    .size = sizeof(mxc_op_def),
    .name = "tile",
    .doc = "out = data repeated reps[i] times along each axis i",
    .params = tile_schema,
    .param_size = sizeof(tile_params),
    .infer_shape = tile_infer_shape,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .temp_bytes = tile_temp_bytes,
    .forward = {[MXC_CPU] = tile_forward},
    .backward = {[MXC_CPU] = tile_backward},
};

/* ---- repeat ------------------------------------------------------------------------------------------------------ */

typedef mxci_repeat_params repeat_params;

static const mxc_param repeat_schema[] = {
    {MXC_PARAM_FIELD(repeat_params, repeats), .name = "repeats", .type = MXC_PARAM_INT, .bounded = 1, .minimum = 0,
     .maximum = 9e15, .doc = "Number of copies of each element or slice."},
    {MXC_PARAM_FIELD(repeat_params, axis), .name = "axis", .type = MXC_PARAM_INT, .initial = "None", .optional = 1,
     .doc = "Axis along which slices are repeated. Negative values count from the end. None: the elements of flattened "
            "data are repeated."},
    MXC_PARAM_END,
};

static mxc_status repeat_infer_shape(mxc_op_sig *sig) {
    const repeat_params *p = sig->params;
    mxc_shape data = sig->in_shape[0], out = data;
    int axis = 0;
    if (data.ndim < 0)
        return MXC_OK;
    if (p->axis != MXC_PARAM_UNSET)
        MXC_TRY(mxci_sig_axis(sig, p->axis, data.ndim, &axis));
    else
        out = data = mxci_shape_of(1, (int64_t[]){mxc_shape_known(&data) ? mxc_shape_size(&data) : -1});
    out.dim[axis] = mxci_dim_mul(data.dim[axis], p->repeats);
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

static mxc_status repeat_forward(const mxc_op_call *call) {
    return mxci_view_take(call, mxci_view_repeat);
}

static mxc_status repeat_backward(const mxc_op_call *call) {
    return add_up(call, mxci_view_repeat);
}

const mxc_op_def mxci_op_repeat = {
    .size = sizeof(mxc_op_def),
    .name = "repeat",
    .doc = "out = each slice of data along axis, repeated",
    .params = repeat_schema,
    .param_size = sizeof(repeat_params),
    .infer_shape = repeat_infer_shape,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .temp_bytes = tile_temp_bytes,
    .forward = {[MXC_CPU] = repeat_forward},
    .backward = {[MXC_CPU] = repeat_backward},
};
