/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LinearRegressionOutput, LogisticRegressionOutput, MAERegressionOutput: out = data (logistic: its sigmoid), whose
 * gradient is that of the loss with its label, whatever the gradient of the output: grad_scale / outputs per sample
 * times out - label (MAE: its sign).
 */
#include "math/assign.h"
#include "operator/infer.h"
#include "operator/loss/losses.h"
#include "operator/loss/regression_output_kernels.h"

enum { DATA, LABEL };

static const mxc_param regression_schema[] = {
    {MXC_PARAM_FIELD(mxci_regression_params, grad_scale), .name = "grad_scale", .type = MXC_PARAM_FLOAT, .initial = "1",
     .doc = "Factor of the gradient."},
    MXC_PARAM_END,
};

/* The label has data's shape; of data (N,1) it may be (N,), and is where it is not given. */
static mxc_status regression_infer(mxc_op_sig *sig) {
    mxc_shape *data = &sig->in_shape[DATA], *label = &sig->in_shape[LABEL], expected;
    MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){DATA, MXC_SLOT_OUT(0)}));
    if (data->ndim == 0)
        return mxc_sig_fail(sig, "argument 'data': expected at least one axis, found a scalar");
    if (data->ndim < 0 || (data->ndim == 2 && data->dim[1] < 0 && label->ndim == 1))
        return MXC_OK;
    expected = *data;
    if (data->ndim == 2 && data->dim[1] == 1 && label->ndim != 2)
        expected.ndim = 1;
    return mxc_sig_set_shape(sig, LABEL, &expected);
}

typedef struct regression_run {
    const mxc_op_call *call;
    int sign;
    double scale;
} regression_run;

static void logistic_part(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = ((const regression_run *)arg)->call;
    const mxc_tensor *y = &call->out[0];
    (void)part;
    mxci_logistic[y->dtype](call->req[0] == MXC_REQ_ADD, end - begin, mxci_at(&call->in[DATA], begin),
                            mxci_at(y, begin));
}

static void regression_output_backward_part(void *arg, int64_t begin, int64_t end, int part) {
    const regression_run *r = arg;
    const mxc_op_call *call = r->call;
    const mxc_tensor *y = &call->out[0];
    (void)part;
    mxci_difference[y->dtype](call->req[DATA] == MXC_REQ_ADD, r->sign, r->scale, end - begin, mxci_at(y, begin),
                              mxci_at(&call->in[LABEL], begin), mxci_at(&call->in_grad[DATA], begin));
}

static mxc_status identity_forward(const mxc_op_call *call) {
    mxci_assign(call->run, call->req[0], &call->out[0], &call->in[DATA]);
    return MXC_OK;
}

static mxc_status logistic_forward(const mxc_op_call *call) {
    regression_run r = {.call = call};
    if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, mxci_tensor_size(&call->out[0]), MXCI_GRAIN / 4, logistic_part, &r);
    return MXC_OK;
}

/* sign: of MAE, the gradient is the sign of the difference. */
static mxc_status regression_backward(const mxc_op_call *call, int sign) {
    const mxci_regression_params *p = call->params;
    const mxc_shape *label = &call->in[LABEL].shape;
    regression_run r = {.call = call, .sign = sign, .scale = p->grad_scale};
    if (call->req[LABEL] != MXC_REQ_ADD) /* a label has no gradient */
        mxci_assign_constant(call->run, call->req[LABEL], &call->in_grad[LABEL], 0);
    if (call->req[DATA] == MXC_REQ_NULL || mxc_shape_size(label) == 0)
        return MXC_OK;
    r.scale /= (double)mxci_shape_count(label, 1, label->ndim);
    mxc_parallel_for(call->run, mxci_tensor_size(&call->out[0]), MXCI_GRAIN, regression_output_backward_part, &r);
    return MXC_OK;
}

static mxc_status difference_backward(const mxc_op_call *call) {
    return regression_backward(call, 0);
}

static mxc_status sign_backward(const mxc_op_call *call) {
    return regression_backward(call, 1);
}

static const mxc_inplace in_to_out[] = {{MXC_FROM_IN(DATA), 0}, MXC_INPLACE_END};
static const mxc_inplace out_to_grad[] = {{MXC_FROM_OUT(0), DATA}, MXC_INPLACE_END};

#define REGRESSION(title, forward_fn, backward_fn, text)                                                      \
    {                                                                                                         \
        .size = sizeof(mxc_op_def), .name = title, .doc = text, .flags = MXC_OP_SAMPLEWISE,                   \
        .params = regression_schema, .param_size = sizeof(mxci_regression_params), .args = "data,label",      \
        .labels = 1 << LABEL, .infer_shape = regression_infer, .dtypes = MXC_DTYPES_FLOAT,                    \
        .needs = {.in = 1 << LABEL, .out = 1}, .inplace_forward = in_to_out, .inplace_backward = out_to_grad, \
        .forward = {[MXC_CPU] = forward_fn}, .backward = {                                                    \
            [MXC_CPU] = backward_fn                                                                           \
        }                                                                                                     \
    }

const mxc_op_def mxci_op_linear_regression_output = REGRESSION(
    "LinearRegressionOutput", identity_forward, difference_backward,
    "output = data, with the gradient of the squared error: grad_scale / (outputs per sample) (output - label)");
const mxc_op_def mxci_op_logistic_regression_output =
    REGRESSION("LogisticRegressionOutput", logistic_forward, difference_backward,
               "output = 1 / (1 + exp(-data)), with the gradient of the cross entropy: grad_scale / (outputs per "
               "sample) (output - label)");
const mxc_op_def mxci_op_mae_regression_output = REGRESSION(
    "MAERegressionOutput", identity_forward, sign_backward,
    "output = data, with the gradient of the absolute error: grad_scale / (outputs per sample) sign(output - label)");
