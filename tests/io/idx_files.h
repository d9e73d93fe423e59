/* SPDX-License-Identifier: Apache-2.0 */
/* IDX files for tests: built in memory, written plain or compressed. */
#ifndef MXC_TESTS_IDX_FILES_H
#define MXC_TESTS_IDX_FILES_H

#include <zlib.h>

#include "support.h"

typedef struct bytes {
    unsigned char *data;
    size_t n;
} bytes;

static inline void bytes_free(bytes *b) {
    free(b->data);
    *b = (bytes){0};
}

static inline void bytes_add(bytes *b, const void *data, size_t n) {
    b->data = realloc(b->data, b->n + n + 1);
    memcpy(b->data + b->n, data, n);
    b->n += n;
}

/* Header of an IDX file: type code and sizes. */
static inline bytes idx_header(int code, int ndim, const uint32_t *dims) {
    bytes b = {0};
    bytes_add(&b, (unsigned char[]){0, 0, (unsigned char)code, (unsigned char)ndim}, 4);
    for (int i = 0; i < ndim; i++)
        bytes_add(&b,
                  (unsigned char[]){(unsigned char)(dims[i] >> 24), (unsigned char)(dims[i] >> 16),
                                    (unsigned char)(dims[i] >> 8), (unsigned char)dims[i]},
                  4);
    return b;
}

/* A file of bytes: element i is i * 7 mod 251. */
static inline bytes idx_u8(int ndim, const uint32_t *dims) {
    bytes b = idx_header(0x08, ndim, dims);
    size_t n = 1;
    for (int i = 0; i < ndim; i++)
        n *= dims[i];
    for (size_t i = 0; i < n; i++)
        bytes_add(&b, (unsigned char[]){(unsigned char)(i * 7 % 251)}, 1);
    return b;
}

/* One gzip member that holds these bytes. */
static inline bytes gzip_member(const void *data, size_t n) {
    bytes out = {0};
    unsigned char room[4096];
    z_stream z = {0};
    if (deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        fail_msg("deflateInit2");
    z.next_in = (unsigned char *)(uintptr_t)data;
    z.avail_in = (unsigned)n;
    int code;
    do {
        z.next_out = room;
        z.avail_out = sizeof room;
        code = deflate(&z, Z_FINISH);
        bytes_add(&out, room, sizeof room - z.avail_out);
    } while (code == Z_OK);
    deflateEnd(&z);
    return out;
}

static inline void write_bytes(const char *path, const bytes *b) {
    test_write_file(path, b->data, b->n);
}

#endif
