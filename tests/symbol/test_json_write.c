/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON we write: its layout to the byte, strings, files. */
#include <dirent.h>

#include "ops.h"

#include "base/sys.h"

static void json_is(const mxc_symbol *symbol, const char *expected) {
    char *json;
    assert_ok(mxc_symbol_to_json(symbol, &json));
    assert_string_equal(json, expected);
    mxci_free(json);
}

static void test_layout(void **state) {
    mxc_symbol *x = test_var("x");
    mxc_symbol *fc = test_op("t_fc", "fc", 1, &x, "num_hidden", "3", "lr_mult", "2", "no_bias", "1", NULL);
    (void)state;
    json_is(fc, "{\n"
                "  \"nodes\": [\n"
                "    {\n      \"op\": \"null\", \n      \"name\": \"x\", \n      \"inputs\": []\n    }, \n"
                "    {\n      \"op\": \"null\", \n      \"name\": \"fc_weight\", \n"
                "      \"attrs\": {\"__lr_mult__\": \"2\"}, \n      \"inputs\": []\n    }, \n"
                "    {\n      \"op\": \"t_fc\", \n      \"name\": \"fc\", \n      \"attrs\": {\n"
                "        \"__lr_mult__\": \"2\", \n        \"no_bias\": \"1\", \n        \"num_hidden\": \"3\"\n"
                "      }, \n"
                "      \"inputs\": [[0, 0, 0], [1, 0, 0]]\n    }\n"
                "  ], \n"
                "  \"arg_nodes\": [0, 1], \n"
                "  \"node_row_ptr\": [0, 1, 2, 3], \n"
                "  \"heads\": [[2, 0, 0]], \n"
                "  \"attrs\": {\"mxnet_version\": [\"int\", 10901]}\n"
                "}");
    mxc_symbol_release(x);
    mxc_symbol_release(fc);
}

static void test_long_lists(void **state) {
    mxc_symbol *concat = test_op("t_concat", "c", 0, NULL, "num_args", "11", NULL);
    char *json;
    (void)state;
    assert_ok(mxc_symbol_to_json(concat, &json));
    assert_non_null(strstr(json, "\"arg_nodes\": [\n    0, \n    1, \n"));
    assert_non_null(strstr(json, "    10\n  ], \n  \"node_row_ptr\": [\n    0, \n"));
    assert_non_null(strstr(json, "    12\n  ], \n  \"heads\""));
    assert_non_null(strstr(json, "[9, 0, 0], [10, 0, 0]]\n"));
    mxci_free(json);
    mxc_symbol_release(concat);
}

static void test_strings(void **state) {
    static const char name[] = "a\"b\\c\n\r\t\x01/\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";
    static const char *const bad[] = {
        "\xff", "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82x", "\x80", "\xf8\x88\x80\x80\x80",
    };
    mxc_symbol *x = test_var(name), *again;
    char *json;
    (void)state;
    assert_ok(mxc_symbol_to_json(x, &json));
    assert_non_null(strstr(json, "\"a\\\"b\\\\c\\n\\r\\t\\u0001/\xc3\xa9"));
    assert_ok(mxc_symbol_from_json(json, strlen(json), &again));
    assert_string_equal(mxc_symbol_name(again), name);
    mxci_free(json);
    mxc_symbol_release(again);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_ok(mxc_symbol_set_attr(x, "k", bad[i]));
        assert_fails(mxc_symbol_to_json(x, &json), MXC_EINVAL, "not UTF-8");
        assert_null(json);
    }
    mxc_symbol_release(x);
}

static int count_files(const char *folder) {
    DIR *dir = opendir(folder);
    int n = 0;
    while (readdir(dir))
        n++;
    closedir(dir);
    return n - 2;
}

static void test_files(void **state) {
    mxc_symbol *mlp = test_mlp(), *x = test_var("x"), *again;
    test_path folder, path;
    (void)state;
    test_temp_dir(folder);
    test_join(path, folder, "net-symbol.json");
    assert_ok(mxc_symbol_save(x, path));
    for (int i = 1; i <= 2; i++) { /* a disk that fills up leaves the old file */
        mxci_test_fail_write(i);
        assert_status(mxc_symbol_save(mlp, path), MXC_EIO);
        mxci_test_fail_write(0);
        assert_int_equal(count_files(folder), 1);
        assert_ok(mxc_symbol_load(path, &again));
        assert_string_equal(mxc_symbol_name(again), "x");
        mxc_symbol_release(again);
    }
    assert_ok(mxc_symbol_save(mlp, path));
    assert_ok(mxc_symbol_load(path, &again));
    assert_string_equal(mxc_symbol_name(again), "fc2");
    mxc_symbol_release(again);
    test_write_file(path, "{", 1);
    assert_fails(mxc_symbol_load(path, &again), MXC_EFORMAT, path);
    test_join(path, folder, "absent");
    assert_fails(mxc_symbol_load(path, &again), MXC_ENOTFOUND, path);
    assert_status(mxc_symbol_load(folder, &again), MXC_EIO);
    test_remove_dir(folder);
    mxc_symbol_release(mlp);
    mxc_symbol_release(x);
}

static int setup(void **state) {
    (void)state;
    test_ops_register();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_long_lists),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
