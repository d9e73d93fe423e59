/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of two arrays of one shape, and of an array and a scalar: binary_names.def, ELEMWISE and SCALAR. */
#include "math/map.h"
#include "simpleop/families.h"
#include "simpleop/map_kernels.h"

/* ---- two arrays ------------------------------------------------------------------------------------------------- */

/* out = f(lhs, rhs), f by its number. */
static mxc_status run_binary(const mxc_simple_env *env, int id, const mxc_tensor *lhs, const mxc_tensor *rhs,
                             mxc_req req, const mxc_tensor *out) {
    mxci_mapping m = {
        .dtype = lhs->dtype,
        .n = mxc_shape_size(&lhs->shape),
        .n_in = 2,
        .in = {{.data = lhs->data}, {.data = rhs->data}},
        .result =
            {
                {.fn = mxci_binary_kernels[id].forward[mxci_compute_type(lhs->dtype)], .req = req, .data = out->data},
            },
    };
    return mxci_mapping_run(env->run, &m);
}

static mxci_result binary_gradient(const mxci_map_fn *kernels, mxc_dtype dtype, mxc_req req, const mxc_tensor *grad) {
    return (mxci_result){.fn = kernels[mxci_compute_type(dtype)], .req = req, .data = grad->data};
}

/* lhs and rhs are without data where the gradient does not depend on them; the kernels then get g in their place. */
static mxc_status run_binary_gradient(const mxc_simple_env *env, int id, const mxc_tensor *out_grad,
                                      const mxc_tensor *lhs, const mxc_tensor *rhs, mxc_req lhs_req,
                                      const mxc_tensor *lhs_grad, mxc_req rhs_req, const mxc_tensor *rhs_grad) {
    mxc_dtype dtype = out_grad->dtype;
    mxci_mapping m = {.dtype = dtype, .n = mxc_shape_size(&out_grad->shape), .n_in = 3};
    m.in[0].data = out_grad->data;
    m.in[1].data = lhs->data ? lhs->data : out_grad->data;
    m.in[2].data = rhs->data ? rhs->data : out_grad->data;
    m.result[0] = binary_gradient(mxci_binary_kernels[id].left, dtype, lhs_req, lhs_grad);
    m.result[1] = binary_gradient(mxci_binary_kernels[id].right, dtype, rhs_req, rhs_grad);
    return mxci_mapping_run(env->run, &m);
}

