/* SPDX-License-Identifier: Apache-2.0 */
/* Inference both ways, what variables and callers say, errors, orders that need many turns. */
#include "ops.h"

#include "base/sys.h"
#include "symbol/graph.h"

static void shape_is(const mxc_shape *shape, const char *expected) {
    char text[MXC_SHAPE_TEXT];
    assert_string_equal(mxc_shape_format(shape, text, sizeof text), expected);
}

static void test_down(void **state) {
    static const char *const names[] = {"data"};
    mxc_symbol *mlp = test_mlp();
    mxc_shape shape = test_shape(2, 32, 784);
    mxc_dtype type = MXC_F64;
    mxc_inferred in;
    (void)state;
    assert_ok(mxc_symbol_infer(mlp, 1, names, &shape, &type, &in));
    assert_int_equal(in.n_args, 4);
    shape_is(&in.arg_shapes[1], "(10,784)");
    shape_is(&in.arg_shapes[2], "(10,)");
    shape_is(&in.arg_shapes[3], "(4,10)");
    shape_is(&in.output_shapes[0], "(32,4)");
    assert_int_equal(in.arg_types[3], MXC_F64);
    assert_int_equal(in.output_types[0], MXC_F64);
    assert_int_equal(in.complete, 1);
    mxc_inferred_release(&in);
    assert_null(in.arg_shapes);
    assert_ok(mxc_symbol_infer(mlp, 1, names, &shape, NULL, &in));
    assert_int_equal(in.complete, 0);
    shape_is(&in.output_shapes[0], "(32,4)");
    mxc_inferred_release(&in);
    mxc_symbol_release(mlp);
}

static void test_up(void **state) {
    static const char *const names[] = {"fc1_weight"};
    mxc_symbol *mlp = test_mlp();
    mxc_shape shape = test_shape(2, -1, 20);
    mxc_inferred in;
    (void)state;
    assert_ok(mxc_symbol_infer(mlp, 1, names, &shape, NULL, &in));
    shape_is(&in.arg_shapes[0], "(?,20)");
    shape_is(&in.arg_shapes[1], "(10,20)");
    shape_is(&in.output_shapes[0], "(?,4)");
    assert_int_equal(in.complete, 0);
    mxc_inferred_release(&in);
    mxc_symbol_release(mlp);
}

static void test_aux_and_hidden(void **state) {
    static const char *const names[] = {"n_data", "n_moving_var"};
    mxc_symbol *bn = test_op("t_bn", "n", 0, NULL, NULL);
    mxc_shape shapes[] = {test_shape(4, 2, 3, 8, 8), {.ndim = -1}};
    mxc_dtype types[] = {MXC_F32, MXC_DTYPE_UNKNOWN};
    mxc_inferred in;
    (void)state;
    assert_ok(mxc_symbol_infer(bn, 2, names, shapes, types, &in));
    assert_int_equal(in.n_aux, 2);
    assert_int_equal(in.n_outputs, 1);
    shape_is(&in.aux_shapes[1], "(3,)");
    assert_int_equal(in.aux_types[1], MXC_F32);
    assert_int_equal(in.complete, 1);
    mxc_inferred_release(&in);
    mxc_symbol_release(bn);
}

static void test_attributes_count(void **state) {
    static const char *const names[] = {"x"};
    mxc_symbol *x = test_var("x"), *y = test_var("y"), *in[] = {x, y}, *sum = test_op("t_add", "a", 2, in, NULL);
    mxc_shape shape = test_shape(2, 4, 3);
    mxc_inferred out;
    (void)state;
    assert_ok(mxc_symbol_set_attr(y, "__shape__", "(0, 3L)"));
    assert_ok(mxc_symbol_set_attr(y, "__dtype__", "1"));
    assert_ok(mxc_symbol_infer(sum, 1, names, &shape, NULL, &out));
    shape_is(&out.arg_shapes[1], "(4,3)");
    assert_int_equal(out.arg_types[0], MXC_F64);
    assert_int_equal(out.complete, 1);
    mxc_inferred_release(&out);
    assert_ok(mxc_symbol_set_attr(y, "__shape__", "None"));
    assert_ok(mxc_symbol_set_attr(x, "__shape__", "()"));
    assert_ok(mxc_symbol_set_attr(x, "__dtype__", "float64"));
    assert_ok(mxc_symbol_set_attr(y, "__dtype__", "-1"));
    assert_ok(mxc_symbol_infer(sum, 0, NULL, NULL, NULL, &out));
    shape_is(&out.arg_shapes[1], "?");
    assert_int_equal(out.output_types[0], MXC_F64);
    mxc_inferred_release(&out);
    assert_ok(mxc_symbol_set_attr(x, "__shape__", "(9)"));
    assert_ok(mxc_symbol_infer(sum, 1, names, &shape, NULL, &out)); /* the caller knows better */
    shape_is(&out.arg_shapes[0], "(4,3)");
    mxc_inferred_release(&out);
    mxc_symbol_release(x);
    mxc_symbol_release(y);
    mxc_symbol_release(sum);
}

