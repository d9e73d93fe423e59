/* SPDX-License-Identifier: Apache-2.0 */
/* _contrib_count_sketch: data (...,n), out (...,out_dim) with out[h[j]] = the sum of s[j] data[j] (Pham and Pagh,
 * 2013). h (1,n) or (n) holds positions in out, an error outside; s, of h's shape, usually signs. The gradient of data
 * is s[j] times that of out[h[j]]; h and s have none. Rows are distributed over threads and summed in float64, in the
 * order of j. */
#include "operator/contrib/count_sketch.h"

#include "math/tile_kernels.h"
#include "operator/index/rows.h"

typedef mxci_sketch_params sketch_params;

enum { DATA, H, S };

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(sketch_params, out_dim), .name = "out_dim", .type = MXC_PARAM_INT, .bounded = 1, .minimum = 1,
     .maximum = 9e15, .doc = "Size of the last axis of out, the length of a sketch."},
    {MXC_PARAM_FIELD(sketch_params, processing_batch_size), .name = "processing_batch_size", .type = MXC_PARAM_INT,
     .initial = "32",
     .doc = "Accepted for compatibility with MXNet; has no effect, since rows are distributed over threads."},
    MXC_PARAM_END,
};

/* ---- inference --------------------------------------------------------------------------------------------------- */

static mxc_status count_sketch_infer_shape(mxc_op_sig *sig) {
    mxc_shape *data = &sig->in_shape[DATA], *out = &sig->out_shape[0], shape;
    int last = (data->ndim >= 0 ? data->ndim : out->ndim) - 1;
    if (data->ndim == 0 || out->ndim == 0)
        return mxc_sig_fail(sig, "argument 'data' has no axes, expected at least 1");
    if (last < 0)
        return MXC_OK;
    shape = mxci_shape_axes(last + 1);
    MXC_TRY(mxc_sig_set_shape(sig, DATA, &shape));
    shape = *data;
    shape.dim[last] = ((const sketch_params *)sig->params)->out_dim;
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &shape));
    shape = *out;
    shape.dim[last] = -1;
    for (int slot = H; slot <= S; slot++)
        if (sig->in_shape[slot].ndim > 0 && shape.dim[last] < 0)
            shape.dim[last] = sig->in_shape[slot].dim[sig->in_shape[slot].ndim - 1];
    MXC_TRY(mxc_sig_set_shape(sig, DATA, &shape));
    for (int slot = H; slot <= S; slot++) { /* (1,n), or (n) where they are passed so */
        shape = sig->in_shape[slot].ndim == 1 ? mxci_shape_of(1, &data->dim[last])
                                              : mxci_shape_of(2, (int64_t[]){1, data->dim[last]});
        MXC_TRY(mxc_sig_set_shape(sig, slot, &shape));
    }
    return MXC_OK;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* One call: positions and signs as numbers, and two rows of float64 for each part, one for data and one for out. */
typedef struct sketch_run {
    const mxc_op_call *call;
    int64_t n, k;             /* sizes of rows of data and out */
    const int64_t *positions; /* n */
    const double *signs;      /* n */
    double *rows;             /* two of longer_row(n, k) for each part */
} sketch_run;

static int64_t last_size(const mxc_shape *shape) {
    return shape->dim[shape->ndim - 1];
}

static int64_t longer_row(int64_t n, int64_t k) {
    return n > k ? n : k;
}

/* Bytes of positions and signs, and of two rows for each part. */
static size_t count_sketch_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    int64_t n = last_size(&sig->in_shape[DATA]), k = last_size(&sig->out_shape[0]);
    (void)pass;
    return mxci_size_of(mxci_dim_add(2 * n, mxci_dim_mul(2 * sig->parallelism, longer_row(n, k))), sizeof(double));
}