/* One function per operator and direction, which passes the number of the function on. */
#define ELEMWISE(symbol, id, ...)                                                                               \
    static mxc_status symbol##_forward(const mxc_simple_env *env, const mxc_tensor *lhs, const mxc_tensor *rhs, \
                                       mxc_req req, const mxc_tensor *out) {                                    \
        return run_binary(env, MXCI_BINARY_##id, lhs, rhs, req, out);                                           \
    }
#include "simpleop/binary_names.def"

#define ELEMWISE(symbol, id, ...)                                                                              \
    static mxc_status symbol##_backward(const mxc_simple_env *env, const mxc_tensor *g, const mxc_tensor *lhs, \
                                        const mxc_tensor *rhs, mxc_req lhs_req, const mxc_tensor *lhs_grad,    \
                                        mxc_req rhs_req, const mxc_tensor *rhs_grad) {                         \
        return run_binary_gradient(env, MXCI_BINARY_##id, g, lhs, rhs, lhs_req, lhs_grad, rhs_req, rhs_grad);  \
    }
#include "simpleop/binary_names.def"

/* ---- an array and a scalar -------------------------------------------------------------------------------------- */

/* Sets both operands: the array, and the scalar on its side. The scalar is converted to the compute type like elements.
 */
static void set_operands(mxci_operand *lhs, mxc_scalar_kind order, const void *data, double scalar) {
    lhs[order == MXC_SCALAR_AFTER ? 0 : 1].data = data;
    lhs[order == MXC_SCALAR_AFTER ? 1 : 0].value = scalar;
}

/* out = f(in, scalar) or f(scalar, in), by order. */
static mxc_status run_scalar(const mxc_simple_env *env, int id, mxc_scalar_kind order, const mxc_tensor *in,
                             mxc_req req, const mxc_tensor *out) {
    mxci_mapping m = {
        .dtype = in->dtype,
        .n = mxc_shape_size(&in->shape),
        .n_in = 2,
        .result =
            {
                {.fn = mxci_binary_kernels[id].forward[mxci_compute_type(in->dtype)], .req = req, .data = out->data},
            },
    };
    set_operands(&m.in[0], order, in->data, env->scalar);
    return mxci_mapping_run(env->run, &m);
}

/* The gradient of the array alone; value is NULL where it does not depend on the array. */
static mxc_status run_scalar_gradient(const mxc_simple_env *env, int id, mxc_scalar_kind order,
                                      const mxc_tensor *out_grad, const mxc_tensor *value, mxc_req req,
                                      const mxc_tensor *in_grad) {
    const mxci_binary_kernel *kernel = &mxci_binary_kernels[id];
    mxc_dtype dtype = out_grad->dtype;
    mxci_mapping m = {.dtype = dtype, .n = mxc_shape_size(&out_grad->shape), .n_in = 3};
    m.in[0].data = out_grad->data;
    set_operands(&m.in[1], order, value ? value->data : out_grad->data, env->scalar);
    m.result[0] = binary_gradient(order == MXC_SCALAR_AFTER ? kernel->left : kernel->right, dtype, req, in_grad);
    return mxci_mapping_run(env->run, &m);
}

#define SCALAR(symbol, id, name, aliases, order, ...)                                                \
    static mxc_status symbol##_forward(const mxc_simple_env *env, const mxc_tensor *in, mxc_req req, \
                                       const mxc_tensor *out) {                                      \
        return run_scalar(env, MXCI_BINARY_##id, MXC_SCALAR_##order, in, req, out);                  \
    }
#include "simpleop/binary_names.def"

#define SCALAR(symbol, id, name, aliases, order, ...)                                                         \
    static mxc_status symbol##_backward(const mxc_simple_env *env, const mxc_tensor *out_grad,                \
                                        const mxc_tensor *value, mxc_req req, const mxc_tensor *in_grad) {    \
        return run_scalar_gradient(env, MXCI_BINARY_##id, MXC_SCALAR_##order, out_grad, value, req, in_grad); \
    }
#include "simpleop/binary_names.def"

/* ---- queries of passes ------------------------------------------------------------------------------------------- */

static int quantized_add(const mxc_op *op, mxc_quantized *out) {
    (void)op;
    *out = (mxc_quantized){.op = "_contrib_quantized_elemwise_add", .is_32bit = 1};
    return 1;
}

/* ---- registrations ---------------------------------------------------------------------------------------------- */

enum {
#define BINARY(id, types, ...) types_##id = (int)MXC_DTYPES_##types,
#include "simpleop/binary.def"
#undef BINARY
};

#define ELEMWISE(symbol, id, its_name, its_aliases, kind, its_doc)                                               \
    const mxc_simple_def mxci_simple_##symbol = {.size = sizeof(mxc_simple_def),                                 \
                                                 .name = its_name,                                               \
                                                 .aliases = its_aliases,                                         \
                                                 .doc = its_doc,                                                 \
                                                 .function = #id,                                                \
                                                 .quantized =                                                    \
                                                     MXCI_BINARY_##id == MXCI_BINARY_add ? quantized_add : NULL, \
                                                 .arity = 2,                                                     \
                                                 .dtypes = types_##id,                                           \
                                                 .gradient_kind = MXC_GRADIENT_##kind,                           \
                                                 MXCI_BINARY_INPLACE,                                            \
                                                 .binary = {[MXC_CPU] = symbol##_forward},                       \
                                                 .binary_grad = {[MXC_CPU] = symbol##_backward}};
#define SCALAR(symbol, id, its_name, its_aliases, order, kind, its_doc)                   \
    const mxc_simple_def mxci_simple_##symbol = {.size = sizeof(mxc_simple_def),          \
                                                 .name = its_name,                        \
                                                 .aliases = its_aliases,                  \
                                                 .doc = its_doc,                          \
                                                 .function = #id,                         \
                                                 .arity = 1,                              \
                                                 .scalar = MXC_SCALAR_##order,            \
                                                 .dtypes = types_##id,                    \
                                                 .gradient_kind = MXC_GRADIENT_##kind,    \
                                                 MXCI_ELEMWISE_INPLACE,                   \
                                                 .unary = {[MXC_CPU] = symbol##_forward}, \
                                                 .unary_grad = {[MXC_CPU] = symbol##_backward}};
#include "simpleop/binary_names.def"
