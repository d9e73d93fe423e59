/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of two arrays whose axes of size 1 broadcast to the other's size (BROADCAST of binary_names.def). Shapes
 * are aligned at the last axis; missing leading axes count as 1. A gradient is summed over the axes that were
 * broadcast, in doubles, with one set of sums for each part of the parallel loop, so that the result does not depend on
 * timing.
 */
#include "math/assign.h"
#include "math/map.h"
#include "simpleop/families.h"
#include "simpleop/map_kernels.h"

/* ---- shapes ----------------------------------------------------------------------------------------------------- */

/* Each axis is the larger of the two, which must be equal or 1. */
mxc_status mxci_broadcast_shape(const mxc_simple_env *env, int n, const mxc_shape *in, mxc_shape *out) {
    char left[MXC_SHAPE_TEXT], right[MXC_SHAPE_TEXT];
    (void)env, (void)n;
    out->ndim = in[0].ndim > in[1].ndim ? in[0].ndim : in[1].ndim;
    for (int i = 0; i < out->ndim; i++) {
        int64_t a = mxci_axis_from_end(&in[0], i), b = mxci_axis_from_end(&in[1], i);
        if (a >= 0 && b >= 0 && a != b && a != 1 && b != 1)
            return MXC_FAIL(MXC_ESHAPE,
                            "argument 'lhs' has shape %s and argument 'rhs' %s: axis %d from the end is "
                            "%lld and %lld, expected equal or 1",
                            mxc_shape_format(&in[0], left, sizeof left), mxc_shape_format(&in[1], right, sizeof right),
                            i, (long long)a, (long long)b);
        out->dim[out->ndim - 1 - i] = a < 0 || b < 0 ? -1 : a == 1 ? b : a;
    }
    return MXC_OK;
}

/* ---- forward ---------------------------------------------------------------------------------------------------- */

/* The array as an operand that is broadcast to the shape of out; strides: memory for its strides, in use as long. */
static mxci_operand operand(const mxc_tensor *in, const mxc_tensor *out, mxci_strided *strides) {
    mxci_operand operand = {.data = in->data};
    if (mxci_is_broadcast(&in->shape, &out->shape)) {
        mxci_broadcast_strides(&in->shape, &out->shape, strides);
        operand.strides = strides;
    }
    return operand;
}

static mxc_status run_broadcast(const mxc_simple_env *env, int id, const mxc_tensor *lhs, const mxc_tensor *rhs,
                                mxc_req req, const mxc_tensor *out) {
    mxci_strided strides[2];
    mxci_mapping m = {
        .dtype = lhs->dtype,
        .n = mxc_shape_size(&out->shape),
        .n_in = 2,
        .in = {operand(lhs, out, &strides[0]), operand(rhs, out, &strides[1])},
        .result =
            {
                {.fn = mxci_binary_kernels[id].forward[mxci_compute_type(lhs->dtype)], .req = req, .data = out->data},
            },
    };
    return mxci_mapping_run(env->run, &m);
}

/* ---- backward --------------------------------------------------------------------------------------------------- */

/* Scratch for the sums of one gradient; 0 where its argument was not broadcast. */
static size_t sum_bytes(const mxc_shape *shape, const mxc_shape *out, int parts) {
    return mxci_is_broadcast(shape, out) ? mxci_sum_bytes(mxc_shape_size(shape), parts) : 0;
}

static size_t broadcast_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    if (pass == MXC_FORWARD)
        return 0;
    return mxci_size_add(sum_bytes(&sig->in_shape[0], &sig->out_shape[0], sig->parallelism),
                         sum_bytes(&sig->in_shape[1], &sig->out_shape[0], sig->parallelism));
}

/* One gradient as a result of the mapping: stored, or summed where its argument was broadcast. */
static mxci_result broadcast_gradient(mxci_map_fn fn, mxc_req req, const mxc_tensor *grad, const mxc_tensor *out,
                                      mxci_strided *strides, double *sums) {
    mxci_result result = {.fn = fn, .req = req, .data = grad->data};
    if (!mxci_is_broadcast(&grad->shape, &out->shape))
        return result;
    mxci_broadcast_strides(&grad->shape, &out->shape, strides);
    result.sum_strides = strides;
    result.n_sums = mxci_tensor_size(grad);
    result.sums = sums;
    return result;
}

