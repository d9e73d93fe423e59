/* SPDX-License-Identifier: Apache-2.0 */
/* Control flow: each loop against the same computation written out step by step, forward, backward and as files. With
 * the name of a context, all but the files there. */
#include "executor/nets.h"

#include <math.h>

enum { STEPS = 4, ROWS = 2, WIDTH = 3 };

static mxc_context context = {MXC_CPU, 0};

static mxc_status bind_there(mxc_symbol *symbol, const mxc_bind_spec *spec, mxc_executor **out) {
    mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
    options.context = context;
    return mxc_executor_simple_bind(symbol, &options, spec, out);
}

static mxc_symbol *output(mxc_symbol *symbol, int64_t i) {
    mxc_symbol *out;
    assert_ok(mxc_symbol_output(symbol, i, &out));
    return out;
}

static mxc_symbol *group(int n, mxc_symbol **symbols) {
    mxc_symbol *out;
    assert_ok(mxc_symbol_group(n, symbols, &out));
    for (int i = 0; i < n; i++)
        mxc_symbol_release(symbols[i]);
    return out;
}

static void expect_equal(mxc_ndarray *found, mxc_ndarray *expected) {
    double *x = net_read(found), *y = net_read(expected);
    assert_int_equal(mxc_ndarray_size(found), mxc_ndarray_size(expected));
    for (int64_t k = 0; k < mxc_ndarray_size(found); k++)
        assert_float_equal(x[k], y[k], 1e-5);
    free(x);
    free(y);
}

/* Bind both, with the same values and head gradients; compare all, and the outputs in inference, too. Gradients are
 * written to, or added to, what the arrays hold. Arguments are matched by name. */
static void compare_runs(mxc_symbol *const *symbols, const mxc_bind_spec *spec, int n_gradients) {
    mxc_executor *e[2];
    for (int s = 0; s < 2; s++) {
        assert_ok(bind_there(symbols[s], spec, &e[s]));
        const mxc_names *names = mxc_executor_arg_names(e[s]);
        for (int64_t i = 0; i < names->n; i++) {
            net_fill(mxc_executor_arg(e[s], i), (uint64_t)names->items[i][0], -1, 1);
            if (mxc_executor_grad(e[s], i))
                net_fill(mxc_executor_grad(e[s], i), 3 * (uint64_t)names->items[i][0], -1, 1);
        }
    }
    const int64_t n_out = mxc_symbol_n_outputs(symbols[0]);
    mxc_ndarray **heads = calloc((size_t)n_out, sizeof *heads);
    assert_int_equal(n_out, mxc_symbol_n_outputs(symbols[1]));
    for (int is_train = 0; is_train < 2; is_train++) {
        for (int s = 0; s < 2; s++)
            assert_ok(mxc_executor_forward(e[s], is_train));
        for (int64_t i = 0; i < n_out; i++)
            expect_equal(mxc_executor_output(e[0], i), mxc_executor_output(e[1], i));
    }
    for (int64_t i = 0; i < n_out; i++) {
        mxc_ndarray *a = mxc_executor_output(e[0], i);
        assert_ok(mxc_ndarray_copy(a, context, mxc_ndarray_dtype(a), &heads[i]));
        net_fill(heads[i], 77 + (uint64_t)i, -1, 1);
    }
    for (int s = 0; s < 2; s++)
        assert_ok(mxc_executor_backward(e[s], n_out, heads));
    const mxc_names *names = mxc_executor_arg_names(e[0]);
    int compared = 0;
    for (int64_t i = 0; i < names->n; i++) {
        mxc_ndarray *a = mxc_executor_grad(e[0], i), *b = mxc_executor_find_grad(e[1], names->items[i]);
        if (!a || !b) /* what only the other branch reads has none there */
            continue;
        expect_equal(a, b);
        compared++;
    }
    assert_int_equal(compared, n_gradients);
    for (int64_t i = 0; i < n_out; i++)
        mxc_ndarray_release(heads[i]);
    free(heads);
    for (int s = 0; s < 2; s++)
        mxc_executor_destroy(e[s]);
}

/* With gradients of everything but what the spec names: written, added, and written without one of a. Releases the
 * symbols. */
static void expect_same(mxc_symbol *found, mxc_symbol *expected, mxc_bind_spec spec, int n_gradients) {
    static const char *const no_grad[] = {"a"};
    mxc_symbol *symbols[2] = {found, expected};
    spec.size = sizeof spec;
    spec.req = MXC_REQ_WRITE;
    compare_runs(symbols, &spec, n_gradients);
    spec.req = MXC_REQ_ADD;
    compare_runs(symbols, &spec, n_gradients);
    spec.req = MXC_REQ_WRITE;
    spec.n_no_grad = 1;
    spec.no_grad = no_grad;
    compare_runs(symbols, &spec, n_gradients - 1);
    for (int s = 0; s < 2; s++)
        mxc_symbol_release(symbols[s]);
}

