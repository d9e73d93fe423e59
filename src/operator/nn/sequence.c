/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SequenceLast, SequenceMask, SequenceReverse: rows of sequences of different lengths in one array.
 *
 * data (T,N,...), or (N,T,...) where axis is 1; sequence_length (N), integers of any dtype cut to 0..T, is an
 * argument where use_sequence_length is set, else all are T. Last: out (N,...), the last row of each sequence, 0 where
 * it has none. Mask: rows behind the end become value. Reverse: the rows before the end in reverse order.
 */
#include "math/assign.h"
#include "math/tile_kernels.h"
#include "operator/index/indexing.h"
#include "operator/index/rows.h"
#include "operator/infer.h"

typedef mxci_sequence_params sequence_params;

enum { DATA, LENGTH };
typedef enum kind { LAST, MASK, REVERSE } kind;

#define USE_LENGTH                                                                                   \
    {                                                                                                \
        MXC_PARAM_FIELD(sequence_params, use_sequence_length),                                       \
            .name = "use_sequence_length", .type = MXC_PARAM_BOOL, .initial = "False",               \
            .doc = "Use the argument sequence_length; otherwise all sequences have the full length." \
    }
#define TIME_AXIS                                                                                                    \
    {                                                                                                                \
        MXC_PARAM_FIELD(sequence_params, axis), .name = "axis", .type = MXC_PARAM_INT, .initial = "0", .bounded = 1, \
                                                .minimum = 0, .maximum = 1, .doc = "Axis of time."                   \
    }

static const mxc_param schema[] = {USE_LENGTH, TIME_AXIS, MXC_PARAM_END};
static const mxc_param mask_schema[] = {
    USE_LENGTH,
    {MXC_PARAM_FIELD(sequence_params, value), .name = "value", .type = MXC_PARAM_FLOAT, .non_finite = 1, .initial = "0",
     .doc = "Value of the steps after the end of a sequence."},
    TIME_AXIS,
    MXC_PARAM_END,
};

static int sequence_n_args(const void *params) {
    return ((const sequence_params *)params)->use_sequence_length ? 2 : 1;
}

/* ---- inference --------------------------------------------------------------------------------------------------- */

/* sequence_length has as many entries as data has sequences, both ways. */
static mxc_status check_data(mxc_op_sig *sig) {
    const mxc_shape *data = &sig->in_shape[DATA];
    const int batch = 1 - (int)((const sequence_params *)sig->params)->axis;
    mxc_shape lengths = mxci_shape_axes(1);
    if (data->ndim < 0)
        return MXC_OK;
    if (data->ndim < 2)
        return mxc_sig_fail(sig, "argument 'data': expected at least 2 axes, found %d", data->ndim);
    if (sig->n_in == 1)
        return MXC_OK;
    lengths.dim[0] = data->dim[batch];
    MXC_TRY(mxc_sig_set_shape(sig, LENGTH, &lengths));
    sig->in_shape[DATA].dim[batch] = sig->in_shape[LENGTH].dim[0];
    return MXC_OK;
}

static mxc_status infer_same(mxc_op_sig *sig) {
    MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){DATA, MXC_SLOT_OUT(0)}));
    MXC_TRY(check_data(sig));
    return mxci_sig_same_shape(sig, 2, (int[]){DATA, MXC_SLOT_OUT(0)});
}

/* out is data without the time. */
static mxc_status infer_last(mxc_op_sig *sig) {
    const int axis = (int)((const sequence_params *)sig->params)->axis;
    mxc_shape *data = &sig->in_shape[DATA], *out = &sig->out_shape[0], expected;
    if (data->ndim < 0 && out->ndim > 0 && out->ndim < MXC_MAX_NDIM)
        *data = mxci_shape_axes(out->ndim + 1);
    MXC_TRY(check_data(sig));
    if (data->ndim < 0)
        return MXC_OK;
    expected = mxci_shape_axes(data->ndim - 1);
    for (int i = 0; i < expected.ndim; i++)
        expected.dim[i] = data->dim[i < axis ? i : i + 1];
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &expected));
    for (int i = 0; i < expected.ndim; i++)
        data->dim[i < axis ? i : i + 1] = out->dim[i];
    return check_data(sig);
}

