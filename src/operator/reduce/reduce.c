/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions over a set of axes: sum, mean, prod, nansum, nanprod, max, min, norm. Reducing all axes without keepdims
 * gives shape (1,). Sums are made in double (int64_t for integers, which wrap to their dtype). Of no elements: sum 0,
 * prod 1, max -inf, min inf. A NaN makes the result NaN, except in nansum and nanprod, which leave it out. Of bool:
 * whether the result, as of integers, is not 0. The Euclidean norm of integers is the integer part of the norm in
 * double.
 *
 * Work is split by outputs or, where those are few, by the reduced elements: in chunks that depend on shapes only, so
 * that the number of threads does not change results. Their accumulators are in scratch.
 */
#include <math.h>

#include "math/map.h"
#include "math/reduce_kernels.h"
#include "operator/op.h"
#include "operator/reduce/axes.h"

enum {
    OUTPUT_TILE = 4 * MXCI_TILE, /* outputs that are accumulated together: enough for long pieces of rows */
    CHUNKS = 64,
    FEW_ROWS = CHUNKS,  /* outputs up to which the reduced elements are split, where the innermost axis is reduced */
    FEW_COLUMNS = 1024, /* the same where it is kept; whole rows are fetched faster than pieces */
};

typedef enum finish_kind { FINISH_NONE, FINISH_MEAN, FINISH_ROOT } finish_kind;

typedef struct reduction {
    int kernel;
    finish_kind finish;
    const mxci_map_fn *gradient;
} reduction;

/* One run. The accumulators are 8 bytes each, of double or int64_t. */
typedef struct reduce_run {
    const mxc_op_call *call;
    const mxci_reduce_kernel *kernel;
    mxc_dtype type; /* that the kernel reads: the compute type, or double */
    finish_kind finish;
    mxci_strided kept, reduced;
    int64_t n_out, n_reduced, chunks;
    char *partial; /* n_out accumulators for each chunk */
} reduce_run;

/* Number of elements of a strided view. */
static int64_t strided_size(const mxci_strided *s) {
    int64_t size = 1;
    for (int i = 0; i < s->n; i++)
        size *= s->dim[i];
    return size;
}

/* ---- accumulating ----------------------------------------------------------------------------------------------- */

/* 1 if data is of the kernel's type, so that rows are read where they lie. */
static int is_native(const reduce_run *r) {
    return r->type == r->call->in[0].dtype;
}

/* Elements at an offset of data, in the kernel's type: where they lie, or n of them in the tile. */
static const void *reduce_load(const reduce_run *r, int64_t offset, int64_t n, void *tile) {
    const mxc_tensor *data = &r->call->in[0];
    if (is_native(r))
        return mxci_at(data, offset);
    mxci_convert(data->dtype, mxci_at(data, offset), r->type, tile, n);
    return tile;
}

/* The innermost axis is kept: accumulators of n neighbouring outputs take row after row. */
static void take_across(const reduce_run *r, int64_t offset, int64_t n, int64_t begin, int64_t end, char *acc) {
    _Alignas(64) int64_t tile[OUTPUT_TILE];
    int64_t stride = r->reduced.step[r->reduced.n - 1];
    mxci_cursor cursor;
    mxci_cursor_seek(&r->reduced, begin, &cursor);
    while (begin < end) {
        int64_t run = mxci_cursor_run(&r->reduced, &cursor, is_native(r) ? end - begin : 1);
        r->kernel->across(n, run, stride, reduce_load(r, offset + cursor.offset, n, tile), acc);
        mxci_cursor_advance(&r->reduced, &cursor, run);
        begin += run;
    }
}

/* The innermost axis is reduced: one accumulator takes whole rows. */
static void take_along(const reduce_run *r, int64_t offset, int64_t begin, int64_t end, char *acc) {
    _Alignas(64) int64_t tile[MXCI_TILE];
    mxci_cursor cursor;
    mxci_cursor_seek(&r->reduced, begin, &cursor);
    while (begin < end) {
        int64_t most = is_native(r) || end - begin < MXCI_TILE ? end - begin : MXCI_TILE;
        int64_t run = mxci_cursor_run(&r->reduced, &cursor, most);
        r->kernel->along(run, 1, 0, reduce_load(r, offset + cursor.offset, run, tile), acc);
        mxci_cursor_advance(&r->reduced, &cursor, run);
        begin += run;
    }
}

