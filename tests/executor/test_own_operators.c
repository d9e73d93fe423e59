/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that a program registers are treated by every pass as their descriptors say, like built-in ones. */
#include "executor/graphs.h"

#include <mxc/quantize.h>

#include "base/sys.h"
#include "executor/plan/memory_plan.h"
#include "rewrite/mixed_precision.h"

static const mxc_context gpu = {MXC_GPU, 0};

static mxc_status compute(const mxc_op_call *call) {
    (void)call;
    return MXC_OK; /* graphs are looked at and not run */
}

/* ---- y = factor x ------------------------------------------------------------------------------------------------ */

typedef struct scale_params {
    double factor;
    int32_t in_place;
} scale_params;

static const mxc_param scale_schema[] = {
    {MXC_PARAM_FIELD(scale_params, factor), .name = "factor", .type = MXC_PARAM_FLOAT, .initial = "2", .doc = "factor"},
    {MXC_PARAM_FIELD(scale_params, in_place), .name = "in_place", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "write over data"},
    MXC_PARAM_END,
};

static int scale_elementwise(const mxc_op *op, mxc_elementwise *out) {
    const scale_params *p = mxc_op_params(op);
    *out = (mxc_elementwise){.function = "mul", .scalar = MXC_SCALAR_AFTER, .number = p->factor};
    return 1;
}

static const mxc_inplace *scale_inplace(const mxc_op *op, mxc_pass pass) {
    static const mxc_inplace over_data[] = {{MXC_FROM_IN(0), 0}, MXC_INPLACE_END};
    return pass == MXC_FORWARD && ((const scale_params *)mxc_op_params(op))->in_place ? over_data : NULL;
}

static const mxc_op_def scale = {
    .size = sizeof(mxc_op_def),
    .name = "own_scale",
    .doc = "y = factor x",
    .flags = MXC_OP_ELEMENTWISE | MXC_OP_ZERO_GRADIENT,
    .params = scale_schema,
    .param_size = sizeof(scale_params),
    .dtypes = MXC_DTYPES_FLOAT,
    .inplace = scale_inplace,
    .elementwise = scale_elementwise,
    .forward = MXC_ON_CPU(compute),
};

static int relu_elementwise(const mxc_op *op, mxc_elementwise *out) {
    (void)op;
    *out = (mxc_elementwise){.function = "relu"};
    return 1;
}

static const mxc_op_def relu = {
    .size = sizeof(mxc_op_def),
    .name = "own_relu",
    .doc = "y = max(x, 0)",
    .flags = MXC_OP_ELEMENTWISE | MXC_OP_ZERO_GRADIENT,
    .dtypes = MXC_DTYPES_FLOAT,
    .elementwise = relu_elementwise,
    .forward = MXC_ON_CPU(compute),
};

/* Computes in float32 whatever the training's dtype is. */
static const mxc_op_def exact = {
    .size = sizeof(mxc_op_def),
    .name = "own_exact",
    .doc = "y = x",
    .flags = MXC_OP_ELEMENTWISE | MXC_OP_ZERO_GRADIENT,
    .dtypes = MXC_DTYPES_FLOAT,
    .precision = MXC_PRECISION_F32,
    .forward = MXC_ON_CPU(compute),
};

/* ---- a convolution of 1 x 1 -------------------------------------------------------------------------------------- */

typedef struct layer_params {
    int64_t filters;
    int32_t no_bias, layout;
} layer_params;

static const mxc_param layer_schema[] = {
    {MXC_PARAM_FIELD(layer_params, filters), .name = "filters", .type = MXC_PARAM_INT, .doc = "channels of the output"},
    {MXC_PARAM_FIELD(layer_params, no_bias), .name = "no_bias", .type = MXC_PARAM_BOOL, .initial = "True",
     .doc = "without bias"},
    {MXC_PARAM_FIELD(layer_params, layout), .name = "layout", .type = MXC_PARAM_ENUM, .initial = "NCHW",
     .choices = "NCHW,NHWC", .doc = "where the channels are"},
    MXC_PARAM_END,
};

