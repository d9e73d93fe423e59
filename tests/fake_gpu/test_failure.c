/* SPDX-License-Identifier: Apache-2.0 */
/* Late errors of a GPU: failing work is recorded on the variables, and every later wait reports it. The
 * emulator fails on request; a real GPU gets a kernel that writes to an invalid address, which ends its use in this
 * process. */
#include "support.h"

#include <mxc/mxc.h>

#include "operator/op_impl.h"

static const char *expected; /* in the message */

/* The module's own exp, to an address that is nobody's. */
static mxc_status copy_astray(const mxc_op_call *call) {
    mxc_op_call wrong = *call;
    mxc_tensor nowhere = call->out[0];
    mxci_op_impl impl;
    mxci_op_impl_get(mxc_op_find("exp"), MXC_GPU, &impl);
    nowhere.data = (void *)(uintptr_t)4096;
    wrong.out = &nowhere;
    return impl.forward(&wrong);
}

static const mxc_op_def astray = {
    .size = sizeof(mxc_op_def),
    .name = "copy_astray",
    .doc = "writes nowhere",
    .flags = MXC_OP_ZERO_GRADIENT,
    .forward = {[MXC_CPU] = copy_astray, [MXC_GPU] = copy_astray},
};

/* The fake GPU's streams fail at their 40th piece of work; other GPUs by the operator. */
static void test_late_error(void **state) {
    int64_t n = 100;
    mxc_ndarray *x, *y;
    mxc_status status = MXC_OK;
    const int is_fake = getenv("FAKE_GPU_FAIL") != NULL;
    mxc_op *copy, *bad;
    int good = 0;
    (void)state;
    assert_ok(mxc_op_register(&astray));
    assert_ok(mxc_op_create("_copy", 0, NULL, NULL, &copy));
    assert_ok(mxc_op_create("copy_astray", 0, NULL, NULL, &bad));
    assert_ok(mxc_ndarray_create(1, &n, MXC_F32, mxc_gpu(0), &x));
    assert_ok(mxc_ndarray_fill(x, 0));
    for (int i = 0; i < 100 && status == MXC_OK; i++) {
        y = NULL;
        assert_ok(mxc_op_invoke(i == 20 && !is_fake ? bad : copy, 1, &x, 1, &y, NULL, 0)); /* queuing says nothing */
        status = mxc_ndarray_wait_to_read(y);
        good += status == MXC_OK;
        mxc_ndarray_release(x);
        x = y;
    }
    assert_true(good > 0);
    assert_int_equal(status, MXC_EDEVICE);
    assert_non_null(strstr(mxc_last_error(), expected));
    /* What depends on it fails too. */
    y = NULL;
    assert_ok(mxc_op_invoke(copy, 1, &x, 1, &y, NULL, 0));
    assert_fails(mxc_ndarray_wait_to_read(y), MXC_EDEVICE, expected);
    mxc_ndarray_release(y);
    assert_status(mxc_ndarray_copy(x, mxc_cpu(0), MXC_F32, &y), MXC_OK);
    assert_fails(mxc_ndarray_wait_to_read(y), MXC_EDEVICE, expected);
    mxc_ndarray_release(x);
    mxc_ndarray_release(y);
    mxc_op_release(copy);
    mxc_op_release(bad);
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
    const char *module = getenv("MXC_GPU_MODULE");
    const int is_fake = module && strstr(module, "fake_gpu");
    expected = is_fake ? "injected failure" : "illegal memory access";
    if (is_fake)
        setenv("FAKE_GPU_FAIL", "40", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