/* The same for n outputs with a row each, of which as many as a tile has room for are loaded at once. */
static void take_all_along(const reduce_run *r, int64_t offset, int64_t n, int64_t begin, int64_t end, char *acc) {
    _Alignas(64) int64_t tile[MXCI_TILE];
    int64_t stride = r->kept.step[r->kept.n - 1], width = end - begin;
    int64_t most = is_native(r) ? n : stride == width ? MXCI_TILE / (width + !width) : 0;
    for (int64_t i = 0, count; i < n; i += count, acc += count * 8) {
        count = most > 0 ? (n - i < most ? n - i : most) : 1;
        if (most > 0)
            r->kernel->along(width, count, stride, reduce_load(r, offset + begin + i * stride, count * width, tile),
                             acc);
        else
            take_along(r, offset + i * stride, begin, end, acc);
    }
}

/* 1 if neighbours in memory belong to one output, so that rows are summed along; else outputs lie side by side. */
static int is_inner_reduced(const reduce_run *r) {
    return r->reduced.step[r->reduced.n - 1] == 1;
}

/* Accumulators of outputs out_begin..out_end-1 over the reduced elements begin..end-1. */
static void accumulate(const reduce_run *r, int64_t out_begin, int64_t out_end, int64_t begin, int64_t end, char *acc) {
    mxci_cursor cursor;
    r->kernel->start(out_end - out_begin, acc);
    mxci_cursor_seek(&r->kept, out_begin, &cursor);
    while (out_begin < out_end) {
        int single = is_inner_reduced(r) && r->reduced.n > 1;
        int64_t limit = single ? 1 : out_end - out_begin < OUTPUT_TILE ? out_end - out_begin : OUTPUT_TILE;
        int64_t run = mxci_cursor_run(&r->kept, &cursor, limit);
        if (!is_inner_reduced(r))
            take_across(r, cursor.offset, run, begin, end, acc);
        else if (r->reduced.n == 1)
            take_all_along(r, cursor.offset, run, begin, end, acc);
        else
            take_along(r, cursor.offset, begin, end, acc);
        mxci_cursor_advance(&r->kept, &cursor, run);
        out_begin += run;
        acc += run * 8;
    }
}

/* ---- storing ---------------------------------------------------------------------------------------------------- */

/* The last step on the accumulators: a mean divides, a norm takes the root. */
static void finish_values(const reduce_run *r, int64_t n, double *acc) {
    for (int64_t i = 0; i < n; i++) {
        if (r->finish == FINISH_MEAN)
            acc[i] /= (double)r->n_reduced;
        else if (r->finish == FINISH_ROOT)
            acc[i] = sqrt(acc[i]);
    }
}

/* Outputs begin.. from n <= MXCI_TILE accumulators. */
static void reduce_store(const reduce_run *r, int64_t begin, int64_t n, void *acc) {
    const mxc_tensor *out = &r->call->out[0];
    mxc_dtype compute = mxci_compute_type(out->dtype);
    _Alignas(64) int64_t tile[MXCI_TILE];
    if (r->type == MXC_I64) {
        for (int64_t i = 0; r->finish == FINISH_MEAN && r->n_reduced > 0 && i < n; i++)
            ((int64_t *)acc)[i] /= r->n_reduced;
    } else {
        finish_values(r, n, acc);
        mxci_convert(MXC_F64, acc, compute, tile, n);
        acc = tile;
    }
    (r->call->req[0] == MXC_REQ_ADD ? mxci_store_add : mxci_store)(out->dtype, acc, mxci_at(out, begin), n);
}

