/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The input of readers of file formats: a file, memory, or a member of an archive. Input is untrusted: every read is
 * checked against the number of bytes left, and every message names the source and the offset.
 */
#ifndef MXCI_NDARRAY_BYTE_SOURCE_H
#define MXCI_NDARRAY_BYTE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include <mxc/status.h>

#include "base/sys.h"

typedef struct mxci_byte_source mxci_byte_source;
struct mxci_byte_source {
    const char *name; /* for messages */
    int64_t size, at; /* number of bytes; offset of the next read */
    /* Read bytes from at on; the caller has checked that they exist. Compressed sources are read sequentially only. */
    mxc_status (*fetch)(mxci_byte_source *source, void *out, size_t bytes);
    mxci_file *file;           /* of a file source: closed by mxci_byte_source_close */
    const unsigned char *data; /* of a memory source */
};

/* Statuses as for mxci_file_open. */
mxc_status mxci_byte_source_open(const char *path, mxci_byte_source *out);
void mxci_byte_source_close(mxci_byte_source *source);
void mxci_byte_source_memory(const char *name, const void *data, size_t bytes, mxci_byte_source *out);

static inline int64_t mxci_byte_source_left(const mxci_byte_source *source) {
    return source->size - source->at;
}

/* Read exactly bytes bytes, which what names. MXC_EFORMAT if fewer are left. */
mxc_status mxci_byte_source_read(mxci_byte_source *source, const char *what, void *out, size_t bytes);
/* Read one little-endian number. */
mxc_status mxci_byte_source_u32(mxci_byte_source *source, const char *what, uint32_t *out);
mxc_status mxci_byte_source_i32(mxci_byte_source *source, const char *what, int32_t *out);
mxc_status mxci_byte_source_u64(mxci_byte_source *source, const char *what, uint64_t *out);

/* Fail with "name: byte N: ...". The format needs at least one argument. */
#define MXCI_BYTE_SOURCE_FAIL(source, offset, code, format, ...) \
    MXC_FAIL((code), "%s: byte %lld: " format, (source)->name, (long long)(offset), __VA_ARGS__)

#endif
