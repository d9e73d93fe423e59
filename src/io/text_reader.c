/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields of text files, read in blocks. Lines are counted in their file, for messages, and through all files without
 * empty ones (number), for the lines that are skipped. A failure leaves the reader within the line, so that skip_rest
 * can go on with the next one.
 */
#include "io/text_reader.h"

#include <stdarg.h>
#include <string.h>

#include "base/sys.h"
#include "base/text.h"
#include "io/path_list.h"

enum { BLOCK = 1 << 16, FIELD_MAX = 400, END = -1 };

struct mxci_text_reader {
    const char *owner;
    mxci_path_list paths;
    int64_t next_path; /* to open */
    mxci_text_format format;
    int header_is_next; /* the next non-empty line is the header of the file */
    int ends_line;
    const mxci_bad_lines *bad;
    int64_t line, bytes;
    int64_t number;  /* of the line, not counting empty ones */
    mxci_file *file; /* NULL before the first and after the last */
    int64_t offset;  /* of the end of the block in the file */
    size_t at, filled;
    char text[FIELD_MAX + 1];
    char block[BLOCK];
};

mxc_status mxci_text_reader_open(const char *owner, const char *paths, mxci_text_format format,
                                 const mxci_bad_lines *bad, mxci_text_reader **out) {
    mxci_text_reader *reader = mxci_calloc(1, sizeof *reader);
    *out = NULL;
    if (!reader)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory to read %s", owner, paths);
    reader->owner = owner;
    reader->format = format;
    reader->bad = bad;
    reader->number = -1;
    reader->ends_line = 1;
    mxc_status status = mxci_path_list_expand(owner, paths, "", &reader->paths);
    if (status != MXC_OK)
        mxci_text_reader_close(reader);
    else
        *out = reader;
    return status;
}

void mxci_text_reader_close(mxci_text_reader *reader) {
    if (!reader)
        return;
    mxci_file_close(reader->file);
    mxci_path_list_free(&reader->paths);
    mxci_free(reader);
}

/* Read the next block; at the end of the file it is empty. */
static mxc_status fill_block(mxci_text_reader *reader) {
    int64_t left = mxci_file_size(reader->file) - reader->offset;
    size_t n = left < BLOCK ? (size_t)left : BLOCK;
    reader->at = reader->filled = 0;
    MXC_TRY(mxci_file_read_at(reader->file, reader->offset, reader->block, n));
    reader->filled = n;
    reader->offset += (int64_t)n;
    reader->bytes += (int64_t)n;
    return MXC_OK;
}

