/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random graphs of element-wise operators, products, concatenations and shared inputs, in float64. Whatever the plan's
 * options, results are the same bit for bit, in training and in inference, and nearly so over two contexts; gradients
 * agree with differences of outputs, with the gradient symbol, and add where asked.
 */
#include "executor/nets.h"

#include <math.h>

#define SIDE 6 /* every array inside is SIDE x SIDE */
#define MOST 40
#define LEAVES 4

/* ---- graphs ----------------------------------------------------------------------------------------------------- */

static int64_t below(uint64_t *seed, int64_t n) {
    return (int64_t)((net_random(seed) + 1) / 2 * (double)n);
}

static mxc_symbol *pick(uint64_t *seed, mxc_symbol *const *made, int n) {
    int recent = n > 6 && below(seed, 3) ? n - 6 : 0;
    return mxc_symbol_retain(made[recent + below(seed, n - recent)]);
}

static mxc_symbol *grow(uint64_t *seed, mxc_symbol *wide_weight, mxc_symbol *const *made, int n) {
    static const char *const unary[] = {"tanh", "sigmoid", "relu", "_copy", "negative", "sin"};
    static const char *const binary[] = {"elemwise_add", "_sub", "_mul", "dot", "elemwise_add"};
    char name[32];
    mxc_symbol *a = pick(seed, made, n);
    snprintf(name, sizeof name, "node%d", n);
    switch (below(seed, 8)) {
    case 0:
    case 1:
    case 2:
        return net_on(unary[below(seed, 6)], name, "", a);
    case 3:
        return net_on("_mul_scalar", name, "scalar=0.7", a);
    case 4: { /* two blocks side by side, multiplied back to one */
        mxc_symbol *wide = net_on2("Concat", name, "dim=1", a, pick(seed, made, n));
        snprintf(name, sizeof name, "node%d_fc", n);
        return net_on2("FullyConnected", name, "num_hidden=6 no_bias=True", wide, mxc_symbol_retain(wide_weight));
    }
    default:
        return net_on2(binary[below(seed, 5)], name, "", a, pick(seed, made, n));
    }
}

static void put_in_group(mxc_symbol *s, const char *group) {
    assert_ok(mxc_symbol_set_attr(s, "ctx_group", group));
}

/* Two outputs: the last node, squashed, and one from the middle. */
static mxc_symbol *make_graph(uint64_t seed) {
    mxc_symbol *made[MOST], *outputs[2], *group;
    mxc_symbol *wide = net_variable("wide");
    static const char *const groups[] = {"first", "second"};
    int n, size = 8 + (int)below(&seed, MOST - 8);
    for (n = 0; n < LEAVES; n++) {
        char name[16];
        snprintf(name, sizeof name, "x%d", n);
        made[n] = net_variable(name);
        put_in_group(made[n], groups[0]);
    }
    put_in_group(wide, groups[0]);
    for (; n < size; n++) {
        made[n] = grow(&seed, wide, made, n);
        put_in_group(made[n], groups[below(&seed, 2)]);
    }
    outputs[0] = net_on("tanh", "last", "", mxc_symbol_retain(made[n - 1]));
    outputs[1] = made[LEAVES + below(&seed, n - LEAVES)];
    assert_ok(mxc_symbol_group(2, outputs, &group));
    mxc_symbol_release(outputs[0]);
    mxc_symbol_release(wide);
    for (int i = 0; i < n; i++)
        mxc_symbol_release(made[i]);
    return group;
}

/* ---- one bound graph -------------------------------------------------------------------------------------------- */

typedef struct bound {
    int n_args;
    mxc_ndarray *args[LEAVES + 1], *grads[LEAVES + 1], *heads[2];
    mxc_executor *executor;
} bound;

static mxc_ndarray *make_array(int columns, uint64_t seed, double range) {
    int64_t dims[2] = {SIDE, columns};
    mxc_ndarray *a;
    assert_ok(mxc_ndarray_create(2, dims, MXC_F64, mxc_cpu(0), &a));
    net_fill(a, seed, -range, range);
    return a;
}

static void bind_graph(mxc_symbol *s, const mxc_bind_options *options, mxc_req req, bound *b) {
    mxc_req reqs[LEAVES + 1];
    mxc_names names;
    assert_ok(mxc_symbol_list_arguments(s, &names));
    b->n_args = (int)names.n;
    for (int i = 0; i < b->n_args; i++) {
        int is_wide = strcmp(names.items[i], "wide") == 0;
        uint64_t seed = is_wide ? 99 : (uint64_t)names.items[i][1];
        b->args[i] = make_array(is_wide ? 2 * SIDE : SIDE, seed, 0.5);
        b->grads[i] = make_array(is_wide ? 2 * SIDE : SIDE, seed + 50, 1);
        reqs[i] = req;
    }
    for (int i = 0; i < 2; i++)
        b->heads[i] = make_array(SIDE, 1000 + (uint64_t)i, 1);
    mxc_names_release(&names);
    assert_ok(mxc_executor_bind(s, options, b->args, b->grads, reqs, NULL, &b->executor));
}