/* ---- _foreach ---------------------------------------------------------------------------------------------------- */

/* h = tanh(x W^T + s); the output is 2 h, the new state h. */
static mxc_symbol *cell(mxc_symbol *x, mxc_symbol *s, mxc_symbol *w) {
    mxc_symbol *in[2] = {x, w}, *fc, *h;
    static const char *const keys[] = {"num_hidden", "no_bias"}, *const values[] = {"3", "1"};
    assert_ok(mxc_symbol_op("FullyConnected", NULL, 2, keys, values, 2, NULL, in, &fc));
    mxc_symbol_release(x);
    h = net_on("tanh", NULL, "", net_on2("elemwise_add", NULL, "", fc, s));
    mxc_symbol *both[2] = {net_on("_mul_scalar", NULL, "scalar=2", mxc_symbol_retain(h)), h};
    return group(2, both);
}

static mxc_symbol *make_foreach(mxc_symbol *data, mxc_symbol *state) {
    static const char *const data_names[] = {"row"}, *const state_names[] = {"before"};
    mxc_symbol *w = net_variable("w"), *body = cell(net_variable("row"), net_variable("before"), w), *out;
    assert_ok(mxc_symbol_foreach("loop", body, 1, data_names, &data, 1, state_names, &state, &out));
    mxc_symbol_release(w);
    mxc_symbol_release(body);
    return out;
}

static mxc_symbol *written_out(mxc_symbol *data, mxc_symbol *state) {
    mxc_symbol *rows[STEPS], *w = net_variable("w");
    char params[60];
    for (int t = 0; t < STEPS; t++) {
        snprintf(params, sizeof params, "axis=0 begin=%d end=%d", t, t + 1);
        mxc_symbol *row = net_on("slice_axis", NULL, params, mxc_symbol_retain(data));
        mxc_symbol *both = cell(net_on("Reshape", NULL, "shape=(2,3)", row), state, w);
        rows[t] = net_on("expand_dims", NULL, "axis=0", output(both, 0));
        state = output(both, 1);
        mxc_symbol_release(both);
    }
    mxc_symbol *stacked, *both[2];
    static const char *const keys[] = {"dim", "num_args"}, *const values[] = {"0", "4"};
    assert_ok(mxc_symbol_op("Concat", NULL, 2, keys, values, STEPS, NULL, rows, &stacked));
    for (int t = 0; t < STEPS; t++)
        mxc_symbol_release(rows[t]);
    mxc_symbol_release(w);
    both[0] = stacked;
    both[1] = state;
    return group(2, both);
}

/* by * name: a variable of the same shape, so that what reads it has a gradient to hand on. */
static mxc_symbol *scaled(const char *name, const char *by) {
    return net_on2("elemwise_mul", NULL, "", net_variable(name), net_variable(by));
}

static void test_foreach(void **state) {
    (void)state;
    static const char *const names[] = {"x", "s"};
    const mxc_shape shapes[] = {net_shape(3, STEPS, ROWS, WIDTH, 0), net_shape(2, ROWS, WIDTH, 0, 0)};
    mxc_symbol *data[2] = {scaled("x", "a"), scaled("x", "a")}, *first[2] = {scaled("s", "b"), scaled("s", "b")};
    mxc_symbol *loop = make_foreach(data[0], first[0]), *steps = written_out(data[1], first[1]);
    for (int i = 0; i < 2; i++)
        mxc_symbol_release(data[i]);
    mxc_symbol_release(first[0]);
    expect_same(loop, steps, (mxc_bind_spec){.n = 2, .names = names, .shapes = shapes}, 3);
}

