/* SPDX-License-Identifier: Apache-2.0 */
/* Every operator: all cases of cases.def, and what must hold of each without a case of its own. With the name of a
 * context, the cases run there; with more names, only those lists of cases. A list named as "linalg_dot_cases:7" begins
 * with its seventh case, and prints each one before it runs, so that a script can go on behind one that fails. */
#include "support.h"

#include "operator/driver.h"

static const op_case_list *const lists[] = {
#define CASES(name) &name,
#include "operator/cases.def"
#undef CASES
};
enum { LISTS = sizeof lists / sizeof lists[0] };

typedef struct chosen_list {
    const op_case_list *list;
    int first; /* case, counted from 1; 0: all, untold */
} chosen_list;

static void test_cases(void **state) {
    const chosen_list *chosen = *state;
    const op_case_list *list = chosen->list;
    for (int i = chosen->first ? chosen->first - 1 : 0; i < list->n; i++) {
        if (chosen->first) {
            printf("case %d: %s%s\n", i + 1, list->cases[i].op, i + 1 == list->n ? " (last)" : "");
            fflush(stdout);
        }
        check_case(&list->cases[i]);
    }
}

static int runs(const op_case *c, const mxc_op_def *def) {
    return !c->error && !c->infer && mxc_op_find(c->op) == def;
}

static const op_case *find_run(const mxc_op_def *def) {
    for (int i = 0; i < LISTS; i++)
        for (int j = 0; j < lists[i]->n; j++)
            if (runs(&lists[i]->cases[j], def))
                return &lists[i]->cases[j];
    return NULL;
}

/* ---- how many runs ----------------------------------------------------------------------------------------------- */

enum { FEWEST_RUNS = 20 };

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

typedef struct texts {
    int n, room;
    char **text;
} texts;

static void add_sets(texts *t, const op_case *c) {
    case_set set;
    for (int i = 0; case_set_at(c, i, &set); i++) {
        char text[sizeof set.params + sizeof set.in + 4];
        snprintf(text, sizeof text, "%s|%s|%d", set.c.params, set.c.in, (set.c.flags & CASE_TRAIN) != 0);
        if (t->n == t->room)
            t->text = realloc(t->text, (size_t)(t->room = 2 * t->room + 64) * sizeof *t->text);
        assert_non_null(t->text);
        t->text[t->n++] = strdup(text);
    }
}

/* Runs of an operator that differ in parameters, inputs or training. */
static int count_runs(const mxc_op_def *def) {
    texts t = {0};
    int distinct = 0;
    for (int i = 0; i < LISTS; i++)
        for (int j = 0; j < lists[i]->n; j++)
            if (runs(&lists[i]->cases[j], def))
                add_sets(&t, &lists[i]->cases[j]);
    if (t.n)
        qsort(t.text, (size_t)t.n, sizeof *t.text, compare_texts);
    for (int i = 0; i < t.n; i++)
        distinct += i == 0 || strcmp(t.text[i - 1], t.text[i]) != 0;
    for (int i = 0; i < t.n; i++)
        free(t.text[i]);
    free(t.text);
    return distinct;
}

/* Those with subgraphs are tested in tests/executor/test_control_flow.c. */
static void test_every_operator_has_cases(void **state) {
    int missing = 0;
    (void)state;
    assert_true(mxc_op_count() > 0);
    for (int i = 0; i < mxc_op_count(); i++) {
        const mxc_op_def *def = mxc_op_at(i);
        int found = count_runs(def);
        if (!(def->flags & MXC_OP_HIDDEN) && def->n_subgraphs == 0 && found < FEWEST_RUNS) {
            print_error("%s: %d different runs in tests/operator/*/*_cases.c, expected at least %d\n", def->name, found,
                        FEWEST_RUNS);
            missing++;
        }
    }
    assert_int_equal(missing, 0);
}

/* ---- what must hold of each -------------------------------------------------------------------------------------- */

static void expect_message(const mxc_op_def *def, mxc_status found, mxc_status expected, const char *text) {
    if (found != expected || !strstr(mxc_last_error(), def->name) || !strstr(mxc_last_error(), text))
        fail_msg("%s: returned %s \"%s\", expected %s, the name and \"%s\"", def->name, mxc_status_name(found),
                 mxc_last_error(), mxc_status_name(expected), text);
}