static void run(bound *b, mxc_ndarray *const *heads) {
    assert_ok(mxc_executor_forward(b->executor, 1));
    assert_ok(mxc_executor_backward(b->executor, 2, heads));
}

static void unbind(bound *b) {
    mxc_executor_destroy(b->executor);
    for (int i = 0; i < b->n_args; i++) {
        mxc_ndarray_release(b->args[i]);
        mxc_ndarray_release(b->grads[i]);
    }
    for (int i = 0; i < 2; i++)
        mxc_ndarray_release(b->heads[i]);
}

static void assert_same(const bound *a, const bound *b) {
    for (int i = 0; i < 2; i++)
        assert_same_bits(mxc_executor_output(a->executor, i), mxc_executor_output(b->executor, i));
    for (int i = 0; i < a->n_args; i++)
        assert_same_bits(a->grads[i], b->grads[i]);
}

/* ---- checks ----------------------------------------------------------------------------------------------------- */

static void check_option(mxc_symbol *s, const bound *plain, const mxc_bind_options *options) {
    bound b;
    bind_graph(s, options, MXC_REQ_WRITE, &b);
    run(&b, b.heads);
    assert_same(plain, &b);
    run(&b, b.heads); /* nothing of the first run lingers */
    assert_same(plain, &b);
    unbind(&b);
}

static void check_options(mxc_symbol *s, const bound *plain) {
    mxc_bind_options o[8] = {
        MXC_BIND_OPTIONS_INIT, MXC_BIND_OPTIONS_INIT, MXC_BIND_OPTIONS_INIT, MXC_BIND_OPTIONS_INIT,
        MXC_BIND_OPTIONS_INIT, MXC_BIND_OPTIONS_INIT, MXC_BIND_OPTIONS_INIT, MXC_BIND_OPTIONS_INIT,
    };
    o[0].no_inplace = 1;
    o[1].no_sharing = 1;
    o[2].no_inplace = o[2].no_sharing = 1;
    o[3].recompute = MXC_RECOMPUTE_CHEAP;
    o[4].recompute = MXC_RECOMPUTE_ALL;
    o[5].bulk_nodes = 1;
    o[6].bulk_nodes = 3;
    o[7].recompute = MXC_RECOMPUTE_ALL;
    o[7].no_inplace = 1;
    for (int i = 0; i < 8; i++)
        check_option(s, plain, &o[i]);
}

/* Without gradients memory is shared differently. */
static void check_inference(mxc_symbol *s, const bound *plain) {
    mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
    mxc_executor *e;
    for (int planned = 0; planned < 2; planned++) {
        options.no_inplace = options.no_sharing = !planned;
        assert_ok(mxc_executor_bind(s, &options, plain->args, NULL, NULL, NULL, &e));
        assert_ok(mxc_executor_forward(e, 0));
        for (int i = 0; i < 2; i++)
            assert_same_bits(mxc_executor_output(plain->executor, i), mxc_executor_output(e, i));
        mxc_executor_destroy(e);
    }
}

static void assert_close(mxc_ndarray *a, mxc_ndarray *b) {
    double *x = net_read(a), *y = net_read(b);
    for (int64_t i = 0; i < mxc_ndarray_size(a); i++)
        assert_true(fabs(x[i] - y[i]) <= 1e-12 * (1 + fabs(x[i])));
    free(x);
    free(y);
}

/* Half of the nodes elsewhere; terms of a sum may come in another order. */
static void check_groups(mxc_symbol *s, const bound *plain) {
    static const char *const names[] = {"first", "second"};
    const mxc_context contexts[] = {mxc_cpu(0), mxc_cpu(1)};
    mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
    bound b;
    options.n_groups = 2;
    options.group_names = names;
    options.group_contexts = contexts;
    bind_graph(s, &options, MXC_REQ_WRITE, &b);
    run(&b, b.heads);
    for (int i = 0; i < 2; i++)
        assert_close(mxc_executor_output(plain->executor, i), mxc_executor_output(b.executor, i));
    for (int i = 0; i < plain->n_args; i++)
        assert_close(plain->grads[i], b.grads[i]);
    unbind(&b);
}

static void check_naive(mxc_symbol *s, const bound *plain) {
    mxc_engine_options options = MXC_ENGINE_OPTIONS_INIT;
    mxc_engine *threaded, *naive;
    bound b;
    assert_ok(mxc_engine_default(&threaded));
    options.kind = MXC_ENGINE_NAIVE;
    options.parallelism = mxc_engine_parallelism(threaded);
    assert_ok(mxc_engine_create(&options, &naive));
    mxc_engine_set_default(naive);
    bind_graph(s, NULL, MXC_REQ_WRITE, &b);
    run(&b, b.heads);
    assert_same(plain, &b);
    unbind(&b);
    mxc_engine_set_default(NULL);
    mxc_engine_destroy(naive);
}

