/* SPDX-License-Identifier: Apache-2.0 */
/* Quantized operators that keep the range of an argument: _contrib_quantized_pooling (maximum or average),
 * _contrib_quantized_act (relu), _contrib_quantized_flatten, and _contrib_quantized_embedding, whose range is weight's.
 * An average is rounded to nearest, halves to even. */
#include "base/text.h"
#include "math/tile_kernels.h"
#include "operator/index/rows.h"
#include "operator/nn/embedding.h"
#include "operator/nn/pooling.h"
#include "operator/quantized/quantize_kernels.h"
#include "operator/quantized/quantized.h"
#include "operator/quantized/quantized_pooling_kernels.h"
#include "operator/tensor/flatten.h"

#define ARGS "data,min_data,max_data"
#define OUTPUTS "output,min_output,max_output"

enum { DATA, MIN, MAX };

/* ---- _contrib_quantized_pooling: planes are pooled as floats, maxima with channels last as they are -------------- */

static mxc_status pooling_check(void *params) {
    MXC_TRY(mxci_pooling_check(params));
    if (((const mxci_pooling_params *)params)->pool_type > MXCI_POOL_AVG)
        return MXC_FAIL(MXC_EUNSUPPORTED, "_contrib_quantized_pooling: pool_type must be max or avg, found sum or lp");
    return MXC_OK;
}

static mxc_status pooling_infer(mxc_op_sig *sig) {
    MXC_TRY(mxci_pooling_infer(sig));
    return mxci_infer_bounds(sig, MIN);
}

static int64_t plane_of(const mxc_shape *shape) {
    return mxci_shape_count(shape, 2, shape->ndim);
}

/* Bytes of a plane of floats, of data or of output. */
static size_t buffer_bytes(const mxc_shape *data, const mxc_shape *out) {
    int64_t in = plane_of(data), largest = in > plane_of(out) ? in : plane_of(out);
    return mxci_size_align(mxci_size_of(largest, sizeof(float)));
}

/* Bytes of a row of an output with channels last. */
static size_t row_bytes(const mxc_shape *out) {
    return mxci_size_align(mxci_size_of(mxci_shape_count(out, out->ndim - 2, out->ndim), 1));
}

static size_t pooling_temp(const mxc_op_sig *sig, mxc_pass pass) {
    (void)pass;
    if (mxci_pooling_channels_last(sig->params))
        return mxci_size_of(sig->parallelism, row_bytes(&sig->out_shape[0]));
    return mxci_size_of(2 * sig->parallelism, buffer_bytes(&sig->in_shape[DATA], &sig->out_shape[0]));
}

typedef struct pooling_run {
    const mxc_op_call *call;
    mxci_pool_shape shape;
} pooling_run;

/* Planes begin..end-1, widened to float32, pooled by the kernels of Pooling, and rounded. */
static void pooling_range(void *arg, int64_t begin, int64_t end, int part) {
    const pooling_run *r = arg;
    const mxc_tensor *x = &r->call->in[DATA], *y = &r->call->out[0];
    size_t bytes = buffer_bytes(&x->shape, &y->shape);
    int64_t from_size = plane_of(&x->shape), to_size = plane_of(&y->shape);
    float *from = (void *)((char *)r->call->temp + 2 * (size_t)part * bytes), *to = (void *)((char *)from + bytes);
    for (int64_t i = begin; i < end; i++) {
        mxci_convert(x->dtype, mxci_at(x, i * from_size), MXC_F32, from, from_size);
        mxci_pool_forward_f32(&r->shape, 0, from, to);
        mxci_round_row(to_size, to);
        mxci_convert(MXC_F32, to, y->dtype, from, to_size);
        mxci_assign_row(r->call->req[0], y->dtype, mxci_at(y, i * to_size), from, to_size);
    }
}

