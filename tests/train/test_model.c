/* SPDX-License-Identifier: Apache-2.0 */
/* Model files: names, both parts, and what is missing or broken. */
#include "base/sys.h"
#include "ndarray/array_list.h"
#include "train/model.h"
#include "train/toy.h"

static test_path folder, prefix;

static int set_up(void **state) {
    (void)state;
    test_temp_dir(folder);
    test_join(prefix, folder, "net");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    test_remove_dir(folder);
    return 0;
}

static void test_round_trip(void **state) {
    const char *names[] = {"arg:fc1_weight", "aux:bn_moving_mean"};
    const float values[] = {1, 2, 3};
    mxc_ndarray *arrays[2];
    mxc_symbol *net, *back;
    mxc_ndarray_list params;
    test_path file;
    char *a, *b;
    (void)state;
    assert_ok(toy_net("4", &net));
    for (int i = 0; i < 2; i++)
        assert_ok(mxc_ndarray_from_data(1, (int64_t[]){3}, MXC_F32, values, &arrays[i]));
    assert_ok(mxc_model_save(prefix, 7, net, 2, arrays, names));
    assert_int_equal(access(test_join(file, folder, "net-0007.params"), R_OK), 0);
    assert_int_equal(access(test_join(file, folder, "net-symbol.json"), R_OK), 0);
    assert_ok(mxc_model_load(prefix, 7, &back, &params));
    assert_ok(mxc_symbol_to_json(net, &a));
    assert_ok(mxc_symbol_to_json(back, &b));
    assert_string_equal(a, b);
    assert_int_equal(params.n, 2);
    assert_non_null(mxci_array_list_find(&params, "aux:", "bn_moving_mean"));
    assert_null(mxci_array_list_find(&params, "arg:", "bn_moving_mean"));
    mxc_ndarray_list_release(&params);
    assert_ok(mxc_model_load(prefix, 7, NULL, &params));
    mxc_ndarray_list_release(&params);
    mxc_symbol_release(back);
    assert_ok(mxc_model_load(prefix, 8, &back, NULL));
    mxc_symbol_release(back);
    assert_fails(mxc_model_load(prefix, 8, &back, &params), MXC_ENOTFOUND, "net-0008.params");
    assert_null(back);
    assert_int_equal(params.n, 0);
    mxc_free(a);
    mxc_free(b);
    mxc_symbol_release(net);
    mxc_ndarray_release(arrays[0]);
    mxc_ndarray_release(arrays[1]);
}

static void test_refusals(void **state) {
    char *huge = malloc(6000);
    mxc_symbol *net;
    test_path file;
    (void)state;
    memset(huge, 'x', 5999);
    huge[5999] = '\0';
    assert_ok(toy_net("4", &net));
    assert_fails(mxc_model_save(huge, 1, net, 0, NULL, NULL), MXC_EINVAL, "is longer than");
    assert_fails(mxc_model_save(NULL, 1, net, 0, NULL, NULL), MXC_EINVAL, "prefix");
    assert_fails(mxc_model_save(prefix, -1, net, 0, NULL, NULL), MXC_EINVAL, "-1");
    mxc_symbol_release(net);
    assert_fails(mxc_model_load(prefix, -1, &net, NULL), MXC_EINVAL, "-1");
    assert_null(net);
    test_write_file(test_join(file, folder, "bad-symbol.json"), "{", 1);
    test_join(prefix, folder, "bad");
    assert_fails(mxc_model_load(prefix, 1, &net, NULL), MXC_EFORMAT, "bad-symbol.json");
    test_join(prefix, folder, "net");
    free(huge);
}

/* ---- finding ----------------------------------------------------------------------------------------------------- */

/* An empty file in a folder. */
static void touch(const char *where, const char *name) {
    test_path path;
    test_write_file(test_join(path, where, name), "", 0);
}

static void expect_found(const char *where, int epoch, const char *base, const char *file) {
    char *found_prefix, *found_params;
    test_path path;
    assert_ok(mxc_model_find(where, epoch, &found_prefix, &found_params));
    assert_string_equal(strrchr(found_prefix, '/') + 1, base);
    assert_string_equal(strrchr(found_params, '/') + 1, file);
    snprintf(path, sizeof path, "%s-symbol.json", found_prefix);
    assert_int_equal(access(path, R_OK), 0);
    mxc_free(found_prefix);
    mxc_free(found_params);
}

static void expect_not_found(const char *where, mxc_status code, const char *text) {
    char *found_prefix, *found_params;
    assert_fails(mxc_model_find(where, -1, &found_prefix, &found_params), code, text);
    assert_null(found_prefix);
    assert_null(found_params);
}

/* The files of models a and b. An odd name is no epoch. */
static void test_find(void **state) {
    test_path where, path;
    char *found_prefix, *found_params;
    (void)state;
    test_temp_dir(where);
    test_join(path, where, "a");
    expect_not_found(where, MXC_ENOTFOUND, "no file *-symbol.json in");
    touch(where, "a-symbol.json");
    expect_not_found(where, MXC_ENOTFOUND, "no file of parameters");
    touch(where, "weights.params");
    expect_found(where, -1, "a", "weights.params"); /* the only file */
    touch(where, "a-x.params");
    expect_not_found(where, MXC_ENOTFOUND, "a-best.params or -NNNN.params");
    touch(where, "a-0009.params");
    touch(where, "a-12.params");
    touch(where, "a-11.params.old");
    touch(where, "a--99.params");
    touch(where, "a-99999999999999999999.params");
    touch(where, "ab-0077.params");
    expect_found(where, -1, "a", "a-12.params");
    expect_found(path, -1, "a", "a-12.params");
    expect_found(path, 3, "a", "a-0003.params"); /* need not exist */
    touch(where, "a-best.params");
    expect_found(where, -1, "a", "a-best.params");
    touch(where, "b-symbol.json");
    expect_not_found(where, MXC_EINVAL, "more than one model");
    expect_found(path, -1, "a", "a-best.params");
    assert_fails(mxc_model_find(path, -2, &found_prefix, &found_params), MXC_EINVAL, "-2");
    test_remove_dir(where);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_find),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