/* Outputs begin..end-1, each over all reduced elements. */
static void outputs_range(void *arg, int64_t begin, int64_t end, int part) {
    const reduce_run *r = arg;
    _Alignas(64) int64_t acc[OUTPUT_TILE];
    (void)part;
    for (int64_t i = begin; i < end; i += OUTPUT_TILE) {
        int64_t n = end - i < OUTPUT_TILE ? end - i : OUTPUT_TILE;
        accumulate(r, i, i + n, 0, r->n_reduced, (char *)acc);
        for (int64_t k = 0; k < n; k += MXCI_TILE)
            reduce_store(r, i + k, n - k < MXCI_TILE ? n - k : MXCI_TILE, acc + k);
    }
}

/* Chunks begin..end-1 of the reduced elements: accumulators of all outputs, merged afterwards in the chunks' order. */
static void chunks_range(void *arg, int64_t begin, int64_t end, int part) {
    const reduce_run *r = arg;
    (void)part;
    for (int64_t c = begin; c < end; c++)
        accumulate(r, 0, r->n_out, r->n_reduced * c / r->chunks, r->n_reduced * (c + 1) / r->chunks,
                   r->partial + c * r->n_out * 8);
}

/* ---- the run ---------------------------------------------------------------------------------------------------- */

/* The strides and sizes, and the number of chunks: 1 where there are enough outputs to split among the threads. */
static void reduce_plan(reduce_run *r, const mxc_shape *data, const void *params) {
    int reduced[MXC_MAX_NDIM];
    mxci_axes_of(params, data->ndim, reduced);
    mxci_axes_part(data, reduced, 0, &r->kept);
    mxci_axes_part(data, reduced, 1, &r->reduced);
    r->n_out = strided_size(&r->kept);
    r->n_reduced = strided_size(&r->reduced);
    r->chunks = 1;
    if (r->n_out > 0 && r->n_out <= (is_inner_reduced(r) ? FEW_ROWS : FEW_COLUMNS))
        r->chunks += r->n_reduced / (4 * MXCI_GRAIN / r->n_out);
    r->chunks = r->chunks < CHUNKS ? r->chunks : CHUNKS;
}

static size_t reduce_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    reduce_run r;
    if (pass == MXC_BACKWARD)
        return 0;
    reduce_plan(&r, &sig->in_shape[0], sig->params);
    return r.chunks > 1 ? mxci_size_of(mxci_dim_mul(r.n_out, r.chunks), 8) : 0;
}

/* By outputs, or by chunks of the reduced elements, whose accumulators are combined in order. */
static mxc_status reduce(const mxc_op_call *call, const reduction *kind) {
    const mxc_tensor *data = &call->in[0];
    reduce_run r = {.call = call, .finish = kind->finish, .partial = call->temp};
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    r.type = mxci_compute_type(data->dtype);
    if (r.type == MXC_I64 && kind->finish == FINISH_ROOT)
        r.type = MXC_F64;
    r.kernel = &mxci_reduce_kernels[kind->kernel][r.type];
    reduce_plan(&r, &data->shape, call->params);
    if (r.chunks == 1) {
        int64_t grain = r.n_reduced >= MXCI_GRAIN ? 1 : MXCI_GRAIN / (r.n_reduced > 0 ? r.n_reduced : 1);
        mxc_parallel_for(call->run, r.n_out, grain, outputs_range, &r);
        return MXC_OK;
    }
    mxc_parallel_for(call->run, r.chunks, 1, chunks_range, &r);
    for (int64_t c = 1; c < r.chunks; c++)
        r.kernel->combine(r.n_out, r.partial + c * r.n_out * 8, r.partial);
    for (int64_t i = 0; i < r.n_out; i += MXCI_TILE)
        reduce_store(&r, i, r.n_out - i < MXCI_TILE ? r.n_out - i : MXCI_TILE, r.partial + i * 8);
    return MXC_OK;
}

/* ---- gradients -------------------------------------------------------------------------------------------------- */

/* An element-wise function of data, and of the output and its gradient broadcast over data. Sums and means only scale
 * the gradient; the absolute value, the square and nansum do not read the output. */