/* No rows: the states come out as they went in, and so do their gradients. */
static void test_foreach_empty(void **state) {
    (void)state;
    static const char *const names[] = {"x", "s"};
    const mxc_shape shapes[] = {net_shape(3, 0, ROWS, WIDTH, 0), net_shape(2, ROWS, WIDTH, 0, 0)};
    mxc_symbol *data = scaled("x", "a"), *first = scaled("s", "b"), *loop = make_foreach(data, first);
    mxc_symbol *states = output(loop, 1);
    mxc_symbol_release(data);
    mxc_symbol_release(loop);
    mxc_executor *e;
    const mxc_bind_spec spec = {.size = sizeof spec, .n = 2, .names = names, .shapes = shapes, .req = MXC_REQ_WRITE};
    assert_ok(bind_there(states, &spec, &e));
    net_fill(mxc_executor_find_arg(e, "s"), 1, -1, 1);
    net_fill(mxc_executor_find_arg(e, "b"), 2, -1, 1);
    assert_ok(mxc_executor_forward(e, 1));
    mxc_ndarray *head = mxc_executor_find_arg(e, "s");
    assert_ok(mxc_executor_backward(e, 1, &head));
    double *s = net_read(head), *b = net_read(mxc_executor_find_arg(e, "b")), *y = net_read(mxc_executor_output(e, 0));
    double *gradient = net_read(mxc_executor_find_grad(e, "b"));
    for (int i = 0; i < ROWS * WIDTH; i++) {
        assert_float_equal(y[i], s[i] * b[i], 1e-6);
        assert_float_equal(gradient[i], s[i] * s[i], 1e-6);
    }
    free(s);
    free(b);
    free(y);
    free(gradient);
    mxc_executor_destroy(e);
    mxc_symbol_release(states);
    mxc_symbol_release(first);
}

/* A _foreach of x, and of s where there are states, which are released. */
static mxc_symbol *loop_of(mxc_symbol *x, mxc_symbol *s, mxc_symbol *body) {
    static const char *const data_names[] = {"row"}, *const state_names[] = {"before"};
    mxc_symbol *out;
    assert_ok(mxc_symbol_foreach("loop", body, 1, data_names, &x, s != NULL, state_names, &s, &out));
    mxc_symbol_release(x);
    mxc_symbol_release(s);
    mxc_symbol_release(body);
    return out;
}

static mxc_executor *bind_of(mxc_symbol *symbol, int n, const char *const *names, const mxc_shape *shapes,
                             const mxc_dtype *types) {
    mxc_executor *e;
    const mxc_bind_spec spec = {
        .size = sizeof spec, .n = n, .names = names, .shapes = shapes, .types = types, .req = MXC_REQ_WRITE};
    assert_ok(bind_there(symbol, &spec, &e));
    mxc_symbol_release(symbol);
    return e;
}

static void expect_values(mxc_ndarray *array, int64_t n, const double *expected) {
    double *found = net_read(array);
    assert_int_equal(mxc_ndarray_size(array), n);
    for (int64_t i = 0; i < n; i++)
        assert_float_equal(found[i], expected[i], 1e-6);
    free(found);
}

static void set_values(mxc_ndarray *array, int64_t n, const float *values) {
    assert_ok(mxc_ndarray_set(array, values, (size_t)n * sizeof *values));
}

/* A new state that is an argument of the body: the row before, with which the differences of rows are computed. */
static void test_foreach_handed_on(void **state) {
    (void)state;
    static const char *const names[] = {"x", "s"};
    const mxc_shape shapes[] = {net_shape(2, 4, 1, 0, 0), net_shape(1, 1, 0, 0, 0)};
    mxc_symbol *row = net_variable("row");
    mxc_symbol *parts[2] = {net_on2("elemwise_sub", NULL, "", mxc_symbol_retain(row), net_variable("before")), row};
    mxc_executor *e = bind_of(loop_of(net_variable("x"), net_variable("s"), group(2, parts)), 2, names, shapes, NULL);
    set_values(mxc_executor_find_arg(e, "x"), 4, (const float[]){1, 4, 9, 16});
    set_values(mxc_executor_find_arg(e, "s"), 1, (const float[]){0});
    for (int run = 0; run < 3; run++) {
        assert_ok(mxc_executor_forward(e, run == 1));
        expect_values(mxc_executor_output(e, 0), 4, (const double[]){1, 3, 5, 7});
        expect_values(mxc_executor_output(e, 1), 1, (const double[]){16});
    }
    mxc_executor_destroy(e);
}

