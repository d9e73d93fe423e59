/* SPDX-License-Identifier: Apache-2.0 */
/* IDX files: every type and shape, compressed ones, and malformed ones. */
#include <sys/stat.h>

#include <mxc/io.h>

#include "alive.h"
#include "base/sys.h"
#include "io/idx_files.h"

static test_path folder, path;

static int set_up(void **state) {
    (void)state;
    test_temp_dir(folder);
    test_join(path, folder, "file");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    test_remove_dir(folder);
    return 0;
}

/* Load path and compare with the bytes of idx_u8(dims). */
static void expect_u8(int ndim, const uint32_t *dims) {
    mxc_ndarray *array;
    bytes whole = idx_u8(ndim, dims);
    size_t head = 4 + 4 * (size_t)ndim;
    void *data;
    assert_ok(mxc_idx_load(path, &array));
    assert_int_equal(mxc_ndarray_dtype(array), MXC_U8);
    assert_int_equal(mxc_ndarray_shape(array)->ndim, ndim);
    for (int i = 0; i < ndim; i++)
        assert_int_equal(mxc_ndarray_shape(array)->dim[i], dims[i]);
    assert_int_equal(mxc_ndarray_bytes(array), whole.n - head);
    assert_ok(mxc_ndarray_data(array, &data));
    if (whole.n > head)
        assert_memory_equal(data, whole.data + head, whole.n - head);
    mxc_ndarray_release(array);
    bytes_free(&whole);
}

/* Nothing may be left behind by a refused file. */
static void expect_refused(mxc_status code, const char *text) {
    int64_t live = test_alive();
    mxc_ndarray *array = (mxc_ndarray *)path;
    assert_fails(mxc_idx_load(path, &array), code, text);
    assert_null(array);
    assert_int_equal(test_alive(), live);
}

static void test_shapes(void **state) {
    static const uint32_t dims[][8] = {{7}, {3, 5}, {2, 3, 4}, {1, 1, 1, 1, 1, 1, 1, 2}, {0}, {4, 0, 3}};
    static const int ndims[] = {1, 2, 3, 8, 1, 3};
    (void)state;
    for (size_t i = 0; i < sizeof ndims / sizeof ndims[0]; i++)
        for (int gz = 0; gz < 2; gz++) {
            bytes plain = idx_u8(ndims[i], dims[i]), packed = gzip_member(plain.data, plain.n);
            write_bytes(path, gz ? &packed : &plain);
            expect_u8(ndims[i], dims[i]);
            bytes_free(&plain);
            bytes_free(&packed);
        }
}

static void test_big_endian_types(void **state) {
    static const struct {
        int code;
        mxc_dtype dtype;
        size_t size;
        unsigned char file[8];
    } types[] = {
        {0x09, MXC_I8, 1, {0xfe}},
        {0x0c, MXC_I32, 4, {0xff, 0xff, 0xff, 0x01}},
        {0x0d, MXC_F32, 4, {0xbf, 0xc0, 0, 0}},
        {0x0e, MXC_F64, 8, {0xbf, 0xf8, 0, 0, 0, 0, 0, 0}},
    };
    static const double values[] = {-2, -255, -1.5, -1.5};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        bytes b = idx_header(types[i].code, 1, (uint32_t[]){1});
        mxc_ndarray *array;
        void *data;
        bytes_add(&b, types[i].file, types[i].size);
        write_bytes(path, &b);
        assert_ok(mxc_idx_load(path, &array));
        assert_int_equal(mxc_ndarray_dtype(array), types[i].dtype);
        assert_ok(mxc_ndarray_data(array, &data));
        double value = i == 0 ? *(int8_t *)data : i == 1 ? *(int32_t *)data : i == 2 ? *(float *)data : *(double *)data;
        assert_true(value == values[i]);
        mxc_ndarray_release(array);
        bytes_free(&b);
    }
}

static void test_every_truncation(void **state) {
    bytes plain = idx_u8(2, (uint32_t[]){5, 9}), packed = gzip_member(plain.data, plain.n);
    const bytes *both[] = {&plain, &packed};
    (void)state;
    for (int gz = 0; gz < 2; gz++)
        for (size_t n = 0; n < both[gz]->n; n++) {
            test_write_file(path, both[gz]->data, n);
            expect_refused(MXC_EFORMAT, folder);
        }
    bytes_free(&plain);
    bytes_free(&packed);
}

/* A flipped byte gives a refusal or an array as large as before; of a compressed file the very same array. */
static void test_every_flip(void **state) {
    const uint32_t dims[] = {5, 9};
    static const unsigned char masks[] = {0x01, 0x80, 0xff};
    bytes plain = idx_u8(2, dims), packed = gzip_member(plain.data, plain.n);
    bytes *both[] = {&plain, &packed};
    int refused = 0;
    (void)state;
    for (size_t at = 0; at < 3 * (plain.n + packed.n); at++) {
        int gz = at >= 3 * plain.n;
        size_t byte = (gz ? at - 3 * plain.n : at) / 3;
        mxc_ndarray *array;
        both[gz]->data[byte] ^= masks[at % 3];
        write_bytes(path, both[gz]);
        both[gz]->data[byte] ^= masks[at % 3];
        mxc_status status = mxc_idx_load(path, &array);
        assert_true(status == MXC_OK || status == MXC_EFORMAT);
        refused += status != MXC_OK;
        if (status == MXC_OK && gz)
            expect_u8(2, dims);
        else if (status == MXC_OK)
            assert_true(byte >= 12 || mxc_ndarray_bytes(array) == 45);
        mxc_ndarray_release(array);
    }
    assert_true(refused > (int)packed.n);
    bytes_free(&plain);
    bytes_free(&packed);
}

