/* SPDX-License-Identifier: Apache-2.0 */
/* Parameter schemas: parsing texts into the fields of a struct, and formatting them. Parsing allocates nothing; a text
 * is consumed whole or refused, and the message says what is accepted. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include <mxc/param.h>

#include "base/check.h"
#include "base/error.h"
#include "base/text.h"

/* ---- parsing values: each function consumes the whole text or returns 0 ---- */

static const char *param_skip_blanks(const char *s) {
    return s + strspn(s, " \t\r\n");
}

static int at_end(const char *s) {
    return *param_skip_blanks(s) == '\0';
}

static int is_none(const char *text) {
    text = param_skip_blanks(text);
    return strncmp(text, "None", 4) == 0 && at_end(text + 4);
}

static int read_whole_int(const char *text, int64_t *out) {
    return mxci_read_int(&text, out) && at_end(text);
}

static int read_whole_double(const char *text, double *out) {
    return mxci_read_double(&text, out) && at_end(text);
}

/* One entry of a tuple. Python 2 wrote long numbers as "2L". */
static int read_tuple_entry(const char **at, int none_allowed, int64_t *out) {
    *at = param_skip_blanks(*at);
    if (none_allowed && strncmp(*at, "None", 4) == 0) {
        *at += 4;
        *out = MXC_PARAM_UNSET;
        return 1;
    }
    if (!mxci_read_int(at, out))
        return 0;
    *at += **at == 'L';
    return 1;
}

/* The bracket that closes the one at the start of *at, which is skipped; 0 if there is none. */
static char open_bracket(const char **at) {
    static const char pairs[] = "()[]{}";
    const char *pair;
    *at = param_skip_blanks(*at);
    pair = **at ? strchr(pairs, **at) : NULL;
    if (!pair || (pair - pairs) % 2)
        return '\0';
    (*at)++;
    return pair[1];
}

/* After an entry: 1 to go on with the next one, 0 at the end of the list, -1 if malformed. */
static int next_entry(const char **at, char close) {
    *at = param_skip_blanks(*at);
    if (!close)
        return **at == '\0' ? 0 : -1;
    if (**at == ',')
        *at = param_skip_blanks(*at + 1);
    else if (**at != close)
        return -1;
    if (**at != close)
        return 1;
    return at_end(*at + 1) ? 0 : -1;
}

/* 1 if an opened list is empty: "()" and nothing after it. */
static int is_empty_list(const char *at, char close) {
    at = param_skip_blanks(at);
    return close && *at == close && at_end(at + 1);
}

/* "(1,2)", "[1, 2]", "()", or a number without brackets; a comma after the last entry is accepted, as in "(2,)". */
static int read_tuple(const char *text, int none_allowed, mxc_tuple *out) {
    char close = open_bracket(&text);
    int more = 1;
    out->n = 0;
    if (is_empty_list(text, close))
        return 1;
    while (more == 1) {
        if (out->n == MXC_TUPLE_MAX || !read_tuple_entry(&text, none_allowed, &out->value[out->n]))
            return 0;
        out->n++;
        more = next_entry(&text, close);
    }
    return more == 0;
}

static int read_floats(const char *text, mxc_floats *out) {
    char close = open_bracket(&text);
    int more = 1;
    out->n = 0;
    if (is_empty_list(text, close))
        return 1;
    while (more == 1) {
        if (out->n == MXC_FLOATS_MAX || !mxci_read_double(&text, &out->value[out->n]))
            return 0;
        out->n++;
        more = next_entry(&text, close);
    }
    return more == 0;
}

mxc_status mxc_tuple_parse(const char *text, mxc_tuple *out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(text));
    if (read_tuple(text, 0, out))
        return MXC_OK;
    out->n = 0;
    return MXC_FAIL(MXC_EINVAL, "\"%.80s\": expected an integer or a tuple such as (2,2), at most %d entries", text,
                    MXC_TUPLE_MAX);
}

