/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images that are files: classes by directory, lists, parts, files that are no images; listing directories. Covers
 * io/image_list.c too.
 */
#include <mxc/io.h>

#include "alive.h"
#include "image_samples.h"

static test_path root;

static void put_image(const char *folder, const char *name, int seed) {
    static test_image png;
    test_path path, inside;
    uint8_t pixels[8 * 8 * 3];
    sample_pixels((uint32_t)seed, 8, 8, 3, 0, pixels);
    sample_png(&png, pixels, 8, 8, 3);
    mkdir(test_join(path, root, folder), 0777);
    test_write_file(test_join(inside, path, name), png.bytes, png.n);
}

/* Classes bird (0), cat (1) and empty (2); image k of a class has seed 10 class + k. */
static int make_tree(void **state) {
    test_path path;
    (void)state;
    test_temp_dir(root);
    put_image("cat", "b.PNG", 11);
    put_image("cat", "a.png", 10);
    put_image("cat", "c d.png", 12);
    put_image("bird", "z.png", 1);
    put_image("bird", "y.png", 0);
    put_image("cat", ".hidden.png", 99);
    mkdir(test_join(path, root, "empty"), 0777);
    test_write_file(test_join(path, root, "cat/notes.txt"), "x", 1);
    test_write_file(test_join(path, root, "stray.png"), "x", 1);
    return 0;
}

static int remove_tree(void **state) {
    (void)state;
    test_remove_dir(root);
    return 0;
}

static mxc_status make(mxc_iter **out, int n_more, const char *const *keys, const char *const *values) {
    const char *k[12] = {"path_root", "data_shape", "batch_size"}, *v[12] = {root, "(3,8,8)", "1"};
    for (int i = 0; i < n_more; i++) {
        k[3 + i] = keys[i];
        v[3 + i] = values[i];
    }
    return mxc_iter_create("ImageFolderIter", 3 + n_more, k, v, out);
}

#define LIST(...) ((const char *const[]){__VA_ARGS__})

/* Next sample must be that of seed with this label. */
static void check_next(mxc_iter *iter, int seed, float label) {
    mxc_batch batch;
    uint8_t pixels[8 * 8 * 3];
    float *data, *found;
    sample_pixels((uint32_t)seed, 8, 8, 3, 0, pixels);
    assert_ok(mxc_iter_next(iter, &batch));
    assert_ok(mxc_ndarray_data(batch.data[0], (void **)&data));
    assert_ok(mxc_ndarray_data(batch.label[0], (void **)&found));
    for (int i = 0; i < 192; i++)
        assert_true(data[i % 3 * 64 + i / 3] == (float)pixels[i]);
    assert_true(*found == label);
}

static void check_end(mxc_iter *iter) {
    mxc_batch batch;
    assert_ok(mxc_iter_next(iter, &batch));
    assert_int_equal(batch.n_data, 0);
    mxc_iter_destroy(iter);
}

static void test_classes(void **state) {
    mxc_iter *iter;
    (void)state;
    if (!has_png())
        skip();
    assert_ok(make(&iter, 0, NULL, NULL));
    for (int i = 0; i < 5; i++)
        check_next(iter, i < 2 ? i : 8 + i, i < 2 ? 0 : 1);
    check_end(iter);
}

/* Files are turned upright as EXIF says, unless exif_orientation is off. */
static void test_exif_orientation(void **state) {
    static test_image t;
    test_path other, path;
    (void)state;
    if (!has_jpeg())
        skip();
    test_temp_dir(other);
    mkdir(test_join(path, other, "a"), 0777);
    test_join(path, other, "a/x.jpg");
    for (int orientation = 1; orientation <= 8; orientation++)
        for (int off = 0; off < 2; off++) {
            const int seen = off ? 1 : orientation, h = seen > 4 ? TURNED_W : TURNED_H, w = TURNED_H + TURNED_W - h;
            mxc_iter *iter;
            mxc_batch batch;
            float *data;
            turned_jpeg(&t, orientation);
            test_write_file(path, t.bytes, t.n);
            assert_ok(
                mxc_iter_create("ImageFolderIter", 4, LIST("path_root", "data_shape", "batch_size", "exif_orientation"),
                                LIST(other, h == 24 ? "(1,24,16)" : "(1,16,24)", "1", off ? "False" : "True"), &iter));
            assert_ok(mxc_iter_next(iter, &batch));
            assert_ok(mxc_ndarray_data(batch.data[0], (void **)&data));
            for (int r = 0; r < TURNED_H; r++)
                for (int c = 0; c < TURNED_W; c++) {
                    int y, x;
                    exif_place(seen, TURNED_H, TURNED_W, r, c, &y, &x);
                    assert_true(data[y * w + x] == (float)turned_value(r, c));
                }
            mxc_iter_destroy(iter);
        }
    test_remove_dir(other);
}

