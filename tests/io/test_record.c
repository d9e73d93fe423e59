/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Record files: written and read back, split into parts, damaged at each byte, repaired. Covers io/record_read.c,
 * record_write.c and record_index.c.
 */
#include "alive.h"
#include "base/sys.h"
#include "io/record_files.h"

enum { N = 23, MANY = 4096 };

static test_path folder, path, index_path, other;

static int set_up(void **state) {
    (void)state;
    test_temp_dir(folder);
    test_join(path, folder, "a.rec");
    test_join(index_path, folder, "a.idx");
    test_join(other, folder, "b.rec");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    test_remove_dir(folder);
    return 0;
}

/* ---- whole files ---- */

static void test_bytes_as_mxnet_writes_them(void **state) {
    static const unsigned char expected[] = {
        0x0a, 0x23, 0xd7, 0xce, 5, 0, 0, 0,    'h', 'e', 'l', 'l', 'o', 0, 0, 0, /* whole */
        0x0a, 0x23, 0xd7, 0xce, 4, 0, 0, 0x20, 'a', 'b', 'c', 'd',               /* first */
        0x0a, 0x23, 0xd7, 0xce, 0, 0, 0, 0x40,                                   /* middle, empty */
        0x0a, 0x23, 0xd7, 0xce, 1, 0, 0, 0x60, 'e', 0,   0,   0,                 /* last */
        0x0a, 0x23, 0xd7, 0xce, 0, 0, 0, 0,                                      /* empty */
    };
    unsigned char cut[13] = "abcd\n#\xd7\xce\n#\xd7\xce"
                            "e";
    mxc_record_writer *writer;
    size_t bytes = 0;
    (void)state;
    assert_ok(mxc_record_writer_open(path, index_path, &writer));
    assert_int_equal(mxc_record_writer_tell(writer), 0);
    assert_ok(mxc_record_writer_write(writer, 7, "hello", 5));
    assert_int_equal(mxc_record_writer_tell(writer), 16);
    assert_ok(mxc_record_writer_write(writer, UINT64_MAX, cut, sizeof cut));
    assert_ok(mxc_record_writer_write(writer, 0, NULL, 0));
    assert_ok(mxc_record_writer_close(writer));
    char *file = test_read_file(path, &bytes), *index = test_read_file(index_path, NULL);
    assert_int_equal(bytes, sizeof expected);
    assert_memory_equal(file, expected, bytes);
    assert_string_equal(index, "7\t0\n18446744073709551615\t16\n0\t48\n");
    free(file);
    free(index);
}

static void test_reading_back(void **state) {
    mxc_record_reader *reader;
    mxc_record record;
    int64_t offsets[N + 1];
    (void)state;
    write_payloads(path, NULL, 0, N, offsets);
    assert_ok(mxc_record_reader_open(path, 0, 1, MXC_BAD_ERROR, &reader));
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < N; i++) {
            assert_int_equal(mxc_record_reader_tell(reader), offsets[i]);
            assert_ok(mxc_record_reader_next(reader, &record));
            assert_int_equal(record.offset, offsets[i]);
            assert_payload(&record, i);
        }
        for (int again = 0; again < 2; again++) {
            assert_ok(mxc_record_reader_next(reader, &record));
            assert_null(record.data);
        }
        mxc_record_reader_rewind(reader);
    }
    for (int i = 0; i < 5 * N; i++) { /* in any order, joined ones again too */
        int k = i * 7 % N;
        assert_ok(mxc_record_reader_seek(reader, offsets[k]));
        assert_ok(mxc_record_reader_next(reader, &record));
        assert_payload(&record, k);
    }
    mxc_record_reader_close(reader);
}

/* A payload larger than what is read at once, with the magic at each step words (0: nowhere). */
static unsigned char *large_payload(size_t bytes, size_t step) {
    unsigned char *data = malloc(bytes);
    for (size_t i = 0; i < bytes; i++)
        data[i] = (unsigned char)(i * 2654435761u >> 13);
    for (size_t i = 0; step > 0 && i + 4 <= bytes; i += 4 * step)
        memcpy(data + i, record_magic, 4);
    return data;
}

