/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that create or fill an array: _zeros, _zeros_without_dtype, _ones, _set_value, _full, _eye, and the
 * sequences _arange, _linspace and _contrib_arange_like. ctx is the context of the array in an imperative call; in a
 * symbol the executor chooses it. */
#include "operator/tensor/create.h"

#include <math.h>

#include "math/assign.h"
#include "math/tile_kernels.h"
#include "operator/infer.h"
#include "operator/tensor/views.h"

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
static mxc_status infer_given_shape(mxc_op_sig *sig, const mxc_tuple *given) {
    mxc_shape shape;
    if (given->n <= 0)
        return MXC_OK;
    if (mxc_shape_set(&shape, given->n, given->value) != MXC_OK)
        return mxc_sig_fail(sig, "%s", mxc_last_error());
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &shape);
}

static mxc_status infer_fill_shape(mxc_op_sig *sig) {
    return infer_given_shape(sig, &((const mxci_fill_params *)sig->params)->shape);
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

/* ---- _zeros_without_dtype: _zeros whose dtype is a number of MXNet's files, or follows from the use -------------- */

static const mxc_param untyped_schema[] = {
    {MXC_PARAM_FIELD(mxci_untyped_params, shape), .name = "shape", .type = MXC_PARAM_TUPLE, .initial = "()",
     .bounded = 1, .minimum = -1, .maximum = 9e15,
     .doc = "Shape of the array. () and axes of -1 are inferred from where it is used."},
    {MXC_PARAM_FIELD(mxci_untyped_params, ctx), .name = "ctx", .type = MXC_PARAM_STRING, .initial = "",
     .doc = "Context of the array, such as cpu(0) or gpu(1)."},
    {MXC_PARAM_FIELD(mxci_untyped_params, dtype), .name = "dtype", .type = MXC_PARAM_INT, .initial = "-1",
     .doc = "Dtype of the array as its number in MXNet's files: 0 is float32. -1: inferred from where it is used."},
    MXC_PARAM_END,
};

static mxc_status check_untyped(void *params) {
    const int64_t dtype = ((const mxci_untyped_params *)params)->dtype;
    if (dtype == MXC_DTYPE_UNKNOWN || (dtype >= 0 && dtype < MXC_DTYPE_LIMIT && mxc_dtype_size((mxc_dtype)dtype)))
        return MXC_OK;
    return MXC_FAIL(MXC_EINVAL, "_zeros_without_dtype: dtype is %lld, expected -1 or the number of a dtype",
                    (long long)dtype);
}

static mxc_status infer_untyped_shape(mxc_op_sig *sig) {
    return infer_given_shape(sig, &((const mxci_untyped_params *)sig->params)->shape);
}

static mxc_status infer_untyped_type(mxc_op_sig *sig) {
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(0), (mxc_dtype)((const mxci_untyped_params *)sig->params)->dtype);
}

const mxc_op_def mxci_op_zeros_without_dtype = {
    .size = sizeof(mxc_op_def),
    .name = "_zeros_without_dtype",
    .doc = "out = 0; the dtype may follow from where out is used",
    .args = "",
    .params = untyped_schema,
    .param_size = sizeof(mxci_untyped_params),
    .params_check = check_untyped,
    .infer_shape = infer_untyped_shape,
    .infer_type = infer_untyped_type,
    .dtypes = MXC_DTYPES_ALL,
    .flags = MXC_OP_ZERO_GRADIENT,
    .forward = {[MXC_CPU] = zeros},
};

/* ---- _set_value -------------------------------------------------------------------------------------------------- */

static const mxc_param set_schema[] = {
    {MXC_PARAM_FIELD(mxci_set_params, src), .name = "src", .type = MXC_PARAM_FLOAT, .non_finite = 1,
     .doc = "Value of every element."},
    {MXC_PARAM_FIELD(mxci_set_params, fill.shape), .name = "shape", .type = MXC_PARAM_TUPLE, .initial = "()",
     .bounded = 1, .minimum = -1, .maximum = 9e15,
     .doc = "Shape of the array. () and axes of -1 are those of the array given for out."},
    {MXC_PARAM_FIELD(mxci_set_params, fill.dtype), .name = "dtype", .type = MXC_PARAM_DTYPE, .initial = "None",
     .optional = 1, .doc = "Dtype of the array. None: that of the array given for out."},
    MXC_PARAM_END,
};

