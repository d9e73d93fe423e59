/* SPDX-License-Identifier: Apache-2.0 */
/* mxc rec: summarises a record file and its damaged places. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mxc/mxc.h>

#include "mxc.h"

enum { LINES = 10, LABELS = 6, PATH_SIZE = 4096 };

static const char *const kinds[] = {"JPEG", "PNG", "other"};
enum { JPEG, PNG, OTHER, KINDS };

/* Counts and extremes of the records so far. */
typedef struct summary {
    int64_t n, bytes, n_damaged;
    size_t min_bytes, max_bytes;
    int64_t n_images, by_kind[KINDS], min_labels, max_labels;
    float min_label, max_label; /* of first labels */
} summary;

static int failed(void) {
    fprintf(stderr, "mxc: %s\n", mxc_last_error());
    return MXC_EXIT_FAILED;
}

static int kind_of(const mxc_image_record *image) {
    static const struct {
        const char *magic;
        size_t n;
    } magics[OTHER] = {{"\xff\xd8\xff", 3}, {"\x89PNG", 4}};
    for (int i = 0; i < OTHER; i++)
        if (image->image_bytes >= magics[i].n && memcmp(image->image, magics[i].magic, magics[i].n) == 0)
            return i;
    return OTHER;
}

static void add_image(summary *s, const mxc_image_record *image) {
    float label = mxc_image_record_label(image, 0);
    int is_first = s->n_images++ == 0;
    s->by_kind[kind_of(image)]++;
    s->min_labels = is_first || image->n_labels < s->min_labels ? image->n_labels : s->min_labels;
    s->max_labels = is_first || image->n_labels > s->max_labels ? image->n_labels : s->max_labels;
    s->min_label = is_first || label < s->min_label ? label : s->min_label;
    s->max_label = is_first || label > s->max_label ? label : s->max_label;
}

static void add(summary *s, const mxc_record *record) {
    s->min_bytes = s->n == 0 || record->bytes < s->min_bytes ? record->bytes : s->min_bytes;
    s->max_bytes = record->bytes > s->max_bytes ? record->bytes : s->max_bytes;
    s->n++;
    s->bytes += (int64_t)record->bytes;
}

static void print_line(int64_t number, const mxc_record *record, const mxc_image_record *image) {
    printf("%10" PRId64 " %14" PRId64 " %10zu", number, record->offset, record->bytes);
    if (image) {
        printf("  id %-10" PRIu64 " %-5s label", image->id, kinds[kind_of(image)]);
        for (int64_t i = 0; i < image->n_labels && i < LABELS; i++)
            printf(" %g", (double)mxc_image_record_label(image, i));
        if (image->n_labels > LABELS)
            printf(" ... (%" PRId64 ")", image->n_labels);
    }
    putchar('\n');
}

static void print_summary(const char *path, const summary *s) {
    printf("%s: %" PRId64 " records", path, s->n);
    if (s->n > 0)
        printf(" of %zu to %zu bytes, %" PRId64 " in all", s->min_bytes, s->max_bytes, s->bytes);
    putchar('\n');
    if (s->n_images > 0) {
        printf("%" PRId64 " image records:", s->n_images);
        for (int i = 0; i < KINDS; i++)
            if (s->by_kind[i] > 0)
                printf(" %" PRId64 " %s,", s->by_kind[i], kinds[i]);
        printf(" %" PRId64 " to %" PRId64 " labels, the first from %g to %g\n", s->min_labels, s->max_labels,
               (double)s->min_label, (double)s->max_label);
    }
}

/* Read all records; prints the first lines and the first damaged places. */
static mxc_status read_records(mxc_record_reader *reader, int64_t lines, summary *s) {
    for (;;) {
        mxc_record record;
        mxc_image_record image;
        mxc_status status = mxc_record_reader_next(reader, &record);
        if (status == MXC_EFORMAT) {
            if (s->n_damaged++ < LINES)
                printf("damage: %s\n", mxc_last_error());
            continue;
        }
        if (status != MXC_OK || !record.data)
            return status;
        int is_image = mxc_image_record_read(record.data, record.bytes, &image) == MXC_OK;
        if (s->n < lines)
            print_line(s->n, &record, is_image ? &image : NULL);
        add(s, &record);
        if (is_image)
            add_image(s, &image);
    }
}

static int list(const char *path, int64_t lines) {
    mxc_record_reader *reader;
    summary s = {0};
    int64_t places, bytes;
    if (mxc_record_reader_open(path, 0, 1, MXC_BAD_ERROR, &reader) != MXC_OK)
        return failed();
    if (lines > 0)
        printf("%10s %14s %10s\n", "record", "offset", "bytes");
    mxc_status status = read_records(reader, lines, &s);
    mxc_record_reader_skipped(reader, &places, &bytes);
    mxc_record_reader_close(reader);
    if (status != MXC_OK)
        return failed();
    print_summary(path, &s);
    if (places == 0)
        return 0;
    fprintf(stderr, "mxc: %s: %" PRId64 " damaged places of %" PRId64 " bytes; mxc rec --repair copies the rest\n",
            path, places, bytes);
    return MXC_EXIT_FAILED;
}

/* The index of a.rec is a.idx. */
static int repair(const char *from, const char *to) {
    char index[PATH_SIZE];
    int64_t n;
    size_t stem = strlen(to);
    if (stem > 4 && strcmp(to + stem - 4, ".rec") == 0)
        stem -= 4;
    if (snprintf(index, sizeof index, "%.*s.idx", (int)stem, to) >= (int)sizeof index) {
        fprintf(stderr, "mxc: %s is too long a path\n", to);
        return MXC_EXIT_FAILED;
    }
    if (mxc_record_repair(from, to, index, &n) != MXC_OK)
        return failed();
    printf("%s: %" PRId64 " records, index in %s\n", to, n, index);
    return 0;
}

int mxc_rec_main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[0], "--repair") == 0)
        return repair(argv[1], argv[2]);
    if (argc == 3 && strcmp(argv[0], "--sheet") == 0)
        return mxc_rec_sheet(argv[2], argv[1]);
    if (argc == 1 && argv[0][0] != '-')
        return list(argv[0], LINES);
    if (argc == 3 && strcmp(argv[0], "--lines") == 0)
        return list(argv[2], strtoll(argv[1], NULL, 10));
    fprintf(stderr, "usage: mxc rec [--lines N] FILE | --repair FROM TO | --sheet OUT.png FILE\n");
    return MXC_EXIT_USAGE;
}
