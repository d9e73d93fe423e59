/* SPDX-License-Identifier: Apache-2.0 */
/* pick: one element of each row of data along an axis, chosen by index; out is data's shape without the axis (or with
 * size 1 there). index has out's shape, with or without the axis. batch_take: the same for axis 1 of a matrix, where an
 * index outside is an error. index may have another dtype than data and has no gradient. */
#include "operator/index/indexing.h"
#include "operator/index/rows.h"

typedef mxci_pick_params pick_params;

enum { DATA, INDEX };

/* ---- pick -------------------------------------------------------------------------------------------------------- */

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(pick_params, axis), .name = "axis", .type = MXC_PARAM_INT, .initial = "-1",
     .doc = "Axis along which elements are picked. Negative values count from the end."},
    {MXC_PARAM_FIELD(pick_params, keepdims), .name = "keepdims", .type = MXC_PARAM_BOOL, .initial = "false",
     .doc = "Keep the axis with size 1."},
    {MXC_PARAM_FIELD(pick_params, mode), .name = "mode", .type = MXC_PARAM_ENUM, .initial = "clip",
     .choices = "clip,wrap",
     .doc = "How indices out of range are treated: clip takes the nearest valid index, wrap takes them modulo the size "
            "of the axis."},
    MXC_PARAM_END,
};

/* data's shape where the axis is 1, or left out. */
static mxc_shape without_axis(const mxc_shape *data, int axis, int keep) {
    mxc_shape out = mxci_shape_axes(data->ndim - !keep);
    for (int i = 0, k = 0; i < data->ndim; i++)
        if (i != axis || keep)
            out.dim[k++] = i == axis ? 1 : data->dim[i];
    return out;
}

/* The other axes of data, from a shape that has the axis or lacks it. */
static mxc_status infer_data(mxc_op_sig *sig, const mxc_shape *from, int axis) {
    mxc_shape data = mxci_shape_axes(sig->in_shape[DATA].ndim);
    int keep = from->ndim == data.ndim;
    for (int i = 0; i < data.ndim && from->ndim >= 0; i++)
        if (i != axis)
            data.dim[i] = from->dim[keep || i < axis ? i : i - 1];
    return mxc_sig_set_shape(sig, DATA, &data);
}

static mxc_status infer_shapes(mxc_op_sig *sig, int64_t given_axis, int keepdims) {
    const mxc_shape *data = &sig->in_shape[DATA], *index = &sig->in_shape[INDEX], *out = &sig->out_shape[0];
    mxc_shape shape;
    int axis;
    if (data->ndim < 0)
        return MXC_OK;
    MXC_TRY(mxci_sig_axis(sig, given_axis, data->ndim, &axis));
    MXC_TRY(mxci_sig_check_axis(sig, DATA, axis));
    for (int round = 0; round < 2; round++) { /* the second round passes on to index what out determines of data */
        shape = without_axis(data, axis, keepdims);
        if (shape.ndim == 0)
            shape = mxci_shape_of(1, (int64_t[]){1});
        MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &shape));
        if (data->ndim > 1 || keepdims)
            MXC_TRY(infer_data(sig, out, axis));
        shape = without_axis(data, axis, index->ndim == data->ndim || data->ndim == 1);
        MXC_TRY(mxc_sig_set_shape(sig, INDEX, &shape));
        MXC_TRY(infer_data(sig, index, axis));
    }
    return MXC_OK;
}

static mxc_status pick_infer_shape(mxc_op_sig *sig) {
    const pick_params *p = sig->params;
    return infer_shapes(sig, p->axis, p->keepdims);
}

static mxci_rows pick_rows_of(const mxc_op_call *call) {
    const pick_params *p = call->params;
    const mxc_shape *data = &call->in[DATA].shape;
    return mxci_rows_picked(data, (int)(p->axis < 0 ? p->axis + data->ndim : p->axis), &call->in[INDEX],
                            p->mode ? MXCI_INDEX_WRAP : MXCI_INDEX_CLIP);
}

static mxc_status pick_forward(const mxc_op_call *call) {
    mxci_rows rows = pick_rows_of(call);
    mxci_rows_take(call->run, call->req[0], &call->out[0], &rows, &call->in[DATA]);
    return MXC_OK;
}

/* wrap takes any index by intent. */
static mxc_status pick_check_values(const mxc_op_call *call) {
    mxci_rows rows = pick_rows_of(call);
    return rows.mode == MXCI_INDEX_WRAP ? MXC_OK : mxci_check_labels(call, INDEX, rows.size, NULL);
}

static size_t pick_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    return pass == MXC_BACKWARD ? mxci_rows_temp(&sig->in_shape[DATA], sig->in_type[DATA]) : 0;
}

static mxc_status pick_gradient(const mxc_op_call *call, const mxci_rows *rows) {
    mxci_assign_zero_gradient(call, INDEX);
    mxci_rows_add(call->run, call->req[DATA], &call->in_grad[DATA], rows, &call->out_grad[0], call->temp);
    return MXC_OK;
}

static mxc_status pick_backward(const mxc_op_call *call) {
    mxci_rows rows = pick_rows_of(call);
    return pick_gradient(call, &rows);
}

const mxc_op_def mxci_op_pick = {
    .size = sizeof(mxc_op_def),
    .name = "pick",
    .aliases = "choose_element_0index",
    .doc = "out = the element of each row of data along axis that index selects",
    .params = schema,
    .param_size = sizeof(pick_params),
    .args = "data,index",
    .infer_shape = pick_infer_shape,
    .infer_type = mxci_rows_infer_type,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1, .in = 1 << INDEX},
    .temp_bytes = pick_temp_bytes,
    .check_values = pick_check_values,
    .forward = {[MXC_CPU] = pick_forward},
    .backward = {[MXC_CPU] = pick_backward},
};

/* ---- batch_take -------------------------------------------------------------------------------------------------- */

static mxc_status batch_infer_shape(mxc_op_sig *sig) {
    mxc_shape a = mxci_shape_axes(2);
    MXC_TRY(mxc_sig_set_shape(sig, DATA, &a));
    return infer_shapes(sig, 1, 0);
}

static mxc_status batch_forward(const mxc_op_call *call) {
    mxci_rows rows = mxci_rows_picked(&call->in[DATA].shape, 1, &call->in[INDEX], MXCI_INDEX_CLIP);
    MXC_TRY(mxci_check_labels(call, INDEX, rows.size, NULL));
    mxci_rows_take(call->run, call->req[0], &call->out[0], &rows, &call->in[DATA]);
    return MXC_OK;
}

static mxc_status batch_backward(const mxc_op_call *call) {
    mxci_rows rows = mxci_rows_picked(&call->in[DATA].shape, 1, &call->in[INDEX], MXCI_INDEX_CLIP);
    return pick_gradient(call, &rows);
}

const mxc_op_def mxci_op_batch_take = {
    .size = sizeof(mxc_op_def),
    .name = "batch_take",
    .doc = "a (N,K), indices and out (N): out[i] = a[i,indices[i]]",
    .args = "a,indices",
    .infer_shape = batch_infer_shape,
    .infer_type = mxci_rows_infer_type,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1, .in = 1 << INDEX},
    .temp_bytes = pick_temp_bytes,
    .forward = {[MXC_CPU] = batch_forward},
    .backward = {[MXC_CPU] = batch_backward},
};
