/* SPDX-License-Identifier: Apache-2.0 */
/* box_nms: non-maximum suppression. data (..., n, k): n rows of k numbers, among them a score, a box and maybe a class.
 * out has the rows that are kept, in descending order of score, and rows of -1 behind them. A row is a candidate if its
 * score is above valid_thresh, its class is not background_id and it is among the topk best; a candidate is suppressed
 * if a better one that is kept, of its class, overlaps it by more than overlap_thresh. The gradient of a kept row goes
 * to the row that it was copied from, unchanged.
 *
 * Groups (all axes but the last two) are distributed over threads. Rows are sorted by keys whose unsigned order is that
 * of the scores (math/sort_kernels.h); equal scores keep their order. */
#include "math/assign.h"
#include "math/sort_kernels.h"
#include "math/tile_kernels.h"
#include "operator/detection/boxes_kernels.h"
#include "operator/detection/detection.h"
#include "operator/infer.h"

typedef mxci_nms_params nms_params;

enum { OUTPUT, RECORD }; /* RECORD (..., n, 1): the row of data that each row of output is, -1: none */

#define INDEX(field) .type = MXC_PARAM_INT, MXC_PARAM_FIELD(nms_params, field), .bounded = 1, .maximum = 2147483647
#define FORMAT(field) \
    .type = MXC_PARAM_ENUM, MXC_PARAM_FIELD(nms_params, field), .initial = "corner", .choices = "corner,center"
static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(nms_params, overlap_thresh), .name = "overlap_thresh", .type = MXC_PARAM_FLOAT, .initial = "0.5",
     .doc = "Intersection over union above which the box with the smaller score is suppressed."},
    {MXC_PARAM_FIELD(nms_params, valid_thresh), .name = "valid_thresh", .type = MXC_PARAM_FLOAT, .initial = "0",
     .doc = "Rows with a score at or below this value are ignored."},
    {MXC_PARAM_FIELD(nms_params, topk), .name = "topk", .type = MXC_PARAM_INT, .initial = "-1",
     .doc = "Number of best rows that are considered. 0 or below: all."},
    {.name = "coord_start",
     INDEX(coord_start),
     .initial = "2",
     .doc = "Index within a row of the first of the box's four coordinates."},
    {.name = "score_index", INDEX(score_index), .initial = "1", .doc = "Index within a row of the score."},
    {.name = "id_index",
     INDEX(id_index),
     .minimum = -1,
     .initial = "-1",
     .doc = "Index within a row of the class. -1: rows have no class."},
    {MXC_PARAM_FIELD(nms_params, background_id), .name = "background_id", .type = MXC_PARAM_INT, .initial = "-1",
     .doc = "Class whose rows are ignored. -1: none."},
    {MXC_PARAM_FIELD(nms_params, force_suppress), .name = "force_suppress", .type = MXC_PARAM_BOOL, .initial = "false",
     .doc = "Suppress boxes across classes; otherwise only boxes of the same class suppress each other."},
    {.name = "in_format",
     FORMAT(in_format),
     .doc = "Format of the boxes of data: corner is (left, top, right, bottom), center is (x, y, width, height) with "
            "the centre's coordinates."},
    {.name = "out_format", FORMAT(out_format), .doc = "Format of the boxes of output."},
    MXC_PARAM_END,
};
#undef INDEX
#undef FORMAT

static int box_nms_n_visible(const void *params) {
    (void)params;
    return 1;
}

/* ---- inference --------------------------------------------------------------------------------------------------- */

static mxc_status box_nms_infer_shape(mxc_op_sig *sig) {
    const nms_params *p = sig->params;
    int64_t least = p->coord_start + 4;
    mxc_shape shape;
    MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){0, MXC_SLOT_OUT(OUTPUT)}));
    shape = sig->in_shape[0];
    if (shape.ndim < 0)
        return MXC_OK;
    least = p->score_index >= least ? p->score_index + 1 : least;
    least = p->id_index >= least ? p->id_index + 1 : least;
    if (shape.ndim < 2)
        return mxc_sig_fail(sig, "argument 'data': expected at least 2 axes, found %d", (int)shape.ndim);
    if (shape.dim[shape.ndim - 1] >= 0 && shape.dim[shape.ndim - 1] < least)
        return mxc_sig_fail(sig, "argument 'data': rows have %lld elements, expected at least %lld",
                            (long long)shape.dim[shape.ndim - 1], (long long)least);
    shape.dim[shape.ndim - 1] = 1;
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(RECORD), &shape);
}

