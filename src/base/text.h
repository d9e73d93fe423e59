/* SPDX-License-Identifier: Apache-2.0 */
/* A growing string, and small helpers on text. */
#ifndef MXCI_BASE_TEXT_H
#define MXCI_BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <mxc/status.h>

typedef struct mxci_text {
    char *data; /* NUL-terminated once anything was added; NULL before */
    size_t length, capacity;
    int failed; /* an allocation failed; later additions do nothing */
} mxci_text;

/* Start from {0}. Additions never fail by themselves: check once with mxci_text_take. */
void mxci_text_add(mxci_text *t, const char *s);
void mxci_text_add_bytes(mxci_text *t, const char *s, size_t n);
void mxci_text_printf(mxci_text *t, const char *format, ...) MXC_PRINTF(2, 3);
void mxci_text_vprintf(mxci_text *t, const char *format, va_list args) MXC_PRINTF(2, 0);
/* Transfer the string (never NULL on success) to the caller, who frees it with mxci_free. MXC_ENOMEM if any addition
 * failed. */
mxc_status mxci_text_take(mxci_text *t, char **out);
void mxci_text_free(mxci_text *t);

/* 1 if text ends with this suffix. */
int mxci_ends_with(const char *text, const char *suffix);
/* Bytes of the UTF-8 character at s, of which n bytes may be read; 0 if it is malformed, truncated, overlong, a
 * surrogate or above U+10FFFF (RFC 3629, section 4). */
size_t mxci_utf8_length(const char *s, size_t n);

/* As snprintf and vsnprintf in the C locale, whatever the program's locale: always a decimal point. */
int mxci_format(char *out, size_t size, const char *format, ...) MXC_PRINTF(3, 4);
int mxci_vformat(char *out, size_t size, const char *format, va_list args) MXC_PRINTF(3, 0);

/* A bounded string: start from { buffer, sizeof buffer, 0 }; what does not fit is truncated. */
typedef struct mxci_line {
    char *data; /* always terminated, unless size is 0 */
    size_t size, length;
} mxci_line;
/* "" in out; in read-only memory where out is NULL. For formatting functions that are given NULL. */
const char *mxci_empty_text(char *out, size_t size);
void mxci_line_printf(mxci_line *line, const char *format, ...) MXC_PRINTF(2, 3);

/* Parse a decimal number at *at, after blanks, and move *at past it. 0 if there is none or it is out of range. Doubles
 * are finite, in decimal, with a point whatever the locale; one that underflows is 0. */
int mxci_read_int(const char **at, int64_t *out);
int mxci_read_double(const char **at, double *out);
/* Fewest digits that read back as the same double ("0.1", "1e-05", "2"); "nan" and "inf" too; returns out. */
const char *mxci_double_text(double value, char *out, size_t size);

/* The i-th item of a comma-separated list such as "data,weight,bias": copies it to out, truncated to size; returns 1 if
 * there is such an item. */
int mxci_list_item(const char *list, int i, char *out, size_t size);
int mxci_list_count(const char *list); /* NULL and "": 0 */
/* Index of name in a comma-separated list; -1 if absent. */
int mxci_list_find(const char *list, const char *name);

#endif