static mxc_status reduce_gradient(const mxc_op_call *call, const reduction *kind) {
    const mxc_tensor *grad = &call->in_grad[0];
    int reduced[MXC_MAX_NDIM];
    mxci_strided strides;
    mxci_mapping m = {.dtype = grad->dtype, .n = mxci_tensor_size(grad), .n_in = 3};
    int64_t n_out = mxci_tensor_size(&call->out_grad[0]);
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    mxci_axes_of(call->params, grad->shape.ndim, reduced);
    mxci_axes_strides(&grad->shape, reduced, &strides);
    m.in[0] = (mxci_operand){.data = call->out_grad[0].data, .strides = &strides};
    m.in[1] = (mxci_operand){.data = call->in[0].data};
    m.in[2] = (mxci_operand){.data = call->out[0].data, .strides = &strides};
    if (kind->gradient == mxci_reduce_grad_scale) {
        m.in[1] = (mxci_operand){.value = kind->finish == FINISH_MEAN && m.n ? (double)n_out / (double)m.n : 1};
        m.n_in = 2;
    } else if (kind->gradient == mxci_reduce_grad_nansum || kind->gradient == mxci_reduce_grad_abs ||
               kind->gradient == mxci_reduce_grad_square) {
        m.n_in = 2;
    }
    m.result[0] =
        (mxci_result){.fn = kind->gradient[mxci_compute_type(grad->dtype)], .req = call->req[0], .data = grad->data};
    return mxci_mapping_run(call->run, &m);
}

/* ---- descriptors ------------------------------------------------------------------------------------------------ */

static const mxc_param schema[] = {MXCI_AXES_PARAMS, MXC_PARAM_END};

/* Without keepdims the result is no image. */
static int reduce_channels_last(const mxc_op *op, int ndim, mxc_channels_last *out) {
    const mxci_axes_params *p = mxc_op_params(op);
    return p->keepdims && mxci_axes_channels_last("axis", &p->axis, ndim, out);
}

#define NEEDS_GRAD \
    { .out_grad = 1 }
#define NEEDS_IN \
    { .out_grad = 1, .in = 1 }
#define NEEDS_ALL \
    { .out_grad = 1, .in = 1, .out = 1 }

#define REDUCTION(symbol, its_aliases, its_kernel, its_finish, its_gradient, ...)          \
    static const reduction symbol##_kind = {MXCI_REDUCE_##its_kernel, FINISH_##its_finish, \
                                            mxci_reduce_grad_##its_gradient};              \
    static mxc_status symbol##_forward(const mxc_op_call *call) {                          \
        return reduce(call, &symbol##_kind);                                               \
    }                                                                                      \
    static mxc_status symbol##_backward(const mxc_op_call *call) {                         \
        return reduce_gradient(call, &symbol##_kind);                                      \
    }
#include "operator/reduce/reduce_names.def"
#undef REDUCTION