static mxc_status box_nms_infer_type(mxc_op_sig *sig) {
    MXC_TRY(mxci_sig_same_type(sig, 2, (int[]){0, MXC_SLOT_OUT(OUTPUT)}));
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(RECORD), MXC_I64);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

typedef struct nms_run {
    const mxc_op_call *call;
    const nms_params *params;
    int64_t groups, n, width;
    mxc_dtype compute;
    mxci_box_rows rows;
} nms_run;

/* Scratch of one part, for one group of rows. */
typedef struct nms_scratch {
    mxci_sort_item *items, *spare;
    int64_t *order;
    void *in, *out; /* rows in the compute type */
} nms_scratch;

static nms_scratch box_nms_take_scratch(mxci_scratch *from, const mxc_shape *data, mxc_dtype dtype) {
    int64_t n = data->dim[data->ndim - 2], elements = mxci_shape_count(data, data->ndim - 2, data->ndim);
    size_t element = mxc_dtype_size(mxci_compute_type(dtype));
    nms_scratch s;
    s.items = mxci_scratch_array(from, n, sizeof *s.items);
    s.spare = mxci_scratch_array(from, n, sizeof *s.spare);
    s.order = mxci_scratch_array(from, n, sizeof *s.order);
    s.in = mxci_scratch_array(from, elements, element);
    s.out = mxci_scratch_array(from, elements, element);
    return s;
}

static size_t box_nms_scratch_bytes(const mxc_shape *data, mxc_dtype dtype) {
    mxci_scratch measure = {0};
    box_nms_take_scratch(&measure, data, dtype);
    return measure.bytes;
}

static size_t box_nms_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    size_t each = box_nms_scratch_bytes(&sig->in_shape[0], sig->in_type[0]);
    return pass == MXC_FORWARD ? mxci_size_mul(each, (size_t)sig->parallelism) : 0;
}

static nms_run box_nms_open_run(const mxc_op_call *call) {
    const nms_params *p = call->params;
    const mxc_shape *data = &call->in[0].shape;
    nms_run r = {.call = call, .params = p, .n = data->dim[data->ndim - 2], .width = data->dim[data->ndim - 1]};
    r.groups = mxci_shape_count(data, 0, data->ndim - 2);
    r.compute = mxci_compute_type(call->in[0].dtype);
    r.rows = (mxci_box_rows){.step = r.width,
                             .box = p->coord_start,
                             .id = p->force_suppress ? -1 : p->id_index,
                             .centred = p->in_format == MXCI_BOX_CENTER,
                             .threshold = p->overlap_thresh};
    return r;
}

/* Element i of rows in the compute type. */
static double number(const nms_run *r, const void *rows, int64_t i) {
    return r->compute == MXC_F32 ? (double)((const float *)rows)[i] : ((const double *)rows)[i];
}

/* order = the candidates, the best first; returns how many. */
static int64_t select_candidates(const nms_run *r, nms_scratch *s) {
    const nms_params *p = r->params;
    int64_t found = 0, n;
    for (int64_t i = 0; i < r->n; i++) {
        int64_t score = i * r->width + p->score_index;
        if (!(number(r, s->in, score) > p->valid_thresh) ||
            (p->id_index >= 0 && number(r, s->in, i * r->width + p->id_index) == (double)p->background_id))
            continue;
        mxci_sort_keys(r->compute, 1, 1, (char *)s->in + (size_t)score * mxc_dtype_size(r->compute), i,
                       &s->items[found++]);
    }
    n = p->topk > 0 && p->topk < found ? p->topk : found;
    mxci_sort_first(n, found, s->items, s->spare);
    for (int64_t i = 0; i < n; i++)
        s->order[i] = s->items[i].index;
    return n;
}

