/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .params files: round trips, every version of record, files that MXNet wrote, malformed ones, failures of the
 * system. Covers ndarray/params_read.c, params_sparse.c, params_write.c and array_list.c.
 */
#include "bytes.h"

#include <sys/wait.h>

static mxc_status read_image(const void *data, size_t n) {
    mxc_ndarray_list list;
    MXC_TRY(mxc_ndarray_load_buffer("image", data, n, &list));
    mxc_ndarray_list_release(&list);
    return MXC_OK;
}

static void fails(const bytes *b, const char *text) {
    assert_fails(read_exactly(read_image, b->data, b->n), MXC_EFORMAT, text);
    assert_non_null(strstr(mxc_last_error(), "image: byte "));
}

/* ---- writing and reading ---- */

static void all_dtypes_survive(void **state) {
    const char *names[DTYPES + 2] = {
        "f32", "f64", "f16", "u8", "i32", "i8", "i64", "bool", "bf16", "scalar", "empt\xc3\xa9",
    };
    mxc_ndarray *arrays[DTYPES + 2];
    mxc_ndarray_list list;
    test_path folder, path;
    (void)state;
    for (int i = 0; i < DTYPES; i++)
        arrays[i] = array_ramp(3, DIMS(2, 3, i + 1), all_dtypes[i]);
    arrays[DTYPES] = array_ramp(0, NULL, MXC_F32);
    arrays[DTYPES + 1] = array_new(2, DIMS(3, 0), MXC_I64);
    test_join(path, test_temp_dir(folder), "all.params");
    for (int named = 0; named < 2; named++) {
        assert_ok(mxc_ndarray_save(path, DTYPES + 2, arrays, named ? names : NULL));
        assert_ok(mxc_ndarray_load(path, &list));
        assert_int_equal(list.n, DTYPES + 2);
        assert_int_equal(list.names != NULL, named);
        for (int i = 0; i < DTYPES + 2; i++) {
            assert_same_array(arrays[i], list.arrays[i]);
            if (named)
                assert_ptr_equal(mxc_ndarray_list_find(&list, names[i]), list.arrays[i]);
        }
        assert_null(mxc_ndarray_list_find(&list, "absent"));
        mxc_ndarray_list_release(&list);
        assert_int_equal(list.n, 0);
    }
    for (int i = 0; i < DTYPES + 2; i++)
        mxc_ndarray_release(arrays[i]);
    test_remove_dir(folder);
}

static void views_none_and_nothing(void **state) {
    mxc_ndarray *a = array_ramp(2, DIMS(4, 3), MXC_I32), *arrays[2] = {NULL, NULL};
    mxc_ndarray_list list;
    test_path folder, path;
    (void)state;
    test_join(path, test_temp_dir(folder), "a.params");
    assert_ok(mxc_ndarray_slice(a, 1, 3, &arrays[0]));
    assert_ok(mxc_ndarray_save(path, 2, arrays, NULL));
    assert_ok(mxc_ndarray_load(path, &list));
    assert_same_array(list.arrays[0], arrays[0]);
    assert_null(list.arrays[1]);
    mxc_ndarray_list_release(&list);
    assert_ok(mxc_ndarray_save(path, 0, NULL, NULL));
    assert_ok(mxc_ndarray_load(path, &list));
    assert_int_equal(list.n, 0);
    mxc_ndarray_list_release(&list);
    mxc_ndarray_release(arrays[0]);
    mxc_ndarray_release(a);
    test_remove_dir(folder);
}

