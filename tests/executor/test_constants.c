/* SPDX-License-Identifier: Apache-2.0 */
/* Constant arguments and states: which nodes the pass takes out of the runs, on small graphs; and executors bound with
 * them: the same results, computed once, shared by reshape, not used by training runs and monitors. */
#include <stdatomic.h>

#include "executor/graphs.h"

#include <mxc/autograd.h>

#include "base/sys.h"

enum { SIDE = 4, SIZE = SIDE * SIDE, MOST = 64 };

static const uint8_t none[MOST];
static uint8_t all[MOST]; /* ones */

/* ---- an operator that counts its runs ---------------------------------------------------------------------------- */

static atomic_int runs, fails, trains;

static mxc_status count_forward(const mxc_op_call *call) {
    const float *x = call->in[0].data;
    float *y = call->out[0].data;
    atomic_fetch_add(&runs, 1);
    atomic_fetch_or(&trains, call->is_train);
    if (atomic_load(&fails))
        return MXC_FAIL(MXC_EINVAL, "counted: fails on purpose");
    for (int64_t i = 0; i < mxc_shape_size(&call->in[0].shape); i++)
        y[i] = 2 * x[i];
    return MXC_OK;
}

static const mxc_op_def counted = {
    .size = sizeof(mxc_op_def),
    .name = "counted",
    .doc = "y = 2 x",
    .flags = MXC_OP_ELEMENTWISE | MXC_OP_ZERO_GRADIENT,
    .dtypes = 1u << MXC_F32,
    .forward = MXC_ON_CPU(count_forward),
};

static int set_up(void **state) {
    (void)state;
    memset(all, 1, sizeof all);
    assert_ok(mxc_op_register(&counted));
    return 0;
}

/* How often the operator has run since the last question. */
static int count_runs(void) {
    mxc_engine *engine;
    assert_ok(mxc_engine_default(&engine));
    assert_ok(mxc_wait_all(engine));
    return atomic_exchange(&runs, 0);
}

/* ---- the pass ---------------------------------------------------------------------------------------------------- */

static void constants(mxci_program *p, const uint8_t *constant_aux, int folds) {
    const uint8_t constant_args[] = {0, 1, 1, 1, 1, 1, 1, 1};
    mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
    options.constant_args = constant_args;
    options.constant_aux = constant_aux;
    if (folds)
        assert_ok(mxci_pass_fold_batch_norm(p->graph, &options, &p->is_folded));
    assert_ok(mxci_pass_constants(p, &options));
}

static mxci_program *program(mxc_symbol *symbol) {
    const mxc_shape shape = net_shape(4, 2, SIDE, SIDE, SIDE);
    return graph_program(symbol, &shape, MXC_F32, mxc_cpu(0));
}

/* The graph of a symbol, which is released, with all arguments but the first, data, constant; states as given. */
static mxci_program *run_pass(mxc_symbol *symbol, const uint8_t *constant_aux, int folds) {
    mxci_program *p = program(symbol);
    constants(p, constant_aux, folds);
    return p;
}

static void check_pass(mxc_symbol *symbol, const uint8_t *constant_aux, int folds, int n, const char *text) {
    mxci_program *p = run_pass(symbol, constant_aux, folds);
    assert_int_equal(p->n_constants, n);
    assert_output(p, text);
    mxci_program_destroy(p);
}

static mxc_symbol *weight(const char *name, const char *op, const char *params) {
    return net_on(op, name, params, net_variable("w"));
}

static mxc_symbol *ones(const char *name) {
    const char *key = "shape", *value = "(4,4)";
    mxc_symbol *s;
    assert_ok(mxc_symbol_op("_ones", name, 1, &key, &value, 0, NULL, NULL, &s));
    return s;
}