/* One group: s->in, its rows in the compute type, becomes its output in out's dtype; s->order becomes its record. */
static void suppress_group(const nms_run *r, nms_scratch *s) {
    size_t row = (size_t)r->width * mxc_dtype_size(r->compute);
    int64_t kept = select_candidates(r, s);
    if (r->compute == MXC_F32)
        kept = mxci_box_suppress_f32(&r->rows, s->in, kept, s->order, kept);
    else
        kept = mxci_box_suppress_f64(&r->rows, s->in, kept, s->order, kept);
    mxci_fill_compute(r->compute, -1, s->out, r->n * r->width);
    for (int64_t i = 0; i < r->n; i++)
        s->order[i] = i < kept ? s->order[i] : -1;
    for (int64_t i = 0; i < kept; i++)
        mxci_assign_row(MXC_REQ_WRITE, r->compute, (char *)s->out + (size_t)i * row,
                        (char *)s->in + (size_t)s->order[i] * row, r->width);
    if (r->params->in_format != r->params->out_format && r->compute == MXC_F32)
        mxci_box_reform_f32(&r->rows, s->out, kept);
    else if (r->params->in_format != r->params->out_format)
        mxci_box_reform_f64(&r->rows, s->out, kept);
    mxci_store(r->call->out[0].dtype, s->out, s->in, r->n * r->width);
}

static void box_nms_forward_part(void *arg, int64_t begin, int64_t end, int part) {
    const nms_run *r = arg;
    const mxc_op_call *call = r->call;
    const mxc_tensor *out = &call->out[OUTPUT];
    size_t bytes = box_nms_scratch_bytes(&call->in[0].shape, call->in[0].dtype);
    nms_scratch s = box_nms_take_scratch(&(mxci_scratch){.base = (char *)call->temp + bytes * (size_t)part},
                                         &call->in[0].shape, call->in[0].dtype);
    for (int64_t g = begin; g < end; g++) {
        mxci_load(out->dtype, mxci_at(&call->in[0], g * r->n * r->width), s.in, r->n * r->width);
        suppress_group(r, &s);
        mxci_assign_row(call->req[OUTPUT], out->dtype, mxci_at(out, g * r->n * r->width), s.in, r->n * r->width);
        mxci_assign_row(call->req[RECORD], MXC_I64, mxci_at(&call->out[RECORD], g * r->n), s.order, r->n);
    }
}

static mxc_status box_nms_forward(const mxc_op_call *call) {
    nms_run r = box_nms_open_run(call);
    if (mxci_tensor_size(&call->out[0]) > 0)
        mxc_parallel_for(call->run, r.groups, 1, box_nms_forward_part, &r);
    return MXC_OK;
}

static void box_nms_backward_part(void *arg, int64_t begin, int64_t end, int part) {
    const nms_run *r = arg;
    const mxc_tensor *dx = &r->call->in_grad[0];
    const int64_t *record = r->call->out[RECORD].data;
    (void)part;
    for (int64_t i = begin * r->n; i < end * r->n; i++) {
        int64_t first = i / r->n * r->n;
        if (record[i] >= 0 && record[i] < r->n)
            mxci_assign_row(r->call->req[0], dx->dtype, mxci_at(dx, (first + record[i]) * r->width),
                            mxci_at(&r->call->out_grad[0], i * r->width), r->width);
    }
}

static mxc_status box_nms_backward(const mxc_op_call *call) {
    nms_run r = box_nms_open_run(call);
    if (call->req[0] == MXC_REQ_NULL || mxci_tensor_size(&call->in[0]) == 0)
        return MXC_OK;
    if (call->req[0] != MXC_REQ_ADD)
        mxci_assign_constant(call->run, MXC_REQ_WRITE, &call->in_grad[0], 0);
    mxc_parallel_for(call->run, r.groups, MXCI_GRAIN / (r.n * r.width) + 1, box_nms_backward_part, &r);
    return MXC_OK;
}

const mxc_op_def mxci_op_box_nms = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_box_nms",
    .aliases = "box_nms",
    .doc = "Non-maximum suppression: output0 holds the rows of data (...,n,k), each with a class, a score and a box, "
           "that no better row of the same class overlaps by more than overlap_thresh, in descending order of score; "
           "the remaining rows are -1",
    .params = schema,
    .param_size = sizeof(nms_params),
    .outputs = "output0,record",
    .n_visible = box_nms_n_visible,
    .infer_shape = box_nms_infer_shape,
    .infer_type = box_nms_infer_type,
    .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1, .out = 1 << RECORD},
    .temp_bytes = box_nms_temp_bytes,
    .forward = {[MXC_CPU] = box_nms_forward},
    .backward = {[MXC_CPU] = box_nms_backward},
};
