/*
 * argmax, argmin, argmax_channel: the index of the greatest or least element along an axis, as float32 (exact up to
 * 2^24). Of equals the first; a NaN counts as greatest and as least. The gradient is zero.
 */
#include "operator/common.h"
#include "operator/kernels/argmax.h"

typedef struct arg_params {
    int64_t axis;
    int32_t keepdims;
} arg_params;

static const mxc_param schema[] = {
    {.name = "axis", .type = MXC_PARAM_INT, MXC_PARAM_FIELD(arg_params, axis), .initial = "None", .optional = 1,
     .doc = "axis to search, negative: from the end; None: all elements as one row"},
    {.name = "keepdims", .type = MXC_PARAM_BOOL, MXC_PARAM_FIELD(arg_params, keepdims), .initial = "false",
     .doc = "leave the axis with size 1"},
    MXC_PARAM_END};

/* ---- inference --------------------------------------------------------------------------------------------------- */

static mxc_status infer_type(mxc_op_sig *sig) {
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(0), MXC_F32);
}

/* Shape of out where one axis is searched. */
static mxc_status infer_axis(mxc_op_sig *sig, int axis, int keepdims) {
    const mxc_shape *data = &sig->in_shape[0];
    mxc_shape out = mxci_shape_axes(data->ndim - !keepdims);
    if (data->dim[axis] == 0)
        return mxc_sig_fail(sig, "argument 'data': axis %d has no elements", axis);
    for (int i = 0, k = 0; i < data->ndim; i++)
        if (i != axis || keepdims)
            out.dim[k++] = i == axis ? 1 : data->dim[i];
    if (out.ndim == 0)
        out = mxci_shape_of(1, (int64_t[]){1});
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

static mxc_status infer_shape(mxc_op_sig *sig) {
    const arg_params *p = sig->params;
    const mxc_shape *data = &sig->in_shape[0];
    mxc_shape out;
    int axis;
    if (data->ndim < 0)
        return MXC_OK;
    if (p->axis != MXC_PARAM_UNSET) {
        MXC_TRY(mxci_sig_axis(sig, p->axis, data->ndim, &axis));
        return infer_axis(sig, axis, p->keepdims);
    }
    if (mxc_shape_size(data) == 0)
        return mxc_sig_fail(sig, "argument 'data' has no elements");
    out = p->keepdims ? *data : mxci_shape_of(1, (int64_t[]){1});
    for (int i = 0; i < out.ndim; i++)
        out.dim[i] = 1;
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

static mxc_status infer_channel_shape(mxc_op_sig *sig) {
    if (sig->in_shape[0].ndim < 0)
        return MXC_OK;
    if (sig->in_shape[0].ndim < 2)
        return mxc_sig_fail(sig, "argument 'data' has %d axes, expected at least 2", (int)sig->in_shape[0].ndim);
    return infer_axis(sig, 1, 0);
}

/* ---- searching --------------------------------------------------------------------------------------------------- */

/* Data as (outer, n, inner), searched along n. */
typedef struct search {
    const mxc_op_call *call;
    int64_t n, inner;
    mxci_arg_fn offer, row;
} search;

static const void *load(const search *s, int64_t element, int64_t n, void *tile) {
    const mxc_tensor *data = &s->call->in[0];
    if (mxci_compute_type(data->dtype) == data->dtype)
        return mxci_at(data, element);
    mxci_load(data->dtype, mxci_at(data, element), tile, n);
    return tile;
}

/* Outputs place..place+n-1, all of one outer index. */
static void search_places(const search *s, int64_t place, int64_t n, int64_t *where) {
    _Alignas(64) int64_t tile[MXCI_TILE], best[MXCI_TILE];
    int64_t first = place / s->inner * s->n * s->inner + place % s->inner;
    for (int64_t k = 0; s->inner > 1 && k < s->n; k++)
        s->offer(n, load(s, first + k * s->inner, n, tile), k, best, where);
    for (int64_t k = 0; s->inner == 1 && k < s->n; k += MXCI_TILE) {
        int64_t run = s->n - k < MXCI_TILE ? s->n - k : MXCI_TILE;
        s->row(run, load(s, first + k, run, tile), k, best, where);
    }
}

static void search_range(void *arg, int64_t begin, int64_t end, int part) {
    const search *s = arg;
    const mxc_op_call *call = s->call;
    (void)part;
    while (begin < end) {
        int64_t where[MXCI_TILE], n = s->inner - begin % s->inner;
        float found[MXCI_TILE];
        n = n < end - begin ? n : end - begin;
        n = n < MXCI_TILE ? n : MXCI_TILE;
        search_places(s, begin, n, where);
        mxci_convert(MXC_I64, where, MXC_F32, found, n);
        mxci_put_row(call->req[0], MXC_F32, mxci_at(&call->out[0], begin), found, n);
        begin += n;
    }
}

static mxc_status run(const mxc_op_call *call, int64_t axis, const mxci_arg_fn *offer, const mxci_arg_fn *row) {
    const mxc_tensor *data = &call->in[0];
    mxc_dtype compute = mxci_compute_type(data->dtype);
    search s = {call, mxci_tensor_size(data), 1, offer[compute], row[compute]};
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    if (axis != MXC_PARAM_UNSET) {
        int at = (int)(axis < 0 ? axis + data->shape.ndim : axis);
        s.n = data->shape.dim[at];
        s.inner = mxci_shape_count(&data->shape, at + 1, data->shape.ndim);
    }
    mxc_parallel_for(call->run, mxci_tensor_size(&call->out[0]), 1 + MXCI_GRAIN / s.n, search_range, &s);
    return MXC_OK;
}

static mxc_status argmax(const mxc_op_call *call) {
    return run(call, ((const arg_params *)call->params)->axis, mxci_argmax_offer, mxci_argmax_row);
}

static mxc_status argmin(const mxc_op_call *call) {
    return run(call, ((const arg_params *)call->params)->axis, mxci_argmin_offer, mxci_argmin_row);
}

static mxc_status argmax_channel(const mxc_op_call *call) {
    return run(call, 1, mxci_argmax_offer, mxci_argmax_row);
}

/* ---- descriptors ------------------------------------------------------------------------------------------------- */

const mxc_op_def mxci_op_argmax = {
    .size = sizeof(mxc_op_def), .name = "argmax", .doc = "out = index of the greatest element along axis, as float32",
    .flags = MXC_OP_ZERO_GRADIENT, .params = schema, .param_size = sizeof(arg_params), .infer_shape = infer_shape,
    .infer_type = infer_type, .dtypes = MXC_DTYPES_NUMBER, .forward = {[MXC_CPU] = argmax}};

const mxc_op_def mxci_op_argmin = {
    .size = sizeof(mxc_op_def), .name = "argmin", .doc = "out = index of the least element along axis, as float32",
    .flags = MXC_OP_ZERO_GRADIENT, .params = schema, .param_size = sizeof(arg_params), .infer_shape = infer_shape,
    .infer_type = infer_type, .dtypes = MXC_DTYPES_NUMBER, .forward = {[MXC_CPU] = argmin}};

const mxc_op_def mxci_op_argmax_channel = {
    .size = sizeof(mxc_op_def), .name = "argmax_channel",
    .doc = "data (N,C,...), out (N,...) = index of the greatest element along axis 1, as float32",
    .flags = MXC_OP_ZERO_GRADIENT, .infer_shape = infer_channel_shape, .infer_type = infer_type,
    .dtypes = MXC_DTYPES_NUMBER, .forward = {[MXC_CPU] = argmax_channel}};
