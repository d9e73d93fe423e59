/* SPDX-License-Identifier: Apache-2.0 */
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
            end += in->whole;
            in->nan = *end == 'n';
            end += in->nan;
            in->infinite = *end == 'f';
            text = end + in->infinite;
        }
        assert_true(*text == ' ' || *text == '\0');
    }
    return n;
}

/* ---- sets -------------------------------------------------------------------------------------------------------- */

/* Piece i of a text cut at each ";", without the blanks before it; returns how many pieces there are. */
static int piece_of(const char *text, int i, char *out, size_t size) {
    int n = 0;
    for (text = text ? text : "";; text++) {
        size_t length = strcspn(text += strspn(text, " "), ";");
        if (n++ == i) {
            assert_true(length < size);
            memcpy(out, text, length);
            out[length] = '\0';
        }
        text += length;
        if (!*text)
            return n;
    }
}

/* Gives each input of a set that has no range the range of its place in the first set. */
static void give_ranges(const char *first, const char *set, char *out, size_t size) {
    size_t used = 0;
    out[0] = '\0';
    for (set += strspn(set, " "); *set; set += strspn(set, " ")) {
        size_t length = strcspn(set, " "), model = strcspn(first += strspn(first, " "), " ");
        const char *range = memchr(first, '@', model);
        int missing = range && !memchr(set, '@', length);
        used += (size_t)snprintf(out + used, size - used, "%s%.*s%.*s", used ? " " : "", (int)length, set,
                                 missing ? (int)(first + model - range) : 0, missing ? range : "");
        assert_true(used < size);
        set += length;
        first += model;
    }
}

int case_set_at(const op_case *c, int i, case_set *out) {
    char first[sizeof out->in], set[sizeof out->in];
    case_input inputs[CASE_SLOTS];
    int n_in = piece_of(c->in, 0, first, sizeof first);
    out->c = *c;
    if (c->error || c->infer)
        return i == 0;
    if (i / n_in >= piece_of(c->params, i / n_in, out->params, sizeof out->params))
        return 0;
    piece_of(c->in, i % n_in, set, sizeof set);
    give_ranges(first, set, out->in, sizeof out->in);
    out->c.params = out->params;
    out->c.in = out->in;
    for (int k = case_parse_inputs(out->in, inputs) - 1; k >= 0; k--)
        if (inputs[k].nan || inputs[k].infinite)
            out->c.flags |= CASE_FLOAT_ONLY;
    return 1;
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

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
        MXC_PARAM_END,
    };
    char text[256];
    mxc_tuple tuple = {0};
    const char *value = find_value(run->params, key, text, sizeof text);
    assert_ok(mxc_params_parse("case", schema, value != NULL, &key, &value, &tuple));
    return tuple;
}

double case_entry(const op_run *run, const char *key, int i, double initial) {
    const char *at = strstr(run->params, key);
    at = at ? strchr(at, '(') : NULL;
    for (; at && i > 0; i--)
        at = strchr(at + 1, ',');
    return at ? strtod(at + 1, NULL) : initial;
}

int64_t case_size(const mxc_shape *shape) {
    return mxc_shape_size(shape);
}

int64_t case_last_dim(const mxc_shape *shape) {
    return shape->dim[shape->ndim - 1];
}

void case_copy(const op_run *run) {
    for (int64_t i = 0; i < case_size(&run->out_shape[0]); i++)
        run->out[0][i] = run->in[0][i];
}

void case_zero_gradient(const op_run *run) {
    (void)run; /* in_grad is zero already */
}

void case_indices(const mxc_shape *s, int64_t i, int64_t *index) {
    for (int axis = s->ndim - 1; axis >= 0; axis--) {
        index[axis] = i % s->dim[axis];
        i /= s->dim[axis];
    }
}

int64_t case_element(const mxc_shape *s, const int64_t *index) {
    int64_t at = 0;
    for (int axis = 0; axis < s->ndim; axis++)
        at = at * s->dim[axis] + index[axis];
    return at;
}
