/*
 * softmax: out = e^(x / temperature) / sum of e^(x / temperature) along an axis; log_softmax: the logarithm of that.
 * The greatest x is subtracted first, so nothing overflows.
 */
#include <math.h>

#include "operator/common.h"
#include "operator/kernels/softmax.h"

typedef struct softmax_params {
    int64_t axis;
    double temperature;
} softmax_params;

static const mxc_param schema[] = {
    {.name = "axis", .type = MXC_PARAM_INT, MXC_PARAM_FIELD(softmax_params, axis), .initial = "-1",
     .doc = "axis whose elements sum to 1; negative: from the end"},
    {.name = "temperature", .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(softmax_params, temperature), .initial = "None",
     .optional = 1, .bounded = 1, .minimum = 1e-30, .maximum = 1e30, .doc = "divides data; None: 1"},
    MXC_PARAM_END};

static mxc_status infer_shape(mxc_op_sig *sig) {
    int axis;
    MXC_TRY(mxci_infer_shape_same(sig));
    if (sig->in_shape[0].ndim < 0)
        return MXC_OK;
    return mxci_sig_axis(sig, ((const softmax_params *)sig->params)->axis, sig->in_shape[0].ndim, &axis);
}

typedef struct softmax_run {
    const mxc_op_call *call;
    mxci_softmax_shape shape;
    mxci_softmax_forward_fn forward;
    mxci_softmax_backward_fn backward; /* NULL where forward runs */
} softmax_run;

static void run_part(void *arg, int64_t begin, int64_t end, int part) {
    const softmax_run *r = arg;
    const mxc_op_call *call = r->call;
    int add = call->req[0] == MXC_REQ_ADD;
    (void)part;
    if (r->backward)
        r->backward(&r->shape, add, call->out_grad[0].data, call->out[0].data, call->in_grad[0].data, begin, end);
    else
        r->forward(&r->shape, add, call->in[0].data, call->out[0].data, begin, end);
}

static mxc_status run(const mxc_op_call *call, mxci_softmax_forward_fn forward, mxci_softmax_backward_fn backward) {
    const softmax_params *p = call->params;
    const mxc_shape *data = &call->in[0].shape;
    int axis = (int)(p->axis < 0 ? p->axis + data->ndim : p->axis);
    softmax_run r = {.call = call, .forward = forward, .backward = backward};
    int64_t row;
    r.shape.k = data->dim[axis];
    r.shape.inner = mxci_shape_count(data, axis + 1, data->ndim);
    r.shape.scale = isnan(p->temperature) ? 1 : 1 / p->temperature;
    row = r.shape.k * r.shape.inner;
    if (call->req[0] != MXC_REQ_NULL && row > 0)
        mxc_parallel_for(call->run, mxci_shape_count(data, 0, axis), MXCI_GRAIN / 4 / row + 1, run_part, &r);
    return MXC_OK;
}

static const mxc_inplace in_to_out[] = {{MXC_FROM_IN(0), 0}, MXC_INPLACE_END};
static const mxc_inplace grad_to_grad[] = {{MXC_FROM_OUT_GRAD(0), 0}, MXC_INPLACE_END};

static mxc_status softmax_forward(const mxc_op_call *call) {
    return run(call, mxci_softmax_forward[call->out[0].dtype], NULL);
}

static mxc_status softmax_backward(const mxc_op_call *call) {
    return run(call, NULL, mxci_softmax_backward[call->out[0].dtype]);
}

const mxc_op_def mxci_op_softmax = {
    .size = sizeof(mxc_op_def), .name = "softmax", .doc = "out = e^(data / temperature) / its sum along axis",
    .params = schema, .param_size = sizeof(softmax_params), .infer_shape = infer_shape, .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1, .out = 1}, .inplace_forward = in_to_out, .inplace_backward = grad_to_grad,
    .forward = {[MXC_CPU] = softmax_forward}, .backward = {[MXC_CPU] = softmax_backward}};

static mxc_status log_softmax_forward(const mxc_op_call *call) {
    return run(call, mxci_log_softmax_forward[call->out[0].dtype], NULL);
}

static mxc_status log_softmax_backward(const mxc_op_call *call) {
    return run(call, NULL, mxci_log_softmax_backward[call->out[0].dtype]);
}

const mxc_op_def mxci_op_log_softmax = {
    .size = sizeof(mxc_op_def), .name = "log_softmax", .doc = "out = the logarithm of softmax(data) along axis",
    .params = schema, .param_size = sizeof(softmax_params), .infer_shape = infer_shape, .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1, .out = 1}, .inplace_forward = in_to_out, .inplace_backward = grad_to_grad,
    .forward = {[MXC_CPU] = log_softmax_forward}, .backward = {[MXC_CPU] = log_softmax_backward}};