/* The gradients of integers are zeros, also where the memory held others: data, state and what all steps read. */
static void test_foreach_integers(void **state) {
    (void)state;
    static const char *const names[] = {"x", "s", "w"}, *const others[] = {"a", "b", "c"};
    const mxc_shape shapes[] = {net_shape(2, 8, 32, 0, 0), net_shape(1, 32, 0, 0, 0), net_shape(1, 32, 0, 0, 0)};
    const double zeros[8 * 32] = {0};
    static const char *const data_names[] = {"row"}, *const state_names[] = {"before"}, *const key[] = {"all"};
    mxc_symbol *before = net_variable("before"), *in[3], *loop;
    for (int i = 0; i < 3; i++)
        in[i] = net_on("Cast", NULL, "dtype=int32", scaled(names[i], others[i]));
    mxc_symbol *sum = net_on2("elemwise_add", NULL, "", net_variable("row"), net_variable("all"));
    sum = net_on2("elemwise_add", NULL, "", sum, mxc_symbol_retain(before));
    mxc_symbol *parts[2] = {net_on("Cast", NULL, "dtype=float32", sum), before}, *body = group(2, parts);
    assert_ok(mxc_symbol_foreach(NULL, body, 1, data_names, &in[0], 1, state_names, &in[1], &loop));
    assert_ok(mxc_symbol_compose(loop, NULL, 1, key, &in[2]));
    mxc_symbol_release(body);
    for (int i = 0; i < 3; i++)
        mxc_symbol_release(in[i]);
    mxc_executor *e = bind_of(output(loop, 0), 3, names, shapes, NULL);
    mxc_symbol_release(loop);
    for (int i = 0; i < 3; i++)
        net_fill(mxc_executor_find_arg(e, names[i]), 5, 10, 20);
    for (int i = 0; i < 3; i++)
        net_fill(mxc_executor_find_arg(e, others[i]), 6, 10, 20);
    assert_ok(mxc_executor_forward(e, 1));
    mxc_ndarray *head;
    assert_ok(mxc_ndarray_copy(mxc_executor_output(e, 0), mxc_cpu(0), MXC_F32, &head));
    assert_ok(mxc_executor_backward(e, 1, &head));
    for (int i = 0; i < 3; i++)
        expect_values(mxc_executor_find_grad(e, others[i]), mxc_shape_size(&shapes[i]), zeros);
    mxc_ndarray_release(head);
    mxc_executor_destroy(e);
}

/* An integer state that is computed from floats: out = row + before, the new state the row as integers. */
static void test_foreach_integer_state(void **state) {
    (void)state;
    static const char *const names[] = {"x", "s"};
    const mxc_shape shapes[] = {net_shape(2, 3, 1, 0, 0), net_shape(1, 1, 0, 0, 0)};
    const mxc_dtype types[] = {MXC_F32, MXC_I32};
    mxc_symbol *row = net_variable("row"), *before = net_on("Cast", NULL, "dtype=float32", net_variable("before"));
    mxc_symbol *parts[2] = {net_on2("elemwise_add", NULL, "", mxc_symbol_retain(row), before),
                            net_on("Cast", NULL, "dtype=int32", row)};
    mxc_symbol *loop = loop_of(scaled("x", "a"), net_variable("s"), group(2, parts));
    mxc_executor *e = bind_of(output(loop, 0), 2, names, shapes, types);
    mxc_symbol_release(loop);
    set_values(mxc_executor_find_arg(e, "x"), 3, (const float[]){1, 2, 3});
    assert_ok(mxc_ndarray_fill(mxc_executor_find_arg(e, "a"), 1));
    assert_ok(mxc_ndarray_fill(mxc_executor_find_arg(e, "s"), 5));
    assert_ok(mxc_executor_forward(e, 1));
    expect_values(mxc_executor_output(e, 0), 3, (const double[]){6, 3, 5});
    mxc_ndarray *head = mxc_executor_output(e, 0);
    assert_ok(mxc_executor_backward(e, 1, &head));
    expect_values(mxc_executor_find_grad(e, "a"), 3, (const double[]){6, 6, 15});
    mxc_executor_destroy(e);
}

/* Rows without elements, whose sums are 0, and outputs without elements. */
static void test_foreach_empty_rows(void **state) {
    (void)state;
    static const char *const names[] = {"x"};
    const mxc_shape shape = net_shape(2, 4, 0, 0, 0), many = net_shape(2, (int64_t)1 << 40, 0, 0, 0);
    mxc_symbol *row = net_on("_mul_scalar", NULL, "scalar=2", net_variable("row"));
    mxc_symbol *parts[2] = {net_on("sum", NULL, "", mxc_symbol_retain(row)), row};
    mxc_symbol *loop = loop_of(scaled("x", "a"), NULL, group(2, parts));
    mxc_executor *e;
    e = bind_of(mxc_symbol_retain(loop), 1, names, &shape, NULL);
    assert_ok(mxc_executor_forward(e, 1));
    expect_values(mxc_executor_output(e, 0), 4, (const double[4]){0});
    assert_int_equal(mxc_ndarray_size(mxc_executor_output(e, 1)), 0);
    mxc_ndarray *heads[2] = {mxc_executor_output(e, 0), mxc_executor_output(e, 1)};
    assert_ok(mxc_executor_backward(e, 2, heads));
    mxc_executor_destroy(e);
    mxc_bind_spec spec = {.size = sizeof spec, .n = 1, .names = names, .shapes = &many, .req = MXC_REQ_WRITE};
    assert_int_equal(bind_there(loop, &spec, &e), MXC_EUNSUPPORTED);
    assert_non_null(strstr(mxc_last_error(), "_foreach: data has 1099511627776 rows"));
    mxc_symbol_release(loop);
}