static int layer_args(const void *params) {
    return ((const layer_params *)params)->no_bias ? 2 : 3;
}

static mxc_status layer_shapes(mxc_op_sig *sig) {
    const layer_params *p = sig->params;
    const int axis = p->layout ? 3 : 1;
    mxc_shape out = sig->in_shape[0], weight, bias;
    if (out.ndim != 4)
        return MXC_OK;
    assert_ok(mxc_shape_set(&weight, 4, (int64_t[]){p->filters, out.dim[axis], 1, 1}));
    assert_ok(mxc_shape_set(&bias, 1, &p->filters));
    if (p->layout)
        assert_ok(mxc_shape_set(&weight, 4, (int64_t[]){p->filters, 1, 1, out.dim[axis]}));
    out.dim[axis] = p->filters;
    MXC_TRY(mxc_sig_set_shape(sig, 1, &weight));
    if (sig->n_in > 2)
        MXC_TRY(mxc_sig_set_shape(sig, 2, &bias));
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

static int layer_channels_last(const mxc_op *op, int ndim, mxc_channels_last *out) {
    (void)ndim;
    *out = (mxc_channels_last){.key = "layout", .value = "NHWC", .weights = 1 << 1, .leads = 1};
    return !((const layer_params *)mxc_op_params(op))->layout;
}

static int layer_linear(const mxc_op *op, mxc_linear *out) {
    *out = (mxc_linear){.ndim = 4, .axis = 1, .no_bias = "no_bias"};
    return !((const layer_params *)mxc_op_params(op))->layout;
}

static int layer_quantized(const mxc_op *op, mxc_quantized *out) {
    (void)op;
    *out = (mxc_quantized){.op = "own_layer_int8", .has_weights = 1, .is_32bit = 1};
    return 1;
}

static mxc_status layer_epilogue(const mxc_op *op, mxc_device device, const mxc_epilogue *what, mxc_op **out) {
    (void)op, (void)device;
    *out = NULL;
    return what->adds || what->slope != 0
               ? MXC_OK
               : mxc_op_create("own_layer_relu", 1, (const char *[]){"filters"}, (const char *[]){"8"}, out);
}

/* Members of the layer and of what it becomes. */
#define LAYER                                                                                                          \
    .size = sizeof(mxc_op_def), .doc = "a layer", .flags = MXC_OP_ZERO_GRADIENT, .params = layer_schema,               \
    .param_size = sizeof(layer_params), .infer_shape = layer_shapes, .dtypes = MXC_DTYPES_FLOAT, .n_args = layer_args, \
    .forward = MXC_ON_CPU(compute)

static const mxc_op_def layer = {
    LAYER,
    .name = "own_layer",
    .args = "data,weight,bias",
    .epilogue = layer_epilogue,
    .channels_last = layer_channels_last,
    .linear = layer_linear,
    .quantized = layer_quantized,
};

static const mxc_op_def layer_relu = {LAYER, .name = "own_layer_relu", .args = "data,weight,bias"};

static int int8_args(const void *params) {
    return 3 * layer_args(params);
}

static const mxc_op_def layer_int8 = {
    .size = sizeof(mxc_op_def),
    .name = "own_layer_int8",
    .doc = "the layer on integers",
    .flags = MXC_OP_ZERO_GRADIENT,
    .params = layer_schema,
    .param_size = sizeof(layer_params),
    .args = "data,weight,min_data,max_data,min_weight,max_weight",
    .outputs = "output,min,max",
    .n_args = int8_args,
    .dtypes = MXC_DTYPES_ALL,
    .forward = MXC_ON_CPU(compute),
};

/* ---- a norm ------------------------------------------------------------------------------------------------------ */

static int norm_norm(const mxc_op *op, int ndim, mxc_norm *out) {
    (void)op, (void)ndim;
    *out = (mxc_norm){.axis = 1, .eps = 0.5};
    return 1;
}

static mxc_status norm_shapes(mxc_op_sig *sig) {
    mxc_shape channels;
    if (sig->in_shape[0].ndim < 2)
        return MXC_OK;
    assert_ok(mxc_shape_set(&channels, 1, &sig->in_shape[0].dim[1]));
    for (int i = 1; i < 3; i++) {
        MXC_TRY(mxc_sig_set_shape(sig, i, &channels));
        MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_AUX(i - 1), &channels));
    }
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &sig->in_shape[0]);
}