/* As Python and C write them. */
static int read_non_finite(const char *text, double *out) {
    const int is_negative = *text == '-';
    const int at = mxci_list_find("inf,Infinity,nan", is_negative ? text + 1 : text);
    if (at < 0)
        return 0;
    *out = at == 2 ? (double)NAN : is_negative ? -(double)INFINITY : (double)INFINITY;
    return 1;
}

/* ---- storing ---- */

/* The value of an optional parameter that is None; mxc_param.optional lists them. */
static void store_none(const mxc_param *p, void *field) {
    memset(field, 0, p->size);
    switch (p->type) {
    case MXC_PARAM_INT:
        *(int64_t *)field = MXC_PARAM_UNSET;
        break;
    case MXC_PARAM_FLOAT:
        *(double *)field = (double)NAN;
        break;
    case MXC_PARAM_TUPLE:
        ((mxc_tuple *)field)->n = -1;
        break;
    case MXC_PARAM_FLOATS:
        ((mxc_floats *)field)->n = -1;
        break;
    case MXC_PARAM_BOOL:
    case MXC_PARAM_ENUM:
        *(int32_t *)field = -1;
        break;
    case MXC_PARAM_DTYPE:
        *(int32_t *)field = MXC_DTYPE_UNKNOWN;
        break;
    case MXC_PARAM_STRING:
    case MXC_PARAM_NONE:
        break;
    }
}

/* The rest of the field is zero, so that equal parameters have equal bytes. */
static int store_string(const mxc_param *p, const char *text, char *field) {
    size_t n = strlen(text);
    if (n >= p->size)
        return 0;
    memset(field, 0, p->size);
    memcpy(field, text, n);
    return 1;
}

/* Parse text into the field by its type. Returns 0 if it is malformed; the field is undefined then. */
static int store_value(const mxc_param *p, const char *text, void *field) {
    int index;
    switch (p->type) {
    case MXC_PARAM_BOOL:
        index = mxci_list_find("false,False,0,true,True,1", text);
        *(int32_t *)field = index >= 3;
        return index >= 0;
    case MXC_PARAM_INT:
        return read_whole_int(text, field);
    case MXC_PARAM_FLOAT:
        return read_whole_double(text, field) || (p->non_finite && read_non_finite(text, field));
    case MXC_PARAM_TUPLE:
        return read_tuple(text, p->optional, field);
    case MXC_PARAM_FLOATS:
        return read_floats(text, field);
    case MXC_PARAM_ENUM:
        return (*(int32_t *)field = mxci_list_find(p->choices, text)) >= 0;
    case MXC_PARAM_DTYPE:
        return (*(int32_t *)field = mxc_dtype_from_name(text)) != MXC_DTYPE_UNKNOWN;
    case MXC_PARAM_STRING:
        return store_string(p, text, field);
    case MXC_PARAM_NONE:
        break;
    }
    return 0;
}

/* ---- bounds ---- */

static int param_within(const mxc_param *p, double value) {
    return value >= p->minimum && value <= p->maximum;
}

static int tuple_within(const mxc_param *p, const mxc_tuple *t) {
    for (int i = 0; i < t->n; i++)
        if (t->value[i] != MXC_PARAM_UNSET && !param_within(p, (double)t->value[i]))
            return 0;
    return 1;
}

static int floats_within(const mxc_param *p, const mxc_floats *f) {
    for (int i = 0; i < f->n; i++)
        if (!param_within(p, f->value[i]))
            return 0;
    return 1;
}

/* Checks numbers and each entry of a tuple; other types have no bounds. */
static int in_bounds(const mxc_param *p, const void *field) {
    if (!p->bounded)
        return 1;
    switch (p->type) {
    case MXC_PARAM_INT:
        return param_within(p, (double)*(const int64_t *)field);
    case MXC_PARAM_FLOAT:
        return param_within(p, *(const double *)field);
    case MXC_PARAM_TUPLE:
        return tuple_within(p, field);
    case MXC_PARAM_FLOATS:
        return floats_within(p, field);
    default:
        return 1;
    }
}