static void test_bad_attributes(void **state) {
    static const char *const bad[] = {"(1,2,3,4,5,6,7,8,9)", "big", "(-2,3)", "(9223372036854775807,9)", "(1,"};
    mxc_symbol *x = test_var("x");
    mxc_inferred out;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_ok(mxc_symbol_set_attr(x, "__shape__", bad[i]));
        assert_fails(mxc_symbol_infer(x, 0, NULL, NULL, NULL, &out), MXC_EINVAL, "variable \"x\": __shape__");
    }
    assert_ok(mxc_symbol_set_attr(x, "__shape__", "(1,)"));
    assert_ok(mxc_symbol_set_attr(x, "__dtype__", "77"));
    assert_fails(mxc_symbol_infer(x, 0, NULL, NULL, NULL, &out), MXC_EDTYPE, "variable \"x\": __dtype__");
    mxc_symbol_release(x);
}

static void test_errors(void **state) {
    static const char *const names[] = {"data", "fc1_weight"}, *const bad[] = {"dat"};
    static const char *const twice[] = {"data", "data"};
    mxc_symbol *mlp = test_mlp();
    mxc_shape shapes[] = {test_shape(2, 32, 784), test_shape(2, 10, 783)};
    mxc_dtype types[] = {MXC_F32, MXC_F64};
    mxc_inferred in;
    int64_t live = mxci_alloc_live();
    (void)state;
    assert_fails(mxc_symbol_infer(mlp, 2, names, shapes, NULL, &in), MXC_ESHAPE, "node \"fc1\": t_fc: argument 'data'");
    assert_non_null(strstr(mxc_last_error(), "(?,783)"));
    assert_non_null(strstr(mxc_last_error(), "(32,784)"));
    assert_fails(mxc_symbol_infer(mlp, 2, names, NULL, types, &in), MXC_EDTYPE,
                 "node \"fc1\": t_fc: argument 'weight'");
    assert_fails(mxc_symbol_infer(mlp, 1, bad, shapes, NULL, &in), MXC_ENOTFOUND,
                 "no argument is called \"dat\"; there are: data, fc1_weight, fc1_bias");
    assert_fails(mxc_symbol_infer(mlp, 2, twice, shapes, NULL, &in), MXC_EINVAL, "\"data\" is given twice");
    types[0] = MXC_I32;
    assert_status(mxc_symbol_infer(mlp, 1, names, NULL, types, &in), MXC_EDTYPE);
    assert_null(in.arg_shapes);
    assert_int_equal(mxci_alloc_live(), live);
    mxc_symbol_release(mlp);
}

static void test_operator_that_changes_what_is_known(void **state) {
    static const char *const names[] = {"liar_data"};
    mxc_symbol *liar = test_op("t_liar", "liar", 0, NULL, NULL);
    mxc_shape shape = test_shape(2, 3, 4);
    mxc_inferred in;
    (void)state;
    assert_fails(mxc_symbol_infer(liar, 1, names, &shape, NULL, &in), MXC_ESHAPE, "(3,4)");
    assert_non_null(strstr(mxc_last_error(), "(4,4)"));
    mxc_symbol_release(liar);
}

/* Sums whose operators stand in such an order that what is known must go up and down at each step: x0+x1 first, x1+x2
 * last, x2+x3 second, and so on. */
static void test_zigzag(void **state) {
    enum { N = 4000 };
    static mxc_symbol *vars[N + 1], *sums[N];
    static const char *const names[] = {"x0"};
    mxc_shape shape = test_shape(1, 6);
    mxc_symbol *all;
    mxc_inferred in;
    char name[24];
    (void)state;
    for (int i = 0; i <= N; i++) {
        snprintf(name, sizeof name, "x%d", i);
        vars[i] = test_var(name);
    }
    for (int i = 0; i < N; i++)
        sums[i % 2 ? N - 1 - i / 2 : i / 2] = test_op("t_add", NULL, 2, &vars[i], NULL);
    assert_ok(mxc_symbol_group(N, sums, &all));
    assert_ok(mxc_symbol_infer(all, 1, names, &shape, NULL, &in));
    for (int i = 0; i <= N; i++)
        assert_int_equal(in.arg_shapes[i].dim[0], 6);
    mxc_inferred_release(&in);
    mxc_symbol_release(all);
    for (int i = 0; i <= N; i++)
        mxc_symbol_release(vars[i]);
    for (int i = 0; i < N; i++)
        mxc_symbol_release(sums[i]);
}

static int setup(void **state) {
    (void)state;
    test_ops_register();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_down),           cmocka_unit_test(test_up),
        cmocka_unit_test(test_aux_and_hidden), cmocka_unit_test(test_attributes_count),
        cmocka_unit_test(test_bad_attributes), cmocka_unit_test(test_errors),
        cmocka_unit_test(test_zigzag),         cmocka_unit_test(test_operator_that_changes_what_is_known),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