/* Mistakes that every operator must answer with its name. */
static void test_misuse(void **state) {
    static const char *key = "no_such_parameter", *value = "1";
    (void)state;
    for (int i = 0; i < mxc_op_count(); i++) {
        const mxc_op_def *def = mxc_op_at(i);
        const op_case *c = find_run(def);
        case_set set;
        mxc_ndarray *in[2 * CASE_SLOTS + 1], *out[CASE_SLOTS] = {0};
        int64_t dims[1] = {2};
        case_params params;
        mxc_op *op;
        if (!c)
            continue;
        expect_message(def, mxc_op_create(def->name, 1, &key, &value, &op), MXC_EINVAL, "no_such_parameter");
        case_set_at(c, 0, &set);
        case_parse_params(set.params, &params);
        assert_ok(mxc_op_create(def->name, params.n, params.keys, params.values, &op));
        def = mxc_op_get_def(op); /* another one for Custom */
        assert_ok(mxc_ndarray_create(1, dims, MXC_BOOL, mxc_cpu(0), &in[0]));
        for (int k = 1; k <= 2 * CASE_SLOTS; k++)
            in[k] = in[0];
        int n = mxc_op_n_args(op) + mxc_op_n_aux(op), n_out = mxc_op_n_visible(op);
        expect_message(def, mxc_op_invoke(op, n + 1, in, n_out, out, NULL, 0), MXC_EINVAL, "expected");
        if (n && !(def->dtypes & MXC_DTYPE_BIT(MXC_BOOL)))
            expect_message(def, mxc_op_invoke(op, n, in, n_out, out, NULL, 0), MXC_EDTYPE, "bool");
        mxc_op_release(op);
        mxc_ndarray_release(in[0]);
    }
}

/* The words stand in the text behind its first line, in lines of their own. */
static void expect_words(const char *text, const char *words) {
    const char *at = strstr(text, "\n\n");
    assert_non_null(at);
    for (at += 2; *words; words++, at++)
        if (*words != *at && !(*words == ' ' && *at == '\n'))
            fail_msg("found \"%.60s\", expected \"%s\"", at, words);
}

static void test_described(void **state) {
    (void)state;
    for (int i = 0; i < mxc_op_count(); i++) {
        const mxc_op_def *def = mxc_op_at(i);
        char *text;
        assert_ok(mxc_op_describe(def->name, &text));
        assert_non_null(def->doc);
        expect_words(text, def->doc);
        for (const mxc_param *p = def->params; p && p->name; p++) {
            assert_non_null(strstr(text, p->name));
            if (!p->doc)
                fail_msg("%s: parameter %s has no documentation", def->name, p->name);
        }
        mxc_free(text);
    }
}

/* 0: it is not among the arguments, which name some. */
static int is_chosen(const char *name, int argc, char **argv, int *first) {
    size_t length = strlen(name);
    *first = 0;
    for (int i = 2; i < argc; i++)
        if (!strncmp(argv[i], name, length) && (!argv[i][length] || argv[i][length] == ':')) {
            *first = argv[i][length] ? atoi(argv[i] + length + 1) : 0;
            return 1;
        }
    return argc <= 2;
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_operator_has_cases),
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_described),
    };
    struct CMUnitTest cases[LISTS];
    chosen_list chosen[LISTS];
    int failed = case_register_ops() != MXC_OK ||
                 (argc > 1 ? mxc_context_parse(argv[1], &case_context) : cmocka_run_group_tests(tests, NULL, NULL));
    int n = 0;
    for (int i = 0; i < LISTS; i++)
        if (is_chosen(lists[i]->name, argc, argv, &chosen[i].first)) {
            chosen[i].list = lists[i];
            cases[n++] = (struct CMUnitTest){lists[i]->name, test_cases, NULL, NULL, &chosen[i]};
        }
    return failed + _cmocka_run_group_tests("cases", cases, (size_t)n, NULL, NULL);
}
