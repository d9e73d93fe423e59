/* slice_axis: rows begin to end-1 of one axis. slice (crop): a box, begin[i] to end[i]-1 of each axis i named. */
#include "operator/walk.h"

/* ---- boxes ------------------------------------------------------------------------------------------------------- */

/* One axis of a box: where it begins and its size, from begin and end as given (MXC_PARAM_UNSET: whole; negative: from
 * the end; beyond: cut). */
typedef struct range {
    int64_t begin, size;
} range;

static int64_t within(int64_t place, int64_t dim) {
    place += place < 0 ? dim : 0;
    return place < 0 ? 0 : place > dim ? dim : place;
}

static range range_of(int64_t begin, int64_t end, int64_t dim) {
    range r = {begin == MXC_PARAM_UNSET ? 0 : within(begin, dim), 0};
    int64_t stop = end == MXC_PARAM_UNSET ? dim : within(end, dim);
    r.size = stop > r.begin ? stop - r.begin : 0;
    return r;
}

/* The box as a walk through data and the element where it begins. */
static int64_t set_walk(const mxc_shape *data, const range *ranges, mxci_strided *walk) {
    int64_t dim[MXC_MAX_NDIM], step[MXC_MAX_NDIM], first = 0;
    for (int i = 0; i < data->ndim; i++) {
        dim[i] = ranges[i].size;
        step[i] = mxci_shape_count(data, i + 1, data->ndim);
        first += ranges[i].begin * step[i];
    }
    mxci_strided_set(walk, data->ndim, dim, step);
    return first;
}

static mxc_status take(const mxc_op_call *call, const range *ranges) {
    mxci_strided walk;
    int64_t first = set_walk(&call->in[0].shape, ranges, &walk);
    mxci_put_from_walk(call->run, call->req[0], &call->out[0], &call->in[0], first, &walk);
    return MXC_OK;
}

static mxc_status give_back(const mxc_op_call *call, const range *ranges) {
    mxci_strided walk;
    int64_t first = set_walk(&call->in[0].shape, ranges, &walk);
    mxci_put_to_walk(call->run, call->req[0], &call->in_grad[0], first, &walk, &call->out_grad[0]);
    return MXC_OK;
}

/* out's shape from data's; axes of unknown size stay unknown unless they are whole. */
static mxc_status infer_box(mxc_op_sig *sig, const int64_t *begin, const int64_t *end) {
    const mxc_shape *data = &sig->in_shape[0];
    mxc_shape out = *data;
    for (int i = 0; i < data->ndim; i++)
        if (data->dim[i] >= 0)
            out.dim[i] = range_of(begin[i], end[i], data->dim[i]).size;
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
    out = mxci_shape_axes(data->ndim);
    for (int i = 0; i < data->ndim; i++)
        if (begin[i] == MXC_PARAM_UNSET && end[i] == MXC_PARAM_UNSET)
            out.dim[i] = sig->out_shape[0].dim[i];
    return mxc_sig_set_shape(sig, 0, &out);
}

/* ---- slice_axis -------------------------------------------------------------------------------------------------- */

typedef struct slice_axis_params {
    int64_t axis, begin, end;
} slice_axis_params;

static const mxc_param slice_axis_schema[] = {
    {.name = "axis", .type = MXC_PARAM_INT, MXC_PARAM_FIELD(slice_axis_params, axis), .doc = "axis to cut"},
    {.name = "begin", .type = MXC_PARAM_INT, MXC_PARAM_FIELD(slice_axis_params, begin),
     .doc = "first row; negative: from the end"},
    {.name = "end", .type = MXC_PARAM_INT, MXC_PARAM_FIELD(slice_axis_params, end), .optional = 1,
     .doc = "row after the last one; negative: from the end; None: to the end"},
    MXC_PARAM_END};

static void spread_axis(const slice_axis_params *p, int ndim, int64_t *begin, int64_t *end) {
    int axis = (int)(p->axis < 0 ? p->axis + ndim : p->axis);
    for (int i = 0; i < ndim; i++) {
        begin[i] = i == axis ? p->begin : MXC_PARAM_UNSET;
        end[i] = i == axis ? p->end : MXC_PARAM_UNSET;
    }
}

