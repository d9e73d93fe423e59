/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of files as a source of images.
 *
 * The offsets of all records are collected once, from an index or the file itself. Each thread then reads with its own
 * reader, so that any order costs the same. A part has a range of the bytes of each file, or of the lines of its index.
 */
#include <stdio.h>
#include <string.h>

#include <mxc/recordio.h>

#include "base/log.h"
#include "base/sys.h"
#include "base/text.h"
#include "io/image_list.h"
#include "io/image_source.h"
#include "io/path_list.h"

typedef struct records {
    const char *owner;
    mxci_path_list files;
    int64_t *first;         /* of each file: number of its first sample */
    int64_t n, room, bytes; /* bytes: about those of this part */
    int64_t label_width;    /* labels per sample; where their number varies: the largest */
    int varies;             /* the number of labels varies between samples */
    int counts;             /* the largest number is to be determined from the records */
    int64_t *offsets;
    int has_list;
    mxci_image_list list;
} records;

/* ---- reading samples --------------------------------------------------------------------------------------------- */

/* What a thread reads with: a reader of one of the files. */
typedef struct record_cursor {
    mxc_record_reader *reader;
    int64_t file;
} record_cursor;

static mxc_status records_open(void *self, void **out) {
    (void)self;
    *out = mxci_calloc(1, sizeof(record_cursor));
    return *out ? MXC_OK : MXC_FAIL(MXC_ENOMEM, "no memory to read records");
}

static void records_close(void *at) {
    record_cursor *c = at;
    if (c)
        mxc_record_reader_close(c->reader);
    mxci_free(c);
}