static void the_written_bytes_are_mxnets(void **state) {
    const float x[2] = {1.5f, -2};
    mxc_ndarray *a;
    bytes expected = {{0}, 0}, found;
    test_path folder, path;
    (void)state;
    assert_ok(mxc_ndarray_from_data(2, DIMS(1, 2), MXC_F32, x, &a));
    test_join(path, test_temp_dir(folder), "a.params");
    assert_ok(mxc_ndarray_save(path, 1, &a, (const char *[]){"arg:w"}));
    read_bytes(&found, path);
    put_u64(&expected, 0x112);
    put_u64(&expected, 0);
    put_u64(&expected, 1);
    put_u32(&expected, 0xF993FAC9);
    put_u32(&expected, 0); /* dense */
    put_u32(&expected, 2);
    put_u64(&expected, 1);
    put_u64(&expected, 2);
    put_u32(&expected, 1); /* cpu */
    put_u32(&expected, 0);
    put_u32(&expected, 0); /* float32 */
    put(&expected, x, sizeof x);
    put_u64(&expected, 1);
    put_u64(&expected, 5);
    put_text(&expected, "arg:w");
    assert_int_equal(found.n, expected.n);
    assert_memory_equal(found.data, expected.data, found.n);
    mxc_ndarray_release(a);
    test_remove_dir(folder);
}

static void writers_refuse_bad_names(void **state) {
    mxc_ndarray *arrays[2] = {array_ramp(1, DIMS(2), MXC_F32), array_ramp(1, DIMS(2), MXC_F32)};
    test_path folder, path;
    (void)state;
    test_join(path, test_temp_dir(folder), "a.params");
    assert_fails(mxc_ndarray_save(path, 2, arrays, (const char *[]){"x", "x"}), MXC_EEXIST, "\"x\"");
    assert_fails(mxc_ndarray_save(path, 2, arrays, (const char *[]){"x", "\xff"}), MXC_EINVAL, "UTF-8");
    assert_fails(mxc_ndarray_save(path, 2, arrays, (const char *[]){"x", NULL}), MXC_EINVAL, "NULL");
    assert_status(mxc_ndarray_save(path, -1, arrays, NULL), MXC_EINVAL);
    assert_status(mxc_ndarray_save(path, 1, NULL, NULL), MXC_EINVAL);
    assert_int_not_equal(access(path, F_OK), 0);
    mxc_ndarray_release(arrays[0]);
    mxc_ndarray_release(arrays[1]);
    test_remove_dir(folder);
}

/* ---- records of all versions ---- */

static void put_list(bytes *b, uint64_t n) {
    b->n = 0;
    put_u64(b, 0x112);
    put_u64(b, 0);
    put_u64(b, n);
}

static void put_context_and_type(bytes *b, uint32_t type) {
    put_u32(b, 2); /* gpu(1), where it was saved */
    put_u32(b, 1);
    put_u32(b, type);
}

static void put_v0(bytes *b) { /* (2,) int32 */
    put_u32(b, 1);
    put_u32(b, 2);
    put_context_and_type(b, MXC_I32);
    put_u64(b, 0x0000000200000001);
}

static void put_v1(bytes *b) { /* (1,3) uint8 */
    put_u32(b, 0xF993FAC8);
    put_u32(b, 2);
    put_u64(b, 1);
    put_u64(b, 3);
    put_context_and_type(b, MXC_U8);
    put(b, "\x0a\x0b\x0c", 3);
}

static void put_v2_start(bytes *b, uint32_t storage) {
    put_u32(b, 0xF993FAC9);
    put_u32(b, storage);
}

static void put_shape(bytes *b, uint32_t ndim, uint64_t d0, uint64_t d1) {
    put_u32(b, ndim);
    put_u64(b, d0);
    if (ndim > 1)
        put_u64(b, d1);
}

/* Row numbers 1 and 3 of a (4,2) uint8 array. */
static void put_row_sparse(bytes *b) {
    put_v2_start(b, 1);
    put_shape(b, 2, 2, 2);
    put_shape(b, 2, 4, 2);
    put_context_and_type(b, MXC_U8);
    put_u32(b, MXC_I64);
    put_shape(b, 1, 2, 0);
    put(b, "\1\2\3\4", 4);
    put_u64(b, 1);
    put_u64(b, 3);
}

