/* SPDX-License-Identifier: Apache-2.0 */
/* bipartite_matching: greedy matching of the rows and columns of score matrices. data (..., N, M); output0 (..., N):
 * the column that each row is matched with, output1 (..., M): the row of each column, -1: none. The pairs of a matrix
 * are visited from the best score on, equal scores in the order of data; a pair is matched if neither its row nor its
 * column is, until a score does not exceed the threshold. The gradient is 0. Matrices are distributed over threads. */
#include "math/assign.h"
#include "math/sort_kernels.h"
#include "operator/detection/detection.h"
#include "operator/infer.h"

enum { ROWS, COLUMNS };

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(mxci_matching_params, is_ascend), .name = "is_ascend", .type = MXC_PARAM_BOOL, .initial = "false",
     .doc = "The least score is the best, instead of the greatest."},
    {MXC_PARAM_FIELD(mxci_matching_params, threshold), .name = "threshold", .type = MXC_PARAM_FLOAT,
     .doc = "Only scores above it are matched; with is_ascend only scores below it."},
    {MXC_PARAM_FIELD(mxci_matching_params, topk), .name = "topk", .type = MXC_PARAM_INT, .initial = "-1",
     .doc = "Limit of the number of matches: topk + 1 are made, as in MXNet. 0 or below: no limit."},
    MXC_PARAM_END,
};

static mxc_status matching_infer_shape(mxc_op_sig *sig) {
    const int n[2] = {sig->out_shape[ROWS].ndim, sig->out_shape[COLUMNS].ndim};
    int ndim = sig->in_shape[0].ndim;
    ndim = ndim < 0 && n[ROWS] >= 0 ? n[ROWS] + 1 : ndim < 0 && n[COLUMNS] >= 0 ? n[COLUMNS] + 1 : ndim;
    if (ndim < 0)
        return MXC_OK;
    if (ndim < 2 || ndim > MXC_MAX_NDIM)
        return mxc_sig_fail(sig, "argument 'data': expected 2 to %d axes, found %d", MXC_MAX_NDIM, ndim);
    for (int i = 0; i < 2; i++) { /* output i has data's axis ndim - 2 + i behind the axes of matrices */
        mxc_shape data = mxci_shape_axes(ndim), out = mxci_shape_axes(ndim - 1);
        MXC_TRY(mxc_sig_set_shape(sig, 0, &data));
        for (int pass = 0; pass < 2; pass++) {
            for (int k = 0; k < ndim - 1; k++)
                out.dim[k] = sig->in_shape[0].dim[k < ndim - 2 ? k : ndim - 2 + i];
            MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(i), &out));
            out = sig->out_shape[i];
            for (int k = 0; k < ndim - 1; k++)
                data.dim[k < ndim - 2 ? k : ndim - 2 + i] = out.dim[k];
            MXC_TRY(mxc_sig_set_shape(sig, 0, &data));
        }
    }
    for (int k = 0; k < ndim - 2; k++) /* what output 1 knows of the matrices */
        sig->out_shape[ROWS].dim[k] = sig->in_shape[0].dim[k];
    return MXC_OK;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* Scratch of one part, for one matrix. */
typedef struct matching_scratch {
    mxci_sort_item *items, *spare;
    int64_t *match[2]; /* of each row, of each column */
    void *scores;      /* in the compute type */
} matching_scratch;

static matching_scratch matching_take_scratch(mxci_scratch *from, const mxc_shape *data, mxc_dtype dtype) {
    const int64_t n = data->dim[data->ndim - 2], m = data->dim[data->ndim - 1], count = mxci_dim_mul(n, m);
    matching_scratch s;
    s.items = mxci_scratch_array(from, count, sizeof *s.items);
    s.spare = mxci_scratch_array(from, count, sizeof *s.spare);
    s.match[ROWS] = mxci_scratch_array(from, n, sizeof(int64_t));
    s.match[COLUMNS] = mxci_scratch_array(from, m, sizeof(int64_t));
    s.scores = mxci_scratch_array(from, count, mxc_dtype_size(mxci_compute_type(dtype)));
    return s;
}

