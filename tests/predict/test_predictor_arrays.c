/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs and outputs of predictors by name and position, from host memory and from arrays; what is refused. */
#include "predict/saved.h"

static saved net;
static mxc_predictor *p;
static float *data, *answer;

static int set_up(void **state) {
    const mxc_data_desc input = saved_input(1);
    (void)state;
    saved_open(&net);
    data = saved_data(1, 1);
    answer = saved_answer(&net, 1, data);
    return mxc_predictor_create(net.symbol, &net.params, 1, &input, NULL, &p) != MXC_OK;
}

static int tear_down(void **state) {
    (void)state;
    mxc_predictor_destroy(p);
    free(data);
    free(answer);
    saved_close(&net);
    return 0;
}

static void expect_answer(void) {
    float found[SAVED_CLASSES];
    assert_ok(mxc_predictor_forward(p));
    assert_ok(mxc_predictor_get_output(p, "softmax_output", found, sizeof found));
    assert_memory_equal(found, answer, sizeof found);
    assert_ok(mxc_ndarray_fill(mxc_predictor_input(p, 0), 0));
}

static void test_ways_to_set(void **state) {
    const mxc_shape shape = saved_input(1).shape;
    mxc_ndarray *array;
    (void)state;
    assert_ok(mxc_predictor_set_input(p, "data", data, SAVED_SIZE * sizeof *data));
    expect_answer();
    assert_ok(mxc_predictor_set_input_at(p, 0, data, SAVED_SIZE * sizeof *data));
    expect_answer();
    assert_ok(mxc_ndarray_from_data(4, shape.dim, MXC_F32, data, &array));
    assert_ok(mxc_predictor_set_input_array(p, "data", array));
    expect_answer();
    assert_ok(mxc_predictor_set_input_array_at(p, 0, array));
    expect_answer();
    mxc_ndarray_release(array);
    assert_ok(mxc_ndarray_set(mxc_predictor_find_input(p, "data"), data, SAVED_SIZE * sizeof *data));
    expect_answer();
}

static void test_refusals(void **state) {
    mxc_ndarray *array;
    float found[SAVED_CLASSES];
    (void)state;
    assert_fails(mxc_predictor_set_input(p, "image", data, 4), MXC_ENOTFOUND, "\"image\"; there are: data");
    assert_fails(mxc_predictor_set_input(p, "data", data, 4), MXC_EINVAL,
                 "\"data\" has shape (1,2,6,6) of float32: expected 288 bytes, found 4");
    assert_fails(mxc_predictor_set_input(p, "data", NULL, 0), MXC_EINVAL, "found 0");
    assert_fails(mxc_predictor_set_input(p, "data", data, SIZE_MAX), MXC_EINVAL, "expected 288 bytes");
    assert_fails(mxc_predictor_set_input_at(p, 1, data, 4), MXC_ENOTFOUND, "input 1");
    assert_fails(mxc_predictor_set_input_at(p, -1, data, 4), MXC_ENOTFOUND, "input -1");
    assert_ok(mxc_ndarray_create(1, (int64_t[]){3}, MXC_F32, mxc_cpu(0), &array));
    assert_fails(mxc_predictor_set_input_array(p, "data", array), MXC_ESHAPE, "expected shape (1,2,6,6), found (3,)");
    assert_fails(mxc_predictor_set_input_array(p, "x", array), MXC_ENOTFOUND, "data");
    assert_fails(mxc_predictor_set_input_array_at(p, INT64_MAX, array), MXC_ENOTFOUND, "input");
    mxc_ndarray_release(array);
    assert_fails(mxc_predictor_get_output(p, "fc", found, sizeof found), MXC_ENOTFOUND, "there are: softmax_output");
    assert_fails(mxc_predictor_get_output(p, "", found, sizeof found), MXC_ENOTFOUND, "softmax_output");
    assert_fails(mxc_predictor_get_output_at(p, 1, found, sizeof found), MXC_ENOTFOUND, "output 1");
    assert_fails(mxc_predictor_get_output_at(p, 0, found, 8), MXC_EINVAL,
                 "\"softmax_output\" has shape (1,5) of float32: expected 20 bytes, found 8");
}

/* What the outputs are is known before anything has run. */
static void test_queries(void **state) {
    const mxc_data_desc input = saved_input(2);
    mxc_predictor *fresh;
    (void)state;
    assert_ok(mxc_predictor_create(net.symbol, &net.params, 1, &input, NULL, &fresh));
    const mxc_shape *shape = mxc_ndarray_shape(mxc_predictor_output(fresh, 0));
    assert_true(shape->ndim == 2 && shape->dim[0] == 2 && shape->dim[1] == SAVED_CLASSES);
    assert_int_equal(mxc_predictor_n_inputs(fresh), 1);
    assert_int_equal(mxc_predictor_n_outputs(fresh), 1);
    assert_string_equal(mxc_predictor_input_name(fresh, 0), "data");
    assert_string_equal(mxc_predictor_output_name(fresh, 0), "softmax_output");
    assert_null(mxc_predictor_input_name(fresh, 1));
    assert_null(mxc_predictor_output_name(fresh, -1));
    assert_null(mxc_predictor_input(fresh, 1));
    assert_null(mxc_predictor_output(fresh, 1));
    assert_null(mxc_predictor_find_input(fresh, "softmax_label"));
    assert_ptr_equal(mxc_predictor_find_output(fresh, "softmax"), mxc_predictor_output(fresh, 0));
    assert_null(mxc_predictor_find_output(fresh, "softmax_"));
    assert_null(mxc_predictor_find_output(fresh, NULL));
    mxc_predictor_destroy(fresh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ways_to_set),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_queries),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
