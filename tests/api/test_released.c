/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles that are used after their release, released twice, or shared by calls at the same time: noticed in checked
 * builds (Debug and sanitizers, MXCI_CHECKS); in others nothing is promised.
 */
#include <string.h>

#include <mxc/mxc.h>

#include "support.h"

#ifdef MXCI_CHECKS

static char logged[1024];

static void keep_log(mxc_log_level level, const char *message, void *user) {
    (void)level, (void)user;
    snprintf(logged, sizeof logged, "%s", message);
}

/* release is called once more: it must only log. */
#define assert_second_release_is_logged(release)                      \
    do {                                                              \
        logged[0] = '\0';                                             \
        mxc_set_logger(keep_log, NULL);                               \
        release;                                                      \
        mxc_set_logger(NULL, NULL);                                   \
        assert_non_null(strstr(logged, "has already been released")); \
    } while (0)

static mxc_ndarray *make_array(void) {
    const int64_t dims[] = {2};
    mxc_ndarray *array;
    assert_ok(mxc_ndarray_create(1, dims, MXC_F32, mxc_cpu(0), &array));
    return array;
}

static void test_array(void **state) {
    mxc_ndarray *array = make_array(), *out;
    float values[2];
    (void)state;
    mxc_ndarray_release(array);
    assert_fails(mxc_ndarray_get(array, values, sizeof values), MXC_EINVAL, "array has been released");
    assert_fails(mxc_ndarray_wait_to_read(array), MXC_EINVAL, "has been released");
    assert_fails(mxc_invoke("relu", 1, &array, 0, NULL, NULL, 1, &out), MXC_EINVAL, "has been released");
    assert_second_release_is_logged(mxc_ndarray_release(array));
}

/* A handle is stale only until its last reference is gone, and a new object may get its address. */
static void test_references_and_new_objects(void **state) {
    mxc_ndarray *array = make_array();
    float values[2] = {0};
    (void)state;
    mxc_ndarray_retain(array);
    mxc_ndarray_release(array);
    assert_ok(mxc_ndarray_set(array, values, sizeof values));
    mxc_ndarray_release(array);
    for (int i = 0; i < 20000; i++) {
        mxc_ndarray *next = make_array();
        assert_ok(mxc_ndarray_wait_to_read(next));
        mxc_ndarray_release(next);
    }
}

static void test_symbol(void **state) {
    mxc_symbol *symbol, *copy;
    char *json;
    (void)state;
    assert_ok(mxc_symbol_variable("x", &symbol));
    mxc_symbol_release(symbol);
    assert_fails(mxc_symbol_to_json(symbol, &json), MXC_EINVAL, "symbol has been released");
    assert_fails(mxc_symbol_copy(symbol, &copy), MXC_EINVAL, "symbol has been released");
    assert_second_release_is_logged(mxc_symbol_release(symbol));
}

static void test_op(void **state) {
    mxc_op *op;
    mxc_ndarray *array = make_array(), *out = NULL;
    (void)state;
    assert_ok(mxc_op_create("relu", 0, NULL, NULL, &op));
    mxc_op_release(op);
    assert_fails(mxc_op_invoke(op, 1, &array, 1, &out, NULL, 0), MXC_EINVAL, "op has been released");
    assert_second_release_is_logged(mxc_op_release(op));
    mxc_ndarray_release(array);
}

static void test_others(void **state) {
    const int64_t dims[] = {2, 1};
    mxc_array_iter_options options = MXC_ARRAY_ITER_OPTIONS_INIT;
    mxc_ndarray *data;
    mxc_iter *iter;
    mxc_kvstore *store;
    mxc_optimizer *optimizer;
    mxc_metric *metric;
    mxc_batch batch;
    (void)state;
    assert_ok(mxc_ndarray_create(2, dims, MXC_F32, mxc_cpu(0), &data));
    assert_ok(mxc_iter_from_arrays(&options, 1, &data, 0, NULL, NULL, &iter));
    mxc_iter_destroy(iter);
    assert_fails(mxc_iter_next(iter, &batch), MXC_EINVAL, "iter has been released");
    assert_second_release_is_logged(mxc_iter_destroy(iter));
    assert_ok(mxc_kvstore_create("local", &store));
    mxc_kvstore_destroy(store);
    assert_fails(mxc_kvstore_barrier(store), MXC_EINVAL, "store has been released");
    assert_second_release_is_logged(mxc_kvstore_destroy(store));
    assert_ok(mxc_optimizer_create("sgd", 0, NULL, NULL, &optimizer));
    mxc_optimizer_destroy(optimizer);
    assert_fails(mxc_optimizer_update(optimizer, "w", data, data), MXC_EINVAL, "optimizer has been released");
    assert_second_release_is_logged(mxc_optimizer_destroy(optimizer));
    assert_ok(mxc_metric_create("mse", 0, NULL, NULL, &metric));
    mxc_metric_destroy(metric);
    assert_fails(mxc_metric_update(metric, data, data, 0), MXC_EINVAL, "metric has been released");
    assert_second_release_is_logged(mxc_metric_destroy(metric));
    mxc_ndarray_release(data);
}

