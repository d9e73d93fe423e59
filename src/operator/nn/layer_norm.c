/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LayerNorm: out = gamma (data - mean) / std + beta, where mean and std = sqrt(variance + eps) are those of a row along
 * an axis. RMSNorm: out = gamma data / rms, rms = sqrt(mean of squares + eps).
 *
 * gamma and beta have the axis' size; mean, std and rms have data's shape with 1 there. They are outputs, hidden ones
 * unless output_mean_var, f32 where data is f16 or bf16; no gradient flows through them.
 */
#include <math.h>
#include <string.h>

#include "math/assign.h"
#include "math/tile_kernels.h"
#include "operator/infer.h"
#include "operator/nn/batch_norm_kernels.h"
#include "operator/nn/layer_norm_kernels.h"
#include "operator/nn/norms.h"

enum { DATA, GAMMA, BETA };
enum { OUT, MEAN, STD, RMS = MEAN };
enum { CHUNKS = 64 };

#define AXIS_AND_EPS                                                                                             \
    {MXC_PARAM_FIELD(mxci_layer_norm_params, axis), .name = "axis", .type = MXC_PARAM_INT, .initial = "-1",      \
     .doc = "Axis that is normalized. Negative values count from the end."},                                     \
    {                                                                                                            \
        MXC_PARAM_FIELD(mxci_layer_norm_params, eps), .name = "eps", .type = MXC_PARAM_FLOAT, .initial = "1e-5", \
                                                      .bounded = 1, .minimum = 0, .maximum = 1e30,               \
                                                      .doc = "Added under the square root, for stability."       \
    }

static const mxc_param layer_schema[] = {
    AXIS_AND_EPS,
    {MXC_PARAM_FIELD(mxci_layer_norm_params, output_mean_var), .name = "output_mean_var", .type = MXC_PARAM_BOOL,
     .initial = "False", .doc = "Return mean and std as outputs."},
    MXC_PARAM_END,
};
static const mxc_param rms_schema[] = {AXIS_AND_EPS, MXC_PARAM_END};

static int layer_visible(const void *params) {
    return ((const mxci_layer_norm_params *)params)->output_mean_var ? 3 : 1;
}

static int rms_visible(const void *params) {
    (void)params;
    return 1;
}

/* ---- inference --------------------------------------------------------------------------------------------------- */

/* gamma and beta have the size of the axis, which they also give to data; the statistics have 1 there. */
static mxc_status layer_norm_infer_shape(mxc_op_sig *sig) {
    const int64_t given = ((const mxci_layer_norm_params *)sig->params)->axis;
    mxc_shape *data = &sig->in_shape[DATA], columns = mxci_shape_axes(1), statistics;
    int axis = 0;
    MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){DATA, MXC_SLOT_OUT(OUT)}));
    if (data->ndim >= 0) {
        MXC_TRY(mxci_sig_axis(sig, given, data->ndim, &axis));
        columns.dim[0] = data->dim[axis];
    }
    MXC_TRY(mxc_sig_set_shape(sig, GAMMA, &columns));
    MXC_TRY(mxci_sig_same_shape(sig, sig->n_in - 1, (int[]){GAMMA, BETA}));
    if (data->ndim < 0)
        return MXC_OK;
    data->dim[axis] = sig->out_shape[OUT].dim[axis] = sig->in_shape[GAMMA].dim[0];
    statistics = *data;
    statistics.dim[axis] = 1;
    for (int i = MEAN; i < sig->n_out; i++)
        MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(i), &statistics));
    return MXC_OK;
}

