/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of one array kept within limits:
 *   clip          out = data within [a_min, a_max]
 *   hard_sigmoid  out = alpha data + beta within [0, 1]
 */
#include "simpleop/clip.h"

#include "math/map.h"
#include "simpleop/families.h"
#include "simpleop/map_kernels.h"

static const mxc_param clip_schema[] = {
    {MXC_PARAM_FIELD(mxci_clip_params, first), .name = "a_min", .type = MXC_PARAM_FLOAT, .non_finite = 1,
     .doc = "Minimum."},
    {MXC_PARAM_FIELD(mxci_clip_params, second), .name = "a_max", .type = MXC_PARAM_FLOAT, .non_finite = 1,
     .doc = "Maximum."},
    MXC_PARAM_END,
};

static const mxc_param hard_sigmoid_schema[] = {
    {MXC_PARAM_FIELD(mxci_clip_params, first), .name = "alpha", .type = MXC_PARAM_FLOAT, .initial = "0.2",
     .doc = "Factor of data."},
    {MXC_PARAM_FIELD(mxci_clip_params, second), .name = "beta", .type = MXC_PARAM_FLOAT, .initial = "0.5",
     .doc = "Summand."},
    MXC_PARAM_END,
};

/* Both functions are kernels of (x, first, second), with the two parameters as constant operands. */
static mxc_status clip_run_forward(const mxc_simple_env *env, const mxci_map_fn *fn, const mxc_tensor *in, mxc_req req,
                                   const mxc_tensor *out) {
    const mxci_clip_params *p = env->params;
    mxci_mapping m = {
        .dtype = in->dtype,
        .n = mxc_shape_size(&in->shape),
        .n_in = 3,
        .in = {{.data = in->data}, {.value = p->first}, {.value = p->second}},
        .result = {{.fn = fn[mxci_compute_type(in->dtype)], .req = req, .data = out->data}},
    };
    return mxci_mapping_run(env->run, &m);
}

static mxc_status clip_run_backward(const mxc_simple_env *env, const mxci_map_fn *fn, const mxc_tensor *out_grad,
                                    const mxc_tensor *value, mxc_req req, const mxc_tensor *in_grad) {
    const mxci_clip_params *p = env->params;
    mxci_mapping m = {
        .dtype = value->dtype,
        .n = mxc_shape_size(&value->shape),
        .n_in = 4,
        .in = {{.data = out_grad->data}, {.data = value->data}, {.value = p->first}, {.value = p->second}},
        .result = {{.fn = fn[mxci_compute_type(value->dtype)], .req = req, .data = in_grad->data}},
    };
    return mxci_mapping_run(env->run, &m);
}

static mxc_status clip_forward(const mxc_simple_env *env, const mxc_tensor *in, mxc_req req, const mxc_tensor *out) {
    return clip_run_forward(env, mxci_clip_forward, in, req, out);
}

static mxc_status clip_backward(const mxc_simple_env *env, const mxc_tensor *out_grad, const mxc_tensor *value,
                                mxc_req req, const mxc_tensor *in_grad) {
    return clip_run_backward(env, mxci_clip_backward, out_grad, value, req, in_grad);
}

/* From 0 on, as in relu6. */
static int clip_rectifier(const mxc_op *op, mxc_epilogue *out) {
    const mxci_clip_params *p = mxc_op_params(op);
    *out = (mxc_epilogue){.slope = 0, .limit = p->second};
    return p->first == 0 && p->second >= 0;
}

const mxc_simple_def mxci_simple_clip = {
    .size = sizeof(mxc_simple_def),
    .name = "clip",
    .arity = 1,
    .params = clip_schema,
    .param_size = sizeof(mxci_clip_params),
    .doc = "out = min(max(data, a_min), a_max); the gradient is 0 where data is outside",
    .dtypes = MXC_DTYPES_NUMBER,
    .gradient_kind = MXC_GRADIENT_IN,
    .elementwise = 1,
    .rectifier = clip_rectifier,
    MXCI_ELEMWISE_INPLACE,
    .unary = {[MXC_CPU] = clip_forward},
    .unary_grad = {[MXC_CPU] = clip_backward},
};

static mxc_status hard_sigmoid_forward(const mxc_simple_env *env, const mxc_tensor *in, mxc_req req,
                                       const mxc_tensor *out) {
    return clip_run_forward(env, mxci_hard_sigmoid_forward, in, req, out);
}

static mxc_status hard_sigmoid_backward(const mxc_simple_env *env, const mxc_tensor *out_grad, const mxc_tensor *value,
                                        mxc_req req, const mxc_tensor *in_grad) {
    return clip_run_backward(env, mxci_hard_sigmoid_backward, out_grad, value, req, in_grad);
}

const mxc_simple_def mxci_simple_hard_sigmoid = {
    .size = sizeof(mxc_simple_def),
    .name = "hard_sigmoid",
    .arity = 1,
    .params = hard_sigmoid_schema,
    .param_size = sizeof(mxci_clip_params),
    .doc = "out = min(max(alpha data + beta, 0), 1)",
    .dtypes = MXC_DTYPES_FLOAT,
    .gradient_kind = MXC_GRADIENT_IN,
    .elementwise = 1,
    MXCI_ELEMWISE_INPLACE,
    .unary = {[MXC_CPU] = hard_sigmoid_forward},
    .unary_grad = {[MXC_CPU] = hard_sigmoid_backward},
};
