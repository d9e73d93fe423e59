/* SPDX-License-Identifier: Apache-2.0 */
/* The element-wise operators of one array: one registration for each line of unary.def. */
#include "math/map.h"
#include "simpleop/families.h"
#include "simpleop/map_kernels.h"

/* out = f(in), f by its number. */
static mxc_status run_unary(const mxc_simple_env *env, int id, const mxc_tensor *in, mxc_req req,
                            const mxc_tensor *out) {
    mxci_mapping m = {
        .dtype = in->dtype,
        .n = mxc_shape_size(&in->shape),
        .n_in = 1,
        .in = {{.data = in->data}},
        .result =
            {
                {.fn = mxci_unary_kernels[id].forward[mxci_compute_type(in->dtype)], .req = req, .data = out->data},
            },
    };
    return mxci_mapping_run(env->run, &m);
}

/* The gradient of the input. value is the input or output, as the derivative needs; NULL: neither, then g stands in. */
static mxc_status run_gradient(const mxc_simple_env *env, int id, const mxc_tensor *out_grad, const mxc_tensor *value,
                               mxc_req req, const mxc_tensor *in_grad) {
    mxc_dtype dtype = out_grad->dtype;
    mxci_mapping m = {
        .dtype = dtype,
        .n = mxc_shape_size(&out_grad->shape),
        .n_in = 2,
        .in = {{.data = out_grad->data}, {.data = value ? value->data : out_grad->data}},
        .result =
            {
                {.fn = mxci_unary_kernels[id].backward[mxci_compute_type(dtype)], .req = req, .data = in_grad->data},
            },
    };
    return mxci_mapping_run(env->run, &m);
}

#define UNARY(id, ...)                                                                           \
    static mxc_status id##_forward(const mxc_simple_env *env, const mxc_tensor *in, mxc_req req, \
                                   const mxc_tensor *out) {                                      \
        return run_unary(env, MXCI_UNARY_##id, in, req, out);                                    \
    }
#include "simpleop/unary.def"
#undef UNARY

#define UNARY(id, ...)                                                                                              \
    static mxc_status id##_backward(const mxc_simple_env *env, const mxc_tensor *out_grad, const mxc_tensor *value, \
                                    mxc_req req, const mxc_tensor *in_grad) {                                       \
        return run_gradient(env, MXCI_UNARY_##id, out_grad, value, req, in_grad);                                   \
    }
#include "simpleop/unary.def"
#undef UNARY

#define UNARY(id, its_name, its_aliases, types, kind, forward, derivative, its_doc) \
    const mxc_simple_def mxci_simple_##id = {.size = sizeof(mxc_simple_def),        \
                                             .name = its_name,                      \
                                             .aliases = its_aliases,                \
                                             .doc = its_doc,                        \
                                             .function = #id,                       \
                                             .arity = 1,                            \
                                             .dtypes = MXC_DTYPES_##types,          \
                                             .gradient_kind = MXC_GRADIENT_##kind,  \
                                             MXCI_ELEMWISE_INPLACE,                 \
                                             .unary = {[MXC_CPU] = id##_forward},   \
                                             .unary_grad = {[MXC_CPU] = id##_backward}};
#include "simpleop/unary.def"
#undef UNARY
