/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that MXNet fused for oneDNN become the layers that they hold; what does not fit together is refused. */
#include "support.h"

#include <math.h>

#include <mxc/executor.h>

#include "base/sys.h"

#define VAR(name) "{\"op\":\"null\",\"name\":\"" name "\",\"inputs\":[]}"
#define CONV "\"attrs\":{\"kernel\":\"(1,1)\",\"num_filter\":\"2\",\"no_bias\":\"True\"}"
#define LAYERS                                                                                                        \
    "{\"nodes\":[" VAR("x0") "," VAR("w0") ",{\"op\":\"Convolution\",\"name\":\"conv\"," CONV                         \
                                           ",\"inputs\":[[0,0,0],[1,0,0]]},{\"op\":\"Activation\",\"name\":\"relu\"," \
                                           "\"attrs\":{\"act_type\":\"relu\"},"                                       \
                                           "\"inputs\":[[2,0,0]]}],\"arg_nodes\":[0,1],\"heads\":[[3,0,0]]}"
#define SUM_LAYERS                                                                                                     \
    "{\"nodes\":[" VAR("x0") "," VAR("w0") ",{\"op\":\"Convolution\",\"name\":\"conv\"," CONV                          \
                                           ",\"inputs\":[[0,0,0],[1,0,0]]}," VAR(                                      \
                                               "s0") ",{\"op\":\"elemwise_add\",\"name\":\"add\",\"inputs\":[[2,0,0]," \
                                                     "[3,0,0]]}],\"arg_nodes\":[0,1,3],\"heads\":[[4,0,0]]}"
#define FUSED(attrs, inputs, layers)                                                           \
    "{\"op\":\"_sg_mkldnn_conv\",\"name\":\"fused\",\"attrs\":{" attrs "},\"inputs\":[" inputs \
    "],\"subgraphs\":[" layers "]}"
#define QUANTIZED "\"quantized\":\"true\",\"min_calib_range\":\"0\",\"max_calib_range\":\"2\""
#define QUANTIZE "{\"op\":\"_contrib_quantize_v2\",\"name\":\"q\",\"inputs\":[[0,0,0]]}"
#define GRAPH(nodes, args, head) "{\"nodes\":[" nodes "],\"arg_nodes\":[" args "],\"heads\":[" head "]}"

static mxc_symbol *parse(const char *json) {
    mxc_symbol *symbol;
    assert_ok(mxc_symbol_from_json(json, strlen(json), &symbol));
    return symbol;
}

static void expect_names(mxc_symbol *symbol, int outputs, const char *expected) {
    mxc_names names;
    char text[256] = "";
    assert_ok(outputs ? mxc_symbol_list_outputs(symbol, &names) : mxc_symbol_list_arguments(symbol, &names));
    for (int64_t i = 0; i < names.n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "", names.items[i]);
    assert_string_equal(text, expected);
    mxc_names_release(&names);
}

/* Run with x as given, weight of ones, any further argument of ones; output 0, 8 elements. */
static void run(mxc_symbol *symbol, const float *x, float *out) {
    const char *name = "x";
    mxc_shape shape = {.ndim = 4, .dim = {1, 2, 2, 2}};
    mxc_executor *e;
    mxc_names names;
    const mxc_bind_spec spec = {.size = sizeof spec, .n = 1, .names = &name, .shapes = &shape};
    assert_ok(mxc_executor_simple_bind(symbol, NULL, &spec, &e));
    assert_ok(mxc_symbol_list_arguments(symbol, &names));
    for (int64_t i = 0; i < names.n; i++)
        assert_ok(mxc_ndarray_fill(mxc_executor_arg(e, i), 1));
    assert_ok(mxc_ndarray_set(mxc_executor_find_arg(e, "x"), x, 8 * sizeof *x));
    assert_ok(mxc_executor_forward(e, 0));
    assert_ok(mxc_ndarray_get(mxc_executor_output(e, 0), out, 8 * sizeof *out));
    mxc_names_release(&names);
    mxc_executor_destroy(e);
}

static const float x[8] = {0.5f, -1, 0.25f, 1, 0.5f, 0.25f, -0.75f, -0.5f};

