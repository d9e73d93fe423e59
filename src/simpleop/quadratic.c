/* SPDX-License-Identifier: Apache-2.0 */
/* _contrib_quadratic: out = a data^2 + b data + c. */
#include "simpleop/quadratic.h"

#include "math/map.h"
#include "simpleop/families.h"
#include "simpleop/map_kernels.h"

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(mxci_quadratic_params, a), .name = "a", .type = MXC_PARAM_FLOAT, .initial = "0",
     .doc = "Factor of the square of data."},
    {MXC_PARAM_FIELD(mxci_quadratic_params, b), .name = "b", .type = MXC_PARAM_FLOAT, .initial = "0",
     .doc = "Factor of data."},
    {MXC_PARAM_FIELD(mxci_quadratic_params, c), .name = "c", .type = MXC_PARAM_FLOAT, .initial = "0",
     .doc = "Summand."},
    MXC_PARAM_END,
};

static mxc_status quadratic_forward(const mxc_simple_env *env, const mxc_tensor *in, mxc_req req,
                                    const mxc_tensor *out) {
    const mxci_quadratic_params *p = env->params;
    mxci_mapping m = {
        .dtype = in->dtype,
        .n = mxc_shape_size(&in->shape),
        .n_in = 4,
        .in = {{.data = in->data}, {.value = p->a}, {.value = p->b}, {.value = p->c}},
        .result = {{.fn = mxci_quadratic_forward[mxci_compute_type(in->dtype)], .req = req, .data = out->data}},
    };
    return mxci_mapping_run(env->run, &m);
}

static mxc_status quadratic_backward(const mxc_simple_env *env, const mxc_tensor *out_grad, const mxc_tensor *value,
                                     mxc_req req, const mxc_tensor *in_grad) {
    const mxci_quadratic_params *p = env->params;
    mxci_mapping m = {
        .dtype = value->dtype,
        .n = mxc_shape_size(&value->shape),
        .n_in = 4,
        .in = {{.data = out_grad->data}, {.data = value->data}, {.value = p->a}, {.value = p->b}},
        .result = {{.fn = mxci_quadratic_backward[mxci_compute_type(value->dtype)], .req = req, .data = in_grad->data}},
    };
    return mxci_mapping_run(env->run, &m);
}

const mxc_simple_def mxci_simple_quadratic = {
    .size = sizeof(mxc_simple_def),
    .name = "_contrib_quadratic",
    .arity = 1,
    .params = schema,
    .param_size = sizeof(mxci_quadratic_params),
    .doc = "out = a data^2 + b data + c",
    .dtypes = MXC_DTYPES_FLOAT,
    .gradient_kind = MXC_GRADIENT_IN,
    .elementwise = 1,
    MXCI_ELEMWISE_INPLACE,
    .unary = {[MXC_CPU] = quadratic_forward},
    .unary_grad = {[MXC_CPU] = quadratic_backward},
};
