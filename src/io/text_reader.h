/* SPDX-License-Identifier: Apache-2.0 */
/* Reads text files as lines of fields, block by block: memory use does not depend on the length of files or lines. */
#ifndef MXCI_IO_TEXT_READER_H
#define MXCI_IO_TEXT_READER_H

#include <stdint.h>

#include <mxc/status.h>

typedef struct mxci_text_reader mxci_text_reader;

/* Lines to skip, numbered from 0 through all files, without counting empty lines. */
typedef struct mxci_bad_lines {
    uint8_t *is_bad;           /* of lines 0 to room - 1; later ones are not bad */
    int64_t room, n;           /* n: number of bad lines */
    char first[MXC_ERROR_MAX]; /* message for the first that was found */
} mxci_bad_lines;

typedef struct mxci_text_format {
    char separator; /* ',': fields between commas, perhaps in double quotes; ' ': fields between blanks, and comments
                       that begin with # */
    int has_header; /* the first non-empty line of each file is skipped */
} mxci_text_format;

/* paths: see mxci_path_list_expand; files are read one after another. owner is for messages. bad: lines to skip,
 * perhaps none; borrowed. MXC_EINVAL, MXC_ENOMEM, MXC_EIO; a missing file is reported by the first read. */
mxc_status mxci_text_reader_open(const char *owner, const char *paths, mxci_text_format format,
                                 const mxci_bad_lines *bad, mxci_text_reader **out);
void mxci_text_reader_close(mxci_text_reader *reader); /* NULL is allowed */
/* The next field without surrounding blanks, or what is between its quotes, valid until the next call; NULL at the end.
 * Empty lines are skipped, and so is a UTF-8 byte order mark. MXC_EFORMAT (a NUL byte, a quote that is not closed in
 * its line, or more than 400 bytes), MXC_ENOTFOUND, MXC_EIO. */
mxc_status mxci_text_reader_next_field(mxci_text_reader *reader, const char **out);
int mxci_text_reader_at_line_end(const mxci_text_reader *reader); /* the field was the last in its line */
int64_t mxci_text_reader_line(const mxci_text_reader *reader); /* number of the last field's line in its file, from 1 */
/* Read from files so far, and one for each file: the end that its last line may lack. */
int64_t mxci_text_reader_bytes(const mxci_text_reader *reader);
/* Add to bad the lines for which read_line fails with MXC_EFORMAT. read_line reads the fields of one line, and sets
 * *is_end if there is none. */
mxc_status mxci_text_reader_find_bad_lines(const char *owner, const char *paths, mxci_text_format format,
                                           mxc_status (*read_line)(mxci_text_reader *reader, void *arg, int *is_end),
                                           void *arg, mxci_bad_lines *bad);
/* MXC_EFORMAT "owner: file: line and byte: " and what format says. */
mxc_status mxci_text_reader_fail(const mxci_text_reader *reader, const char *format, ...) MXC_PRINTF(2, 3);

#endif
