/* SPDX-License-Identifier: Apache-2.0 */
/* What mxc_fit reports about labels and other inputs that the iterator does not provide. */
#include "train/toy.h"

/* An iterator of 32 rows with these names. */
static mxc_iter *rows(int width, const char *data_name, const char *label_name) {
    float x[64], y[32];
    const char *names[] = {data_name, label_name};
    mxc_array_iter_options options = MXC_ARRAY_ITER_OPTIONS_INIT;
    mxc_ndarray *data, *label;
    mxc_iter *iter;
    for (int i = 0; i < 32; i++) {
        x[2 * i] = toy_noise((uint32_t)i);
        x[2 * i + 1] = (float)(i % 2);
        y[i] = (float)(i % 2);
    }
    options.batch_size = 8;
    assert_ok(mxc_ndarray_from_data(2, (int64_t[]){32, width}, MXC_F32, x, &data));
    assert_ok(mxc_ndarray_from_data(1, (int64_t[]){32}, MXC_F32, y, &label));
    assert_ok(mxc_iter_from_arrays(&options, 1, &data, 1, &label, names, &iter));
    mxc_ndarray_release(data);
    mxc_ndarray_release(label);
    return iter;
}

static mxc_symbol *variable(const char *name) {
    mxc_symbol *v;
    assert_ok(mxc_symbol_variable(name, &v));
    return v;
}

/* op of a and b, whose references it takes. */
static mxc_symbol *join(const char *op, const char *name, mxc_symbol *a, mxc_symbol *b) {
    mxc_symbol *in[2] = {a, b}, *out;
    assert_ok(mxc_symbol_op(op, name, 0, NULL, NULL, 2, NULL, in, &out));
    mxc_symbol_release(a);
    mxc_symbol_release(b);
    return out;
}

static mxc_symbol *dense(const char *width) {
    mxc_symbol *x = variable("data");
    assert_ok(toy_layer("FullyConnected", "fc", "num_hidden", width, &x));
    return x;
}

static mxc_status fit(mxc_symbol *net, mxc_iter *train, mxc_iter *valid, mxc_ndarray_list *params) {
    mxc_fit_options options;
    mxc_fit_options_init(&options, sizeof options);
    options.symbol = net;
    options.train = train;
    options.valid = valid;
    options.initializer = "normal";
    return mxc_fit(&options, NULL, params);
}

/* Trains net on data and a label of that name; expects the failure, or with text NULL that only fc is trained. */
static void expect(mxc_symbol *net, const char *label_name, const char *text) {
    mxc_iter *iter = rows(2, "data", label_name);
    mxc_ndarray_list params;
    if (text) {
        assert_fails(fit(net, iter, NULL, &params), MXC_ENOTFOUND, text);
    } else {
        assert_ok(fit(net, iter, NULL, &params));
        assert_int_equal(params.n, 2);
        mxc_ndarray_list_release(&params);
    }
    mxc_iter_destroy(iter);
    mxc_symbol_release(net);
}

static mxc_symbol *classifier(void) {
    mxc_symbol *x = dense("2");
    assert_ok(toy_layer("SoftmaxOutput", "softmax", NULL, NULL, &x));
    return x;
}

static void test_misnamed_label(void **state) {
    (void)state;
    expect(classifier(), "target",
           "provides no array called 'softmax_label', which SoftmaxOutput 'softmax' reads as "
           "its label; it provides data 'data' (8,2), label 'target' (8,)");
    expect(classifier(), "target", "rename");
    expect(classifier(), "softmax_label", NULL);
}

/* Names are the user's own business where they agree, and the label may come by way of other operators. */
static void test_labels_by_other_names(void **state) {
    mxc_symbol *label = variable("target");
    (void)state;
    expect(join("SoftmaxOutput", "softmax", dense("2"), variable("target")), "target", NULL);
    assert_ok(toy_layer("Reshape", "flat", "shape", "(-1,)", &label));
    expect(join("SoftmaxOutput", "softmax", dense("2"), mxc_symbol_retain(label)), "target", NULL);
    expect(join("SoftmaxOutput", "softmax", dense("2"), label), "label", "no array called 'target', which Softmax");
}