static void test_maximal_sets(void **state) {
    (void)state;
    check_pass(net_on2("broadcast_add", "sum", "", net_variable("data"), weight("t", "counted", "")), none, 0, 1,
               "broadcast_add(data,t)");
    check_pass(net_on2("broadcast_add", "sum", "", net_variable("data"),
                       net_on("counted", "u", "",
                              net_on2("elemwise_add", "v", "", weight("t", "counted", ""), net_variable("x")))),
               none, 0, 1, "broadcast_add(data,u)");
    /* read as it is */
    check_pass(net_on2("broadcast_add", "sum", "", net_variable("data"), net_variable("w")), none, 0, 0,
               "broadcast_add(data,w)");
    /* depends on data */
    check_pass(net_on2("broadcast_add", "sum", "", net_on("counted", "t", "", net_variable("data")), net_variable("w")),
               none, 0, 0, "broadcast_add(counted(data),w)");
}

/* The constant that two nodes read is one; of two outputs each is one. */
static void test_several_readers(void **state) {
    mxc_symbol *shared = weight("t", "counted", ""), *split, *left, *right;
    (void)state;
    check_pass(net_on2("broadcast_add", "b", "",
                       net_on2("broadcast_mul", "a", "", net_variable("data"), mxc_symbol_retain(shared)), shared),
               none, 0, 1, "broadcast_add(broadcast_mul(data,t),t)");
    split = net_on("SliceChannel", "s", "num_outputs=2 axis=0", net_variable("w"));
    assert_ok(mxc_symbol_output(split, 0, &left));
    assert_ok(mxc_symbol_output(split, 1, &right));
    mxc_symbol_release(split);
    check_pass(net_on2("broadcast_add", "b", "", net_on2("broadcast_mul", "a", "", net_variable("data"), left), right),
               none, 0, 2, "broadcast_add(broadcast_mul(data,s),s)");
}

/* Zeros and what is made of them alone follow from no constant; with one they do. */
static void test_sources(void **state) {
    (void)state;
    check_pass(net_on2("broadcast_add", "sum", "", net_variable("data"), net_on("counted", "t", "", ones("ones"))),
               none, 0, 0, "broadcast_add(data,counted(_ones()))");
    check_pass(net_on2("broadcast_add", "sum", "", net_variable("data"),
                       net_on2("broadcast_add", "t", "", net_variable("w"), ones("ones"))),
               none, 0, 1, "broadcast_add(data,t)");
}

/* Random numbers, outputs, and operators on another context run each time. */
static void test_refused_nodes(void **state) {
    mxc_symbol *made = weight("t", "counted", ""), *pair[2], *group;
    mxci_program *p;
    (void)state;
    check_pass(net_on2("broadcast_add", "sum", "", net_variable("data"), weight("drop", "Dropout", "mode=always")),
               none, 0, 0, "broadcast_add(data,Dropout(w))");
    pair[1] = weight("v", "counted", "");
    pair[0] = net_on2("broadcast_add", "sum", "", net_variable("data"), net_on("counted", "u", "", made));
    pair[0] = net_on2("broadcast_add", "end", "", pair[0], mxc_symbol_retain(pair[1]));
    assert_ok(mxc_symbol_group(2, pair, &group));
    mxc_symbol_release(pair[0]);
    mxc_symbol_release(pair[1]);
    p = run_pass(group, none, 0);
    assert_int_equal(p->n_constants, 1);
    assert_entry(p->graph, p->graph->outputs[0], "broadcast_add(broadcast_add(data,u),counted(w))");
    assert_entry(p->graph, p->graph->outputs[1], "counted(w)");
    mxci_program_destroy(p);
    p = program(net_on2("broadcast_add", "sum", "", net_variable("data"), weight("t", "counted", "")));
    p->graph->nodes[graph_find(p->graph, "t")].context = mxc_cpu(1);
    constants(p, none, 0);
    assert_int_equal(p->n_constants, 0);
    mxci_program_destroy(p);
}

static mxc_symbol *norm(void) {
    return net_on("BatchNorm", "bn", "fix_gamma=False",
                  net_on("Convolution", "conv", "kernel=(4,4) num_filter=8", net_variable("data")));
}

/* With constants also a large weight is folded into; not if a state may change. */
static void test_folding(void **state) {
    static const uint8_t mean_only[] = {1, 0};
    (void)state;
    check_pass(norm(), all, 1, 2, "Convolution(data,bn_fold,bn_fold)");
    check_pass(norm(), mean_only, 1, 0,
               "BatchNorm(Convolution(data,conv_weight,conv_bias),bn_gamma,bn_beta,bn_moving_mean,bn_moving_var)");
    check_pass(norm(), all, 0, 0,
               "BatchNorm(Convolution(data,conv_weight,conv_bias),bn_gamma,bn_beta,bn_moving_mean,bn_moving_var)");
}

