/* SPDX-License-Identifier: Apache-2.0 */
/* Operators without arguments that create or fill an array: _zeros, _ones, _set_value, _full, _arange. ctx is the
 * context of the array in an imperative call; in a symbol the executor chooses it. */
#include "operator/tensor/create.h"

#include <math.h>

#include "math/assign.h"
#include "math/tile_kernels.h"
#include "operator/infer.h"

/* ---- _zeros and _ones ------------------------------------------------------------------------------------------- */

static const mxc_param fill_schema[] = {
    {MXC_PARAM_FIELD(mxci_fill_params, shape), .name = "shape", .type = MXC_PARAM_TUPLE, .initial = "()", .bounded = 1,
     .minimum = -1, .maximum = 9e15,
     .doc = "Shape of the array. () and axes of -1 are inferred from where it is used."},
    {MXC_PARAM_FIELD(mxci_fill_params, ctx), .name = "ctx", .type = MXC_PARAM_STRING, .initial = "",
     .doc = "Context of the array, such as cpu(0) or gpu(1)."},
    {MXC_PARAM_FIELD(mxci_fill_params, dtype), .name = "dtype", .type = MXC_PARAM_DTYPE, .initial = "float32",
     .doc = "Dtype of the array."},
    MXC_PARAM_END,
};

/* An empty shape leaves the output's unknown, to be inferred from its use. */
static mxc_status infer_given_shape(mxc_op_sig *sig, const mxci_fill_params *p) {
    mxc_shape shape;
    if (p->shape.n <= 0)
        return MXC_OK;
    if (mxc_shape_set(&shape, p->shape.n, p->shape.value) != MXC_OK)
        return mxc_sig_fail(sig, "%s", mxc_last_error());
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &shape);
}

static mxc_status infer_fill_shape(mxc_op_sig *sig) {
    return infer_given_shape(sig, sig->params);
}

static mxc_status infer_fill_type(mxc_op_sig *sig) {
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(0), (mxc_dtype)((const mxci_fill_params *)sig->params)->dtype);
}

static mxc_status zeros(const mxc_op_call *call) {
    mxci_assign_constant(call->run, call->req[0], &call->out[0], 0);
    return MXC_OK;
}

static mxc_status ones(const mxc_op_call *call) {
    mxci_assign_constant(call->run, call->req[0], &call->out[0], 1);
    return MXC_OK;
}

const mxc_op_def mxci_op_zeros = {
    .size = sizeof(mxc_op_def),
    .name = "_zeros",
    .doc = "out = 0",
    .args = "",
    .params = fill_schema,
    .param_size = sizeof(mxci_fill_params),
    .infer_shape = infer_fill_shape,
    .infer_type = infer_fill_type,
    .dtypes = MXC_DTYPES_ALL,
    .flags = MXC_OP_ZERO_GRADIENT,
    .forward = {[MXC_CPU] = zeros},
};

const mxc_op_def mxci_op_ones = {
    .size = sizeof(mxc_op_def),
    .name = "_ones",
    .doc = "out = 1",
    .args = "",
    .params = fill_schema,
    .param_size = sizeof(mxci_fill_params),
    .infer_shape = infer_fill_shape,
    .infer_type = infer_fill_type,
    .dtypes = MXC_DTYPES_ALL,
    .flags = MXC_OP_ZERO_GRADIENT,
    .forward = {[MXC_CPU] = ones},
};

/* ---- _set_value -------------------------------------------------------------------------------------------------- */

static const mxc_param set_schema[] = {
    {MXC_PARAM_FIELD(mxci_set_params, src), .name = "src", .type = MXC_PARAM_FLOAT, .doc = "Value of every element."},
    {MXC_PARAM_FIELD(mxci_set_params, fill.shape), .name = "shape", .type = MXC_PARAM_TUPLE, .initial = "()",
     .bounded = 1, .minimum = -1, .maximum = 9e15,
     .doc = "Shape of the array. () and axes of -1 are those of the array given for out."},
    {MXC_PARAM_FIELD(mxci_set_params, fill.dtype), .name = "dtype", .type = MXC_PARAM_DTYPE, .initial = "None",
     .optional = 1, .doc = "Dtype of the array. None: that of the array given for out."},
    MXC_PARAM_END,
};