/* Rows begin..end-1 of the outputs of all samples, with channels last. */
static void max_last_range(void *arg, int64_t begin, int64_t end, int part) {
    const pooling_run *r = arg;
    const mxc_tensor *x = &r->call->in[DATA], *y = &r->call->out[0];
    const int64_t channels = y->shape.dim[y->shape.ndim - 1], row = r->shape.out[2] * channels;
    const int64_t rows = r->shape.out[0] * r->shape.out[1], sample = mxci_shape_count(&x->shape, 1, x->shape.ndim);
    char *temp = (char *)r->call->temp + (size_t)part * row_bytes(&y->shape);
    for (int64_t i = begin; i < end; i++) {
        void *to = r->call->req[0] == MXC_REQ_ADD ? temp : mxci_at(y, i * row);
        mxci_quantized_pool_max(&r->shape, x->dtype == MXC_I8, channels, i % rows, mxci_at(x, i / rows * sample), to);
        if (to == temp)
            mxci_assign_row(MXC_REQ_ADD, y->dtype, mxci_at(y, i * row), temp, row);
    }
}

static void run_max_last(const mxc_op_call *call, pooling_run *r) {
    const mxci_pool_shape *s = &r->shape;
    const int64_t channels = call->out[0].shape.dim[call->out[0].shape.ndim - 1];
    if (mxci_is_wanted(call->req[0], &call->out[0]))
        mxc_parallel_for(call->run, call->out[0].shape.dim[0] * s->out[0] * s->out[1],
                         4 * MXCI_GRAIN / (channels * s->out[2] + 1) + 1, max_last_range, r);
}

static int to_channels_second(const void *params, mxc_pass pass, void *out) {
    mxci_pooling_params *to = out;
    (void)pass;
    *to = *(const mxci_pooling_params *)params;
    to->layout = -1;
    return mxci_pooling_channels_last(params) && to->pool_type != MXCI_POOL_MAX;
}

static int pooling_channels_last(const mxc_op *op, int ndim, mxc_channels_last *out) {
    *out = (mxc_channels_last){.key = "layout"};
    mxci_format(out->value, sizeof out->value, "%s", ndim == 4 ? "NHWC" : "NDHWC");
    return !mxci_pooling_channels_last(mxc_op_params(op));
}

static mxc_status pooling_forward(const mxc_op_call *call) {
    const mxc_shape *data = &call->in[DATA].shape, *out = &call->out[0].shape;
    pooling_run r = {call, mxci_pooling_shape(call->params, data, out)};
    if (mxci_pooling_channels_last(call->params))
        run_max_last(call, &r);
    else if (plane_of(data) == 0)
        mxci_assign_constant(call->run, call->req[0], &call->out[0], 0);
    else if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, data->dim[0] * data->dim[1], MXCI_GRAIN / (plane_of(data) + plane_of(out) + 1) + 1,
                         pooling_range, &r);
    mxci_pass_bounds(call, MIN, MAX);
    return MXC_OK;
}

const mxc_op_def mxci_op_quantized_pooling = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_quantized_pooling",
    .args = ARGS,
    .outputs = OUTPUTS,
    .doc = "output = Pooling of integers: the maximum, or the average rounded to nearest; the range is passed through",
    .flags = MXC_OP_ZERO_GRADIENT,
    .params = mxci_pooling_schema,
    .param_size = sizeof(mxci_pooling_params),
    .params_check = pooling_check,
    .infer_shape = pooling_infer,
    .infer_type = mxci_infer_quantized_type,
    .dtypes = MXCI_DTYPES_QUANTIZED,
    .to_channels_second = to_channels_second,
    .channels_last = pooling_channels_last,
    .temp_bytes = pooling_temp,
    .forward = {[MXC_CPU] = pooling_forward},
};

/* ---- _contrib_quantized_act -------------------------------------------------------------------------------------- */

typedef struct act_params {
    int32_t act_type;
} act_params;

static const mxc_param act_schema[] = {
    {MXC_PARAM_FIELD(act_params, act_type), .name = "act_type", .type = MXC_PARAM_ENUM, .choices = "relu",
     .doc = "Function. Only relu, max(x, 0), is supported."},
    MXC_PARAM_END,
};

static void act_range(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    const mxc_tensor *x = &call->in[DATA], *y = &call->out[0];
    int32_t tile[MXCI_TILE];
    (void)part;
    for (int64_t i = begin; i < end; i += MXCI_TILE) {
        int64_t n = end - i < MXCI_TILE ? end - i : MXCI_TILE;
        mxci_convert(x->dtype, mxci_at(x, i), MXC_I32, tile, n);
        for (int64_t k = 0; k < n; k++)
            tile[k] = tile[k] > 0 ? tile[k] : 0;
        mxci_assign_cast_row(call->req[0], MXC_I32, tile, y->dtype, mxci_at(y, i), n);
    }
}