/* States that an operator has as its own are not constant for others either: the folded norm follows them. */
static void test_shared_states(void **state) {
    static const char *const names[] = {"gamma", "beta", "mean", "var"};
    mxc_symbol *folded[5], *other[5], *norms[2];
    mxci_program *p;
    (void)state;
    folded[0] = net_on("Convolution", "conv", "kernel=(1,1) num_filter=4 no_bias=True", net_variable("data"));
    other[0] = net_on("relu", "relu", "", mxc_symbol_retain(folded[0]));
    for (int i = 1; i < 5; i++) {
        folded[i] = net_variable(names[i - 1]);
        other[i] = mxc_symbol_retain(folded[i]);
    }
    folded[0] = net_on("Convolution", "last", "kernel=(1,1) num_filter=4 no_bias=True", folded[0]);
    for (int i = 0; i < 2; i++) {
        mxc_symbol **in = i ? other : folded;
        assert_ok(mxc_symbol_op("BatchNorm", i ? "b" : "a", 0, NULL, NULL, 5, NULL, in, &norms[i]));
        for (int j = 0; j < 5; j++)
            mxc_symbol_release(in[j]);
    }
    p = run_pass(net_on2("elemwise_add", "sum", "", norms[0], norms[1]), all, 1);
    assert_int_equal(p->n_constants, 0);
    assert_output(p,
                  "elemwise_add(Convolution(Convolution(data,conv_weight),_fold_norm(last_weight,gamma,beta,mean,var),"
                  "_fold_norm(last_weight,gamma,beta,mean,var).1),BatchNorm(relu(Convolution(data,conv_weight)),gamma,"
                  "beta,mean,var))");
    mxci_program_destroy(p);
}

/* ---- executors --------------------------------------------------------------------------------------------------- */

/* An executor of the symbol with data, and arrays of other arguments, which are constant, by their order. */
typedef struct net {
    mxc_symbol *symbol;
    mxc_ndarray *args[MOST], *aux[MOST];
    uint8_t constant[MOST];
} net;

/* Takes the symbol; data has so many rows, and w, x and y have SIDE. The values are small whole numbers. */
static net make_net(mxc_symbol *symbol, int64_t rows) {
    static const char *const known[] = {"data", "w", "x", "y"};
    const char *names[4];
    mxc_shape shapes[4];
    net n = {.symbol = symbol};
    mxc_names args;
    mxc_executor *e;
    int n_known = 0;
    assert_ok(mxc_symbol_list_arguments(symbol, &args));
    for (int i = 0; i < 4; i++)
        if (mxc_names_find(&args, known[i]) >= 0) {
            shapes[n_known] = net_shape(2, i ? SIDE : rows, SIDE, 0, 0);
            names[n_known++] = known[i];
        }
    mxc_names_release(&args);
    assert_ok(mxc_executor_simple_bind(symbol, NULL, NET_SPEC(.n = n_known, .names = names, .shapes = shapes), &e));
    for (int64_t i = 0; i < mxc_executor_arg_names(e)->n; i++) {
        n.args[i] = mxc_ndarray_retain(mxc_executor_arg(e, i));
        n.constant[i] = strcmp(mxc_executor_arg_names(e)->items[i], "data") != 0;
        net_fill(n.args[i], 5 + (uint64_t)i, -3, 4);
    }
    for (int64_t i = 0; i < mxc_executor_aux_names(e)->n; i++) {
        n.aux[i] = mxc_ndarray_retain(mxc_executor_aux(e, i));
        net_fill(n.aux[i], 17 + (uint64_t)i, 1, 2);
    }
    mxc_executor_destroy(e);
    return n;
}

static void free_net(net *n) {
    for (size_t i = 0; i < sizeof n->args / sizeof *n->args; i++)
        mxc_ndarray_release(n->args[i]);
    for (size_t i = 0; i < sizeof n->aux / sizeof *n->aux; i++)
        mxc_ndarray_release(n->aux[i]);
    mxc_symbol_release(n->symbol);
}

