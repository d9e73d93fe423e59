/* SPDX-License-Identifier: Apache-2.0 */
/* .npz: a zip archive whose members are .npy data. Writer: members are stored as they are, so sizes are known ahead. */
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "ndarray/array.h"
#include "ndarray/array_list.h"
#include "ndarray/npy.h"
#include "ndarray/npz.h"
#include "ndarray/zip.h"

enum { VERSION = 20, UTF8 = 1 << 11, JAN_1_1980 = 0x21, MEMBERS_MAX = 65534 };
#define OFFSET_MAX 0xfffffffeu /* from 2^32 - 1 on zip64 would be needed */

/* The directory entry of a written member. */
typedef struct directory_entry {
    uint32_t crc, bytes, at;
} directory_entry;

typedef struct byte_buffer {
    unsigned char bytes[MXCI_ZIP_CENTRAL_BYTES];
    size_t length;
} byte_buffer;

static void put16(byte_buffer *h, uint32_t value) {
    h->bytes[h->length++] = (unsigned char)value;
    h->bytes[h->length++] = (unsigned char)(value >> 8);
}

static void put32(byte_buffer *h, uint32_t value) {
    put16(h, value & 0xffff);
    put16(h, value >> 16);
}

/* Name of member i in the archive. */
static mxc_status member_name(const char *const *names, int64_t i, char **out) {
    mxci_text text = {0};
    if (names)
        mxci_text_add(&text, names[i]);
    else
        mxci_text_printf(&text, "arr_%lld", (long long)i);
    mxci_text_add(&text, ".npy");
    return mxci_text_take(&text, out);
}

/* The fields that local headers and directory entries have in common. */
static void put_common(byte_buffer *h, const directory_entry *e, size_t name_bytes) {
    put16(h, VERSION);
    put16(h, UTF8);
    put16(h, 0);          /* stored */
    put16(h, 0);          /* midnight */
    put16(h, JAN_1_1980); /* the same arrays give the same file */
    put32(h, e->crc);
    put32(h, e->bytes);
    put32(h, e->bytes);
    put16(h, (uint32_t)name_bytes);
    put16(h, 0); /* no extra fields */
}

static mxc_status write_local(mxci_writer *w, const directory_entry *e, const char *name) {
    byte_buffer h = {{0}, 0};
    put32(&h, MXCI_ZIP_LOCAL);
    put_common(&h, e, strlen(name));
    MXC_TRY(mxci_writer_write(w, h.bytes, h.length));
    return mxci_writer_write(w, name, strlen(name));
}

static mxc_status write_entry(mxci_writer *w, const directory_entry *e, const char *name) {
    byte_buffer h = {{0}, 0};
    put32(&h, MXCI_ZIP_CENTRAL);
    put16(&h, VERSION);
    put_common(&h, e, strlen(name));
    put16(&h, 0); /* no comment */
    put16(&h, 0); /* part */
    put16(&h, 0); /* attributes */
    put32(&h, 0);
    put32(&h, e->at);
    MXC_TRY(mxci_writer_write(w, h.bytes, h.length));
    return mxci_writer_write(w, name, strlen(name));
}

static mxc_status write_end(mxci_writer *w, int64_t n, int64_t directory_at) {
    int64_t bytes = mxci_writer_tell(w) - directory_at;
    byte_buffer h = {{0}, 0};
    if (directory_at + bytes > OFFSET_MAX)
        return MXC_FAIL(MXC_EUNSUPPORTED, "mxc_ndarray_save_npz: the archive needs 4 GiB or more");
    put32(&h, MXCI_ZIP_END);
    put32(&h, 0);
    put16(&h, (uint32_t)n);
    put16(&h, (uint32_t)n);
    put32(&h, (uint32_t)bytes);
    put32(&h, (uint32_t)directory_at);
    put16(&h, 0);
    return mxci_writer_write(w, h.bytes, h.length);
}

/* Checksum of bytes of any number. */
static uint32_t crc_of(uint32_t crc, const void *data, size_t bytes) {
    for (size_t at = 0, n; at < bytes; at += n) {
        n = bytes - at < (1u << 30) ? bytes - at : 1u << 30;
        crc = (uint32_t)crc32(crc, (const Bytef *)data + at, (uInt)n);
    }
    return crc;
}