/* Values (0,1) = 5, (2,0) = 6, (2,2) = 7 of a (3,3) uint8 array, int32 indices. */
static void put_csr(bytes *b) {
    const int32_t offsets[4] = {0, 1, 1, 3}, columns[3] = {1, 0, 2};
    put_v2_start(b, 2);
    put_shape(b, 1, 3, 0);
    put_shape(b, 2, 3, 3);
    put_context_and_type(b, MXC_U8);
    put_u32(b, MXC_I32);
    put_shape(b, 1, 4, 0);
    put_u32(b, MXC_I32);
    put_shape(b, 1, 3, 0);
    put(b, "\5\6\7", 3);
    put(b, offsets, sizeof offsets);
    put(b, columns, sizeof columns);
}

static void put_v3_scalar(bytes *b) {
    put_u32(b, 0xF993FACA);
    put_u32(b, 0);
    put_u32(b, 0);
    put_context_and_type(b, MXC_BOOL);
    put(b, "\x02", 1); /* true, in an unusual way */
}

static void put_none(bytes *b, uint32_t version) {
    if (version)
        put_u32(b, version);
    if (version == 0xF993FAC9 || version == 0xF993FACA)
        put_u32(b, 0);
    put_u32(b, version == 0xF993FACA ? UINT32_MAX : 0);
}

/* All of them in one file, with names. */
static void put_mixed(bytes *b) {
    put_list(b, 10);
    put_v0(b);
    put_none(b, 0xF993FAC9);
    put_v1(b);
    put_row_sparse(b);
    put_csr(b);
    put_none(b, 0);
    put_v3_scalar(b);
    put_none(b, 0xF993FAC8);
    put_none(b, 0xF993FACA);
    put_v0(b);
    put_u64(b, 10);
    for (int i = 0; i < 10; i++) {
        put_u64(b, 1);
        put(b, &"abcdefghij"[i], 1);
    }
}

static void holds(mxc_ndarray *a, int ndim, const int64_t *dims, mxc_dtype dtype, const void *data) {
    mxc_ndarray *b;
    assert_ok(mxc_ndarray_from_data(ndim, dims, dtype, data, &b));
    assert_same_array(a, b);
    assert_true(mxc_context_equal(mxc_ndarray_context(a), mxc_cpu(0)));
    mxc_ndarray_release(b);
}

static void every_version_is_read_and_mixed(void **state) {
    static bytes b;
    mxc_ndarray_list list;
    (void)state;
    put_mixed(&b);
    assert_ok(mxc_ndarray_load_buffer("mixed", b.data, b.n, &list));
    assert_int_equal(list.n, 10);
    holds(list.arrays[0], 1, DIMS(2), MXC_I32, (int32_t[]){1, 2});
    holds(list.arrays[2], 2, DIMS(1, 3), MXC_U8, "\x0a\x0b\x0c");
    holds(list.arrays[3], 2, DIMS(4, 2), MXC_U8, "\0\0\1\2\0\0\3\4");
    holds(list.arrays[4], 2, DIMS(3, 3), MXC_U8, "\0\5\0\0\0\0\6\0\7");
    holds(list.arrays[6], 0, NULL, MXC_BOOL, "\1");
    holds(mxc_ndarray_list_find(&list, "j"), 1, DIMS(2), MXC_I32, (int32_t[]){1, 2});
    for (int i = 0; i < 10; i++)
        assert_int_equal(!list.arrays[i], i == 1 || i == 5 || i == 7 || i == 8);
    mxc_ndarray_list_release(&list);
}

static void damaged_files_fail_cleanly(void **state) {
    static bytes b;
    (void)state;
    put_mixed(&b);
    read_all_damages(read_image, &b, 0);
}

/* ---- hostile files ---- */

