/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays on a device that the host cannot access: a stand-in for a GPU whose memory is accessed by its own table
 * only.
 */
#include "arrays.h"

#include "base/device.h"

/* Device addresses are host addresses moved out of what a process can map, so that a use on the host is a crash. */
#define MOVED ((uintptr_t)1 << 62)

static int device_count(void) {
    return 2;
}

static mxc_status device_alloc(mxc_context context, size_t bytes, void **out) {
    void *block = mxci_pages_alloc(bytes);
    (void)context;
    *out = block ? (void *)((uintptr_t)block + MOVED) : NULL;
    if (!block)
        return MXC_FAIL(MXC_ENOMEM, "the device is full");
    memset(block, 0xee, bytes);
    return MXC_OK;
}

static void device_free(mxc_context context, void *block, size_t bytes) {
    (void)context;
    mxci_pages_free((void *)((uintptr_t)block - MOVED), bytes);
}

static void *reach(mxc_context context, const void *address) {
    return (void *)((uintptr_t)address - (context.device == MXC_GPU ? MOVED : 0));
}

static mxc_status device_copy_now(mxc_context to, void *destination, mxc_context from, const void *source,
                                  size_t bytes) {
    memmove(reach(to, destination), reach(from, source), bytes);
    return MXC_OK;
}

static const mxci_device stand_in = {
    .name = "gpu",
    .count = device_count,
    .alloc = device_alloc,
    .free = device_free,
    .copy_now = device_copy_now,
};

static mxc_ndarray *on_device(mxc_dtype dtype, int id) {
    mxc_ndarray *a;
    assert_ok(mxc_ndarray_create(2, DIMS(3, 4), dtype, mxc_gpu(id), &a));
    return a;
}

static void bytes_travel(void **state) {
    float in[12], out[12];
    mxc_ndarray *a = on_device(MXC_F32, 0), *b, *row;
    void *data;
    (void)state;
    for (int i = 0; i < 12; i++)
        in[i] = (float)i;
    assert_ok(mxc_ndarray_set(a, in, sizeof in));
    assert_ok(mxc_ndarray_get(a, out, sizeof out));
    assert_memory_equal(in, out, sizeof in);
    assert_fails(mxc_ndarray_data(a, &data), MXC_EDEVICE, "gpu(0)");
    assert_ok(mxc_ndarray_copy(a, mxc_gpu(1), MXC_F32, &b)); /* between devices */
    assert_ok(mxc_ndarray_at(b, 2, &row));
    assert_ok(mxc_ndarray_get(row, out, 16));
    assert_memory_equal(out, in + 8, 16);
    assert_int_equal(mxc_ndarray_context(row).id, 1);
    mxc_ndarray_release(row);
    mxc_ndarray_release(a);
    mxc_ndarray_release(b);
}

static void dtypes_convert_on_the_way(void **state) {
    const mxc_context places[] = {{MXC_CPU, 0}, {MXC_GPU, 0}, {MXC_GPU, 1}};
    double back[12];
    (void)state;
    for (int from = 0; from < 3; from++)
        for (int to = 0; to < 3; to++) {
            int32_t in[12] = {5, -6, 7};
            mxc_ndarray *a, *b, *c;
            assert_ok(mxc_ndarray_from_data(1, DIMS(12), MXC_I32, in, &c));
            assert_ok(mxc_ndarray_copy(c, places[from], MXC_I32, &a));
            assert_ok(mxc_ndarray_copy(a, places[to], MXC_F16, &b));
            array_values(b, back);
            assert_true(back[0] == 5 && back[1] == -6 && back[2] == 7 && back[11] == 0);
            mxc_ndarray_release(a);
            mxc_ndarray_release(b);
            mxc_ndarray_release(c);
        }
}

static void fills_give_the_numbers_of_the_host(void **state) {
    mxc_ndarray *host = array_new(2, DIMS(3, 4), MXC_F32), *device = on_device(MXC_F32, 0), *back;
    double x[12];
    (void)state;
    mxc_random_seed(9);
    assert_ok(mxc_ndarray_fill_normal(host, 0, 1));
    assert_ok(mxc_ndarray_fill_normal(device, 0, 1));
    assert_ok(mxc_ndarray_copy(device, mxc_cpu(0), MXC_F32, &back));
    assert_same_array(host, back);
    assert_ok(mxc_ndarray_fill(device, -2));
    array_values(device, x);
    assert_true(x[0] == -2 && x[11] == -2);
    mxc_ndarray_release(host);
    mxc_ndarray_release(device);
    mxc_ndarray_release(back);
}

static void device_arrays_are_saved_and_printed(void **state) {
    mxc_ndarray *a = on_device(MXC_I32, 1), *back;
    mxc_ndarray_list list;
    test_path folder, path;
    char *text;
    (void)state;
    assert_ok(mxc_ndarray_fill(a, 4));
    test_join(path, test_temp_dir(folder), "a.params");
    assert_ok(mxc_ndarray_save(path, 1, &a, NULL));
    assert_ok(mxc_ndarray_load(path, &list));
    assert_ok(mxc_ndarray_copy(a, mxc_cpu(0), MXC_I32, &back));
    assert_same_array(list.arrays[0], back);
    assert_ok(mxc_ndarray_print(a, &text));
    assert_non_null(strstr(text, "[[4 4 4 4]\n"));
    assert_non_null(strstr(text, "@gpu(1)"));
    mxc_free(text);
    mxc_ndarray_list_release(&list);
    mxc_ndarray_release(a);
    mxc_ndarray_release(back);
    test_remove_dir(folder);
}

static int register_device(void **state) {
    (void)state;
    return mxci_device_register(MXC_GPU, &stand_in) != MXC_OK;
}

/* Its blocks have addresses that the leak checker does not know. */
static int trim_device(void **state) {
    (void)state;
    return mxc_storage_trim(mxc_gpu(0), 0) != MXC_OK || mxc_storage_trim(mxc_gpu(1), 0) != MXC_OK;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_travel),
        cmocka_unit_test(dtypes_convert_on_the_way),
        cmocka_unit_test(fills_give_the_numbers_of_the_host),
        cmocka_unit_test(device_arrays_are_saved_and_printed),
    };
    return cmocka_run_group_tests_name("device", tests, register_device, trim_device);
}