static void test_float(void **state) {
    mxc_symbol *symbol = parse(
        GRAPH(VAR("x") "," VAR("w") "," FUSED("\"with_relu\":\"true\"", "[0,0,0],[1,0,0]", LAYERS), "0,1", "[2,0,0]"));
    float out[8];
    (void)state;
    expect_names(symbol, 0, "x w");
    expect_names(symbol, 1, "relu_output");
    run(symbol, x, out);
    assert_true(out[0] == 1 && out[1] == 0 && out[2] == 0 && out[3] == 0.5f && out[4] == 1);
    mxc_symbol_release(symbol);
}

/* The same within the steps of 8 bits; the bounds are further outputs. */
static void test_quantized(void **state) {
    mxc_symbol *symbol =
        parse(GRAPH(VAR("x") "," QUANTIZE "," VAR("w") "," FUSED(
                        QUANTIZED, "[1,0,0],[2,0,0],[1,1,0],[1,2,0]",
                        LAYERS) ",{\"op\":\"_contrib_dequantize\",\"name\":\"d\",\"inputs\":[[3,0,0],[3,1,0],[3,2,0]]}",
                    "0,2", "[4,0,0],[3,0,0]"));
    float out[8];
    (void)state;
    expect_names(symbol, 0, "x w");
    expect_names(symbol, 1, "d_output fused_output");
    run(symbol, x, out);
    for (int i = 0; i < 8; i++) {
        float sum = x[i % 4] + x[i % 4 + 4];
        assert_true(out[i] - (sum > 0 ? sum : 0) < 0.02f && out[i] - (sum > 0 ? sum : 0) > -0.02f);
    }
    mxc_symbol_release(symbol);
}

static void test_sum(void **state) {
    mxc_symbol *symbol = parse(
        GRAPH(VAR("x") "," QUANTIZE "," VAR("w") "," FUSED(
                  "\"with_sum\":\"true\"," QUANTIZED, "[1,0,0],[2,0,0],[1,0,0],[1,1,0],[1,2,0],[1,1,0],[1,2,0]",
                  SUM_LAYERS) ",{\"op\":\"_contrib_dequantize\",\"name\":\"d\",\"inputs\":[[3,0,0],[3,1,0],[3,2,0]]}",
              "0,2", "[4,0,0]"));
    float out[8];
    (void)state;
    run(symbol, x, out);
    assert_true(out[0] > 1.48f && out[0] < 1.52f && out[4] > 1.48f && out[4] < 1.52f);
    mxc_symbol_release(symbol);
}

/* Without a calibrated range the sums are an output, in 32 bits. */
static void test_uncalibrated(void **state) {
    mxc_symbol *symbol =
        parse(GRAPH(VAR("x") "," QUANTIZE "," VAR("w") "," FUSED(
                        "\"quantized\":\"true\"", "[1,0,0],[2,0,0],[1,1,0],[1,2,0]",
                        LAYERS) ",{\"op\":\"_contrib_dequantize\",\"name\":\"d\",\"inputs\":[[3,0,0],[3,1,0],[3,2,0]]}",
                    "0,2", "[4,0,0]"));
    float out[8];
    (void)state;
    run(symbol, x, out);
    for (int i = 0; i < 8; i++) {
        float sum = x[i % 4] + x[i % 4 + 4];
        assert_true(fabsf(out[i] - (sum > 0 ? sum : 0)) < 0.02f);
    }
    mxc_symbol_release(symbol);
}

#define TANH_LAYERS                                                                                                  \
    "{\"nodes\":[" VAR("x0") "," VAR("w0") ",{\"op\":\"Convolution\",\"name\":\"conv\"," CONV                        \
                                           ",\"inputs\":[[0,0,0],[1,0,0]]},{\"op\":\"Activation\",\"name\":\"act\"," \
                                           "\"attrs\":{\"act_type\":\"tanh\"},"                                      \
                                           "\"inputs\":[[2,0,0]]}],\"arg_nodes\":[0,1],\"heads\":[[3,0,0]]}"

/* Layers that have no form in integers compute in floats. */
static void test_layers_of_floats(void **state) {
    mxc_symbol *symbol = parse(
        GRAPH(VAR("x") "," QUANTIZE "," VAR("w") "," FUSED(
                  "\"quantized\":\"true\",\"min_calib_range\":\"-1\",\"max_calib_range\":\"1\"",
                  "[1,0,0],[2,0,0],[1,1,0],[1,2,0]",
                  TANH_LAYERS) ",{\"op\":\"_contrib_dequantize\",\"name\":\"d\",\"inputs\":[[3,0,0],[3,1,0],[3,2,0]]}",
              "0,2", "[4,0,0]"));
    float out[8];
    (void)state;
    run(symbol, x, out);
    for (int i = 0; i < 8; i++)
        assert_true(fabsf(out[i] - tanhf(x[i % 4] + x[i % 4 + 4])) < 0.02f);
    mxc_symbol_release(symbol);
}

