/* SPDX-License-Identifier: Apache-2.0 */
/*
 * softmax_cross_entropy: out (1,) = the sum over i of -log softmax(data[i])[label[i]]; data (N,K), label (N): class
 * numbers 0..K-1, others are an error. Gradient to data: (softmax(data) - unit vectors of the labels) times out's; none
 * to label.
 */
#include "math/tile_kernels.h"
#include "operator/index/rows.h"
#include "operator/nn/softmax_kernels.h"

enum { DATA, LABEL };

/* data (N, classes), label (N,), out (1,): the sum over the rows. */
static mxc_status softmax_cross_entropy_infer_shape(mxc_op_sig *sig) {
    mxc_shape data = mxci_shape_axes(2), rows = mxci_shape_axes(1), out = mxci_shape_of(1, (int64_t[]){1});
    MXC_TRY(mxc_sig_set_shape(sig, DATA, &data));
    rows.dim[0] = sig->in_shape[DATA].dim[0];
    MXC_TRY(mxc_sig_set_shape(sig, LABEL, &rows));
    data.dim[0] = sig->in_shape[LABEL].dim[0];
    MXC_TRY(mxc_sig_set_shape(sig, DATA, &data));
    MXC_TRY(mxci_sig_check_axis(sig, DATA, 1));
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

/* Of data's type: softmax or its logarithm (N,K); backward also the labels (N). */
static size_t softmax_cross_entropy_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    const mxc_shape *data = &sig->in_shape[DATA];
    int64_t labels = pass == MXC_BACKWARD ? data->dim[0] : 0;
    return mxci_size_of(mxci_dim_add(mxc_shape_size(data), labels), mxc_dtype_size(sig->in_type[DATA]));
}

typedef struct rows_run {
    const mxc_op_call *call;
    mxc_tensor y, label; /* in temp */
    mxci_softmax_loss loss;
} rows_run;

/* Scratch: the rows' log softmax or, in backward, their softmax followed by the labels. */
static rows_run softmax_cross_entropy_open_run(const mxc_op_call *call) {
    const mxc_tensor *data = &call->in[DATA];
    rows_run r = {
        .call = call,
        .y = *data,
        .label = call->in[LABEL],
        .loss = {.shape = {.k = data->shape.dim[1], .inner = 1, .scale = 1}},
    };
    r.y.data = call->temp;
    r.label.data = mxci_at(&r.y, mxci_tensor_size(data));
    return r;
}

static void over_rows(const rows_run *r, mxc_range_fn fn) {
    mxc_parallel_for_dynamic(r->call->run, r->y.shape.dim[0], MXCI_GRAIN / (8 * r->loss.shape.k) + 1, fn, (void *)r);
}

/* Rows begin..end-1: log softmax to scratch. */
static void log_range(void *arg, int64_t begin, int64_t end, int part) {
    const rows_run *r = arg;
    (void)part;
    mxci_log_softmax_forward[r->y.dtype](&r->loss.shape, 0, r->call->in[DATA].data, r->y.data, begin, end);
}

/* The rows are computed by threads, their losses added in order, so that the sum is always the same. */
static mxc_status softmax_cross_entropy_forward(const mxc_op_call *call) {
    rows_run r = softmax_cross_entropy_open_run(call);
    double sum = 0, value;
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXC_TRY(mxci_check_labels(call, LABEL, r.loss.shape.k, NULL));
    over_rows(&r, log_range);
    for (int64_t i = 0, class; i < r.y.shape.dim[0]; i++) {
        mxci_read_indices(&call->in[LABEL], i, 1, r.loss.shape.k, MXCI_INDEX_CLIP, &class);
        mxci_convert(r.y.dtype, mxci_at(&r.y, i * r.loss.shape.k + class), MXC_F64, &value, 1);
        sum -= value;
    }
    mxci_assign_constant(call->run, call->req[0], &call->out[0], sum);
    return MXC_OK;
}

/* Rows begin..end-1: softmax to scratch, labels as class numbers of data's dtype behind it, then the gradient. */
static void gradient_range(void *arg, int64_t begin, int64_t end, int part) {
    const rows_run *r = arg;
    (void)part;
    mxci_softmax_forward[r->y.dtype](&r->loss.shape, 0, r->call->in[DATA].data, r->y.data, begin, end);
    for (int64_t i = begin, class; i < end; i++) {
        mxci_read_indices(&r->call->in[LABEL], i, 1, r->loss.shape.k, MXCI_INDEX_CLIP, &class);
        mxci_convert(MXC_I64, &class, r->label.dtype, mxci_at(&r->label, i), 1);
    }
    mxci_softmax_loss_gradient[r->y.dtype](&r->loss, r->y.data, r->label.data, NULL, r->call->in_grad[DATA].data, begin,
                                           end);
}

/* (softmax - one-hot label) times the gradient of the sum. */
static mxc_status softmax_cross_entropy_backward(const mxc_op_call *call) {
    rows_run r = softmax_cross_entropy_open_run(call);
    mxci_assign_zero_gradient(call, LABEL);
    if (call->req[DATA] == MXC_REQ_NULL)
        return MXC_OK;
    MXC_TRY(mxci_check_labels(call, LABEL, r.loss.shape.k, NULL));
    r.loss.add = call->req[DATA] == MXC_REQ_ADD;
    mxci_convert(call->out_grad[0].dtype, call->out_grad[0].data, MXC_F64, &r.loss.scale, 1);
    over_rows(&r, gradient_range);
    return MXC_OK;
}

const mxc_op_def mxci_op_softmax_cross_entropy = {
    .size = sizeof(mxc_op_def),
    .name = "softmax_cross_entropy",
    .doc = "Softmax cross entropy summed over the batch: out (1,) = sum over i of -log softmax(data[i])[label[i]]; "
           "data (N,K), label (N)",
    .args = "data,label",
    .labels = 1 << LABEL,
    .infer_shape = softmax_cross_entropy_infer_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1, .in = 1 << DATA | 1 << LABEL},
    .temp_bytes = softmax_cross_entropy_temp_bytes,
    .forward = {[MXC_CPU] = softmax_cross_entropy_forward},
    .backward = {[MXC_CPU] = softmax_cross_entropy_backward},
};