static mxc_status infer_set_shape(mxc_op_sig *sig) {
    return infer_given_shape(sig, &((const mxci_set_params *)sig->params)->fill);
}

static mxc_status infer_set_type(mxc_op_sig *sig) {
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(0), (mxc_dtype)((const mxci_set_params *)sig->params)->fill.dtype);
}

static mxc_status set_value(const mxc_op_call *call) {
    mxci_assign_constant(call->run, call->req[0], &call->out[0], ((const mxci_set_params *)call->params)->src);
    return MXC_OK;
}

const mxc_op_def mxci_op_set_value = {
    .size = sizeof(mxc_op_def),
    .name = "_set_value",
    .doc = "out = src",
    .args = "",
    .params = set_schema,
    .param_size = sizeof(mxci_set_params),
    .infer_shape = infer_set_shape,
    .infer_type = infer_set_type,
    .dtypes = MXC_DTYPES_ALL,
    .flags = MXC_OP_ZERO_GRADIENT | MXC_OP_ARRAY_ONLY,
    .forward = {[MXC_CPU] = set_value},
};

/* ---- _full: _set_value for symbols ------------------------------------------------------------------------------ */

static const mxc_param full_schema[] = {
    {MXC_PARAM_FIELD(mxci_set_params, fill.shape), .name = "shape", .type = MXC_PARAM_TUPLE, .initial = "()",
     .bounded = 1, .minimum = -1, .maximum = 9e15,
     .doc = "Shape of the array. () and axes of -1 are inferred from where it is used."},
    {MXC_PARAM_FIELD(mxci_set_params, fill.ctx), .name = "ctx", .type = MXC_PARAM_STRING, .initial = "",
     .doc = "Context of the array, such as cpu(0) or gpu(1)."},
    {MXC_PARAM_FIELD(mxci_set_params, fill.dtype), .name = "dtype", .type = MXC_PARAM_DTYPE, .initial = "float32",
     .doc = "Dtype of the array."},
    {MXC_PARAM_FIELD(mxci_set_params, src), .name = "value", .type = MXC_PARAM_FLOAT, .doc = "Value of every element."},
    MXC_PARAM_END,
};

const mxc_op_def mxci_op_full = {
    .size = sizeof(mxc_op_def),
    .name = "_full",
    .doc = "out = value",
    .args = "",
    .params = full_schema,
    .param_size = sizeof(mxci_set_params),
    .infer_shape = infer_set_shape,
    .infer_type = infer_set_type,
    .dtypes = MXC_DTYPES_ALL,
    .flags = MXC_OP_ZERO_GRADIENT,
    .forward = {[MXC_CPU] = set_value},
};

/* ---- _arange ---------------------------------------------------------------------------------------------------- */

static const mxc_param arange_schema[] = {
    {MXC_PARAM_FIELD(mxci_arange_params, start), .name = "start", .type = MXC_PARAM_FLOAT, .doc = "First value."},
    {MXC_PARAM_FIELD(mxci_arange_params, stop), .name = "stop", .type = MXC_PARAM_FLOAT, .initial = "None",
     .optional = 1, .doc = "End of the range, exclusive. None: the range is from 0 to start."},
    {MXC_PARAM_FIELD(mxci_arange_params, step), .name = "step", .type = MXC_PARAM_FLOAT, .initial = "1",
     .doc = "Difference between successive values."},
    {MXC_PARAM_FIELD(mxci_arange_params, repeat), .name = "repeat", .type = MXC_PARAM_INT, .initial = "1", .bounded = 1,
     .minimum = 1, .maximum = 1e9, .doc = "Number of times that each value is repeated."},
    {MXC_PARAM_FIELD(mxci_arange_params, ctx), .name = "ctx", .type = MXC_PARAM_STRING, .initial = "",
     .doc = "Context of the array, such as cpu(0) or gpu(1)."},
    {MXC_PARAM_FIELD(mxci_arange_params, dtype), .name = "dtype", .type = MXC_PARAM_DTYPE, .initial = "float32",
     .doc = "Dtype of the array."},
    {MXC_PARAM_FIELD(mxci_arange_params, infer_range), .name = "infer_range", .type = MXC_PARAM_BOOL,
     .initial = "False",
     .doc = "If stop is None, the range begins at start and its length is inferred from where it is used."},
    MXC_PARAM_END,
};

