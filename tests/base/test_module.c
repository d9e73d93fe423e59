/* GPU modules that are absent, no modules, or of another version: a clear error, and everything else works. */
#include "support.h"

#include <mxc/mxc.h>

#include "base/module.h"

static void test_absent(void **state) {
    const mxci_module *module;
    mxc_ndarray *x;
    int64_t n = 1;
    int devices;
    (void)state;
    assert_fails(mxc_device_count(MXC_GPU, &devices), MXC_EDEVICE, "/nowhere/libmxc_gpu.so");
    assert_int_equal(devices, 0);
    assert_fails(mxc_ndarray_create(1, &n, MXC_F32, mxc_gpu(0), &x), MXC_EDEVICE, "gpu(0): no support");
    assert_fails(mxc_ndarray_create(1, &n, MXC_F32, mxc_gpu(0), &x), MXC_EDEVICE, "/nowhere/libmxc_gpu.so");
    assert_fails(mxci_module_get(MXC_CPU, &module), MXC_EDEVICE, "no module");
    assert_ok(mxc_ndarray_create(1, &n, MXC_F32, mxc_cpu(0), &x));
    mxc_ndarray_release(x);
}

/* Without the module, an operator on such arrays would run on the host; there are none, so nothing is lost. */
static void test_place(void **state) {
    const mxc_op_def *op = mxc_op_find("Convolution");
    (void)state;
    assert_int_equal(mxc_op_place(op, MXC_CPU, MXC_FORWARD), MXC_PLACE_DEVICE);
    assert_int_equal(mxc_op_place(op, MXC_CPU_PINNED, MXC_BACKWARD), MXC_PLACE_DEVICE);
    assert_int_equal(mxc_op_place(op, MXC_GPU, MXC_FORWARD), MXC_PLACE_HOST);
    assert_int_equal(mxc_op_place(mxc_op_find("topk"), MXC_CPU, MXC_BACKWARD) != MXC_PLACE_HOST, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_absent), cmocka_unit_test(test_place)};
    setenv("MXC_GPU_MODULE", "/nowhere/libmxc_gpu.so", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
