/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of an array with a box in it replaced (NDArray's x[begin:end] = y): _slice_assign by rhs, which has the box's
 * shape, _crop_assign_scalar by a number. lhs's gradient is 0 in the box, rhs's is the box.
 */
#include <mxc/op.h>

#include "math/strided_copy.h"
#include "math/tile_kernels.h"
#include "operator/infer.h"
#include "operator/tensor/views.h"

typedef mxci_assign_params assign_params;

enum { LHS, RHS };

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* to = from, but in the box rhs, or value where there is no rhs. */
typedef struct assign_run {
    mxc_req req;
    const mxc_tensor *to, *from, *rhs;
    const void *value; /* MXCI_TILE times */
    int outer;         /* axes but the last */
    mxci_box_axis axis[MXC_MAX_NDIM];
    int64_t length; /* of a row: the last axis */
} assign_run;

/* The row of rhs that replaces a row of to; -1: the row is outside the box. */
static int64_t row_of_rhs(const assign_run *r, int64_t row) {
    int64_t inside = 0, step = 1;
    for (int i = r->outer - 1; i >= 0; i--) {
        int64_t dim = r->to->shape.dim[i], offset = row % dim - r->axis[i].begin, index = offset / r->axis[i].step;
        if (offset % r->axis[i].step || index < 0 || index >= r->axis[i].size)
            return -1;
        inside += index * step;
        step *= r->axis[i].size;
        row /= dim;
    }
    return inside;
}

/* n elements of to from element `to` on: rhs from element `rhs` on, or the scalar, of which `value` holds a tile. */
static void store_rhs(const assign_run *r, int64_t to, int64_t rhs, int64_t n) {
    if (r->rhs)
        mxci_assign_row(r->req, r->to->dtype, mxci_at(r->to, to), mxci_at(r->rhs, rhs), n);
    for (int64_t i = 0; i < n && !r->rhs; i += MXCI_TILE)
        mxci_assign_row(r->req, r->to->dtype, mxci_at(r->to, to + i), r->value, n - i < MXCI_TILE ? n - i : MXCI_TILE);
}

/* Elements begin..end-1 of to, outside the box: those of from. */
static void store_lhs(const assign_run *r, int64_t begin, int64_t end) {
    mxci_assign_row(r->req, r->to->dtype, mxci_at(r->to, begin), mxci_at(r->from, begin), end - begin);
}

/* One row: the box's elements from rhs, the others from lhs, in the order of memory. With step 1 the box is one run. */
static void assign_row(const assign_run *r, int64_t first, int64_t rhs) {
    mxci_box_axis axis = r->axis[r->outer];
    int64_t run = axis.step == 1 ? axis.size : 1, done = first;
    for (int64_t i = 0; i < axis.size; i += run) {
        int64_t k = axis.step > 0 ? i : axis.size - 1 - i, index = first + axis.begin + k * axis.step;
        store_lhs(r, done, index);
        store_rhs(r, index, rhs + k, run);
        done = index + run;
    }
    store_lhs(r, done, first + r->length);
}

/* Rows begin..end-1 of to: those outside the box are from's as they are. */
static void assign_range(void *arg, int64_t begin, int64_t end, int part) {
    const assign_run *r = arg;
    (void)part;
    for (int64_t row = begin; row < end; row++) {
        int64_t inside = row_of_rhs(r, row);
        if (inside < 0)
            store_lhs(r, row * r->length, (row + 1) * r->length);
        else
            assign_row(r, row * r->length, inside * r->axis[r->outer].size);
    }
}

/*
 * to = from with the box replaced, by rows of the last axis. A scalar is the axis of a single element. The value is
 * converted to the dtype once, as a tile, from where rows take it.
 */
static void assign(const mxc_op_call *call, mxc_req req, const mxc_tensor *to, const mxc_tensor *from,
                   const mxc_tensor *rhs, double value) {
    const mxc_shape *shape = &to->shape;
    mxci_bounds bounds = mxci_box_bounds(&((const assign_params *)call->params)->box);
    _Alignas(64) int64_t wide[MXCI_TILE], tile[MXCI_TILE];
    assign_run r = {.req = req, .to = to, .from = from, .rhs = rhs, .value = tile, .axis = {{0, 1, 1}}, .length = 1};
    if (req == MXC_REQ_NULL || mxc_shape_size(shape) == 0)
        return;
    for (int i = 0; i < shape->ndim; i++)
        r.axis[i] = mxci_box_axis_of(&bounds, i, shape->dim[i]);
    if (shape->ndim) {
        r.outer = shape->ndim - 1;
        r.length = shape->dim[r.outer];
    }
    mxci_fill_compute(mxci_compute_type(to->dtype), value, wide, MXCI_TILE);
    mxci_store(to->dtype, wide, tile, MXCI_TILE);
    mxc_parallel_for(call->run, mxc_shape_size(shape) / r.length, MXCI_GRAIN / r.length + 1, assign_range, &r);
}

/* ---- _slice_assign ----------------------------------------------------------------------------------------------- */

static const mxc_param assign_schema[] = {MXCI_BOX_PARAMS(assign_params, box), MXC_PARAM_END};

static mxc_status assign_check(void *params) {
    return mxci_box_check("_slice_assign", &((const assign_params *)params)->box);
}

/* lhs and out; they have the axes that bounds name. */
static mxc_status infer_whole(mxc_op_sig *sig) {
    MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){LHS, MXC_SLOT_OUT(0)}));
    return sig->in_shape[LHS].ndim < 0
               ? MXC_OK
               : mxci_box_check_axes(sig, &((const assign_params *)sig->params)->box, sig->in_shape[LHS].ndim);
}