static void hostile_lists(void **state) {
    static bytes b;
    (void)state;
    put_list(&b, 0);
    poke(&b, 0, 0x113, 8);
    put_u64(&b, 0);
    fails(&b, "0x113");
    poke(&b, 0, 0x112, 8);
    poke(&b, 8, 1, 8);
    fails(&b, "reserved");
    poke(&b, 8, 0, 8);
    poke(&b, 16, UINT64_C(1) << 63, 8);
    fails(&b, "9223372036854775808 arrays");
    put_list(&b, 1);
    put_v0(&b);
    put_u64(&b, 0);
    put_u32(&b, 7);
    fails(&b, "4 bytes behind");
}

static void hostile_names(void **state) {
    static const struct {
        uint64_t count, length;
        const char *text;
        size_t bytes;
        const char *message;
    } cases[] = {
        {1, 1, "a", 1, "1 names for 2 arrays"},
        {3, 1, "aaa", 3, "3 names for 2 arrays"},
        {2, UINT64_C(1) << 40, "a", 1, "1099511627776 bytes"},
        {2, 3, "a\0b", 3, "NUL"},
        {2, 2, "\xc0\x80", 2, "UTF-8"},
        {2, 3, "\xed\xa0\x80", 3, "UTF-8"},
        {2, 4, "\xf5\x80\x80\x80", 4, "UTF-8"},
        {2, 1, "\x80", 1, "UTF-8"},
    };
    static bytes b;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_list(&b, 2);
        put_v0(&b);
        put_v0(&b);
        put_u64(&b, cases[i].count);
        put_u64(&b, cases[i].length);
        put(&b, cases[i].text, cases[i].bytes);
        put_u64(&b, 1);
        put(&b, "z", 1);
        fails(&b, cases[i].message);
    }
    put_list(&b, 2);
    put_v0(&b);
    put_v0(&b);
    put_u64(&b, 2);
    put_u64(&b, 1);
    put_text(&b, "q");
    put_u64(&b, 1);
    put_text(&b, "q");
    fails(&b, "\"q\" occurs twice");
}

/* One dense V2 record whose numbers are as given. */
static void put_v2(bytes *b, uint32_t ndim, const uint64_t *dims, uint32_t device, uint32_t id, uint32_t type) {
    put_list(b, 1);
    put_v2_start(b, 0);
    put_u32(b, ndim);
    for (uint32_t i = 0; i < ndim && i < 40; i++)
        put_u64(b, dims[i]);
    put_u32(b, device);
    put_u32(b, id);
    put_u32(b, type);
    put(b, "12345678", 8);
    put_u64(b, 0);
}

static void hostile_shapes_and_types(void **state) {
    static bytes b;
    const uint64_t huge[] = {UINT64_C(1) << 32, UINT64_C(1) << 32, 4}, hidden[] = {0, UINT64_C(1) << 62, 1024};
    uint64_t dims[40] = {2};
    (void)state;
    for (int i = 1; i < 40; i++)
        dims[i] = 1;
    put_v2(&b, 1, dims, 1, 0, MXC_F32);
    assert_ok(read_image(b.data, b.n));
    put_v2(&b, 33, dims, 1, 0, MXC_F32);
    fails(&b, "33 axes");
    put_v2(&b, 9, dims, 1, 0, MXC_F32);
    assert_fails(read_image(b.data, b.n), MXC_EUNSUPPORTED, "9 axes");
    put_v2(&b, UINT32_MAX, dims, 1, 0, MXC_F32);
    fails(&b, "4294967295 axes");
    put_v2(&b, 3, huge, 1, 0, MXC_F32);
    fails(&b, "larger than memory");
    put_v2(&b, 3, hidden, 1, 0, MXC_F32);
    fails(&b, "larger than memory");
    dims[1] = (uint64_t)-3;
    put_v2(&b, 2, dims, 1, 0, MXC_F32);
    fails(&b, "axis 1 has size -3");
    dims[0] = 3;
    put_v2(&b, 1, dims, 1, 0, MXC_F32); /* 12 bytes of data: the names are taken for it */
    fails(&b, "number of names");
    dims[0] = UINT64_C(1) << 40;
    put_v2(&b, 1, dims, 1, 0, MXC_F32);
    fails(&b, "4398046511104 bytes");
    dims[0] = 2;
    put_v2(&b, 1, dims, 1, 0, UINT32_MAX);
    fails(&b, "-1 is no type");
    put_v2(&b, 1, dims, 1, 0, 255);
    fails(&b, "255 is no type");
    put_v2(&b, 1, dims, 1, 0, 9);
    assert_fails(read_image(b.data, b.n), MXC_EUNSUPPORTED, "type 9");
    put_v2(&b, 1, dims, 77, 0, MXC_F32);
    fails(&b, "device type 77");
    put_v2(&b, 1, dims, 1, 100000, MXC_F32);
    fails(&b, "device id 100000");
    poke(&b, 28, 3, 4);
    fails(&b, "storage type 3");
}

