/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rotary_embedding: pairs of each row's elements are rotated by angles that grow with the row's position (J. Su et al.,
 * "RoFormer", 2021). data
 * (outer..., L, inner..., D); in the row at position p = 0..L-1 pair number i of W / 2 is rotated by
 * (p + offset) base^(-2 i / W). A pair is the elements (i, W / 2 + i), or (2 i, 2 i + 1) where interleaved; elements
 * behind the first W stay. The gradient is rotated by the negative angles.
 */
#include "operator/nn/rotary_embedding.h"

#include <math.h>

#include "math/assign.h"
#include "math/tile_kernels.h"
#include "operator/infer.h"
#include "operator/nn/rotary_embedding_kernels.h"

typedef mxci_rotary_params rotary_params;

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(rotary_params, axis), .name = "axis", .type = MXC_PARAM_INT, .initial = "-2",
     .doc = "Axis of the positions, not the last one. Negative values count from the end."},
    {MXC_PARAM_FIELD(rotary_params, width), .name = "width", .type = MXC_PARAM_INT, .initial = "None", .optional = 1,
     .bounded = 1, .minimum = 0, .maximum = 9e15,
     .doc = "Number of leading elements of each row that are rotated, W. None: all."},
    {MXC_PARAM_FIELD(rotary_params, offset), .name = "offset", .type = MXC_PARAM_INT, .initial = "0", .bounded = 1,
     .minimum = -9e15, .maximum = 9e15, .doc = "Position of the first row, such as the number of rows already cached."},
    {MXC_PARAM_FIELD(rotary_params, base), .name = "base", .type = MXC_PARAM_FLOAT, .initial = "10000", .bounded = 1,
     .minimum = 1e-30, .maximum = 1e30,
     .doc = "Base of the geometric sequence of angles, which fall from 1 to nearly 1 / base per position."},
    {MXC_PARAM_FIELD(rotary_params, interleaved), .name = "interleaved", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "Pairs are neighbouring elements; otherwise elements W / 2 apart."},
    MXC_PARAM_END,
};

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

static int64_t width_of(const rotary_params *p, const mxc_shape *data) {
    return p->width == MXC_PARAM_UNSET ? data->dim[data->ndim - 1] : p->width;
}

static mxc_status rotary_embedding_infer_shape(mxc_op_sig *sig) {
    const rotary_params *p = sig->params;
    const mxc_shape *data = &sig->in_shape[0];
    int64_t columns, width;
    int axis;
    MXC_TRY(mxci_infer_shape_same(sig));
    if (data->ndim < 0)
        return MXC_OK;
    MXC_TRY(mxci_sig_axis(sig, p->axis, data->ndim, &axis));
    if (axis == data->ndim - 1)
        return mxc_sig_fail(sig, "axis %d is the last one, expected one before it", axis);
    columns = data->dim[data->ndim - 1];
    width = width_of(p, data);
    if (columns >= 0 && (width > columns || width % 2))
        return mxc_sig_fail(sig, "width is %lld, expected an even number up to the last axis, %lld", (long long)width,
                            (long long)columns);
    return MXC_OK;
}

static int rotary_embedding_axis_of(const rotary_params *p, const mxc_shape *data) {
    return (int)(p->axis < 0 ? p->axis + data->ndim : p->axis);
}

/* Cosines and sines of each position. */
static size_t rotary_embedding_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    const mxc_shape *data = &sig->in_shape[0];
    (void)pass;
    return mxci_size_of(
        mxci_dim_mul(data->dim[rotary_embedding_axis_of(sig->params, data)], width_of(sig->params, data)),
        mxc_dtype_size(mxci_compute_type(sig->in_type[0])));
}

/* ---- both passes ------------------------------------------------------------------------------------------------- */

typedef struct rotary_run {
    const mxc_op_call *call;
    mxci_rotary kernel;
    int64_t positions, inner, columns;
    mxc_tensor angles;
    const mxc_tensor *from, *to;
    mxc_req req;
} rotary_run;