static mxc_status slice_axis_infer_shape(mxc_op_sig *sig) {
    int64_t begin[MXC_MAX_NDIM], end[MXC_MAX_NDIM];
    int ndim = sig->in_shape[0].ndim, axis;
    if (ndim < 0)
        return MXC_OK;
    MXC_TRY(mxci_sig_axis(sig, ((const slice_axis_params *)sig->params)->axis, ndim, &axis));
    spread_axis(sig->params, ndim, begin, end);
    return infer_box(sig, begin, end);
}

static void slice_axis_ranges(const mxc_op_call *call, range *ranges) {
    const mxc_shape *data = &call->in[0].shape;
    int64_t begin[MXC_MAX_NDIM], end[MXC_MAX_NDIM];
    spread_axis(call->params, data->ndim, begin, end);
    for (int i = 0; i < data->ndim; i++)
        ranges[i] = range_of(begin[i], end[i], data->dim[i]);
}

static mxc_status slice_axis_forward(const mxc_op_call *call) {
    range ranges[MXC_MAX_NDIM];
    slice_axis_ranges(call, ranges);
    return take(call, ranges);
}

static mxc_status slice_axis_backward(const mxc_op_call *call) {
    range ranges[MXC_MAX_NDIM];
    slice_axis_ranges(call, ranges);
    return give_back(call, ranges);
}

const mxc_op_def mxci_op_slice_axis = {
    .size = sizeof(mxc_op_def), .name = "slice_axis", .doc = "out = rows begin to end-1 of one axis of data",
    .params = slice_axis_schema, .param_size = sizeof(slice_axis_params), .infer_shape = slice_axis_infer_shape,
    .dtypes = MXC_DTYPES_ALL, .needs = {.out_grad = 1},
    .forward = {[MXC_CPU] = slice_axis_forward}, .backward = {[MXC_CPU] = slice_axis_backward}};

/* ---- slice ------------------------------------------------------------------------------------------------------- */

typedef struct slice_params {
    mxc_tuple begin, end;
} slice_params;

static const mxc_param slice_schema[] = {
    {.name = "begin", .type = MXC_PARAM_TUPLE, MXC_PARAM_FIELD(slice_params, begin), .optional = 1,
     .doc = "first element of each axis; negative: from the end; None: 0"},
    {.name = "end", .type = MXC_PARAM_TUPLE, MXC_PARAM_FIELD(slice_params, end), .optional = 1,
     .doc = "element after the last one of each axis; negative: from the end; None: to the end"},
    MXC_PARAM_END};

static int64_t entry(const mxc_tuple *tuple, int i) {
    return i < tuple->n ? tuple->value[i] : MXC_PARAM_UNSET;
}

static mxc_status slice_infer_shape(mxc_op_sig *sig) {
    const slice_params *p = sig->params;
    int64_t begin[MXC_MAX_NDIM], end[MXC_MAX_NDIM];
    int ndim = sig->in_shape[0].ndim;
    if (ndim < 0)
        return MXC_OK;
    if (p->begin.n > ndim || p->end.n > ndim)
        return mxc_sig_fail(sig, "begin and end name %d and %d axes, expected at most the %d of data", (int)p->begin.n,
                            (int)p->end.n, ndim);
    for (int i = 0; i < ndim; i++) {
        begin[i] = entry(&p->begin, i);
        end[i] = entry(&p->end, i);
    }
    return infer_box(sig, begin, end);
}

static void slice_ranges(const mxc_op_call *call, range *ranges) {
    const slice_params *p = call->params;
    for (int i = 0; i < call->in[0].shape.ndim; i++)
        ranges[i] = range_of(entry(&p->begin, i), entry(&p->end, i), call->in[0].shape.dim[i]);
}

static mxc_status slice_forward(const mxc_op_call *call) {
    range ranges[MXC_MAX_NDIM];
    slice_ranges(call, ranges);
    return take(call, ranges);
}

static mxc_status slice_backward(const mxc_op_call *call) {
    range ranges[MXC_MAX_NDIM];
    slice_ranges(call, ranges);
    return give_back(call, ranges);
}

const mxc_op_def mxci_op_slice = {
    .size = sizeof(mxc_op_def), .name = "slice", .aliases = "crop",
    .doc = "out = elements begin[i] to end[i]-1 of each axis i of data that begin and end name", .params = slice_schema,
    .param_size = sizeof(slice_params), .infer_shape = slice_infer_shape, .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1}, .forward = {[MXC_CPU] = slice_forward}, .backward = {[MXC_CPU] = slice_backward}};
