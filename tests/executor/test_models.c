/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Models that others trained: each under the test data's models/ with expected outputs is loaded, bound, run, and
 * compared (rtol 1e-3, atol 1e-4). A model with an operator that the registry lacks must be refused by that operator's
 * name. Where the data is absent the test is skipped.
 */
#include <glob.h>
#include <math.h>

#include "support.h"

#include <mxc/executor.h>

enum { MAX_INPUTS = 8 };

typedef struct inputs {
    int n;
    char names[MAX_INPUTS][128];
    mxc_ndarray *arrays[MAX_INPUTS];
} inputs;

static glob_t find(const char *folder, const char *pattern) {
    test_path path;
    glob_t found;
    if (glob(test_join(path, folder, pattern), 0, NULL, &found) != 0)
        found.gl_pathc = 0;
    return found;
}

/* expected/in-<name>.npy */
static inputs load_inputs(const char *folder) {
    glob_t files = find(folder, "expected/in-*.npy");
    inputs in = {0};
    assert_in_range(files.gl_pathc, 1, MAX_INPUTS);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        const char *name = strrchr(files.gl_pathv[i], '/') + strlen("/in-");
        snprintf(in.names[i], sizeof in.names[i], "%.*s", (int)(strlen(name) - strlen(".npy")), name);
        assert_ok(mxc_ndarray_load_npy(files.gl_pathv[i], &in.arrays[i]));
    }
    in.n = (int)files.gl_pathc;
    globfree(&files);
    return in;
}

static mxc_executor *bind(mxc_symbol *symbol, const inputs *in) {
    const char *names[MAX_INPUTS];
    mxc_shape shapes[MAX_INPUTS];
    mxc_executor *executor;
    for (int i = 0; i < in->n; i++) {
        names[i] = in->names[i];
        shapes[i] = *mxc_ndarray_shape(in->arrays[i]);
    }
    const mxc_bind_spec spec = {.size = sizeof spec, .n = in->n, .names = names, .shapes = shapes};
    assert_ok(mxc_executor_simple_bind(symbol, NULL, &spec, &executor));
    for (int i = 0; i < in->n; i++)
        assert_ok(mxc_ndarray_copy_to(in->arrays[i], mxc_executor_find_arg(executor, in->names[i]), 0));
    return executor;
}

/* Names are "arg:x" and "aux:x", or plain where an exporter left that out. */
static void load_params(mxc_executor *executor, const char *folder) {
    glob_t files = find(folder, "*.params");
    mxc_ndarray_list params;
    assert_int_equal(files.gl_pathc, 1);
    assert_ok(mxc_ndarray_load(files.gl_pathv[0], &params));
    for (int64_t i = 0; i < params.n; i++) {
        const char *name = params.names[i], *colon = strchr(name, ':');
        mxc_ndarray *to = mxc_executor_find_arg(executor, colon ? colon + 1 : name);
        if (!to)
            to = mxc_executor_find_aux(executor, colon ? colon + 1 : name);
        assert_non_null(to);
        assert_ok(mxc_ndarray_copy_to(params.arrays[i], to, 0));
    }
    mxc_ndarray_list_release(&params);
    globfree(&files);
}

static void compare(const char *path, mxc_ndarray *found) {
    mxc_ndarray *expected;
    void *e, *f;
    assert_ok(mxc_ndarray_load_npy(path, &expected));
    assert_int_equal(mxc_ndarray_size(expected), mxc_ndarray_size(found));
    assert_ok(mxc_ndarray_data(expected, &e));
    assert_ok(mxc_ndarray_data(found, &f));
    for (int64_t i = 0; i < mxc_ndarray_size(found); i++) {
        double want = ((const float *)e)[i], have = ((const float *)f)[i];
        if (!(fabs(want - have) <= 1e-4 + 1e-3 * fabs(want)))
            fail_msg("%s: element %lld is %.9g, expected %.9g", path, (long long)i, have, want);
    }
    mxc_ndarray_release(expected);
}

static void run_and_compare(mxc_executor *executor, const char *folder) {
    glob_t files = find(folder, "expected/out*.npy");
    assert_true(files.gl_pathc > 0);
    assert_ok(mxc_executor_forward(executor, 0));
    for (size_t i = 0; i < files.gl_pathc; i++) {
        int output = atoi(strrchr(files.gl_pathv[i], '/') + strlen("/out"));
        compare(files.gl_pathv[i], mxc_executor_output(executor, output));
    }
    globfree(&files);
}

/* The refusal must quote an operator that is not registered. */
static void check_refusal(void) {
    char name[128] = "";
    const char *quote = strpbrk(mxc_last_error(), "'\"");
    while (quote) {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(quote + 1, "'\""), quote + 1);
        if (strstr(mxc_last_error(), "operator") && !mxc_op_find(name))
            return;
        quote = strpbrk(quote + 1, "'\"");
    }
    fail_msg("refusal names no operator that is absent: %s", mxc_last_error());
}

/* 1 if the model ran. */
static int try_model(const char *folder, const char *json) {
    mxc_symbol *symbol;
    mxc_status status = mxc_symbol_load(json, &symbol);
    if (status == MXC_ENOTFOUND) {
        check_refusal();
        print_message("refused: %s\n", mxc_last_error());
        return 0;
    }
    assert_ok(status);
    inputs in = load_inputs(folder);
    mxc_executor *executor = bind(symbol, &in);
    load_params(executor, folder);
    run_and_compare(executor, folder);
    mxc_executor_destroy(executor);
    for (int i = 0; i < in.n; i++)
        mxc_ndarray_release(in.arrays[i]);
    mxc_symbol_release(symbol);
    return 1;
}

static void test_models(void **state) {
    test_path data;
    glob_t models;
    int ran = 0;
    (void)state;
    if (!test_data(data, "models"))
        skip();
    models = find(data, "*/expected");
    for (size_t i = 0; i < models.gl_pathc; i++) {
        char folder[1024];
        snprintf(folder, sizeof folder, "%.*s", (int)(strlen(models.gl_pathv[i]) - strlen("/expected")),
                 models.gl_pathv[i]);
        glob_t json = find(folder, "*-symbol.json");
        assert_int_equal(json.gl_pathc, 1);
        ran += try_model(folder, json.gl_pathv[0]);
        globfree(&json);
    }
    globfree(&models);
    assert_true(ran >= 12); /* all that there are */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_models)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