/* Outputs of the body without axes are stacked to (T,). */
static void test_foreach_scalars(void **state) {
    (void)state;
    static const char *const names[] = {"x"};
    const mxc_shape shape = net_shape(2, 2, 3, 0, 0);
    mxc_symbol *row = net_on("BlockGrad", NULL, "", net_variable("row"));
    mxc_symbol *same = net_on2("_contrib_allclose", NULL, "", mxc_symbol_retain(row), row);
    mxc_symbol *body =
        net_on2("elemwise_mul", NULL, "", net_on("Cast", NULL, "dtype=float32", same), net_variable("k"));
    mxc_executor *e = bind_of(loop_of(net_variable("x"), NULL, body), 1, names, &shape, NULL);
    net_fill(mxc_executor_find_arg(e, "x"), 1, -1, 1);
    assert_ok(mxc_ndarray_fill(mxc_executor_find_arg(e, "k"), 3));
    for (int is_train = 0; is_train < 2; is_train++) {
        assert_ok(mxc_executor_forward(e, is_train));
        expect_values(mxc_executor_output(e, 0), 2, (const double[]){3, 3});
    }
    mxc_ndarray *head = mxc_executor_output(e, 0);
    assert_ok(mxc_executor_backward(e, 1, &head));
    expect_values(mxc_executor_find_grad(e, "k"), 1, (const double[]){6});
    mxc_executor_destroy(e);
}

/* ---- _while_loop ------------------------------------------------------------------------------------------------- */

/* Of variables n and v, and a weight, all released: output v w; then n + 1 and tanh(v) + n. */
static mxc_symbol *while_body(mxc_symbol *n, mxc_symbol *v, mxc_symbol *w) {
    mxc_symbol *parts[3];
    parts[0] = net_on2("elemwise_mul", NULL, "", mxc_symbol_retain(v), w);
    parts[1] = net_on("_plus_scalar", NULL, "scalar=1", mxc_symbol_retain(n));
    parts[2] = net_on2("broadcast_add", NULL, "", net_on("tanh", NULL, "", v), n);
    return group(3, parts);
}

/* As long as n < limit. */
static mxc_symbol *make_while(mxc_symbol *n, mxc_symbol *v, int64_t max_iterations) {
    static const char *const names[] = {"n", "v"};
    mxc_symbol *vars[2] = {n, v}, *body = while_body(net_variable("n"), net_variable("v"), net_variable("w")), *out;
    mxc_symbol *condition = net_on2("broadcast_lesser", NULL, "", net_variable("n"), net_variable("limit"));
    assert_ok(mxc_symbol_while_loop(NULL, condition, body, 2, names, vars, max_iterations, &out));
    mxc_symbol_release(condition);
    mxc_symbol_release(body);
    return out;
}

/* The symbols of a loop that starts at n = 0 with a limit, and of count steps; then compare them. */
static void check_while(const char *limit, int count, int max_iterations) {
    static const char *const names[] = {"x"};
    const mxc_shape shapes[] = {net_shape(2, 1, WIDTH, 0, 0)};
    mxc_symbol *n = net_on("_mul_scalar", NULL, "scalar=0", net_on("sum", NULL, "", net_variable("x")));
    mxc_symbol *v = scaled("x", "a"), *loop = make_while(n, v, max_iterations);
    mxc_symbol *bound = net_on("_plus_scalar", NULL, limit, mxc_symbol_retain(n));
    static const char *const key[] = {"limit"};
    assert_ok(mxc_symbol_compose(loop, NULL, 1, key, &bound));
    mxc_symbol *rows[8], *parts[3], *w = net_variable("w");
    parts[1] = mxc_symbol_retain(n);
    parts[2] = v;
    for (int t = 0; t < max_iterations; t++) {
        if (t >= count) {
            rows[t] = net_on("zeros_like", NULL, "", net_on("expand_dims", NULL, "axis=0", net_variable("x")));
            continue;
        }
        mxc_symbol *all = while_body(parts[1], parts[2], mxc_symbol_retain(w));
        rows[t] = net_on("expand_dims", NULL, "axis=0", output(all, 0));
        parts[1] = output(all, 1);
        parts[2] = output(all, 2);
        mxc_symbol_release(all);
    }
    static const char *const keys[] = {"dim"}, *const values[] = {"0"};
    assert_ok(mxc_symbol_op("Concat", NULL, 1, keys, values, max_iterations, NULL, rows, &parts[0]));
    for (int t = 0; t < max_iterations; t++)
        mxc_symbol_release(rows[t]);
    mxc_symbol_release(bound);
    mxc_symbol_release(n);
    mxc_symbol_release(w);
    mxc_symbol *steps = group(3, parts);
    expect_same(loop, steps, (mxc_bind_spec){.n = 1, .names = names, .shapes = shapes}, 2);
}

