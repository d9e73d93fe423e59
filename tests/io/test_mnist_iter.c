/* SPDX-License-Identifier: Apache-2.0 */
/* MNISTIter: MXNet's names and defaults, both spellings of a path, and files that do not fit each other. */
#include "alive.h"
#include "base/sys.h"
#include "io/idx_files.h"

#include <mxc/io.h>

static test_path folder, image, label, image_gz;

static void write_pair(uint32_t n_images, uint32_t n_labels, int gz) {
    bytes images = idx_u8(3, (uint32_t[]){n_images, 4, 5}), labels = idx_u8(1, &n_labels);
    unlink(image);
    unlink(image_gz);
    if (gz) {
        bytes packed = gzip_member(images.data, images.n);
        write_bytes(image_gz, &packed);
        bytes_free(&packed);
    } else {
        write_bytes(image, &images);
    }
    write_bytes(label, &labels);
    bytes_free(&images);
    bytes_free(&labels);
}

static int set_up(void **state) {
    (void)state;
    test_temp_dir(folder);
    test_join(image, folder, "images");
    test_join(image_gz, folder, "images.gz");
    test_join(label, folder, "labels");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    test_remove_dir(folder);
    return 0;
}

/* With further parameters as "key", "value", ..., NULL. */
static mxc_status make(const char *image_path, mxc_iter **out, ...) {
    const char *keys[12] = {"image", "label"}, *values[12] = {image_path, label};
    int n = 2;
    va_list args;
    va_start(args, out);
    for (const char *key; (key = va_arg(args, const char *)) != NULL; n++) {
        keys[n] = key;
        values[n] = va_arg(args, const char *);
    }
    va_end(args);
    return mxc_iter_create("MNISTIter", n, keys, values, out);
}

static void test_values(void **state) {
    (void)state;
    for (int gz = 0; gz < 2; gz++)
        for (int flat = 0; flat < 2; flat++) {
            mxc_iter *iter;
            mxc_batch batch;
            float *data, *classes;
            write_pair(7, 7, gz);
            assert_ok(make(gz ? image : image_gz, &iter, "batch_size", "3", "shuffle", "False", "flat",
                           flat ? "True" : "False", NULL)); /* the other spelling */
            const mxc_shape *shape = &mxc_iter_desc(iter, 0)->shape;
            assert_string_equal(mxc_iter_desc(iter, 0)->name, "data");
            assert_string_equal(mxc_iter_desc(iter, 1)->name, "softmax_label");
            assert_int_equal(shape->ndim, flat ? 2 : 4);
            assert_int_equal(shape->dim[1], flat ? 20 : 1);
            assert_ok(mxc_iter_next(iter, &batch));
            assert_ok(mxc_iter_next(iter, &batch));
            assert_ok(mxc_ndarray_data(batch.data[0], (void **)&data));
            assert_ok(mxc_ndarray_data(batch.label[0], (void **)&classes));
            for (int i = 0; i < 60; i++)
                assert_true(data[i] == (float)((60 + i) * 7 % 251) / 256);
            for (int i = 0; i < 3; i++)
                assert_true(classes[i] == (float)((3 + i) * 7 % 251));
            assert_ok(mxc_iter_next(iter, &batch));
            assert_int_equal(batch.n_data, 0); /* the seventh is left out */
            mxc_iter_destroy(iter);
        }
}

static void test_defaults(void **state) {
    mxc_iter *iter;
    mxc_batch a, b;
    (void)state;
    write_pair(300, 300, 0);
    assert_ok(make(image, &iter, NULL));
    assert_int_equal(mxc_iter_desc(iter, 0)->shape.dim[0], 128);
    assert_ok(mxc_iter_next(iter, &a));
    int in_order = 0;
    for (uint64_t i = 0; i < 128; i++)
        in_order += a.index[i] == i;
    assert_true(in_order < 20);
    assert_ok(mxc_iter_next(iter, &b));
    assert_ok(mxc_iter_next(iter, &b));
    assert_int_equal(b.n_data, 0);
    mxc_iter_destroy(iter);
}

static void test_files_that_do_not_fit(void **state) {
    mxc_iter *iter;
    test_path absent;
    (void)state;
    write_pair(7, 6, 0);
    assert_fails(make(image, &iter, NULL), MXC_ESHAPE, "array 1 has 6 samples, array 0 has 7");
    write_pair(7, 7, 0);
    assert_fails(make(label, &iter, NULL), MXC_EFORMAT, "expected uint8 with 3 axes");
    assert_fails(make(test_join(absent, folder, "none"), &iter, NULL), MXC_ENOTFOUND, "none.gz exists");
    assert_fails(make(test_join(absent, folder, "none.gz"), &iter, NULL), MXC_ENOTFOUND, "none exists");
    assert_fails(make(image, &iter, "batch_size", "0", NULL), MXC_EINVAL, "batch_size");
    assert_fails(make(image, &iter, "batchsize", "8", NULL), MXC_EINVAL, "batchsize");
    assert_fails(make(image, &iter, "num_parts", "2", "part_index", "2", NULL), MXC_EINVAL, "part_index 2");
    test_write_file(image, "\0\0\10\3\0\0", 6);
    assert_fails(make(image, &iter, NULL), MXC_EFORMAT, "images");
}

static void test_parts(void **state) {
    int seen[30] = {0};
    (void)state;
    write_pair(30, 30, 0);
    for (int part = 0; part < 3; part++) {
        char text[16];
        mxc_iter *iter;
        mxc_batch batch;
        snprintf(text, sizeof text, "%d", part);
        assert_ok(make(image, &iter, "batch_size", "5", "num_parts", "3", "part_index", text, NULL));
        for (assert_ok(mxc_iter_next(iter, &batch)); batch.n_data > 0; assert_ok(mxc_iter_next(iter, &batch)))
            for (int i = 0; i < 5; i++)
                seen[batch.index[i]]++;
        mxc_iter_destroy(iter);
    }
    for (int i = 0; i < 30; i++)
        assert_int_equal(seen[i], 1);
}

static void test_every_allocation_failing(void **state) {
    (void)state;
    for (int prefetch = 0; prefetch < 2; prefetch++) {
        mxc_status status = MXC_ENOMEM;
        write_pair(9, 9, 1);
        for (int64_t k = 1; status != MXC_OK; k++) {
            mxc_iter *iter;
            int64_t live = test_alive();
            mxci_test_fail_alloc(k, 0);
            status = make(image, &iter, "batch_size", "3", "prefetch_buffer", prefetch ? "2" : "0", NULL);
            mxci_test_fail_alloc(0, 0);
            assert_true(status == MXC_OK || status == MXC_ENOMEM);
            if (status != MXC_OK)
                assert_int_equal(test_alive(), live);
            mxc_iter_destroy(iter);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_files_that_do_not_fit),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_every_allocation_failing),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