static size_t matching_scratch_bytes(const mxc_shape *data, mxc_dtype dtype) {
    mxci_scratch measure = {0};
    matching_take_scratch(&measure, data, dtype);
    return measure.bytes;
}

static size_t matching_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    const size_t each = matching_scratch_bytes(&sig->in_shape[0], sig->in_type[0]);
    return pass == MXC_FORWARD ? mxci_size_mul(each, (size_t)sig->parallelism) : 0;
}

/* Fills s->match for the matrix of count scores that begins at element `first` of data, m columns. */
static void match_pairs(const mxc_op_call *call, matching_scratch *s, int64_t first, int64_t count, int64_t m) {
    const mxci_matching_params *p = call->params;
    const mxc_tensor *data = &call->in[0];
    int64_t matches = 0;
    mxci_load(data->dtype, mxci_at(data, first), s->scores, count);
    mxci_sort_keys(mxci_compute_type(data->dtype), !p->is_ascend, count, s->scores, 0, s->items);
    mxci_sort_first(count, count, s->items, s->spare);
    for (int64_t i = 0; i < count && (p->topk <= 0 || matches <= p->topk); i++) {
        const int64_t row = s->items[i].index / m, column = s->items[i].index % m;
        const double score = mxci_value_at(data, first + s->items[i].index);
        if (!(p->is_ascend ? score < p->threshold : score > p->threshold))
            return;
        if (s->match[ROWS][row] >= 0 || s->match[COLUMNS][column] >= 0)
            continue;
        s->match[ROWS][row] = column;
        s->match[COLUMNS][column] = row;
        matches++;
    }
}

static void matching_part(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    const mxc_shape *shape = &call->in[0].shape;
    const int64_t size[2] = {shape->dim[shape->ndim - 2], shape->dim[shape->ndim - 1]}, count = size[0] * size[1];
    const size_t bytes = matching_scratch_bytes(shape, call->in[0].dtype);
    matching_scratch s = matching_take_scratch(&(mxci_scratch){.base = (char *)call->temp + bytes * (size_t)part},
                                               shape, call->in[0].dtype);
    for (int64_t g = begin; g < end; g++) {
        for (int k = 0; k < 2; k++)
            for (int64_t i = 0; i < size[k]; i++)
                s.match[k][i] = -1;
        if (count > 0)
            match_pairs(call, &s, g * count, count, size[1]);
        for (int k = 0; k < 2; k++)
            for (int64_t i = 0; i < size[k] && call->req[k] != MXC_REQ_NULL; i++)
                mxci_assign_value(call->req[k], &call->out[k], g * size[k] + i, (double)s.match[k][i]);
    }
}

static mxc_status matching_forward(const mxc_op_call *call) {
    const mxc_shape *shape = &call->in[0].shape;
    if (mxci_tensor_size(&call->out[ROWS]) > 0 || mxci_tensor_size(&call->out[COLUMNS]) > 0)
        mxc_parallel_for(call->run, mxci_shape_count(shape, 0, shape->ndim - 2), 1, matching_part, (void *)call);
    return MXC_OK;
}

const mxc_op_def mxci_op_bipartite_matching = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_bipartite_matching",
    .aliases = "bipartite_matching",
    .doc =
        "Greedy matching of the rows and columns of scores (...,N,M): output0 (...,N) is the column that each row is "
        "matched with, output1 (...,M) the row of each column, -1: none. Pairs are matched from the best score on",
    .flags = MXC_OP_ZERO_GRADIENT,
    .params = schema,
    .param_size = sizeof(mxci_matching_params),
    .outputs = "output0,output1",
    .infer_shape = matching_infer_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .temp_bytes = matching_temp_bytes,
    .forward = {[MXC_CPU] = matching_forward},
};