static mxc_status sequence_infer_type(mxc_op_sig *sig) {
    MXC_TRY(mxci_sig_same_type(sig, 2, (int[]){DATA, MXC_SLOT_OUT(0)}));
    if (sig->n_in == 1 || sig->in_type[LENGTH] != MXC_DTYPE_UNKNOWN)
        return MXC_OK;
    return mxc_sig_set_type(sig, LENGTH, sig->in_type[DATA]);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* to, in data's shape or (last forward) in out's, from from. */
typedef struct sequence {
    const mxc_op_call *call;
    kind kind;
    int backward;
    int64_t t, n, row, t_step, n_step; /* row: its elements; steps in data */
    const mxc_tensor *from, *to;
    _Alignas(64) char fill[MXCI_TILE * 8]; /* of the dtype */
} sequence;

/* The length of sequence n, rounded towards 0 and cut to 0..T. */
static int64_t length_of(const sequence *s, int64_t n) {
    return s->call->n_in == 1 ? s->t : mxci_sequence_length(&s->call->in[LENGTH], n, s->t);
}

/* The element of from where the row comes from that belongs at time t of sequence n; -1: fill. */
static int64_t source_of(const sequence *s, int64_t t, int64_t n) {
    int64_t length = length_of(s, n), base = n * s->n_step;
    if (s->kind == REVERSE)
        return base + (t < length ? length - 1 - t : t) * s->t_step;
    if (s->kind == MASK)
        return t < length ? base + t * s->t_step : -1;
    if (s->backward)
        return t == length - 1 ? n * s->row : -1;
    return length > 0 ? base + (length - 1) * s->t_step : -1;
}

/* One row of the result: a row of from, or fill. */
static void put_row(const sequence *s, int64_t to, int64_t from) {
    mxc_dtype dtype = s->to->dtype;
    if (from >= 0) {
        mxci_assign_row(s->call->req[0], dtype, mxci_at(s->to, to), mxci_at(s->from, from), s->row);
        return;
    }
    for (int64_t i = 0; i < s->row; i += MXCI_TILE)
        mxci_assign_row(s->call->req[0], dtype, mxci_at(s->to, to + i), s->fill,
                        s->row - i < MXCI_TILE ? s->row - i : MXCI_TILE);
}

static void put_rows(void *arg, int64_t begin, int64_t end, int part) {
    const sequence *s = arg;
    (void)part;
    for (int64_t i = begin; i < end; i++) {
        int64_t n = i % s->n, t = i / s->n;
        put_row(s, s->kind == LAST && !s->backward ? n * s->row : t * s->t_step + n * s->n_step, source_of(s, t, n));
    }
}

/* A tile of the value, converted once per run. */
static void set_fill(sequence *s, double value) {
    int64_t tile[MXCI_TILE];
    mxc_dtype dtype = s->to->dtype;
    mxci_fill_compute(mxci_compute_type(dtype), value, tile, MXCI_TILE);
    mxci_store(dtype, tile, s->fill, MXCI_TILE);
}

static mxc_status sequence_run(const mxc_op_call *call, kind which, int backward, const mxc_tensor *from,
                               const mxc_tensor *to) {
    const sequence_params *p = call->params;
    const mxc_shape *data = &call->in[DATA].shape;
    sequence s = {.call = call, .kind = which, .backward = backward, .from = from, .to = to};
    if (!mxci_is_wanted(call->req[0], to))
        return MXC_OK;
    s.t = data->dim[p->axis], s.n = data->dim[1 - p->axis];
    s.row = mxci_shape_count(data, 2, data->ndim);
    s.t_step = p->axis ? s.row : s.n * s.row;
    s.n_step = p->axis ? s.t * s.row : s.row;
    set_fill(&s, which == MASK && !backward ? p->value : 0);
    mxc_parallel_for(call->run, which == LAST && !backward ? s.n : s.t * s.n, MXCI_GRAIN / (s.row + 1) + 1, put_rows,
                     &s);
    return MXC_OK;
}

/* Lengths have no gradient. */
static mxc_status sequence_run_backward(const mxc_op_call *call, kind which) {
    if (call->n_in > 1 && call->req[LENGTH] != MXC_REQ_ADD)
        mxci_assign_constant(call->run, call->req[LENGTH], &call->in_grad[LENGTH], 0);
    return sequence_run(call, which, 1, &call->out_grad[0], &call->in_grad[DATA]);
}

static mxc_status last_forward(const mxc_op_call *call) {
    return sequence_run(call, LAST, 0, &call->in[DATA], &call->out[0]);
}
static mxc_status last_backward(const mxc_op_call *call) {
    return sequence_run_backward(call, LAST);
}
static mxc_status mask_forward(const mxc_op_call *call) {
    return sequence_run(call, MASK, 0, &call->in[DATA], &call->out[0]);
}
static mxc_status mask_backward(const mxc_op_call *call) {
    return sequence_run_backward(call, MASK);
}
static mxc_status reverse_forward(const mxc_op_call *call) {
    return sequence_run(call, REVERSE, 0, &call->in[DATA], &call->out[0]);
}
static mxc_status reverse_backward(const mxc_op_call *call) {
    return sequence_run_backward(call, REVERSE);
}

/* A sequence has 0 to T steps. */
static mxc_status sequence_check_values(const mxc_op_call *call) {
    const sequence_params *p = call->params;
    if (call->n_in == 1)
        return MXC_OK;
    return mxci_check_indices(call, LENGTH, 0, mxci_tensor_size(&call->in[LENGTH]), 0,
                              call->in[DATA].shape.dim[p->axis] + 1);
}

static const mxc_inplace in_to_out[] = {{MXC_FROM_IN(DATA), 0}, MXC_INPLACE_END};
static const mxc_inplace grad_to_grad[] = {{MXC_FROM_OUT_GRAD(0), DATA}, MXC_INPLACE_END};

#define SEQUENCE(title, text, parameters, infer, forward_fn, backward_fn)                             \
    .size = sizeof(mxc_op_def), .name = title, .doc = text, .params = parameters,                     \
    .param_size = sizeof(sequence_params), .args = "data,sequence_length", .n_args = sequence_n_args, \
    .infer_shape = infer, .infer_type = sequence_infer_type, .dtypes = MXC_DTYPES_NUMBER,             \
    .needs = {.out_grad = 1, .in = 1 << LENGTH}, .check_values = sequence_check_values,               \
    .forward = {[MXC_CPU] = forward_fn}, .backward = {[MXC_CPU] = backward_fn}

const mxc_op_def mxci_op_sequence_last = {
    SEQUENCE("SequenceLast",
             "output (N,...) = the last step of each sequence of data (T,N,...), 0 where a sequence is empty", schema,
             infer_last, last_forward, last_backward),
};
const mxc_op_def mxci_op_sequence_mask = {
    SEQUENCE("SequenceMask", "output = data (T,N,...) with value in the steps after the end of each sequence",
             mask_schema, infer_same, mask_forward, mask_backward),
    .inplace_forward = in_to_out,
    .inplace_backward = grad_to_grad,
};
const mxc_op_def mxci_op_sequence_reverse = {
    SEQUENCE("SequenceReverse",
             "output = data (T,N,...) with the steps before the end of each sequence in reverse order", schema,
             infer_same, reverse_forward, reverse_backward),
};
