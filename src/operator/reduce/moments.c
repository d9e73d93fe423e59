/* SPDX-License-Identifier: Apache-2.0 */
/* moments: mean and var of data over a set of axes, var = the mean of (data - mean)^2. Sums are made in float64, those
 * of the variance in a second pass, so that a large mean costs no digits. */
#include "math/tile_kernels.h"
#include "operator/reduce/axes.h"

enum { MEAN, VAR };

/* The parameters of a reduction, without exclude, which stays 0. */
static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(mxci_axes_params, axis), .name = "axes", .type = MXC_PARAM_TUPLE, .initial = "None", .optional = 1,
     .doc = "Axes to reduce. Negative values count from the end. None or (): all."},
    {MXC_PARAM_FIELD(mxci_axes_params, keepdims), .name = "keepdims", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "Keep the reduced axes with size 1."},
    MXC_PARAM_END,
};

/* Both outputs have one shape, which follows as that of any reduction. */
static mxc_status moments_infer_shape(mxc_op_sig *sig) {
    const int outputs[] = {MXC_SLOT_OUT(MEAN), MXC_SLOT_OUT(VAR)};
    MXC_TRY(mxci_sig_same_shape(sig, 2, outputs));
    MXC_TRY(mxci_axes_infer_shape(sig));
    return mxci_sig_same_shape(sig, 2, outputs);
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

typedef struct moments_run {
    const mxc_op_call *call;
    mxci_strided kept, reduced;
    int64_t n_reduced;
} moments_run;

/* 1 if neighbours in memory belong to one output; else outputs lie side by side. */
static int is_inner_reduced(const moments_run *r) {
    return r->reduced.step[r->reduced.n - 1] == 1;
}

/* sums of n <= MXCI_TILE neighbouring outputs (1 where the innermost axis is reduced), whose elements begin at an
 * offset of data: of the elements or, with the means, of the squares of their differences from them. */
static void sum_elements(const moments_run *r, int64_t offset, int64_t n, const double *mean, double *sums) {
    const mxc_tensor *data = &r->call->in[0];
    const int along = is_inner_reduced(r);
    double tile[MXCI_TILE];
    mxci_cursor cursor;
    for (int64_t k = 0; k < n; k++)
        sums[k] = 0;
    mxci_cursor_seek(&r->reduced, 0, &cursor);
    for (int64_t i = 0, run; i < r->n_reduced; i += run) {
        const int64_t rest = r->n_reduced - i < MXCI_TILE ? r->n_reduced - i : MXCI_TILE;
        run = mxci_cursor_run(&r->reduced, &cursor, along ? rest : 1);
        const int64_t count = along ? run : n;
        mxci_convert(data->dtype, mxci_at(data, offset + cursor.offset), MXC_F64, tile, count);
        for (int64_t k = 0; k < count; k++) {
            const int64_t at = along ? 0 : k;
            const double x = mean ? tile[k] - mean[at] : tile[k];
            sums[at] += mean ? x * x : x;
        }
        mxci_cursor_advance(&r->reduced, &cursor, run);
    }
    for (int64_t k = 0; k < n; k++)
        sums[k] /= (double)r->n_reduced;
}

static void put_values(const mxc_op_call *call, int slot, int64_t first, int64_t n, const double *from) {
    const mxc_tensor *out = &call->out[slot];
    mxci_assign_cast_row(call->req[slot], MXC_F64, from, out->dtype, mxci_at(out, first), n);
}

/* Outputs begin..end-1. */
static void moments_range(void *arg, int64_t begin, int64_t end, int part) {
    const moments_run *r = arg;
    double mean[MXCI_TILE], var[MXCI_TILE];
    mxci_cursor cursor;
    (void)part;
    mxci_cursor_seek(&r->kept, begin, &cursor);
    for (int64_t n; begin < end; begin += n) {
        const int64_t most = is_inner_reduced(r) ? 1 : end - begin < MXCI_TILE ? end - begin : MXCI_TILE;
        n = mxci_cursor_run(&r->kept, &cursor, most);
        sum_elements(r, cursor.offset, n, NULL, mean);
        sum_elements(r, cursor.offset, n, mean, var);
        put_values(r->call, MEAN, begin, n, mean);
        put_values(r->call, VAR, begin, n, var);
        mxci_cursor_advance(&r->kept, &cursor, n);
    }
}

static mxc_status moments_forward(const mxc_op_call *call) {
    const mxc_shape *data = &call->in[0].shape;
    const int64_t n_out = mxci_tensor_size(&call->out[MEAN]);
    moments_run r = {.call = call, .n_reduced = 1};
    int reduced[MXC_MAX_NDIM];
    mxci_axes_of(call->params, data->ndim, reduced);
    mxci_axes_part(data, reduced, 0, &r.kept);
    mxci_axes_part(data, reduced, 1, &r.reduced);
    for (int i = 0; i < r.reduced.n; i++)
        r.n_reduced *= r.reduced.dim[i];
    mxc_parallel_for(call->run, n_out, MXCI_GRAIN / (r.n_reduced + 1) + 1, moments_range, &r);
    return MXC_OK;
}

/* ---- backward ---------------------------------------------------------------------------------------------------- */

typedef struct gradient_run {
    const mxc_op_call *call;
    mxci_strided outputs; /* over data's space */
    double scale;         /* 1 / number of elements reduced */
} gradient_run;

/* n <= MXCI_TILE elements of an array of the outputs' shape, broadcast over data, from element first on. */
static void load_broadcast(const gradient_run *r, const mxc_tensor *from, int64_t first, int64_t n, double *to) {
    _Alignas(64) int64_t tile[MXCI_TILE];
    mxci_gather(&r->outputs, mxc_dtype_size(from->dtype), from->data, first, n, tile);
    mxci_convert(from->dtype, tile, MXC_F64, to, n);
}

/* (mean' + 2 (x - mean) var') / n for elements begin..end-1 of data, with mean' and var' the outputs' gradients. */
static void gradient_range(void *arg, int64_t begin, int64_t end, int part) {
    const gradient_run *r = arg;
    const mxc_op_call *call = r->call;
    const mxc_tensor *data = &call->in[0], *grad = &call->in_grad[0];
    double x[MXCI_TILE], mean[MXCI_TILE], mean_grad[MXCI_TILE], var_grad[MXCI_TILE];
    (void)part;
    for (int64_t i = begin, n; i < end; i += n) {
        n = end - i < MXCI_TILE ? end - i : MXCI_TILE;
        mxci_convert(data->dtype, mxci_at(data, i), MXC_F64, x, n);
        load_broadcast(r, &call->out[MEAN], i, n, mean);
        load_broadcast(r, &call->out_grad[MEAN], i, n, mean_grad);
        load_broadcast(r, &call->out_grad[VAR], i, n, var_grad);
        for (int64_t k = 0; k < n; k++)
            x[k] = r->scale * (mean_grad[k] + 2 * (x[k] - mean[k]) * var_grad[k]);
        mxci_assign_cast_row(call->req[0], MXC_F64, x, grad->dtype, mxci_at(grad, i), n);
    }
}

static mxc_status moments_backward(const mxc_op_call *call) {
    const mxc_tensor *grad = &call->in_grad[0];
    const int64_t n = mxci_tensor_size(grad);
    gradient_run r = {.call = call, .scale = (double)mxci_tensor_size(&call->out[MEAN]) / (double)n};
    int reduced[MXC_MAX_NDIM];
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    mxci_axes_of(call->params, grad->shape.ndim, reduced);
    mxci_axes_strides(&grad->shape, reduced, &r.outputs);
    mxc_parallel_for(call->run, n, MXCI_GRAIN / 4, gradient_range, &r);
    return MXC_OK;
}

const mxc_op_def mxci_op_moments = {
    .size = sizeof(mxc_op_def),
    .name = "moments",
    .outputs = "output0,output1",
    .doc = "output0 = the mean of data over the axes, output1 = the variance, the mean of (data - output0)^2",
    .params = schema,
    .param_size = sizeof(mxci_axes_params),
    .infer_shape = moments_infer_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1 << MEAN | 1 << VAR, .in = 1, .out = 1 << MEAN},
    .forward = {[MXC_CPU] = moments_forward},
    .backward = {[MXC_CPU] = moments_backward},
};