static void test_large_records(void **state) {
    static const struct {
        size_t bytes, step;
    } large[] = {
        {1 << 18, 0},    {(1 << 18) - 8, 0}, {(1 << 18) - 7, 0}, {3000001, 0}, {100, 2}, {700003, 1},
        {1500000, 1000}, {262143, 16384},    {2500002, 65536},   {0, 0},       {17, 0},
    };
    enum { LARGE = sizeof large / sizeof large[0] };
    mxc_record_writer *writer;
    mxc_record_reader *reader;
    int64_t begin = mxci_now_ns();
    (void)state;
    assert_ok(mxc_record_writer_open(path, NULL, &writer));
    for (int i = 0; i < LARGE; i++) {
        unsigned char *data = large_payload(large[i].bytes, large[i].step);
        assert_ok(mxc_record_writer_write(writer, 0, data, large[i].bytes));
        free(data);
    }
    assert_ok(mxc_record_writer_close(writer));
    for (int n = 1; n < 5; n++)
        for (int part = 0, i = 0; part < n; part++) {
            mxc_record record;
            assert_ok(mxc_record_reader_open(path, part, n, MXC_BAD_ERROR, &reader));
            for (assert_ok(mxc_record_reader_next(reader, &record)); record.data; i++) {
                unsigned char *data = large_payload(large[i].bytes, large[i].step);
                assert_int_equal(record.bytes, large[i].bytes);
                assert_memory_equal(record.data, data, record.bytes);
                free(data);
                assert_ok(mxc_record_reader_next(reader, &record));
            }
            mxc_record_reader_close(reader);
            if (part == n - 1)
                assert_int_equal(i, LARGE);
        }
    assert_true(mxci_now_ns() - begin < INT64_C(4000000000) * (TEST_SANITIZED ? 10 : 1)); /* many parts are not slow */
}

/* Change one byte of path by exclusive or; done again it is the old one. */
static void flip(size_t at, int bits) {
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
    int byte = fgetc(file) ^ bits;
    assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
    assert_int_equal(fputc(byte, file), byte);
    assert_int_equal(fclose(file), 0);
}

/* ---- parts ---- */

/* What a reader of a part gives, damage passed over, appended to offsets; returns how many there are then. */
static int offsets_of_part(int part, int n_parts, int64_t *offsets, int n) {
    mxc_record_reader *reader;
    mxc_record record;
    assert_ok(mxc_record_reader_open(path, part, n_parts, MXC_BAD_SKIP, &reader));
    for (assert_ok(mxc_record_reader_next(reader, &record)); record.data; n++) {
        assert_true(n < MANY);
        offsets[n] = record.offset;
        assert_ok(mxc_record_reader_next(reader, &record));
    }
    mxc_record_reader_close(reader);
    return n;
}

/* The parts must give what the whole file gives, in its order. */
static void check_parts(int n_parts) {
    static int64_t whole[MANY], parts[MANY];
    int n = offsets_of_part(0, 1, whole, 0), k = 0;
    for (int part = 0; part < n_parts; part++)
        k = offsets_of_part(part, n_parts, parts, k);
    assert_int_equal(n, k);
    assert_memory_equal(whole, parts, sizeof whole[0] * (size_t)n);
}

static void test_parts_are_exact(void **state) {
    (void)state;
    for (int first = 0; first < TEST_SCALE(16); first++)
        for (int count = 0; count < 12; count += 1 + count / 3) {
            write_payloads(path, NULL, first, count, NULL);
            for (int n = 1; n <= 17; n++)
                check_parts(n);
        }
    write_payloads(path, NULL, 0, 40, NULL);
    for (int n = 18; n < 400; n += 7) /* boundaries at each word, and more parts than words */
        check_parts(n);
}

static void test_parts_of_damaged_files(void **state) {
    int64_t offsets[N + 1];
    (void)state;
    write_payloads(path, NULL, 0, N, offsets);
    for (size_t at = 0; at < (size_t)offsets[N]; at += TEST_SANITIZED ? 7 : 1) {
        flip(at, 0x55);
        check_parts(2 + (int)(at % 16));
        flip(at, 0x55);
    }
}

