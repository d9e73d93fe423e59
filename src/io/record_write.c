/* SPDX-License-Identifier: Apache-2.0 */
/* Writing record files, and copying what is intact of a damaged one. */
#include <mxc/recordio.h>

#include "base/error.h"
#include "base/sys.h"
#include "io/record_format.h"

struct mxc_record_writer {
    mxci_writer *records, *index; /* index NULL: none */
    int failed;                   /* a record is not in both files: neither will replace its old version */
};

mxc_status mxc_record_writer_open(const char *path, const char *index, mxc_record_writer **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(path));
    mxc_record_writer *w = mxci_calloc(1, sizeof *w);
    if (!w)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory to write it", path);
    mxc_status status = mxci_writer_open(path, &w->records);
    if (status == MXC_OK && index)
        status = mxci_writer_open(index, &w->index);
    if (status != MXC_OK)
        mxc_record_writer_abandon(w);
    else
        *out = w;
    return status;
}

static mxc_status write_part(mxci_writer *w, uint32_t kind, const unsigned char *data, size_t bytes) {
    static const unsigned char zeros[4];
    unsigned char header[MXCI_RECORD_HEADER];
    mxci_put_u32(header, MXCI_RECORD_MAGIC);
    mxci_put_u32(header + 4, kind << 29 | (uint32_t)bytes);
    MXC_TRY(mxci_writer_write(w, header, sizeof header));
    MXC_TRY(mxci_writer_write(w, data, bytes));
    return mxci_writer_write(w, zeros, (size_t)(mxci_record_padded((uint32_t)bytes) - (int64_t)bytes));
}

/* Split the data into parts wherever the magic number occurs at a multiple of 4, and leave it out there. */
static mxc_status write_record(mxci_writer *w, const unsigned char *rest, size_t bytes) {
    for (int is_first = 1;; is_first = 0) {
        size_t part = mxci_record_find_magic(rest, bytes);
        if (part == bytes)
            return write_part(w, is_first ? MXCI_RECORD_WHOLE : MXCI_RECORD_LAST, rest, bytes);
        MXC_TRY(write_part(w, is_first ? MXCI_RECORD_FIRST : MXCI_RECORD_MIDDLE, rest, part));
        rest += part + 4;
        bytes -= part + 4;
    }
}

mxc_status mxc_record_writer_write(mxc_record_writer *writer, uint64_t key, const void *data, size_t bytes) {
    MXC_TRY(MXCI_NON_NULL(writer));
    MXC_TRY(MXCI_NON_NULL_IF(bytes > 0, data));
    if (bytes > MXCI_RECORD_MAX_LENGTH)
        return MXC_FAIL(MXC_EINVAL, "mxc_record_writer_write: %zu bytes, expected less than 2^29", bytes);
    mxc_status status = MXC_OK;
    if (writer->index)
        status = mxci_writer_printf(writer->index, "%llu\t%lld\n", (unsigned long long)key,
                                    (long long)mxci_writer_tell(writer->records));
    if (status == MXC_OK)
        status = write_record(writer->records, data ? data : (const unsigned char *)"", bytes);
    writer->failed |= status != MXC_OK;
    return status;
}

int64_t mxc_record_writer_tell(const mxc_record_writer *writer) {
    return writer ? mxci_writer_tell(writer->records) : 0;
}

mxc_status mxc_record_writer_close(mxc_record_writer *writer) {
    MXC_TRY(MXCI_NON_NULL(writer));
    if (writer->failed) {
        mxc_record_writer_abandon(writer);
        return MXC_FAIL(MXC_EIO, "mxc_record_writer_close: a record could not be written; the old files stay");
    }
    mxc_status status = mxci_writer_commit(writer->records);
    writer->records = NULL;
    if (status == MXC_OK && writer->index) {
        status = mxci_writer_commit(writer->index);
        writer->index = NULL;
    }
    mxc_record_writer_abandon(writer);
    return status;
}

void mxc_record_writer_abandon(mxc_record_writer *writer) {
    if (!writer)
        return;
    mxci_writer_abandon(writer->records);
    mxci_writer_abandon(writer->index);
    mxci_free(writer);
}

static mxc_status copy_intact(mxc_record_reader *reader, mxc_record_writer *writer, int64_t *n) {
    for (*n = 0;; ++*n) {
        mxc_record record;
        MXC_TRY(mxc_record_reader_next(reader, &record));
        if (!record.data)
            return MXC_OK;
        mxc_image_record image;
        if (mxc_image_record_read(record.data, record.bytes, &image) != MXC_OK)
            image.id = (uint64_t)*n; /* any other record has its number as key */
        MXC_TRY(mxc_record_writer_write(writer, image.id, record.data, record.bytes));
    }
}

mxc_status mxc_record_repair(const char *from, const char *to, const char *index, int64_t *n) {
    mxc_record_reader *reader = NULL;
    mxc_record_writer *writer = NULL;
    int64_t copied = 0;
    if (n)
        *n = 0;
    MXC_TRY(MXCI_NON_NULL(from));
    MXC_TRY(MXCI_NON_NULL(to));
    mxc_status status = mxc_record_reader_open(from, 0, 1, MXC_BAD_SKIP, &reader);
    if (status == MXC_OK)
        status = mxc_record_writer_open(to, index, &writer);
    if (status == MXC_OK)
        status = copy_intact(reader, writer, &copied);
    if (status == MXC_OK) {
        status = mxc_record_writer_close(writer);
        writer = NULL;
    }
    mxc_record_writer_abandon(writer);
    mxc_record_reader_close(reader);
    if (status == MXC_OK && n)
        *n = copied;
    return status;
}
