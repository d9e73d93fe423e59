/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SoftmaxOutput: softmax whose gradient is that of the cross entropy with its label, whatever the gradient of the
 * output.
 *
 * out = softmax(data) along all axes but the first (default), the last (preserve_shape) or axis 1 (multi_output).
 * label: class numbers, one per softmax (backward fails where one is no class, but for an ignore_label with
 * use_ignore), or probabilities of data's shape. Gradient to data: grad_scale (out - label),
 * divided as normalization says (class numbers only): null: by 1 (multi_output: by the softmaxes in a sample), batch:
 * also by the batch (preserve_shape: by all labels), valid: by the labels that are not ignore_label. With out_grad it
 * is multiplied by the gradient of the output. With smooth_alpha a class number stands for a probability of 1 -
 * smooth_alpha, and the other classes share smooth_alpha equally.
 */
#include "math/assign.h"
#include "operator/index/rows.h"
#include "operator/infer.h"
#include "operator/loss/losses.h"
#include "operator/nn/softmax_kernels.h"

enum { DATA, LABEL };

static const mxc_param softmax_schema[] = {
    {MXC_PARAM_FIELD(mxci_softmax_output_params, grad_scale), .name = "grad_scale", .type = MXC_PARAM_FLOAT,
     .initial = "1", .doc = "Factor of the gradient."},
    {MXC_PARAM_FIELD(mxci_softmax_output_params, ignore_label), .name = "ignore_label", .type = MXC_PARAM_FLOAT,
     .initial = "-1",
     .doc = "Label that has no gradient if use_ignore is set, and that normalization=valid does not count."},
    {MXC_PARAM_FIELD(mxci_softmax_output_params, multi_output), .name = "multi_output", .type = MXC_PARAM_BOOL,
     .initial = "False", .doc = "Compute softmax along axis 1, with one label for each position of the other axes."},
    {MXC_PARAM_FIELD(mxci_softmax_output_params, use_ignore), .name = "use_ignore", .type = MXC_PARAM_BOOL,
     .initial = "False", .doc = "Labels equal to ignore_label give no gradient."},
    {MXC_PARAM_FIELD(mxci_softmax_output_params, preserve_shape), .name = "preserve_shape", .type = MXC_PARAM_BOOL,
     .initial = "False", .doc = "Compute softmax along the last axis."},
    {MXC_PARAM_FIELD(mxci_softmax_output_params, normalization), .name = "normalization", .type = MXC_PARAM_ENUM,
     .initial = "null", .choices = "null,batch,valid",
     .doc = "What the gradient is divided by: nothing, the batch size, or the number of labels that are not ignored."},
    {MXC_PARAM_FIELD(mxci_softmax_output_params, out_grad), .name = "out_grad", .type = MXC_PARAM_BOOL,
     .initial = "False", .doc = "Multiply the gradient by the gradient of the output, which is ignored otherwise."},
    {MXC_PARAM_FIELD(mxci_softmax_output_params, smooth_alpha), .name = "smooth_alpha", .type = MXC_PARAM_FLOAT,
     .initial = "0", .bounded = 1, .minimum = 0, .maximum = 1,
     .doc = "Label smoothing: share of the label's probability that is distributed over the other classes. Only for "
            "labels that are class numbers."},
    MXC_PARAM_END,
};

/* The label's shape where it holds class numbers, as far as it follows from data's: with multi_output the
 * positions are one axis. */
static mxc_shape label_shape(const mxci_softmax_output_params *p, const mxc_shape *data) {
    mxc_shape label = {.ndim = -1};
    if (data->ndim < 2)
        return label;
    if (p->multi_output)
        return mxci_shape_of(
            2, (int64_t[]){data->dim[0], mxc_shape_known(data) ? mxci_shape_count(data, 2, data->ndim) : -1});
    if (!p->preserve_shape)
        return mxci_shape_of(1, data->dim);
    return mxci_shape_of(data->ndim - 1, data->dim);
}

/* With multi_output the label may also be data's shape with axis 1 left out or of size 1. */
static int is_other_label(const mxci_softmax_output_params *p, const mxc_shape *data, const mxc_shape *label) {
    mxc_shape kept = *data, dropped = *data;
    if (!p->multi_output || !mxc_shape_known(data))
        return 0;
    kept.dim[1] = 1;
    dropped.ndim--;
    for (int i = 1; i < dropped.ndim; i++)
        dropped.dim[i] = data->dim[i + 1];
    return mxc_shape_equal(label, &kept) || mxc_shape_equal(label, &dropped);
}

/* label: class indices, data's shape without the class axis (or a form like it), or probabilities in data's shape. */
static mxc_status softmax_infer(mxc_op_sig *sig) {
    const mxci_softmax_output_params *p = sig->params;
    mxc_shape *data = &sig->in_shape[DATA], *label = &sig->in_shape[LABEL], expected;
    MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){DATA, MXC_SLOT_OUT(0)}));
    if (data->ndim >= 0 && data->ndim < 2)
        return mxc_sig_fail(sig, "argument 'data': expected at least 2 axes, found %d", data->ndim);
    if (mxc_shape_known(data) && (mxc_shape_equal(label, data) || is_other_label(p, data, label)))
        return MXC_OK;
    if (label->ndim >= 0 && !mxc_shape_known(data)) /* its form cannot be told from data yet */
        return MXC_OK;
    expected = label_shape(p, data);
    return mxc_sig_set_shape(sig, LABEL, &expected);
}