#define DENSE(entries)                                                                                               \
    "{\"nodes\":[" VAR("x0") "," VAR("w0") "," VAR(                                                                  \
        "b0") ",{\"op\":\"FullyConnected\",\"name\":\"fc\","                                                         \
              "\"attrs\":{\"num_hidden\":\"8\"},\"inputs\":[" entries "]},{\"op\":\"Activation\",\"name\":\"relu\"," \
              "\"attrs\":{\"act_type\":\"relu\"},\"inputs\":[[3,0,0]]}],\"heads\":[[4,0,0]]}"
/* Full connection of x with integer weights and biases, whose ranges are arguments. */
#define INTEGER_DENSE_TO(attrs, entries)                                                                               \
    GRAPH(                                                                                                             \
        VAR("x") "," QUANTIZE "," VAR("w") "," VAR("b") "," VAR("wl") "," VAR("wh") "," VAR("bl") "," VAR(             \
            "bh") ",{\"op\":\"_sg_mkldnn_fully_connected\",\"name\":\"fused\",\"attrs\":{\"quantized\":\"True\"" attrs \
                  "},\"inputs\":[[1,0,0],[2,0,0],[3,0,0],[1,1,0],[1,2,0],[4,0,0],[5,0,0],[6,0,0],[7,0,0]],"            \
                  "\"subgraphs\":[" DENSE(entries) "]}",                                                               \
        "0,2,3,4,5,6,7", "[8,0,0]")
#define INTEGER_DENSE(entries) INTEGER_DENSE_TO(",\"enable_float_output\":\"True\"", entries)

/* Weights of code 1 stand for 1 / 127. x, whose range ends half a step beyond the codes, has the codes 64, -128, 32,
 * 127, 64, 32, -96 and -64, and the bias is 127.5 units of the sums. */
static void test_integer_weights(void **state) {
    mxc_symbol *symbol = parse(INTEGER_DENSE("[0,0,0],[1,0,0],[2,0,0]"));
    float out[8];
    (void)state;
    expect_names(symbol, 0, "x w b wl wh bl bh");
    expect_names(symbol, 1, "relu_output");
    run(symbol, x, out);
    for (int i = 0; i < 8; i++) {
        const float unit = 1 / 127.5f / 127, expected = (31 + 127.5f) * unit;
        assert_true(fabsf(out[i] - expected) < 0.51f * unit);
    }
    mxc_symbol_release(symbol);
}

#define ATTENTION(op, name, attrs, inputs, vars, entries, head)                                                       \
    "{\"op\":\"_sg_mkldnn_selfatt_" op "\",\"name\":\"" name "\",\"attrs\":{\"heads\":\"2\"" attrs                    \
    "},\"inputs\":[" inputs "],\"subgraphs\":[{\"nodes\":[" vars ",{\"op\":\"_contrib_interleaved_matmul_selfatt_" op \
    "\",\"name\":\"" name "\",\"attrs\":{\"heads\":\"2\"},\"inputs\":[" entries "]}],\"heads\":[" head "]}]}"
#define SCORES(attrs, inputs) ATTENTION("qk", "scores", attrs, inputs, VAR("a0"), "[0,0,0]", "[1,0,0]")
#define VALUES(attrs, inputs) \
    ATTENTION("valatt", "values", attrs, inputs, VAR("a0") "," VAR("b0"), "[0,0,0],[1,0,0]", "[2,0,0]")

/* Products of attention; a quantized product with attention weights has the ranges of both arguments. */
static void test_attention(void **state) {
    mxc_symbol *symbol = parse(GRAPH(
        VAR("x") "," SCORES(",\"quantized\":\"False\"", "[0,0,0]") "," VALUES("", "[0,0,0],[1,0,0]"), "0", "[2,0,0]"));
    (void)state;
    expect_names(symbol, 0, "x");
    expect_names(symbol, 1, "values_output");
    mxc_symbol_release(symbol);
    symbol = parse(
        GRAPH(VAR("x") "," QUANTIZE "," SCORES("," QUANTIZED, "[1,0,0],[1,1,0],[1,2,0]") "," VALUES(
                  ",\"enable_float_output\":\"True\"," QUANTIZED, "[1,0,0],[2,0,0],[1,1,0],[1,2,0],[2,1,0],[2,2,0]"),
              "0", "[3,0,0]"));
    expect_names(symbol, 0, "x");
    expect_names(symbol, 1, "values_output");
    mxc_symbol_release(symbol);
}

