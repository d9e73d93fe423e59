/* SPDX-License-Identifier: Apache-2.0 */
/* The registrations and their functions. */
#include "support.h"

#include <math.h>

#include "simpleop/ops.h"

static int64_t size_of(const mxc_tensor *t) {
    return mxc_shape_size(&t->shape);
}

static const float *floats(const mxc_tensor *t) {
    return t->data;
}

static void put(const mxc_tensor *to, int64_t i, mxc_req req, double value) {
    float *at = (float *)to->data + i;
    *at = (float)(req == MXC_REQ_ADD ? *at + value : value);
}

/* ---- sources ----------------------------------------------------------------------------------------------------- */

typedef struct ramp_params {
    mxc_tuple shape;
    double step;
} ramp_params;

static const mxc_param ramp_schema[] = {
    {MXC_PARAM_FIELD(ramp_params, shape), .name = "shape", .type = MXC_PARAM_TUPLE, .doc = "of the array"},
    {MXC_PARAM_FIELD(ramp_params, step), .name = "step", .type = MXC_PARAM_FLOAT, .initial = "1",
     .doc = "between values"},
    MXC_PARAM_END,
};

static mxc_status ramp_shape(const mxc_simple_env *env, int n, const mxc_shape *in, mxc_shape *out) {
    const ramp_params *p = env->params;
    (void)in;
    if (n != 0)
        return MXC_EUSER;
    out->ndim = p->shape.n;
    for (int i = 0; i < p->shape.n; i++)
        out->dim[i] = p->shape.value[i];
    return MXC_OK;
}

static mxc_status ramp(const mxc_simple_env *env, mxc_req req, const mxc_tensor *out) {
    double step = ((const ramp_params *)env->params)->step;
    for (int64_t i = 0; i < size_of(out); i++) {
        if (out->dtype == MXC_F32)
            put(out, i, req, (double)i * step);
        else
            ((double *)out->data)[i] = (double)i * step;
    }
    return MXC_OK;
}

/* ---- one array --------------------------------------------------------------------------------------------------- */

static mxc_status twice(const mxc_simple_env *env, const mxc_tensor *in, mxc_req req, const mxc_tensor *out) {
    (void)env;
    for (int64_t i = 0; i < size_of(in); i++)
        put(out, i, req, 2 * floats(in)[i]);
    return MXC_OK;
}

/* From out_grad alone: value must not be there. */
static mxc_status twice_grad(const mxc_simple_env *env, const mxc_tensor *g, const mxc_tensor *value, mxc_req req,
                             const mxc_tensor *dx) {
    return value ? MXC_EUSER : twice(env, g, req, dx);
}

static mxc_status exponential(const mxc_simple_env *env, const mxc_tensor *in, mxc_req req, const mxc_tensor *out) {
    (void)env;
    for (int64_t i = 0; i < size_of(in); i++)
        put(out, i, req, exp(floats(in)[i]));
    return MXC_OK;
}

static mxc_status exponential_grad(const mxc_simple_env *env, const mxc_tensor *g, const mxc_tensor *y, mxc_req req,
                                   const mxc_tensor *dx) {
    (void)env;
    for (int64_t i = 0; i < size_of(dx); i++)
        put(dx, i, req, floats(g)[i] * floats(y)[i]);
    return MXC_OK;
}

static mxc_status scaled(const mxc_simple_env *env, const mxc_tensor *in, mxc_req req, const mxc_tensor *out) {
    for (int64_t i = 0; i < size_of(in); i++)
        put(out, i, req, env->scalar * floats(in)[i] * floats(in)[i]);
    return MXC_OK;
}

static mxc_status scaled_grad(const mxc_simple_env *env, const mxc_tensor *g, const mxc_tensor *x, mxc_req req,
                              const mxc_tensor *dx) {
    for (int64_t i = 0; i < size_of(dx); i++)
        put(dx, i, req, floats(g)[i] * env->scalar * 2 * floats(x)[i]);
    return MXC_OK;
}

