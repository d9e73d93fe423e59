/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbol files of real models, from the test data (skipped where that is absent). A file either loads, or is refused
 * for an operator that the registry really lacks. What loads must come back from our writer as it was, and infer.
 */
#include <glob.h>

#include "ops.h"

#include "base/sys.h"
#include "symbol/graph.h"

static glob_t find_files(const char *folder, const char *pattern) {
    test_path path;
    glob_t found;
    if (glob(test_join(path, folder, pattern), 0, NULL, &found) != 0)
        found.gl_pathc = 0;
    return found;
}

static int compare_pairs(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Keys in order: files keep them sorted, symbols as they were given. */
static void sort_pairs(mxc_names *pairs) {
    qsort(pairs->items, (size_t)pairs->n / 2, 2 * sizeof(char *), compare_pairs);
}

static void names_equal(mxc_names *a, mxc_names *b) {
    assert_int_equal(a->n, b->n);
    for (int64_t i = 0; i < a->n; i++)
        assert_string_equal(a->items[i], b->items[i]);
    mxc_names_release(a);
    mxc_names_release(b);
}

/* Both ways again gives the same names, parameters, attributes and text. */
static void check_round_trip(const mxc_symbol *symbol) {
    mxc_symbol *again;
    mxc_names a, b;
    char *json, *json2;
    assert_ok(mxc_symbol_to_json(symbol, &json));
    assert_ok(mxc_symbol_from_json(json, strlen(json), &again));
    assert_ok(mxc_symbol_to_json(again, &json2));
    assert_string_equal(json, json2);
    assert_ok(mxc_symbol_list_arguments(symbol, &a));
    assert_ok(mxc_symbol_list_arguments(again, &b));
    names_equal(&a, &b);
    assert_ok(mxc_symbol_list_attrs(symbol, 1, &a));
    assert_ok(mxc_symbol_list_attrs(again, 1, &b));
    sort_pairs(&a);
    sort_pairs(&b);
    names_equal(&a, &b);
    mxci_free(json);
    mxci_free(json2);
    mxc_symbol_release(again);
}

/* Shape of the variable "data" that suits the file. */
static mxc_shape shape_for(const char *path) {
    static const struct {
        const char *part;
        int ndim, c, h, w;
    } known[] = {
        {"mnist-mlp", 2, 784, 0, 0}, {"save_000800", 2, 100, 0, 0}, {"mnist-lstm", 3, 28, 28, 0},
        {"mnist", 4, 1, 28, 28},     {"cifar", 4, 3, 32, 32},       {"det1", 4, 3, 12, 12},
        {"det2", 4, 3, 24, 24},      {"det3", 4, 3, 48, 48},        {"lightened", 4, 1, 128, 128},
        {"arcface", 4, 3, 112, 112}, {"ssrnet", 4, 3, 64, 64},      {"ssd_300", 4, 3, 300, 300},
        {"lffd", 4, 3, 640, 640},    {"", 4, 3, 224, 224},
    };
    size_t i = 0;
    while (!strstr(path, known[i].part))
        i++;
    return test_shape(known[i].ndim, 2, known[i].c, known[i].h, known[i].w);
}

/* All follows from data; one net has three more inputs, one labels of several objects. */
static void check_infer(const mxc_symbol *symbol, const char *path) {
    static const char *const stages[] = {"data", "stage_num0", "stage_num1", "stage_num2"};
    static const char *const detector[] = {"data", "label"};
    int is_ssd = strstr(path, "ssd_300") != NULL, n = strstr(path, "ssrnet") ? 4 : is_ssd ? 2 : 1;
    mxc_shape shapes[4] = {
        shape_for(path),
        is_ssd ? test_shape(3, 2, 10, 5) : test_shape(2, 1, 3),
        test_shape(2, 1, 3),
        test_shape(2, 1, 3),
    };
    mxc_dtype types[4] = {MXC_F32, MXC_F32, MXC_F32, MXC_F32};
    mxc_names args;
    mxc_inferred in;
    int64_t data;
    assert_ok(mxc_symbol_list_arguments(symbol, &args));
    data = mxc_names_find(&args, "data");
    assert_ok(mxc_symbol_infer(symbol, data < 0 ? 0 : n, is_ssd ? detector : stages, shapes, types, &in));
    for (int64_t i = 0; data >= 0 && i < in.n_args; i++)
        if (!mxc_shape_known(&in.arg_shapes[i]))
            fail_msg("%s: the shape of %s does not follow from data", path, args.items[i]);
    for (int64_t i = 0; data >= 0 && i < in.n_aux; i++)
        assert_true(mxc_shape_known(&in.aux_shapes[i]));
    mxc_names_release(&args);
    mxc_inferred_release(&in);
}

/* The message must name an operator that is not registered. */
static void check_refusal(const char *path, const char *message) {
    const char *begin = strstr(message, "no operator is called '"), *end;
    char op[128];
    if (!begin)
        fail_msg("%s: %s", path, message);
    begin += strlen("no operator is called '");
    end = strchr(begin, '\'');
    assert_non_null(end);
    snprintf(op, sizeof op, "%.*s", (int)(end - begin), begin);
    if (mxc_op_find(op))
        fail_msg("%s: refused for %s, which is registered", path, op);
    print_message("  refused for %-24s %s\n", op, strrchr(path, '/') + 1);
}

/* A graph must load; another file may have an operator that is not registered. */
static void check_file(const char *path) {
    mxc_symbol *symbol;
    mxc_status status = mxc_symbol_load(path, &symbol);
    if (status != MXC_OK) {
        check_refusal(path, mxc_last_error());
        assert_null(strstr(path, "/graphs/"));
        return;
    }
    check_round_trip(symbol);
    check_infer(symbol, path);
    mxc_symbol_release(symbol);
    print_message("  loads %37s%s\n", "", strrchr(path, '/') + 1);
}

static void test_real_files(void **state) {
    static const char *const patterns[] = {"graphs/*.json", "models/*/*-symbol.json", "models/legacy/*.json"};
    test_path folder;
    size_t n = 0;
    (void)state;
    if (!test_data(folder, ""))
        skip();
    for (size_t p = 0; p < sizeof patterns / sizeof patterns[0]; p++) {
        glob_t found = find_files(folder, patterns[p]);
        for (size_t i = 0; i < found.gl_pathc; i++, n++)
            check_file(found.gl_pathv[i]);
        if (found.gl_pathc)
            globfree(&found);
    }
    assert_true(n > 0);
}

/* A file that MXNet 1.x wrote, written by us, is the same but for the version. */
static void test_same_bytes(void **state) {
    mxc_symbol *symbol;
    char *ours, *theirs, *version;
    test_path path;
    (void)state;
    if (!test_data(path, "models/mnist-cnn-small/mnist-cnn-small-symbol.json"))
        skip();
    assert_ok(mxc_symbol_load(path, &symbol));
    assert_ok(mxc_symbol_to_json(symbol, &ours));
    theirs = test_read_file(path, NULL);
    version = strstr(theirs, "10600");
    memcpy(version, "10901", 5);
    assert_string_equal(ours, theirs);
    free(theirs);
    mxci_free(ours);
    mxc_symbol_release(symbol);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_real_files), cmocka_unit_test(test_same_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
