/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .npz files: round trips, deflated members, archives of other programs, malformed ones. Covers ndarray/npz_read.c,
 * npz_write.c and zip.c.
 */
#include "bytes.h"

#include <zlib.h>

#include "ndarray/npz.h"

static mxc_status read_image(const void *data, size_t n) {
    mxci_byte_source source;
    mxc_ndarray_list list;
    mxci_byte_source_memory("image", data, n, &source);
    MXC_TRY(mxci_npz_read(&source, &list));
    mxc_ndarray_list_release(&list);
    return MXC_OK;
}

/* ---- archives of the test's own ---- */

enum { STORED = 0, DEFLATED = 8, FLAG_ENCRYPTED = 1, FLAG_SIZES_FOLLOW = 8 };

/* One member; what it says of itself may be made wrong. */
typedef struct member {
    const char *name;
    const void *data;
    size_t n;
    int method, flags;
    int zip64_sizes;          /* in the local header, as numpy writes them */
    uint32_t packed, crc, at; /* set by put_member */
    uint32_t lie;             /* added to the size in the directory */
} member;

static void put_member(bytes *b, member *m) {
    unsigned char packed[4096];
    size_t n = m->n;
    m->at = (uint32_t)b->n;
    m->crc = (uint32_t)crc32(0, m->data, (uInt)m->n);
    memcpy(packed, m->data, m->method == STORED ? m->n : 0);
    if (m->method == DEFLATED) {
        z_stream z = {
            .next_in = (Bytef *)m->data,
            .avail_in = (uInt)m->n,
            .next_out = packed,
            .avail_out = sizeof packed,
        };
        assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
        assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
        n = z.total_out;
        deflateEnd(&z);
    }
    m->packed = (uint32_t)n;
    put_u32(b, 0x04034b50);
    put_u16(b, 45);
    put_u16(b, (uint16_t)m->flags);
    put_u16(b, (uint16_t)m->method);
    put_u32(b, 0);
    put_u32(b, m->flags & FLAG_SIZES_FOLLOW ? 0 : m->crc);
    put_u32(b, m->zip64_sizes ? UINT32_MAX : m->flags & FLAG_SIZES_FOLLOW ? 0 : (uint32_t)n);
    put_u32(b, m->zip64_sizes ? UINT32_MAX : m->flags & FLAG_SIZES_FOLLOW ? 0 : (uint32_t)m->n);
    put_u16(b, (uint16_t)strlen(m->name));
    put_u16(b, m->zip64_sizes ? 20 : 0);
    put_text(b, m->name);
    if (m->zip64_sizes) {
        put_u16(b, 1);
        put_u16(b, 16);
        put_u64(b, m->n);
        put_u64(b, n);
    }
    put(b, packed, n);
}

static void put_directory(bytes *b, const member *m, int n) {
    uint32_t at = (uint32_t)b->n;
    for (int i = 0; i < n; i++) {
        put_u32(b, 0x02014b50);
        put_u32(b, 45 | 45 << 16);
        put_u16(b, (uint16_t)m[i].flags);
        put_u16(b, (uint16_t)m[i].method);
        put_u32(b, 0);
        put_u32(b, m[i].crc);
        put_u32(b, m[i].packed);
        put_u32(b, (uint32_t)m[i].n + m[i].lie);
        put_u16(b, (uint16_t)strlen(m[i].name));
        put_u64(b, 0); /* extra, comment, part, attributes */
        put_u32(b, 0);
        put_u32(b, m[i].at);
        put_text(b, m[i].name);
    }
    put_u32(b, 0x06054b50);
    put_u32(b, 0);
    put_u16(b, (uint16_t)n);
    put_u16(b, (uint16_t)n);
    put_u32(b, (uint32_t)b->n - 12 - at);
    put_u32(b, at);
    put_u16(b, 0);
}

static void put_archive(bytes *b, member *m, int n) {
    b->n = 0;
    for (int i = 0; i < n; i++)
        put_member(b, &m[i]);
    put_directory(b, m, n);
}

#define NPY(text) \
    { text, sizeof text - 1 }
static const struct {
    const char *data;
    size_t n;
} npy = NPY("\x93NUMPY\x01\x00\x3a\x00{'descr': '|u1', 'fortran_order': False, 'shape': (4,), }\nabcd");

static member plain(const char *name) {
    return (member){.name = name, .data = npy.data, .n = npy.n};
}

/* ---- good ones ---- */

