/* The small notation of operator cases: parameters, inputs, shapes. A malformed case fails the test that runs it. */
#include "support.h"

#include "operator/driver.h"

void case_parse_params(const char *text, case_params *out) {
    char *at = out->text;
    out->n = 0;
    snprintf(out->text, sizeof out->text, "%s", text ? text : "");
    for (char *word = strtok(at, " "); word; word = strtok(NULL, " ")) {
        char *equals = strchr(word, '=');
        assert_non_null(equals);
        assert_true(out->n < CASE_PARAMS);
        *equals = '\0';
        out->keys[out->n] = word;
        out->values[out->n++] = equals + 1;
    }
}

/* "2x3", "s", "?", "2x?" up to a blank, comma or @. */
static void parse_shape(const char **at, mxc_shape *out) {
    char *end;
    *out = (mxc_shape){.ndim = 0};
    if (**at == 's') {
        (*at)++;
        return;
    }
    for (;;) {
        assert_true(out->ndim < MXC_MAX_NDIM);
        if (**at == '?') {
            out->dim[out->ndim++] = -1;
            (*at)++;
        } else {
            out->dim[out->ndim++] = strtoll(*at, &end, 10);
            assert_true(end != *at);
            *at = end;
        }
        if (**at != 'x')
            break;
        (*at)++;
    }
    if (out->ndim == 1 && out->dim[0] < 0)
        out->ndim = -1; /* "?" alone */
}

int case_parse_inputs(const char *text, case_input *out) {
    int n = 0;
    char *end;
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        assert_true(n < CASE_SLOTS);
        case_input *in = &out[n++];
        *in = (case_input){.low = -1, .high = 1};
        parse_shape(&text, &in->shape);
        if (*text == '@') {
            in->low = strtod(text + 1, &end);
            assert_int_equal(*end, ':');
            in->high = strtod(end + 1, &end);
            in->whole = *end == 'i';
            text = end + in->whole;
        }
        assert_true(*text == ' ' || *text == '\0');
    }
    return n;
}

int case_parse_shapes(const char **at, mxc_shape *out) {
    int n = 0;
    for (;;) {
        *at += strspn(*at, " ,");
        if (**at == '\0')
            return n;
        if ((*at)[1] == '>') {
            *at += 2;
            return n;
        }
        assert_true(n < 2 * CASE_SLOTS);
        parse_shape(at, &out[n++]);
    }
}

/* ---- for references ---------------------------------------------------------------------------------------------- */

/* The text behind "key=" up to a blank, in out; NULL if the key is not given. References ask often, so it is quick. */
static const char *find_value(const char *params, const char *key, char *out, size_t size) {
    size_t length = strlen(key), n;
    for (; *params; params += strspn(params, " ")) {
        n = strcspn(params, " ");
        if (n > length && params[length] == '=' && !memcmp(params, key, length)) {
            n -= length + 1;
            assert_true(n < size);
            memcpy(out, params + length + 1, n);
            out[n] = '\0';
            return out;
        }
        params += n;
    }
    return NULL;
}

double case_number(const op_run *run, const char *key, double initial) {
    char text[64];
    const char *value = find_value(run->params, key, text, sizeof text);
    if (value && (!strcmp(value, "true") || !strcmp(value, "True")))
        return 1;
    return value && strcmp(value, "None") ? strtod(value, NULL) : initial;
}

int case_is(const op_run *run, const char *key, const char *expected) {
    char text[64];
    const char *value = find_value(run->params, key, text, sizeof text);
    return value && !strcmp(value, expected);
}

mxc_tuple case_tuple(const op_run *run, const char *key) {
    const mxc_param schema[] = {
        {.name = key, .type = MXC_PARAM_TUPLE, .size = sizeof(mxc_tuple), .initial = "()", .optional = 1},
        MXC_PARAM_END};
    char text[256];
    mxc_tuple tuple = {0};
    const char *value = find_value(run->params, key, text, sizeof text);
    assert_ok(mxc_params_parse("case", schema, value != NULL, &key, &value, &tuple));
    return tuple;
}

int64_t case_size(const mxc_shape *shape) {
    return mxc_shape_size(shape);
}