static void test_while(void **state) {
    (void)state;
    check_while("scalar=2.5", 3, 5);
}

static void test_while_stopped(void **state) {
    (void)state;
    check_while("scalar=100", 4, 4);
}

/* New variables that are arguments of the body: (a, b) becomes (a + b, a). */
static void test_while_handed_on(void **state) {
    (void)state;
    static const char *const var_names[] = {"a", "b"}, *const names[] = {"a", "b", "limit"};
    const mxc_shape shapes[] = {net_shape(1, 1, 0, 0, 0), net_shape(1, 1, 0, 0, 0), net_shape(1, 1, 0, 0, 0)};
    mxc_symbol *vars[2] = {net_variable("a"), net_variable("b")}, *a = net_variable("a"), *loop;
    mxc_symbol *condition = net_on2("broadcast_lesser", NULL, "", net_variable("a"), net_variable("limit"));
    mxc_symbol *sum = net_on2("elemwise_add", NULL, "", mxc_symbol_retain(a), net_variable("b"));
    mxc_symbol *parts[3] = {mxc_symbol_retain(sum), sum, a}, *body = group(3, parts);
    assert_ok(mxc_symbol_while_loop(NULL, condition, body, 2, var_names, vars, 6, &loop));
    mxc_executor *e = bind_of(loop, 3, names, shapes, NULL);
    for (int i = 0; i < 3; i++)
        assert_ok(mxc_ndarray_fill(mxc_executor_find_arg(e, names[i]), i < 2 ? 1 : 10));
    for (int run = 0; run < 3; run++) {
        assert_ok(mxc_executor_forward(e, run == 1));
        expect_values(mxc_executor_output(e, 0), 6, (const double[]){2, 3, 5, 8, 13, 0});
        expect_values(mxc_executor_output(e, 1), 1, (const double[]){13});
        expect_values(mxc_executor_output(e, 2), 1, (const double[]){8});
    }
    mxc_executor_destroy(e);
    mxc_symbol_release(condition);
    mxc_symbol_release(body);
    for (int i = 0; i < 2; i++)
        mxc_symbol_release(vars[i]);
}

/* ---- _cond ------------------------------------------------------------------------------------------------------- */

static mxc_symbol *then_branch(void) {
    return net_on2("elemwise_mul", NULL, "", net_variable("v"), net_variable("w"));
}

static mxc_symbol *else_branch(void) {
    return net_on2("elemwise_sub", NULL, "", net_on("square", NULL, "", net_variable("v")), net_variable("u"));
}

/* On v = x a; the flag is a number that does not depend on the values. */
static void check_cond(const char *flag, mxc_symbol *taken, int n_gradients) {
    static const char *const names[] = {"x"}, *const key[] = {"v"};
    const mxc_shape shapes[] = {net_shape(2, ROWS, WIDTH, 0, 0)};
    mxc_symbol *sum = net_on("_mul_scalar", NULL, "scalar=0", net_on("sum", NULL, "", net_variable("v")));
    mxc_symbol *condition = net_on("_plus_scalar", NULL, flag, sum), *yes = then_branch(), *no = else_branch(), *out;
    assert_ok(mxc_symbol_cond("choice", condition, yes, no, &out));
    mxc_symbol *v = scaled("x", "a");
    assert_ok(mxc_symbol_compose(out, NULL, 1, key, &v));
    assert_ok(mxc_symbol_compose(taken, NULL, 1, key, &v));
    mxc_symbol_release(v);
    mxc_symbol_release(condition);
    mxc_symbol_release(yes);
    mxc_symbol_release(no);
    expect_same(out, taken, (mxc_bind_spec){.n = 1, .names = names, .shapes = shapes}, n_gradients);
}

