/* Text files as fields and lines, in blocks: whatever the file holds, the memory is that of one block. */
#ifndef MXCI_IO_TEXT_READER_H
#define MXCI_IO_TEXT_READER_H

#include <stdint.h>

#include <mxc/status.h>

typedef struct mxci_text_reader mxci_text_reader;

/* Lines that are passed over, counted through all files without the empty ones. */
typedef struct mxci_bad_lines {
    uint8_t *is_bad;           /* of lines 0 to room - 1; those behind are not */
    int64_t room, n;           /* n: how many are */
    char first[MXC_ERROR_MAX]; /* why one of them is, the first that was found */
} mxci_bad_lines;

/* Fields between commas (','), or between blanks and up to a comment that begins with # (' '). paths: one, or several
 * with ; between, which follow each other; a folder stands for the files in it. owner stands in messages. bad: lines to
 * leave out, perhaps none; borrowed. MXC_EINVAL, MXC_ENOMEM, MXC_EIO; whether there are such files shows later. */
mxc_status mxci_text_reader_open(const char *owner, const char *paths, char separator, const mxci_bad_lines *bad,
                                 mxci_text_reader **out);
void mxci_text_reader_close(mxci_text_reader *reader); /* NULL is fine */
/* The next field, without blanks around, until the next call; NULL at the end. Lines without anything are passed over.
 * MXC_EFORMAT (a NUL, or more bytes than a number can have), MXC_ENOTFOUND, MXC_EIO. */
mxc_status mxci_text_reader_next_field(mxci_text_reader *reader, const char **out);
int mxci_text_reader_at_line_end(const mxci_text_reader *reader); /* the field was the last in its line */
int64_t mxci_text_reader_line(const mxci_text_reader *reader); /* number of the last field's line in its file, from 1 */
int64_t mxci_text_reader_bytes(const mxci_text_reader *reader); /* taken from files so far */
/* Add to bad the lines for which read_line fails with MXC_EFORMAT; it takes the fields of one line and says by *is_end
 * that there is none. */
mxc_status mxci_text_reader_find_bad_lines(const char *owner, const char *paths, char separator,
                                           mxc_status (*read_line)(mxci_text_reader *reader, void *arg, int *is_end),
                                           void *arg, mxci_bad_lines *bad);
/* MXC_EFORMAT "owner: file: line and byte: " and what format says. */
mxc_status mxci_text_reader_fail(const mxci_text_reader *reader, const char *format, ...) MXC_PRINTF(2, 3);

#endif