static mxc_status infer_set_shape(mxc_op_sig *sig) {
    return infer_given_shape(sig, &((const mxci_set_params *)sig->params)->fill.shape);
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
    {MXC_PARAM_FIELD(mxci_set_params, fill.shape), .name = "shape", .type = MXC_PARAM_TUPLE, .initial = "None",
     .optional = 1, .bounded = 1, .minimum = -1, .maximum = 9e15,
     .doc = "Shape of the array. None, () and axes of -1 are inferred from where it is used."},
    {MXC_PARAM_FIELD(mxci_set_params, fill.ctx), .name = "ctx", .type = MXC_PARAM_STRING, .initial = "",
     .doc = "Context of the array, such as cpu(0) or gpu(1)."},
    {MXC_PARAM_FIELD(mxci_set_params, fill.dtype), .name = "dtype", .type = MXC_PARAM_DTYPE, .initial = "float32",
     .doc = "Dtype of the array."},
    {MXC_PARAM_FIELD(mxci_set_params, src), .name = "value", .type = MXC_PARAM_FLOAT, .non_finite = 1,
     .doc = "Value of every element."},
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

/* ---- _eye ------------------------------------------------------------------------------------------------------- */

static const mxc_param eye_schema[] = {
    {MXC_PARAM_FIELD(mxci_eye_params, rows), .name = "N", .type = MXC_PARAM_INT, .bounded = 1, .minimum = 0,
     .maximum = 9e15, .doc = "Number of rows."},
    {MXC_PARAM_FIELD(mxci_eye_params, columns), .name = "M", .type = MXC_PARAM_INT, .initial = "0", .bounded = 1,
     .minimum = 0, .maximum = 9e15, .doc = "Number of columns. 0: as many as rows."},
    {MXC_PARAM_FIELD(mxci_eye_params, k), .name = "k", .type = MXC_PARAM_INT, .initial = "0", .bounded = 1,
     .minimum = -9e15, .maximum = 9e15,
     .doc = "Diagonal that is 1: 0 is the main one, positive ones are above it, negative ones below."},
    {MXC_PARAM_FIELD(mxci_eye_params, ctx), .name = "ctx", .type = MXC_PARAM_STRING, .initial = "",
     .doc = "Context of the array, such as cpu(0) or gpu(1)."},
    {MXC_PARAM_FIELD(mxci_eye_params, dtype), .name = "dtype", .type = MXC_PARAM_DTYPE, .initial = "float32",
     .doc = "Dtype of the array."},
    MXC_PARAM_END,
};

static mxc_status infer_eye_shape(mxc_op_sig *sig) {
    const mxci_eye_params *p = sig->params;
    mxc_shape shape = mxci_shape_of(2, (int64_t[]){p->rows, p->columns ? p->columns : p->rows});
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &shape);
}

static mxc_status infer_eye_type(mxc_op_sig *sig) {
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(0), (mxc_dtype)((const mxci_eye_params *)sig->params)->dtype);
}

/* 0 everywhere, then 1 on the diagonal. */
static mxc_status eye(const mxc_op_call *call) {
    const mxc_tensor *out = &call->out[0];
    const mxci_eye_params *p = call->params;
    int64_t columns = out->shape.dim[1], row, column, n;
    mxc_tensor one = {.dtype = out->dtype, .shape = mxci_shape_of(1, (int64_t[]){1})};
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    if (call->req[0] != MXC_REQ_ADD)
        mxci_assign_constant(call->run, call->req[0], out, 0);
    n = mxci_diagonal(out->shape.dim[0], columns, p->k, &row, &column);
    for (int64_t i = 0; i < n; i++) {
        one.data = mxci_at(out, (row + i) * columns + column + i);
        mxci_assign_constant(NULL, call->req[0], &one, 1);
    }
    return MXC_OK;
}

const mxc_op_def mxci_op_eye = {
    .size = sizeof(mxc_op_def),
    .name = "_eye",
    .doc = "out (N,M) = 1 on diagonal k, else 0",
    .args = "",
    .params = eye_schema,
    .param_size = sizeof(mxci_eye_params),
    .infer_shape = infer_eye_shape,
    .infer_type = infer_eye_type,
    .dtypes = MXC_DTYPES_ALL,
    .flags = MXC_OP_ZERO_GRADIENT,
    .forward = {[MXC_CPU] = eye},
};

/* ---- sequences -------------------------------------------------------------------------------------------------- */

typedef struct sequence_run {
    const mxc_op_call *call;
    const mxci_sequence *sequence;
} sequence_run;

/* Values begin..end-1 by tiles in double, which mxci_assign_cast_row converts to the dtype. */
static void sequence_range(void *arg, int64_t begin, int64_t end, int part) {
    const sequence_run *r = arg;
    const mxc_tensor *out = &r->call->out[0];
    double tile[MXCI_TILE];
    (void)part;
    for (int64_t i = begin; i < end; i += MXCI_TILE) {
        int64_t n = end - i < MXCI_TILE ? end - i : MXCI_TILE;
        for (int64_t j = 0; j < n; j++)
            tile[j] = r->sequence->start + r->sequence->step * (double)((i + j) / r->sequence->repeat);
        mxci_assign_cast_row(r->call->req[0], MXC_F64, tile, out->dtype, mxci_at(out, i), n);
    }
}

static mxc_status put_sequence(const mxc_op_call *call, const mxci_sequence *sequence) {
    sequence_run run = {call, sequence};
    if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, mxci_tensor_size(&call->out[0]), MXCI_GRAIN, sequence_range, &run);
    return MXC_OK;
}

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

