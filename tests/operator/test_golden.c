/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators against Apache MXNet 1.9.1, whose answers to our cases lie in tests/golden/ (its make.sh makes them
 * anew). Of a case with several sets it is asked about the first. Where the answers differ by design, or MXNet has
 * none, tests/golden/differs.txt says why; every operator is in one of the two.
 */
#include "support.h"

#include <math.h>

#include "operator/driver.h"

#define GOLDEN MXC_SOURCE_DIR "/tests/golden"

enum { MAX_ELEMENTS = 600, KEY = 700, TOLERANCE = 2 /* times 1e-4: both sides round to float32 */ };

static const op_case_list *const lists[] = {
#define CASES(name) &name,
#include "operator/cases.def"
#undef CASES
};
enum { LISTS = sizeof lists / sizeof lists[0] };

static case_set *runs; /* the first set of every case that runs */
static int n_runs;

static void collect_runs(void) {
    int room = 0;
    for (int i = 0; i < LISTS; i++)
        room += lists[i]->n;
    runs = calloc((size_t)room, sizeof *runs);
    assert_non_null(runs);
    for (int i = 0; i < LISTS; i++)
        for (int j = 0; j < lists[i]->n; j++)
            if (!lists[i]->cases[j].error && !lists[i]->cases[j].infer)
                n_runs += case_set_at(&lists[i]->cases[j], 0, &runs[n_runs]);
}

/* ---- which cases ------------------------------------------------------------------------------------------------- */

static mxc_dtype dtype_for(const op_case *c) {
    static const mxc_dtype order[] = {MXC_F32, MXC_I8, MXC_I32, MXC_I64, MXC_F64, MXC_U8};
    for (int i = 0; i < 6; i++)
        if (case_runs_in(c, mxc_op_find(c->op), order[i]))
            return order[i];
    return MXC_DTYPE_UNKNOWN;
}

static int is_small(const fixture *f) {
    int64_t most = 0;
    for (int i = 0; i < f->n_in + f->n_out; i++) {
        const mxc_shape *shape = i < f->n_in ? &f->in_shape[i] : &f->out_shape[i - f->n_in];
        int64_t n = mxc_shape_size(shape);
        if (n == 0 || shape->ndim == 0) /* MXNet takes these for unknown */
            return 0;
        most = n > most ? n : most;
    }
    return most <= MAX_ELEMENTS;
}

/* Opens the fixture if the case is one to compare. */
static int open_golden(fixture *f, const op_case *c) {
    mxc_dtype dtype;
    if (c->flags & CASE_RANDOM)
        return 0;
    dtype = dtype_for(c);
    if (dtype == MXC_DTYPE_UNKNOWN)
        return 0;
    fixture_open(f, c, dtype);
    if (is_small(f))
        return 1;
    fixture_close(f);
    return 0;
}

static const char *key_of(const op_case *c, char *out) {
    snprintf(out, KEY, "%s(%s) %s%s", c->op, c->params ? c->params : "", c->in, c->flags & CASE_TRAIN ? " train" : "");
    return out;
}

/* Changes with any of the inputs. */
static double checksum(const fixture *f) {
    double sum = 0;
    for (int i = 0; i < f->n_in; i++)
        for (int64_t j = 0; j < mxc_shape_size(&f->in_shape[i]); j++)
            sum += f->in[i][j] * (double)(j % 97 + i + 1);
    return sum;
}

static int has_gradient(const fixture *f) {
    return !(f->c->flags & CASE_NO_GRADIENT) && f->n_in && mxc_op_get_def(f->op)->backward[MXC_CPU] &&
           (f->dtype == MXC_F32 || f->dtype == MXC_F64);
}

/* ---- writing the questions --------------------------------------------------------------------------------------- */

typedef struct questions {
    FILE *text;
    int64_t n, room, cases;
    mxc_ndarray **arrays;
    char **names;
} questions;

static void add_array(questions *q, const char *kind, int slot, const mxc_shape *shape, mxc_dtype dtype,
                      const double *values) {
    char name[64];
    if (q->n == q->room) {
        q->room = 2 * q->room + 64;
        q->arrays = realloc(q->arrays, (size_t)q->room * sizeof *q->arrays);
        q->names = realloc(q->names, (size_t)q->room * sizeof *q->names);
    }
    snprintf(name, sizeof name, "%lld:%s%d", (long long)q->cases, kind, slot);
    q->names[q->n] = strdup(name);
    q->arrays[q->n++] = array_of(shape, dtype, values);
}

