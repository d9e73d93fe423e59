/* SPDX-License-Identifier: Apache-2.0 */
/* _contrib_boolean_mask: the rows of data (n,...) at which index (n) is not 0: out (m,...). How many there are is known
 * when index is computed only, so calls wait for it, and no executor is bound. */
#include "operator/index/rows.h"

#include "math/tile_kernels.h"

enum { DATA, INDEX };

typedef struct mask_params {
    int64_t axis;
} mask_params;

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(mask_params, axis), .name = "axis", .type = MXC_PARAM_INT, .initial = "0",
     .doc = "Axis of the rows. Only 0."},
    MXC_PARAM_END,
};

static mxc_status boolean_mask_check(void *params) {
    const int64_t axis = ((const mask_params *)params)->axis;
    return axis == 0 ? MXC_OK
                     : MXC_FAIL(MXC_EUNSUPPORTED, "_contrib_boolean_mask: axis=%lld is not supported, only axis=0",
                                (long long)axis);
}

/* Data and index have the same rows, data and out the same other axes. */
static mxc_status boolean_mask_infer_shape(mxc_op_sig *sig) {
    const mxc_shape *data = &sig->in_shape[DATA];
    mxc_shape shape = mxci_shape_of(1, (int64_t[]){data->ndim > 0 ? data->dim[0] : -1});
    if (data->ndim == 0)
        return mxc_sig_fail(sig, "argument 'data' has no axes, expected at least 1");
    MXC_TRY(mxc_sig_set_shape(sig, INDEX, &shape));
    if (data->ndim < 0)
        return MXC_OK;
    shape = *data;
    shape.dim[0] = -1;
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &shape));
    shape = sig->out_shape[0];
    shape.dim[0] = sig->in_shape[INDEX].dim[0];
    return mxc_sig_set_shape(sig, DATA, &shape);
}

/* The first row from `row` on whose being selected is as wanted; the number of rows if there is none. */
static int64_t find_row(const mxc_tensor *index, int64_t row, int selected) {
    const int64_t n = mxci_tensor_size(index);
    for (double value; row < n; row++) {
        mxci_convert(index->dtype, mxci_at(index, row), MXC_F64, &value, 1);
        if ((value != 0) == selected)
            break;
    }
    return row;
}

static mxc_status boolean_mask_count(mxc_op_sig *sig, const mxc_tensor *in) {
    const mxc_tensor *index = &in[INDEX];
    mxc_shape out = sig->out_shape[0];
    out.dim[0] = 0;
    for (int64_t end, row = find_row(index, 0, 1); row < mxci_tensor_size(index); row = find_row(index, end, 1)) {
        end = find_row(index, row, 0);
        out.dim[0] += end - row;
    }
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

static mxc_status fail_changed(const mxc_tensor *rows) {
    return MXC_FAIL(MXC_EINVAL,
                    "_contrib_boolean_mask: argument 'index': no longer selects %lld rows, as when the call was made",
                    (long long)rows->shape.dim[0]);
}

/* Copies runs of selected rows between the whole array and the selected rows, to either side. */
static mxc_status move_rows(const mxc_op_call *call, const mxc_tensor *whole, const mxc_tensor *rows, int to_rows) {
    const mxc_tensor *index = &call->in[INDEX];
    const int64_t length = mxci_shape_count(&whole->shape, 1, whole->shape.ndim);
    const mxc_dtype dtype = whole->dtype;
    int64_t at = 0;
    for (int64_t end, row = find_row(index, 0, 1); row < mxci_tensor_size(index); row = find_row(index, end, 1)) {
        end = find_row(index, row, 0);
        if (at + end - row > rows->shape.dim[0])
            return fail_changed(rows);
        void *inside = mxci_at(whole, row * length), *dense = mxci_at(rows, at * length);
        mxci_assign_row(call->req[0], dtype, to_rows ? dense : inside, to_rows ? inside : dense, (end - row) * length);
        at += end - row;
    }
    return at == rows->shape.dim[0] ? MXC_OK : fail_changed(rows);
}

static mxc_status boolean_mask_forward(const mxc_op_call *call) {
    return call->req[0] == MXC_REQ_NULL ? MXC_OK : move_rows(call, &call->in[DATA], &call->out[0], 1);
}

/* The gradient of rows that are not selected is 0. */
static mxc_status boolean_mask_backward(const mxc_op_call *call) {
    mxci_assign_zero_gradient(call, DATA);
    mxci_assign_zero_gradient(call, INDEX);
    return call->req[DATA] == MXC_REQ_NULL ? MXC_OK : move_rows(call, &call->in_grad[DATA], &call->out_grad[0], 0);
}

const mxc_op_def mxci_op_boolean_mask = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_boolean_mask",
    .args = "data,index",
    .doc =
        "out (m,...) = the rows of data (n,...) at which index (n) is not 0. On arrays and in cached operators, since "
        "m is known when index is",
    .flags = MXC_OP_ARRAY_ONLY,
    .params = schema,
    .param_size = sizeof(mask_params),
    .params_check = boolean_mask_check,
    .infer_shape = boolean_mask_infer_shape,
    .infer_type = mxci_rows_infer_type,
    .infer_from_data = boolean_mask_count,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1, .in = 1 << INDEX},
    .forward = {[MXC_CPU] = boolean_mask_forward},
    .backward = {[MXC_CPU] = boolean_mask_backward},
};