static mxc_status arange(const mxc_op_call *call) {
    const mxci_arange_params *p = call->params;
    return put_sequence(call, &(mxci_sequence){p->start, p->step, p->repeat});
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

/* ---- _linspace -------------------------------------------------------------------------------------------------- */

static const mxc_param linspace_schema[] = {
    {MXC_PARAM_FIELD(mxci_linspace_params, start), .name = "start", .type = MXC_PARAM_FLOAT, .doc = "First value."},
    {MXC_PARAM_FIELD(mxci_linspace_params, stop), .name = "stop", .type = MXC_PARAM_FLOAT,
     .doc = "End of the interval."},
    {MXC_PARAM_FIELD(mxci_linspace_params, num), .name = "num", .type = MXC_PARAM_INT, .bounded = 1, .minimum = 0,
     .maximum = 9e15, .doc = "Number of values."},
    {MXC_PARAM_FIELD(mxci_linspace_params, endpoint), .name = "endpoint", .type = MXC_PARAM_BOOL, .initial = "True",
     .doc = "The last value is stop. Otherwise the step is (stop - start) / num, and stop is left out."},
    {MXC_PARAM_FIELD(mxci_linspace_params, ctx), .name = "ctx", .type = MXC_PARAM_STRING, .initial = "",
     .doc = "Context of the array, such as cpu(0) or gpu(1)."},
    {MXC_PARAM_FIELD(mxci_linspace_params, dtype), .name = "dtype", .type = MXC_PARAM_DTYPE, .initial = "float32",
     .doc = "Dtype of the array."},
    MXC_PARAM_END,
};

static mxc_status infer_linspace_shape(mxc_op_sig *sig) {
    mxc_shape shape = mxci_shape_of(1, &((const mxci_linspace_params *)sig->params)->num);
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &shape);
}

static mxc_status infer_linspace_type(mxc_op_sig *sig) {
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(0), (mxc_dtype)((const mxci_linspace_params *)sig->params)->dtype);
}

static mxc_status linspace(const mxc_op_call *call) {
    mxci_sequence sequence = mxci_sequence_linspace(call->params);
    return put_sequence(call, &sequence);
}

const mxc_op_def mxci_op_linspace = {
    .size = sizeof(mxc_op_def),
    .name = "_linspace",
    .doc = "out (num) = evenly spaced values from start to stop",
    .args = "",
    .params = linspace_schema,
    .param_size = sizeof(mxci_linspace_params),
    .infer_shape = infer_linspace_shape,
    .infer_type = infer_linspace_type,
    .dtypes = MXC_DTYPES_NUMBER,
    .flags = MXC_OP_ZERO_GRADIENT,
    .forward = {[MXC_CPU] = linspace},
};

/* ---- _contrib_arange_like --------------------------------------------------------------------------------------- */

static const mxc_param arange_like_schema[] = {
    {MXC_PARAM_FIELD(mxci_arange_like_params, sequence.start), .name = "start", .type = MXC_PARAM_FLOAT, .initial = "0",
     .doc = "First value."},
    {MXC_PARAM_FIELD(mxci_arange_like_params, sequence.step), .name = "step", .type = MXC_PARAM_FLOAT, .initial = "1",
     .doc = "Difference between successive values."},
    {MXC_PARAM_FIELD(mxci_arange_like_params, sequence.repeat), .name = "repeat", .type = MXC_PARAM_INT, .initial = "1",
     .bounded = 1, .minimum = 1, .maximum = 1e9, .doc = "Number of times that each value is repeated."},
    {MXC_PARAM_FIELD(mxci_arange_like_params, ctx), .name = "ctx", .type = MXC_PARAM_STRING, .initial = "",
     .doc = "Not used: out is on the context of data."},
    {MXC_PARAM_FIELD(mxci_arange_like_params, axis), .name = "axis", .type = MXC_PARAM_INT, .initial = "None",
     .optional = 1,
     .doc = "Axis of data that gives the number of values. Negative values count from the end. None: out has the shape "
            "of data."},
    MXC_PARAM_END,
};

static mxc_status infer_arange_like_shape(mxc_op_sig *sig) {
    const mxci_arange_like_params *p = sig->params;
    mxc_shape *data = &sig->in_shape[0], shape;
    int axis;
    if (p->axis == MXC_PARAM_UNSET)
        return mxci_infer_shape_same(sig);
    shape = mxci_shape_axes(1);
    if (data->ndim >= 0) {
        MXC_TRY(mxci_sig_axis(sig, p->axis, data->ndim, &axis));
        shape.dim[0] = data->dim[axis];
    }
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &shape));
    if (data->ndim < 0)
        return MXC_OK;
    shape = *data;
    shape.dim[axis] = sig->out_shape[0].dim[0];
    return mxc_sig_set_shape(sig, 0, &shape);
}

static mxc_status arange_like(const mxc_op_call *call) {
    return put_sequence(call, &((const mxci_arange_like_params *)call->params)->sequence);
}

const mxc_op_def mxci_op_arange_like = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_arange_like",
    .doc =
        "out[i] = start + step * floor(i / repeat), as many values as data has elements or, with axis, rows along it",
    .params = arange_like_schema,
    .param_size = sizeof(mxci_arange_like_params),
    .infer_shape = infer_arange_like_shape,
    .dtypes = MXC_DTYPES_NUMBER,
    .flags = MXC_OP_ZERO_GRADIENT,
    .forward = {[MXC_CPU] = arange_like},
};