static mxc_status layer_norm_infer_type(mxc_op_sig *sig) {
    MXC_TRY(mxci_sig_same_type(sig, 1 + sig->n_in, (int[]){MXC_SLOT_OUT(OUT), DATA, GAMMA, BETA}));
    for (int i = MEAN; i < sig->n_out && sig->in_type[DATA] != MXC_DTYPE_UNKNOWN; i++)
        MXC_TRY(mxc_sig_set_type(sig, MXC_SLOT_OUT(i), mxci_compute_type(sig->in_type[DATA])));
    return MXC_OK;
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

/* LayerNorm has a mean and beta, RMSNorm has not. */
typedef struct norm_run {
    const mxc_op_call *call;
    int64_t rows, columns, inner; /* a row's elements lie inner apart */
    int std;                      /* the output */
    int64_t chunks;               /* backward */
    double *sums;                 /* of each chunk those of gamma's gradient, then of beta's */
} norm_run;

/* RMSNorm is LayerNorm without beta and mean: it is told by its number of arguments. */
static norm_run layer_norm_open_run(const mxc_op_call *call) {
    const mxc_shape *data = &call->in[DATA].shape;
    int64_t axis = ((const mxci_layer_norm_params *)call->params)->axis;
    norm_run r = {.call = call, .columns = call->in[GAMMA].shape.dim[0], .sums = call->temp};
    axis = axis < 0 ? axis + data->ndim : axis;
    r.inner = mxci_shape_count(data, (int)axis + 1, data->ndim);
    r.rows = mxci_shape_count(data, 0, (int)axis) * r.inner;
    r.std = call->n_in > BETA ? STD : RMS;
    return r;
}

/* Offset of a row's first element; rows are counted over outer, then inner axes. */
static int64_t start_of(const norm_run *r, int64_t row) {
    return row / r->inner * r->columns * r->inner + row % r->inner;
}

/* Mean and std of a row. RMSNorm's mean of squares is variance + mean^2; it subtracts no mean. */
static void measure(const norm_run *r, int64_t start, double *mean, double *std) {
    const mxc_tensor *x = &r->call->in[DATA];
    mxci_channel channel = {.n = 1, .d = r->columns};
    double variance = 0;
    if (r->inner > 1)
        channel = (mxci_channel){.n = r->columns, .d = 1, .step = r->inner};
    *mean = 0;
    if (r->columns > 0)
        mxci_bn_moments[x->dtype](&channel, mxci_at(x, start), mean, &variance);
    if (r->std == RMS) {
        variance += *mean * *mean;
        *mean = 0;
    }
    *std = sqrt(variance + ((const mxci_layer_norm_params *)r->call->params)->eps);
}

/* The row's results. Arrays too large for the caches are written by tiles that are stored past them. */
static void put_affine(const norm_run *r, mxci_norm_row row, int64_t start) {
    const mxc_op_call *call = r->call;
    const mxc_tensor *x = &call->in[DATA], *y = &call->out[OUT], *beta = &call->in[r->std == STD ? BETA : GAMMA];
    const int store_mode = mxci_store_mode(call->req[OUT], mxci_tensor_bytes(y), x->data == y->data || r->inner > 1);
    _Alignas(64) int64_t tile[MXCI_TILE];
    if (store_mode != MXCI_STORE_STREAM) {
        mxci_norm_affine[x->dtype](&row, store_mode == MXCI_STORE_ADD, r->std == STD ? beta->data : NULL,
                                   mxci_at(y, start));
        return;
    }
    for (int64_t j = 0; j < r->columns; j += row.n) {
        row.n = r->columns - j < MXCI_TILE ? r->columns - j : MXCI_TILE;
        row.x = mxci_at(x, start + j);
        row.gamma = mxci_at(&call->in[GAMMA], j);
        mxci_norm_affine[x->dtype](&row, 0, r->std == STD ? mxci_at(beta, j) : NULL, tile);
        mxci_stream(mxci_at(y, start + j), tile, (size_t)row.n * mxc_dtype_size(y->dtype));
    }
}

/* Rows begin..end-1: statistics in double, then out = (x - mean) / std * gamma + beta. */
static void layer_norm_forward_part(void *arg, int64_t begin, int64_t end, int part) {
    const norm_run *r = arg;
    const mxc_op_call *call = r->call;
    mxci_norm_row row = {.n = r->columns, .step = r->inner, .gamma = call->in[GAMMA].data};
    (void)part;
    for (int64_t i = begin; i < end; i++) {
        double std;
        row.x = mxci_at(&call->in[DATA], start_of(r, i));
        measure(r, start_of(r, i), &row.mean, &std);
        row.scale = 1 / std;
        if (r->std == STD)
            mxci_assign_value(call->req[MEAN], &call->out[MEAN], i, row.mean);
        mxci_assign_value(call->req[r->std], &call->out[r->std], i, std);
        if (call->req[OUT] != MXC_REQ_NULL)
            put_affine(r, row, start_of(r, i));
    }
    mxci_stream_end();
}

static mxc_status layer_norm_forward(const mxc_op_call *call) {
    norm_run r = layer_norm_open_run(call);
    mxc_parallel_for_dynamic(call->run, r.rows, MXCI_GRAIN / 2 / (r.columns + 1) + 1, layer_norm_forward_part, &r);
    return MXC_OK;
}

/* ---- backward ---------------------------------------------------------------------------------------------------- */

/* Rows are cut into chunks, and each chunk has sums of its own for gamma and beta. The cut depends on the shapes only,
 * so that results do not depend on the number of threads. */
static int64_t chunks_of(int64_t rows, int64_t columns) {
    int64_t chunks = rows / 16 < rows * columns / MXCI_GRAIN ? rows / 16 : rows * columns / MXCI_GRAIN;
    return chunks < 1 ? 1 : chunks < CHUNKS ? chunks : CHUNKS;
}

static size_t layer_norm_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    int64_t columns = sig->in_shape[GAMMA].dim[0], size = mxc_shape_size(&sig->in_shape[DATA]);
    if (pass == MXC_FORWARD || columns == 0)
        return 0;
    return mxci_size_of(mxci_dim_mul(2 * columns, chunks_of(size / columns, columns)), sizeof(double));
}