/* The sparse record alone in a file, with a number at an offset of the record changed. */
static void spoiled(void (*record)(bytes *), size_t at, uint64_t x, size_t width, const char *message) {
    static bytes b;
    put_list(&b, 1);
    record(&b);
    poke(&b, 24 + at, x, width);
    put_u64(&b, 0);
    fails(&b, message);
}

static void hostile_row_sparse(void **state) {
    enum { STORED = 12, SHAPE = 32, TYPE = 60, COUNT = 68, DATA = 76, ROWS = 80 };
    (void)state;
    spoiled(put_row_sparse, ROWS + 8, 1, 8, "row number 1 at index 1"); /* twice */
    spoiled(put_row_sparse, ROWS, 3, 8, "row number 3 at index 1");     /* twice */
    spoiled(put_row_sparse, ROWS + 8, 0, 8, "row number 0 at index 1"); /* falls */
    spoiled(put_row_sparse, ROWS + 8, 4, 8, "below 4");
    spoiled(put_row_sparse, ROWS, (uint64_t)-1, 8, "row number -1");
    spoiled(put_row_sparse, COUNT, 3, 8, "3 row numbers");
    spoiled(put_row_sparse, STORED, 3, 8, "stores (3,2)");
    spoiled(put_row_sparse, SHAPE + 8, 3, 8, "shape (4,3)");
    spoiled(put_row_sparse, TYPE, MXC_F32, 4, "float32");
    spoiled(put_row_sparse, SHAPE, UINT64_C(1) << 40, 8, "expand to more than");
    spoiled(put_row_sparse, SHAPE, (UINT64_C(1) << 23) + 1, 8, "more than 16777216 bytes");
}

/* A larger file may expand to more, but not to any size. */
static void sparse_arrays_expand_with_the_file(void **state) {
    enum { SHAPE = 24 + 32, BYTES = 1 << 20 };
    static bytes b;
    char *file = calloc(1, BYTES);
    (void)state;
    put_list(&b, 1);
    put_row_sparse(&b);
    poke(&b, SHAPE, (64 << 20) / 2 + 1, 8);
    memcpy(file, b.data, b.n);
    assert_fails(read_image(file, BYTES), MXC_EFORMAT, "more than 67108864 bytes");
    free(file);
}

static void hostile_csr(void **state) {
    enum { STORED = 12, SHAPE = 24, OFFSETS = 87, COLUMNS = 103 };
    (void)state;
    spoiled(put_csr, OFFSETS + 8, 0, 4, "offsets of row 1 run from 1 to 0");
    spoiled(put_csr, OFFSETS + 4, (uint32_t)-5, 4, "run from 0 to -5");
    spoiled(put_csr, OFFSETS + 4, 900, 4, "from 0 to 900");
    spoiled(put_csr, OFFSETS, 1, 4, "run from 1 to 3");
    spoiled(put_csr, OFFSETS + 12, 2, 4, "run from 0 to 2");
    spoiled(put_csr, COLUMNS, 3, 4, "column 3");
    spoiled(put_csr, COLUMNS, UINT32_MAX, 4, "column -1");
    spoiled(put_csr, COLUMNS + 8, 0, 4, "row 2 has column 0");
    spoiled(put_csr, STORED, 2, 8, "stores 2 values");
    spoiled(put_csr, SHAPE, 4, 8, "shape (4,3)");
    spoiled(put_csr, SHAPE + 8, UINT64_C(1) << 50, 8, "expand to more than");
}

