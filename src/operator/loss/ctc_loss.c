/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CTCLoss: out[n] = -ln of the probability of sequence n's labels, by the forward-backward algorithm (A. Graves et al.,
 * "Connectionist temporal classification", 2006). Softmax over the classes gives the probability of each class at every
 * step; a path through the steps spells a label sequence once repetitions are merged and blanks removed, and the
 * probability of the labels is the sum over all paths that spell them. data (T,N,C), label (N,L), out (N).
 *
 * blank_label first: class 0 is the blank, labels are 1..C-1, and 0 ends a row of label; last: class C-1 is the blank,
 * labels are 0..C-2, or the blank as a symbol like the others, and -1 ends a row. data_lengths and label_lengths (N)
 * say how many steps and labels count, cut to T and L. Where no path spells the labels out is inf and the gradient 0.
 * Only data has a gradient.
 */
#include "operator/loss/ctc_loss.h"

#include <math.h>

#include "math/tile_kernels.h"
#include "operator/index/rows.h"
#include "operator/loss/ctc_loss_kernels.h"

typedef mxci_ctc_params ctc_params;

enum { DATA, LABEL };

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(ctc_params, use_data_lengths), .name = "use_data_lengths", .type = MXC_PARAM_BOOL,
     .initial = "False",
     .doc = "Use the argument data_lengths, the number of time steps of each sequence; otherwise all steps count."},
    {MXC_PARAM_FIELD(ctc_params, use_label_lengths), .name = "use_label_lengths", .type = MXC_PARAM_BOOL,
     .initial = "False",
     .doc = "Use the argument label_lengths; otherwise a row of label ends at its first padding value."},
    {MXC_PARAM_FIELD(ctc_params, blank_label), .name = "blank_label", .type = MXC_PARAM_ENUM, .initial = "first",
     .choices = "first,last",
     .doc = "Which class is the blank: first is class 0, with labels from 1 and padding 0; last is class C - 1, with "
            "labels from 0 and padding -1."},
    MXC_PARAM_END,
};

static int ctc_loss_count_args(const void *params) {
    const ctc_params *p = params;
    return 2 + p->use_data_lengths + p->use_label_lengths;
}

static const char *name_args(const void *params) {
    const ctc_params *p = params;
    return p->use_data_lengths ? "data,label,data_lengths,label_lengths" : "data,label,label_lengths";
}

/* ---- inference --------------------------------------------------------------------------------------------------- */

/* data (T, N, classes), label (N, columns); the lengths and out (N,). N goes both ways. */
static mxc_status ctc_loss_infer_shape(mxc_op_sig *sig) {
    mxc_shape data = mxci_shape_axes(3), label = mxci_shape_axes(2), each = mxci_shape_axes(1);
    MXC_TRY(mxc_sig_set_shape(sig, DATA, &data));
    MXC_TRY(mxc_sig_set_shape(sig, LABEL, &label));
    each.dim[0] = sig->in_shape[DATA].dim[1] >= 0 ? sig->in_shape[DATA].dim[1] : sig->in_shape[LABEL].dim[0];
    for (int i = LABEL + 1; i < sig->n_in; i++) {
        MXC_TRY(mxc_sig_set_shape(sig, i, &each));
        each = sig->in_shape[i];
    }
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &each));
    data.dim[1] = label.dim[0] = sig->out_shape[0].dim[0];
    MXC_TRY(mxc_sig_set_shape(sig, DATA, &data));
    MXC_TRY(mxc_sig_set_shape(sig, LABEL, &label));
    if (sig->in_shape[DATA].dim[2] == 0)
        return mxc_sig_fail(sig, "argument 'data' has no classes");
    return MXC_OK;
}

static mxc_status ctc_loss_infer_type(mxc_op_sig *sig) {
    MXC_TRY(mxci_sig_same_type(sig, 2, (int[]){DATA, MXC_SLOT_OUT(0)}));
    for (int i = LABEL; i < sig->n_in && sig->in_type[DATA] != MXC_DTYPE_UNKNOWN; i++)
        if (sig->in_type[i] == MXC_DTYPE_UNKNOWN)
            MXC_TRY(mxc_sig_set_type(sig, i, sig->in_type[DATA]));
    return MXC_OK;
}

/* ---- scratch ----------------------------------------------------------------------------------------------------- */

