/* SPDX-License-Identifier: Apache-2.0 */
/* Copies, and constants of an array's shape. They move memory rather than compute, so they take every dtype. */
#include "math/assign.h"
#include "simpleop/families.h"

static mxc_status copy(const mxc_simple_env *env, const mxc_tensor *in, mxc_req req, const mxc_tensor *out) {
    mxci_assign(env->run, req, out, in);
    return MXC_OK;
}

static mxc_status copy_gradient(const mxc_simple_env *env, const mxc_tensor *out_grad, const mxc_tensor *value,
                                mxc_req req, const mxc_tensor *in_grad) {
    (void)value;
    mxci_assign(env->run, req, in_grad, out_grad);
    return MXC_OK;
}

static mxc_status zeros(const mxc_simple_env *env, const mxc_tensor *in, mxc_req req, const mxc_tensor *out) {
    (void)in;
    mxci_assign_constant(env->run, req, out, 0);
    return MXC_OK;
}

static mxc_status ones(const mxc_simple_env *env, const mxc_tensor *in, mxc_req req, const mxc_tensor *out) {
    (void)in;
    mxci_assign_constant(env->run, req, out, 1);
    return MXC_OK;
}

const mxc_simple_def mxci_simple_identity = {
    .size = sizeof(mxc_simple_def),
    .name = "_copy",
    .aliases = "identity,_copyto",
    .doc = "out = data",
    .arity = 1,
    .dtypes = MXC_DTYPES_ALL,
    .gradient_kind = MXC_GRADIENT_OUT_GRAD,
    .elementwise = 1,
    MXCI_ELEMWISE_INPLACE,
    .unary = {[MXC_CPU] = copy},
    .unary_grad = {[MXC_CPU] = copy_gradient},
};

const mxc_simple_def mxci_simple_block_grad = {
    .size = sizeof(mxc_simple_def),
    .name = "BlockGrad",
    .aliases = "stop_gradient",
    .arity = 1,
    .doc = "out = data; the gradient is 0",
    .dtypes = MXC_DTYPES_ALL,
    .gradient_kind = MXC_GRADIENT_ZERO,
    .elementwise = 1,
    MXCI_ELEMWISE_INPLACE,
    .unary = {[MXC_CPU] = copy},
};

const mxc_simple_def mxci_simple_zeros_like = {
    .size = sizeof(mxc_simple_def),
    .name = "zeros_like",
    .doc = "out = 0, with the shape and dtype of data",
    .arity = 1,
    .dtypes = MXC_DTYPES_ALL,
    .gradient_kind = MXC_GRADIENT_ZERO,
    MXCI_ELEMWISE_INPLACE,
    .unary = {[MXC_CPU] = zeros},
};

const mxc_simple_def mxci_simple_ones_like = {
    .size = sizeof(mxc_simple_def),
    .name = "ones_like",
    .doc = "out = 1, with the shape and dtype of data",
    .arity = 1,
    .dtypes = MXC_DTYPES_ALL,
    .gradient_kind = MXC_GRADIENT_ZERO,
    MXCI_ELEMWISE_INPLACE,
    .unary = {[MXC_CPU] = ones},
};
