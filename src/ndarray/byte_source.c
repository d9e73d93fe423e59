/* SPDX-License-Identifier: Apache-2.0 */
/* Reading from files and memory, checked against the bytes that are left. */
#include "ndarray/byte_source.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the files are little-endian, and are read as they lie");

/* The end of a path that is too long for a message. */
static const char *shown(const char *path) {
    size_t n = strlen(path);
    return n > 200 ? path + n - 200 : path;
}

static mxc_status fetch_file(mxci_byte_source *source, void *out, size_t bytes) {
    return mxci_file_read_at(source->file, source->at, out, bytes);
}

static mxc_status fetch_memory(mxci_byte_source *source, void *out, size_t bytes) {
    memcpy(out, source->data + source->at, bytes);
    return MXC_OK;
}

mxc_status mxci_byte_source_open(const char *path, mxci_byte_source *out) {
    *out = (mxci_byte_source){.name = shown(path), .fetch = fetch_file};
    MXC_TRY(mxci_file_open(path, &out->file));
    out->size = mxci_file_size(out->file);
    return MXC_OK;
}

void mxci_byte_source_close(mxci_byte_source *source) {
    mxci_file_close(source->file);
    source->file = NULL;
}

void mxci_byte_source_memory(const char *name, const void *data, size_t bytes, mxci_byte_source *out) {
    *out = (mxci_byte_source){.name = shown(name), .fetch = fetch_memory, .data = data, .size = (int64_t)bytes};
}

mxc_status mxci_byte_source_read(mxci_byte_source *source, const char *what, void *out, size_t bytes) {
    if (bytes > (uint64_t)mxci_byte_source_left(source))
        return MXCI_BYTE_SOURCE_FAIL(source, source->at, MXC_EFORMAT,
                                     "truncated: %s takes %zu bytes, but %lld are left", what, bytes,
                                     (long long)mxci_byte_source_left(source));
    if (bytes == 0)
        return MXC_OK;
    MXC_TRY(source->fetch(source, out, bytes));
    source->at += (int64_t)bytes;
    return MXC_OK;
}

mxc_status mxci_byte_source_u32(mxci_byte_source *source, const char *what, uint32_t *out) {
    *out = 0;
    return mxci_byte_source_read(source, what, out, sizeof *out);
}

mxc_status mxci_byte_source_i32(mxci_byte_source *source, const char *what, int32_t *out) {
    *out = 0;
    return mxci_byte_source_read(source, what, out, sizeof *out);
}

mxc_status mxci_byte_source_u64(mxci_byte_source *source, const char *what, uint64_t *out) {
    *out = 0;
    return mxci_byte_source_read(source, what, out, sizeof *out);
}