static void test_cond(void **state) {
    (void)state;
    check_cond("scalar=1", then_branch(), 2);
    check_cond("scalar=0", else_branch(), 2);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

#define VARIABLE(name) "{\"op\":\"null\",\"name\":\"" name "\",\"inputs\":[]}"
#define BODY                                     \
    "{\"nodes\":[" VARIABLE("row") "," VARIABLE( \
        "s") ",{\"op\":\"elemwise_add\",\"name\":\"sum\",\"inputs\":[[0,0,0],[1,0,0]]}],\"heads\":[[2,0],[2,0]]}"
/* A _foreach of x and s with these parameters and subgraphs. */
#define FOREACH(attrs, subgraphs)                                                                           \
    "{\"nodes\":[" VARIABLE("x") "," VARIABLE("s") ",{\"op\":\"_foreach\",\"name\":\"f\",\"attrs\":{" attrs \
                                                   "},\"inputs\":[[0,0],[1,0]],\"subgraphs\":[" subgraphs   \
                                                   "]}],\"heads\":[[2,0],[2,1]]}"
#define PARAMS(data, state, remain, args, out_data)                                           \
    "\"in_data_locs\":\"" data "\",\"in_state_locs\":\"" state "\",\"remain_locs\":\"" remain \
    "\",\"num_args\":\"" args "\",\"num_outputs\":\"2\",\"num_out_data\":\"" out_data "\""

static void test_files(void **state) {
    (void)state;
    static const struct {
        const char *json;
        mxc_status status;
        const char *message;
    } files[] = {
        {FOREACH(PARAMS("[0]", "[1]", "[]", "3", "1"), BODY), MXC_OK, ""},
        {FOREACH(PARAMS("(0,)", "[1]", "()", "3", "1"), BODY), MXC_OK, ""},
        {FOREACH(PARAMS("[0]", "[1]", "[]", "3", "1"), ""), MXC_EFORMAT, "0 \"subgraphs\", but _foreach has 1"},
        {FOREACH(PARAMS("[0]", "[1]", "[]", "3", "1"), "{}"), MXC_EFORMAT,
         "subgraph 0: symbol JSON: expected an object"},
        {FOREACH(PARAMS("[0]", "[2]", "[]", "3", "1"), BODY), MXC_EFORMAT, "found 2, expected less than 2"},
        {FOREACH(PARAMS("[0]", "[0]", "[]", "3", "1"), BODY), MXC_EFORMAT, "0 appears twice"},
        {FOREACH(PARAMS("[0]", "[]", "[]", "3", "1"), BODY), MXC_EFORMAT, "1 of 2 are missing"},
        {FOREACH(PARAMS("[]", "[0, 1]", "[]", "3", "0"), BODY), MXC_EFORMAT, "in_data_locs is empty"},
        {FOREACH(PARAMS("[0", "[1]", "[]", "3", "1"), BODY), MXC_EFORMAT, "in_data_locs: expected a list"},
        {FOREACH(PARAMS("", "[1]", "[]", "3", "1"), BODY), MXC_EFORMAT, "in_data_locs: expected a list"},
        {FOREACH(PARAMS("[-1]", "[1]", "[]", "3", "1"), BODY), MXC_EFORMAT, "in_data_locs: expected a list"},
        {FOREACH(PARAMS("[0]", "[1]", "[]", "4", "1"), BODY), MXC_EFORMAT, "num_args is 4, but the subgraph has 2"},
        {FOREACH(PARAMS("[0]", "[1]", "[]", "3", "2"), BODY), MXC_EFORMAT, "of which 1 are states"},
        {FOREACH(PARAMS("[0]", "[1]", "[]", "3", "1") ",\"max_iterations\":\"3\"", BODY), MXC_EFORMAT,
         "unknown parameter \"max_iterations\""},
        {FOREACH("\"num_args\":\"3\"", BODY), MXC_EFORMAT, "the parameter in_data_locs is missing"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        mxc_symbol *symbol;
        mxc_status status = mxc_symbol_from_json(files[i].json, strlen(files[i].json), &symbol);
        if (status != files[i].status || !strstr(status == MXC_OK ? "" : mxc_last_error(), files[i].message))
            fail_msg("file %zu: %s, \"%s\"", i, mxc_status_name(status), status == MXC_OK ? "" : mxc_last_error());
        if (status == MXC_OK) {
            char *text;
            mxc_symbol *again;
            assert_ok(mxc_symbol_to_json(symbol, &text));
            assert_ok(mxc_symbol_from_json(text, strlen(text), &again));
            mxc_symbol_release(again);
            mxc_free(text);
        }
        mxc_symbol_release(symbol);
    }
}

/* A subgraph in a subgraph, and so on: as deep as it is allowed to be, and one deeper. */
static void test_nesting(void **state) {
    enum { ROOM = 1 << 16 };
    char *text = malloc(ROOM);
    (void)state;
    assert_non_null(text);
    snprintf(text, ROOM, "%s", BODY);
    for (int depth = 1; depth <= 5; depth++) {
        char *outer = malloc(ROOM);
        mxc_symbol *symbol;
        assert_non_null(outer);
        snprintf(outer, ROOM, FOREACH(PARAMS("[0]", "[1]", "[]", "3", "1"), "%s"), text);
        free(text);
        text = outer;
        mxc_status status = mxc_symbol_from_json(text, strlen(text), &symbol);
        if (depth <= 4)
            assert_int_equal(status, MXC_OK);
        else
            assert_true(status != MXC_OK && strstr(mxc_last_error(), "nested more than 4 deep"));
        mxc_symbol_release(symbol);
    }
    free(text);
}

/* The same limit for symbols that are made here, so that what is saved loads. */
static void test_nesting_made(void **state) {
    (void)state;
    mxc_symbol *inner = net_on("square", NULL, "", net_variable("row")), *x = net_variable("row"), *out;
    static const char *const names[] = {"row"};
    for (int depth = 1; depth <= 5; depth++) {
        mxc_status status = mxc_symbol_foreach(NULL, inner, 1, names, &x, 0, NULL, NULL, &out);
        if (depth <= 4)
            assert_ok(status);
        else
            assert_int_equal(status, MXC_EUNSUPPORTED);
        if (out) {
            mxc_symbol_release(inner);
            inner = out;
        }
    }
    assert_non_null(strstr(mxc_last_error(), "_foreach: subgraphs nested 5 deep, expected at most 4"));
    char *text;
    assert_ok(mxc_symbol_to_json(inner, &text));
    assert_ok(mxc_symbol_from_json(text, strlen(text), &out));
    mxc_free(text);
    mxc_symbol_release(out);
    mxc_symbol_release(inner);
    mxc_symbol_release(x);
}

static void test_negative_counts(void **state) {
    (void)state;
    mxc_symbol *x = net_variable("x"), *out;
    assert_int_equal(mxc_symbol_foreach(NULL, x, -1, NULL, NULL, 0, NULL, NULL, &out), MXC_EINVAL);
    assert_string_equal(mxc_last_error(), "mxc_symbol_foreach: n_data is -1, expected at least 0");
    assert_int_equal(mxc_symbol_foreach(NULL, x, 0, NULL, NULL, -2, NULL, NULL, &out), MXC_EINVAL);
    assert_string_equal(mxc_last_error(), "mxc_symbol_foreach: n_states is -2, expected at least 0");
    assert_int_equal(mxc_symbol_while_loop(NULL, x, x, -1, NULL, NULL, 1, &out), MXC_EINVAL);
    assert_string_equal(mxc_last_error(), "mxc_symbol_while_loop: n_vars is -1, expected at least 0");
    mxc_symbol_release(x);
}

/* Without its subgraph an operator is refused, and so is one with auxiliary states in it. */
static void test_refused(void **state) {
    (void)state;
    static const char *const keys[] = {"num_args", "num_outputs"}, *const values[] = {"1", "1"};
    static const char *const names[] = {"data"};
    mxc_symbol *symbol, *data = net_variable("x"), *body = net_on("BatchNorm", "bn", "", net_variable("data"));
    assert_int_equal(mxc_symbol_op("_cond", NULL, 2, keys, values, 0, NULL, NULL, &symbol), MXC_EINVAL);
    assert_non_null(strstr(mxc_last_error(), "_cond: expected 3 subgraphs as the first inputs"));
    assert_int_equal(mxc_symbol_foreach(NULL, body, 1, names, &data, 0, NULL, NULL, &symbol), MXC_EUNSUPPORTED);
    assert_non_null(strstr(mxc_last_error(), "auxiliary states"));
    assert_null(symbol);
    mxc_symbol_release(body);
    mxc_symbol_release(data);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_foreach),
        cmocka_unit_test(test_foreach_empty),
        cmocka_unit_test(test_while),
        cmocka_unit_test(test_while_stopped),
        cmocka_unit_test(test_cond),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_foreach_handed_on),
        cmocka_unit_test(test_foreach_integers),
        cmocka_unit_test(test_foreach_integer_state),
        cmocka_unit_test(test_foreach_empty_rows),
        cmocka_unit_test(test_foreach_scalars),
        cmocka_unit_test(test_while_handed_on),
        cmocka_unit_test(test_nesting_made),
        cmocka_unit_test(test_negative_counts),
    };
    if (argc > 1 && mxc_context_parse(argv[1], &context) != MXC_OK)
        return 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
