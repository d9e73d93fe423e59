/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every operator of Apache MXNet 1.9.1 takes every parameter at MXNet's default, in the spelling of MXNet's files, and
 * means by a default what it means without it; or its name is refused with a reason. tests/golden/defaults.txt has
 * MXNet's parameters (tests/golden/make.sh makes it anew).
 */
#include "support.h"

#include <math.h>

#include "operator/op.h"
#include "operator/registry.h"

enum { LINE = 4096, FIELDS = 64 };

typedef struct settings {
    int n, n_required;
    const char *keys[FIELDS], *values[FIELDS]; /* the required ones first */
} settings;

/* Fields of a line after the operator's name: "key=value", or "!key=value" where MXNet requires one. */
static void split(char *fields, settings *out) {
    const char *keys[FIELDS], *values[FIELDS];
    int n = 0;
    *out = (settings){0};
    for (char *field = strtok(fields, "\t"); field; field = strtok(NULL, "\t")) {
        char *value = strchr(field, '=');
        assert_non_null(value);
        assert_true(n < FIELDS && out->n_required < FIELDS);
        *value++ = '\0';
        if (*field == '!') {
            out->keys[out->n_required] = field + 1;
            out->values[out->n_required++] = value;
        } else {
            keys[n] = field;
            values[n++] = value;
        }
    }
    out->n = out->n_required + n;
    assert_true(out->n <= FIELDS);
    memcpy(out->keys + out->n_required, keys, (size_t)n * sizeof *keys);
    memcpy(out->values + out->n_required, values, (size_t)n * sizeof *values);
}

/* Of tuples, none is the same as an empty one: all axes, an unknown shape. */
static const char *format(const mxc_param *p, const mxc_op *op, char *out, size_t size) {
    mxc_param_format(p, mxc_op_params(op), out, size);
    return p->type == MXC_PARAM_TUPLE && strcmp(out, "None") == 0 ? "()" : out;
}

/* Whether a parameter has the same value in both; MXNet's texts of floats have float's digits. */
static int equal(const mxc_param *p, const mxc_op *a, const mxc_op *b) {
    char text_a[512], text_b[512];
    if (p->type == MXC_PARAM_FLOAT) {
        double x, y;
        memcpy(&x, (const char *)mxc_op_params(a) + p->offset, sizeof x);
        memcpy(&y, (const char *)mxc_op_params(b) + p->offset, sizeof y);
        return (isnan(x) && isnan(y)) || fabs(x - y) <= 1e-6 * fabs(y);
    }
    return strcmp(format(p, a, text_a, sizeof text_a), format(p, b, text_b, sizeof text_b)) == 0;
}

/* Number of defects of one operator, each printed. */
static int check(const char *name, const settings *s) {
    const mxc_op_def *def = mxc_op_find(name);
    char reason[512];
    mxc_op *with = NULL, *without = NULL;
    int defects = 0;
    if (!def) {
        mxci_registry_suggest(name, reason, sizeof reason);
        if (strncmp(reason, ": ", 2) == 0 || strncmp(name, "_sg_", 4) == 0) /* expanded as a graph is read */
            return 0;
        print_message("%s: neither supported nor refused with a reason\n", name);
        return 1;
    }
    if (def->n_subgraphs || def == &mxci_op_custom) /* their parameters are the program's */
        return 0;
    if (mxc_op_create(name, s->n, s->keys, s->values, &with) != MXC_OK ||
        mxc_op_create(name, s->n_required, s->keys, s->values, &without) != MXC_OK) {
        print_message("%s: %s\n", name, mxc_last_error());
        defects = 1;
    }
    for (const mxc_param *p = def->params; with && without && p && p->name; p++) {
        char text[2][512];
        if (equal(p, with, without))
            continue;
        print_message("%s: %s is %s with MXNet's default and %s without\n", name, p->name,
                      format(p, with, text[0], sizeof text[0]), format(p, without, text[1], sizeof text[1]));
        defects++;
    }
    mxc_op_release(with);
    mxc_op_release(without);
    return defects;
}

static void test_defaults_of_mxnet(void **state) {
    FILE *file = fopen(MXC_SOURCE_DIR "/tests/golden/defaults.txt", "r");
    char line[LINE];
    int n = 0, defects = 0;
    (void)state;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        settings s;
        line[strcspn(line, "\n")] = '\0';
        char *fields = line + strcspn(line, "\t");
        if (*fields)
            *fields++ = '\0';
        split(fields, &s);
        defects += check(line, &s);
        n++;
    }
    fclose(file);
    assert_true(n > 400);
    assert_int_equal(defects, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_defaults_of_mxnet)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
