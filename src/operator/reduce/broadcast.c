/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Broadcasting of axes of size 1: broadcast_axis names axes and sizes, _broadcast one of them, broadcast_to the whole
 * shape (0: as in data), broadcast_like an array that has it. The gradient is the sum along the broadcast axes.
 */
#include "math/map.h"
#include "math/strided_copy.h"
#include "operator/index/rows.h"

/* ---- what both share --------------------------------------------------------------------------------------------- */

/* A strided copy with step 0 along the broadcast axes. */
static mxc_status broadcast_forward(const mxc_op_call *call) {
    mxci_strided strides;
    mxci_broadcast_strides(&call->in[0].shape, &call->out[0].shape, &strides);
    mxci_assign_from_strided(call->run, call->req[0], &call->out[0], &call->in[0], 0, &strides);
    return MXC_OK;
}

/* Each part's sums of the gradient, in double. */
static size_t broadcast_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    return pass == MXC_BACKWARD ? mxci_sum_bytes(mxc_shape_size(&sig->in_shape[0]), sig->parallelism) : 0;
}

static mxc_status broadcast_backward(const mxc_op_call *call) {
    const mxc_tensor *grad = &call->in_grad[0], *g = &call->out_grad[0];
    mxci_strided strides;
    mxci_broadcast_strides(&grad->shape, &g->shape, &strides);
    if (mxci_is_broadcast(&grad->shape, &g->shape))
        return mxci_sum_to_strided(call->run, call->req[0], grad, &strides, g, call->temp);
    mxci_assign(call->run, call->req[0], grad, g);
    return MXC_OK;
}

/* One axis of out, given the argument's size and the wanted one (-1: unknown). */
static mxc_status broadcast_dim(const mxc_op_sig *sig, int axis, int64_t wanted, int64_t *dim) {
    char name[64];
    if (*dim != 1 && *dim != -1 && wanted != -1 && wanted != *dim)
        return mxc_sig_fail(sig, "argument '%s': axis %d has size %lld, expected 1 or %lld",
                            mxc_op_arg_name(sig->op, 0, name, sizeof name), axis, (long long)*dim, (long long)wanted);
    *dim = *dim == 1 || *dim == -1 ? wanted : *dim;
    return MXC_OK;
}

/* The same, where a size of 0 keeps the argument's. */
static mxc_status broadcast_given_dim(const mxc_op_sig *sig, int axis, int64_t wanted, int64_t *dim) {
    return wanted == 0 ? MXC_OK : broadcast_dim(sig, axis, wanted, dim);
}

/* ---- broadcast_axis ---------------------------------------------------------------------------------------------- */

typedef struct axis_params {
    mxc_tuple axis, size;
} axis_params;

static const mxc_param axis_schema[] = {
    {MXC_PARAM_FIELD(axis_params, axis), .name = "axis", .type = MXC_PARAM_TUPLE, .initial = "()",
     .doc = "Axes to broadcast, each of size 1."},
    {MXC_PARAM_FIELD(axis_params, size), .name = "size", .type = MXC_PARAM_TUPLE, .initial = "()", .bounded = 1,
     .minimum = 0, .maximum = 9e15, .doc = "Size of each of these axes in out."},
    MXC_PARAM_END,
};

static mxc_status check_axis_params(void *params) {
    const axis_params *p = params;
    if (p->axis.n != p->size.n)
        return MXC_FAIL(MXC_EINVAL, "broadcast_axis: axis names %d axes and size %d sizes, expected as many",
                        (int)p->axis.n, (int)p->size.n);
    return MXC_OK;
}

