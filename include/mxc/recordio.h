/*
 * Record files (.rec) as MXNet writes them: a sequence of byte strings, with an index beside (.idx), and the header
 * that image records begin with.
 *
 * Format, little-endian: each part of a record is the magic 0xCED7230A, a word of 3 bits kind (0 whole, 1 first, 2
 * middle, 3 last part) and 29 bits length, the bytes, and zeros up to a multiple of 4. A record that contains the magic
 * at a multiple of 4 is cut there and the magic left out. So a reader that starts anywhere finds the next record.
 */
#ifndef MXC_RECORDIO_H
#define MXC_RECORDIO_H

#include <mxc/export.h>
#include <mxc/status.h>
#include <stddef.h>
#include <stdint.h>

/* ---- reading --------------------------------------------------------------------------------------------------- */

typedef struct mxc_record_reader mxc_record_reader;

/** One record. */
typedef struct mxc_record {
    const void *data; /* borrowed until the next call on the reader */
    size_t bytes;
    int64_t offset; /* of its head in the file */
} mxc_record;

/** What to do where a file is damaged. */
typedef enum mxc_bad_record {
    MXC_BAD_ERROR = 0, /* fail, naming file, offset and reason */
    MXC_BAD_SKIP = 1   /* count it, and go on at the next head of a record that is whole */
} mxc_bad_record;

/** Open a file, or one part of it: of num_parts ranges of bytes, the records whose heads lie in range part_index. Over
 *  all parts each record comes once. Status: MXC_EINVAL, MXC_ENOTFOUND, MXC_EIO, MXC_ENOMEM. */
MXC_API MXC_MUST_CHECK mxc_status mxc_record_reader_open(const char *path, int part_index, int num_parts,
                                                         mxc_bad_record bad, mxc_record_reader **out);
MXC_API void mxc_record_reader_close(mxc_record_reader *reader); /* NULL is fine */
/** The next record; at the end out->data is NULL and the status MXC_OK. Memory: the longest record so far. MXC_EFORMAT,
 *  MXC_EIO, MXC_ENOMEM; after MXC_EFORMAT a further call goes on behind the damage. */
MXC_API MXC_MUST_CHECK mxc_status mxc_record_reader_next(mxc_record_reader *reader, mxc_record *out);
/** Where the next record is looked for, and to go on from elsewhere: an offset that a record, an index or tell gave.
 *  Seeking leaves the part: what follows ends at the file's end. MXC_EINVAL. */
MXC_API int64_t mxc_record_reader_tell(const mxc_record_reader *reader);
MXC_API MXC_MUST_CHECK mxc_status mxc_record_reader_seek(mxc_record_reader *reader, int64_t offset);
/** Back to the beginning of the part. */
MXC_API void mxc_record_reader_rewind(mxc_record_reader *reader);
/** Damaged places skipped since the reader was opened, and bytes in them. Either may be NULL. */
MXC_API void mxc_record_reader_skipped(const mxc_record_reader *reader, int64_t *places, int64_t *bytes);

/* ---- writing --------------------------------------------------------------------------------------------------- */

typedef struct mxc_record_writer mxc_record_writer;

/** Write a file beside path; close puts it in path's place in one step. index: also an index there; NULL: none. */
MXC_API MXC_MUST_CHECK mxc_status mxc_record_writer_open(const char *path, const char *index, mxc_record_writer **out);
/** Append one record of less than 2^29 bytes; key is its line in the index. MXC_EINVAL, MXC_EIO, MXC_ENOMEM. */
MXC_API MXC_MUST_CHECK mxc_status mxc_record_writer_write(mxc_record_writer *writer, uint64_t key, const void *data,
                                                          size_t bytes);
/** Finish both files. Frees the writer, also on failure. MXC_EIO. */
MXC_API MXC_MUST_CHECK mxc_status mxc_record_writer_close(mxc_record_writer *writer);
/** Drop what was written; the old files stay. NULL is fine. */
MXC_API void mxc_record_writer_abandon(mxc_record_writer *writer);

/* ---- index ----------------------------------------------------------------------------------------------------- */

/** Keys and offsets of records, in the order of the file. */
typedef struct mxc_record_index {
    int64_t n;
    uint64_t *keys;
    int64_t *offsets;
} mxc_record_index;

/** Read an .idx file: lines "key TAB offset". MXC_EFORMAT names the line. */
MXC_API MXC_MUST_CHECK mxc_status mxc_record_index_load(const char *path, mxc_record_index *out);
/** Make it from the record file itself; keys are ids of image records where by_id is 1, else numbers from 0. */
MXC_API MXC_MUST_CHECK mxc_status mxc_record_index_make(const char *record_path, int by_id, mxc_record_index *out);
MXC_API void mxc_record_index_free(mxc_record_index *index); /* and set to zero */

/** Copy the intact records of a damaged file, with an index (NULL: none). n: how many; may be NULL. */
MXC_API MXC_MUST_CHECK mxc_status mxc_record_repair(const char *from, const char *to, const char *index, int64_t *n);

/* ---- image records --------------------------------------------------------------------------------------------- */

/** The head of an image record: 24 bytes, then the labels where there is not exactly one, then the image's bytes. */
typedef struct mxc_image_record {
    uint64_t id, id2;
    int64_t n_labels;
    const float *labels; /* read: borrowed from the record, perhaps not aligned: use mxc_image_record_label */
    const void *image;
    size_t image_bytes;
} mxc_image_record;

/** Take a record apart; pointers lie in data. MXC_EFORMAT. */
MXC_API MXC_MUST_CHECK mxc_status mxc_image_record_read(const void *data, size_t bytes, mxc_image_record *out);
MXC_API float mxc_image_record_label(const mxc_image_record *record, int64_t i);
/** Bytes of a record of so many labels and image bytes, and the record itself, to out. */
MXC_API size_t mxc_image_record_size(int64_t n_labels, size_t image_bytes);
MXC_API void mxc_image_record_write(const mxc_image_record *record, void *out);

#endif
