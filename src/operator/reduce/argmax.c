/* SPDX-License-Identifier: Apache-2.0 */
/*
 * argmax, argmin, argmax_channel: the index of the greatest or least element along an axis, in data's type: float32 is
 * exact up to 2^24, float16 up to 2^11, and integers wrap. Of equals the first; a NaN counts as greatest and as least.
 * The gradient is zero.
 */
#include "operator/reduce/argmax.h"

#include "math/assign.h"
#include "operator/infer.h"
#include "operator/reduce/argmax_kernels.h"

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(mxci_arg_params, axis), .name = "axis", .type = MXC_PARAM_INT, .initial = "None", .optional = 1,
     .doc = "Axis to search. Negative values count from the end. None: all elements as one row."},
    {MXC_PARAM_FIELD(mxci_arg_params, keepdims), .name = "keepdims", .type = MXC_PARAM_BOOL, .initial = "false",
     .doc = "Keep the axis with size 1."},
    MXC_PARAM_END,
};

/* ---- inference --------------------------------------------------------------------------------------------------- */

/* Shape of out where one axis is searched. */
static mxc_status argmax_infer_axis(mxc_op_sig *sig, int axis, int keepdims) {
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

/* axis None searches all elements: out is (1,), or with keepdims as many axes of 1 as data has. */
static mxc_status argmax_infer_shape(mxc_op_sig *sig) {
    const mxci_arg_params *p = sig->params;
    const mxc_shape *data = &sig->in_shape[0];
    mxc_shape out;
    int axis;
    if (data->ndim < 0)
        return MXC_OK;
    if (p->axis != MXC_PARAM_UNSET) {
        MXC_TRY(mxci_sig_axis(sig, p->axis, data->ndim, &axis));
        return argmax_infer_axis(sig, axis, p->keepdims);
    }
    if (mxc_shape_size(data) == 0)
        return mxc_sig_fail(sig, "argument 'data' has no elements");
    out = p->keepdims ? *data : mxci_shape_of(1, (int64_t[]){1});
    for (int i = 0; i < out.ndim; i++)
        out.dim[i] = 1;
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

/* argmax_channel: along axis 1, which out does not have. */
static mxc_status infer_channel_shape(mxc_op_sig *sig) {
    if (sig->in_shape[0].ndim < 0)
        return MXC_OK;
    if (sig->in_shape[0].ndim < 2)
        return mxc_sig_fail(sig, "argument 'data' has %d axes, expected at least 2", (int)sig->in_shape[0].ndim);
    return argmax_infer_axis(sig, 1, 0);
}

/* ---- searching --------------------------------------------------------------------------------------------------- */

enum {
    OUTPUT_TILE = 4 * MXCI_TILE, /* outputs that are searched together: enough for long pieces of rows */
    CHUNKS = 64,                 /* of n, where there are few outputs; they depend on the shapes only */
    FEW_OUTPUTS = 1024,
};

/* Data as (outer, n, inner), searched along n. */
typedef struct search {
    const mxc_op_call *call;
    const mxci_arg_kernel *kernel;
    int64_t n, inner, n_out, chunks;
    char *best, *best_index; /* of each chunk, n_out entries of up to 8 bytes: the best element so far, and its index */
} search;

/* Data as (outer, n, inner). Few outputs over many elements are searched in chunks of n, whose candidates are merged in
 * order; the chunks depend on the shapes only, so that of equal elements the first is found whatever the threads. */
static void argmax_plan(search *s, const mxc_shape *data, int64_t axis) {
    s->n = mxc_shape_size(data);
    s->inner = s->n_out = s->chunks = 1;
    if (axis != MXC_PARAM_UNSET) {
        int at = (int)(axis < 0 ? axis + data->ndim : axis);
        s->n = data->dim[at];
        s->inner = mxci_shape_count(data, at + 1, data->ndim);
        s->n_out = mxci_shape_count(data, 0, at) * s->inner;
    }
    if (s->n_out == 1 || (s->inner > 1 && s->n_out > 0 && s->n_out <= FEW_OUTPUTS))
        s->chunks += s->n / (4 * MXCI_GRAIN / s->n_out);
    s->chunks = s->chunks < CHUNKS ? s->chunks : CHUNKS;
}

/* n elements in the compute type: where they lie if they have it, else converted into the tile. */
static const void *argmax_load(const search *s, int64_t element, int64_t n, void *tile) {
    const mxc_tensor *data = &s->call->in[0];
    if (mxci_compute_type(data->dtype) == data->dtype)
        return mxci_at(data, element);
    mxci_load(data->dtype, mxci_at(data, element), tile, n);
    return tile;
}

/* Outputs output..output+n-1, all of one outer index, over elements begin..end-1 of n. */
static void search_outputs(const search *s, int64_t output, int64_t n, int64_t begin, int64_t end, void *best,
                           void *best_index) {
    _Alignas(64) int64_t tile[OUTPUT_TILE];
    int64_t first = output / s->inner * s->n * s->inner + output % s->inner;
    for (int64_t k = begin; s->inner > 1 && k < end; k++)
        s->kernel->update(n, argmax_load(s, first + k * s->inner, n, tile), k, k == begin, best, best_index);
    for (int64_t k = begin; s->inner == 1 && k < end; k += OUTPUT_TILE) {
        int64_t run = end - k < OUTPUT_TILE ? end - k : OUTPUT_TILE;
        s->kernel->update_row(run, argmax_load(s, first + k, run, tile), k, k == begin, best, best_index);
    }
}

/* Number of outputs from `output` on that have one outer index, at most OUTPUT_TILE. */
static int64_t run_of(const search *s, int64_t output, int64_t end) {
    int64_t n = s->inner - output % s->inner;
    n = n < end - output ? n : end - output;
    return n < OUTPUT_TILE ? n : OUTPUT_TILE;
}

/* The kernel keeps indices in data's compute type, as wide as its elements; out has data's own. */
static void argmax_store(const search *s, int64_t output, int64_t n, const char *best_index) {
    const mxc_op_call *call = s->call;
    const mxc_dtype dtype = call->out[0].dtype, compute = mxci_compute_type(dtype);
    _Alignas(64) int64_t found[MXCI_TILE];
    for (int64_t i = 0; i < n; i += MXCI_TILE) {
        int64_t count = n - i < MXCI_TILE ? n - i : MXCI_TILE;
        mxci_convert(compute, best_index + (size_t)i * mxc_dtype_size(compute), dtype, found, count);
        mxci_assign_row(call->req[0], dtype, mxci_at(&call->out[0], output + i), found, count);
    }
}

/* Outputs begin..end-1, each over all of n. */
static void outputs_range(void *arg, int64_t begin, int64_t end, int part) {
    const search *s = arg;
    _Alignas(64) int64_t best[OUTPUT_TILE], best_index[OUTPUT_TILE];
    (void)part;
    for (int64_t n; begin < end; begin += n) {
        n = run_of(s, begin, end);
        search_outputs(s, begin, n, 0, s->n, best, best_index);
        argmax_store(s, begin, n, (const char *)best_index);
    }
}

/* Chunks begin..end-1 of n: candidates of all outputs, at the chunk's place in the scratch. */
static void chunks_range(void *arg, int64_t begin, int64_t end, int part) {
    const search *s = arg;
    const size_t size = mxc_dtype_size(mxci_compute_type(s->call->in[0].dtype));
    (void)part;
    for (int64_t c = begin; c < end; c++)
        for (int64_t i = 0, n; i < s->n_out; i += n) {
            size_t at = (size_t)(c * s->n_out + i) * size;
            n = run_of(s, i, s->n_out);
            search_outputs(s, i, n, s->n * c / s->chunks, s->n * (c + 1) / s->chunks, s->best + at, s->best_index + at);
        }
}

/* Bytes of best, and of best_index; 0 where tiles on the stack suffice. */
static size_t candidate_bytes(const search *s) {
    return s->chunks > 1 ? mxci_size_of(mxci_dim_mul(s->n_out, s->chunks), 8) : 0;
}

/* Chunks are merged in their order: a later candidate wins only if it is better, so that the first of equals stays. */
static mxc_status argmax_run(const mxc_op_call *call, int64_t axis, const mxci_arg_kernel *kernels) {
    mxc_dtype compute = mxci_compute_type(call->in[0].dtype);
    size_t row;
    search s = {.call = call, .kernel = &kernels[compute], .best = call->temp};
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    argmax_plan(&s, &call->in[0].shape, axis);
    if (s.chunks == 1) {
        mxc_parallel_for(call->run, s.n_out, 1 + MXCI_GRAIN / s.n, outputs_range, &s);
        return MXC_OK;
    }
    s.best_index = s.best + candidate_bytes(&s);
    mxc_parallel_for(call->run, s.chunks, 1, chunks_range, &s);
    row = (size_t)s.n_out * mxc_dtype_size(compute);
    for (int64_t c = 1; c < s.chunks; c++)
        s.kernel->merge(s.n_out, s.best + (size_t)c * row, s.best_index + (size_t)c * row, s.best, s.best_index);
    argmax_store(&s, 0, s.n_out, s.best_index);
    return MXC_OK;
}

static size_t temp_of(const mxc_op_sig *sig, mxc_pass pass, int64_t axis) {
    search s;
    if (pass == MXC_BACKWARD)
        return 0;
    argmax_plan(&s, &sig->in_shape[0], axis);
    return mxci_size_mul(2, candidate_bytes(&s));
}

static size_t argmax_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    return temp_of(sig, pass, ((const mxci_arg_params *)sig->params)->axis);
}

static size_t channel_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    return temp_of(sig, pass, 1);
}