#define REDUCTION(symbol, its_aliases, its_kernel, its_finish, its_gradient, its_needs, types, its_doc) \
    const mxc_op_def mxci_op_##symbol = {.size = sizeof(mxc_op_def),                                    \
                                         .name = #symbol,                                               \
                                         .aliases = its_aliases,                                        \
                                         .doc = its_doc,                                                \
                                         .params = schema,                                              \
                                         .param_size = sizeof(mxci_axes_params),                        \
                                         .infer_shape = mxci_axes_infer_shape,                          \
                                         .dtypes = MXC_DTYPES_##types,                                  \
                                         .needs = its_needs,                                            \
                                         .temp_bytes = reduce_temp_bytes,                               \
                                         .channels_last = reduce_channels_last,                         \
                                         .forward = {[MXC_CPU] = symbol##_forward},                     \
                                         .backward = {[MXC_CPU] = symbol##_backward}};
#include "operator/reduce/reduce_names.def"

/* ---- _square_sum: what row-sparse optimizers read, of dense arrays ----------------------------------------------- */

static const reduction square_sum_kind = {MXCI_REDUCE_sum_square, FINISH_NONE, mxci_reduce_grad_square};

static mxc_status square_sum_forward(const mxc_op_call *call) {
    return reduce(call, &square_sum_kind);
}

static mxc_status square_sum_backward(const mxc_op_call *call) {
    return reduce_gradient(call, &square_sum_kind);
}

const mxc_op_def mxci_op_square_sum = {
    .size = sizeof(mxc_op_def),
    .name = "_square_sum",
    .doc = "out = sum of the squares of data over the axes",
    .params = schema,
    .param_size = sizeof(mxci_axes_params),
    .infer_shape = mxci_axes_infer_shape,
    .dtypes = MXC_DTYPES_NUMBER,
    .needs = NEEDS_IN,
    .temp_bytes = reduce_temp_bytes,
    .forward = {[MXC_CPU] = square_sum_forward},
    .backward = {[MXC_CPU] = square_sum_backward},
};

/* ---- norm: of order 1 or 2 -------------------------------------------------------------------------------------- */

static const mxc_param norm_schema[] = {
    MXCI_AXES_PARAMS,
    {MXC_PARAM_FIELD(mxci_norm_params, ord), .name = "ord", .type = MXC_PARAM_INT, .initial = "2", .bounded = 1,
     .minimum = 1, .maximum = 2, .doc = "Order of the norm. 1: sum of absolute values; 2: Euclidean norm."},
    {MXC_PARAM_FIELD(mxci_norm_params, out_dtype), .name = "out_dtype", .type = MXC_PARAM_DTYPE, .initial = "None",
     .optional = 1, .doc = "Dtype of out. Only the dtype of data, which is also the meaning of None."},
    MXC_PARAM_END,
};

static const reduction norm_kinds[] = {
    {MXCI_REDUCE_sum_abs, FINISH_NONE, mxci_reduce_grad_abs},
    {MXCI_REDUCE_sum_square, FINISH_ROOT, mxci_reduce_grad_norm},
};

static const reduction *norm_kind(const void *params) {
    return &norm_kinds[((const mxci_norm_params *)params)->ord - 1];
}

static mxc_status norm_type(mxc_op_sig *sig) {
    const mxc_dtype wanted = (mxc_dtype)((const mxci_norm_params *)sig->params)->out_dtype;
    MXC_TRY(mxci_sig_same_type(sig, 2, (int[]){0, MXC_SLOT_OUT(0)}));
    if (wanted == MXC_DTYPE_UNKNOWN || sig->in_type[0] == MXC_DTYPE_UNKNOWN || wanted == sig->in_type[0])
        return MXC_OK;
    return MXC_FAIL(MXC_EUNSUPPORTED, "norm: out_dtype %s of data of %s: the norm is computed in data's dtype only",
                    mxc_dtype_name(wanted), mxc_dtype_name(sig->in_type[0]));
}

static void norm_needs(const void *params, mxc_op_needs *needs) {
    int reads_out = ((const mxci_norm_params *)params)->ord == 2;
    *needs = (mxc_op_needs){.out_grad = 1, .in = 1, .out = (uint64_t)reads_out};
}

static mxc_status norm_forward(const mxc_op_call *call) {
    return reduce(call, norm_kind(call->params));
}

static mxc_status norm_backward(const mxc_op_call *call) {
    return reduce_gradient(call, norm_kind(call->params));
}

const mxc_op_def mxci_op_norm = {
    .size = sizeof(mxc_op_def),
    .name = "norm",
    .doc = "out = norm of data over the axes: Euclidean, or with ord=1 the sum of absolute values; of integers without "
           "its "
           "fraction",
    .params = norm_schema,
    .param_size = sizeof(mxci_norm_params),
    .infer_shape = mxci_axes_infer_shape,
    .infer_type = norm_type,
    .dtypes = MXC_DTYPES_ALL,
    .backward_needs = norm_needs,
    .temp_bytes = reduce_temp_bytes,
    .forward = {[MXC_CPU] = norm_forward},
    .backward = {[MXC_CPU] = norm_backward},
};
