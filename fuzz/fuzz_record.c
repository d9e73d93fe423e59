/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a record file, and as an index: refused or read, whole and in parts, never more. */
#include <mxc/recordio.h>

#include "file.h"

static volatile unsigned char sink;

/* Read a part through damage; returns how many records are in it. */
static int64_t read_part(const char *path, int part, int n_parts) {
    mxc_record_reader *reader;
    mxc_record record;
    mxc_image_record image;
    int64_t n = 0;
    if (mxc_record_reader_open(path, part, n_parts, part % 2 ? MXC_BAD_ERROR : MXC_BAD_SKIP, &reader) != MXC_OK)
        return 0;
    for (;;) {
        mxc_status status = mxc_record_reader_next(reader, &record);
        if (status == MXC_OK && !record.data)
            break;
        n += status == MXC_OK;
        for (size_t i = 0; status == MXC_OK && i < record.bytes; i++)
            sink = ((const unsigned char *)record.data)[i];
        if (status == MXC_OK && mxc_image_record_read(record.data, record.bytes, &image) == MXC_OK)
            sink = (unsigned char)(mxc_image_record_label(&image, image.n_labels - 1) > 0);
    }
    mxc_record_reader_close(reader);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    const char *path = fuzz_file(data, bytes);
    mxc_record_index index;
    int64_t parts = 0;
    int n_parts = bytes > 0 ? 2 + data[bytes / 2] % 16 : 2;
    for (int part = 0; part < n_parts; part++)
        parts += read_part(path, part, n_parts);
    if (parts != read_part(path, 0, 1))
        abort();
    if (mxc_record_index_load(path, &index) == MXC_OK)
        mxc_record_index_free(&index);
    unlink(path);
    return 0;
}
