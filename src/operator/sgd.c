/*
 * Steps of stochastic gradient descent, one pass over memory. With c(g) = rescale_grad g, kept within +-clip_gradient
 * where that is not negative:
 *   sgd_update      out = (1 - lr wd) weight - lr c(grad)
 *   sgd_mom_update  mom = momentum mom - lr wd weight - lr c(grad);  out = weight + mom
 * All arrays have one shape and dtype. Usually out is weight's own array.
 */
#include "operator/common.h"
#include "operator/kernels/sgd.h"

typedef struct sgd_params {
    double lr, momentum, wd, rescale_grad, clip_gradient;
} sgd_params;

#define LR {.name = "lr", .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(sgd_params, lr), .doc = "learning rate"}
#define MOMENTUM                                                                                              \
    {.name = "momentum", .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(sgd_params, momentum), .initial = "0.0",  \
     .doc = "share of the last step that is taken again"}
#define WD                                                                                                    \
    {.name = "wd", .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(sgd_params, wd), .initial = "0.0",              \
     .doc = "weight decay: adds wd * weight to the gradient"}
#define RESCALE                                                                                               \
    {.name = "rescale_grad", .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(sgd_params, rescale_grad), .initial = "1.0", \
     .doc = "factor of the gradient, applied first"}
#define CLIP                                                                                                  \
    {.name = "clip_gradient", .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(sgd_params, clip_gradient),          \
     .initial = "-1.0", .doc = "limit of the rescaled gradient's size; negative: none"}

static const mxc_param plain_params[] = {LR, WD, RESCALE, CLIP, MXC_PARAM_END};
static const mxc_param momentum_params[] = {LR, MOMENTUM, WD, RESCALE, CLIP, MXC_PARAM_END};

/* Arguments, outputs and states all alike. */
static mxc_status infer_shape(mxc_op_sig *sig) {
    static const int slots[] = {0, 1, MXC_SLOT_OUT(0), MXC_SLOT_AUX(0)};
    return mxci_sig_same_shape(sig, 3 + sig->n_aux, slots);
}

typedef struct step_args {
    const mxc_op_call *call;
    mxci_sgd step;
} step_args;

static void step_range(void *arg, int64_t begin, int64_t end, int part) {
    const step_args *a = arg;
    const mxc_op_call *call = a->call;
    (void)part;
    mxci_sgd_kernels[call->in[0].dtype](
        &a->step, end - begin, mxci_at(&call->in[0], begin), mxci_at(&call->in[1], begin),
        call->n_aux ? mxci_at(&call->aux[0], begin) : NULL, mxci_at(&call->out[0], begin));
}

static mxc_status forward(const mxc_op_call *call) {
    const sgd_params *p = call->params;
    step_args args = {call, {p->lr, p->momentum, p->wd, p->rescale_grad, p->clip_gradient, MXCI_SGD_WRITE}};
    if (call->req[0] == MXC_REQ_NULL)
        args.step.out = MXCI_SGD_NONE; /* the momentum still moves */
    else if (call->req[0] == MXC_REQ_ADD)
        args.step.out = MXCI_SGD_ADD;
    mxc_parallel_for(call->run, mxci_tensor_size(&call->in[0]), MXCI_GRAIN, step_range, &args);
    return MXC_OK;
}

static const mxc_inplace weight_to_out[] = {{MXC_FROM_IN(0), 0}, MXC_INPLACE_END};

const mxc_op_def mxci_op_sgd_update = {
    .size = sizeof(mxc_op_def), .name = "sgd_update", .args = "weight,grad",
    .doc = "out = (1 - lr wd) weight - lr clip(rescale_grad grad)", .params = plain_params,
    .param_size = sizeof(sgd_params), .infer_shape = infer_shape, .dtypes = MXC_DTYPES_FLOAT,
    .inplace_forward = weight_to_out, .forward = {[MXC_CPU] = forward}};

const mxc_op_def mxci_op_sgd_mom_update = {
    .size = sizeof(mxc_op_def), .name = "sgd_mom_update", .args = "weight,grad", .aux = "mom",
    .doc = "mom = momentum mom - lr wd weight - lr clip(rescale_grad grad); out = weight + mom",
    .params = momentum_params, .param_size = sizeof(sgd_params), .infer_shape = infer_shape, .dtypes = MXC_DTYPES_FLOAT,
    .inplace_forward = weight_to_out, .forward = {[MXC_CPU] = forward}};