/* 1 if the number of values follows from the array. */
static int is_open(const mxci_arange_params *p) {
    return isnan(p->stop);
}

/* With stop None the range is 0 to start, unless it is open. */
static mxc_status check_arange(void *params) {
    mxci_arange_params *p = params;
    double count;
    if (isnan(p->stop) && !p->infer_range) {
        p->stop = p->start;
        p->start = 0;
    }
    if (p->step == 0)
        return MXC_FAIL(MXC_EINVAL, "_arange: step is 0");
    if (is_open(p))
        return MXC_OK;
    count = (p->stop - p->start) / p->step;
    if (!(count * (double)p->repeat < 1e15))
        return MXC_FAIL(MXC_EINVAL, "_arange: %g values from %g to %g by %g, each %lld times, are too many", count,
                        p->start, p->stop, p->step, (long long)p->repeat);
    return MXC_OK;
}

/* The number of values, times repeat; unknown for an open range. */
static mxc_status infer_arange_shape(mxc_op_sig *sig) {
    const mxci_arange_params *p = sig->params;
    double count = is_open(p) ? -1 : ceil((p->stop - p->start) / p->step);
    mxc_shape shape = mxci_shape_of(1, (int64_t[]){count > 0 ? (int64_t)count * p->repeat : is_open(p) ? -1 : 0});
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &shape);
}

static mxc_status infer_arange_type(mxc_op_sig *sig) {
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(0), (mxc_dtype)((const mxci_arange_params *)sig->params)->dtype);
}

/* Values begin..end-1 by tiles in double, from where mxci_assign_cast makes them the dtype. */
static void arange_range(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    const mxci_arange_params *p = call->params;
    double tile[MXCI_TILE];
    (void)part;
    for (int64_t i = begin; i < end; i += MXCI_TILE) {
        int64_t n = end - i < MXCI_TILE ? end - i : MXCI_TILE;
        mxc_tensor from = {.data = tile, .dtype = MXC_F64, .shape = mxci_shape_of(1, &n)};
        mxc_tensor to = {.data = mxci_at(&call->out[0], i), .dtype = call->out[0].dtype, .shape = from.shape};
        for (int64_t j = 0; j < n; j++)
            tile[j] = p->start + p->step * (double)((i + j) / p->repeat);
        mxci_assign_cast(NULL, call->req[0], &to, &from);
    }
}

static mxc_status arange(const mxc_op_call *call) {
    if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, mxci_tensor_size(&call->out[0]), MXCI_GRAIN, arange_range, (void *)call);
    return MXC_OK;
}

const mxc_op_def mxci_op_arange = {
    .size = sizeof(mxc_op_def),
    .name = "_arange",
    .doc = "out[i] = start + step * floor(i / repeat), below stop",
    .args = "",
    .params = arange_schema,
    .param_size = sizeof(mxci_arange_params),
    .params_check = check_arange,
    .infer_shape = infer_arange_shape,
    .infer_type = infer_arange_type,
    .dtypes = MXC_DTYPES_NUMBER,
    .flags = MXC_OP_ZERO_GRADIENT,
    .forward = {[MXC_CPU] = arange},
};
