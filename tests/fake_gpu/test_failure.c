/* Late errors of the fake GPU: failing work is recorded on the variables, and every later wait says so. */
#include "support.h"

#include <mxc/mxc.h>

/* The fake GPU's streams fail at their 40th piece of work. */
static void test_late_error(void **state) {
    int64_t n = 100;
    mxc_ndarray *x, *y;
    mxc_status status = MXC_OK;
    mxc_op *copy;
    int good = 0;
    (void)state;
    assert_ok(mxc_op_create("_copy", 0, NULL, NULL, &copy));
    assert_ok(mxc_ndarray_create(1, &n, MXC_F32, mxc_gpu(0), &x));
    assert_ok(mxc_ndarray_fill(x, 0));
    for (int i = 0; i < 100 && status == MXC_OK; i++) {
        y = NULL;
        assert_ok(mxc_op_invoke(copy, 1, &x, 1, &y, NULL, 0)); /* queuing says nothing of it */
        status = mxc_ndarray_wait_to_read(y);
        good += status == MXC_OK;
        mxc_ndarray_release(x);
        x = y;
    }
    assert_true(good > 0);
    assert_int_equal(status, MXC_EDEVICE);
    assert_non_null(strstr(mxc_last_error(), "told to fail"));
    /* What depends on it fails too. */
    y = NULL;
    assert_ok(mxc_op_invoke(copy, 1, &x, 1, &y, NULL, 0));
    assert_fails(mxc_ndarray_wait_to_read(y), MXC_EDEVICE, "told to fail");
    mxc_ndarray_release(y);
    assert_status(mxc_ndarray_copy(x, mxc_cpu(0), MXC_F32, &y), MXC_OK);
    assert_fails(mxc_ndarray_wait_to_read(y), MXC_EDEVICE, "told to fail");
    mxc_ndarray_release(x);
    mxc_ndarray_release(y);
    mxc_op_release(copy);
}

/* The CPU goes on. */
static void test_cpu_goes_on(void **state) {
    const char *key = "scalar", *one = "1";
    int64_t n = 1;
    float value;
    mxc_ndarray *x, *y = NULL;
    (void)state;
    assert_ok(mxc_ndarray_create(1, &n, MXC_F32, mxc_cpu(0), &x));
    assert_ok(mxc_ndarray_fill(x, 2));
    assert_ok(mxc_invoke("_plus_scalar", 1, &x, 1, &key, &one, 1, &y));
    assert_ok(mxc_ndarray_get(y, &value, sizeof value));
    assert_true(value == 3);
    mxc_ndarray_release(x);
    mxc_ndarray_release(y);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_late_error), cmocka_unit_test(test_cpu_goes_on)};
    setenv("FAKE_GPU_FAIL", "40", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