#define FC(name, inputs, hidden)                                                                                       \
    "{\"op\":\"FullyConnected\",\"name\":\"" name "\",\"attrs\":{\"num_hidden\":\"" hidden "\",\"no_bias\":\"True\"}," \
    "\"inputs\":[" inputs "]}"
#define RELU(name, inputs) \
    "{\"op\":\"Activation\",\"name\":\"" name "\",\"attrs\":{\"act_type\":\"relu\"},\"inputs\":[" inputs "]}"
#define TENSORRT(inputs, nodes, heads)                                                                                 \
    "{\"op\":\"_TensorRT\",\"name\":\"TensorRT0\",\"attrs\":{\"subgraph_params_names\":\"w1;w2\"},\"inputs\":[" inputs \
    "],\"subgraphs\":[{\"nodes\":[" nodes "],\"heads\":[" heads "]}]}"

/* Its inputs are a layer's output and a variable, in another order than in the subgraph; w1 is a weight outside, too.
 * Both outputs of the subgraph are used. */
static void test_tensorrt(void **state) {
    mxc_symbol *symbol =
        parse(GRAPH(VAR("x") "," VAR("w1") "," FC("fc1", "[0,0,0],[1,0,0]", "8") "," TENSORRT(
                        "[2,0,0],[0,0,0]",
                        VAR("x0") "," VAR("fc1_output0") "," VAR("w2") "," FC("fc2", "[1,0,0],[2,0,0]", "8") "," VAR(
                            "w1") "," FC("fc3", "[0,0,0],[4,0,0]", "8") "," RELU("relu", "[3,0,0]"),
                        "[6,0,0],[5,0,0]") "," RELU("last", "[3,1,0]"),
                    "0,1", "[3,0,0],[4,0,0]"));
    float out[8];
    (void)state;
    expect_names(symbol, 0, "x w1 w2");
    expect_names(symbol, 1, "relu_output last_output");
    run(symbol, x, out);
    for (int i = 0; i < 8; i++) /* x sums up to 0.25: 8 times that */
        assert_true(fabsf(out[i] - 2) < 1e-5f);
    mxc_symbol_release(symbol);
}

static void test_refused(void **state) {
    static const struct {
        const char *json, *message;
    } wrong[] = {
        {GRAPH(VAR("x") "," FUSED("", "[0,0,0]", LAYERS), "0", "[1,0,0]"), "its inputs do not fit its layers"},
        {GRAPH(VAR("x") "," SCORES(",\"quantized\":\"true\"", "[0,0,0],[0,0,0],[0,0,0]"), "0", "[1,0,0]"),
         "without min_calib_range"},
        {GRAPH(VAR("x") "," VAR("w") "," FUSED("", "[0,0,0],[1,0,0]", "{}"), "0", "[1,0,0]"), "expected one graph"},
        {GRAPH(VAR("x") "," VAR("w") "," FUSED("", "[0,0,0],[2,0,0]", LAYERS), "0", "[1,0,0]"), "input 1: expected"},
        {GRAPH(VAR("x") "," VAR("w") "," FUSED("", "[0,0,0],[1,0,0]",
                                               "{\"nodes\":[" VAR("a") "," VAR("b") "],\"heads\":[[0,0,0]]}"),
               "0", "[2,0,0]"),
         "expected one layer's first output"},
        {GRAPH(VAR("x") "," VAR("w") "," FUSED(
                   "", "[0,0,0],[1,0,0]",
                   "{\"nodes\":[" VAR("a") "," VAR(
                       "b") ",{\"op\":\"relu\",\"name\":\"r\",\"inputs\":[[2,0,0]]}],\"heads\":"
                            "[[2,0,0]]}"),
               "0", "[2,0,0]"),
         "input 0: expected"},
        {GRAPH(VAR("x") "," TENSORRT("[0,0,0]", VAR("z0") "," RELU("r", "[0,0,0]"), "[1,0,0]"), "0", "[1,0,0]"),
         "its inputs do not fit the names"},
        {GRAPH(VAR("x") ",{\"op\":\"_TensorRT\",\"name\":\"t\",\"inputs\":[[0,0,0]]}", "0", "[1,0,0]"),
         "its layers are not in the file"},
        {GRAPH(VAR("x") "," TENSORRT("[0,0,0]", VAR("x0") "," RELU("r", "[0,0,0]"), "[1,0,0]"), "0", "[1,1,0]"),
         "\"heads\": item 0"},
        {INTEGER_DENSE("[0,0,0],[2,0,0],[1,0,0]"), "expected a FullyConnected of all its integer inputs"},
    };
    mxc_symbol *symbol;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_fails(mxc_symbol_from_json(wrong[i].json, strlen(wrong[i].json), &symbol), MXC_EFORMAT,
                     wrong[i].message);
        assert_null(symbol);
    }
}

