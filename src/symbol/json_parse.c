/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recursive-descent parser from JSON text (RFC 8259) to values of jansson. The parser of jansson 2.14 is not used: it
 * ignores that its buffer for a string could not grow, and then reads past its end, and it often reports "invalid"
 * where memory was missing. Its values are used, since all their functions report a lack of memory.
 *
 * The text is untrusted input. Refused are, besides what is not JSON: duplicate keys, integers out of range, the
 * character U+0000, text that is not UTF-8, and nesting beyond MAX_DEPTH, which bounds the stack.
 */
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"
#include "symbol/json.h"

enum { MAX_DEPTH = 2048, NUMBER_BYTES = 400, SHARED = 64 };

typedef struct parser {
    const char *begin, *at, *end;
    int depth;
    json_t *shared[SHARED]; /* one value for each small integer, since lists of entries repeat them; made on demand */
} parser;

static mxc_status parse_value(parser *p, json_t **out);

/* Fails with the place in the text. */
static mxc_status wrong(const parser *p, const char *what) {
    const char *line_begin = p->begin;
    size_t line = 1;
    for (const char *c = p->begin; c < p->at; c++)
        if (*c == '\n') {
            line++;
            line_begin = c + 1;
        }
    return MXC_FAIL(MXC_EFORMAT, "JSON: byte %zu, line %zu, column %zu: %s", (size_t)(p->at - p->begin), line,
                    (size_t)(p->at - line_begin), what);
}

/* The next character after white space; 0 at the end, and for U+0000, which is allowed nowhere. */
static char peek(parser *p) {
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r'))
        p->at++;
    return p->at < p->end ? *p->at : '\0';
}

static int accept(parser *p, char c) {
    if (peek(p) != c)
        return 0;
    p->at++;
    return 1;
}

/* ---- strings ----------------------------------------------------------------------------------------------------- */

/* Four hexadecimal digits; -1 if they are not. */
static int32_t read_hex(parser *p) {
    int32_t value = 0;
    if (p->end - p->at < 4)
        return -1;
    for (int i = 0; i < 4; i++, p->at++) {
        const char *digits = "0123456789abcdef", lower = (char)(*p->at | 0x20);
        const char *digit = *p->at >= '0' && *p->at <= '9' ? strchr(digits, *p->at) : strchr(digits + 10, lower);
        if (!digit || !*digit)
            return -1;
        value = 16 * value + (int32_t)(digit - digits);
    }
    return value;
}

/* The code point after \u, of one code unit or of a surrogate pair (RFC 8259, section 7); -1 if it is malformed. */
static int32_t read_code(parser *p) {
    int32_t code = read_hex(p), low;
    if (code < 0xd800 || code > 0xdfff)
        return code;
    if (code > 0xdbff || p->end - p->at < 2 || p->at[0] != '\\' || p->at[1] != 'u')
        return -1;
    p->at += 2;
    low = read_hex(p);
    return low < 0xdc00 || low > 0xdfff ? -1 : 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
}

/* Appends a code point in UTF-8; returns the new end. */
static char *put_code(char *out, int32_t code) {
    if (code < 0x80) {
        *out++ = (char)code;
        return out;
    }
    if (code < 0x800) {
        *out++ = (char)(0xc0 | code >> 6);
    } else {
        if (code < 0x10000) {
            *out++ = (char)(0xe0 | code >> 12);
        } else {
            *out++ = (char)(0xf0 | code >> 18);
            *out++ = (char)(0x80 | (code >> 12 & 0x3f));
        }
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
    }
    *out++ = (char)(0x80 | (code & 0x3f));
    return out;
}

/* Reads an escape after its backslash, and appends what it stands for to *out. */
static mxc_status read_escape(parser *p, char **out) {
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *name = p->at < p->end && *p->at ? strchr(names, *p->at) : NULL;
    int32_t code;
    if (name) {
        p->at++;
        *(*out)++ = values[name - names];
        return MXC_OK;
    }
    if (p->at == p->end || *p->at++ != 'u' || (code = read_code(p)) < 0)
        return wrong(p, "invalid escape");
    if (code == 0)
        return wrong(p, "\\u0000 is not allowed");
    *out = put_code(*out, code);
    return MXC_OK;
}

/* Copies the string after its opening quote to out, without escapes. out is large enough with as many bytes as the
 * string has in the text, because no escape is shorter than what it stands for. */
static mxc_status unescape(parser *p, char *out) {
    while (p->at < p->end && *p->at != '"') {
        unsigned char c = (unsigned char)*p->at;
        size_t n = mxci_utf8_length(p->at, (size_t)(p->end - p->at));
        if (c < 0x20)
            return wrong(p, "control character in a string");
        if (!n)
            return wrong(p, "not UTF-8");
        if (c == '\\') {
            p->at++;
            MXC_TRY(read_escape(p, &out));
            continue;
        }
        memcpy(out, p->at, n);
        out += n;
        p->at += n;
    }
    if (p->at == p->end)
        return wrong(p, "the text ends inside a string");
    p->at++;
    *out = '\0';
    return MXC_OK;
}

/* A string after its opening quote; to be freed with mxci_free. */
static mxc_status parse_text(parser *p, char **out) {
    const char *close = p->at;
    mxc_status status;
    while (close < p->end && *close != '"')
        close += *close == '\\' ? 2 : 1;
    if (close > p->end)
        close = p->end;
    *out = mxci_alloc((size_t)(close - p->at) + 1);
    if (!*out)
        return MXCI_NO_MEMORY("JSON", "a string");
    status = unescape(p, *out);
    if (status == MXC_OK)
        return MXC_OK;
    mxci_free(*out);
    *out = NULL;
    return status;
}