/* ---- messages ---- */

/* "max, avg, sum" from "max,avg,sum" */
static void add_choices(mxci_line *line, const char *choices, const char *quote) {
    char item[64];
    for (int i = 0; mxci_list_item(choices, i, item, sizeof item); i++)
        mxci_line_printf(line, "%s%s%s%s", i ? ", " : "", quote, item, quote);
}

static const char *const dtype_names =
#define MXC_DTYPE(name, flag, bytes, text) "," text
#include <mxc/dtype.def>
#undef MXC_DTYPE
    ;

/* What a parameter accepts, as a phrase for messages. */
static void add_expectation(mxci_line *line, const mxc_param *p) {
    switch (p->type) {
    case MXC_PARAM_BOOL:
        mxci_line_printf(line, "True or False");
        break;
    case MXC_PARAM_INT:
        mxci_line_printf(line, "an integer");
        break;
    case MXC_PARAM_FLOAT:
        mxci_line_printf(line, p->non_finite ? "a number" : "a finite number");
        break;
    case MXC_PARAM_TUPLE:
        mxci_line_printf(line, "integers such as (2,2), at most %d", MXC_TUPLE_MAX);
        break;
    case MXC_PARAM_FLOATS:
        mxci_line_printf(line, "finite numbers such as (0.1,0.2), at most %d", MXC_FLOATS_MAX);
        break;
    case MXC_PARAM_STRING:
        mxci_line_printf(line, "a text of at most %zu bytes", p->size - 1);
        break;
    case MXC_PARAM_ENUM:
        mxci_line_printf(line, "one of ");
        add_choices(line, p->choices, "");
        break;
    case MXC_PARAM_DTYPE:
        mxci_line_printf(line, "one of ");
        add_choices(line, dtype_names + 1, "");
        break;
    case MXC_PARAM_NONE:
        break;
    }
    if (p->optional)
        mxci_line_printf(line, " or None");
}

static mxc_status refuse_value(const char *owner, const mxc_param *p, const char *text) {
    char expected[320];
    mxci_line line = {expected, sizeof expected, 0};
    add_expectation(&line, p);
    return MXC_FAIL(MXC_EINVAL, "%s: %s=\"%.80s\", expected %s", owner, p->name, text, expected);
}

/* A bound, without an exponent if it is an integer. */
static void bound_text(double bound, char *out, size_t size) {
    if (fabs(bound) < 1e15 && bound == floor(bound))
        mxci_format(out, size, "%.0f", bound);
    else
        mxci_double_text(bound, out, size);
}

static mxc_status refuse_range(const char *owner, const mxc_param *p, const char *text) {
    char low[32], high[32];
    bound_text(p->minimum, low, sizeof low);
    bound_text(p->maximum, high, sizeof high);
    return MXC_FAIL(MXC_EINVAL, "%s: %s=\"%.80s\", expected %s from %s to %s", owner, p->name, text,
                    p->type == MXC_PARAM_TUPLE || p->type == MXC_PARAM_FLOATS ? "values" : "a value", low, high);
}

static mxc_status refuse_key(const char *owner, const mxc_param *schema, const char *key) {
    char names[360] = "";
    mxci_line line = {names, sizeof names, 0};
    for (const mxc_param *p = schema; p && p->name; p++)
        mxci_line_printf(&line, "%s%s", p == schema ? "" : ", ", p->name);
    return MXC_FAIL(MXC_EINVAL, "%s: unknown parameter \"%.80s\"; it takes %s", owner, key, *names ? names : "none");
}

/* ---- parsing ---- */

static void *field_of(const mxc_param *p, void *params) {
    return (char *)params + p->offset;
}

static mxc_status set_value(const char *owner, const mxc_param *p, const char *text, void *params) {
    void *field = field_of(p, params);
    if (!text)
        return MXC_FAIL(MXC_EINVAL, "%s: %s has no value", owner, p->name);
    if (p->optional && is_none(text)) {
        store_none(p, field);
        return MXC_OK;
    }
    if (!store_value(p, text, field))
        return refuse_value(owner, p, text);
    return in_bounds(p, field) ? MXC_OK : refuse_range(owner, p, text);
}