/* ---- damage ---- */

/* Read all, going on after each failure; returns how many records of write_payloads were among them, by offset. */
static int count_intact(mxc_bad_record bad, int n, const int64_t *offsets, int *n_errors) {
    mxc_record_reader *reader;
    int intact = 0, last = -1;
    *n_errors = 0;
    assert_ok(mxc_record_reader_open(path, 0, 1, bad, &reader));
    for (int calls = 0;; calls++) {
        unsigned char expected[PAYLOAD_MAX];
        mxc_record record;
        mxc_status status = mxc_record_reader_next(reader, &record);
        assert_true(calls < MANY);
        if (status == MXC_OK && !record.data)
            break;
        *n_errors += status != MXC_OK;
        for (int i = last + 1; status == MXC_OK && i < n; i++)
            if (record.offset == offsets[i] && record.bytes == payload(i, expected) &&
                memcmp(record.data, expected, record.bytes) == 0) {
                intact++;
                last = i;
            }
        if (status != MXC_OK)
            assert_int_equal(status, MXC_EFORMAT);
    }
    mxc_record_reader_close(reader);
    return intact;
}

static void test_every_truncation(void **state) {
    int64_t offsets[N + 1];
    int errors, whole = N;
    (void)state;
    write_payloads(path, NULL, 0, N, offsets);
    for (int64_t keep = offsets[N]; keep >= 0; keep--) {
        assert_int_equal(truncate(path, keep), 0);
        while (offsets[whole] > keep)
            whole--;
        assert_int_equal(count_intact(MXC_BAD_ERROR, N, offsets, &errors), whole);
        assert_int_equal(errors, offsets[whole] != keep);
    }
}

static void test_every_byte_flipped(void **state) {
    int64_t offsets[N + 1];
    int errors;
    (void)state;
    write_payloads(path, NULL, 0, N, offsets);
    for (size_t at = 0; at < (size_t)offsets[N]; at++)
        for (int bit = 0; bit < 8; bit += TEST_SANITIZED ? 5 : 1) {
            flip(at, 1 << bit);
            assert_true(count_intact(MXC_BAD_ERROR, N, offsets, &errors) >= N - 1); /* all others */
            assert_true(errors <= 2); /* before and behind a middle part that claims to be whole */
            flip(at, 1 << bit);
        }
}

static void test_messages_and_counts(void **state) {
    mxc_record_reader *reader;
    mxc_record record;
    int64_t offsets[N + 1], places, skipped;
    size_t bytes = 0;
    (void)state;
    write_payloads(path, NULL, 0, N, offsets);
    unsigned char *file = (unsigned char *)test_read_file(path, &bytes);
    file[offsets[4]] ^= 1;
    file[offsets[5] + 7] |= 0xe0;
    file[offsets[9] + 7] |= 0x1f;
    test_write_file(path, file, bytes);
    free(file);
    assert_ok(mxc_record_reader_open(path, 0, 1, MXC_BAD_ERROR, &reader));
    for (int i = 0; i < 4; i++)
        assert_ok(mxc_record_reader_next(reader, &record));
    assert_fails(mxc_record_reader_next(reader, &record), MXC_EFORMAT, "no record begins here");
    assert_non_null(strstr(mxc_last_error(), path));
    assert_null(record.data);
    assert_ok(mxc_record_reader_next(reader, &record));
    assert_int_equal(record.offset, offsets[6]);
    assert_ok(mxc_record_reader_next(reader, &record));
    assert_ok(mxc_record_reader_next(reader, &record));
    assert_fails(mxc_record_reader_next(reader, &record), MXC_EFORMAT, "beyond the end of the file");
    mxc_record_reader_close(reader);
    assert_ok(mxc_record_reader_open(path, 0, 1, MXC_BAD_SKIP, &reader));
    for (assert_ok(mxc_record_reader_next(reader, &record)); record.data;)
        assert_ok(mxc_record_reader_next(reader, &record));
    mxc_record_reader_skipped(reader, &places, &skipped);
    assert_int_equal(places, 2);
    assert_int_equal(skipped, offsets[6] - offsets[4] + offsets[10] - offsets[9]);
    mxc_record_reader_close(reader);
}