/* ---- numbers and words ------------------------------------------------------------------------------------------- */

static int skip_digits(parser *p) {
    const char *begin = p->at;
    while (p->at < p->end && *p->at >= '0' && *p->at <= '9')
        p->at++;
    return p->at > begin;
}

/* Moves past a number, which must follow the grammar of RFC 8259, section 6; returns 0 if there is none. */
static int skip_number(parser *p, int *is_real) {
    const char *first;
    if (p->at < p->end && *p->at == '-')
        p->at++;
    first = p->at;
    if (!skip_digits(p) || (*first == '0' && p->at - first > 1))
        return 0;
    if (p->at < p->end && *p->at == '.') {
        *is_real = 1;
        p->at++;
        if (!skip_digits(p))
            return 0;
    }
    if (p->at < p->end && (*p->at == 'e' || *p->at == 'E')) {
        *is_real = 1;
        p->at++;
        if (p->at < p->end && (*p->at == '+' || *p->at == '-'))
            p->at++;
        return skip_digits(p);
    }
    return 1;
}

static mxc_status parse_number(parser *p, json_t **out) {
    const char *begin = p->at, *at;
    char digits[NUMBER_BYTES];
    int is_real = 0;
    int64_t integer = 0;
    double real = 0;
    if (!skip_number(p, &is_real))
        return wrong(p, "not a value");
    if (p->at - begin >= NUMBER_BYTES)
        return wrong(p, "number too long");
    memcpy(digits, begin, (size_t)(p->at - begin));
    digits[p->at - begin] = '\0';
    at = digits;
    if (is_real ? !mxci_read_double(&at, &real) : !mxci_read_int(&at, &integer))
        return wrong(p, is_real ? "real number overflow" : "too big integer");
    if (!is_real && integer >= 0 && integer < SHARED) {
        if (!p->shared[integer])
            p->shared[integer] = json_integer(integer);
        *out = json_incref(p->shared[integer]);
    } else {
        *out = is_real ? json_real(real) : json_integer(integer);
    }
    return *out ? MXC_OK : MXCI_NO_MEMORY("JSON", "a number");
}

static mxc_status parse_word(parser *p, json_t **out) {
    static const char *const words[] = {"null", "true", "false"};
    json_t *const values[] = {json_null(), json_true(), json_false()};
    for (int i = 0; i < 3; i++) {
        size_t n = strlen(words[i]);
        if ((size_t)(p->end - p->at) >= n && memcmp(p->at, words[i], n) == 0) {
            p->at += n;
            *out = values[i];
            return MXC_OK;
        }
    }
    return parse_number(p, out);
}

/* ---- lists and objects ------------------------------------------------------------------------------------------- */

static mxc_status add_item(parser *p, json_t *list) {
    json_t *item;
    MXC_TRY(parse_value(p, &item));
    return json_array_append_new(list, item) == 0 ? MXC_OK : MXCI_NO_MEMORY("JSON", "a list");
}

/* Reads "key": value into an object. Duplicate keys are refused: which one counts differs between parsers. */
static mxc_status add_pair(parser *p, json_t *object) {
    mxc_status status;
    char *key;
    json_t *value;
    if (!accept(p, '"'))
        return wrong(p, "expected a key in quotes");
    MXC_TRY(parse_text(p, &key));
    status = json_object_get(object, key) ? wrong(p, "duplicate object key")
             : accept(p, ':')             ? MXC_OK
                                          : wrong(p, "expected ':'");
    if (status == MXC_OK)
        status = parse_value(p, &value);
    if (status == MXC_OK && json_object_set_new_nocheck(object, key, value) != 0)
        status = MXCI_NO_MEMORY("JSON", "an object");
    mxci_free(key);
    return status;
}

/* Items up to the closing bracket; the opening one has been read. */
static mxc_status parse_items(parser *p, json_t *whole, char close, mxc_status (*add)(parser *p, json_t *whole)) {
    if (accept(p, close))
        return MXC_OK;
    do
        MXC_TRY(add(p, whole));
    while (accept(p, ','));
    return accept(p, close) ? MXC_OK : wrong(p, close == ']' ? "expected ',' or ']'" : "expected ',' or '}'");
}

/* Reads any value. The caller owns *out, which is set only on success. */
static mxc_status parse_value(parser *p, json_t **out) {
    char first = peek(p), *text;
    mxc_status status;
    if (first == '"') {
        p->at++;
        MXC_TRY(parse_text(p, &text));
        *out = json_string_nocheck(text);
        mxci_free(text);
        return *out ? MXC_OK : MXCI_NO_MEMORY("JSON", "a string");
    }
    if (first != '[' && first != '{')
        return parse_word(p, out);
    p->at++;
    if (++p->depth > MAX_DEPTH)
        return wrong(p, "nested beyond a depth of 2048");
    *out = first == '[' ? json_array() : json_object();
    if (!*out)
        return MXCI_NO_MEMORY("JSON", first == '[' ? "a list" : "an object");
    status = first == '[' ? parse_items(p, *out, ']', add_item) : parse_items(p, *out, '}', add_pair);
    p->depth--;
    if (status != MXC_OK)
        json_decref(*out);
    return status;
}

mxc_status mxci_json_parse(const char *text, size_t bytes, json_t **out) {
    parser p = {.begin = text, .at = text, .end = text + bytes};
    json_t *value;
    mxc_status status = parse_value(&p, &value);
    *out = NULL;
    if (status == MXC_OK && (peek(&p) || p.at < p.end)) {
        status = wrong(&p, "end of file expected");
        json_decref(value);
    }
    if (status == MXC_OK)
        *out = value;
    for (int i = 0; i < SHARED; i++)
        json_decref(p.shared[i]);
    return status;
}