/* One part's scratch, and the sequence that is in it. */
typedef struct sequence {
    mxci_ctc ctc;
    int64_t *labels;
    double *log_sums;  /* (T): ln of the sum of e^x over the classes */
    double *log_probs; /* (T, L + 1) */
    double *posterior; /* (C) */
} sequence;

typedef struct ctc_run {
    const mxc_op_call *call;
    int64_t steps, batch, classes, columns; /* T, N, C, L */
    size_t part_bytes;
    int backward;
} ctc_run;

/* Hands out the scratch of one part, for the longest sequence, or measures it where s has no base. */
static void ctc_loss_take_scratch(mxci_scratch *s, const mxc_shape *data, const mxc_shape *label, sequence *q) {
    int64_t steps = data->dim[0], n = label->dim[1], states = mxci_dim_add(mxci_dim_mul(2, n), 1);
    q->labels = mxci_scratch_array(s, n, sizeof *q->labels);
    q->log_sums = mxci_scratch_array(s, steps, sizeof(double));
    q->log_probs = mxci_scratch_array(s, mxci_dim_mul(steps, mxci_dim_add(n, 1)), sizeof(double));
    q->ctc.alpha = mxci_scratch_array(s, mxci_dim_mul(steps, states), sizeof(double));
    q->ctc.beta = mxci_scratch_array(s, mxci_dim_mul(2, states), sizeof(double));
    q->posterior = mxci_scratch_array(s, data->dim[2], sizeof(double));
    q->ctc.labels = q->labels;
    q->ctc.log_probs = q->log_probs;
}

static size_t ctc_loss_part_bytes(const mxc_shape *data, const mxc_shape *label) {
    mxci_scratch measure = {0};
    sequence unused;
    ctc_loss_take_scratch(&measure, data, label, &unused);
    return measure.bytes;
}

static size_t ctc_loss_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    (void)pass;
    return mxci_size_mul(ctc_loss_part_bytes(&sig->in_shape[DATA], &sig->in_shape[LABEL]), (size_t)sig->parallelism);
}

/* ---- one sequence ------------------------------------------------------------------------------------------------ */

/* How many of sequence n's labels count. */
static int64_t count_labels(const ctc_run *r, int64_t n) {
    const mxc_op_call *call = r->call;
    const ctc_params *p = call->params;
    int64_t count = 0, padding = p->blank_label == MXCI_CTC_BLANK_FIRST ? 0 : -1;
    if (p->use_label_lengths) {
        mxci_read_indices(&call->in[call->n_in - 1], n, 1, r->columns + 1, MXCI_INDEX_CLIP, &count);
        return count;
    }
    while (count < r->columns) {
        double label;
        mxci_convert(call->in[LABEL].dtype, mxci_at(&call->in[LABEL], n * r->columns + count), MXC_F64, &label, 1);
        if (trunc(label) == (double)padding)
            break;
        count++;
    }
    return count;
}

/* Fills in the labels, which have been checked, the rows' log sums and the log probabilities of sequence n. */
static void read_sequence(const ctc_run *r, int64_t n, sequence *q) {
    const mxc_op_call *call = r->call;
    const ctc_params *p = call->params;
    const mxc_tensor *data = &call->in[DATA];
    q->ctc.steps = r->steps;
    q->ctc.n_labels = count_labels(r, n);
    q->ctc.blank = p->blank_label == MXCI_CTC_BLANK_FIRST ? 0 : r->classes - 1;
    if (p->use_data_lengths)
        mxci_read_indices(&call->in[LABEL + 1], n, 1, r->steps + 1, MXCI_INDEX_CLIP, &q->ctc.steps);
    mxci_read_indices(&call->in[LABEL], n * r->columns, q->ctc.n_labels, r->classes, MXCI_INDEX_CLIP, q->labels);
    for (int64_t t = 0; t < q->ctc.steps; t++) {
        int64_t row = (t * r->batch + n) * r->classes;
        double *log_probs = q->log_probs + t * (q->ctc.n_labels + 1);
        q->log_sums[t] = mxci_ctc_log_sum[data->dtype](r->classes, mxci_at(data, row));
        log_probs[0] = mxci_value_at(data, row + q->ctc.blank) - q->log_sums[t];
        for (int64_t i = 0; i < q->ctc.n_labels; i++)
            log_probs[1 + i] = mxci_value_at(data, row + q->labels[i]) - q->log_sums[t];
    }
}

