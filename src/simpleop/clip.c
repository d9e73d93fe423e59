/* clip: out = data kept within [a_min, a_max]. */
#include "operator/map.h"
#include "simpleop/families.h"
#include "simpleop/kernels/map.h"

typedef struct clip_params {
    double a_min, a_max;
} clip_params;

static const mxc_param params[] = {
    {.name = "a_min", .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(clip_params, a_min), .doc = "least value"},
    {.name = "a_max", .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(clip_params, a_max), .doc = "greatest value"},
    MXC_PARAM_END};

static mxc_status forward(const mxc_simple_env *env, const mxc_tensor *in, mxc_req req, const mxc_tensor *out) {
    const clip_params *p = env->params;
    mxci_mapping m = {
        .dtype = in->dtype, .n = mxc_shape_size(&in->shape), .n_in = 3,
        .in = {{.data = in->data}, {.value = p->a_min}, {.value = p->a_max}},
        .result = {{.fn = mxci_clip_forward[mxci_compute_type(in->dtype)], .req = req, .data = out->data}}};
    return mxci_mapping_run(env->run, &m);
}

static mxc_status backward(const mxc_simple_env *env, const mxc_tensor *out_grad, const mxc_tensor *value, mxc_req req,
                           const mxc_tensor *in_grad) {
    const clip_params *p = env->params;
    mxci_mapping m = {
        .dtype = value->dtype, .n = mxc_shape_size(&value->shape), .n_in = 4,
        .in = {{.data = out_grad->data}, {.data = value->data}, {.value = p->a_min}, {.value = p->a_max}},
        .result = {{.fn = mxci_clip_backward[mxci_compute_type(value->dtype)], .req = req, .data = in_grad->data}}};
    return mxci_mapping_run(env->run, &m);
}

const mxc_simple_def mxci_simple_clip = {
    .size = sizeof(mxc_simple_def), .name = "clip", .arity = 1, .params = params, .param_size = sizeof(clip_params),
    .doc = "out = min(max(data, a_min), a_max); the gradient passes where data lies within",
    .dtypes = MXC_DTYPES_NUMBER,
    .gradient_kind = MXC_GRADIENT_IN, MXCI_ELEMWISE_INPLACE,
    .unary = {[MXC_CPU] = forward}, .unary_grad = {[MXC_CPU] = backward}};