static void all_dtypes_survive(void **state) {
    const char *names[DTYPES] = {"f32", "f64", "f16", "u8", "folder/i32", "i8", "i64", "bool", "\xc3\xa9"};
    mxc_ndarray *arrays[DTYPES];
    mxc_ndarray_list list;
    test_path folder, path;
    (void)state;
    for (int i = 0; i < DTYPES; i++)
        arrays[i] = array_ramp(2, DIMS(2, i), all_dtypes[i]); /* the first is empty */
    test_join(path, test_temp_dir(folder), "all.npz");
    assert_ok(mxc_ndarray_save_npz(path, DTYPES, arrays, names));
    assert_ok(mxc_ndarray_load_npz(path, &list));
    assert_int_equal(list.n, DTYPES);
    for (int i = 0; i < DTYPES; i++)
        assert_same_array(arrays[i], mxc_ndarray_list_find(&list, names[i]));
    mxc_ndarray_list_release(&list);
    assert_ok(mxc_ndarray_save_npz(path, 2, arrays, NULL));
    assert_ok(mxc_ndarray_load_npz(path, &list));
    assert_string_equal(list.names[1], "arr_1");
    mxc_ndarray_list_release(&list);
    assert_ok(mxc_ndarray_save_npz(path, 0, NULL, NULL));
    assert_ok(mxc_ndarray_load_npz(path, &list));
    assert_int_equal(list.n, 0);
    mxc_ndarray_list_release(&list);
    for (int i = 0; i < DTYPES; i++)
        mxc_ndarray_release(arrays[i]);
    test_remove_dir(folder);
}

static void archives_of_other_programs(void **state) {
    member m[4] = {plain("a.npy"), plain("b.npy"), plain("c.npy"), plain("d.npy")};
    mxci_byte_source source;
    mxc_ndarray_list list;
    static bytes b;
    (void)state;
    m[0].zip64_sizes = 1;
    m[1].method = DEFLATED;
    m[2].flags = FLAG_SIZES_FOLLOW;
    m[3].method = DEFLATED;
    m[3].zip64_sizes = 1;
    put_archive(&b, m, 4);
    mxci_byte_source_memory("image", b.data, b.n, &source);
    assert_ok(mxci_npz_read(&source, &list));
    for (int i = 0; i < 4; i++) {
        char text[4];
        assert_ok(mxc_ndarray_get(list.arrays[i], text, 4));
        assert_memory_equal(text, "abcd", 4);
        assert_int_equal(list.names[i][0], 'a' + i);
    }
    mxc_ndarray_list_release(&list);
    poke(&b, b.n - 2, 5, 2); /* an archive comment */
    put_text(&b, "hello");
    assert_ok(read_image(b.data, b.n));
}

/* Compressible, and larger than the buffers on the way. */
static void large_deflated_members(void **state) {
    enum { N = 300000 };
    static const char header[] = "{'descr': '<i4', 'fortran_order': False, 'shape': (300000,), }\n";
    size_t bytes_all = 10 + sizeof header - 1 + 4 * N;
    unsigned char *data = malloc(bytes_all), *file = malloc(bytes_all + 1000);
    z_stream z = {
        .next_in = data,
        .avail_in = (uInt)bytes_all,
        .next_out = file + 35,
        .avail_out = (uInt)bytes_all,
    };
    member m = {.name = "x.npy", .method = DEFLATED, .n = bytes_all};
    mxci_byte_source source;
    mxc_ndarray_list list;
    static bytes b, end;
    int32_t *x;
    (void)state;
    memcpy(data, "\x93NUMPY\x01\x00", 8);
    memcpy(data + 8, &(uint16_t){sizeof header - 1}, 2);
    memcpy(data + 10, header, sizeof header - 1);
    for (int32_t i = 0; i < N; i++)
        memcpy(data + bytes_all - 4 * (size_t)(N - i), &(int32_t){i % 1000 * 7}, 4);
    assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    b.n = end.n = 0;
    put_member(&b, &(member){.name = "x.npy", .data = "", .flags = FLAG_SIZES_FOLLOW, .method = DEFLATED});
    memcpy(file, b.data, 35);
    m.flags = FLAG_SIZES_FOLLOW;
    m.packed = (uint32_t)z.total_out;
    m.crc = (uint32_t)crc32(0, data, (uInt)bytes_all);
    put_directory(&end, &m, 1);
    poke(&end, end.n - 6, 35 + z.total_out, 4); /* where the directory begins */
    memcpy(file + 35 + z.total_out, end.data, end.n);
    mxci_byte_source_memory("large", file, 35 + z.total_out + end.n, &source);
    assert_ok(mxci_npz_read(&source, &list));
    assert_ok(mxc_ndarray_data(list.arrays[0], (void **)&x));
    for (int32_t i = 0; i < N; i++)
        assert_int_equal(x[i], i % 1000 * 7);
    mxc_ndarray_list_release(&list);
    deflateEnd(&z);
    free(data);
    free(file);
}

