/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What readers of hostile files take: all memory that the process asks for is counted here, that of libraries too. A
 * record file is read in the record's own size and 1 MiB, whatever it claims; bombs of images are refused before.
 * Sanitizers and other C libraries than glibc have other allocators: then it is left out.
 */
#define _GNU_SOURCE 1 /* syscall */
#include <malloc.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "image_iters.h"

enum { MIB = 1 << 20 };

/* ---- counting ---------------------------------------------------------------------------------------------------- */

static _Atomic int64_t in_use, peak;

#if defined(__GLIBC__) && !TEST_SANITIZED
#define IS_COUNTED 1
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *block);

static void count(int64_t bytes) {
    int64_t now = atomic_fetch_add(&in_use, bytes) + bytes, most = peak;
    while (now > most && !atomic_compare_exchange_weak(&peak, &most, now))
        continue;
}

static void *counted(void *block) {
    count(block ? (int64_t)malloc_usable_size(block) : 0);
    return block;
}

void *malloc(size_t bytes) {
    return counted(__libc_malloc(bytes));
}

void *calloc(size_t n, size_t bytes) {
    return counted(__libc_calloc(n, bytes));
}

void *realloc(void *block, size_t bytes) {
    int64_t before = block ? (int64_t)malloc_usable_size(block) : 0;
    void *moved = counted(__libc_realloc(block, bytes));
    if (moved)
        count(-before);
    return moved;
}

void *aligned_alloc(size_t alignment, size_t bytes) {
    return counted(__libc_memalign(alignment, bytes));
}

void free(void *block) {
    count(block ? -(int64_t)malloc_usable_size(block) : 0);
    __libc_free(block);
}

/* Those of the library; the C library's own do not come by here. */
void *mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset) {
    long block = syscall(SYS_mmap, at, bytes, protection, flags, file, offset);
    count(block == -1 ? 0 : (int64_t)bytes);
    return (void *)block; /* MAP_FAILED is -1 */
}

int munmap(void *at, size_t bytes) {
    count(-(int64_t)bytes);
    return (int)syscall(SYS_munmap, at, bytes);
}
#else
#define IS_COUNTED 0
#endif

/* From here on. */
static int64_t begin_count(void) {
    int64_t now = in_use;
    peak = now;
    return now;
}

#define SKIP_IF_NOT_COUNTED \
    if (!IS_COUNTED)        \
    skip()

/* ---- records ----------------------------------------------------------------------------------------------------- */

/* Bytes of which every step-th place of four has the magic, so that the record has many parts; 0: none. */
static void write_record(mxc_record_writer *writer, size_t bytes, size_t step) {
    const unsigned char magic[4] = {0x0a, 0x23, 0xd7, 0xce};
    unsigned char *data = calloc(1, bytes + 4);
    for (size_t at = 0; step && at + 4 <= bytes; at += 4 * step)
        memcpy(data + at, magic, 4);
    assert_ok(mxc_record_writer_write(writer, 0, data, bytes));
    free(data);
}

/* Go through the file; what could be read of it, and what it took. */
static int64_t read_all(int part, int parts, size_t *longest) {
    int64_t before = begin_count();
    mxc_record_reader *reader;
    mxc_record record;
    assert_ok(mxc_record_reader_open(rec, part, parts, MXC_BAD_SKIP, &reader));
    for (*longest = 0;;) {
        assert_ok(mxc_record_reader_next(reader, &record));
        if (!record.data)
            break;
        *longest = record.bytes > *longest ? record.bytes : *longest;
    }
    mxc_record_reader_close(reader);
    return peak - before;
}

static void test_reading(void **state) {
    static const struct {
        size_t bytes[4], step;
    } files[] = {
        {{10, 100, 0, 1000}, 0},         {{100000, 5, 200000, 300001}, 0}, {{10, 5 * MIB, 3, 70000}, 0},
        {{MIB, 2 * MIB, 3 * MIB, 7}, 0}, {{3 * MIB, 10, MIB, 12}, 1000},   {{400000, 0, 3 * MIB, 2 * MIB}, 1},
        {{40 * MIB + 1, 5, 5, 5}, 0},
    };
    size_t longest;
    (void)state;
    SKIP_IF_NOT_COUNTED;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        mxc_record_writer *writer;
        size_t want = 0;
        assert_ok(mxc_record_writer_open(rec, NULL, &writer));
        for (int k = 0; k < 4; k++) {
            write_record(writer, files[i].bytes[k], files[i].step);
            want = files[i].bytes[k] > want ? files[i].bytes[k] : want;
        }
        assert_ok(mxc_record_writer_close(writer));
        int64_t took = read_all(0, 1, &longest);
        assert_int_equal(longest, want);
        want += files[i].step ? want / files[i].step : 0; /* in the file a head of 8 bytes stands for each magic */
        assert_in_range(took, 0, want + MIB);
        for (int part = 0; part < 3; part++)
            assert_in_range(read_all(part, 3, &longest), 0, want + MIB);
    }
}