static mxc_status try_bind(const net *n, int is_constant, mxc_executor **out) {
    mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
    if (is_constant) {
        options.constant_args = n->constant;
        options.constant_aux = all;
    }
    return mxc_executor_bind(n->symbol, &options, n->args, NULL, NULL, n->aux, out);
}

static mxc_executor *bind(const net *n, int is_constant) {
    mxc_executor *e;
    assert_ok(try_bind(n, is_constant, &e));
    return e;
}

/* FullyConnected(data, counted(w)) */
static mxc_symbol *counted_layer(void) {
    return net_on2("FullyConnected", "fc", "num_hidden=4 no_bias=True", net_variable("data"),
                   weight("t", "counted", ""));
}

static void assert_same_run(mxc_executor *a, mxc_executor *b) {
    assert_ok(mxc_executor_forward(a, 0));
    assert_ok(mxc_executor_forward(b, 0));
    for (int64_t i = 0; mxc_executor_output(a, i); i++)
        assert_same_bits(mxc_executor_output(a, i), mxc_executor_output(b, i));
}

static void test_once(void **state) {
    net n = make_net(counted_layer(), 3);
    mxc_executor *constant, *plain;
    (void)state;
    assert_int_equal(count_runs(), 0);
    constant = bind(&n, 1);
    assert_int_equal(count_runs(), 1);
    for (int run = 0; run < 3; run++)
        assert_ok(mxc_executor_forward(constant, 0));
    assert_int_equal(count_runs(), 0);
    plain = bind(&n, 0);
    for (int run = 0; run < 3; run++)
        assert_same_run(constant, plain);
    assert_int_equal(count_runs(), 3);
    net_fill(n.args[1], 99, -1, 1); /* too late for one */
    assert_ok(mxc_executor_forward(constant, 0));
    assert_int_equal(count_runs(), 0);
    mxc_executor_destroy(constant);
    constant = bind(&n, 1);
    assert_same_run(constant, plain);
    mxc_executor_destroy(constant);
    mxc_executor_destroy(plain);
    free_net(&n);
    count_runs();
}

/* A graph that is exponential as a text is not so in time and memory; equal results are kept once. */
static void test_shared_nodes(void **state) {
    mxc_symbol *w = net_variable("w"), *sum = net_on("counted", "t", "", mxc_symbol_retain(w));
    mxc_symbol *other = net_on("counted", "u", "", w);
    mxc_executor *constant, *plain;
    char name[16];
    net n;
    (void)state;
    for (int i = 0; i < 60; i++) {
        snprintf(name, sizeof name, "half%d", i);
        sum = net_on2("elemwise_add", name, "", sum, mxc_symbol_retain(sum));
        sum = net_on("_mul_scalar", strcat(name, "s"), "scalar=0.5", sum);
    }
    n = make_net(net_on2("FullyConnected", "fc", "num_hidden=4 no_bias=True",
                         net_on2("FullyConnected", "fc0", "num_hidden=4 no_bias=True", net_variable("data"), sum),
                         other),
                 3);
    constant = bind(&n, 1);
    assert_int_equal(count_runs(), 2);
    plain = bind(&n, 0);
    assert_same_run(constant, plain);
    assert_int_equal(count_runs(), 2);
    mxc_executor_destroy(constant);
    mxc_executor_destroy(plain);
    free_net(&n);
}

/* ---- training runs, monitors, steps ------------------------------------------------------------------------------ */

static void see(const char *name, mxc_ndarray *array, void *user) {
    (void)array;
    *(int *)user += strcmp(name, "t_output") == 0;
}