static double head_product(bound *b) {
    double sum = 0;
    assert_ok(mxc_executor_forward(b->executor, 1));
    for (int i = 0; i < 2; i++) {
        double *out = net_read(mxc_executor_output(b->executor, i)), *head = net_read(b->heads[i]);
        for (int64_t j = 0; j < mxc_ndarray_size(b->heads[i]); j++)
            sum += out[j] * head[j];
        free(out);
        free(head);
    }
    return sum;
}

/* The derivative in a random direction of one argument, twice. */
static void check_differences(bound *b, int arg) {
    int64_t n = mxc_ndarray_size(b->args[arg]), i;
    double *x = net_read(b->args[arg]), *g = net_read(b->grads[arg]), *moved = malloc((size_t)n * sizeof *moved);
    double *direction = malloc((size_t)n * sizeof *direction), expected = 0, found, step = 1e-5, ends[2];
    uint64_t seed = (uint64_t)arg + 5;
    for (i = 0; i < n; i++) {
        direction[i] = net_random(&seed);
        expected += g[i] * direction[i];
    }
    for (int side = 0; side < 2; side++) {
        for (i = 0; i < n; i++)
            moved[i] = x[i] + (side ? step : -step) * direction[i];
        assert_ok(mxc_ndarray_set(b->args[arg], moved, (size_t)n * sizeof *moved));
        ends[side] = head_product(b);
    }
    assert_ok(mxc_ndarray_set(b->args[arg], x, (size_t)n * sizeof *x));
    found = (ends[1] - ends[0]) / (2 * step);
    if (fabs(found - expected) > 1e-5 * (1 + fabs(expected)))
        fail_msg("argument %d: differences give %.9g, backward %.9g", arg, found, expected);
    free(x);
    free(g);
    free(moved);
    free(direction);
}

static void check_add(mxc_symbol *s, const bound *plain) {
    bound b;
    bind_graph(s, NULL, MXC_REQ_ADD, &b);
    for (int i = 0; i < b.n_args; i++)
        net_fill(b.grads[i], 77, 2, 3);
    run(&b, b.heads);
    for (int i = 0; i < b.n_args; i++) {
        double *sum = net_read(b.grads[i]), *part = net_read(plain->grads[i]), *before;
        net_fill(b.grads[i], 77, 2, 3);
        before = net_read(b.grads[i]);
        for (int64_t j = 0; j < mxc_ndarray_size(b.grads[i]); j++)
            assert_true(fabs(sum[j] - before[j] - part[j]) <= 1e-12 * (10 + fabs(part[j])));
        free(sum);
        free(part);
        free(before);
    }
    unbind(&b);
}

/* The gradient as a symbol, bound to the same arguments, against backward with ones. */
static void check_symbol(mxc_symbol *s, bound *plain) {
    const mxc_names *names = mxc_executor_arg_names(plain->executor);
    mxc_symbol *gradient;
    mxc_executor *e;
    mxc_names have;
    mxc_ndarray *args[LEAVES + 1];
    assert_ok(mxc_symbol_grad(s, plain->n_args, (const char *const *)names->items, &gradient));
    assert_int_equal(mxc_symbol_n_outputs(gradient), plain->n_args);
    assert_ok(mxc_symbol_list_arguments(gradient, &have));
    for (int64_t i = 0; i < have.n; i++)
        args[i] = plain->args[mxc_names_find(names, have.items[i])];
    assert_ok(mxc_executor_bind(gradient, NULL, args, NULL, NULL, NULL, &e));
    assert_ok(mxc_executor_forward(e, 1));
    for (int64_t i = 0; i < 2; i++)
        assert_ok(mxc_ndarray_fill(plain->heads[i], 1));
    run(plain, plain->heads);
    for (int64_t i = 0; i < plain->n_args; i++) {
        double *a = net_read(mxc_executor_output(e, i)), *b = net_read(plain->grads[i]);
        for (int64_t j = 0; j < mxc_ndarray_size(plain->grads[i]); j++)
            assert_true(fabs(a[j] - b[j]) <= 1e-12 * (1 + fabs(b[j])));
        free(a);
        free(b);
    }
    mxc_names_release(&have);
    mxc_executor_destroy(e);
    mxc_symbol_release(gradient);
}

static void test_random_graphs(void **state) {
    (void)state;
    for (int round = 0; round < TEST_SCALE(200); round++) {
        mxc_symbol *s = make_graph((uint64_t)round * 77 + 1);
        bound plain;
        bind_graph(s, NULL, MXC_REQ_WRITE, &plain);
        run(&plain, plain.heads);
        check_options(s, &plain);
        check_inference(s, &plain);
        check_groups(s, &plain);
        check_naive(s, &plain);
        check_add(s, &plain);
        for (int i = 0; i < plain.n_args; i++)
            check_differences(&plain, i);
        check_symbol(s, &plain);
        unbind(&plain);
        mxc_symbol_release(s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_graphs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
