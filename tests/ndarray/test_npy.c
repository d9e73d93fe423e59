/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .npy files: round trips, headers as numpy writes them, both orders, malformed ones, failures of the system. Covers
 * ndarray/npy.c, npy_header.c and byte_source.c.
 */
#include "bytes.h"

#include "ndarray/npy.h"

static mxc_status read_image(const void *data, size_t n) {
    mxci_byte_source source;
    mxc_ndarray *a;
    mxci_byte_source_memory("image", data, n, &source);
    MXC_TRY(mxci_npy_read(&source, &a));
    mxc_ndarray_release(a);
    return MXC_OK;
}

/* Version 1.0 data with that header text. */
static void put_npy(bytes *b, const char *header, const void *data, size_t n) {
    b->n = 0;
    put(b, "\x93NUMPY\x01\x00", 8);
    put_u16(b, (uint16_t)strlen(header));
    put_text(b, header);
    put(b, data, n);
}

static mxc_ndarray *read_npy(const bytes *b) {
    mxci_byte_source source;
    mxc_ndarray *a;
    mxci_byte_source_memory("image", b->data, b->n, &source);
    assert_ok(mxci_npy_read(&source, &a));
    return a;
}

static void all_dtypes_survive(void **state) {
    test_path folder, path;
    (void)state;
    test_join(path, test_temp_dir(folder), "a.npy");
    for (int i = 0; i < DTYPES + 2; i++) {
        mxc_ndarray *a = i == DTYPES       ? array_ramp(0, NULL, MXC_F64)
                         : i == DTYPES + 1 ? array_new(3, DIMS(2, 0, 5), MXC_U8)
                                           : array_ramp(2, DIMS(3, 4), all_dtypes[i]);
        mxc_ndarray *back;
        assert_ok(mxc_ndarray_save_npy(path, a));
        assert_ok(mxc_ndarray_load_npy(path, &back));
        assert_same_array(a, back);
        mxc_ndarray_release(a);
        mxc_ndarray_release(back);
    }
    test_remove_dir(folder);
}

static void the_header_is_numpys(void **state) {
    mxc_ndarray *a = array_ramp(2, DIMS(3, 4), MXC_F32), *line = array_ramp(1, DIMS(5), MXC_I8);
    test_path folder, path;
    bytes b;
    (void)state;
    test_join(path, test_temp_dir(folder), "a.npy");
    assert_ok(mxc_ndarray_save_npy(path, a));
    read_bytes(&b, path);
    assert_int_equal(b.n, 128 + 48);
    assert_memory_equal(b.data, "\x93NUMPY\x01\x00\x76\x00", 10);
    assert_memory_equal(b.data + 10, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,4), }  ", 58);
    assert_int_equal(b.data[127], '\n');
    assert_ok(mxc_ndarray_save_npy(path, line));
    read_bytes(&b, path);
    assert_memory_equal(b.data + 10, "{'descr': '|i1', 'fortran_order': False, 'shape': (5,), }", 57);
    mxc_ndarray_release(a);
    mxc_ndarray_release(line);
    test_remove_dir(folder);
}

static void other_spellings_of_the_header(void **state) {
    static const char *const headers[] = {
        "{\"shape\":(2L,3L),\"descr\":\"<i4\",\"fortran_order\":False}\n",
        "  {'fortran_order':   False , 'shape' : ( 2 , 3 , ) , 'descr': '<i4' , }   \n",
    };
    const int32_t data[6] = {1, 2, 3, 4, 5, 6};
    static bytes b;
    (void)state;
    for (int i = 0; i < 2; i++) {
        mxc_ndarray *a, *expected;
        put_npy(&b, headers[i], data, sizeof data);
        a = read_npy(&b);
        assert_ok(mxc_ndarray_from_data(2, DIMS(2, 3), MXC_I32, data, &expected));
        assert_same_array(a, expected);
        mxc_ndarray_release(a);
        mxc_ndarray_release(expected);
    }
}