/* A head that claims 500 MB of a file of 3 MB, and heads one behind the other that claim what is left. */
static void test_lying_lengths(void **state) {
    enum { BYTES = 3 * MIB };
    static uint32_t words[BYTES / 4];
    size_t longest;
    (void)state;
    SKIP_IF_NOT_COUNTED;
    words[0] = 0xced7230a;
    words[1] = 500 << 20;
    test_write_file(rec, words, BYTES);
    assert_true(read_all(0, 1, &longest) < MIB && longest == 0);
    for (uint32_t at = 0; at < BYTES; at += 4096) {
        words[at / 4] = 0xced7230a;
        words[at / 4 + 1] = BYTES - at - 8;
    }
    test_write_file(rec, words, BYTES);
    int64_t took = read_all(0, 1, &longest);
    assert_true(took < (int64_t)longest + MIB);
}

/* ---- images ------------------------------------------------------------------------------------------------------ */

/* Some hundred bytes that claim 65500 x 65500 pixels. */
static void put_size_bomb(mxc_record_writer *writer, int i, int frame) {
    static test_image t;
    jpeg_begin(&t, frame, 65500, 65500, 3, -1);
    jpeg_scan(&t, 0, 2, 0, frame == JPEG_PROGRESSIVE ? 0 : 63);
    image_put_number(&t, 0xffd9, 2);
    put_record(writer, i, 1, t.bytes, t.n);
}

/* A progressive one of 4000 x 4000 whose scans each take time and add nothing. */
static void put_scan_bomb(mxc_record_writer *writer, int i) {
    static test_image t;
    jpeg_begin(&t, JPEG_PROGRESSIVE, 4000, 4000, 1, -1);
    for (int scan = 0; scan < 90; scan++) {
        jpeg_scan(&t, 0, 0, scan > 0, scan > 0 ? 63 : 0);
        image_put_number(&t, 0x7f, 1);
    }
    jpeg_segment(&t, 0xfe, 35000, 0); /* a comment: enough bytes for the pixels */
    t.n += 34997;
    image_put_number(&t, 0xffd9, 2);
    put_record(writer, i, 1, t.bytes, t.n);
}

static void put_png_bomb(mxc_record_writer *writer, int i) {
    static test_image t;
    png_begin(&t, 60000, 60000, 2, 8, 0);
    png_chunk(&t, "IEND", "", 0);
    put_record(writer, i, 1, t.bytes, t.n);
}

/* Refused by their heads: next to nothing is taken, and the time is that of one small image. */
static void test_bombs(void **state) {
    static taken t;
    mxc_record_writer *writer;
    (void)state;
    SKIP_IF_NOT_COUNTED;
    if (!has_png() || !has_jpeg())
        skip();
    assert_ok(mxc_record_writer_open(rec, NULL, &writer));
    put_size_bomb(writer, 0, JPEG_SEQUENTIAL);
    put_size_bomb(writer, 1, JPEG_PROGRESSIVE);
    put_scan_bomb(writer, 2);
    put_png_bomb(writer, 3);
    put_png(writer, 4, 1);
    assert_ok(mxc_record_writer_close(writer));
    int64_t before = begin_count();
    mxc_iter *iter = make(
        WITH("batch_size", "5", "bad_data", "skip", "prefetch_buffer", "1", "max_pixels", "268435456", "verbose", "0"));
    take(iter, 1, &t);
    for (int i = 0; i < 5; i++)
        assert_int_equal(t.index[i], 104);
    mxc_iter_destroy(iter);
    assert_true(peak - before < 2 * MIB);
}

/* ---- text, IDX --------------------------------------------------------------------------------------------------- */

/* What making an iterator over a file of one byte again and again takes, which must fail. */
static int64_t refuse(const char *name, const char *key, char byte, size_t n, const char *more, const char *value) {
    const char *keys[] = {key, more, "batch_size"}, *values[] = {rec, value, "1"};
    char *text = malloc(n);
    mxc_iter *iter;
    memset(text, byte, n);
    test_write_file(rec, text, n);
    free(text);
    int64_t before = begin_count();
    assert_status(mxc_iter_create(name, 3, keys, values, &iter), MXC_EFORMAT);
    return peak - before;
}

static void test_texts(void **state) {
    const unsigned char idx_head[] = {0, 0, 8, 3, 0x7f, 0xff, 0xff, 0xff, 0, 1, 0, 0, 0, 1, 0, 0};
    mxc_ndarray *array;
    (void)state;
    SKIP_IF_NOT_COUNTED;
    assert_true(refuse("CSVIter", "data_csv", '1', 10 * MIB, "data_shape", "(4,)") < MIB);
    assert_true(refuse("CSVIter", "data_csv", ',', 10 * MIB, "data_shape", "(1000000,)") < 10 * MIB); /* one row */
    assert_true(refuse("LibSVMIter", "data_libsvm", '1', 10 * MIB, "data_shape", "(4,)") < MIB);
    assert_true(refuse("LibSVMIter", "data_libsvm", '#', 10 * MIB, "data_shape", "(4,)") < MIB);
    test_write_file(rec, idx_head, sizeof idx_head);
    int64_t before = begin_count();
    assert_status(mxc_idx_load(rec, &array), MXC_EFORMAT);
    assert_true(peak - before < MIB);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading),
        cmocka_unit_test(test_lying_lengths),
        cmocka_unit_test(test_bombs),
        cmocka_unit_test(test_texts),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