/* The gradient of sequence n: probability minus posterior of each class. total -inf: no path, so that it is 0. Steps go
 * downwards, as beta needs them. */
static void put_gradient(const ctc_run *r, int64_t n, sequence *q, double total) {
    const mxc_tensor *data = &r->call->in[DATA], *grad = &r->call->in_grad[DATA];
    const int add = r->call->req[DATA] == MXC_REQ_ADD;
    double factor = mxci_value_at(&r->call->out_grad[0], n);
    for (int64_t t = r->steps - 1; t >= 0; t--) {
        int64_t row = (t * r->batch + n) * r->classes;
        if (t >= q->ctc.steps || total == -INFINITY) {
            if (!add)
                mxci_fill_compute(grad->dtype, 0, mxci_at(grad, row), r->classes);
            continue;
        }
        mxci_fill_compute(MXC_F64, 0, q->posterior, r->classes);
        mxci_ctc_posterior(&q->ctc, t, total, q->posterior);
        mxci_ctc_gradient[data->dtype](r->classes, add, factor, q->log_sums[t], q->posterior, mxci_at(data, row),
                                       mxci_at(grad, row));
    }
}

/* Sequences begin..end-1, in the scratch of this thread. The loss is -log P(label | data). */
static void ctc_loss_run_part(void *arg, int64_t begin, int64_t end, int part) {
    const ctc_run *r = arg;
    sequence q;
    ctc_loss_take_scratch(&(mxci_scratch){.base = (char *)r->call->temp + (size_t)part * r->part_bytes},
                          &r->call->in[DATA].shape, &r->call->in[LABEL].shape, &q);
    for (int64_t n = begin; n < end; n++) {
        double total;
        read_sequence(r, n, &q);
        total = mxci_ctc_forward(&q.ctc);
        if (r->backward)
            put_gradient(r, n, &q, total);
        else
            mxci_assign_value(r->call->req[0], &r->call->out[0], n, -total);
    }
}

/* Labels are checked before any result is written. Backward runs the forward recursion again, nothing is kept. */
static mxc_status ctc_loss_run(const mxc_op_call *call, int backward) {
    const mxc_shape *data = &call->in[DATA].shape;
    const int first = ((const ctc_params *)call->params)->blank_label == MXCI_CTC_BLANK_FIRST;
    ctc_run r = {
        .call = call,
        .steps = data->dim[0],
        .batch = data->dim[1],
        .classes = data->dim[2],
        .columns = call->in[LABEL].shape.dim[1],
        .part_bytes = ctc_loss_part_bytes(data, &call->in[LABEL].shape),
        .backward = backward,
    };
    for (int64_t n = 0; n < r.batch; n++)
        MXC_TRY(mxci_check_indices(call, LABEL, n * r.columns, count_labels(&r, n), first, r.classes));
    for (int i = LABEL; i < call->n_in && backward; i++)
        mxci_assign_zero_gradient(call, i);
    if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, r.batch, 1, ctc_loss_run_part, &r);
    return MXC_OK;
}

static mxc_status ctc_loss_forward(const mxc_op_call *call) {
    return ctc_loss_run(call, 0);
}

static mxc_status ctc_loss_backward(const mxc_op_call *call) {
    return ctc_loss_run(call, 1);
}

const mxc_op_def mxci_op_ctc_loss = {
    .size = sizeof(mxc_op_def),
    .name = "CTCLoss",
    .aliases = "ctc_loss,_contrib_CTCLoss,_contrib_ctc_loss",
    .doc = "Connectionist temporal classification: out (N) = -ln of the probability of each label sequence, label "
           "(N,L), given data (T,N,C), to which softmax over the classes is applied; inf with a gradient of 0 where "
           "the sequence is impossible",
    .params = schema,
    .param_size = sizeof(ctc_params),
    .args = "data,label,data_lengths,label_lengths",
    .outputs = "output0", /* MXNet's name, which has a hidden second output */
    .n_args = ctc_loss_count_args,
    .args_of = name_args,
    .labels = 14, /* the lengths are labels too */
    .infer_shape = ctc_loss_infer_shape,
    .infer_type = ctc_loss_infer_type,
    .needs = {.out_grad = 1, .in = 15},
    .temp_bytes = ctc_loss_temp_bytes,
    .forward = {[MXC_CPU] = ctc_loss_forward},
    .backward = {[MXC_CPU] = ctc_loss_backward},
};