/* They run the symbol's own nodes, with the values that the arguments have then. */
static void test_unoptimized(void **state) {
    net n = make_net(counted_layer(), 3);
    (void)state;
    for (int way = 0; way < 3; way++) {
        mxc_executor *constant = bind(&n, 1), *plain = bind(&n, 0);
        int seen = 0;
        int64_t left;
        net_fill(n.args[1], 31 + (uint64_t)way, -3, 4);
        assert_int_equal(count_runs(), 1);
        if (way == 0)
            assert_ok(mxc_executor_forward(constant, 1));
        if (way == 1) {
            assert_ok(mxc_executor_set_monitor(constant, see, &seen));
            assert_ok(mxc_executor_forward(constant, 0));
        }
        if (way == 2) {
            assert_ok(mxc_executor_partial_forward(constant, 0, 0, &left));
            assert_int_equal(left, 1);
            assert_ok(mxc_executor_partial_forward(constant, 0, 1, &left));
        }
        assert_int_equal(count_runs(), 1);
        assert_int_equal(seen, way == 1);
        assert_ok(mxc_executor_forward(plain, 0));
        assert_same_bits(mxc_executor_output(constant, 0), mxc_executor_output(plain, 0));
        mxc_executor_destroy(constant);
        mxc_executor_destroy(plain);
        count_runs();
    }
    free_net(&n);
}

/* Executors with gradients take no notice. Binding is inference, also where the thread trains, and is not recorded. */
static void test_gradients(void **state) {
    net n = make_net(net_on2("elemwise_mul", "y", "", net_variable("data"), weight("t", "counted", "")), SIDE);
    mxc_ndarray *grads[MOST] = {NULL};
    mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
    mxc_memory_report report;
    mxc_executor *e;
    int scope;
    (void)state;
    options.constant_args = n.constant;
    assert_ok(mxc_ndarray_copy(n.args[1], mxc_cpu(0), MXC_F32, &grads[1]));
    assert_ok(mxc_executor_bind(n.symbol, &options, n.args, grads, NULL, NULL, &e));
    assert_ok(mxc_executor_get_report(e, &report));
    assert_int_equal(report.constants, 0);
    mxc_executor_destroy(e);
    assert_ok(mxc_autograd_attach(n.args[1], MXC_REQ_WRITE, NULL));
    scope = mxc_autograd_record(1);
    atomic_store(&trains, 0);
    e = bind(&n, 1);
    assert_int_equal(count_runs(), 1);
    assert_int_equal(atomic_load(&trains), 0);
    assert_true(mxc_autograd_is_recording() && mxc_autograd_is_training());
    mxc_autograd_leave(scope);
    assert_ok(mxc_executor_get_report(e, &report));
    assert_int_equal(report.constants, SIZE * (int)sizeof(float));
    assert_ok(mxc_executor_forward(e, 0));
    mxc_executor_destroy(e);
    mxc_ndarray_release(grads[1]);
    free_net(&n);
}

/* ---- reshape ----------------------------------------------------------------------------------------------------- */

static void test_reshape(void **state) {
    static const char *const names[] = {"data", "w"};
    mxc_shape shapes[] = {net_shape(2, 2, SIDE, 0, 0), net_shape(2, SIDE, SIDE, 0, 0)};
    net n = make_net(counted_layer(), 3);
    mxc_executor *e = bind(&n, 1), *small, *again, *narrow, *plain;
    (void)state;
    assert_int_equal(count_runs(), 1);
    assert_ok(mxc_executor_reshape(e, 0, 0, 1, names, shapes, &small));
    mxc_executor_destroy(e);
    shapes[0].dim[0] = 3;
    assert_ok(mxc_executor_reshape(small, 0, 1, 1, names, shapes, &again));
    assert_int_equal(count_runs(), 0);
    plain = bind(&n, 0);
    net_fill(mxc_executor_arg(again, 0), 5, -3, 4); /* data has grown into a new array */
    assert_same_run(again, plain);
    assert_int_equal(count_runs(), 1);
    shapes[0].dim[1] = shapes[1].dim[1] = 2; /* of an argument that changes, the new values count, which come later */
    assert_ok(mxc_executor_reshape(small, 0, 1, 2, names, shapes, &narrow));
    assert_int_equal(count_runs(), 0);
    assert_ok(mxc_executor_forward(narrow, 0));
    assert_int_equal(count_runs(), 1);
    mxc_executor_destroy(small);
    mxc_executor_destroy(again);
    mxc_executor_destroy(narrow);
    mxc_executor_destroy(plain);
    free_net(&n);
}