/* Parts of no bytes, by kind, must be refused with a message. */
static void test_wrong_orders_of_parts(void **state) {
    static const struct {
        const char *kinds, *message;
    } cases[] = {
        {"4", "not that of a first part"},
        {"7", "not that of a first part"},
        {"2", "not that of a first part"},
        {"3", "not that of a first part"},
        {"11", "another record's"},
        {"10", "another record's"},
        {"1", "cut off"},
        {"12222222", "cut off"},
        {"125", "another record's or of no kind"},
    };
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        unsigned char file[256];
        size_t n = strlen(cases[c].kinds);
        mxc_record_reader *reader;
        mxc_record record;
        for (size_t i = 0; i < n; i++) {
            memcpy(file + 8 * i, record_magic, 4);
            memset(file + 8 * i + 4, 0, 3);
            file[8 * i + 7] = (unsigned char)((cases[c].kinds[i] - '0') << 5);
        }
        test_write_file(path, file, 8 * n);
        assert_ok(mxc_record_reader_open(path, 0, 1, MXC_BAD_ERROR, &reader));
        assert_fails(mxc_record_reader_next(reader, &record), MXC_EFORMAT, cases[c].message);
        mxc_record_reader_close(reader);
    }
}

/* Many heads that claim much must not make the search behind damage slow. */
static void test_search_is_linear(void **state) {
    enum { WORDS = 1 << 19 };
    unsigned char *file = malloc(4 * WORDS);
    int errors;
    (void)state;
    for (int form = 0; form < 3; form++) {
        for (uint32_t i = 0; i < WORDS; i += 2) {
            uint32_t left = 4 * (WORDS - i) - 8;
            uint32_t word = form == 0       ? left
                            : form == 1     ? left | 1u << 29
                            : i < WORDS / 2 ? 1u << 29 | 2 * WORDS
                                            : 2u << 29;
            memcpy(file + 4 * i, record_magic, 4);
            memcpy(file + 4 * i + 4, &word, 4);
        }
        test_write_file(path, file, 4 * WORDS);
        int64_t begin = mxci_now_ns();
        assert_true(count_intact(MXC_BAD_SKIP, 0, NULL, &errors) == 0);
        assert_true(mxci_now_ns() - begin < INT64_C(2000000000) * (TEST_SANITIZED ? 10 : 1));
    }
    free(file);
}

static void test_arguments(void **state) {
    mxc_record_reader *reader;
    mxc_record_writer *writer;
    (void)state;
    write_payloads(path, NULL, 0, 3, NULL);
    assert_fails(mxc_record_reader_open(path, 3, 3, MXC_BAD_ERROR, &reader), MXC_EINVAL, "part_index 3 of num_parts 3");
    assert_fails(mxc_record_reader_open(path, -1, 3, MXC_BAD_ERROR, &reader), MXC_EINVAL, "part_index -1");
    assert_fails(mxc_record_reader_open(path, 0, 1, (mxc_bad_record)7, &reader), MXC_EINVAL, "bad 7");
    assert_status(mxc_record_reader_open("/nowhere/a.rec", 0, 1, MXC_BAD_ERROR, &reader), MXC_ENOTFOUND);
    assert_null(reader);
    assert_status(mxc_record_reader_open(folder, 0, 1, MXC_BAD_ERROR, &reader), MXC_EIO);
    assert_ok(mxc_record_reader_open(path, 0, 1, MXC_BAD_ERROR, &reader));
    assert_fails(mxc_record_reader_seek(reader, 2), MXC_EINVAL, "offset 2");
    assert_status(mxc_record_reader_seek(reader, -4), MXC_EINVAL);
    assert_status(mxc_record_reader_seek(reader, 1 << 20), MXC_EINVAL);
    mxc_record_reader_close(reader);
    assert_ok(mxc_record_writer_open(other, NULL, &writer));
    assert_fails(mxc_record_writer_write(writer, 0, path, (size_t)1 << 29), MXC_EINVAL, "less than 2^29");
    mxc_record_writer_abandon(writer);
    assert_int_equal(access(other, F_OK), -1);
}

