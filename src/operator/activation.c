/* Activation: y = f(x), one function out of several, element by element. The gradient needs y only, of mish x. */
#include "operator/common.h"
#include "operator/kernels/activation.h"

typedef struct activation_params {
    int32_t act_type;
} activation_params;

static const mxc_param activation_schema[] = {
    {.name = "act_type", .type = MXC_PARAM_ENUM, MXC_PARAM_FIELD(activation_params, act_type),
     .choices = "relu,sigmoid,tanh,softrelu,softsign,log_sigmoid,mish",
     .doc = "relu: max(x, 0); sigmoid: 1 / (1 + exp(-x)); tanh; softrelu: log(1 + exp(x)); softsign: x / (1 + |x|); "
            "log_sigmoid: log(sigmoid(x)); mish: x tanh(softrelu(x))"},
    MXC_PARAM_END};

/* Shared by both passes: from[0] is x or dy, from[1] is y, or of mish x. */
typedef struct activation_run {
    int kind, add;
    const mxc_tensor *from[2], *to;
} activation_run;

static void forward_part(void *arg, int64_t begin, int64_t end, int part) {
    const activation_run *r = arg;
    (void)part;
    mxci_activation_forward[r->to->dtype](r->kind, r->add, end - begin, mxci_at(r->from[0], begin),
                                          mxci_at(r->to, begin));
}

static void backward_part(void *arg, int64_t begin, int64_t end, int part) {
    const activation_run *r = arg;
    (void)part;
    mxci_activation_backward[r->to->dtype](r->kind, r->add, end - begin, mxci_at(r->from[0], begin),
                                           mxci_at(r->from[1], begin), mxci_at(r->to, begin));
}

static mxc_status activation(const mxc_op_call *call, const mxc_tensor *first, const mxc_tensor *to,
                             mxc_range_fn part) {
    const activation_params *p = call->params;
    int heavy = p->act_type != MXCI_ACT_RELU && p->act_type != MXCI_ACT_SOFTSIGN;
    const mxc_tensor *value = p->act_type == MXCI_ACT_MISH ? &call->in[0] : &call->out[0];
    activation_run r = {p->act_type, call->req[0] == MXC_REQ_ADD, {first, value}, to};
    if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, mxci_tensor_size(to), MXCI_GRAIN / (heavy ? 8 : 1), part, &r);
    return MXC_OK;
}

static mxc_status activation_forward(const mxc_op_call *call) {
    return activation(call, &call->in[0], &call->out[0], forward_part);
}

static mxc_status activation_backward(const mxc_op_call *call) {
    return activation(call, &call->out_grad[0], &call->in_grad[0], backward_part);
}

static void adjust_needs(const void *params, mxc_op_needs *needs) {
    needs->in = ((const activation_params *)params)->act_type == MXCI_ACT_MISH;
    needs->out = !needs->in;
}

const mxc_op_def mxci_op_activation = {
    .size = sizeof(mxc_op_def),
    .name = "Activation",
    .doc = "output = f(data), element by element; f is act_type",
    .flags = MXC_OP_SAMPLEWISE,
    .params = activation_schema,
    .param_size = sizeof(activation_params),
    .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1},
    .backward_needs = adjust_needs,
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(0), 0}, MXC_INPLACE_END},
    .inplace_backward = (const mxc_inplace[]){{MXC_FROM_OUT_GRAD(0), 0}, {MXC_FROM_OUT(0), 0}, MXC_INPLACE_END},
    .forward = {[MXC_CPU] = activation_forward},
    .backward = {[MXC_CPU] = activation_backward},
};
