/* SPDX-License-Identifier: Apache-2.0 */
/* Record files. */
#include "compat/mxnet.h"

/* RecordIOHandle: one of the two. */
typedef struct record_file {
    mxc_record_reader *reader;
    mxc_record_writer *writer;
    uint64_t n; /* records written */
} record_file;

static int wrap(record_file file, RecordIOHandle *out) {
    record_file *made = mxnet_alloc(1, sizeof *made);
    if (!made) {
        mxc_record_reader_close(file.reader);
        mxc_record_writer_abandon(file.writer);
        return -1;
    }
    *made = file;
    *out = made;
    return 0;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

int MXRecordIOWriterCreate(const char *uri, RecordIOHandle *out) {
    record_file file = {NULL, NULL, 0};
    MXNET_NEED(uri);
    MXNET_NEED(out);
    MXNET_TRY(mxc_record_writer_open(uri, NULL, &file.writer));
    return wrap(file, out);
}

int MXRecordIOWriterFree(RecordIOHandle handle) {
    record_file *file = handle;
    if (!file)
        return 0;
    mxc_status status = mxc_record_writer_close(file->writer);
    mxnet_free(file);
    return mxnet_result(status);
}

int MXRecordIOWriterWriteRecord(RecordIOHandle handle, const char *buf, size_t size) {
    record_file *file = handle;
    MXNET_NEED(handle);
    return mxnet_result(mxc_record_writer_write(file->writer, file->n++, buf, size));
}

int MXRecordIOWriterTell(RecordIOHandle handle, size_t *pos) {
    const record_file *file = handle;
    MXNET_NEED(handle);
    MXNET_NEED(pos);
    *pos = (size_t)mxc_record_writer_tell(file->writer);
    return 0;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

int MXRecordIOReaderCreate(const char *uri, RecordIOHandle *out) {
    record_file file = {NULL, NULL, 0};
    MXNET_NEED(uri);
    MXNET_NEED(out);
    MXNET_TRY(mxc_record_reader_open(uri, 0, 1, MXC_BAD_ERROR, &file.reader));
    return wrap(file, out);
}

int MXRecordIOReaderFree(RecordIOHandle handle) {
    record_file *file = handle;
    if (file)
        mxc_record_reader_close(file->reader);
    mxnet_free(file);
    return 0;
}

int MXRecordIOReaderReadRecord(RecordIOHandle handle, const char **buf, size_t *size) {
    const record_file *file = handle;
    mxc_record record;
    MXNET_NEED(handle);
    MXNET_NEED(buf);
    MXNET_NEED(size);
    MXNET_TRY(mxc_record_reader_next(file->reader, &record));
    *buf = record.data;
    *size = record.data ? record.bytes : 0;
    return 0;
}

int MXRecordIOReaderSeek(RecordIOHandle handle, size_t pos) {
    const record_file *file = handle;
    MXNET_NEED(handle);
    return mxnet_result(mxc_record_reader_seek(file->reader, (int64_t)pos));
}

int MXRecordIOReaderTell(RecordIOHandle handle, size_t *pos) {
    const record_file *file = handle;
    MXNET_NEED(handle);
    MXNET_NEED(pos);
    *pos = (size_t)mxc_record_reader_tell(file->reader);
    return 0;
}
