/* SPDX-License-Identifier: Apache-2.0 */
/* Operators and shorthands for tests of symbols. */
#include <stdarg.h>

#include "ops.h"

static mxc_status no_compute(const mxc_op_call *call) {
    (void)call;
    return MXC_OK;
}
#define COMPUTE .forward = {[MXC_CPU] = no_compute}, .backward = {[MXC_CPU] = no_compute}

/* ---- t_fc -------------------------------------------------------------------------------------------------- */

typedef struct fc_params {
    int64_t num_hidden;
    int32_t no_bias;
    int64_t workspace;
} fc_params;

static const mxc_param fc_schema[] = {
    {MXC_PARAM_FIELD(fc_params, num_hidden), .name = "num_hidden", .type = MXC_PARAM_INT, .bounded = 1, .minimum = 1,
     .maximum = 1e9},
    {MXC_PARAM_FIELD(fc_params, no_bias), .name = "no_bias", .type = MXC_PARAM_BOOL, .initial = "False"},
    {MXC_PARAM_FIELD(fc_params, workspace), .name = "workspace", .type = MXC_PARAM_INT, .initial = "512"},
    MXC_PARAM_END,
};

static int fc_n_args(const void *params) {
    return ((const fc_params *)params)->no_bias ? 2 : 3;
}

/* data (N,C), weight (H,C), bias (H,), output (N,H) */
static mxc_status fc_shape(mxc_op_sig *sig) {
    int64_t hidden = ((const fc_params *)sig->params)->num_hidden;
    mxc_shape *data = &sig->in_shape[0], *weight = &sig->in_shape[1], *out = &sig->out_shape[0];
    mxc_shape want = {2, {-1, weight->ndim == 2 ? weight->dim[1] : -1}};
    if (out->ndim == 2)
        want.dim[0] = out->dim[0];
    MXC_TRY(mxc_sig_set_shape(sig, 0, &want));
    want = (mxc_shape){2, {hidden, data->dim[1]}};
    MXC_TRY(mxc_sig_set_shape(sig, 1, &want));
    want = (mxc_shape){1, {hidden}};
    if (sig->n_in == 3)
        MXC_TRY(mxc_sig_set_shape(sig, 2, &want));
    want = (mxc_shape){2, {data->dim[0], hidden}};
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &want);
}

static const mxc_op_def fc = {
    .size = sizeof(mxc_op_def),
    .name = "t_fc",
    .aliases = "T_FullyConnected",
    .params = fc_schema,
    .param_size = sizeof(fc_params),
    .args = "data,weight,bias",
    .n_args = fc_n_args,
    .infer_shape = fc_shape,
    .needs = {.out_grad = 1, .in = 3},
    COMPUTE,
};

/* ---- t_bn -------------------------------------------------------------------------------------------------- */

typedef struct bn_params {
    double eps;
} bn_params;

static const mxc_param bn_schema[] = {
    {MXC_PARAM_FIELD(bn_params, eps), .name = "eps", .type = MXC_PARAM_FLOAT, .initial = "0.001"},
    MXC_PARAM_END,
};

static int one(const void *params) {
    (void)params;
    return 1;
}

static mxc_status bn_shape(mxc_op_sig *sig) {
    mxc_shape channels = {1, {-1}};
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &sig->in_shape[0]));
    MXC_TRY(mxc_sig_set_shape(sig, 0, &sig->out_shape[0]));
    if (sig->in_shape[0].ndim >= 2)
        channels.dim[0] = sig->in_shape[0].dim[1];
    for (int i = 0; i < 2; i++) {
        MXC_TRY(mxc_sig_set_shape(sig, 1 + i, &channels));
        MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(1 + i), &channels));
        MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_AUX(i), &channels));
    }
    return MXC_OK;
}

static const mxc_op_def bn = {
    .size = sizeof(mxc_op_def),
    .name = "t_bn",
    .params = bn_schema,
    .param_size = sizeof(bn_params),
    .args = "data,gamma,beta",
    .outputs = "output,mean,var",
    .aux = "moving_mean,moving_var",
    .n_visible = one,
    .infer_shape = bn_shape,
    .needs = {.out_grad = 1, .in = 3, .out = 6},
    COMPUTE,
};

/* ---- element-wise ------------------------------------------------------------------------------------------ */

typedef struct act_params {
    int32_t act_type;
} act_params;