/* ---- index and repair ---- */

static void expect_index(const char *text, int64_t n, const char *message) {
    mxc_record_index index;
    int64_t live = test_alive();
    test_write_file(index_path, text, strlen(text));
    mxc_status status = mxc_record_index_load(index_path, &index);
    if (message) {
        assert_fails(status, MXC_EFORMAT, message);
        assert_null(index.keys);
    } else {
        assert_ok(status);
        assert_int_equal(index.n, n);
    }
    mxc_record_index_free(&index);
    assert_int_equal(test_alive(), live);
}

static void test_index_files(void **state) {
    mxc_record_index index;
    (void)state;
    expect_index("", 0, NULL);
    expect_index("0\t0\n1\t16\n", 2, NULL);
    expect_index("0\t0\r\n1\t16\r\n", 2, NULL);
    expect_index("5\t160\n5\t16", 2, NULL); /* neither sorted nor unique, no newline */
    expect_index("\n0\t0\n\n", 1, NULL);
    expect_index("0\t-4\n", 0, "line 1");
    expect_index("0\t0\n1\t100000000000000000000\n", 0, "line 2");
    expect_index("18446744073709551616\t0\n", 0, "line 1");
    expect_index("0\t3\n", 0, "that 4 divides");
    expect_index("0 \n", 0, "line 1");
    expect_index("0\t4 5\n", 0, "line 1");
    expect_index("a\t4\n", 0, "line 1");
    test_write_file(index_path, "0\t\0\n", 4);
    assert_fails(mxc_record_index_load(index_path, &index), MXC_EFORMAT, "line 1");
    assert_status(mxc_record_index_load("/nowhere/a.idx", &index), MXC_ENOTFOUND);
}

static void test_index_of_written_file(void **state) {
    mxc_record_index loaded, made;
    (void)state;
    write_payloads(path, index_path, 0, N, NULL);
    assert_ok(mxc_record_index_load(index_path, &loaded));
    assert_ok(mxc_record_index_make(path, 0, &made));
    assert_int_equal(loaded.n, N);
    assert_int_equal(made.n, N);
    assert_memory_equal(loaded.keys, made.keys, sizeof *made.keys * N);
    assert_memory_equal(loaded.offsets, made.offsets, sizeof *made.offsets * N);
    mxc_record_index_free(&loaded);
    mxc_record_index_free(&made);
    assert_fails(mxc_record_index_make(path, 1, &made), MXC_EFORMAT, "no image record");
    assert_null(made.keys);
}

static void test_repair(void **state) {
    mxc_record_index index, expected;
    mxc_record_reader *reader;
    mxc_record record;
    int64_t offsets[N + 1], n;
    size_t bytes = 0;
    (void)state;
    write_payloads(path, NULL, 0, N, offsets);
    unsigned char *file = (unsigned char *)test_read_file(path, &bytes);
    memset(file + offsets[2] + 2, 0x77, (size_t)(offsets[5] - offsets[2]));
    test_write_file(path, file, bytes - 3);
    free(file);
    assert_ok(mxc_record_repair(path, other, index_path, &n));
    assert_int_equal(n, N - 5); /* records 2 to 5, and the last */
    assert_ok(mxc_record_index_load(index_path, &index));
    assert_ok(mxc_record_index_make(other, 0, &expected));
    assert_int_equal(index.n, n);
    assert_memory_equal(index.offsets, expected.offsets, sizeof *index.offsets * (size_t)n);
    assert_ok(mxc_record_reader_open(other, 0, 1, MXC_BAD_ERROR, &reader));
    for (int i = 0; i < N - 1; i += i == 1 ? 5 : 1) {
        assert_ok(mxc_record_reader_next(reader, &record));
        assert_payload(&record, i);
    }
    mxc_record_reader_close(reader);
    mxc_record_index_free(&index);
    mxc_record_index_free(&expected);
    assert_status(mxc_record_repair("/nowhere/a.rec", other, NULL, &n), MXC_ENOTFOUND);
}

