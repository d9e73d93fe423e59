/* SPDX-License-Identifier: Apache-2.0 */
/* The index of a record file, keys and offsets of its records: read from an index file, or built from the records. */
#include <string.h>

#include <mxc/recordio.h>

#include "base/error.h"
#include "base/sys.h"

/* Make room for at least n entries. */
static mxc_status reserve_entries(const char *path, mxc_record_index *index, int64_t *room, int64_t n) {
    if (n <= *room)
        return MXC_OK;
    int64_t more = *room < 64 ? 64 : *room + *room / 2;
    uint64_t *keys = mxci_realloc_array(index->keys, (size_t)more, sizeof *keys);
    index->keys = keys ? keys : index->keys;
    int64_t *offsets = keys ? mxci_realloc_array(index->offsets, (size_t)more, sizeof *offsets) : NULL;
    if (!offsets)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for an index of %lld records", path, (long long)more);
    index->offsets = offsets;
    *room = more;
    return MXC_OK;
}

/* Read a decimal number, at max max, and advance *at. Returns 0 where there is none. */
static int read_number(const char **at, const char *end, uint64_t max, uint64_t *out) {
    const char *begin = *at;
    uint64_t value = 0;
    for (; *at < end && **at >= '0' && **at <= '9'; ++*at) {
        uint64_t digit = (uint64_t)(**at - '0');
        if (value > (max - digit) / 10)
            return 0;
        value = value * 10 + digit;
    }
    *out = value;
    return *at > begin;
}

/* "key TAB offset", with blanks or tabs between. Returns 0 if the line has another form. */
static int read_line(const char *at, const char *end, uint64_t *key, uint64_t *offset) {
    if (!read_number(&at, end, UINT64_MAX, key) || at == end || (*at != '\t' && *at != ' '))
        return 0;
    while (at < end && (*at == '\t' || *at == ' '))
        at++;
    return read_number(&at, end, INT64_MAX, offset) && at == end && *offset % 4 == 0;
}

static mxc_status parse_index(const char *path, const char *text, size_t bytes, mxc_record_index *out) {
    const char *end = text + bytes;
    int64_t room = 0;
    for (int64_t line = 1; text < end; line++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text)), *next = stop ? stop + 1 : end;
        uint64_t offset;
        stop = stop ? stop : end;
        while (stop > text && (stop[-1] == '\r' || stop[-1] == ' ' || stop[-1] == '\t'))
            stop--;
        if (stop > text) {
            MXC_TRY(reserve_entries(path, out, &room, out->n + 1));
            if (!read_line(text, stop, &out->keys[out->n], &offset))
                return MXC_FAIL(MXC_EFORMAT, "%s: line %lld: expected a key, a tab, an offset that 4 divides", path,
                                (long long)line);
            out->offsets[out->n++] = (int64_t)offset;
        }
        text = next;
    }
    return MXC_OK;
}

mxc_status mxc_record_index_load(const char *path, mxc_record_index *out) {
    char *text;
    size_t bytes;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(path));
    MXC_TRY(mxci_file_read_all(path, INT64_MAX - 1, &text, &bytes));
    mxc_status status = parse_index(path, text, bytes, out);
    mxci_free(text);
    if (status != MXC_OK)
        mxc_record_index_free(out);
    return status;
}

/* Append the records of a file: by id, the ids of image records are the keys, else their numbers. */
static mxc_status add_records(const char *path, mxc_record_reader *reader, int by_id, mxc_record_index *out) {
    int64_t room = 0;
    for (;;) {
        mxc_record record;
        mxc_image_record image = {.id = (uint64_t)out->n};
        MXC_TRY(mxc_record_reader_next(reader, &record));
        if (!record.data)
            return MXC_OK;
        if (by_id && mxc_image_record_read(record.data, record.bytes, &image) != MXC_OK)
            return MXC_FAIL(MXC_EFORMAT, "%s: the record at offset %lld has no id: it is no image record", path,
                            (long long)record.offset);
        MXC_TRY(reserve_entries(path, out, &room, out->n + 1));
        out->keys[out->n] = image.id;
        out->offsets[out->n++] = record.offset;
    }
}

mxc_status mxc_record_index_make(const char *record_path, int by_id, mxc_record_index *out) {
    mxc_record_reader *reader;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(record_path));
    MXC_TRY(mxc_record_reader_open(record_path, 0, 1, MXC_BAD_ERROR, &reader));
    mxc_status status = add_records(record_path, reader, by_id, out);
    mxc_record_reader_close(reader);
    if (status != MXC_OK)
        mxc_record_index_free(out);
    return status;
}

void mxc_record_index_free(mxc_record_index *index) {
    if (!index)
        return;
    mxci_free(index->keys);
    mxci_free(index->offsets);
    *index = (mxc_record_index){0};
}