static void versions_2_and_3_have_long_headers(void **state) {
    static const char header[] = "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }\n";
    static bytes b;
    (void)state;
    for (int version = 1; version <= 4; version++) {
        mxc_status status;
        b.n = 0;
        put(&b, "\x93NUMPY", 6);
        put(&b, &version, 1);
        put(&b, "", 1);
        put(&b, &(uint32_t){sizeof header - 1}, version == 1 ? 2 : 4);
        put_text(&b, header);
        put(&b, "\0\1\7", 3);
        status = read_image(b.data, b.n);
        assert_int_equal(status, version < 4 ? MXC_OK : MXC_EFORMAT);
        if (version < 4) {
            mxc_ndarray *a = read_npy(&b);
            unsigned char bools[3];
            assert_ok(mxc_ndarray_get(a, bools, 3));
            assert_memory_equal(bools, "\0\1\1", 3);
            mxc_ndarray_release(a);
        }
    }
}

/* Element (i, j, k) is 100 i + 10 j + k, written with i fastest. */
static void fortran_order_is_turned(void **state) {
    enum { I = 3, J = 5, K = 7 };
    float data[I * J * K], *x;
    mxc_ndarray *a;
    static bytes b;
    (void)state;
    for (int k = 0, at = 0; k < K; k++)
        for (int j = 0; j < J; j++)
            for (int i = 0; i < I; i++)
                data[at++] = (float)(100 * i + 10 * j + k);
    put_npy(&b, "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 5, 7), }\n", data, sizeof data);
    a = read_npy(&b);
    assert_ok(mxc_ndarray_data(a, (void **)&x));
    for (int i = 0; i < I; i++)
        for (int j = 0; j < J; j++)
            for (int k = 0; k < K; k++)
                assert_true(x[(i * J + j) * K + k] == (float)(100 * i + 10 * j + k));
    mxc_ndarray_release(a);
}

static void hostile_headers(void **state) {
    static const struct {
        const char *header;
        mxc_status status;
        const char *text;
    } cases[] = {
        {"", MXC_EFORMAT, "a dict"},
        {"[]", MXC_EFORMAT, "a dict"},
        {"{}", MXC_EFORMAT, "all of"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)", MXC_EFORMAT, "comma or the end"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x", MXC_EFORMAT, "nothing behind"},
        {"{'descr': '<f4', 'fortran_order': False}", MXC_EFORMAT, "all of"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", MXC_EFORMAT, "each once"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", MXC_EFORMAT, "True or False"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2)}", MXC_EFORMAT, "comma in a tuple"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", MXC_EFORMAT, "0 or more"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1180591620717411303424,)}", MXC_EFORMAT, "2^63"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296,4294967296)}", MXC_EFORMAT, "shape"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (0,4611686018427387904,8)}", MXC_EFORMAT, "shape"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (,)}", MXC_EFORMAT, "0 or more"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': [2]}", MXC_EFORMAT, "tuple"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,2)}", MXC_EUNSUPPORTED, "8 axes"},
        {"{descr: '<f4', 'fortran_order': False, 'shape': (2,)}", MXC_EFORMAT, "quoted"},
        {"{'descr': __import__('os').system('ls'), 'fortran_order': False, 'shape': (2,)}", MXC_EFORMAT, "quoted"},
        {"{'descr': 'O', 'fortran_order': False, 'shape': (2,)}", MXC_EUNSUPPORTED, "'O'"},
        {"{'descr': '|V8', 'fortran_order': False, 'shape': (2,)}", MXC_EUNSUPPORTED, "'|V8'"},
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}", MXC_EUNSUPPORTED, "'>f4'"},
        {"{'descr': '|f4', 'fortran_order': False, 'shape': (2,)}", MXC_EUNSUPPORTED, "'|f4'"},
        {"{'descr': '<U4', 'fortran_order': False, 'shape': (2,)}", MXC_EUNSUPPORTED, "'<U4'"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (2,)}", MXC_EUNSUPPORTED, "'<u2'"},
        {"{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (2,)}", MXC_EFORMAT, "escapes"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", MXC_EFORMAT, "quoted"},
        {"{'descr': '<f4", MXC_EFORMAT, "escapes"},
    };
    static bytes b;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_npy(&b, cases[i].header, "12345678", 8);
        assert_fails(read_exactly(read_image, b.data, b.n), cases[i].status, cases[i].text);
        assert_non_null(strstr(mxc_last_error(), "image: byte "));
    }
}