/* ---- errors and memory ------------------------------------------------------------------------------------------- */

/* A constant that fails is an error of binding, and computed again by the next. */
static void test_failing_operator(void **state) {
    net n = make_net(counted_layer(), 3);
    mxc_executor *e, *other;
    mxc_engine *engine;
    static const char *const names[] = {"data"};
    const mxc_shape shape = net_shape(2, 3, SIDE, 0, 0);
    mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
    (void)state;
    atomic_store(&fails, 1);
    assert_fails(try_bind(&n, 1, &e), MXC_EINVAL, "fails on purpose");
    assert_null(e);
    assert_ok(mxc_engine_default(&engine));
    MXC_IGNORE(mxc_wait_all(engine)); /* reports it as well */
    atomic_store(&fails, 0);
    e = bind(&n, 1);
    assert_ok(mxc_executor_reshape(e, 0, 0, 1, names, &shape, &other));
    assert_int_equal(count_runs(), 2);
    mxc_executor_destroy(e);
    mxc_executor_destroy(other);
    options.constant_aux = all;
    assert_fails(mxc_executor_simple_bind(n.symbol, &options, NET_SPEC(.n = 1, .names = names, .shapes = &shape), &e),
                 MXC_EINVAL, "constant_args");
    free_net(&n);
}

/* The plan counts constants as the executor does. */
static void test_report(void **state) {
    static const char *const names[] = {"data"};
    const mxc_shape shape = net_shape(2, 3, SIDE, 0, 0);
    net n = make_net(counted_layer(), 3);
    mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
    mxc_executor *e = bind(&n, 1);
    mxc_memory_report bound, planned;
    char *text;
    (void)state;
    options.constant_args = n.constant;
    assert_ok(mxc_executor_plan(n.symbol, &options, NET_SPEC(.n = 1, .names = names, .shapes = &shape), &planned));
    assert_ok(mxc_executor_get_report(e, &bound));
    assert_int_equal(bound.constants, SIZE * (int)sizeof(float));
    assert_memory_equal(&bound, &planned, sizeof bound);
    assert_ok(mxc_executor_print(e, &text));
    assert_non_null(strstr(text, "constant 0: counted t, output 0: (4,4) float32"));
    mxc_free(text);
    mxc_executor_destroy(e);
    free_net(&n);
    count_runs();
}

static mxc_status live_a_life(const net *n) {
    static const char *const names[] = {"data"};
    const mxc_shape shape = net_shape(2, 2, SIDE, 0, 0);
    mxc_executor *e = NULL, *small = NULL;
    mxc_status status = try_bind(n, 1, &e);
    if (status == MXC_OK)
        status = mxc_executor_reshape(e, 0, 0, 1, names, &shape, &small);
    if (status == MXC_OK)
        status = mxc_executor_forward(small, 0);
    if (status == MXC_OK)
        status = mxc_ndarray_wait_to_read(mxc_executor_output(small, 0));
    if (small)
        MXC_IGNORE(mxc_ndarray_wait_to_write(mxc_executor_output(small, 0)));
    mxc_executor_destroy(e);
    mxc_executor_destroy(small);
    count_runs();
    return status;
}

static void test_out_of_memory(void **state) {
    mxc_symbol *both[2] = {weight("t", "counted", ""), weight("u", "square", "")};
    net n = make_net(net_on2("BatchNorm", "bn", "",
                             net_on2("FullyConnected", "fc", "num_hidden=4 no_bias=True", net_variable("data"),
                                     net_on2("elemwise_add", "sum", "", both[0], both[1])),
                             net_variable("gamma")),
                     3);
    int64_t count, live, failed = 0;
    (void)state;
    assert_ok(live_a_life(&n));
    count = mxci_alloc_count();
    assert_ok(live_a_life(&n));
    count = mxci_alloc_count() - count;
    live = mxci_alloc_live();
    for (int64_t at = 1; at <= count; at++) {
        mxc_status status;
        mxci_test_fail_alloc(at, 0);
        status = live_a_life(&n);
        mxci_test_fail_alloc(0, 0);
        assert_true(status == MXC_OK || status == MXC_ENOMEM);
        failed += status != MXC_OK;
    }
    assert_true(failed > count / 2);
    assert_ok(live_a_life(&n));
    assert_in_range(mxci_alloc_live(), live - 64, live + 64);
    free_net(&n);
}