static void test_headers_that_lie(void **state) {
    static const struct {
        int code, ndim;
        uint32_t dims[8];
        const char *text;
    } cases[] = {
        {0x08, 1, {5}, "data ends at offset 12"},
        {0x08, 1, {17}, "more than the file can hold"},
        {0x0e, 1, {16}, "more than the file can hold"},
        {0x08, 2, {0xffffffff, 0xffffffff}, "more than the file can hold"},
        {0x0e, 8, {65536, 65536, 65536, 65536, 1, 1, 1, 1}, "more than the file can hold"},
        {0x08, 3, {0xffffffff, 0xffff, 0}, "data ends at"},
        {0x08, 3, {0xffffffff, 0xffffffff, 0}, "more than the file can hold"},
        {0x08, 0, {0}, "0 axes at offset 3"},
        {0x08, 9, {0}, "9 axes at offset 3"},
        {0x0b, 1, {16}, "type code 0x0b at offset 2"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int gz = 0; gz < 2; gz++) {
            bytes b = idx_header(cases[i].code, cases[i].ndim < 8 ? cases[i].ndim : 8, cases[i].dims);
            if (cases[i].ndim > 8)
                b.data[3] = 9;
            bytes_add(&b, "0123456789abcdef", i == 0 ? 8 : 16);
            bytes packed = gzip_member(b.data, b.n);
            write_bytes(path, gz ? &packed : &b);
            expect_refused(MXC_EFORMAT, gz ? NULL : i == 0 ? "data ends at offset 13" : cases[i].text);
            bytes_free(&b);
            bytes_free(&packed);
        }
    test_write_file(path, "PK\3\4 something else", 20);
    expect_refused(MXC_EFORMAT, "begins with bytes 50 4b");
}

/* The memory of a compressed file's array is limited by what deflate can expand to. */
static void test_compressed_size_claim(void **state) {
    bytes b = idx_header(0x08, 2, (uint32_t[]){1 << 20, 1 << 20});
    bytes packed = gzip_member(b.data, b.n);
    (void)state;
    write_bytes(path, &packed);
    expect_refused(MXC_EFORMAT, "more than the file can hold");
    bytes_free(&b);
    bytes_free(&packed);
}

static void test_members_and_garbage(void **state) {
    const uint32_t dims[] = {4, 25};
    bytes plain = idx_u8(2, dims);
    (void)state;
    for (size_t cut = 0; cut <= plain.n; cut++) {
        bytes all = gzip_member(plain.data, cut), second = gzip_member(plain.data + cut, plain.n - cut);
        bytes_add(&all, second.data, second.n);
        write_bytes(path, &all);
        expect_u8(2, dims);
        bytes_add(&all, "x", 1);
        write_bytes(path, &all);
        expect_refused(MXC_EFORMAT, "file");
        bytes_free(&all);
        bytes_free(&second);
    }
    bytes more = gzip_member(plain.data, plain.n), extra = gzip_member("y", 1);
    bytes_add(&more, extra.data, extra.n);
    write_bytes(path, &more);
    expect_refused(MXC_EFORMAT, "more elements than the header says");
    bytes_add(&plain, "z", 1);
    write_bytes(path, &plain);
    expect_refused(MXC_EFORMAT, "data ends at offset 112, but the file has 113 bytes");
    bytes_free(&plain);
    bytes_free(&more);
    bytes_free(&extra);
}

static void test_what_is_no_file(void **state) {
    mxc_ndarray *array;
    (void)state;
    unlink(path);
    expect_refused(MXC_ENOTFOUND, "file");
    assert_int_equal(mkdir(path, 0777), 0);
    expect_refused(MXC_EIO, "file");
    rmdir(path);
    assert_int_equal(mkfifo(path, 0666), 0);
    expect_refused(MXC_EIO, "file");
    unlink(path);
    assert_status(mxc_idx_load("/dev/zero", &array), MXC_EIO);
    assert_fails(mxc_idx_load(NULL, &array), MXC_EINVAL, "must not be NULL");
    assert_fails(mxc_idx_load("x", NULL), MXC_EINVAL, "must not be NULL");
}

static void test_every_allocation_failing(void **state) {
    const uint32_t dims[] = {30, 40};
    bytes plain = idx_u8(2, dims), packed = gzip_member(plain.data, plain.n);
    (void)state;
    for (int gz = 0; gz < 2; gz++) {
        mxc_status status = MXC_ENOMEM;
        write_bytes(path, gz ? &packed : &plain);
        expect_u8(2, dims);
        for (int64_t k = 1; status != MXC_OK; k++) {
            mxc_ndarray *array;
            int64_t live = test_alive();
            mxci_test_fail_alloc(k, 0);
            status = mxc_idx_load(path, &array);
            mxci_test_fail_alloc(0, 0);
            assert_true(status == MXC_OK || status == MXC_ENOMEM);
            if (status != MXC_OK)
                assert_int_equal(test_alive(), live);
            mxc_ndarray_release(array);
        }
    }
    bytes_free(&plain);
    bytes_free(&packed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_big_endian_types),
        cmocka_unit_test(test_every_truncation),
        cmocka_unit_test(test_every_flip),
        cmocka_unit_test(test_headers_that_lie),
        cmocka_unit_test(test_compressed_size_claim),
        cmocka_unit_test(test_members_and_garbage),
        cmocka_unit_test(test_what_is_no_file),
        cmocka_unit_test(test_every_allocation_failing),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