static mxc_status over(const mxc_simple_env *env, const mxc_tensor *in, mxc_req req, const mxc_tensor *out) {
    for (int64_t i = 0; i < size_of(in); i++)
        put(out, i, req, env->scalar / floats(in)[i]);
    return MXC_OK;
}

static mxc_status over_grad(const mxc_simple_env *env, const mxc_tensor *g, const mxc_tensor *x, mxc_req req,
                            const mxc_tensor *dx) {
    for (int64_t i = 0; i < size_of(dx); i++)
        put(dx, i, req, -env->scalar * floats(g)[i] / (floats(x)[i] * floats(x)[i]));
    return MXC_OK;
}

typedef struct power_params {
    double exponent;
    int32_t sign;
} power_params;

static const mxc_param power_schema[] = {
    {MXC_PARAM_FIELD(power_params, exponent), .name = "exponent", .type = MXC_PARAM_FLOAT, .initial = "2", .bounded = 1,
     .minimum = 0, .maximum = 9, .doc = "of the power"},
    {MXC_PARAM_FIELD(power_params, sign), .name = "sign", .type = MXC_PARAM_ENUM, .initial = "plus",
     .choices = "plus,minus", .doc = "of the result"},
    MXC_PARAM_END,
};

static mxc_status power(const mxc_simple_env *env, const mxc_tensor *in, mxc_req req, const mxc_tensor *out) {
    const power_params *p = env->params;
    for (int64_t i = 0; i < size_of(in); i++)
        put(out, i, req, (p->sign ? -1 : 1) * pow(floats(in)[i], p->exponent));
    return MXC_OK;
}

static mxc_status power_grad(const mxc_simple_env *env, const mxc_tensor *g, const mxc_tensor *x, mxc_req req,
                             const mxc_tensor *dx) {
    const power_params *p = env->params;
    for (int64_t i = 0; i < size_of(dx); i++)
        put(dx, i, req, (p->sign ? -1 : 1) * floats(g)[i] * p->exponent * pow(floats(x)[i], p->exponent - 1));
    return MXC_OK;
}

static mxc_status rowsum_shape(const mxc_simple_env *env, int n, const mxc_shape *in, mxc_shape *out) {
    (void)env;
    if (n != 1 || in->ndim != 2)
        return MXC_FAIL(MXC_ESHAPE, "x has %d axes, expected 2", (int)in->ndim);
    *out = (mxc_shape){.ndim = 1, .dim = {in->dim[0]}};
    return MXC_OK;
}

static mxc_status rowsum(const mxc_simple_env *env, const mxc_tensor *in, mxc_req req, const mxc_tensor *out) {
    int64_t k = in->shape.dim[1];
    (void)env;
    for (int64_t i = 0; i < size_of(out); i++) {
        double sum = 0;
        for (int64_t j = 0; j < k; j++)
            sum += floats(in)[i * k + j];
        put(out, i, req, sum);
    }
    return MXC_OK;
}

static mxc_status rowsum_grad(const mxc_simple_env *env, const mxc_tensor *g, const mxc_tensor *value, mxc_req req,
                              const mxc_tensor *dx) {
    (void)env, (void)value;
    for (int64_t i = 0; i < size_of(dx); i++)
        put(dx, i, req, floats(g)[i / dx->shape.dim[1]]);
    return MXC_OK;
}

static size_t centred_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    return pass == MXC_FORWARD ? (size_t)mxc_shape_size(&sig->in_shape[0]) * sizeof(double) : 0;
}