/* The last file that begins with sample i or before: empty ones come before it. */
static int64_t file_of(const records *r, int64_t i) {
    int64_t low = 0, high = r->files.n;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (r->first[middle] <= i)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Open the file unless it is the one that the cursor has open, and go to the offset. */
static mxc_status seek_record(const records *r, record_cursor *c, int64_t file, int64_t offset) {
    if (c->reader && c->file != file) {
        mxc_record_reader_close(c->reader);
        c->reader = NULL;
    }
    c->file = file;
    if (!c->reader)
        MXC_TRY(mxc_record_reader_open(r->files.path[file], 0, 1, MXC_BAD_ERROR, &c->reader));
    return mxc_record_reader_seek(c->reader, offset);
}

/* Fail with the last message, preceded by the location of the sample. */
static mxc_status fail_with_location(const mxci_image_sample *sample, mxc_status status) {
    char message[MXC_ERROR_MAX];
    snprintf(message, sizeof message, "%s", mxc_last_error());
    return MXC_FAIL(status, "%s: %s", sample->source_name, message);
}

/* The labels of the list, or else those of the record itself; their number is checked. */
static mxc_status read_labels(const records *r, mxci_image_sample *sample, const mxc_image_record *record,
                              float *labels) {
    const mxci_image_list_line *line = r->has_list ? mxci_image_list_find(&r->list, record->id) : NULL;
    int64_t n = line ? line->n_labels : record->n_labels;
    if (r->has_list && !line)
        return MXC_FAIL(MXC_EFORMAT, "%s: its id %llu is not in path_imglist", sample->source_name,
                        (unsigned long long)record->id);
    if (r->varies ? n > r->label_width : n != r->label_width)
        return MXC_FAIL(MXC_EFORMAT, "%s: %lld labels, expected %s %lld", sample->source_name, (long long)n,
                        r->varies ? "at most label_pad_width," : "label_width,", (long long)r->label_width);
    sample->n_labels = r->varies ? n : r->label_width;
    for (int64_t i = 0; i < sample->n_labels; i++)
        labels[i] = line ? line->labels[i] : mxc_image_record_label(record, i);
    return MXC_OK;
}

static mxc_status records_read(void *self, void *at, int64_t i, mxci_image_sample *out, float *labels) {
    const records *r = self;
    record_cursor *c = at;
    const int64_t file = file_of(r, i);
    mxc_record found;
    mxc_image_record record;
    mxci_format(out->source_name, sizeof out->source_name, "%s: record %lld at offset %lld of %s", r->owner,
                (long long)(i - r->first[file]), (long long)r->offsets[i], r->files.path[file]);
    mxc_status status = seek_record(r, c, file, r->offsets[i]);
    if (status == MXC_OK)
        status = mxc_record_reader_next(c->reader, &found);
    if (status == MXC_OK && !found.data)
        return MXC_FAIL(MXC_EFORMAT, "%s: the file ends there", out->source_name);
    if (status == MXC_OK)
        status = mxc_image_record_read(found.data, found.bytes, &record);
    if (status != MXC_OK)
        return fail_with_location(out, status == MXC_EINVAL ? MXC_EFORMAT : status); /* an offset of the index */
    out->bytes = record.image;
    out->n = record.image_bytes;
    out->id = record.id;
    return read_labels(r, out, &record, labels);
}

static void records_destroy(void *self) {
    records *r = self;
    mxci_image_list_free(&r->list);
    mxci_path_list_free(&r->files);
    mxci_free(r->first);
    mxci_free(r->offsets);
    mxci_free(r);
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static mxc_status add_offset(records *r, int64_t offset) {
    if (r->n == r->room) {
        int64_t room = r->room < 64 ? 64 : r->room * 2;
        int64_t *more = mxci_realloc_array(r->offsets, (size_t)room, sizeof *more);
        if (!more)
            return MXC_FAIL(MXC_ENOMEM, "%s: no memory for the offsets of %lld records", r->owner, (long long)room);
        r->offsets = more;
        r->room = room;
    }
    r->offsets[r->n++] = offset;
    return MXC_OK;
}

static void count_labels(records *r, int64_t n) {
    r->label_width = n > r->label_width ? n : r->label_width;
}

/* Collect the offsets of the records of one part of a file, and the largest number of labels if it is asked for. */
static mxc_status scan_file(records *r, const char *path, mxc_record_reader *reader) {
    int64_t spans, bytes;
    for (;;) {
        mxc_record record;
        mxc_image_record header;
        MXC_TRY(mxc_record_reader_next(reader, &record));
        if (!record.data)
            break;
        if (r->counts && !r->has_list && mxc_image_record_read(record.data, record.bytes, &header) == MXC_OK)
            count_labels(r, header.n_labels);
        MXC_TRY(add_offset(r, record.offset));
    }
    mxc_record_reader_skipped(reader, &spans, &bytes);
    if (spans)
        mxci_log(MXC_LOG_WARNING, "%s: %s is damaged at %lld places: %lld bytes left out", r->owner, path,
                 (long long)spans, (long long)bytes);
    return MXC_OK;
}

static mxc_status find_records(records *r, const mxci_image_params *p, const char *path) {
    mxc_record_reader *reader;
    MXC_TRY(mxc_record_reader_open(path, (int)p->part_index, (int)p->num_parts, (mxc_bad_record)p->bad_data, &reader));
    mxc_status status = scan_file(r, path, reader);
    mxc_record_reader_close(reader);
    return status;
}

static mxc_status load_index(records *r, const mxci_image_params *p, const char *path) {
    mxc_record_index index;
    MXC_TRY(mxc_record_index_load(path, &index));
    int64_t first, count;
    mxc_status status = mxci_image_source_part(r->owner, p, index.n, &first, &count);
    for (int64_t i = 0; status == MXC_OK && i < count; i++)
        status = add_offset(r, index.offsets[first + i]);
    mxc_record_index_free(&index);
    return status;
}

/* Collect the samples of all files. indices: one index per file, or none. */
static mxc_status open_files(records *r, const mxci_image_params *p, const mxci_path_list *indices) {
    int64_t first, count;
    MXC_TRY(mxci_image_source_part(r->owner, p, 0, &first, &count));
    if (indices->n > 0 && indices->n != r->files.n)
        return MXC_FAIL(MXC_EINVAL, "%s: %lld files in path_imgidx, %lld in path_imgrec", r->owner,
                        (long long)indices->n, (long long)r->files.n);
    r->first = mxci_calloc((size_t)r->files.n + 1, sizeof *r->first);
    if (!r->first)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for %lld files", r->owner, (long long)r->files.n);
    for (int64_t i = 0; i < r->files.n; i++) {
        const char *path = r->files.path[i];
        r->first[i] = r->n;
        mxci_file *file;
        MXC_TRY(mxci_file_open(path, &file));
        r->bytes += mxci_file_size(file) / p->num_parts;
        mxci_file_close(file);
        MXC_TRY(indices->n > 0 ? load_index(r, p, indices->path[i]) : find_records(r, p, path));
    }
    return MXC_OK;
}

static mxc_status load_list(records *r, const char *path) {
    if (!path[0])
        return MXC_OK;
    MXC_TRY(mxci_image_list_load(path, &r->list));
    mxci_image_list_sort(&r->list);
    r->has_list = 1;
    for (int64_t i = 0; i < r->list.n && r->counts; i++)
        count_labels(r, r->list.lines[i].n_labels);
    return MXC_OK;
}

static mxc_status open_records(records *r, const mxci_image_params *p, const char *path, const char *index,
                               const char *list) {
    mxci_path_list indices;
    MXC_TRY(load_list(r, list));
    MXC_TRY(mxci_path_list_expand(r->owner, path, ".rec", &r->files));
    MXC_TRY(mxci_path_list_expand(r->owner, r->counts ? "" : index, ".idx", &indices));
    mxc_status status = open_files(r, p, &indices);
    mxci_path_list_free(&indices);
    return status;
}

mxc_status mxci_image_records_open(const char *owner, const mxci_image_params *params, const char *path,
                                   const char *index, const char *list, int64_t *max_labels, mxci_image_source *out) {
    records *r = mxci_calloc(1, sizeof *r);
    if (!r)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for the record file", owner);
    r->owner = owner;
    r->label_width = max_labels ? *max_labels : params->label_width;
    r->varies = max_labels != NULL;
    r->counts = max_labels && !*max_labels;
    mxc_status status = open_records(r, params, path, index, list);
    if (status != MXC_OK) {
        records_destroy(r);
        return status;
    }
    if (max_labels)
        *max_labels = r->label_width;
    *out = (mxci_image_source){r, r->n, r->bytes, records_open, records_read, records_close, records_destroy};
    return MXC_OK;
}
