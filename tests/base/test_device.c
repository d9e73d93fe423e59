/* SPDX-License-Identifier: Apache-2.0 */
/* The table of devices and the CPU's functions. */
#include "support.h"

#include "base/device.h"
#include "base/sys.h"

static void every_cpu_context_has_the_device(void **state) {
    const mxci_device *first, *last;
    (void)state;
    assert_ok(mxci_device_get(mxc_cpu(0), &first));
    assert_ok(mxci_device_get(mxc_cpu(MXC_MAX_DEVICE_ID), &last));
    assert_ptr_equal(first, last);
    assert_string_equal(first->name, "cpu");
    assert_int_equal(first->count(), MXC_MAX_DEVICE_ID + 1);
    assert_null(first->stream_create);
}

static void absent_devices_are_named(void **state) {
    const mxci_device *device = (void *)1;
    (void)state;
    assert_fails(mxci_device_get(mxc_gpu(2), &device), MXC_EDEVICE, "gpu(2)");
    assert_null(device);
    assert_fails(mxci_device_get(mxc_cpu(64), &device), MXC_EDEVICE, "cpu(64): no such device; there are 64");
    assert_fails(mxci_device_get(mxc_cpu(-1), &device), MXC_EDEVICE, "cpu(-1)");
    for (int kind = -1; kind <= 0; kind++)
        assert_status(mxci_device_get((mxc_context){kind, 0}, &device), MXC_EDEVICE);
    assert_fails(mxci_device_get((mxc_context){77, 0}, &device), MXC_EDEVICE, "device77(0)");
}

static void memory_is_given_and_copied(void **state) {
    const mxci_device *cpu;
    void *a, *b;
    (void)state;
    assert_ok(mxci_device_get(mxc_cpu(0), &cpu));
    assert_ok(cpu->alloc(mxc_cpu(0), 1000, &a));
    assert_ok(cpu->alloc(mxc_cpu(1), 3 << 20, &b));
    memset(a, 7, 1000);
    assert_ok(cpu->copy_now(mxc_cpu(1), b, mxc_cpu(0), a, 1000));
    assert_memory_equal(a, b, 1000);
    assert_ok(cpu->copy_now(mxc_cpu(1), NULL, mxc_cpu(0), NULL, 0));
    cpu->free(mxc_cpu(0), a, 1000);
    cpu->free(mxc_cpu(1), b, 3 << 20);
    mxci_test_fail_alloc(1, 0);
    assert_fails(cpu->alloc(mxc_cpu(3), 1000, &a), MXC_ENOMEM, "cpu(3): no memory for 1000 bytes");
    mxci_test_fail_alloc(0, 0);
    assert_null(a);
}

/* Where there is no module for GPUs. */
static void pinned_memory_is_the_host_s(void **state) {
    const mxci_device *cpu, *pinned;
    (void)state;
    assert_ok(mxci_device_get(mxc_cpu(0), &cpu));
    assert_ok(mxci_device_get((mxc_context){MXC_CPU_PINNED, 1}, &pinned));
    assert_ptr_equal(pinned, cpu);
}

static int two(void) {
    return 2;
}

static void other_devices_are_registered_once(void **state) {
    static const mxci_device pinned = {.name = "cpu_pinned", .count = two};
    const mxci_device *found;
    (void)state;
    assert_ok(mxci_device_register(MXC_CPU_PINNED, &pinned));
    assert_ok(mxci_device_get((mxc_context){MXC_CPU_PINNED, 1}, &found));
    assert_ptr_equal(found, &pinned);
    assert_fails(mxci_device_get((mxc_context){MXC_CPU_PINNED, 2}, &found), MXC_EDEVICE, "there are 2");
    assert_status(mxci_device_register(MXC_CPU_PINNED, &pinned), MXC_EEXIST);
    assert_status(mxci_device_register(MXC_CPU, &pinned), MXC_EEXIST);
    assert_status(mxci_device_register((mxc_device)9, &pinned), MXC_EINVAL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cpu_context_has_the_device),  cmocka_unit_test(absent_devices_are_named),
        cmocka_unit_test(memory_is_given_and_copied),        cmocka_unit_test(pinned_memory_is_the_host_s),
        cmocka_unit_test(other_devices_are_registered_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