static mxc_status centred(const mxc_simple_env *env, const mxc_tensor *in, mxc_req req, const mxc_tensor *out) {
    double *copy = env->temp, mean = 0;
    if (!copy || (uintptr_t)copy % 64)
        return MXC_FAIL(MXC_EUSER, "scratch at %p", env->temp);
    for (int64_t i = 0; i < size_of(in); i++)
        copy[i] = floats(in)[i];
    for (int64_t i = 0; i < size_of(in); i++)
        mean += copy[i] / (double)size_of(in);
    for (int64_t i = 0; i < size_of(in); i++)
        put(out, i, req, copy[i] - mean);
    return MXC_OK;
}

static uint64_t noise_count(const mxc_op_sig *sig) {
    return (uint64_t)mxc_shape_size(&sig->in_shape[0]);
}

static mxc_status noise(const mxc_simple_env *env, const mxc_tensor *in, mxc_req req, const mxc_tensor *out) {
    for (int64_t i = 0; i < size_of(in); i++)
        put(out, i, req, floats(in)[i] + mxc_random_uniform(&env->random, (uint64_t)i));
    return MXC_OK;
}

static mxc_status same_grad(const mxc_simple_env *env, const mxc_tensor *g, const mxc_tensor *value, mxc_req req,
                            const mxc_tensor *dx) {
    (void)env, (void)value;
    for (int64_t i = 0; i < size_of(dx); i++)
        put(dx, i, req, floats(g)[i]);
    return MXC_OK;
}

static mxc_status step(const mxc_simple_env *env, const mxc_tensor *in, mxc_req req, const mxc_tensor *out) {
    (void)env;
    for (int64_t i = 0; i < size_of(in); i++) {
        if (in->dtype == MXC_F32)
            put(out, i, req, floats(in)[i] > 0);
        else
            ((int32_t *)out->data)[i] = ((const int32_t *)in->data)[i] > 0;
    }
    return MXC_OK;
}

static mxc_status forget(const mxc_simple_env *env, const mxc_tensor *in, mxc_req req, const mxc_tensor *out) {
    (void)env;
    for (int64_t i = 0; i < size_of(in); i++)
        put(out, i, req, floats(in)[i]);
    return MXC_OK;
}

/* ---- two arrays -------------------------------------------------------------------------------------------------- */

static mxc_status mix(const mxc_simple_env *env, const mxc_tensor *lhs, const mxc_tensor *rhs, mxc_req req,
                      const mxc_tensor *out) {
    (void)env;
    for (int64_t i = 0; i < size_of(out); i++)
        put(out, i, req, floats(lhs)[i] - 3 * floats(rhs)[i]);
    return MXC_OK;
}

/* lhs_grad or rhs_grad may be g's memory: read an element before writing it. */
static mxc_status mix_grad(const mxc_simple_env *env, const mxc_tensor *g, const mxc_tensor *lhs, const mxc_tensor *rhs,
                           mxc_req lhs_req, const mxc_tensor *lhs_grad, mxc_req rhs_req, const mxc_tensor *rhs_grad) {
    (void)env;
    if (lhs->data || rhs->data)
        return MXC_FAIL(MXC_EUSER, "inputs were not asked for");
    for (int64_t i = 0; i < size_of(g); i++) {
        double value = floats(g)[i];
        if (lhs_req != MXC_REQ_NULL)
            put(lhs_grad, i, lhs_req, value);
        if (rhs_req != MXC_REQ_NULL)
            put(rhs_grad, i, rhs_req, -3 * value);
    }
    return MXC_OK;
}

static mxc_status product(const mxc_simple_env *env, const mxc_tensor *lhs, const mxc_tensor *rhs, mxc_req req,
                          const mxc_tensor *out) {
    (void)env;
    for (int64_t i = 0; i < size_of(out); i++)
        put(out, i, req, floats(lhs)[i] * floats(rhs)[i]);
    return MXC_OK;
}

