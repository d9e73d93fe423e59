/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that take a context as two numbers do what those do that take the struct. */
#include "support.h"

#include <mxc/mxc.h>

static const int64_t dims[] = {2, 3};

static void arrays(void **state) {
    mxc_ndarray *array, *copy;
    int type = -1, id = -1;
    char text[32];
    (void)state;
    assert_ok(mxc_ndarray_create_on(2, dims, MXC_F32, MXC_CPU, 3, &array));
    assert_true(mxc_context_equal(mxc_ndarray_context(array), mxc_cpu(3)));
    mxc_ndarray_device(array, &type, &id);
    assert_int_equal(type, MXC_CPU);
    assert_int_equal(id, 3);
    mxc_ndarray_device(array, NULL, &id);
    mxc_ndarray_device(array, &type, NULL);
    assert_ok(mxc_ndarray_fill(array, 2));
    assert_ok(mxc_ndarray_copy_on(array, MXC_CPU, 1, MXC_F64, &copy));
    mxc_ndarray_device(copy, &type, &id);
    assert_int_equal(id, 1);
    assert_int_equal(mxc_ndarray_dtype(copy), MXC_F64);
    assert_string_equal(mxc_context_format_on(type, id, text, sizeof text), "cpu(1)");
    mxc_ndarray_release(copy);
    mxc_ndarray_release(array);
    assert_fails(mxc_ndarray_create_on(2, dims, MXC_F32, 77, 0, &array), MXC_EDEVICE, "device77(0)");
    assert_null(array);
}

static void random_streams(void **state) {
    mxc_random here, there;
    (void)state;
    mxc_random_seed(5);
    assert_ok(mxc_random_reserve_on(MXC_CPU, 2, 10, &here));
    assert_int_equal(here.offset, 0);
    assert_ok(mxc_random_get_state_on(MXC_CPU, 2, &here));
    assert_ok(mxc_random_get_state(mxc_cpu(2), &there));
    assert_int_equal(here.offset, 10);
    assert_memory_equal(&here, &there, sizeof here);
    here.offset = 4;
    assert_ok(mxc_random_set_state_on(MXC_CPU, 2, &here));
    assert_ok(mxc_random_get_state(mxc_cpu(2), &there));
    assert_int_equal(there.offset, 4);
    assert_status(mxc_random_set_state_on(MXC_CPU, 1, &here), MXC_EINVAL); /* that of another stream */
}

static void storage(void **state) {
    mxc_storage_stats before, after;
    void *block;
    (void)state;
    assert_ok(mxc_storage_get_stats_on(MXC_CPU, 5, &before));
    assert_ok(mxc_storage_alloc_on(MXC_CPU, 5, 100, &block));
    assert_non_null(block);
    assert_ok(mxc_storage_get_stats(mxc_cpu(5), &after));
    assert_int_equal(after.bytes_in_use - before.bytes_in_use, mxc_storage_class_size(100));
    mxc_storage_free_on(MXC_CPU, 5, block, 100);
    assert_ok(mxc_storage_get_stats_on(MXC_CPU, 5, &after));
    assert_int_equal(after.bytes_in_use, before.bytes_in_use);
    assert_ok(mxc_storage_set_cap_on(MXC_CPU, 5, (size_t)1 << 20));
    assert_ok(mxc_storage_trim_on(MXC_CPU, 5, 0));
    assert_ok(mxc_storage_get_stats_on(MXC_CPU, 5, &after));
    assert_int_equal(after.bytes_cached, 0);
    assert_ok(mxc_storage_set_cap_on(MXC_CPU, 5, 0));
}

/* Batches of a prefetching iterator are on its context; a network is evaluated on one. */
static void iterators(void **state) {
    const float values[] = {1, 2, 3, 4, 5, 6};
    mxc_array_iter_options options;
    const mxc_ndarray_list params = {0, NULL, NULL};
    mxc_ndarray *data, *label;
    mxc_symbol *x, *y, *out;
    mxc_metric *metric;
    mxc_iter *iter;
    mxc_batch batch;
    (void)state;
    mxc_array_iter_options_init(&options, sizeof options);
    assert_ok(mxc_ndarray_from_data(2, dims, MXC_F32, values, &data));
    assert_ok(mxc_ndarray_from_data(2, dims, MXC_F32, values, &label));
    assert_ok(mxc_iter_from_arrays(&options, 1, &data, 1, &label, NULL, &iter));
    assert_ok(mxc_iter_prefetch_on(iter, 1, MXC_CPU, 1, &iter));
    assert_ok(mxc_iter_next(iter, &batch));
    assert_int_equal(batch.n_data, 1);
    assert_true(mxc_context_equal(mxc_ndarray_context(batch.data[0]), mxc_cpu(1)));
    assert_ok(mxc_iter_reset(iter));
    assert_ok(mxc_symbol_variable("data", &x));
    assert_ok(mxc_symbol_variable("softmax_label", &y));
    assert_ok(mxc_symbol_op("LinearRegressionOutput", "out", 0, NULL, NULL, 2, NULL, (mxc_symbol *[]){x, y}, &out));
    assert_ok(mxc_metric_create("mse", 0, NULL, NULL, &metric));
    assert_ok(mxc_evaluate_on(out, &params, iter, MXC_CPU, 1, 1, &metric));
    assert_true(mxc_metric_value(metric) == 0);
    mxc_metric_destroy(metric);
    mxc_symbol_release(out);
    mxc_symbol_release(y);
    mxc_symbol_release(x);
    mxc_iter_destroy(iter);
    mxc_ndarray_release(label);
    mxc_ndarray_release(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays),
        cmocka_unit_test(random_streams),
        cmocka_unit_test(storage),
        cmocka_unit_test(iterators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