static void test_parts(void **state) {
    static const int seeds[] = {0, 1, 10, 11, 12};
    (void)state;
    if (!has_png())
        skip();
    for (int part = 0; part < 2; part++) {
        mxc_iter *iter;
        assert_ok(make(&iter, 2, LIST("num_parts", "part_index"), LIST("2", part ? "1" : "0")));
        for (int i = part; i < 5; i += 2)
            check_next(iter, seeds[i], seeds[i] >= 10);
        check_end(iter);
    }
}

static void test_list(void **state) {
    mxc_iter *iter;
    test_path path;
    const char *text = "7\t0.5\tcat/c d.png\n3\t-2\tbird/z.png\n";
    const char *bad[] = {"1\t2\t../x.png\n", "1\t2\tcat/../../x.png", "1\t2\t/etc/passwd", "1\t2\t3\tcat/a.png"};
    (void)state;
    if (!has_png())
        skip();
    test_write_file(test_join(path, root, "some.lst"), text, strlen(text));
    assert_ok(make(&iter, 1, LIST("path_imglist"), LIST(path)));
    check_next(iter, 12, 0.5f);
    check_next(iter, 1, -2);
    check_end(iter);
    for (int i = 0; i < 4; i++) {
        test_write_file(path, bad[i], strlen(bad[i]));
        assert_fails(make(&iter, 1, LIST("path_imglist"), LIST(path)), MXC_EFORMAT,
                     i < 3 ? "leads out of path_root" : "2 labels, expected label_width, 1");
    }
    text = "5\t1\tcat/none.png\n8\t2\tcat/a.png\n";
    test_write_file(path, text, strlen(text));
    assert_ok(make(&iter, 1, LIST("path_imglist"), LIST(path)));
    assert_fails(mxc_iter_next(iter, &(mxc_batch){0}), MXC_ENOTFOUND, "cat/none.png");
    mxc_iter_destroy(iter);
    assert_ok(make(&iter, 2, LIST("path_imglist", "bad_data"), LIST(path, "skip")));
    check_next(iter, 10, 2);
    mxc_iter_destroy(iter);
    unlink(path);
}

static void test_refused(void **state) {
    mxc_iter *iter;
    test_path path;
    (void)state;
    assert_fails(make(&iter, 1, LIST("label_width"), LIST("2")), MXC_EINVAL, "label_width 2 without path_imglist");
    const char *keys[] = {"path_root", "data_shape", "batch_size"};
    const char *values[] = {test_join(path, root, "empty"), "(3,8,8)", "1"};
    assert_fails(mxc_iter_create("ImageFolderIter", 3, keys, values, &iter), MXC_EINVAL, "no samples");
    values[0] = test_join(path, root, "absent");
    assert_fails(mxc_iter_create("ImageFolderIter", 3, keys, values, &iter), MXC_ENOTFOUND, "absent");
}

static void test_listing(void **state) {
    char **names;
    int64_t n;
    test_path path;
    (void)state;
    assert_ok(mxci_directory_list(root, &names, &n));
    assert_int_equal(n, 4);
    assert_string_equal(names[0], "bird");
    assert_string_equal(names[3], "stray.png");
    assert_null(names[4]);
    mxci_free(names);
    assert_fails(mxci_directory_list(test_join(path, root, "stray.png"), &names, &n), MXC_ENOTFOUND, "stray.png");
    assert_null(names);
}

static void test_no_memory(void **state) {
    mxc_status status = MXC_ENOMEM;
    (void)state;
    if (!has_png())
        skip();
    for (int64_t at = 1; status != MXC_OK; at++) {
        int64_t alive = test_alive();
        mxc_iter *iter;
        mxc_batch batch;
        mxci_test_fail_alloc(at, 0);
        status = make(&iter, 2, LIST("preprocess_threads", "prefetch_buffer"), LIST("1", "1"));
        if (status == MXC_OK)
            status = mxc_iter_next(iter, &batch);
        mxci_test_fail_alloc(0, 0);
        assert_true(status == MXC_OK || status == MXC_ENOMEM);
        mxc_iter_destroy(iter);
        assert_int_equal(test_alive(), alive);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classes),   cmocka_unit_test(test_exif_orientation), cmocka_unit_test(test_parts),
        cmocka_unit_test(test_list),      cmocka_unit_test(test_refused),          cmocka_unit_test(test_listing),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