static mxc_status argmax(const mxc_op_call *call) {
    return argmax_run(call, ((const mxci_arg_params *)call->params)->axis, mxci_argmax_kernels);
}

static mxc_status argmin(const mxc_op_call *call) {
    return argmax_run(call, ((const mxci_arg_params *)call->params)->axis, mxci_argmin_kernels);
}

static mxc_status argmax_channel(const mxc_op_call *call) {
    return argmax_run(call, 1, mxci_argmax_kernels);
}

/* ---- descriptors ------------------------------------------------------------------------------------------------- */

const mxc_op_def mxci_op_argmax = {
    .size = sizeof(mxc_op_def),
    .name = "argmax",
    .doc = "out = index of the maximum along axis, in data's type; of equal elements the first",
    .flags = MXC_OP_ZERO_GRADIENT,
    .params = schema,
    .param_size = sizeof(mxci_arg_params),
    .infer_shape = argmax_infer_shape,
    .dtypes = MXC_DTYPES_NUMBER,
    .temp_bytes = argmax_temp_bytes,
    .forward = {[MXC_CPU] = argmax},
};

const mxc_op_def mxci_op_argmin = {
    .size = sizeof(mxc_op_def),
    .name = "argmin",
    .doc = "out = index of the minimum along axis, in data's type; of equal elements the first",
    .flags = MXC_OP_ZERO_GRADIENT,
    .params = schema,
    .param_size = sizeof(mxci_arg_params),
    .infer_shape = argmax_infer_shape,
    .dtypes = MXC_DTYPES_NUMBER,
    .temp_bytes = argmax_temp_bytes,
    .forward = {[MXC_CPU] = argmin},
};

const mxc_op_def mxci_op_argmax_channel = {
    .size = sizeof(mxc_op_def),
    .name = "argmax_channel",
    .doc = "out (N,...) = index of the maximum of data (N,C,...) along axis 1, in data's type",
    .flags = MXC_OP_ZERO_GRADIENT,
    .infer_shape = infer_channel_shape,
    .dtypes = MXC_DTYPES_NUMBER,
    .temp_bytes = channel_temp_bytes,
    .forward = {[MXC_CPU] = argmax_channel},
};