/* The data are their own target. */
static void test_data_as_label(void **state) {
    (void)state;
    expect(join("LinearRegressionOutput", "out", dense("2"), variable("data")), "unused", NULL);
}

/* No loss operator says that the target is a label, but its shape follows the batch. */
static void test_target_of_own_loss(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        mxc_symbol *x = dense("1");
        assert_ok(toy_layer("Reshape", "flat", "shape", "(-1,)", &x));
        x = join("elemwise_sub", "error", x, variable("target"));
        assert_ok(toy_layer("square", "squares", NULL, NULL, &x));
        assert_ok(toy_layer("MakeLoss", "loss", NULL, NULL, &x));
        expect(x, i == 0 ? "label" : "target", i == 0 ? "'target'; its shape (8,) depends on the batch size" : NULL);
    }
}

static void test_misnamed_data(void **state) {
    mxc_iter *iter = rows(2, "pixels", "softmax_label");
    mxc_symbol *net = classifier();
    (void)state;
    assert_fails(fit(net, iter, NULL, NULL), MXC_ENOTFOUND, "no array called 'data', and its shape does not follow");
    assert_non_null(strstr(mxc_last_error(), "data 'pixels' (8,2)"));
    mxc_iter_destroy(iter);
    mxc_symbol_release(net);
}

static void test_validation_by_other_names(void **state) {
    mxc_iter *train = rows(2, "data", "softmax_label"), *valid = rows(2, "pixels", "softmax_label");
    mxc_symbol *net = classifier();
    (void)state;
    assert_fails(fit(net, train, valid, NULL), MXC_ENOTFOUND,
                 "the validation iterator provides no array called 'data'");
    mxc_iter_destroy(train);
    mxc_iter_destroy(valid);
    mxc_symbol_release(net);
}

/* A state that the user says is a parameter may have the batch's size. */
static void test_declared_parameter(void **state) {
    mxc_iter *iter = rows(2, "data", "softmax_label");
    mxc_symbol *first = variable("first"), *net;
    mxc_ndarray_list params;
    (void)state;
    assert_ok(mxc_symbol_set_attr(first, "__init__", "zeros"));
    net = join("elemwise_add", "sum", dense("2"), first);
    assert_ok(toy_layer("SoftmaxOutput", "softmax", NULL, NULL, &net));
    assert_ok(fit(net, iter, NULL, &params));
    assert_int_equal(params.n, 3);
    mxc_ndarray_list_release(&params);
    mxc_iter_destroy(iter);
    mxc_symbol_release(net);
}

static void test_simple_bind_gives_labels_no_gradient(void **state) {
    static const char *const names[] = {"data"};
    const mxc_shape shape = {.ndim = 2, .dim = {8, 2}};
    mxc_symbol *net = classifier();
    mxc_executor *executor;
    (void)state;
    const mxc_bind_spec spec = {.size = sizeof spec, .n = 1, .names = names, .shapes = &shape, .req = MXC_REQ_WRITE};
    assert_ok(mxc_executor_simple_bind(net, NULL, &spec, &executor));
    assert_non_null(mxc_executor_find_arg(executor, "softmax_label"));
    assert_null(mxc_executor_find_grad(executor, "softmax_label"));
    assert_non_null(mxc_executor_find_grad(executor, "fc_weight"));
    assert_ok(mxc_executor_forward(executor, 1));
    assert_ok(mxc_executor_backward(executor, 0, NULL));
    assert_ok(mxc_ndarray_wait_to_read(mxc_executor_find_grad(executor, "fc_weight")));
    mxc_executor_destroy(executor);
    mxc_symbol_release(net);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_misnamed_label),     cmocka_unit_test(test_labels_by_other_names),
        cmocka_unit_test(test_data_as_label),      cmocka_unit_test(test_target_of_own_loss),
        cmocka_unit_test(test_misnamed_data),      cmocka_unit_test(test_validation_by_other_names),
        cmocka_unit_test(test_declared_parameter), cmocka_unit_test(test_simple_bind_gives_labels_no_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