/* ---- random graphs ----------------------------------------------------------------------------------------------- */

static int64_t below(uint64_t *seed, int64_t n) {
    return (int64_t)((net_random(seed) + 1) / 2 * (double)n);
}

/* Sums, products and norms of data, four weights and what is made of them, of which one to three are outputs. */
static mxc_symbol *random_graph(uint64_t seed) {
    static const char *const variables[] = {"data", "w", "x", "y"};
    mxc_symbol *made[25], *outputs[3], *group;
    int n = 0, size = 6 + (int)below(&seed, 18), n_outputs = 1 + (int)below(&seed, 3);
    for (; n < 4; n++)
        made[n] = net_variable(variables[n]);
    for (; n < size; n++) {
        mxc_symbol *a = mxc_symbol_retain(made[below(&seed, n)]), *b = mxc_symbol_retain(made[below(&seed, n)]);
        char name[16];
        snprintf(name, sizeof name, "n%d", n);
        switch (below(&seed, 6)) {
        case 0:
            made[n] = net_on("BatchNorm", name, "fix_gamma=False",
                             net_on2("FullyConnected", strcat(name, "f"), "num_hidden=4 no_bias=True", a, b));
            break;
        case 1:
            mxc_symbol_release(b);
            made[n] = net_on("counted", name, "", a);
            break;
        case 2:
            mxc_symbol_release(b);
            made[n] = net_on2("elemwise_add", name, "", a, ones(strcat(name, "o")));
            break;
        default:
            made[n] = net_on2("elemwise_add", name, "", a, b);
            break;
        }
    }
    made[n] = net_on2("elemwise_add", "last", "", mxc_symbol_retain(made[0]), mxc_symbol_retain(made[n - 1]));
    n++;
    for (int i = 0; i < n_outputs; i++)
        outputs[i] = made[i ? 4 + below(&seed, n - 4) : n - 1];
    assert_ok(mxc_symbol_group(n_outputs, outputs, &group));
    for (int i = 0; i < n; i++)
        mxc_symbol_release(made[i]);
    return group;
}

/* Whatever is constant, and however the executor is reshaped, results are the same bits. */
static void test_random_graphs(void **state) {
    static const char *const names[] = {"data"};
    const mxc_shape shape = net_shape(2, SIDE, SIDE, 0, 0);
    int64_t n_constants = 0;
    (void)state;
    for (int round = 0; round < TEST_SCALE(200); round++) {
        uint64_t seed = (uint64_t)round * 91 + 5;
        net n = make_net(random_graph(seed), SIDE);
        mxc_memory_report report;
        mxc_executor *constant, *other, *plain;
        for (int i = 0; i < MOST; i++)
            n.constant[i] = n.constant[i] && below(&seed, 4);
        constant = bind(&n, 1);
        plain = bind(&n, 0);
        assert_ok(mxc_executor_get_report(constant, &report));
        n_constants += report.constants / (SIZE * (int64_t)sizeof(float));
        assert_same_run(constant, plain);
        assert_same_run(constant, plain);
        assert_ok(mxc_executor_reshape(constant, 0, 0, 1, names, &shape, &other));
        mxc_executor_destroy(constant);
        assert_same_run(other, plain);
        mxc_executor_destroy(other);
        mxc_executor_destroy(plain);
        free_net(&n);
    }
    assert_true(n_constants > TEST_SCALE(200) / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_maximal_sets),  cmocka_unit_test(test_several_readers),
        cmocka_unit_test(test_sources),       cmocka_unit_test(test_refused_nodes),
        cmocka_unit_test(test_folding),       cmocka_unit_test(test_shared_states),
        cmocka_unit_test(test_once),          cmocka_unit_test(test_shared_nodes),
        cmocka_unit_test(test_unoptimized),   cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_reshape),       cmocka_unit_test(test_failing_operator),
        cmocka_unit_test(test_report),        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_random_graphs),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
