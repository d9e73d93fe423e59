/* SPDX-License-Identifier: Apache-2.0 */
/* The pack pass: convolutions channels last whose weights are packed, and what they take over of the nodes behind them.
 */
#include "executor/graphs.h"

#include <math.h>

static mxc_symbol *conv(const char *name, mxc_symbol *in) {
    return net_on("Convolution", name, "kernel=(3,3) pad=(1,1) num_filter=8 layout=NHWC", in);
}

static mxci_program *run(mxc_symbol *symbol, mxc_dtype type, mxc_context context) {
    mxc_shape shape = net_shape(4, 2, 6, 6, 8);
    mxci_program *p = graph_program(symbol, &shape, type, context);
    int is_changed = 0;
    assert_ok(mxci_pass_pack(p->graph, &is_changed));
    p->n_symbol_nodes = p->graph->n_nodes;
    p->is_folded = is_changed;
    assert_ok(mxci_pass_epilogue(p));
    return p;
}

static void expect(mxc_symbol *symbol, const char *text) {
    mxci_program *p = run(symbol, MXC_F32, mxc_cpu(0));
    assert_output(p, text);
    assert_int_equal(p->is_folded, strstr(text, "_pack") != NULL);
    mxci_program_destroy(p);
}

#define PACKED(data, name) "_packed_convolution(" data ",_pack_convolution(" name "_weight)," name "_bias)"
#define PACKED_ADD(data, name, addend) \
    "_packed_convolution_add(" data ",_pack_convolution(" name "_weight)," name "_bias," addend ")"

static void test_convolution(void **state) {
    (void)state;
    expect(conv("c", net_variable("data")), PACKED("data", "c"));
    expect(net_on("relu", "r", "", conv("c", net_variable("data"))), PACKED("data", "c"));
    expect(net_on("clip", "r", "a_min=0 a_max=6", conv("c", net_variable("data"))), PACKED("data", "c"));
    expect(net_on("LeakyReLU", "r", "act_type=leaky slope=0.1", conv("c", net_variable("data"))), PACKED("data", "c"));
}

/* What is no epilogue: another function, a limit below, and what comes behind a rectifier. */
static void test_others_stay(void **state) {
    (void)state;
    expect(net_on("tanh", "r", "", conv("c", net_variable("data"))), "tanh(" PACKED("data", "c") ")");
    expect(net_on("clip", "r", "a_min=-1 a_max=6", conv("c", net_variable("data"))), "clip(" PACKED("data", "c") ")");
    expect(net_on("relu", "s", "", net_on("relu", "r", "", conv("c", net_variable("data")))),
           "relu(" PACKED("data", "c") ")");
    expect(net_on("Convolution", "c", "kernel=(3,3) num_filter=8", net_variable("data")),
           "Convolution(data,c_weight,c_bias)");
}

/* The shortcut of a residual block is added by the convolution that runs last, which also rectifies. */
static void test_residual(void **state) {
    mxc_symbol *data = net_variable("data"), *a = conv("a", mxc_symbol_retain(data)), *b = conv("b", data);
    (void)state;
    expect(net_on("relu", "r", "", net_on2("elemwise_add", "sum", "", a, b)),
           PACKED_ADD("data", "b", PACKED("data", "a")));
}

/* float64 and other devices are left alone. */
static void test_elsewhere(void **state) {
    mxci_program *p = run(conv("c", net_variable("data")), MXC_F64, mxc_cpu(0));
    (void)state;
    assert_output(p, "Convolution(data,c_weight,c_bias)");
    mxci_program_destroy(p);
    p = run(conv("c", net_variable("data")), MXC_F32, (mxc_context){MXC_GPU, 0});
    assert_output(p, "Convolution(data,c_weight,c_bias)");
    mxci_program_destroy(p);
}

/* ---- executors --------------------------------------------------------------------------------------------------- */

/* A residual block with all that the pass changes; channels second, so that the channels-last pass comes first. */
static mxc_symbol *block(void) {
    mxc_symbol *data = net_variable("data");
    mxc_symbol *a =
        net_on("Convolution", "a", "kernel=(3,3) pad=(1,1) num_filter=20 no_bias=1", mxc_symbol_retain(data));
    mxc_symbol *b = net_on("relu", "r", "", net_on("BatchNorm", "bn", "fix_gamma=0", a));
    mxc_symbol *c = net_on("Convolution", "b", "kernel=(3,3) pad=(1,1) num_filter=20 num_group=20", b);
    mxc_symbol *d = net_on("clip", "r6", "a_min=0 a_max=6", c);
    mxc_symbol *e = net_on("Convolution", "c", "kernel=(1,1) num_filter=20", d);
    mxc_symbol *f = net_on("Convolution", "d", "kernel=(1,1) num_filter=20", data);
    mxc_symbol *g = net_on("relu", "out", "", net_on2("elemwise_add", "sum", "", e, f));
    mxc_symbol *pool = net_on("Pooling", "pool", "kernel=(2,2) stride=(2,2) pool_type=avg", g);
    return net_on("SoftmaxOutput", "softmax", "", net_on("Flatten", "flat", "", pool));
}

/* With gradients it packs nothing. */
static mxc_executor *bind(int train) {
    mxc_shape shape = net_shape(4, 3, 8, 12, 11);
    mxc_symbol *s = block();
    mxc_executor *e = net_bind(s, NULL, &shape, train);
    net_fill_all(e, 3, 5);
    mxc_symbol_release(s);
    return e;
}

static void assert_outputs_near(mxc_executor *a, mxc_executor *b, int is_train) {
    assert_ok(mxc_executor_forward(a, is_train));
    assert_ok(mxc_executor_forward(b, is_train));
    double *x = net_read(mxc_executor_output(a, 0)), *y = net_read(mxc_executor_output(b, 0));
    for (int64_t i = 0; i < mxc_ndarray_size(mxc_executor_output(a, 0)); i++)
        assert_true(fabs(x[i] - y[i]) <= 1e-4 * (1 + fabs(y[i])));
    free(x);
    free(y);
}

static void test_executor(void **state) {
    mxc_executor *packed = bind(0), *plain = bind(1);
    (void)state;
    assert_outputs_near(packed, plain, 0);
    net_fill_all(packed, 9, 5); /* other parameters are packed anew */
    net_fill_all(plain, 9, 5);
    assert_outputs_near(packed, plain, 0);
    assert_outputs_near(packed, plain, 1); /* lowers the symbol again */
    mxc_executor_destroy(packed);
    mxc_executor_destroy(plain);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_convolution), cmocka_unit_test(test_others_stay), cmocka_unit_test(test_residual),
        cmocka_unit_test(test_elsewhere),   cmocka_unit_test(test_executor),
    };
    setenv("MXC_CPU_PACK", "2", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