static mxc_status product_grad(const mxc_simple_env *env, const mxc_tensor *g, const mxc_tensor *lhs,
                               const mxc_tensor *rhs, mxc_req lhs_req, const mxc_tensor *lhs_grad, mxc_req rhs_req,
                               const mxc_tensor *rhs_grad) {
    (void)env;
    for (int64_t i = 0; i < size_of(g); i++) {
        if (lhs_req != MXC_REQ_NULL)
            put(lhs_grad, i, lhs_req, floats(g)[i] * floats(rhs)[i]);
        if (rhs_req != MXC_REQ_NULL)
            put(rhs_grad, i, rhs_req, floats(g)[i] * floats(lhs)[i]);
    }
    return MXC_OK;
}

static mxc_status outer_shape(const mxc_simple_env *env, int n, const mxc_shape *in, mxc_shape *out) {
    (void)env;
    if (n != 2 || in[0].ndim != 1 || in[1].ndim != 1)
        return MXC_FAIL(MXC_ESHAPE, "expected two vectors");
    *out = (mxc_shape){.ndim = 2, .dim = {in[0].dim[0], in[1].dim[0]}};
    return MXC_OK;
}

static mxc_status outer(const mxc_simple_env *env, const mxc_tensor *lhs, const mxc_tensor *rhs, mxc_req req,
                        const mxc_tensor *out) {
    int64_t n = size_of(rhs);
    (void)env;
    for (int64_t i = 0; i < size_of(out); i++)
        put(out, i, req, floats(lhs)[i / n] * floats(rhs)[i % n]);
    return MXC_OK;
}

static mxc_status outer_grad(const mxc_simple_env *env, const mxc_tensor *g, const mxc_tensor *lhs,
                             const mxc_tensor *rhs, mxc_req lhs_req, const mxc_tensor *lhs_grad, mxc_req rhs_req,
                             const mxc_tensor *rhs_grad) {
    int64_t m = size_of(lhs), n = size_of(rhs);
    (void)env;
    for (int64_t i = 0; i < m && lhs_req != MXC_REQ_NULL; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++)
            sum += floats(g)[i * n + j] * floats(rhs)[j];
        put(lhs_grad, i, lhs_req, sum);
    }
    for (int64_t j = 0; j < n && rhs_req != MXC_REQ_NULL; j++) {
        double sum = 0;
        for (int64_t i = 0; i < m; i++)
            sum += floats(g)[i * n + j] * floats(lhs)[i];
        put(rhs_grad, j, rhs_req, sum);
    }
    return MXC_OK;
}

/* ---- the registrations ------------------------------------------------------------------------------------------- */

#define F32 MXC_DTYPE_BIT(MXC_F32)