#define PART "[1,0,0],[2,0,0],[1,1,0],[1,2,0]"

/* Each allocation fails in turn; what is read is then refused without memory, whole and without a leak. */
static void test_no_memory(void **state) {
    static const char *const graphs[] = {
        GRAPH(VAR("x") "," QUANTIZE "," VAR("w") "," FUSED(QUANTIZED, PART, LAYERS), "0,2", "[3,0,0]"),
        GRAPH(VAR("x") "," QUANTIZE "," VAR("w") "," FUSED(QUANTIZED, PART, TANH_LAYERS), "0,2", "[3,0,0]"),
        INTEGER_DENSE("[0,0,0],[1,0,0],[2,0,0]"),
        INTEGER_DENSE_TO(",\"min_calib_range\":\"0\",\"max_calib_range\":\"2\"", "[0,0,0],[1,0,0],[2,0,0]"),
        INTEGER_DENSE_TO("", "[0,0,0],[1,0,0],[2,0,0]"),
        GRAPH(VAR("x") "," TENSORRT("[0,0,0]", VAR("x0") "," VAR("w") "," FC("fc", "[0,0,0],[1,0,0]", "8"), "[2,0,0]"),
              "0", "[1,0,0]"),
    };
    (void)state;
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++) {
        mxc_status status = MXC_ENOMEM;
        mxc_symbol *symbol = parse(graphs[i]);
        char *expected, *found;
        assert_ok(mxc_symbol_to_json(symbol, &expected));
        mxc_symbol_release(symbol);
        for (int64_t at = 1; status != MXC_OK; at++) {
            int64_t live = mxci_alloc_live();
            mxci_test_fail_alloc(at, 0);
            status = mxc_symbol_from_json(graphs[i], strlen(graphs[i]), &symbol);
            mxci_test_fail_alloc(0, 0);
            if (status != MXC_OK && status != MXC_ENOMEM)
                fail_msg("graph %zu, allocation %lld: %s", i, (long long)at, mxc_last_error());
            if (status == MXC_OK) {
                assert_ok(mxc_symbol_to_json(symbol, &found));
                assert_string_equal(found, expected);
                mxci_free(found);
            }
            mxc_symbol_release(symbol);
            if (mxci_alloc_live() != live)
                fail_msg("graph %zu, allocation %lld: %lld blocks are left", i, (long long)at,
                         (long long)(mxci_alloc_live() - live));
        }
        mxci_free(expected);
    }
}

/* All its shapes follow from data's. */
static void test_mobilenet(void **state) {
    const char *name = "data";
    mxc_shape shape = {.ndim = 4, .dim = {1, 3, 224, 224}};
    mxc_dtype type = MXC_F32;
    mxc_inferred inferred;
    mxc_symbol *symbol;
    test_path path;
    (void)state;
    if (!test_data(path, "graphs/mobilenet1.0_int8-symbol.json"))
        skip();
    assert_ok(mxc_symbol_load(path, &symbol));
    assert_ok(mxc_symbol_infer(symbol, 1, &name, &shape, &type, &inferred));
    assert_true(inferred.complete);
    assert_true(inferred.output_shapes[0].ndim == 2 && inferred.output_shapes[0].dim[1] == 1000);
    mxc_inferred_release(&inferred);
    mxc_symbol_release(symbol);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_float),
        cmocka_unit_test(test_quantized),
        cmocka_unit_test(test_sum),
        cmocka_unit_test(test_uncalibrated),
        cmocka_unit_test(test_layers_of_floats),
        cmocka_unit_test(test_integer_weights),
        cmocka_unit_test(test_attention),
        cmocka_unit_test(test_tensorrt),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_mobilenet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
