/* SPDX-License-Identifier: Apache-2.0 */
/* Record files for tests: payloads that say which record they are, written and read back as a whole. */
#ifndef MXC_TESTS_RECORD_FILES_H
#define MXC_TESTS_RECORD_FILES_H

#include <mxc/recordio.h>

#include "support.h"

static const unsigned char record_magic[4] = {0x0a, 0x23, 0xd7, 0xce};

/* Payload i: bytes made from i, with the magic at multiples of 4 in every third, elsewhere in every fifth. */
static inline size_t payload(int i, unsigned char *out) {
    size_t bytes = (size_t)(i * 7 % 53);
    for (size_t k = 0; k < bytes; k++)
        out[k] = (unsigned char)(i * 31 + (int)k);
    if (i % 3 == 0)
        for (size_t k = (size_t)(i % 4) * 4; k + 4 <= bytes; k += 12)
            memcpy(out + k, record_magic, 4);
    if (i % 5 == 0 && bytes >= 7)
        memcpy(out + 3, record_magic, 4);
    return bytes;
}

enum { PAYLOAD_MAX = 64 };

/* Records first to first + n - 1 into a file; offsets (room for n + 1, the last is the file's size) may be NULL. */
static inline void write_payloads(const char *path, const char *index, int first, int n, int64_t *offsets) {
    mxc_record_writer *writer;
    assert_ok(mxc_record_writer_open(path, index, &writer));
    for (int i = 0; i < n; i++) {
        unsigned char data[PAYLOAD_MAX];
        size_t bytes = payload(first + i, data);
        assert_ok(mxc_record_writer_write(writer, (uint64_t)(first + i), data, bytes));
    }
    assert_ok(mxc_record_writer_close(writer));
    if (offsets) {
        mxc_record_index made;
        struct stat st;
        assert_ok(mxc_record_index_make(path, 0, &made));
        assert_int_equal(made.n, n);
        assert_int_equal(stat(path, &st), 0);
        memcpy(offsets, made.offsets, sizeof *offsets * (size_t)n);
        offsets[n] = st.st_size;
        mxc_record_index_free(&made);
    }
}

static inline void assert_payload(const mxc_record *record, int i) {
    unsigned char expected[PAYLOAD_MAX];
    assert_int_equal(record->bytes, payload(i, expected));
    assert_memory_equal(record->data, expected, record->bytes);
}

#endif