static void no_memory_is_asked_for_before_checks(void **state) {
    static bytes b;
    (void)state;
    put_list(&b, 1);
    put_u32(&b, 1);
    put_u32(&b, 0x40000000);
    put_context_and_type(&b, MXC_F32);
    put_u64(&b, 0);
    mxci_test_fail_alloc(2, 1); /* the list's own entry may be had, a large array not: it must not come to that */
    fails(&b, "truncated");
    mxci_test_fail_alloc(0, 0);
}

/* ---- the system fails ---- */

static mxc_status load_mixed(void *arg) {
    bytes *b = arg;
    return read_image(b->data, b->n);
}

typedef struct save_arg {
    const char *path;
    mxc_ndarray *arrays[2];
} save_arg;

/* An array that is large enough to have memory of its own. */
static mxc_status load_large(void *arg) {
    enum { BYTES = 1200000 };
    unsigned char *file = calloc(1, 64 + BYTES);
    static bytes b;
    mxc_status status;
    (void)arg;
    put_list(&b, 1);
    put_u32(&b, 1);
    put_u32(&b, BYTES);
    put_context_and_type(&b, MXC_U8);
    memcpy(file, b.data, b.n);
    status = read_image(file, b.n + BYTES + 8); /* no names: 8 zero bytes */
    free(file);
    return status;
}

static mxc_status save_two(void *arg) {
    save_arg *s = arg;
    return mxc_ndarray_save(s->path, 2, s->arrays, (const char *[]){"a", "b"});
}

static void each_allocation_and_write_may_fail(void **state) {
    static bytes b, old, now;
    test_path folder, path;
    save_arg s = {
        test_join(path, test_temp_dir(folder), "a.params"),
        {array_ramp(1, DIMS(30), MXC_F32), array_ramp(0, NULL, MXC_I8)},
    };
    mxc_status status;
    int64_t n = 1;
    (void)state;
    put_mixed(&b);
    fail_each_allocation(load_mixed, &b);
    fail_each_allocation(load_large, NULL);
    fail_each_allocation(save_two, &s);
    read_bytes(&old, path);
    assert_ok(mxc_ndarray_fill(s.arrays[0], 1));
    do { /* a full disk leaves the old file as it was */
        mxci_test_fail_write(n++);
        status = save_two(&s);
        mxci_test_fail_write(0);
        read_bytes(&now, path);
        assert_true(status == MXC_OK || (now.n == old.n && memcmp(now.data, old.data, now.n) == 0));
    } while (status != MXC_OK);
    assert_true(n > 3);
    mxc_ndarray_release(s.arrays[0]);
    mxc_ndarray_release(s.arrays[1]);
    test_remove_dir(folder);
}

static void paths_that_are_no_files(void **state) {
    mxc_ndarray_list list;
    test_path folder, path;
    (void)state;
    assert_status(mxc_ndarray_load("/nonexistent/file", &list), MXC_ENOTFOUND);
    assert_status(mxc_ndarray_load("/dev/zero", &list), MXC_EIO);
    assert_status(mxc_ndarray_load(test_temp_dir(folder), &list), MXC_EIO);
    test_join(path, folder, "empty");
    test_write_file(path, "", 0);
    assert_fails(mxc_ndarray_load(path, &list), MXC_EFORMAT, "empty: byte 0: truncated");
    assert_int_equal(list.n, 0);
    test_remove_dir(folder);
}

