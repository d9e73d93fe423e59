/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The header of .npy data: a Python dict with the keys descr, fortran_order and shape, each once, in any order:
 *   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
 * The parser accepts this subset of Python only: one dict, strings without escapes, one tuple of numbers.
 */
#include <string.h>

#include "base/text.h"
#include "ndarray/array.h"
#include "ndarray/npy.h"

/* ---- types ------------------------------------------------------------------------------------------------------- */

/* numpy's names of types, without the byte order, of all dtypes. bfloat16, which numpy lacks, is raw "V2". */
static const struct npy_type {
    const char *text;
    mxc_dtype dtype;
} types[] = {
    {"f4", MXC_F32}, {"f8", MXC_F64}, {"f2", MXC_F16},  {"u1", MXC_U8},   {"i4", MXC_I32},
    {"i1", MXC_I8},  {"i8", MXC_I64}, {"b1", MXC_BOOL}, {"V2", MXC_BF16},
};

/* ---- parsing ----------------------------------------------------------------------------------------------------- */

typedef struct header_parser {
    mxci_byte_source *source;
    int64_t at; /* offset of text in source */
    const char *text, *p, *end;
} header_parser;

static mxc_status expected(const header_parser *s, const char *what) {
    return MXCI_BYTE_SOURCE_FAIL(s->source, s->at + (s->p - s->text), MXC_EFORMAT, "npy header: expected %s", what);
}

static void npy_header_skip_blanks(header_parser *s) {
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\t' || *s->p == '\n' || *s->p == '\r'))
        s->p++;
}

/* Skip blanks and then c; returns 0 if something else follows. */
static int npy_header_take(header_parser *s, char c) {
    npy_header_skip_blanks(s);
    if (s->p == s->end || *s->p != c)
        return 0;
    s->p++;
    return 1;
}

static int take_word(header_parser *s, const char *word) {
    size_t n = strlen(word);
    npy_header_skip_blanks(s);
    if ((size_t)(s->end - s->p) < n || memcmp(s->p, word, n) != 0)
        return 0;
    s->p += n;
    return 1;
}

/* A short string in either kind of quotes. */
static mxc_status parse_string(header_parser *s, char *out, size_t size) {
    size_t n = 0;
    char quote;
    npy_header_skip_blanks(s);
    if (s->p == s->end || (*s->p != '\'' && *s->p != '"'))
        return expected(s, "a quoted string");
    quote = *s->p++;
    while (s->p + n < s->end && s->p[n] != quote && s->p[n] != '\\' && n + 1 < size)
        n++;
    if (s->p + n == s->end || s->p[n] != quote)
        return expected(s, "a string of a few characters without escapes");
    memcpy(out, s->p, n);
    out[n] = '\0';
    s->p += n + 1;
    return MXC_OK;
}

/* Only little-endian types, and types without a byte order. */
static mxc_status parse_descr(header_parser *s, mxc_dtype *out) {
    char text[32] = "";
    MXC_TRY(parse_string(s, text, sizeof text));
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        int bytes_in_order = text[0] == '<' || (text[0] == '|' && (text[2] == '1' || text[1] == 'V'));
        if (bytes_in_order && strcmp(text + 1, types[i].text) == 0) {
            *out = types[i].dtype;
            return MXC_OK;
        }
    }
    return MXCI_BYTE_SOURCE_FAIL(s->source, s->at, MXC_EUNSUPPORTED,
                                 "npy header: elements of type '%s' are not supported", text);
}

static mxc_status parse_dim(header_parser *s, int64_t *out) {
    const char *start = s->p;
    *out = 0;
    for (; s->p < s->end && *s->p >= '0' && *s->p <= '9'; s->p++)
        if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, *s->p - '0', out))
            return expected(s, "a size below 2^63");
    if (s->p == start)
        return expected(s, "a size of 0 or more");
    if (s->p < s->end && *s->p == 'L') /* a Python 2 long */
        s->p++;
    return MXC_OK;
}

static mxc_status parse_shape(header_parser *s, mxc_shape *out) {
    int comma = 1;
    out->ndim = 0;
    if (!npy_header_take(s, '('))
        return expected(s, "a tuple of sizes");
    while (!npy_header_take(s, ')')) {
        if (!comma)
            return expected(s, "a comma or the end of the tuple");
        if (out->ndim == MXC_MAX_NDIM)
            return MXCI_BYTE_SOURCE_FAIL(s->source, s->at, MXC_EUNSUPPORTED, "npy header: more than %d axes",
                                         MXC_MAX_NDIM);
        MXC_TRY(parse_dim(s, &out->dim[out->ndim++]));
        comma = npy_header_take(s, ',');
    }
    return out->ndim == 1 && !comma ? expected(s, "a comma in a tuple of one") : MXC_OK;
}

static mxc_status parse_item(header_parser *s, mxci_npy_header *out, unsigned *seen) {
    char key[32];
    unsigned bit;
    npy_header_skip_blanks(s);
    MXC_TRY(parse_string(s, key, sizeof key));
    bit = !strcmp(key, "descr") ? 1 : !strcmp(key, "fortran_order") ? 2 : !strcmp(key, "shape") ? 4 : 0;
    if (!bit || (*seen & bit))
        return expected(s, "the keys descr, fortran_order and shape, each once");
    *seen |= bit;
    if (!npy_header_take(s, ':'))
        return expected(s, "a colon");
    npy_header_skip_blanks(s);
    if (bit == 1)
        return parse_descr(s, &out->dtype);
    if (bit == 4)
        return parse_shape(s, &out->shape);
    out->fortran = take_word(s, "True");
    return out->fortran || take_word(s, "False") ? MXC_OK : expected(s, "True or False");
}

mxc_status mxci_npy_parse(mxci_byte_source *source, int64_t at, const char *text, size_t length, mxci_npy_header *out) {
    header_parser s = {source, at, text, text, text + length};
    unsigned seen = 0;
    int comma = 1;
    if (!npy_header_take(&s, '{'))
        return expected(&s, "a dict");
    while (!npy_header_take(&s, '}')) {
        if (!comma)
            return expected(&s, "a comma or the end of the dict");
        MXC_TRY(parse_item(&s, out, &seen));
        comma = npy_header_take(&s, ',');
    }
    npy_header_skip_blanks(&s);
    if (s.p != s.end)
        return expected(&s, "nothing behind the dict");
    return seen == 7 ? MXC_OK : expected(&s, "all of descr, fortran_order and shape");
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

size_t mxci_npy_make_header(const mxc_ndarray *array, char out[MXCI_NPY_HEADER_MAX]) {
    const int one_byte_or_raw = mxc_dtype_size(array->dtype) == 1 || array->dtype == MXC_BF16;
    char shape[MXC_SHAPE_TEXT];
    mxci_line line = {out + 10, MXCI_NPY_HEADER_MAX - 10, 0};
    size_t total, type = 0;
    while (types[type].dtype != array->dtype)
        type++;
    mxci_line_printf(&line, "{'descr': '%c%s', 'fortran_order': False, 'shape': %s, }", one_byte_or_raw ? '|' : '<',
                     types[type].text, mxc_shape_format(&array->shape, shape, sizeof shape));
    total = (10 + line.length + 1 + 63) / 64 * 64; /* the data starts at a multiple of 64 */
    memset(out + 10 + line.length, ' ', total - 10 - line.length - 1);
    out[total - 1] = '\n';
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (char)((total - 10) & 0xff);
    out[9] = (char)((total - 10) >> 8);
    return total;
}