/* Only from data to out: an axis of out may be data's or broadcast from 1. */
static mxc_status infer_axis_shape(mxc_op_sig *sig) {
    const axis_params *p = sig->params;
    mxc_shape out = sig->in_shape[0];
    int axis;
    if (out.ndim < 0)
        return MXC_OK;
    for (int i = 0; i < p->axis.n; i++) {
        MXC_TRY(mxci_sig_axis(sig, p->axis.value[i], out.ndim, &axis));
        MXC_TRY(broadcast_given_dim(sig, axis, p->size.value[i], &out.dim[axis]));
    }
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

const mxc_op_def mxci_op_broadcast_axis = {
    .size = sizeof(mxc_op_def),
    .name = "broadcast_axis",
    .aliases = "broadcast_axes",
    .doc = "out = data broadcast along axis to size",
    .params = axis_schema,
    .param_size = sizeof(axis_params),
    .params_check = check_axis_params,
    .infer_shape = infer_axis_shape,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .temp_bytes = broadcast_temp_bytes,
    .forward = {[MXC_CPU] = broadcast_forward},
    .backward = {[MXC_CPU] = broadcast_backward},
};

/* ---- broadcast_to ------------------------------------------------------------------------------------------------ */

typedef struct to_params {
    mxc_tuple shape;
} to_params;

static const mxc_param to_schema[] = {
    {MXC_PARAM_FIELD(to_params, shape), .name = "shape", .type = MXC_PARAM_TUPLE, .initial = "()", .bounded = 1,
     .minimum = 0, .maximum = 9e15, .doc = "Shape of out, with as many axes as data. 0 keeps the size of data's axis."},
    MXC_PARAM_END,
};

static mxc_status infer_to_shape(mxc_op_sig *sig) {
    const to_params *p = sig->params;
    mxc_shape out = sig->in_shape[0];
    if (out.ndim < 0)
        return MXC_OK;
    if (p->shape.n != out.ndim)
        return mxc_sig_fail(sig, "shape has %d axes, expected the %d of data", (int)p->shape.n, out.ndim);
    for (int i = 0; i < out.ndim; i++)
        MXC_TRY(broadcast_given_dim(sig, i, p->shape.value[i], &out.dim[i]));
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

const mxc_op_def mxci_op_broadcast_to = {
    .size = sizeof(mxc_op_def),
    .name = "broadcast_to",
    .doc = "out = data broadcast to shape",
    .params = to_schema,
    .param_size = sizeof(to_params),
    .infer_shape = infer_to_shape,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .temp_bytes = broadcast_temp_bytes,
    .forward = {[MXC_CPU] = broadcast_forward},
    .backward = {[MXC_CPU] = broadcast_backward},
};

/* ---- _broadcast -------------------------------------------------------------------------------------------------- */

typedef struct one_params {
    int64_t axis, size;
} one_params;

static const mxc_param one_schema[] = {
    {MXC_PARAM_FIELD(one_params, axis), .name = "axis", .type = MXC_PARAM_INT, .doc = "Axis to broadcast, of size 1."},
    {MXC_PARAM_FIELD(one_params, size), .name = "size", .type = MXC_PARAM_INT, .bounded = 1, .minimum = 0,
     .maximum = 9e15, .doc = "Size of this axis in out."},
    MXC_PARAM_END,
};

static mxc_status infer_one_shape(mxc_op_sig *sig) {
    const one_params *p = sig->params;
    mxc_shape out = sig->in_shape[0];
    int axis;
    if (out.ndim < 0)
        return MXC_OK;
    MXC_TRY(mxci_sig_axis(sig, p->axis, out.ndim, &axis));
    MXC_TRY(broadcast_dim(sig, axis, p->size, &out.dim[axis]));
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

const mxc_op_def mxci_op_broadcast_one = {
    .size = sizeof(mxc_op_def),
    .name = "_broadcast",
    .doc = "out = src broadcast along axis to size",
    .flags = MXC_OP_ARRAY_ONLY,
    .args = "src",
    .params = one_schema,
    .param_size = sizeof(one_params),
    .infer_shape = infer_one_shape,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .temp_bytes = broadcast_temp_bytes,
    .forward = {[MXC_CPU] = broadcast_forward},
    .backward = {[MXC_CPU] = broadcast_backward},
};

/* ---- broadcast_like ---------------------------------------------------------------------------------------------- */

typedef struct like_params {
    mxc_tuple lhs_axes, rhs_axes;
} like_params;

static const mxc_param like_schema[] = {
    {MXC_PARAM_FIELD(like_params, lhs_axes), .name = "lhs_axes", .type = MXC_PARAM_TUPLE, .initial = "None",
     .optional = 1, .doc = "Axes of lhs to broadcast. None: all."},
    {MXC_PARAM_FIELD(like_params, rhs_axes), .name = "rhs_axes", .type = MXC_PARAM_TUPLE, .initial = "None",
     .optional = 1, .doc = "Axes of rhs that give their sizes. None: all."},
    MXC_PARAM_END,
};

static mxc_status check_like_params(void *params) {
    const like_params *p = params;
    if (p->lhs_axes.n != p->rhs_axes.n || p->lhs_axes.n == 0)
        return MXC_FAIL(MXC_EINVAL, "broadcast_like: lhs_axes and rhs_axes must name as many axes, at least 1");
    return MXC_OK;
}

/* lhs takes the sizes of rhs: of all axes, or of those in lhs_axes, one by one. */
static mxc_status infer_like_shape(mxc_op_sig *sig) {
    const like_params *p = sig->params;
    const mxc_shape *rhs = &sig->in_shape[1];
    mxc_shape out = sig->in_shape[0];
    int from, to;
    if (out.ndim < 0 || rhs->ndim < 0)
        return MXC_OK;
    if (p->lhs_axes.n < 0 && out.ndim != rhs->ndim)
        return mxc_sig_fail(sig, "argument 'lhs' has %d axes, expected the %d of rhs", (int)out.ndim, (int)rhs->ndim);
    for (int i = 0; i < out.ndim && p->lhs_axes.n < 0; i++)
        MXC_TRY(broadcast_dim(sig, i, rhs->dim[i], &out.dim[i]));
    for (int i = 0; i < p->lhs_axes.n; i++) {
        MXC_TRY(mxci_sig_axis(sig, p->lhs_axes.value[i], out.ndim, &to));
        MXC_TRY(mxci_sig_axis(sig, p->rhs_axes.value[i], rhs->ndim, &from));
        MXC_TRY(broadcast_dim(sig, to, rhs->dim[from], &out.dim[to]));
    }
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

static mxc_status like_backward(const mxc_op_call *call) {
    mxci_assign_zero_gradient(call, 1);
    return call->req[0] == MXC_REQ_NULL ? MXC_OK : broadcast_backward(call);
}

const mxc_op_def mxci_op_broadcast_like = {
    .size = sizeof(mxc_op_def),
    .name = "broadcast_like",
    .args = "lhs,rhs",
    .doc = "out = lhs broadcast to the shape of rhs",
    .params = like_schema,
    .param_size = sizeof(like_params),
    .params_check = check_like_params,
    .infer_shape = infer_like_shape,
    .infer_type = mxci_rows_infer_type,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .temp_bytes = broadcast_temp_bytes,
    .forward = {[MXC_CPU] = broadcast_forward},
    .backward = {[MXC_CPU] = like_backward},
};