/* Scratch holds the sums of lhs, then those of rhs, as broadcast_temp_bytes has it. */
static mxc_status run_broadcast_gradient(const mxc_simple_env *env, int id, const mxc_tensor *g, const mxc_tensor *lhs,
                                         const mxc_tensor *rhs, mxc_req lhs_req, const mxc_tensor *lhs_grad,
                                         mxc_req rhs_req, const mxc_tensor *rhs_grad) {
    const mxci_binary_kernel *kernel = &mxci_binary_kernels[id];
    mxc_dtype compute = mxci_compute_type(g->dtype);
    int parts = mxc_parallel_parts(env->run, mxci_tensor_size(g), MXCI_GRAIN);
    size_t lhs_bytes = sum_bytes(&lhs->shape, &g->shape, parts > 1 ? parts : 1);
    char *temp = env->temp;
    mxci_strided strides[4];
    mxci_mapping m = {.dtype = g->dtype, .n = mxci_tensor_size(g), .n_in = 3};
    m.in[0].data = m.in[1].data = m.in[2].data = g->data; /* where lhs and rhs do not matter */
    if (lhs->data)
        m.in[1] = operand(lhs, g, &strides[0]);
    if (rhs->data)
        m.in[2] = operand(rhs, g, &strides[1]);
    m.result[0] = broadcast_gradient(kernel->left[compute], lhs_req, lhs_grad, g, &strides[2], (double *)(void *)temp);
    m.result[1] = broadcast_gradient(kernel->right[compute], rhs_req, rhs_grad, g, &strides[3],
                                     (double *)(void *)(temp + lhs_bytes));
    return mxci_mapping_run(env->run, &m);
}

/* ---- registrations ---------------------------------------------------------------------------------------------- */

#define BROADCAST(symbol, id, ...)                                                                              \
    static mxc_status symbol##_forward(const mxc_simple_env *env, const mxc_tensor *lhs, const mxc_tensor *rhs, \
                                       mxc_req req, const mxc_tensor *out) {                                    \
        return run_broadcast(env, MXCI_BINARY_##id, lhs, rhs, req, out);                                        \
    }
#include "simpleop/binary_names.def"

#define BROADCAST(symbol, id, ...)                                                                               \
    static mxc_status symbol##_backward(const mxc_simple_env *env, const mxc_tensor *g, const mxc_tensor *lhs,   \
                                        const mxc_tensor *rhs, mxc_req lhs_req, const mxc_tensor *lhs_grad,      \
                                        mxc_req rhs_req, const mxc_tensor *rhs_grad) {                           \
        return run_broadcast_gradient(env, MXCI_BINARY_##id, g, lhs, rhs, lhs_req, lhs_grad, rhs_req, rhs_grad); \
    }
#include "simpleop/binary_names.def"

enum {
#define BINARY(id, types, ...) types_##id = (int)MXC_DTYPES_##types,
#include "simpleop/binary.def"
#undef BINARY
};

#define BROADCAST(symbol, id, its_name, its_aliases, kind, its_doc)                        \
    const mxc_simple_def mxci_simple_##symbol = {.size = sizeof(mxc_simple_def),           \
                                                 .name = its_name,                         \
                                                 .aliases = its_aliases,                   \
                                                 .doc = its_doc,                           \
                                                 .function = #id,                          \
                                                 .arity = 2,                               \
                                                 .dtypes = types_##id,                     \
                                                 .gradient_kind = MXC_GRADIENT_##kind,     \
                                                 .shape = mxci_broadcast_shape,            \
                                                 .temp_bytes = broadcast_temp_bytes,       \
                                                 MXCI_BINARY_INPLACE,                      \
                                                 .binary = {[MXC_CPU] = symbol##_forward}, \
                                                 .binary_grad = {[MXC_CPU] = symbol##_backward}};
#include "simpleop/binary_names.def"