/* A row as backward reads it, with the statistics that forward left in the outputs. */
static mxci_norm_row row_of(const norm_run *r, int64_t i) {
    const mxc_op_call *call = r->call;
    return (mxci_norm_row){.n = r->columns,
                           .step = r->inner,
                           .mean = r->std == STD ? mxci_value_at(&call->out[MEAN], i) : 0,
                           .scale = 1 / mxci_value_at(&call->out[r->std], i),
                           .x = mxci_at(&call->in[DATA], start_of(r, i)),
                           .gamma = call->in[GAMMA].data};
}

/* With m elements in the row, g = gamma dy: dx = (g - sum(g) / m - (x - mean) sum(g (x - mean)) / (m std^2)) / std,
 * without the mean of g where none was taken off. */
static void put_data_gradient(const norm_run *r, const mxci_norm_row *row, const void *dy, void *dx) {
    const mxc_op_call *call = r->call;
    const mxc_dtype type = call->in[DATA].dtype;
    double sum, product, share = row->scale / (double)r->columns;
    mxci_norm_sums[type](row, dy, &sum, &product);
    mxci_norm_combine[type](row, call->req[DATA] == MXC_REQ_ADD, -product * share * row->scale * row->scale,
                            r->std == STD ? -sum * share : 0, dy, dx);
}

static int wants_sums(const norm_run *r) {
    const mxc_req *req = r->call->req;
    return req[GAMMA] != MXC_REQ_NULL || (r->std == STD && req[BETA] != MXC_REQ_NULL);
}