static void softmax_needs(const void *params, mxc_op_needs *needs) {
    const mxci_softmax_output_params *p = params;
    *needs = (mxc_op_needs){.out_grad = p->out_grad ? 1 : 0, .in = 1 << LABEL, .out = 1};
}

/* ---- running --------------------------------------------------------------------------------------------------- */

/* Data as (outer, k, inner), softmax along k. */
static mxci_softmax_shape shape_of(const mxci_softmax_output_params *p, const mxc_shape *data, int64_t *outer) {
    int axis = p->multi_output ? 1 : p->preserve_shape ? data->ndim - 1 : 1;
    int last = p->multi_output || p->preserve_shape ? axis + 1 : data->ndim;
    *outer = mxci_shape_count(data, 0, axis);
    return (mxci_softmax_shape){
        .k = mxci_shape_count(data, axis, last), .inner = mxci_shape_count(data, last, data->ndim), .scale = 1};
}

typedef struct softmax_run {
    const mxc_op_call *call;
    mxci_softmax_loss loss;
} softmax_run;

static void softmax_output_forward_part(void *arg, int64_t begin, int64_t end, int part) {
    const softmax_run *r = arg;
    const mxc_op_call *call = r->call;
    (void)part;
    mxci_softmax_forward[call->out[0].dtype](&r->loss.shape, r->loss.add, call->in[DATA].data, call->out[0].data, begin,
                                             end);
}

static void softmax_output_backward_part(void *arg, int64_t begin, int64_t end, int part) {
    const softmax_run *r = arg;
    const mxc_op_call *call = r->call;
    const mxci_softmax_output_params *p = call->params;
    (void)part;
    mxci_softmax_loss_gradient[call->out[0].dtype](&r->loss, call->out[0].data, call->in[LABEL].data,
                                                   p->out_grad ? call->out_grad[0].data : NULL,
                                                   call->in_grad[DATA].data, begin, end);
}

static mxc_status softmax_output_run_rows(const mxc_op_call *call, softmax_run *r, int64_t outer, mxc_range_fn part) {
    int64_t row = r->loss.shape.k * r->loss.shape.inner;
    if (row > 0)
        mxc_parallel_for_dynamic(call->run, outer, MXCI_GRAIN / 4 / row + 1, part, r);
    return MXC_OK;
}

static mxc_status softmax_forward(const mxc_op_call *call) {
    softmax_run r = {.call = call, .loss.add = call->req[0] == MXC_REQ_ADD};
    int64_t outer;
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    r.loss.shape = shape_of(call->params, &call->in[DATA].shape, &outer);
    return softmax_output_run_rows(call, &r, outer, softmax_output_forward_part);
}

/* What the sum of the gradient is divided by. */
static double divisor(const mxc_op_call *call, int64_t outer, int64_t inner) {
    const mxci_softmax_output_params *p = call->params;
    const mxc_tensor *label = &call->in[LABEL];
    int64_t count;
    if (p->normalization == MXCI_NORM_BATCH)
        return (double)outer * (double)inner;
    if (p->normalization == MXCI_NORM_NULL)
        return (double)inner;
    count = mxci_softmax_count[label->dtype](label->data, mxci_tensor_size(label), p->ignore_label);
    return count > 0 ? (double)count : 1;
}

/* out - label times grad_scale, without out's gradient: this operator is a loss. Dense labels are not normalized. */
static mxc_status softmax_backward(const mxc_op_call *call) {
    const mxci_softmax_output_params *p = call->params;
    softmax_run r = {
        .call = call,
        .loss =
            {
                .use_ignore = p->use_ignore,
                .ignore = p->ignore_label,
                .scale = p->grad_scale,
                .smooth = p->smooth_alpha,
                .add = call->req[DATA] == MXC_REQ_ADD,
            },
    };
    int64_t outer;
    if (call->req[LABEL] != MXC_REQ_ADD) /* a label has no gradient */
        mxci_assign_constant(call->run, call->req[LABEL], &call->in_grad[LABEL], 0);
    if (call->req[DATA] == MXC_REQ_NULL || mxci_tensor_size(&call->out[0]) == 0)
        return MXC_OK;
    r.loss.shape = shape_of(p, &call->out[0].shape, &outer);
    r.loss.dense = mxc_shape_equal(&call->in[LABEL].shape, &call->out[0].shape);
    if (!r.loss.dense) {
        MXC_TRY(mxci_check_labels(call, LABEL, r.loss.shape.k, p->use_ignore ? &p->ignore_label : NULL));
        r.loss.scale /= divisor(call, outer, r.loss.shape.inner);
    }
    return softmax_output_run_rows(call, &r, outer, softmax_output_backward_part);
}

const mxc_op_def mxci_op_softmax_output = {
    .size = sizeof(mxc_op_def),
    .name = "SoftmaxOutput",
    .aliases = "Softmax",
    .doc = "output = softmax(data) along all axes but the first, with the gradient of the cross entropy: grad_scale "
           "(output - label) for data, where label holds class numbers (N,) or probabilities of the shape of data",
    .flags = MXC_OP_SAMPLEWISE,
    .params = softmax_schema,
    .param_size = sizeof(mxci_softmax_output_params),
    .args = "data,label",
    .labels = 1 << LABEL,
    .infer_shape = softmax_infer,
    .dtypes = MXC_DTYPES_FLOAT,
    .backward_needs = softmax_needs,
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(DATA), 0}, MXC_INPLACE_END},
    .inplace_backward = (const mxc_inplace[]){{MXC_FROM_OUT(0), DATA}, MXC_INPLACE_END},
    .forward = {[MXC_CPU] = softmax_forward},
    .backward = {[MXC_CPU] = softmax_backward},
};