/* Cosines and sines of positions begin..end-1: (positions, 2, pairs), computed in double once per run. */
static void put_angles(void *arg, int64_t begin, int64_t end, int part) {
    const rotary_run *r = arg;
    const rotary_params *p = r->call->params;
    const int64_t pairs = r->kernel.pairs;
    (void)part;
    for (int64_t i = begin; i < end; i++)
        for (int64_t k = 0; k < pairs; k++) {
            double angle = (double)(i + p->offset) * pow(p->base, -(double)k / (double)pairs);
            mxci_assign_value(MXC_REQ_WRITE, &r->angles, 2 * i * pairs + k, cos(angle));
            mxci_assign_value(MXC_REQ_WRITE, &r->angles, (2 * i + 1) * pairs + k, sin(angle));
        }
}

static void rotate_rows(void *arg, int64_t begin, int64_t end, int part) {
    const rotary_run *r = arg;
    const int64_t width = 2 * r->kernel.pairs;
    const mxc_dtype dtype = r->to->dtype;
    (void)part;
    for (int64_t i = begin; i < end; i++) {
        int64_t position = i / r->inner % r->positions, at = i * r->columns;
        mxci_rotary_rotate[dtype](&r->kernel, mxci_at(&r->angles, position * width), mxci_at(r->from, at),
                                  mxci_at(r->to, at));
        if (r->columns > width)
            mxci_assign_row(r->req, dtype, mxci_at(r->to, at + width), mxci_at(r->from, at + width),
                            r->columns - width);
    }
}

static mxc_status rotary_embedding_run(const mxc_op_call *call, const mxc_tensor *from, const mxc_tensor *to,
                                       int inverse) {
    const rotary_params *p = call->params;
    const mxc_shape *data = &from->shape;
    int axis = rotary_embedding_axis_of(p, data);
    rotary_run r = {.call = call, .from = from, .to = to, .req = call->req[0]};
    r.positions = data->dim[axis];
    r.inner = mxci_shape_count(data, axis + 1, data->ndim - 1);
    r.columns = data->dim[data->ndim - 1];
    r.kernel = (mxci_rotary){.pairs = width_of(p, data) / 2,
                             .interleaved = p->interleaved,
                             .inverse = inverse,
                             .add = call->req[0] == MXC_REQ_ADD};
    r.angles = (mxc_tensor){.data = call->temp, .dtype = mxci_compute_type(to->dtype)};
    if (call->req[0] == MXC_REQ_NULL || mxc_shape_size(data) == 0)
        return MXC_OK;
    mxc_parallel_for(call->run, r.positions, 256 / (r.kernel.pairs + 1) + 1, put_angles, &r);
    mxc_parallel_for(call->run, mxc_shape_size(data) / r.columns, MXCI_GRAIN / r.columns + 1, rotate_rows, &r);
    return MXC_OK;
}

static mxc_status rotary_embedding_forward(const mxc_op_call *call) {
    return rotary_embedding_run(call, &call->in[0], &call->out[0], 0);
}

static mxc_status rotary_embedding_backward(const mxc_op_call *call) {
    return rotary_embedding_run(call, &call->out_grad[0], &call->in_grad[0], 1);
}

const mxc_op_def mxci_op_rotary_embedding = {
    .size = sizeof(mxc_op_def),
    .name = "rotary_embedding",
    .doc = "Rotary position embedding: out = data (...,L,...,D) with pairs of the first W elements of the last axis "
           "rotated; at position p of L, pair i is rotated by (p + offset) base^(-2 i / W)",
    .params = schema,
    .param_size = sizeof(rotary_params),
    .infer_shape = rotary_embedding_infer_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1},
    .temp_bytes = rotary_embedding_temp_bytes,
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(0), 0}, MXC_INPLACE_END},
    .inplace_backward = (const mxc_inplace[]){{MXC_FROM_OUT_GRAD(0), 0}, MXC_INPLACE_END},
    .forward = {[MXC_CPU] = rotary_embedding_forward},
    .backward = {[MXC_CPU] = rotary_embedding_backward},
};