static mxc_status assign_infer_shape(mxc_op_sig *sig) {
    mxci_bounds bounds = mxci_box_bounds(&((const assign_params *)sig->params)->box);
    mxc_shape box;
    MXC_TRY(infer_whole(sig));
    if (sig->in_shape[LHS].ndim < 0)
        return MXC_OK;
    box = mxci_box_shape(&bounds, &sig->in_shape[LHS]);
    return mxc_sig_set_shape(sig, RHS, &box);
}

static mxc_status assign_forward(const mxc_op_call *call) {
    assign(call, call->req[0], &call->out[0], &call->in[LHS], &call->in[RHS], 0);
    return MXC_OK;
}

/* rhs's gradient first: that of lhs may take the memory of out's. */
static mxc_status assign_backward(const mxc_op_call *call) {
    mxci_bounds bounds = mxci_box_bounds(&((const assign_params *)call->params)->box);
    const mxc_tensor *g = &call->out_grad[0];
    mxci_strided strides;
    int64_t first = mxci_box_strides(&bounds, &g->shape, &strides);
    mxci_assign_from_strided(call->run, call->req[RHS], &call->in_grad[RHS], g, first, &strides);
    assign(call, call->req[LHS], &call->in_grad[LHS], g, NULL, 0);
    return MXC_OK;
}

static const mxc_inplace forward_inplace[] = {{MXC_FROM_IN(LHS), 0}, MXC_INPLACE_END};
static const mxc_inplace backward_inplace[] = {{MXC_FROM_OUT_GRAD(0), LHS}, MXC_INPLACE_END};

const mxc_op_def mxci_op_slice_assign = {
    .size = sizeof(mxc_op_def),
    .name = "_slice_assign",
    .aliases = "_crop_assign",
    .args = "lhs,rhs",
    .doc = "out = lhs, except lhs[begin:end:step] = rhs",
    .params = assign_schema,
    .param_size = sizeof(assign_params),
    .params_check = assign_check,
    .infer_shape = assign_infer_shape,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .inplace_forward = forward_inplace,
    .inplace_backward = backward_inplace,
    .forward = {[MXC_CPU] = assign_forward},
    .backward = {[MXC_CPU] = assign_backward},
};

/* ---- _crop_assign_scalar ----------------------------------------------------------------------------------------- */

static const mxc_param scalar_schema[] = {
    {MXC_PARAM_FIELD(assign_params, scalar), .name = "scalar", .type = MXC_PARAM_FLOAT, .non_finite = 1, .initial = "0",
     .doc = "Value that is assigned."},
    MXCI_BOX_PARAMS(assign_params, box),
    MXC_PARAM_END,
};

static mxc_status scalar_check(void *params) {
    return mxci_box_check("_slice_assign_scalar", &((const assign_params *)params)->box);
}

static mxc_status scalar_forward(const mxc_op_call *call) {
    assign(call, call->req[0], &call->out[0], &call->in[LHS], NULL, ((const assign_params *)call->params)->scalar);
    return MXC_OK;
}

static mxc_status scalar_backward(const mxc_op_call *call) {
    assign(call, call->req[LHS], &call->in_grad[LHS], &call->out_grad[0], NULL, 0);
    return MXC_OK;
}

const mxc_op_def mxci_op_crop_assign_scalar = {
    .size = sizeof(mxc_op_def),
    .name = "_slice_assign_scalar",
    .aliases = "_crop_assign_scalar",
    .doc = "out = data, except data[begin:end:step] = scalar",
    .params = scalar_schema,
    .param_size = sizeof(assign_params),
    .params_check = scalar_check,
    .infer_shape = infer_whole,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .inplace_forward = forward_inplace,
    .inplace_backward = backward_inplace,
    .forward = {[MXC_CPU] = scalar_forward},
    .backward = {[MXC_CPU] = scalar_backward},
};
