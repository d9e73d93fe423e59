/* SPDX-License-Identifier: Apache-2.0 */
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
    char separator;
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

mxc_status mxci_text_reader_open(const char *owner, const char *paths, char separator, const mxci_bad_lines *bad,
                                 mxci_text_reader **out) {
    mxci_text_reader *f = mxci_calloc(1, sizeof *f);
    *out = NULL;
    if (!f)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory to read %s", owner, paths);
    f->owner = owner;
    f->separator = separator;
    f->bad = bad;
    f->number = -1;
    f->ends_line = 1;
    mxc_status status = mxci_path_list_expand(owner, paths, "", &f->paths);
    if (status != MXC_OK)
        mxci_text_reader_close(f);
    else
        *out = f;
    return status;
}

void mxci_text_reader_close(mxci_text_reader *reader) {
    if (!reader)
        return;
    mxci_file_close(reader->file);
    mxci_path_list_free(&reader->paths);
    mxci_free(reader);
}

/* Open the next file, if any is left. */
static mxc_status next_file(mxci_text_reader *f) {
    mxci_file_close(f->file);
    f->file = NULL;
    f->offset = 0;
    f->line = 0;
    return f->next_path < f->paths.n ? mxci_file_open(f->paths.path[f->next_path++], &f->file) : MXC_OK;
}

static mxc_status fill_block(mxci_text_reader *f) {
    int64_t left = mxci_file_size(f->file) - f->offset;
    size_t n = left < BLOCK ? (size_t)left : BLOCK;
    f->at = f->filled = 0;
    MXC_TRY(mxci_file_read_at(f->file, f->offset, f->block, n));
    f->filled = n;
    f->offset += (int64_t)n;
    f->bytes += (int64_t)n;
    return MXC_OK;
}

/* The next byte of the file without consuming it; END after the last. */
static mxc_status peek(mxci_text_reader *f, int *out) {
    if (f->at == f->filled && f->file)
        MXC_TRY(fill_block(f));
    *out = f->at == f->filled ? END : (unsigned char)f->block[f->at];
    return MXC_OK;
}

static int is_blank(int c) {
    return c == ' ' || c == '\t' || c == '\r';
}

/* Skip blanks and comments; *out is the next byte. */
static mxc_status text_reader_skip_blanks(mxci_text_reader *f, int *out) {
    int in_comment = 0;
    for (;; f->at++) {
        MXC_TRY(peek(f, out));
        in_comment |= *out == '#' && f->separator == ' ';
        if (*out == '\n' || *out == END || !(in_comment || is_blank(*out)))
            return MXC_OK;
    }
}

/* Skip the rest of the line. */
static mxc_status skip_rest(mxci_text_reader *f) {
    int c = f->ends_line ? '\n' : 0;
    while (c != '\n' && c != END) {
        MXC_TRY(peek(f, &c));
        f->at += c != END;
    }
    f->ends_line = 1;
    return MXC_OK;
}

/* Skip to the next non-empty line, of this file or the next; *out is its first byte. */
static mxc_status find_any_line(mxci_text_reader *f, int *out) {
    for (;;) {
        f->line++;
        MXC_TRY(text_reader_skip_blanks(f, out));
        if (*out == END) {
            MXC_TRY(next_file(f));
            if (!f->file)
                return MXC_OK;
        } else if (*out == '\n') {
            f->at++;
        } else {
            return MXC_OK;
        }
    }
}

/* Skip to the next non-empty line that is not bad. */
static mxc_status find_line(mxci_text_reader *f, int *out) {
    for (;;) {
        MXC_TRY(find_any_line(f, out));
        f->number += *out != END;
        if (*out == END || f->number >= f->bad->room || !f->bad->is_bad[f->number])
            return MXC_OK;
        f->ends_line = 0;
        MXC_TRY(skip_rest(f));
    }
}

static int ends_field(const mxci_text_reader *f, int c) {
    return c == '\n' || c == END || c == f->separator || (f->separator == ' ' && (is_blank(c) || c == '#'));
}

static mxc_status read_field(mxci_text_reader *f, int c) {
    size_t n = 0;
    while (!ends_field(f, c)) {
        if (c == '\0')
            return mxci_text_reader_fail(f, "a NUL byte");
        if (n == FIELD_MAX)
            return mxci_text_reader_fail(f, "more than %d bytes without a separator", FIELD_MAX);
        f->text[n++] = (char)c;
        f->at++;
        MXC_TRY(peek(f, &c));
    }
    while (n > 0 && is_blank(f->text[n - 1]))
        n--;
    f->text[n] = '\0';
    return MXC_OK;
}

mxc_status mxci_text_reader_next_field(mxci_text_reader *f, const char **out) {
    int c;
    *out = NULL;
    MXC_TRY(f->ends_line ? find_line(f, &c) : text_reader_skip_blanks(f, &c));
    if (c == END && f->ends_line)
        return MXC_OK;
    f->ends_line = 0;
    MXC_TRY(read_field(f, c));
    MXC_TRY(text_reader_skip_blanks(f, &c));
    f->ends_line = c == '\n' || c == END;
    if (c == '\n' || c == f->separator)
        f->at++;
    *out = f->text;
    return MXC_OK;
}

int mxci_text_reader_at_line_end(const mxci_text_reader *f) {
    return f->ends_line;
}

int64_t mxci_text_reader_line(const mxci_text_reader *f) {
    return f->line;
}

int64_t mxci_text_reader_bytes(const mxci_text_reader *f) {
    return f->bytes;
}

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

mxc_status mxci_text_reader_find_bad_lines(const char *owner, const char *paths, char separator,
                                           mxc_status (*read_line)(mxci_text_reader *reader, void *arg, int *is_end),
                                           void *arg, mxci_bad_lines *bad) {
    const mxci_bad_lines none = {0};
    mxci_text_reader *f;
    int is_end = 0;
    MXC_TRY(mxci_text_reader_open(owner, paths, separator, &none, &f));
    mxc_status status = MXC_OK;
    while (status == MXC_OK && !is_end) {
        status = read_line(f, arg, &is_end);
        if (status == MXC_EFORMAT && f->file) {
            status = record_bad_line(bad, f->number);
            if (status == MXC_OK)
                status = skip_rest(f);
        }
    }
    mxci_text_reader_close(f);
    return status;
}

mxc_status mxci_text_reader_fail(const mxci_text_reader *f, const char *format, ...) {
    char reason[256];
    va_list args;
    va_start(args, format);
    mxci_vformat(reason, sizeof reason, format, args);
    va_end(args);
    return MXC_FAIL(MXC_EFORMAT, "%s: %s: line %lld: %s (byte %lld)", f->owner, f->file ? mxci_file_path(f->file) : "",
                    (long long)f->line, reason, (long long)(f->offset - (int64_t)(f->filled - f->at)));
}