/* The sums of a row before data's gradient, which may take out_grad's memory. */
static void chunks_part(void *arg, int64_t begin, int64_t end, int part) {
    const norm_run *r = arg;
    const mxc_op_call *call = r->call;
    (void)part;
    for (int64_t c = begin; c < end; c++) {
        double *sums = r->sums + 2 * c * r->columns;
        memset(sums, 0, 2 * (size_t)r->columns * sizeof *sums);
        for (int64_t i = r->rows * c / r->chunks; i < r->rows * (c + 1) / r->chunks; i++) {
            mxci_norm_row row = row_of(r, i);
            const void *dy = mxci_at(&call->out_grad[OUT], start_of(r, i));
            if (wants_sums(r))
                mxci_norm_columns[call->in[DATA].dtype](&row, dy, sums, sums + r->columns);
            if (call->req[DATA] != MXC_REQ_NULL)
                put_data_gradient(r, &row, dy, mxci_at(&call->in_grad[DATA], start_of(r, i)));
        }
    }
}

/* Columns begin..end-1: gradients of gamma and beta are the sums of the chunks', in their order. */
static void columns_part(void *arg, int64_t begin, int64_t end, int part) {
    const norm_run *r = arg;
    const mxc_op_call *call = r->call;
    (void)part;
    for (int64_t i = begin; i < end; i++) {
        double gamma = 0, beta = 0;
        for (int64_t c = 0; c < r->chunks; c++) {
            gamma += r->sums[2 * c * r->columns + i];
            beta += r->sums[(2 * c + 1) * r->columns + i];
        }
        mxci_assign_value(call->req[GAMMA], &call->in_grad[GAMMA], i, gamma);
        if (r->std == STD)
            mxci_assign_value(call->req[BETA], &call->in_grad[BETA], i, beta);
    }
}

/* Chunks of rows: their data gradients and partial sums for gamma and beta, which are then added column by column. */
static mxc_status layer_norm_backward(const mxc_op_call *call) {
    norm_run r = layer_norm_open_run(call);
    if (r.columns == 0)
        return MXC_OK;
    r.chunks = chunks_of(r.rows, r.columns);
    mxc_parallel_for_dynamic(call->run, r.chunks, 1, chunks_part, &r);
    if (wants_sums(&r))
        mxc_parallel_for_dynamic(call->run, r.columns, MXCI_GRAIN / 16 / r.chunks, columns_part, &r);
    return MXC_OK;
}

static const mxc_inplace in_to_out[] = {{MXC_FROM_IN(DATA), OUT}, MXC_INPLACE_END};
static const mxc_inplace grad_to_grad[] = {{MXC_FROM_OUT_GRAD(OUT), DATA}, MXC_INPLACE_END};

#define NORM(title, text, schema, arguments, results, visible, read)                                               \
    {                                                                                                              \
        .size = sizeof(mxc_op_def), .name = title, .doc = text, .params = schema,                                  \
        .param_size = sizeof(mxci_layer_norm_params), .args = arguments, .outputs = results, .n_visible = visible, \
        .infer_shape = layer_norm_infer_shape, .infer_type = layer_norm_infer_type, .dtypes = MXC_DTYPES_FLOAT,    \
        .needs = {.out_grad = 1 << OUT, .in = 1 << DATA | 1 << GAMMA, .out = read}, .inplace_forward = in_to_out,  \
        .inplace_backward = grad_to_grad, .temp_bytes = layer_norm_temp_bytes,                                     \
        .forward = {[MXC_CPU] = layer_norm_forward}, .backward = {                                                 \
            [MXC_CPU] = layer_norm_backward                                                                        \
        }                                                                                                          \
    }

const mxc_op_def mxci_op_layer_norm =
    NORM("LayerNorm",
         "Layer normalization: output = gamma (data - mean) / sqrt(variance + eps) + beta, with mean and variance "
         "along axis",
         layer_schema, "data,gamma,beta", "output,mean,std", layer_visible, 1 << MEAN | 1 << STD);
const mxc_op_def mxci_op_rms_norm =
    NORM("RMSNorm", "Root mean square normalization: output = gamma data / sqrt(mean of data^2 along axis + eps)",
         rms_schema, "data,gamma", "output,rms", rms_visible, 1 << RMS);
