/* SPDX-License-Identifier: Apache-2.0 */
/* take: out = the rows of a along an axis that indices select. a (outer..., size, inner...), indices (any shape), out
 * (outer..., indices' shape..., inner...). indices may have another dtype than a and have no gradient; a's is the sum
 * of out's rows that each of its rows was used for. */
#include "operator/index/indexing.h"
#include "operator/index/rows.h"

typedef mxci_take_params take_params;

enum { A, INDICES };

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(take_params, axis), .name = "axis", .type = MXC_PARAM_INT, .initial = "0",
     .doc = "Axis of a that is indexed. Negative values count from the end."},
    {MXC_PARAM_FIELD(take_params, mode), .name = "mode", .type = MXC_PARAM_ENUM, .initial = "clip",
     .choices = "raise,wrap,clip",
     .doc = "How indices out of range are treated: raise reports an error, wrap takes them modulo the size of the "
            "axis, clip takes the nearest valid index."},
    MXC_PARAM_END,
};

static mxc_status take_infer_shape(mxc_op_sig *sig) {
    const mxc_shape *in = sig->in_shape;
    mxc_shape a, indices, out;
    int axis, ndim = in[A].ndim - 1 + in[INDICES].ndim;
    if (in[A].ndim < 0)
        return MXC_OK;
    MXC_TRY(mxci_sig_axis(sig, ((const take_params *)sig->params)->axis, in[A].ndim, &axis));
    MXC_TRY(mxci_sig_check_axis(sig, A, axis));
    if (in[INDICES].ndim < 0)
        return MXC_OK;
    if (ndim > MXC_MAX_NDIM)
        return mxc_sig_fail(sig, "out would have %d axes, expected at most %d", ndim, MXC_MAX_NDIM);
    out = mxci_shape_axes(ndim); /* from a and indices */
    for (int i = 0; i < ndim; i++)
        out.dim[i] = i < axis                      ? in[A].dim[i]
                     : i < axis + in[INDICES].ndim ? in[INDICES].dim[i - axis]
                                                   : in[A].dim[i - in[INDICES].ndim + 1];
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
    a = mxci_shape_axes(in[A].ndim); /* and back */
    indices = mxci_shape_axes(in[INDICES].ndim);
    for (int i = 0; i < ndim; i++)
        if (i < axis)
            a.dim[i] = sig->out_shape[0].dim[i];
        else if (i < axis + indices.ndim)
            indices.dim[i - axis] = sig->out_shape[0].dim[i];
        else
            a.dim[i - indices.ndim + 1] = sig->out_shape[0].dim[i];
    MXC_TRY(mxc_sig_set_shape(sig, A, &a));
    return mxc_sig_set_shape(sig, INDICES, &indices);
}

static mxci_rows take_rows_of(const mxc_op_call *call) {
    const take_params *p = call->params;
    const mxc_shape *a = &call->in[A].shape;
    return mxci_rows_along(a, (int)(p->axis < 0 ? p->axis + a->ndim : p->axis), &call->in[INDICES],
                           p->mode == MXCI_TAKE_WRAP ? MXCI_INDEX_WRAP : MXCI_INDEX_CLIP);
}

static mxc_status take_forward(const mxc_op_call *call) {
    mxci_rows rows = take_rows_of(call);
    if (((const take_params *)call->params)->mode == MXCI_TAKE_RAISE)
        MXC_TRY(mxci_check_indices(call, INDICES, 0, rows.count, 0, rows.size));
    mxci_rows_take(call->run, call->req[0], &call->out[0], &rows, &call->in[A]);
    return MXC_OK;
}

/* wrap takes any index by intent. */
static mxc_status take_check_values(const mxc_op_call *call) {
    mxci_rows rows = take_rows_of(call);
    return rows.mode == MXCI_INDEX_WRAP ? MXC_OK : mxci_check_indices(call, INDICES, 0, rows.count, 0, rows.size);
}

static size_t take_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    return pass == MXC_BACKWARD ? mxci_rows_temp(&sig->in_shape[A], sig->in_type[A]) : 0;
}

static mxc_status take_backward(const mxc_op_call *call) {
    mxci_rows rows = take_rows_of(call);
    mxci_assign_zero_gradient(call, INDICES);
    mxci_rows_add(call->run, call->req[A], &call->in_grad[A], &rows, &call->out_grad[0], call->temp);
    return MXC_OK;
}

const mxc_op_def mxci_op_take = {
    .size = sizeof(mxc_op_def),
    .name = "take",
    .doc = "out = the slices of a along axis that indices select; the axis is replaced by the axes of indices",
    .params = schema,
    .param_size = sizeof(take_params),
    .args = "a,indices",
    .infer_shape = take_infer_shape,
    .infer_type = mxci_rows_infer_type,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1, .in = 1 << INDICES},
    .temp_bytes = take_temp_bytes,
    .check_values = take_check_values,
    .forward = {[MXC_CPU] = take_forward},
    .backward = {[MXC_CPU] = take_backward},
};