static mxc_status write_member(mxci_writer *w, const char *name, mxc_ndarray *host, const void *data,
                               directory_entry *out) {
    char header[MXCI_NPY_HEADER_MAX];
    size_t header_bytes = mxci_npy_make_header(host, header), data_bytes = mxci_array_bytes(host);
    if ((uint64_t)mxci_writer_tell(w) + header_bytes + data_bytes > OFFSET_MAX)
        return MXC_FAIL(MXC_EUNSUPPORTED, "mxc_ndarray_save_npz: the archive needs 4 GiB or more");
    out->at = (uint32_t)mxci_writer_tell(w);
    out->bytes = (uint32_t)(header_bytes + data_bytes);
    out->crc = crc_of(crc_of(0, header, header_bytes), data, data_bytes);
    MXC_TRY(write_local(w, out, name));
    MXC_TRY(mxci_writer_write(w, header, header_bytes));
    return mxci_writer_write(w, data, data_bytes);
}

static mxc_status write_array(mxci_writer *w, const char *name, mxc_ndarray *array, directory_entry *out) {
    mxc_ndarray *host = NULL;
    mxc_status status;
    void *data;
    MXC_TRY(mxci_array_on_host(array, &host, &data));
    status = write_member(w, name, host, data, out);
    mxc_ndarray_release(host);
    return status;
}

static mxc_status write_archive(mxci_writer *w, int64_t n, mxc_ndarray *const *arrays, const char *const *names,
                                directory_entry *entries) {
    int64_t directory_at = 0;
    for (int64_t pass = 0; pass < 2; pass++) { /* members, then their entries */
        directory_at = mxci_writer_tell(w);
        for (int64_t i = 0; i < n; i++) {
            mxc_status status;
            char *name;
            MXC_TRY(member_name(names, i, &name));
            status = pass == 0 ? write_array(w, name, arrays[i], &entries[i]) : write_entry(w, &entries[i], name);
            mxci_free(name);
            MXC_TRY(status);
        }
    }
    return write_end(w, n, directory_at);
}

static mxc_status check_arguments(int64_t n, mxc_ndarray *const *arrays, const char *const *names) {
    if (n < 0 || n > MEMBERS_MAX || (n > 0 && !arrays))
        return MXC_FAIL(MXC_EINVAL, "mxc_ndarray_save_npz: %lld arrays%s, expected 0 to %d", (long long)n,
                        n > 0 && !arrays ? " at NULL" : "", MEMBERS_MAX);
    MXC_TRY(mxci_array_names_check("mxc_ndarray_save_npz", n, names));
    for (int64_t i = 0; i < n; i++) {
        const char *fault = names ? mxci_npz_name_fault(names[i]) : NULL;
        if (!arrays[i])
            return MXC_FAIL(MXC_EINVAL, "mxc_ndarray_save_npz: array %lld is NULL", (long long)i);
        if (fault || (names && strlen(names[i]) > MXCI_ARRAY_NAME_MAX - 4))
            return MXC_FAIL(MXC_EINVAL, "mxc_ndarray_save_npz: name %lld %s", (long long)i,
                            fault ? fault : "is too long");
    }
    return MXC_OK;
}

mxc_status mxc_ndarray_save_npz(const char *path, int64_t n, mxc_ndarray *const *arrays, const char *const *names) {
    directory_entry *entries;
    mxci_writer *w;
    mxc_status status;
    MXC_TRY(MXCI_NON_NULL(path));
    MXC_TRY(check_arguments(n, arrays, names));
    entries = mxci_calloc((size_t)n, sizeof *entries);
    if (!entries)
        return MXC_FAIL(MXC_ENOMEM, "mxc_ndarray_save_npz: no memory for the directory");
    status = mxci_writer_open(path, &w);
    if (status == MXC_OK) {
        status = write_archive(w, n, arrays, names, entries);
        if (status == MXC_OK)
            status = mxci_writer_commit(w);
        else
            mxci_writer_abandon(w);
    }
    mxci_free(entries);
    return status;
}
