/* SPDX-License-Identifier: Apache-2.0 */
/* Building small binary files in memory, and reading damaged ones. */
#ifndef MXC_TESTS_NDARRAY_BYTES_H
#define MXC_TESTS_NDARRAY_BYTES_H

#include "arrays.h"

/* A file under construction; the tests' own are small. */
typedef struct bytes {
    unsigned char data[8192];
    size_t n;
} bytes;

static inline void put(bytes *b, const void *data, size_t n) {
    assert_true(b->n + n <= sizeof b->data);
    memcpy(b->data + b->n, data, n);
    b->n += n;
}
static inline void put_u16(bytes *b, uint16_t x) {
    put(b, &x, sizeof x);
}
static inline void put_u32(bytes *b, uint32_t x) {
    put(b, &x, sizeof x);
}
static inline void put_u64(bytes *b, uint64_t x) {
    put(b, &x, sizeof x);
}
static inline void put_text(bytes *b, const char *s) {
    put(b, s, strlen(s));
}

/* Overwrite a number that was put before. */
static inline void poke(bytes *b, size_t at, uint64_t x, size_t width) {
    assert_true(at + width <= b->n);
    memcpy(b->data + at, &x, width);
}

/* A whole file of the test's own folder into b. */
static inline void read_bytes(bytes *b, const char *path) {
    char *data = test_read_file(path, &b->n);
    assert_non_null(data);
    assert_true(b->n <= sizeof b->data);
    memcpy(b->data, data, b->n);
    free(data);
}

/* Read a file image, release what comes of it, return the status. data lies in a block of exactly n bytes, so that the
 * address sanitizer sees a read beyond it. */
typedef mxc_status (*reader_fn)(const void *data, size_t n);

static inline mxc_status read_exactly(reader_fn reader, const unsigned char *data, size_t n) {
    unsigned char *copy = malloc(n ? n : 1);
    mxc_status status;
    memcpy(copy, data, n);
    status = reader(copy, n);
    free(copy);
    return status;
}

/* Every shorter file must fail with a message; every file with one byte changed must be read or fail with one. */
static inline void read_all_damages(reader_fn reader, const bytes *b, int may_be_shorter) {
    static bytes changed;
    int64_t before = blocks_alive();
    assert_ok(read_exactly(reader, b->data, b->n));
    for (size_t n = 0; n < b->n; n++) {
        mxc_status status = read_exactly(reader, b->data, n);
        if (status == MXC_OK && may_be_shorter)
            continue;
        assert_true(status == MXC_EFORMAT || status == MXC_EUNSUPPORTED);
        assert_true(strlen(mxc_last_error()) > 10);
    }
    changed = *b;
    for (size_t i = 0; i < b->n; i++)
        for (int mask = 1; mask < 256; mask = mask == 128 ? 255 : mask == 255 ? 256 : mask * 2) {
            mxc_status status;
            changed.data[i] = (unsigned char)(b->data[i] ^ mask);
            status = read_exactly(reader, changed.data, b->n);
            assert_true(status == MXC_OK || status == MXC_EFORMAT || status == MXC_EUNSUPPORTED);
            changed.data[i] = b->data[i];
        }
    assert_blocks_alive(before);
}

#endif