/* ---- bad ones ---- */

static void fails(member *m, int n, mxc_status status, const char *text) {
    static bytes b;
    put_archive(&b, m, n);
    assert_fails(read_exactly(read_image, b.data, b.n), status, text);
}

static void hostile_names(void **state) {
    static const char *const names[] = {"../x.npy", "a/../../x.npy", "/x.npy", "a/...npy", "c:\\x.npy", "..\\x.npy"};
    member m[2] = {plain("a.npy"), plain("a.npy")};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        m[0].name = names[i];
        fails(m, 1, MXC_EFORMAT, "leads out");
    }
    m[0].name = "a.npy";
    fails(m, 2, MXC_EFORMAT, "\"a\" occurs twice");
    m[0].name = "a.txt";
    fails(m, 1, MXC_EFORMAT, "no .npy file");
    m[0].name = "a/";
    fails(m, 1, MXC_EFORMAT, "no .npy file");
    m[0].name = ".npy";
    fails(m, 1, MXC_EFORMAT, "empty");
    m[0].name = "\xff.npy";
    fails(m, 1, MXC_EFORMAT, "UTF-8");
}

static void hostile_members(void **state) {
    static const unsigned char zeros[40000];
    member m = plain("a.npy");
    (void)state;
    m.flags = FLAG_ENCRYPTED;
    fails(&m, 1, MXC_EUNSUPPORTED, "encrypted");
    m.flags = 0;
    m.method = 12;
    fails(&m, 1, MXC_EUNSUPPORTED, "method 12");
    m.method = STORED;
    m.lie = 1;
    fails(&m, 1, MXC_EFORMAT, "stored zip member");
    m.method = DEFLATED;
    fails(&m, 1, MXC_EFORMAT, "disagree");
    m.flags = FLAG_SIZES_FOLLOW; /* only the directory knows, and lies */
    fails(&m, 1, MXC_EFORMAT, "5 bytes of data");
    m.lie = (uint32_t)-1;
    fails(&m, 1, MXC_EFORMAT, "3 bytes of data");
    m.lie = 3000000;
    fails(&m, 1, MXC_EFORMAT, "cannot be deflated");
    m.lie = UINT32_MAX - (uint32_t)m.n;
    fails(&m, 1, MXC_EUNSUPPORTED, "zip64");
    m = (member){.name = "z.npy", .data = zeros, .n = sizeof zeros, .method = DEFLATED};
    fails(&m, 1, MXC_EFORMAT, "npy");
}

static void hostile_directories(void **state) {
    enum { COUNT = 12, BYTES = 10, AT = 6 }; /* from the end */
    static bytes b;
    member m[2] = {plain("a.npy"), plain("b.npy")};
    (void)state;
#define TRY(back, value, width, status, text) \
    put_archive(&b, m, 2);                    \
    poke(&b, b.n - (back), (value), (width)); \
    assert_fails(read_exactly(read_image, b.data, b.n), status, text)
    TRY(COUNT, 1, 2, MXC_EUNSUPPORTED, "several parts");
    TRY(COUNT, 0xffff, 2, MXC_EUNSUPPORTED, "zip64");
    TRY(BYTES, UINT32_MAX, 4, MXC_EUNSUPPORTED, "zip64");
    TRY(BYTES, 1000000, 4, MXC_EFORMAT, "directory of 2 members");
    TRY(AT, 0, 4, MXC_EFORMAT, "directory of 2 members");
    TRY(2, 9, 2, MXC_EFORMAT, "no zip end record");
    TRY(22, 0, 4, MXC_EFORMAT, "no zip end record");
#undef TRY
    put_archive(&b, m, 2);
    poke(&b, m[1].at + 30, 'q', 1); /* the name in the member's own header */
    assert_fails(read_image(b.data, b.n), MXC_EFORMAT, "disagree");
    put_archive(&b, m, 2);
    poke(&b, m[1].at + 30 + 5 + npy.n - 1, 'q', 1); /* its last byte */
    assert_fails(read_image(b.data, b.n), MXC_EFORMAT, "checksum");
    b.n = 0; /* both entries show the same bytes: more is promised than there is */
    put_member(&b, &m[0]);
    m[1].at = m[0].at;
    m[1].name = m[0].name;
    put_directory(&b, m, 2);
    assert_fails(read_image(b.data, b.n), MXC_EFORMAT, "take more than");
}

