/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Very deep and very wide graphs: no recursion (it would need more stack than there is), linear time (the limits are
 * some twenty times what it takes), through every function that walks them.
 */
#include <time.h>

#include "ops.h"

#include "base/sys.h"
#include "symbol/graph.h"

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static mxc_symbol *chain(int n) {
    static const char *const keys[] = {"act_type"}, *const values[] = {"relu"};
    mxc_symbol *top = test_var("data"), *above;
    char name[24];
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "r%d", i);
        assert_ok(mxc_symbol_op("t_act", name, 1, keys, values, 1, NULL, &top, &above));
        mxc_symbol_release(top);
        top = above;
    }
    return top;
}

/* List, infer both ways, copy, write, read, release. */
static void walk(mxc_symbol *symbol, const char *variable, int64_t n_internals) {
    mxc_shape shape = test_shape(2, 3, 4);
    mxc_symbol *all, *copy, *again;
    mxc_inferred in;
    mxc_names names;
    char *json;
    assert_ok(mxc_symbol_internals(symbol, &all));
    assert_int_equal(mxc_symbol_n_outputs(all), n_internals);
    assert_ok(mxc_symbol_infer(all, 1, &variable, &shape, NULL, &in));
    assert_int_equal(in.output_shapes[n_internals - 1].dim[1], 4);
    mxc_inferred_release(&in);
    mxc_symbol_release(all);
    assert_ok(mxc_symbol_list_arguments(symbol, &names));
    mxc_names_release(&names);
    assert_ok(mxc_symbol_copy(symbol, &copy));
    mxc_symbol_release(symbol);
    assert_ok(mxc_symbol_to_json(copy, &json));
    mxc_symbol_release(copy);
    assert_ok(mxc_symbol_from_json(json, strlen(json), &again));
    mxci_free(json);
    assert_int_equal(mxc_symbol_n_outputs(again), 1);
    mxc_symbol_release(again);
}

static void test_deep(void **state) {
    int n = TEST_SCALE(200000);
    int64_t live = mxci_alloc_live();
    double start = seconds();
    (void)state;
    walk(chain(n), "data", n + 1);
    assert_int_equal(mxci_alloc_live(), live);
    assert_true(seconds() - start < 30);
}

static void test_known_at_the_far_end(void **state) {
    int n = TEST_SCALE(50000);
    mxc_symbol *in[] = {chain(n), test_var("y")}, *sum = test_op("t_add", "sum", 2, in, NULL);
    static const char *const names[] = {"y"};
    mxc_shape shape = test_shape(1, 9);
    mxc_inferred out;
    (void)state;
    assert_ok(mxc_symbol_infer(sum, 1, names, &shape, NULL, &out));
    assert_int_equal(out.arg_shapes[0].dim[0], 9);
    mxc_inferred_release(&out);
    mxc_symbol_release(in[0]);
    mxc_symbol_release(in[1]);
    mxc_symbol_release(sum);
}

static void test_wide(void **state) {
    int n = TEST_SCALE(50000);
    int64_t live = mxci_alloc_live();
    mxc_symbol **in = malloc((size_t)n * sizeof *in), *wide;
    double start = seconds();
    char name[24];
    (void)state;
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "x%d", i);
        in[i] = test_var(name);
    }
    wide = test_op("t_concat", "wide", n, in, NULL);
    for (int i = 0; i < n; i++)
        mxc_symbol_release(in[i]);
    free(in);
    walk(wide, "x7", n + 1);
    assert_int_equal(mxci_alloc_live(), live);
    assert_true(seconds() - start < 30);
}

static void test_shared_by_many(void **state) {
    int n = TEST_SCALE(50000);
    mxc_symbol *x = test_var("x"), **uses = malloc((size_t)n * sizeof *uses), *all;
    static const char *const keys[] = {"act_type"}, *const values[] = {"tanh"};
    (void)state;
    for (int i = 0; i < n; i++)
        assert_ok(mxc_symbol_op("t_act", "same name", 1, keys, values, 1, NULL, &x, &uses[i]));
    all = test_op("t_concat", "all", n, uses, NULL);
    for (int i = 0; i < n; i++)
        mxc_symbol_release(uses[i]);
    free(uses);
    mxc_symbol_release(x);
    walk(all, "x", n + 2);
}

static int setup(void **state) {
    (void)state;
    test_ops_register();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deep),
        cmocka_unit_test(test_known_at_the_far_end),
        cmocka_unit_test(test_wide),
        cmocka_unit_test(test_shared_by_many),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