static const mxc_op_def norm = {
    .size = sizeof(mxc_op_def),
    .name = "own_norm",
    .doc = "a norm",
    .flags = MXC_OP_ZERO_GRADIENT,
    .args = "data,gamma,beta",
    .aux = "mean,variance",
    .infer_shape = norm_shapes,
    .norm = norm_norm,
    .forward = MXC_ON_CPU(compute),
};

/* ---- passes ------------------------------------------------------------------------------------------------------ */

static mxc_symbol *layer_on(const char *name, mxc_symbol *in) {
    return net_on("own_layer", name, "filters=8", in);
}

static mxci_program *program(mxc_symbol *symbol, mxc_context context) {
    mxc_shape shape = net_shape(4, 2, 8, 6, 6);
    return graph_program(symbol, &shape, MXC_F32, context);
}

static void test_fusion(void **state) {
    mxci_program *p = program(net_on("own_scale", "s", "", net_on("own_relu", "r", "", net_variable("data"))), gpu);
    (void)state;
    assert_ok(mxci_pass_fusion(p));
    assert_output(p, "_chain(data)");
    mxci_program_destroy(p);
}

static void test_epilogue(void **state) {
    mxci_program *p = program(net_on("own_relu", "r", "", layer_on("l", net_variable("data"))), gpu);
    (void)state;
    assert_ok(mxci_pass_epilogue(p));
    assert_output(p, "own_layer_relu(data,l_weight)");
    mxci_program_destroy(p);
}

static void test_channels_last(void **state) {
    mxc_symbol *s = layer_on("a", net_variable("data"));
    mxci_program *p = program(layer_on("b", net_on("own_scale", "s", "", s)), mxc_cpu(0));
    int is_changed = 0;
    (void)state;
    assert_ok(mxci_pass_channels_last(p->graph, NULL, &is_changed));
    assert_true(is_changed);
    assert_output(
        p, "transpose(own_layer(own_scale(own_layer(transpose(data),transpose(a_weight))),transpose(b_weight)))");
    assert_int_equal(p->graph->shapes[p->graph->nodes[graph_find(p->graph, "s")].first_entry].dim[3], 8);
    mxci_program_destroy(p);
}

static void test_fold_batch_norm(void **state) {
    static const char *const norms[] = {"BatchNorm", "own_norm"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        mxci_program *p = program(net_on(norms[i], "n", "", layer_on("l", net_variable("data"))), mxc_cpu(0));
        char text[400];
        const mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
        int is_folded = 0;
        assert_ok(mxci_pass_fold_batch_norm(p->graph, &options, &is_folded));
        assert_true(is_folded);
        snprintf(text, sizeof text,
                 "own_layer(data,_fold_norm(l_weight,n_gamma,n_beta,%s),_fold_norm(l_weight,n_gamma,n_beta,%s).1)",
                 i ? "n_mean,n_variance" : "n_moving_mean,n_moving_var",
                 i ? "n_mean,n_variance" : "n_moving_mean,n_moving_var");
        assert_output(p, text);
        mxci_program_destroy(p);
    }
}