/* 1.2 MB that promise to become 1.2 GB: refused by what the directory says, before any memory is asked for. */
static void bombs_are_not_expanded(void **state) {
    enum { PACKED = 1200000, HEAD = 35 };
    static bytes head, end;
    unsigned char *file = calloc(1, PACKED + 1000);
    member m = {.name = "x.npy", .method = DEFLATED, .flags = FLAG_SIZES_FOLLOW, .packed = PACKED, .data = ""};
    mxci_byte_source source;
    mxc_ndarray_list list;
    (void)state;
    put_member(&head, &(member){.name = "x.npy", .data = "", .flags = FLAG_SIZES_FOLLOW, .method = DEFLATED});
    memcpy(file, head.data, HEAD);
    m.n = (size_t)PACKED * 1030;
    put_directory(&end, &m, 1);
    poke(&end, end.n - 6, HEAD + PACKED, 4);
    memcpy(file + HEAD + PACKED, end.data, end.n);
    mxci_byte_source_memory("bomb", file, HEAD + PACKED + end.n, &source);
    assert_fails(mxci_npz_read(&source, &list), MXC_EFORMAT, "expand to more than 1073741824");
    free(file);
}

static void damaged_files_fail_cleanly(void **state) {
    member m[3] = {plain("a.npy"), plain("b.npy"), plain("c.npy")};
    static bytes b;
    (void)state;
    m[1].method = DEFLATED;
    m[2].zip64_sizes = 1;
    put_archive(&b, m, 3);
    read_all_damages(read_image, &b, 0);
}

static void writers_refuse_what_readers_would(void **state) {
    mxc_ndarray *a[2] = {array_ramp(1, DIMS(2), MXC_F32), NULL};
    test_path folder, path;
    (void)state;
    test_join(path, test_temp_dir(folder), "a.npz");
    assert_fails(mxc_ndarray_save_npz(path, 1, a, (const char *[]){"../x"}), MXC_EINVAL, "leads out");
    assert_fails(mxc_ndarray_save_npz(path, 1, a, (const char *[]){""}), MXC_EINVAL, "empty");
    assert_fails(mxc_ndarray_save_npz(path, 2, a, NULL), MXC_EINVAL, "array 1 is NULL");
    a[1] = a[0];
    assert_status(mxc_ndarray_save_npz(path, 2, a, (const char *[]){"x", "x"}), MXC_EEXIST);
    assert_int_not_equal(access(path, F_OK), 0);
    mxc_ndarray_release(a[0]);
    test_remove_dir(folder);
}

typedef struct files {
    const char *path;
    mxc_ndarray *arrays[2];
} files;

static mxc_status save_and_load(void *arg) {
    files *f = arg;
    mxc_ndarray_list list;
    MXC_TRY(mxc_ndarray_save_npz(f->path, 2, f->arrays, NULL));
    MXC_TRY(mxc_ndarray_load_npz(f->path, &list));
    mxc_ndarray_list_release(&list);
    return MXC_OK;
}

static mxc_status load_deflated(void *arg) {
    const bytes *b = arg;
    return read_image(b->data, b->n);
}

static void each_allocation_may_fail(void **state) {
    test_path folder, path;
    files f = {
        test_join(path, test_temp_dir(folder), "a.npz"),
        {array_ramp(2, DIMS(3, 4), MXC_I32), array_ramp(1, DIMS(300), MXC_U8)},
    };
    member m = plain("a.npy");
    static bytes b;
    (void)state;
    fail_each_allocation(save_and_load, &f);
    m.method = DEFLATED;
    put_archive(&b, &m, 1);
    fail_each_allocation(load_deflated, &b);
    mxc_ndarray_release(f.arrays[0]);
    mxc_ndarray_release(f.arrays[1]);
    test_remove_dir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_dtypes_survive),
        cmocka_unit_test(archives_of_other_programs),
        cmocka_unit_test(large_deflated_members),
        cmocka_unit_test(hostile_names),
        cmocka_unit_test(hostile_members),
        cmocka_unit_test(hostile_directories),
        cmocka_unit_test(bombs_are_not_expanded),
        cmocka_unit_test(damaged_files_fail_cleanly),
        cmocka_unit_test(writers_refuse_what_readers_would),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("npz", tests, NULL, NULL);
}