static const mxc_param act_schema[] = {
    {MXC_PARAM_FIELD(act_params, act_type), .name = "act_type", .type = MXC_PARAM_ENUM, .choices = "relu,tanh"},
    MXC_PARAM_END,
};

static const mxc_op_def act = {
    .size = sizeof(mxc_op_def),
    .name = "t_act",
    .params = act_schema,
    .param_size = sizeof(act_params),
    .needs = {.out_grad = 1, .out = 1},
    COMPUTE,
};

static const mxc_op_def add = {
    .size = sizeof(mxc_op_def),
    .name = "t_add",
    .args = "lhs,rhs",
    .needs = {.out_grad = 1},
    COMPUTE,
};

static mxc_status liar_shape(mxc_op_sig *sig) {
    if (sig->in_shape[0].ndim == 2)
        sig->in_shape[0].dim[0]++;
    return MXC_OK;
}

static const mxc_op_def liar = {
    .size = sizeof(mxc_op_def),
    .name = "t_liar",
    .infer_shape = liar_shape,
    COMPUTE,
};

/* ---- many inputs, many outputs ----------------------------------------------------------------------------- */

typedef struct count_params {
    int64_t count;
} count_params;

static const mxc_param concat_schema[] = {
    {MXC_PARAM_FIELD(count_params, count), .name = "num_args", .type = MXC_PARAM_INT, .bounded = 1, .minimum = 1,
     .maximum = 1e9},
    MXC_PARAM_END,
};

static const mxc_op_def concat = {
    .size = sizeof(mxc_op_def),
    .name = "t_concat",
    .params = concat_schema,
    .param_size = sizeof(count_params),
    .variadic = "num_args",
    COMPUTE,
};

static const mxc_param split_schema[] = {
    {MXC_PARAM_FIELD(count_params, count), .name = "num_outputs", .type = MXC_PARAM_INT, .bounded = 1, .minimum = 1,
     .maximum = 1e9},
    MXC_PARAM_END,
};

static int split_n_outputs(const void *params) {
    return (int)((const count_params *)params)->count;
}

static const mxc_op_def split = {
    .size = sizeof(mxc_op_def),
    .name = "t_split",
    .params = split_schema,
    .param_size = sizeof(count_params),
    .n_outputs = split_n_outputs,
    COMPUTE,
};

void test_ops_register(void) {
    static const mxc_op_def *const all[] = {&fc, &bn, &act, &add, &liar, &concat, &split};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (!mxc_op_find(all[i]->name))
            assert_ok(mxc_op_register(all[i]));
}

/* ---- shorthands -------------------------------------------------------------------------------------------- */

mxc_symbol *test_var(const char *name) {
    mxc_symbol *out;
    assert_ok(mxc_symbol_variable(name, &out));
    return out;
}

mxc_symbol *test_op(const char *op, const char *name, int n_in, mxc_symbol *const *in, ...) {
    const char *keys[8], *values[8], *key;
    int n = 0;
    va_list args;
    mxc_symbol *out;
    va_start(args, in);
    while ((key = va_arg(args, const char *)) != NULL) {
        keys[n] = key;
        values[n++] = va_arg(args, const char *);
    }
    va_end(args);
    assert_ok(mxc_symbol_op(op, name, n, keys, values, n_in, NULL, in, &out));
    return out;
}

mxc_symbol *test_mlp(void) {
    mxc_symbol *data = test_var("data"), *fc1, *relu1, *fc2;
    fc1 = test_op("t_fc", "fc1", 1, &data, "num_hidden", "10", NULL);
    relu1 = test_op("t_act", "relu1", 1, &fc1, "act_type", "relu", NULL);
    fc2 = test_op("t_fc", "fc2", 1, &relu1, "num_hidden", "4", "no_bias", "True", NULL);
    mxc_symbol_release(data);
    mxc_symbol_release(fc1);
    mxc_symbol_release(relu1);
    return fc2;
}

void test_names(mxc_names *names, const char *expected) {
    char found[4096];
    int64_t used = 0;
    found[0] = '\0';
    for (int64_t i = 0; i < names->n; i++)
        used += snprintf(found + used, sizeof found - (size_t)used, "%s%s", i ? "," : "", names->items[i]);
    assert_string_equal(found, expected);
    mxc_names_release(names);
}

mxc_shape test_shape(int ndim, ...) {
    mxc_shape shape = {.ndim = ndim};
    va_list args;
    va_start(args, ndim);
    for (int i = 0; i < ndim; i++)
        shape.dim[i] = va_arg(args, int);
    va_end(args);
    return shape;
}