static mxc_status act_forward(const mxc_op_call *call) {
    mxc_op_call copy = *call;
    if (call->in[DATA].dtype == MXC_U8)
        mxci_assign(call->run, call->req[0], &call->out[0], &call->in[DATA]);
    else if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, mxci_tensor_size(&call->out[0]), MXCI_GRAIN, act_range, &copy);
    mxci_pass_bounds(call, MIN, MAX);
    return MXC_OK;
}

const mxc_op_def mxci_op_quantized_act = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_quantized_act",
    .args = ARGS,
    .outputs = OUTPUTS,
    .doc = "output = max(data, 0); the range is passed through",
    .flags = MXC_OP_ZERO_GRADIENT,
    .params = act_schema,
    .param_size = sizeof(act_params),
    .infer_shape = mxci_infer_quantized,
    .infer_type = mxci_infer_quantized_type,
    .dtypes = MXCI_DTYPES_QUANTIZED | MXC_DTYPE_BIT(MXC_I32),
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(0), 0}, MXC_INPLACE_END},
    .channels_last = mxci_quantized_any_layout,
    .forward = {[MXC_CPU] = act_forward},
};

/* ---- _contrib_quantized_flatten ---------------------------------------------------------------------------------- */

static mxc_status flatten_infer(mxc_op_sig *sig) {
    MXC_TRY(mxci_flatten_infer(sig));
    return mxci_infer_bounds(sig, MIN);
}

static mxc_status flatten_forward(const mxc_op_call *call) {
    mxci_assign(call->run, call->req[0], &call->out[0], &call->in[DATA]);
    mxci_pass_bounds(call, MIN, MAX);
    return MXC_OK;
}

const mxc_op_def mxci_op_quantized_flatten = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_quantized_flatten",
    .args = ARGS,
    .outputs = OUTPUTS,
    .doc = "output (N, a b ...) = data (N, a, b, ...) flattened; the range is passed through",
    .flags = MXC_OP_ZERO_GRADIENT,
    .infer_shape = flatten_infer,
    .infer_type = mxci_infer_quantized_type,
    .dtypes = MXCI_DTYPES_QUANTIZED,
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(0), 0}, MXC_INPLACE_END},
    .forward = {[MXC_CPU] = flatten_forward},
};

/* ---- _contrib_quantized_embedding -------------------------------------------------------------------------------- */

enum { INDEX, WEIGHT, MIN_WEIGHT, MAX_WEIGHT };

static mxc_status embedding_infer(mxc_op_sig *sig) {
    MXC_TRY(mxci_embedding_infer(sig));
    return mxci_infer_bounds(sig, MIN_WEIGHT);
}

static mxc_status embedding_infer_type(mxc_op_sig *sig) {
    MXC_TRY(mxc_sig_set_type(sig, WEIGHT, MXC_I8));
    MXC_TRY(mxc_sig_set_type(sig, MXC_SLOT_OUT(0), MXC_I8));
    return mxci_infer_bound_types(sig, MIN_WEIGHT);
}

static mxc_status embedding_forward(const mxc_op_call *call) {
    mxci_rows rows = mxci_rows_along(&call->in[WEIGHT].shape, 0, &call->in[INDEX], MXCI_INDEX_CLIP);
    mxci_rows_take(call->run, call->req[0], &call->out[0], &rows, &call->in[WEIGHT]);
    mxci_pass_bounds(call, MIN_WEIGHT, MAX_WEIGHT);
    return MXC_OK;
}

const mxc_op_def mxci_op_quantized_embedding = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_quantized_embedding",
    .args = "data,weight,min_weight,max_weight",
    .outputs = OUTPUTS,
    .doc = "output (shape of data, output_dim) = the row of int8 weight (input_dim, output_dim) that each element of "
           "data selects; the range is that of weight",
    .flags = MXC_OP_ZERO_GRADIENT,
    .params = mxci_embedding_schema,
    .param_size = sizeof(mxci_embedding_params),
    .infer_shape = embedding_infer,
    .infer_type = embedding_infer_type,
    .dtypes = MXC_DTYPES_NUMBER,
    .forward = {[MXC_CPU] = embedding_forward},
};