/* Open the next file, if any is left, behind its byte order mark. */
static mxc_status next_file(mxci_text_reader *reader) {
    mxci_file_close(reader->file);
    reader->file = NULL;
    reader->offset = 0;
    reader->line = 0;
    reader->at = reader->filled = 0;
    if (reader->next_path == reader->paths.n)
        return MXC_OK;
    MXC_TRY(mxci_file_open(reader->paths.path[reader->next_path++], &reader->file));
    reader->bytes++; /* for the end that the last line may lack */
    MXC_TRY(fill_block(reader));
    reader->at = reader->filled >= 3 && memcmp(reader->block, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    reader->header_is_next = reader->format.has_header;
    return MXC_OK;
}

/* The next byte of the current file without consuming it; END after the last, or where no file is open. */
static mxc_status peek(mxci_text_reader *reader, int *out) {
    if (reader->at == reader->filled && reader->file)
        MXC_TRY(fill_block(reader));
    *out = reader->at == reader->filled ? END : (unsigned char)reader->block[reader->at];
    return MXC_OK;
}

static int is_blank(int c) {
    return c == ' ' || c == '\t' || c == '\r';
}

/* Skip blanks and comments; *out is the next byte. */
static mxc_status text_reader_skip_blanks(mxci_text_reader *reader, int *out) {
    int in_comment = 0;
    for (;; reader->at++) {
        MXC_TRY(peek(reader, out));
        in_comment |= *out == '#' && reader->format.separator == ' ';
        if (*out == '\n' || *out == END || !(in_comment || is_blank(*out)))
            return MXC_OK;
    }
}

/* Skip the rest of the line. */
static mxc_status skip_rest(mxci_text_reader *reader) {
    int c = reader->ends_line ? '\n' : 0;
    while (c != '\n' && c != END) {
        MXC_TRY(peek(reader, &c));
        reader->at += c != END;
    }
    reader->ends_line = 1;
    return MXC_OK;
}

/* Skip to the next non-empty line, of this file or the next; *out is its first byte. */
static mxc_status find_any_line(mxci_text_reader *reader, int *out) {
    for (;;) {
        reader->line++;
        MXC_TRY(text_reader_skip_blanks(reader, out));
        if (*out == END) {
            MXC_TRY(next_file(reader));
            if (!reader->file)
                return MXC_OK;
        } else if (*out == '\n') {
            reader->at++;
        } else if (reader->header_is_next) {
            reader->header_is_next = reader->ends_line = 0;
            MXC_TRY(skip_rest(reader));
        } else {
            return MXC_OK;
        }
    }
}

/* Skip to the next non-empty line that is not bad. */
static mxc_status find_line(mxci_text_reader *reader, int *out) {
    for (;;) {
        MXC_TRY(find_any_line(reader, out));
        reader->number += *out != END;
        if (*out == END || reader->number >= reader->bad->room || !reader->bad->is_bad[reader->number])
            return MXC_OK;
        reader->ends_line = 0;
        MXC_TRY(skip_rest(reader));
    }
}

/* Does byte c end the current field? */
static int ends_field(const mxci_text_reader *reader, int c) {
    return c == '\n' || c == END || c == reader->format.separator ||
           (reader->format.separator == ' ' && (is_blank(c) || c == '#'));
}

/* Append a byte of a field to its n bytes. */
static mxc_status keep_byte(mxci_text_reader *reader, int c, size_t *n) {
    if (c == '\0')
        return mxci_text_reader_fail(reader, "a NUL byte");
    if (*n == FIELD_MAX)
        return mxci_text_reader_fail(reader, "more than %d bytes without a separator", FIELD_MAX);
    reader->text[(*n)++] = (char)c;
    reader->at++;
    return MXC_OK;
}

/* Read a field in quotes, in which two quotes stand for one (RFC 4180, section 2), but within one line. */
static mxc_status read_quoted(mxci_text_reader *reader) {
    size_t n = 0;
    int c;
    reader->at++;
    for (;;) {
        MXC_TRY(peek(reader, &c));
        if (c == '\n' || c == END)
            return mxci_text_reader_fail(reader, "a quote that is not closed in its line");
        if (c == '"') {
            reader->at++;
            MXC_TRY(peek(reader, &c));
            if (c != '"')
                break;
        }
        MXC_TRY(keep_byte(reader, c, &n));
    }
    reader->text[n] = '\0';
    MXC_TRY(text_reader_skip_blanks(reader, &c));
    return ends_field(reader, c) ? MXC_OK : mxci_text_reader_fail(reader, "text behind a closing quote");
}

/* Read a field whose first byte is c, to reader->text, without blanks at its end. */
static mxc_status read_field(mxci_text_reader *reader, int c) {
    size_t n = 0;
    if (c == '"' && reader->format.separator == ',')
        return read_quoted(reader);
    while (!ends_field(reader, c)) {
        MXC_TRY(keep_byte(reader, c, &n));
        MXC_TRY(peek(reader, &c));
    }
    while (n > 0 && is_blank(reader->text[n - 1]))
        n--;
    reader->text[n] = '\0';
    return MXC_OK;
}

mxc_status mxci_text_reader_next_field(mxci_text_reader *reader, const char **out) {
    int c;
    *out = NULL;
    MXC_TRY(reader->ends_line ? find_line(reader, &c) : text_reader_skip_blanks(reader, &c));
    if (c == END && reader->ends_line)
        return MXC_OK;
    reader->ends_line = 0;
    MXC_TRY(read_field(reader, c));
    MXC_TRY(text_reader_skip_blanks(reader, &c));
    reader->ends_line = c == '\n' || c == END;
    if (c == '\n' || c == reader->format.separator)
        reader->at++;
    *out = reader->text;
    return MXC_OK;
}

int mxci_text_reader_at_line_end(const mxci_text_reader *reader) {
    return reader->ends_line;
}

int64_t mxci_text_reader_line(const mxci_text_reader *reader) {
    return reader->line;
}

int64_t mxci_text_reader_bytes(const mxci_text_reader *reader) {
    return reader->bytes;
}

/* Mark line number as bad; the message of the last error is kept for the first one. */
static mxc_status record_bad_line(mxci_bad_lines *bad, int64_t number) {
    if (number >= bad->room) {
        int64_t room = 2 * number + 64;
        uint8_t *more = mxci_realloc_array(bad->is_bad, (size_t)room, 1);
        if (!more)
            return MXC_FAIL(MXC_ENOMEM, "no memory to note %lld bad lines", (long long)room);
        memset(more + bad->room, 0, (size_t)(room - bad->room));
        bad->is_bad = more;
        bad->room = room;
    }
    if (bad->n == 0)
        strncpy(bad->first, mxc_last_error(), sizeof bad->first - 1);
    bad->n += !bad->is_bad[number];
    bad->is_bad[number] = 1;
    return MXC_OK;
}

mxc_status mxci_text_reader_find_bad_lines(const char *owner, const char *paths, mxci_text_format format,
                                           mxc_status (*read_line)(mxci_text_reader *reader, void *arg, int *is_end),
                                           void *arg, mxci_bad_lines *bad) {
    const mxci_bad_lines none = {0};
    mxci_text_reader *reader;
    int is_end = 0;
    MXC_TRY(mxci_text_reader_open(owner, paths, format, &none, &reader));
    mxc_status status = MXC_OK;
    while (status == MXC_OK && !is_end) {
        status = read_line(reader, arg, &is_end);
        if (status == MXC_EFORMAT && reader->file) {
            status = record_bad_line(bad, reader->number);
            if (status == MXC_OK)
                status = skip_rest(reader);
        }
    }
    mxci_text_reader_close(reader);
    return status;
}

mxc_status mxci_text_reader_fail(const mxci_text_reader *reader, const char *format, ...) {
    char reason[256];
    va_list args;
    va_start(args, format);
    mxci_vformat(reason, sizeof reason, format, args);
    va_end(args);
    return MXC_FAIL(MXC_EFORMAT, "%s: %s: line %lld: %s (byte %lld)", reader->owner,
                    reader->file ? mxci_file_path(reader->file) : "", (long long)reader->line, reason,
                    (long long)(reader->offset - (int64_t)(reader->filled - reader->at)));
}