static void test_predictor(void **state) {
    const mxc_data_desc input = {"x", {1, {2}}, MXC_F32};
    const mxc_ndarray_list none = {0, NULL, NULL};
    mxc_symbol *symbol;
    mxc_predictor *predictor, *clone;
    (void)state;
    assert_ok(mxc_symbol_variable("x", &symbol));
    assert_ok(mxc_predictor_create(symbol, &none, 1, &input, NULL, &predictor));
    mxc_symbol_release(symbol);
    mxc_predictor_destroy(predictor);
    assert_fails(mxc_predictor_forward(predictor), MXC_EINVAL, "predictor has been released");
    assert_fails(mxc_predictor_clone(predictor, &clone), MXC_EINVAL, "predictor has been released");
    assert_second_release_is_logged(mxc_predictor_destroy(predictor));
}

/* ---- executors --------------------------------------------------------------------------------------------------- */

static mxc_executor *make_executor(void) {
    const char *name = "x";
    mxc_shape shape;
    mxc_symbol *x, *y;
    mxc_executor *executor;
    shape.ndim = 1;
    shape.dim[0] = 2;
    assert_ok(mxc_symbol_variable("x", &x));
    assert_ok(mxc_symbol_op("relu", "y", 0, NULL, NULL, 1, NULL, &x, &y));
    const mxc_bind_spec spec = {.size = sizeof spec, .n = 1, .names = &name, .shapes = &shape};
    assert_ok(mxc_executor_simple_bind(y, NULL, &spec, &executor));
    mxc_symbol_release(x);
    mxc_symbol_release(y);
    return executor;
}

static void test_executor(void **state) {
    mxc_executor *executor = make_executor();
    (void)state;
    assert_ok(mxc_executor_forward(executor, 0));
    mxc_executor_destroy(executor);
    assert_fails(mxc_executor_forward(executor, 0), MXC_EINVAL, "executor has been released");
    assert_second_release_is_logged(mxc_executor_destroy(executor));
}

static void call_again(const char *name, mxc_ndarray *array, void *user) {
    mxc_executor *executor = user;
    (void)name, (void)array;
    assert_fails(mxc_executor_forward(executor, 0), MXC_ESTATE, "for one thread at a time");
    snprintf(logged, sizeof logged, "called");
}

/* On a naive engine the monitor runs inside the call, as another thread's call might. */
static void test_calls_at_the_same_time(void **state) {
    mxc_engine_options options = MXC_ENGINE_OPTIONS_INIT;
    mxc_engine *naive;
    mxc_executor *executor;
    (void)state;
    options.kind = MXC_ENGINE_NAIVE;
    assert_ok(mxc_engine_create(&options, &naive));
    mxc_engine_set_default(naive);
    executor = make_executor();
    assert_ok(mxc_executor_set_monitor(executor, call_again, executor));
    logged[0] = '\0';
    assert_ok(mxc_executor_forward(executor, 0));
    assert_string_equal(logged, "called");
    assert_ok(mxc_executor_set_monitor(executor, NULL, NULL));
    assert_ok(mxc_executor_forward(executor, 0));
    mxc_executor_destroy(executor);
    mxc_engine_set_default(NULL);
    mxc_engine_destroy(naive);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_array),    cmocka_unit_test(test_references_and_new_objects),
        cmocka_unit_test(test_symbol),   cmocka_unit_test(test_op),
        cmocka_unit_test(test_others),   cmocka_unit_test(test_predictor),
        cmocka_unit_test(test_executor), cmocka_unit_test(test_calls_at_the_same_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void needs_a_checked_build(void **state) {
    (void)state;
    skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(needs_a_checked_build)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