static void nesting_is_not_followed(void **state) {
    enum { DEEP = 60000 };
    char *text = malloc(DEEP + 12);
    mxci_byte_source source;
    mxc_ndarray *a;
    (void)state;
    memcpy(text, "\x93NUMPY\x02\x00", 8);
    memcpy(text + 8, &(uint32_t){DEEP}, 4);
    for (int fill = 0; fill < 2; fill++) {
        memset(text + 12, "{("[fill], DEEP);
        mxci_byte_source_memory("deep", text, DEEP + 12, &source);
        assert_status(mxci_npy_read(&source, &a), MXC_EFORMAT);
    }
    free(text);
}

static void wrong_sizes(void **state) {
    static const char header[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
    static bytes b;
    (void)state;
    put_npy(&b, header, "1234567", 7);
    assert_fails(read_image(b.data, b.n), MXC_EFORMAT, "7 bytes of data");
    put_npy(&b, header, "123456789", 9);
    assert_fails(read_image(b.data, b.n), MXC_EFORMAT, "9 bytes of data");
    put_npy(&b, header, "12345678", 8);
    poke(&b, 8, 60000, 2);
    assert_fails(read_image(b.data, b.n), MXC_EFORMAT, "60000 bytes");
    poke(&b, 0, 0, 1);
    assert_fails(read_image(b.data, b.n), MXC_EFORMAT, "npy");
    put_npy(&b, header, "12345678", 8);
    read_all_damages(read_image, &b, 0);
}

typedef struct files {
    const char *path;
    mxc_ndarray *array;
} files;

static mxc_status save_and_load(void *arg) {
    files *f = arg;
    mxc_ndarray *back;
    MXC_TRY(mxc_ndarray_save_npy(f->path, f->array));
    MXC_TRY(mxc_ndarray_load_npy(f->path, &back));
    mxc_ndarray_release(back);
    return MXC_OK;
}

static mxc_status load_fortran(void *arg) {
    const bytes *b = arg;
    return read_image(b->data, b->n);
}

static void each_allocation_may_fail(void **state) {
    test_path folder, path;
    files f = {test_join(path, test_temp_dir(folder), "a.npy"), array_ramp(2, DIMS(3, 4), MXC_I32)};
    static bytes b;
    (void)state;
    fail_each_allocation(save_and_load, &f);
    put_npy(&b, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 4), }\n", "12345678", 8);
    fail_each_allocation(load_fortran, &b);
    mxc_ndarray_release(f.array);
    test_remove_dir(folder);
}

static void files_written_by_numpy(void **state) {
    mxc_ndarray *a;
    test_path path;
    (void)state;
    if (!test_data(path, "models/mnist-lenet-2015/expected/in-data.npy"))
        skip();
    assert_ok(mxc_ndarray_load_npy(path, &a));
    assert_int_equal(mxc_ndarray_shape(a)->ndim, 4);
    assert_int_equal(mxc_ndarray_shape(a)->dim[3], 28);
    mxc_ndarray_release(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_dtypes_survive),
        cmocka_unit_test(the_header_is_numpys),
        cmocka_unit_test(other_spellings_of_the_header),
        cmocka_unit_test(versions_2_and_3_have_long_headers),
        cmocka_unit_test(fortran_order_is_turned),
        cmocka_unit_test(hostile_headers),
        cmocka_unit_test(nesting_is_not_followed),
        cmocka_unit_test(wrong_sizes),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(files_written_by_numpy),
    };
    return cmocka_run_group_tests_name("npy", tests, NULL, NULL);
}