static mxc_status fail_on_purpose(const mxc_run *run, void *arg) {
    (void)run;
    (void)arg;
    return MXC_FAIL(MXC_EUSER, "on purpose");
}

static void a_failed_array_is_not_saved(void **state) {
    mxc_ndarray *a = array_ramp(1, DIMS(3), MXC_F32);
    mxc_var *var = mxc_ndarray_var(a);
    mxc_task task = MXC_TASK_INIT;
    test_path folder, path;
    (void)state;
    task.fn = fail_on_purpose;
    assert_ok(mxc_engine_push(mxc_var_engine(var), &task, 0, NULL, 1, &var, 0));
    test_join(path, test_temp_dir(folder), "a");
    assert_fails(mxc_ndarray_save(path, 1, &a, NULL), MXC_EUSER, "on purpose");
    assert_fails(mxc_ndarray_save_npy(path, a), MXC_EUSER, "on purpose");
    assert_fails(mxc_ndarray_save_npz(path, 1, &a, NULL), MXC_EUSER, "on purpose");
    assert_status(mxc_wait_all(mxc_var_engine(var)), MXC_EUSER);
    assert_int_not_equal(access(path, F_OK), 0);
    mxc_ndarray_release(a);
    test_remove_dir(folder);
}

/* ---- memory ---- */

/* Most memory this process ever had, in KiB. */
static long peak_kib(void) {
    char line[256];
    long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "VmHWM: %ld", &kib);
    if (file)
        fclose(file);
    return kib;
}

/* Load in a child, whose peak starts from what it has; 0 if it grew by at most limit KiB. */
static int load_within(const char *path, long limit) {
    mxc_ndarray_list list;
    pid_t child = fork();
    int status = -1;
    if (child == 0) {
        long before = peak_kib();
        status = mxc_ndarray_load(path, &list) != MXC_OK ? 1 : peak_kib() - before > limit ? 2 : 0;
        _exit(status);
    }
    waitpid(child, &status, 0);
    return status;
}

static void memory_stays_within_the_files_size(void **state) {
    enum { MIB = 1 << 20 };
    mxc_ndarray *arrays[3];
    test_path folder, path;
    struct stat st;
    (void)state;
    if (TEST_SANITIZED)
        skip();
    arrays[0] = array_new(1, DIMS(4 * MIB + 5), MXC_F32);
    arrays[1] = array_new(2, DIMS(1000, 777), MXC_F64);
    arrays[2] = array_new(1, DIMS(9 * MIB), MXC_U8);
    for (int i = 0; i < 3; i++)
        assert_ok(mxc_ndarray_fill(arrays[i], i + 1));
    test_join(path, test_temp_dir(folder), "large.params");
    assert_ok(mxc_ndarray_save(path, 3, arrays, (const char *[]){"a", "b", "c"}));
    for (int i = 0; i < 3; i++)
        mxc_ndarray_release(arrays[i]);
    blocks_alive(); /* trims: nothing cached is left for the child */
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(load_within(path, (long)(st.st_size + MIB) / 1024), 0);
    test_remove_dir(folder);
}

/* ---- files of others ---- */