static void add_question(questions *q, const fixture *f) {
    char key[KEY];
    for (int i = 0; i < f->n_in; i++)
        add_array(q, "in", i, &f->in_shape[i], f->in_type[i], f->in[i]);
    for (int i = 0; i < f->n_aux; i++)
        add_array(q, "aux", i, &f->aux_shape[i], f->aux_type[i], f->aux[i]);
    for (int i = 0; i < f->n_visible && has_gradient(f); i++)
        add_array(q, "head", i, &f->out_shape[i], f->out_type[i], f->out_grad[i]);
    fprintf(q->text, "%lld\t%s\t%s\t%d\t%d\t%d\t%d\t%.17g\t%s\t", (long long)q->cases, f->c->op,
            f->c->params ? f->c->params : "", f->n_in, f->n_aux, f->n_visible, (f->c->flags & CASE_TRAIN) != 0,
            checksum(f), key_of(f->c, key));
    for (int i = 0; i < f->n_in + f->n_aux; i++)
        fprintf(q->text, "%s%d", i ? "," : "", mxc_op_input_index(f->op, i));
    fprintf(q->text, "\n");
    q->cases++;
}

static void write_questions(const char *folder) {
    questions q = {0};
    test_path path;
    fixture f;
    q.text = fopen(test_join(path, folder, "cases.txt"), "w");
    assert_non_null(q.text);
    for (int i = 0; i < n_runs; i++)
        if (open_golden(&f, &runs[i].c)) {
            add_question(&q, &f);
            fixture_close(&f);
        }
    assert_int_equal(fclose(q.text), 0);
    assert_ok(mxc_ndarray_save(test_join(path, folder, "inputs.params"), q.n, q.arrays, (const char *const *)q.names));
    for (int64_t i = 0; i < q.n; i++) {
        mxc_ndarray_release(q.arrays[i]);
        free(q.names[i]);
    }
    free(q.arrays);
    free(q.names);
}

/* ---- comparing the answers --------------------------------------------------------------------------------------- */

typedef struct answers {
    mxc_ndarray_list arrays;
    char *index, *differs; /* the two text files */
    int compared, outputs, gradients, wrong;
} answers;

/* The line of text that begins with key and a separator; what follows it, or NULL. */
static const char *find_line(const char *text, const char *key, char separator) {
    size_t n = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (!strncmp(line, key, n) && line[n] == separator)
            return line + n + 1;
    }
    return NULL;
}

static mxc_ndarray *find_array(const answers *a, long long number, const char *kind, int slot) {
    char name[64];
    snprintf(name, sizeof name, "%lld:%s%d", number, kind, slot);
    return mxc_ndarray_list_find(&a->arrays, name);
}

/* Says where they differ; all cases are looked at before the test fails. */
static void compare(answers *a, const fixture *f, const char *what, int slot, mxc_ndarray *found, mxc_ndarray *golden) {
    int64_t n = mxc_ndarray_size(golden);
    double *x, *y, limit = 1e-4 * TOLERANCE * (f->c->tolerance > 1 ? f->c->tolerance : 1);
    limit = mxc_ndarray_dtype(found) == MXC_F16 ? 2e-3 : limit;
    char key[KEY];
    if (mxc_ndarray_size(found) != n) {
        print_error("%s: %s %d: found %lld elements, MXNet has %lld\n", key_of(f->c, key), what, slot,
                    (long long)mxc_ndarray_size(found), (long long)n);
        a->wrong++;
        return;
    }
    x = values_of(found);
    y = values_of(golden);
    for (int64_t i = 0; i < n; i++)
        if (!(x[i] == y[i] || fabs(x[i] - y[i]) <= limit * (1 + fabs(y[i])) || (isnan(x[i]) && isnan(y[i])))) {
            print_error("%s: %s %d, element %lld: found %.8g, MXNet has %.8g\n", key_of(f->c, key), what, slot,
                        (long long)i, x[i], y[i]);
            a->wrong++;
            break;
        }
    free(x);
    free(y);
}

static void compare_gradients(answers *a, const fixture *f, long long number, mxc_ndarray **in, mxc_ndarray **out) {
    mxc_ndarray *head[CASE_SLOTS] = {0}, *grad[CASE_SLOTS] = {0};
    for (int i = 0; i < f->n_out; i++) {
        if (i >= f->n_visible)
            memset(f->out_grad[i], 0, (size_t)mxc_shape_size(&f->out_shape[i]) * sizeof(double));
        head[i] = array_of(&f->out_shape[i], f->out_type[i], f->out_grad[i]);
    }
    for (int i = 0; i < f->n_in; i++)
        grad[i] = array_of(&f->in_shape[i], f->in_type[i], f->in[i]);
    assert_ok(mxc_op_invoke_backward(f->op, head, in, out, grad, NULL));
    for (int i = 0; i < f->n_in; i++) {
        mxc_ndarray *golden = find_array(a, number, "grad", i);
        if (golden && !mxc_need_has(f->c->constant, i)) {
            compare(a, f, "gradient", i, grad[i], golden);
            a->gradients++;
        }
        mxc_ndarray_release(grad[i]);
    }
    for (int i = 0; i < f->n_out; i++)
        mxc_ndarray_release(head[i]);
}

