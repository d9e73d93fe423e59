/* SPDX-License-Identifier: Apache-2.0 */
/* Activation: y = f(x), one function out of several, element by element. The gradient needs y only, of mish x. */
#include "operator/nn/activation.h"

#include <mxc/op.h>

#include "math/assign.h"
#include "math/map.h"
#include "operator/nn/activation_kernels.h"

static const mxc_param activation_schema[] = {
    {MXC_PARAM_FIELD(mxci_activation_params, act_type), .name = "act_type", .type = MXC_PARAM_ENUM,
     .choices = "relu,sigmoid,tanh,softrelu,softsign,log_sigmoid,mish",
     .doc = "Function f. relu: max(x, 0); sigmoid: 1 / (1 + exp(-x)); tanh; softrelu: log(1 + exp(x)); softsign: x / "
            "(1 + |x|); log_sigmoid: log(sigmoid(x)); mish: x tanh(softrelu(x))."},
    MXC_PARAM_END,
};

/* One element-wise kernel over the arrays: from[0] is x or dy, from[1] is y, or x for mish. Functions with an
 * exponential are split over threads from an eighth of the usual number of elements on. */
static mxc_status activation_run(const mxc_op_call *call, const mxci_map_fn *kernels, int n_from,
                                 const mxc_tensor *const *from, const mxc_tensor *to) {
    const int kind = ((const mxci_activation_params *)call->params)->act_type;
    const int heavy = kind != MXCI_ACT_RELU && kind != MXCI_ACT_SOFTSIGN;
    mxci_mapping m = {
        .dtype = to->dtype,
        .n = mxci_tensor_size(to),
        .grain = MXCI_GRAIN / (heavy ? 8 : 1),
        .n_in = n_from,
    };
    for (int i = 0; i < n_from; i++)
        m.in[i].data = from[i]->data;
    m.result[0] = (mxci_result){.fn = kernels[mxci_compute_type(to->dtype)], .req = call->req[0], .data = to->data};
    return call->req[0] == MXC_REQ_NULL ? MXC_OK : mxci_mapping_run(call->run, &m);
}

static mxc_status activation_forward(const mxc_op_call *call) {
    const mxci_activation_params *p = call->params;
    return activation_run(call, mxci_activations[p->act_type].forward, 1, (const mxc_tensor *[]){&call->in[0]},
                          &call->out[0]);
}

static mxc_status activation_backward(const mxc_op_call *call) {
    const mxci_activation_params *p = call->params;
    const mxc_tensor *value = p->act_type == MXCI_ACT_MISH ? &call->in[0] : &call->out[0];
    return activation_run(call, mxci_activations[p->act_type].backward, 2,
                          (const mxc_tensor *[]){&call->out_grad[0], value}, &call->in_grad[0]);
}

/* The derivative of every function but mish follows from y, so that x need not be kept. */
static void activation_adjust_needs(const void *params, mxc_op_needs *needs) {
    needs->in = ((const mxci_activation_params *)params)->act_type == MXCI_ACT_MISH;
    needs->out = !needs->in;
}

/* The function by its name in simpleop's list, for the pass that fuses chains. */
static int activation_elementwise(const mxc_op *op, mxc_elementwise *out) {
    static const char *const functions[] = {
#define ACTIVATION(id, name) #name,
#include "operator/nn/activation_kernels.def"
#undef ACTIVATION
    };
    *out = (mxc_elementwise){.function = functions[((const mxci_activation_params *)mxc_op_params(op))->act_type]};
    return 1;
}

const mxc_op_def mxci_op_activation = {
    .size = sizeof(mxc_op_def),
    .name = "Activation",
    .doc = "output = f(data), element by element, where act_type selects f",
    .flags = MXC_OP_SAMPLEWISE | MXC_OP_ELEMENTWISE,
    .params = activation_schema,
    .param_size = sizeof(mxci_activation_params),
    .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1},
    .backward_needs = activation_adjust_needs,
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(0), 0}, MXC_INPLACE_END},
    .inplace_backward = (const mxc_inplace[]){{MXC_FROM_OUT_GRAD(0), 0}, {MXC_FROM_OUT(0), 0}, MXC_INPLACE_END},
    .elementwise = activation_elementwise,
    .forward = {[MXC_CPU] = activation_forward},
    .backward = {[MXC_CPU] = activation_backward},
};