/* Reads positions and signs once for all rows. */
static mxc_status count_sketch_open_run(const mxc_op_call *call, const mxc_shape *out, sketch_run *r) {
    int64_t n = last_size(&call->in[DATA].shape), k = last_size(out), *positions = call->temp;
    double *signs = (double *)call->temp + n;
    MXC_TRY(mxci_check_indices(call, H, 0, n, 0, k));
    mxci_read_indices(&call->in[H], 0, n, k, MXCI_INDEX_CLIP, positions);
    mxci_convert(call->in[S].dtype, call->in[S].data, MXC_F64, signs, n);
    *r = (sketch_run){call, n, k, positions, signs, signs + n};
    return MXC_OK;
}

static mxc_status for_each_row(const sketch_run *r, mxc_range_fn range) {
    const mxc_shape *data = &r->call->in[DATA].shape;
    if (r->call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(r->call->run, mxci_shape_count(data, 0, data->ndim - 1), MXCI_GRAIN / (4 * (r->n + r->k)) + 1,
                         range, (void *)r);
    return MXC_OK;
}

static void forward_range(void *arg, int64_t begin, int64_t end, int part) {
    const sketch_run *r = arg;
    const mxc_tensor *data = &r->call->in[DATA], *out = &r->call->out[0];
    double *x = r->rows + part * 2 * longer_row(r->n, r->k), *sums = x + longer_row(r->n, r->k);
    for (int64_t row = begin; row < end; row++) {
        mxci_convert(data->dtype, mxci_at(data, row * r->n), MXC_F64, x, r->n);
        mxci_fill_compute(MXC_F64, 0, sums, r->k);
        for (int64_t j = 0; j < r->n; j++)
            sums[r->positions[j]] += r->signs[j] * x[j];
        mxci_convert(MXC_F64, sums, out->dtype, x, r->k);
        mxci_assign_row(r->call->req[0], out->dtype, mxci_at(out, row * r->k), x, r->k);
    }
}

static void backward_range(void *arg, int64_t begin, int64_t end, int part) {
    const sketch_run *r = arg;
    const mxc_tensor *g = &r->call->out_grad[0], *grad = &r->call->in_grad[DATA];
    double *x = r->rows + part * 2 * longer_row(r->n, r->k), *y = x + longer_row(r->n, r->k);
    for (int64_t row = begin; row < end; row++) {
        mxci_convert(g->dtype, mxci_at(g, row * r->k), MXC_F64, y, r->k);
        for (int64_t j = 0; j < r->n; j++)
            x[j] = r->signs[j] * y[r->positions[j]];
        mxci_convert(MXC_F64, x, grad->dtype, y, r->n);
        mxci_assign_row(r->call->req[DATA], grad->dtype, mxci_at(grad, row * r->n), y, r->n);
    }
}

static mxc_status count_sketch_forward(const mxc_op_call *call) {
    sketch_run r;
    MXC_TRY(count_sketch_open_run(call, &call->out[0].shape, &r));
    return for_each_row(&r, forward_range);
}

static mxc_status count_sketch_backward(const mxc_op_call *call) {
    sketch_run r;
    mxci_assign_zero_gradient(call, H);
    mxci_assign_zero_gradient(call, S);
    MXC_TRY(count_sketch_open_run(call, &call->out_grad[0].shape, &r));
    return for_each_row(&r, backward_range);
}

const mxc_op_def mxci_op_count_sketch = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_count_sketch",
    .args = "data,h,s",
    .doc = "Count sketch: out (...,out_dim) with out[...,j] = the sum of s[i] data[...,i] over all i with h[i] = j; "
           "data (...,N), h and s (1,N).",
    .params = schema,
    .param_size = sizeof(sketch_params),
    .infer_shape = count_sketch_infer_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1, .in = 1 << H | 1 << S},
    .temp_bytes = count_sketch_temp_bytes,
    .forward = {[MXC_CPU] = count_sketch_forward},
    .backward = {[MXC_CPU] = count_sketch_backward},
};
