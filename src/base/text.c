/* SPDX-License-Identifier: Apache-2.0 */
/* Growing strings, formatting and number parsing that do not depend on the locale, comma-separated lists. */
#define _GNU_SOURCE 1
#include "base/text.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sys.h"

/* ---- the growing string ---- */

/* Make room for n more bytes and the terminator; 0 if the string has failed. Capacity doubles, so additions take
 * constant time on average. */
static int text_reserve(mxci_text *t, size_t n) {
    size_t capacity = t->capacity ? t->capacity : 64;
    char *data;
    if (t->failed)
        return 0;
    if (n >= SIZE_MAX / 4 || t->length >= SIZE_MAX / 4) {
        t->failed = 1;
        return 0;
    }
    while (capacity < t->length + n + 1)
        capacity *= 2;
    if (capacity == t->capacity)
        return 1;
    data = mxci_realloc(t->data, capacity);
    if (!data) {
        t->failed = 1;
        return 0;
    }
    t->data = data;
    t->capacity = capacity;
    return 1;
}

void mxci_text_add_bytes(mxci_text *t, const char *s, size_t n) {
    if (!text_reserve(t, n))
        return;
    if (n)
        memcpy(t->data + t->length, s, n);
    t->length += n;
    t->data[t->length] = '\0';
}

void mxci_text_add(mxci_text *t, const char *s) {
    mxci_text_add_bytes(t, s, strlen(s));
}

void mxci_text_vprintf(mxci_text *t, const char *format, va_list args) {
    va_list again;
    int n;
    va_copy(again, args);
    n = mxci_vformat(NULL, 0, format, args);
    if (n < 0)
        t->failed = 1;
    if (n >= 0 && text_reserve(t, (size_t)n)) {
        mxci_vformat(t->data + t->length, (size_t)n + 1, format, again);
        t->length += (size_t)n;
    }
    va_end(again);
}

void mxci_text_printf(mxci_text *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    mxci_text_vprintf(t, format, args);
    va_end(args);
}

mxc_status mxci_text_take(mxci_text *t, char **out) {
    *out = NULL;
    if (!t->data)
        mxci_text_add_bytes(t, "", 0);
    if (t->failed) {
        mxci_text_free(t);
        return MXC_FAIL(MXC_ENOMEM, "out of memory while building a text");
    }
    *out = t->data;
    *t = (mxci_text){0};
    return MXC_OK;
}

void mxci_text_free(mxci_text *t) {
    mxci_free(t->data);
    *t = (mxci_text){0};
}

/* ---- formatting and parsing in the C locale ---- */

/* The C locale, created once; 0 if there is no memory for it, and then the program's locale applies. */
static locale_t c_locale(void) {
    static _Atomic(locale_t) made;
    locale_t locale = atomic_load(&made), none = (locale_t)0;
    if (locale)
        return locale;
    locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (locale && !atomic_compare_exchange_strong(&made, &none, locale)) {
        freelocale(locale);
        locale = none;
    }
    return locale;
}

/* uselocale changes the calling thread only; setlocale would change the program. */
int mxci_vformat(char *out, size_t size, const char *format, va_list args) {
    locale_t c = c_locale(), before = c ? uselocale(c) : (locale_t)0;
    int n = vsnprintf(out, size, format, args);
    if (before)
        uselocale(before);
    if (n < 0 && size)
        out[0] = '\0';
    return n;
}

int mxci_format(char *out, size_t size, const char *format, ...) {
    va_list args;
    int n;
    va_start(args, format);
    n = mxci_vformat(out, size, format, args);
    va_end(args);
    return n;
}

const char *mxci_empty_text(char *out, size_t size) {
    if (!out)
        return "";
    if (size > 0)
        out[0] = '\0';
    return out;
}

void mxci_line_printf(mxci_line *line, const char *format, ...) {
    va_list args;
    int n;
    if (line->length + 1 >= line->size)
        return; /* full */
    va_start(args, format);
    n = mxci_vformat(line->data + line->length, line->size - line->length, format, args);
    va_end(args);
    if (n > 0)
        line->length += (size_t)n < line->size - line->length ? (size_t)n : line->size - line->length - 1;
}

int mxci_read_int(const char **at, int64_t *out) {
    char *end;
    long long value;
    errno = 0;
    value = strtoll(*at, &end, 10);
    if (end == *at || errno == ERANGE)
        return 0;
    *at = end;
    *out = value;
    return 1;
}

int mxci_read_double(const char **at, double *out) {
    locale_t c = c_locale();
    const char *start = *at + strspn(*at, " \t\r\n");
    char *end;
    double value = c ? strtod_l(start, &end, c) : strtod(start, &end);
    if (end == start || strspn(start, "+-.0123456789eE") < (size_t)(end - start) || !isfinite(value))
        return 0; /* nothing, hexadecimal, infinite or not a number */
    *at = end;
    *out = value;
    return 1;
}

/* 6 digits suffice for most values that were typed; 17 for every double. */
const char *mxci_double_text(double value, char *out, size_t size) {
    char text[40];
    for (int digits = 6; digits <= 17; digits++) {
        const char *at = text;
        double back;
        mxci_format(text, sizeof text, "%.*g", digits, value);
        if (!isfinite(value) || (mxci_read_double(&at, &back) && back == value))
            break;
    }
    mxci_format(out, size, "%s", text);
    return out;
}

/* ---- comma-separated lists ---- */

static size_t item_length(const char *item) {
    return strcspn(item, ",");
}

int mxci_list_count(const char *list) {
    int count = 1;
    if (!list || !*list)
        return 0;
    for (; *list; list++)
        count += *list == ',';
    return count;
}

int mxci_list_item(const char *list, int i, char *out, size_t size) {
    size_t n;
    if (size)
        out[0] = '\0';
    if (i < 0 || i >= mxci_list_count(list))
        return 0;
    while (i-- > 0)
        list += item_length(list) + 1;
    n = item_length(list);
    if (size) {
        n = n < size ? n : size - 1;
        memcpy(out, list, n);
        out[n] = '\0';
    }
    return 1;
}

int mxci_list_find(const char *list, const char *name) {
    size_t length = strlen(name);
    int count = mxci_list_count(list);
    for (int i = 0; i < count; i++) {
        size_t n = item_length(list);
        if (n == length && memcmp(list, name, n) == 0)
            return i;
        list += n + 1;
    }
    return -1;
}

int mxci_ends_with(const char *text, const char *suffix) {
    size_t n = strlen(text), m = strlen(suffix);
    return n >= m && strcmp(text + n - m, suffix) == 0;
}

size_t mxci_utf8_length(const char *s, size_t n) {
    const unsigned char *c = (const unsigned char *)s;
    size_t length = n == 0        ? 0
                    : c[0] < 0x80 ? 1
                    : c[0] < 0xc2 ? 0 /* a continuation byte, or overlong */
                    : c[0] < 0xe0 ? 2
                    : c[0] < 0xf0 ? 3
                    : c[0] < 0xf5 ? 4
                                  : 0;
    if (length > n)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f)) /* overlong, surrogate */
        return 0;
    if ((c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] > 0x8f)) /* overlong, above U+10FFFF */
        return 0;
    return length;
}