static void compare_case(answers *a, const fixture *f, long long number) {
    mxc_ndarray *in[2 * CASE_SLOTS], *out[CASE_SLOTS] = {0};
    for (int i = 0; i < f->n_in + f->n_aux; i++)
        in[i] = i < f->n_in ? array_of(&f->in_shape[i], f->in_type[i], f->in[i])
                            : array_of(&f->aux_shape[i - f->n_in], f->aux_type[i - f->n_in], f->aux[i - f->n_in]);
    mxc_ndarray *ordered[2 * CASE_SLOTS];
    for (int i = 0; i < f->n_in + f->n_aux; i++)
        ordered[i] = in[mxc_op_input_index(f->op, i)];
    assert_ok(mxc_op_invoke(f->op, f->n_in + f->n_aux, ordered, f->n_out, out, NULL, f->sig.is_train));
    for (int i = 0; i < f->n_visible; i++) {
        mxc_ndarray *golden = find_array(a, number, "out", i);
        assert_non_null(golden);
        compare(a, f, "output", i, out[i], golden);
        a->outputs++;
    }
    if (has_gradient(f) && find_array(a, number, "grad", 0))
        compare_gradients(a, f, number, in, out);
    for (int i = 0; i < f->n_in + f->n_aux; i++)
        mxc_ndarray_release(in[i]);
    for (int i = 0; i < f->n_out; i++)
        mxc_ndarray_release(out[i]);
    a->compared++;
}

static void check_golden(answers *a, const op_case *c) {
    char key[KEY];
    const char *line = find_line(a->index, key_of(c, key), '\t');
    long long number;
    double sum;
    fixture f;
    if (!line || find_line(a->differs, c->op, ':') || find_line(a->differs, key, ':') || !open_golden(&f, c))
        return;
    assert_int_equal(sscanf(line, "%lld\t%lf", &number, &sum), 2);
    if (fabs(sum - checksum(&f)) > 1e-6 * (1 + fabs(sum)))
        fail_msg("%s: its inputs have changed: run tests/golden/make.sh again", key);
    compare_case(a, &f, number);
    fixture_close(&f);
}

static void read_answers(answers *a) {
    a->index = test_read_file(GOLDEN "/cases.txt", NULL);
    a->differs = test_read_file(GOLDEN "/differs.txt", NULL);
    assert_non_null(a->index);
    assert_non_null(a->differs);
    assert_ok(mxc_ndarray_load(GOLDEN "/golden.params", &a->arrays));
}

static void test_as_mxnet(void **state) {
    const char *folder = getenv("LIBMXC_GOLDEN_QUESTIONS");
    answers a = {0};
    (void)state;
    if (folder) { /* for make.sh */
        write_questions(folder);
        return;
    }
    read_answers(&a);
    for (int i = 0; i < n_runs; i++)
        check_golden(&a, &runs[i].c);
    print_message("%d cases, %d outputs, %d gradients compared\n", a.compared, a.outputs, a.gradients);
    mxc_ndarray_list_release(&a.arrays);
    free(a.index);
    free(a.differs);
    assert_int_equal(a.wrong, 0);
    assert_true(a.compared > 900);
}

/* 1 if the line begins with the name of an operator or of a case, and a colon. */
static int names_something(const char *line) {
    char key[KEY];
    for (int i = 0; i < mxc_op_count(); i++)
        if (find_line(line, mxc_op_at(i)->name, ':') == line + strlen(mxc_op_at(i)->name) + 1)
            return 1;
    for (int i = 0; i < n_runs; i++)
        if (find_line(line, key_of(&runs[i].c, key), ':') == line + strlen(key) + 1)
            return 1;
    return 0;
}

/* No line of differs.txt may outlive what it is about. */
static void test_differs(void **state) {
    char *text = test_read_file(GOLDEN "/differs.txt", NULL);
    int stale = 0;
    (void)state;
    assert_non_null(text);
    for (char *save = NULL, *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        if (strncmp(line, "--", 2) && !names_something(line)) {
            print_error("tests/golden/differs.txt: about nothing: %s\n", line);
            stale++;
        }
    free(text);
    assert_int_equal(stale, 0);
}

static int has_answer(const answers *a, const mxc_op_def *def) {
    char key[KEY];
    for (int i = 0; i < n_runs; i++)
        if (mxc_op_find(runs[i].c.op) == def && find_line(a->index, key_of(&runs[i].c, key), '\t'))
            return 1;
    return 0;
}

static void test_every_operator(void **state) {
    answers a = {0};
    int missing = 0;
    (void)state;
    if (getenv("LIBMXC_GOLDEN_QUESTIONS"))
        return;
    read_answers(&a);
    for (int i = 0; i < mxc_op_count(); i++) {
        const mxc_op_def *def = mxc_op_at(i);
        int differs = find_line(a.differs, def->name, ':') != NULL;
        if (!(def->flags & MXC_OP_HIDDEN) && !differs && !has_answer(&a, def)) {
            print_error("%s: has no answer of MXNet's, and tests/golden/differs.txt does not say why\n", def->name);
            missing++;
        }
    }
    mxc_ndarray_list_release(&a.arrays);
    free(a.index);
    free(a.differs);
    assert_int_equal(missing, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_mxnet),
        cmocka_unit_test(test_every_operator),
        cmocka_unit_test(test_differs),
    };
    int failed;
    if (case_register_ops() != MXC_OK)
        return 1;
    collect_runs();
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(runs);
    return failed;
}