/* What an independent reader found: arrays, names, elements in all and their sum. */
static const struct real_file {
    const char *path;
    int64_t n;
    int named;
    int64_t elements;
    double sum;
    const char *first_name;
} real_files[] = {
    {"models/legacy/legacy_ndarray.v0", 6, 0, 768, 48768, NULL},
    {"models/nd-list-unnamed/MNIST_weights-20", 4, 0, 39760, -40.009692998256924, NULL},
    {"models/rowsparse-mlp/mod-10.params", 4, 1, 79510, 166.7672881961563, "arg:1_weight"},
    {"models/mean_224/mean_224.nd", 1, 1, 150528, 17140361.928131104, "mean_img"},
    {"models/mtcnn-det1/mtcnn-det1-0000.params", 13, 1, 6632, -43.12531704072171, "arg:prelu2_gamma"},
    {"models/cifar_resnet20_v1/cifar_resnet20_v1-0000.params", 107, 1, 274042, -918.9588088427384,
     "arg:cifarresnetv10_conv0_weight"},
    {"models/mnist-mlp-gluon/model.params", 6, 1, 109386, -1158.469837988739, "sequential0_dense1_bias"},
    {"models/gluon-grucell/FashionMNIST_GRUweights-30.params", 6, 1, 140010, 219.89673486695756, "i2h_weight"},
    {"models/lffd-plate-small/lffd-plate-small-0000.params", 62, 1, 486866, -831.788526491888,
     "arg:conv10_2_bbox_bias"},
    {"models/ssrnet-megaage/ssrnet-megaage-0000.params", 96, 1, 40915, -315.11820292890116, "arg:convolution10_bias"},
    {"models/mnist-lenet-2015/mnist-lenet-2015-0000.params", 8, 1, 431080, -103.91725468500928,
     "arg:fullyconnected1_bias"},
};

static void check_real(const struct real_file *f, const mxc_ndarray_list *list) {
    int64_t elements = 0;
    double sum = 0;
    assert_int_equal(list->n, f->n);
    assert_int_equal(list->names != NULL, f->named);
    if (f->named)
        assert_string_equal(list->names[0], f->first_name);
    for (int64_t i = 0; i < list->n; i++) {
        float *x;
        assert_int_equal(mxc_ndarray_dtype(list->arrays[i]), MXC_F32);
        assert_ok(mxc_ndarray_data(list->arrays[i], (void **)&x));
        elements += mxc_ndarray_size(list->arrays[i]);
        for (int64_t k = 0; k < mxc_ndarray_size(list->arrays[i]); k++)
            sum += x[k];
    }
    assert_int_equal(elements, f->elements);
    assert_true(sum - f->sum < 1e-6 && f->sum - sum < 1e-6);
}

static void files_written_by_mxnet(void **state) {
    test_path folder, copy;
    (void)state;
    test_join(copy, test_temp_dir(folder), "copy.params");
    for (size_t i = 0; i < sizeof real_files / sizeof *real_files; i++) {
        mxc_ndarray_list list;
        test_path path;
        if (!test_data(path, real_files[i].path)) {
            test_remove_dir(folder);
            skip();
        }
        assert_ok(mxc_ndarray_load(path, &list));
        check_real(&real_files[i], &list);
        assert_ok(mxc_ndarray_save(copy, list.n, list.arrays, (const char *const *)list.names));
        mxc_ndarray_list_release(&list);
        assert_ok(mxc_ndarray_load(copy, &list));
        check_real(&real_files[i], &list);
        mxc_ndarray_list_release(&list);
    }
    test_remove_dir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_dtypes_survive),
        cmocka_unit_test(views_none_and_nothing),
        cmocka_unit_test(the_written_bytes_are_mxnets),
        cmocka_unit_test(writers_refuse_bad_names),
        cmocka_unit_test(every_version_is_read_and_mixed),
        cmocka_unit_test(damaged_files_fail_cleanly),
        cmocka_unit_test(hostile_lists),
        cmocka_unit_test(hostile_names),
        cmocka_unit_test(hostile_shapes_and_types),
        cmocka_unit_test(hostile_row_sparse),
        cmocka_unit_test(sparse_arrays_expand_with_the_file),
        cmocka_unit_test(hostile_csr),
        cmocka_unit_test(no_memory_is_asked_for_before_checks),
        cmocka_unit_test(each_allocation_and_write_may_fail),
        cmocka_unit_test(paths_that_are_no_files),
        cmocka_unit_test(a_failed_array_is_not_saved),
        cmocka_unit_test(memory_stays_within_the_files_size),
        cmocka_unit_test(files_written_by_mxnet),
    };
    return cmocka_run_group_tests_name("params", tests, NULL, NULL);
}