/* ---- failures ---- */

static mxc_status everything(void) {
    mxc_record_index index;
    int64_t n;
    MXC_TRY(mxc_record_repair(path, other, index_path, &n));
    MXC_TRY(mxc_record_index_load(index_path, &index));
    mxc_record_index_free(&index);
    MXC_TRY(mxc_record_index_make(other, 0, &index));
    mxc_record_index_free(&index);
    return MXC_OK;
}

static void test_every_allocation_failing(void **state) {
    mxc_status status = MXC_ENOMEM;
    (void)state;
    write_payloads(path, NULL, 0, N, NULL);
    for (int64_t k = 1; status != MXC_OK; k++) {
        int64_t live = test_alive();
        mxci_test_fail_alloc(k, 0);
        status = everything();
        mxci_test_fail_alloc(0, 0);
        assert_true(status == MXC_OK || status == MXC_ENOMEM);
        assert_int_equal(test_alive(), live);
    }
}

static void test_every_write_failing(void **state) {
    mxc_status status = MXC_EIO;
    (void)state;
    write_payloads(path, NULL, 0, N, NULL);
    for (int64_t k = 1; status != MXC_OK; k++) {
        int64_t live = test_alive(), n;
        size_t bytes = 0;
        test_write_file(other, "old", 3);
        mxci_test_fail_write(k);
        status = mxc_record_repair(path, other, index_path, &n);
        mxci_test_fail_write(0);
        assert_true(status == MXC_OK || status == MXC_EIO);
        assert_int_equal(test_alive(), live);
        char *file = test_read_file(other, &bytes);
        assert_true(status == MXC_OK || k > 3 || bytes == 3); /* its own flush, write and rename */
        free(file);
    }
}

/* A buffer that was given up for a larger one is not used again. */
static void test_reading_on_after_a_failed_allocation(void **state) {
    unsigned char *data = large_payload(1000000, 0);
    mxc_record_writer *writer;
    mxc_record_reader *reader;
    mxc_record record;
    (void)state;
    assert_ok(mxc_record_writer_open(path, NULL, &writer));
    assert_ok(mxc_record_writer_write(writer, 0, "small", 5));
    assert_ok(mxc_record_writer_write(writer, 1, data, 1000000));
    assert_ok(mxc_record_writer_close(writer));
    assert_ok(mxc_record_reader_open(path, 0, 1, MXC_BAD_ERROR, &reader));
    assert_ok(mxc_record_reader_next(reader, &record));
    for (int k = 2; k > 0; k--) {
        mxci_test_fail_alloc(k, 0);
        assert_status(mxc_record_reader_next(reader, &record), MXC_ENOMEM);
        mxci_test_fail_alloc(0, 0);
    }
    assert_ok(mxc_record_reader_next(reader, &record));
    assert_int_equal(record.bytes, 1000000);
    assert_memory_equal(record.data, data, record.bytes);
    mxc_record_reader_close(reader);
    free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_as_mxnet_writes_them),
        cmocka_unit_test(test_reading_back),
        cmocka_unit_test(test_large_records),
        cmocka_unit_test(test_parts_are_exact),
        cmocka_unit_test(test_parts_of_damaged_files),
        cmocka_unit_test(test_every_truncation),
        cmocka_unit_test(test_every_byte_flipped),
        cmocka_unit_test(test_messages_and_counts),
        cmocka_unit_test(test_wrong_orders_of_parts),
        cmocka_unit_test(test_search_is_linear),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_index_files),
        cmocka_unit_test(test_index_of_written_file),
        cmocka_unit_test(test_repair),
        cmocka_unit_test(test_every_allocation_failing),
        cmocka_unit_test(test_every_write_failing),
        cmocka_unit_test(test_reading_on_after_a_failed_allocation),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
