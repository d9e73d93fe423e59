/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Record files (.rec) in MXNet's format: a sequence of byte strings, with an optional index (.idx), and the header of
 * image records.
 *
 * Format, little-endian: each part of a record consists of the magic number 0xCED7230A, a word of 3 bits kind (0 whole,
 * 1 first, 2 middle, 3 last part) and 29 bits length, the bytes, and zeros up to a multiple of 4. A record that
 * contains the magic number at a multiple of 4 is split there, without the number. A reader can therefore start
 * anywhere and find the next record.
 *
 * Calls on one reader or writer must not overlap.
 */
#ifndef MXC_RECORDIO_H
#define MXC_RECORDIO_H

#include <mxc/export.h>
#include <mxc/status.h>
#include <stddef.h>
#include <stdint.h>

/* ---- reading ----------------------------------------------------------------------------------------------------- */

typedef struct mxc_record_reader mxc_record_reader;

/** One record. */
typedef struct mxc_record {
    const void *data; /* borrowed until the next call on the reader */
    size_t bytes;
    int64_t offset; /* of its header in the file */
} mxc_record;

/** Treatment of damaged places in a file. */
typedef enum mxc_bad_record {
    MXC_BAD_ERROR = 0, /* fail, naming file, offset and reason */
    MXC_BAD_SKIP = 1   /* count it, and continue at the next header of a whole record */
} mxc_bad_record;

/** Open a file, or one of num_parts parts of it: the records whose headers lie in byte range part_index. Each record is
 *  in exactly one part. Status: MXC_EINVAL, MXC_ENOTFOUND, MXC_EIO, MXC_ENOMEM. */
MXC_API MXC_MUST_CHECK mxc_status mxc_record_reader_open(const char *path, int part_index, int num_parts,
                                                         mxc_bad_record bad, mxc_record_reader **out);
/** Close the file. NULL is fine. */
MXC_API void mxc_record_reader_close(mxc_record_reader *reader);
/** Return the next record; at the end out->data is NULL and the status MXC_OK. The reader holds as much memory as the
 *  longest record so far. Status: MXC_EFORMAT, MXC_EIO, MXC_ENOMEM; after MXC_EFORMAT the next call continues after the
 *  damage. */
MXC_API MXC_MUST_CHECK mxc_status mxc_record_reader_next(mxc_record_reader *reader, mxc_record *out);
/** Offset at which the search for the next record starts, and continuing from another one, which came from a record, an
 *  index or tell. After a seek, reading ends at the end of the file, not of the part. MXC_EINVAL. */
MXC_API int64_t mxc_record_reader_tell(const mxc_record_reader *reader);
MXC_API MXC_MUST_CHECK mxc_status mxc_record_reader_seek(mxc_record_reader *reader, int64_t offset);
/** Back to the beginning of the part. */
MXC_API void mxc_record_reader_rewind(mxc_record_reader *reader);
/** Number of damaged places skipped since the reader was opened, and of bytes in them.
 *  @param[out,null] places, bytes  the two numbers
 */
MXC_API void mxc_record_reader_skipped(const mxc_record_reader *reader, int64_t *places, int64_t *bytes);

/* ---- writing ----------------------------------------------------------------------------------------------------- */

typedef struct mxc_record_writer mxc_record_writer;

/** Start writing a temporary file beside path, which close renames to path.
 *  @param[null] index  path of an index to write as well; NULL: none
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_record_writer_open(const char *path, const char *index, mxc_record_writer **out);
/** Append one record of less than 2^29 bytes; key identifies it in the index. MXC_EINVAL, MXC_EIO, MXC_ENOMEM. */
MXC_API MXC_MUST_CHECK mxc_status mxc_record_writer_write(mxc_record_writer *writer, uint64_t key, const void *data,
                                                          size_t bytes);
/** Offset in bytes at which the next record will start. */
MXC_API int64_t mxc_record_writer_tell(const mxc_record_writer *writer);
/** Finish both files. Frees the writer, also on failure. MXC_EIO.
 *  @param[take] writer  also on failure
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_record_writer_close(mxc_record_writer *writer);
/** Discard what was written; existing files remain. NULL is fine. */
MXC_API void mxc_record_writer_abandon(mxc_record_writer *writer);

/* ---- index ------------------------------------------------------------------------------------------------------- */

/** Keys and offsets of records, in file order. */
typedef struct mxc_record_index {
    int64_t n;
    uint64_t *keys;   /* @length n */
    int64_t *offsets; /* @length n */
} mxc_record_index;

/** Read an .idx file: lines "key TAB offset". MXC_EFORMAT names the line. */
MXC_API MXC_MUST_CHECK mxc_status mxc_record_index_load(const char *path, mxc_record_index *out);
/** Create an index from the record file itself. Keys are the ids of image records if by_id is 1, else 0, 1, 2... */
MXC_API MXC_MUST_CHECK mxc_status mxc_record_index_make(const char *record_path, int by_id, mxc_record_index *out);
/** Free the index and clear the struct.
 *  @param[in,out] index  all zeros afterwards
 */
MXC_API void mxc_record_index_free(mxc_record_index *index);

/** Copy the intact records of a damaged file.
 *  @param[null] index  path of an index to write as well; NULL: none
 *  @param[out,null] n  their number
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_record_repair(const char *from, const char *to, const char *index, int64_t *n);

/* ---- image records ----------------------------------------------------------------------------------------------- */

/** An image record: a header of 24 bytes, the labels unless there is exactly one, then the encoded image. */
typedef struct mxc_image_record {
    uint64_t id, id2;
    int64_t n_labels;
    const float *labels; /* when reading: inside the record, possibly unaligned: use mxc_image_record_label */
    const void *image;
    size_t image_bytes;
} mxc_image_record;

/** Parse a record; the pointers of out point into data. MXC_EFORMAT. */
MXC_API MXC_MUST_CHECK mxc_status mxc_image_record_read(const void *data, size_t bytes, mxc_image_record *out);
/** Label i; 0 where there is none. */
MXC_API float mxc_image_record_label(const mxc_image_record *record, int64_t i);
/** Size in bytes of a record, and writing one to out, which has that size.
 *  @param[out,n=text] out  where the record goes
 */
MXC_API size_t mxc_image_record_size(int64_t n_labels, size_t image_bytes);
MXC_API void mxc_image_record_write(const mxc_image_record *record, void *out);

#endif