/* Which option applies is decided by a parameter. */
static void test_in_place(void **state) {
    (void)state;
    for (int in_place = 0; in_place < 2; in_place++) {
        mxc_symbol *s = net_on("tanh", "t", "", net_variable("data"));
        mxci_program *p;
        s = net_on("own_scale", "s", in_place ? "in_place=True" : "", s);
        p = program(net_on("tanh", "last", "", s), mxc_cpu(0));
        assert_ok(mxci_pass_node_order(p, 0));
        assert_ok(mxci_pass_requests(p));
        assert_ok(mxci_pass_tiling(p, 0));
        assert_ok(mxci_plan_memory(p, 0, 0));
        assert_int_equal(p->req[p->graph->nodes[graph_find(p->graph, "s")].first_entry],
                         in_place ? MXC_REQ_INPLACE : MXC_REQ_WRITE);
        mxci_program_destroy(p);
    }
}

/* ---- rewrites of symbols ----------------------------------------------------------------------------------------- */

static void assert_symbol(mxc_symbol *symbol, const char *text) {
    mxci_graph *g;
    assert_ok(mxci_graph_from_symbol(symbol, &g));
    assert_entry(g, g->outputs[0], text);
    mxci_graph_destroy(g);
    mxc_symbol_release(symbol);
}

static void test_mixed_precision(void **state) {
    static const char *const fed[] = {"data"};
    const mxci_mixed_precision precision = {.dtype = MXC_F16, .n_fed = 1, .fed = fed};
    mxc_symbol *s = net_on("own_exact", "e", "", layer_on("l", net_variable("data"))), *made;
    (void)state;
    s = net_on("own_scale", "s", "", s);
    assert_ok(mxci_mixed_precision_rewrite(&precision, s, &made));
    mxc_symbol_release(s);
    assert_symbol(made, "own_scale(own_exact(Cast(own_layer(Cast(data),l_weight))))");
}

static void test_quantize(void **state) {
    static char *name = "arg:l_weight";
    const int64_t dims[] = {8, 8, 1, 1};
    mxc_quantize_options options = MXC_QUANTIZE_OPTIONS_INIT;
    mxc_ndarray_list params = {.n = 1, .names = &name}, made_params;
    mxc_ndarray *weight;
    mxci_graph *g;
    char *text;
    mxc_symbol *s = net_on("own_relu", "r", "", layer_on("l", net_variable("data"))), *made;
    (void)state;
    assert_ok(mxc_ndarray_create(4, dims, MXC_F32, mxc_cpu(0), &weight));
    assert_ok(mxc_ndarray_fill(weight, 1));
    params.arrays = &weight;
    options.symbol = s;
    options.params = &params;
    assert_ok(mxc_quantize(&options, &made, &made_params));
    assert_ok(mxci_graph_from_symbol(made, &g));
    text = graph_text(g, g->outputs[0]);
    assert_non_null(strstr(text, "_contrib_requantize(own_layer_int8(_contrib_quantize_v2(data),l_weight_quantize,"));
    assert_null(strstr(text, "own_relu")); /* which the uint8 form of the layer's output is */
    mxci_free(text);
    mxci_graph_destroy(g);
    mxc_symbol_release(made);
    mxc_ndarray_list_release(&made_params);
    mxc_ndarray_release(weight);
    mxc_symbol_release(s);
}

int main(void) {
    const mxc_op_def *const defs[] = {&scale, &relu, &exact, &layer, &layer_relu, &layer_int8, &norm};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fusion),          cmocka_unit_test(test_epilogue), cmocka_unit_test(test_channels_last),
        cmocka_unit_test(test_fold_batch_norm), cmocka_unit_test(test_in_place), cmocka_unit_test(test_mixed_precision),
        cmocka_unit_test(test_quantize),
    };
    setenv("MXC_GPU_LAYOUT", "2", 1); /* also without a GPU, and where it does not pay */
    for (size_t i = 0; i < sizeof defs / sizeof defs[0]; i++)
        assert_ok(mxc_op_register(defs[i]));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