static const mxc_param *find_param(const mxc_param *schema, const char *key) {
    for (const mxc_param *p = schema; p && p->name; p++)
        if (strcmp(p->name, key) == 0 || (p->alias && strcmp(p->alias, key) == 0))
            return p;
    return NULL;
}

/* "__lr_mult__" and the like, which MXNet stores beside an operator's parameters. */
static int is_attribute(const char *key) {
    size_t n = strlen(key);
    return n >= 4 && memcmp(key, "__", 2) == 0 && memcmp(key + n - 2, "__", 2) == 0;
}

/* 1 if one of the first n keys names p. */
static int is_given(const mxc_param *p, int n, const char *const *keys) {
    for (int i = 0; i < n; i++)
        if (strcmp(p->name, keys[i]) == 0 || (p->alias && strcmp(p->alias, keys[i]) == 0))
            return 1;
    return 0;
}

/* Defaults are given as text and parsed like values, so a schema cannot have a default that it would refuse. */
static mxc_status set_defaults(const char *owner, const mxc_param *schema, int n, const char *const *keys, void *out) {
    for (const mxc_param *p = schema; p && p->name; p++) {
        char type[256];
        if (p->initial)
            MXC_TRY(set_value(owner, p, p->initial, out));
        else if (!is_given(p, n, keys))
            return MXC_FAIL(MXC_EINVAL, "%s: parameter \"%s\" is missing (%s)", owner, p->name,
                            mxc_param_describe(p, type, sizeof type));
        else
            memset(field_of(p, out), 0, p->size);
    }
    return MXC_OK;
}

/* Unknown keys are reported before missing ones: a misspelt key is usually the cause of both. */
mxc_status mxc_params_parse(const char *owner, const mxc_param *schema, int n, const char *const *keys,
                            const char *const *values, void *out) {
    MXC_TRY(MXCI_NON_NULL(owner));
    MXC_TRY(MXCI_NON_NULL_IF(schema && schema->name != NULL, out));
    MXC_TRY(MXCI_NON_NULL_IF(n > 0, keys));
    MXC_TRY(MXCI_NON_NULL_IF(n > 0, values));
    for (int i = 0; i < n; i++)
        if (!is_attribute(keys[i]) && !find_param(schema, keys[i]))
            return refuse_key(owner, schema, keys[i]);
    MXC_TRY(set_defaults(owner, schema, n, keys, out));
    for (int i = 0; i < n; i++) {
        const mxc_param *p = is_attribute(keys[i]) ? NULL : find_param(schema, keys[i]);
        if (p && is_given(p, i, keys))
            return MXC_FAIL(MXC_EINVAL, "%s: parameter \"%s\" is given twice", owner, p->name);
        if (p)
            MXC_TRY(set_value(owner, p, values[i], out));
    }
    return MXC_OK;
}

/* ---- printing ---- */

static void add_int(mxci_line *line, int64_t value) {
    if (value == MXC_PARAM_UNSET)
        mxci_line_printf(line, "None");
    else
        mxci_line_printf(line, "%lld", (long long)value);
}

static void add_double(mxci_line *line, double value) {
    char text[40];
    mxci_line_printf(line, "%s", isnan(value) ? "None" : mxci_double_text(value, text, sizeof text));
}

/* The text before entry i of n, or with i == n after the last: "(2,3)", "(2,)", "()". */
static void add_punctuation(mxci_line *line, int i, int n) {
    if (i == n)
        mxci_line_printf(line, "%s%s", i == 0 ? "(" : i == 1 ? "," : "", ")");
    else
        mxci_line_printf(line, i == 0 ? "(" : ",");
}