static const mxc_simple_def defs[] = {
    {.size = sizeof(mxc_simple_def),
     .name = "t_ramp",
     .doc = "out[i] = i step",
     .params = ramp_schema,
     .param_size = sizeof(ramp_params),
     .dtypes = MXC_DTYPES_REAL,
     .shape = ramp_shape,
     .source = {[MXC_CPU] = ramp}},
    {.size = sizeof(mxc_simple_def),
     .name = "t_twice",
     .symbol_name = "t_Twice",
     .aliases = "t_double,t_x2",
     .doc = "out = 2 data",
     .arity = 1,
     .dtypes = F32,
     .inplace_forward = MXC_SIMPLE_INPLACE_IN_OUT,
     .inplace_backward = MXC_SIMPLE_INPLACE_IN_OUT,
     .gradient_kind = MXC_GRADIENT_OUT_GRAD,
     .unary = {[MXC_CPU] = twice},
     .unary_grad = {[MXC_CPU] = twice_grad}},
    {.size = sizeof(mxc_simple_def),
     .name = "t_exp",
     .arity = 1,
     .dtypes = F32,
     .gradient_kind = MXC_GRADIENT_OUT,
     .unary = {[MXC_CPU] = exponential},
     .unary_grad = {[MXC_CPU] = exponential_grad}},
    {.size = sizeof(mxc_simple_def),
     .name = "t_scaled",
     .arity = 1,
     .scalar = MXC_SCALAR_AFTER,
     .dtypes = F32,
     .gradient_kind = MXC_GRADIENT_IN,
     .unary = {[MXC_CPU] = scaled},
     .unary_grad = {[MXC_CPU] = scaled_grad}},
    {.size = sizeof(mxc_simple_def),
     .name = "t_over",
     .arity = 1,
     .scalar = MXC_SCALAR_BEFORE,
     .dtypes = F32,
     .gradient_kind = MXC_GRADIENT_IN,
     .unary = {[MXC_CPU] = over},
     .unary_grad = {[MXC_CPU] = over_grad}},
    {.size = sizeof(mxc_simple_def),
     .name = "t_power",
     .arity = 1,
     .params = power_schema,
     .param_size = sizeof(power_params),
     .dtypes = F32,
     .gradient_kind = MXC_GRADIENT_IN,
     .unary = {[MXC_CPU] = power},
     .unary_grad = {[MXC_CPU] = power_grad}},
    {.size = sizeof(mxc_simple_def),
     .name = "t_rowsum",
     .arity = 1,
     .args = "x",
     .dtypes = F32,
     .shape = rowsum_shape,
     .gradient_kind = MXC_GRADIENT_OUT_GRAD,
     .unary = {[MXC_CPU] = rowsum},
     .unary_grad = {[MXC_CPU] = rowsum_grad}},
    {.size = sizeof(mxc_simple_def),
     .name = "t_centred",
     .arity = 1,
     .dtypes = F32,
     .temp_bytes = centred_bytes,
     .unary = {[MXC_CPU] = centred}},
    {.size = sizeof(mxc_simple_def),
     .name = "t_noise",
     .arity = 1,
     .dtypes = F32,
     .random_count = noise_count,
     .gradient_kind = MXC_GRADIENT_OUT_GRAD,
     .unary = {[MXC_CPU] = noise},
     .unary_grad = {[MXC_CPU] = same_grad}},
    {.size = sizeof(mxc_simple_def),
     .name = "t_step",
     .arity = 1,
     .dtypes = F32 | MXC_DTYPE_BIT(MXC_I32),
     .gradient_kind = MXC_GRADIENT_ZERO,
     .unary = {[MXC_CPU] = step}},
    {.size = sizeof(mxc_simple_def),
     .name = "t_forget",
     .arity = 1,
     .array_only = 1,
     .dtypes = F32,
     .unary = {[MXC_CPU] = forget}},
    {.size = sizeof(mxc_simple_def),
     .name = "t_mix",
     .arity = 2,
     .dtypes = F32,
     .inplace_forward = MXC_SIMPLE_INPLACE_BOTH,
     .inplace_backward = MXC_SIMPLE_INPLACE_BOTH,
     .gradient_kind = MXC_GRADIENT_OUT_GRAD,
     .binary = {[MXC_CPU] = mix},
     .binary_grad = {[MXC_CPU] = mix_grad}},
    {.size = sizeof(mxc_simple_def),
     .name = "t_product",
     .arity = 2,
     .args = "a,b",
     .dtypes = F32,
     .inplace_forward = MXC_SIMPLE_INPLACE_IN_OUT,
     .gradient_kind = MXC_GRADIENT_IN,
     .binary = {[MXC_CPU] = product},
     .binary_grad = {[MXC_CPU] = product_grad}},
    {.size = sizeof(mxc_simple_def),
     .name = "t_outer",
     .arity = 2,
     .dtypes = F32,
     .shape = outer_shape,
     .gradient_kind = MXC_GRADIENT_IN,
     .binary = {[MXC_CPU] = outer},
     .binary_grad = {[MXC_CPU] = outer_grad}},
};

void register_all(void) {
    for (size_t i = 0; i < sizeof defs / sizeof defs[0]; i++)
        assert_ok(mxc_simpleop_register(&defs[i]));
}