static void add_tuple(mxci_line *line, const mxc_tuple *t) {
    for (int i = 0; i <= t->n; i++) {
        add_punctuation(line, i, t->n);
        if (i < t->n)
            add_int(line, t->value[i]);
    }
    if (t->n < 0)
        mxci_line_printf(line, "None");
}

static void add_floats(mxci_line *line, const mxc_floats *f) {
    for (int i = 0; i <= f->n; i++) {
        add_punctuation(line, i, f->n);
        if (i < f->n)
            add_double(line, f->value[i]);
    }
    if (f->n < 0)
        mxci_line_printf(line, "None");
}

static void add_choice(mxci_line *line, const char *choices, int i) {
    char item[64];
    mxci_line_printf(line, "%s", mxci_list_item(choices, i, item, sizeof item) ? item : "None");
}

const char *mxc_param_format(const mxc_param *param, const void *params, char *out, size_t size) {
    if (!param || !params || !out)
        return mxci_empty_text(out, size);
    const void *field = (const char *)params + param->offset;
    mxci_line line = {out, size, 0};
    int32_t number = param->type == MXC_PARAM_BOOL || param->type == MXC_PARAM_ENUM || param->type == MXC_PARAM_DTYPE
                         ? *(const int32_t *)field
                         : 0;
    if (size)
        out[0] = '\0';
    switch (param->type) {
    case MXC_PARAM_BOOL:
        mxci_line_printf(&line, number < 0 ? "None" : number ? "True" : "False");
        break;
    case MXC_PARAM_INT:
        add_int(&line, *(const int64_t *)field);
        break;
    case MXC_PARAM_FLOAT:
        if (isnan(*(const double *)field) && !param->optional)
            mxci_line_printf(&line, "nan");
        else
            add_double(&line, *(const double *)field);
        break;
    case MXC_PARAM_TUPLE:
        add_tuple(&line, field);
        break;
    case MXC_PARAM_FLOATS:
        add_floats(&line, field);
        break;
    case MXC_PARAM_ENUM:
        add_choice(&line, param->choices, number);
        break;
    case MXC_PARAM_DTYPE:
        mxci_line_printf(&line, "%s", number < 0 ? "None" : mxc_dtype_name((mxc_dtype)number));
        break;
    case MXC_PARAM_STRING:
        mxci_line_printf(&line, "%s", (const char *)field);
        break;
    case MXC_PARAM_NONE:
        break;
    }
    return out;
}

static void add_type(mxci_line *line, const mxc_param *p) {
    static const char *const names[] = {
        [MXC_PARAM_NONE] = "nothing",  [MXC_PARAM_BOOL] = "boolean",       [MXC_PARAM_INT] = "int",
        [MXC_PARAM_FLOAT] = "float",   [MXC_PARAM_TUPLE] = "tuple of int", [MXC_PARAM_FLOATS] = "tuple of float",
        [MXC_PARAM_STRING] = "string",
    };
    if (p->type != MXC_PARAM_ENUM && p->type != MXC_PARAM_DTYPE) {
        mxci_line_printf(line, "%s%s", names[p->type], p->optional ? " or None" : "");
        return;
    }
    mxci_line_printf(line, "{%s", p->optional ? "None, " : "");
    add_choices(line, p->type == MXC_PARAM_ENUM ? p->choices : dtype_names + 1, "'");
    mxci_line_printf(line, "}");
}

const char *mxc_param_describe(const mxc_param *param, char *out, size_t size) {
    if (!param || !out)
        return mxci_empty_text(out, size);
    mxci_line line = {out, size, 0};
    int is_text = param->type == MXC_PARAM_ENUM || param->type == MXC_PARAM_DTYPE || param->type == MXC_PARAM_STRING;
    const char *quote = is_text && param->initial && !(param->optional && is_none(param->initial)) ? "'" : "";
    add_type(&line, param);
    if (param->initial)
        mxci_line_printf(&line, ", optional, default=%s%s%s", quote, param->initial, quote);
    else
        mxci_line_printf(&line, ", required");
    return out;
}
