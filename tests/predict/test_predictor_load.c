/* SPDX-License-Identifier: Apache-2.0 */
/* Loading predictors from directories, prefixes, files and memory, whole, cut short and damaged. */
#include <glob.h>
#include <math.h>

#include <mxc/storage.h>

#include "predict/saved.h"

static saved net;
static char *json, *params;
static size_t json_bytes, params_bytes;
static float *data, *answer;

static int set_up(void **state) {
    (void)state;
    saved_open(&net);
    json = test_read_file(net.symbol_path, &json_bytes);
    params = test_read_file(net.params_path, &params_bytes);
    data = saved_data(1, 1);
    answer = saved_answer(&net, 1, data);
    return !json || !params;
}

static int tear_down(void **state) {
    (void)state;
    free(json);
    free(params);
    free(data);
    free(answer);
    saved_close(&net);
    return 0;
}

static const mxc_data_desc input = {"data", {4, {1, 2, 6, 6}}, MXC_F32};

static void check_and_destroy(mxc_predictor *p) {
    assert_non_null(p);
    saved_check(p, data, 1, answer, 0);
    mxc_predictor_destroy(p);
}

static void test_ways_to_load(void **state) {
    mxc_predictor *p;
    (void)state;
    assert_ok(mxc_predictor_load(net.prefix, 3, 1, &input, NULL, &p));
    check_and_destroy(p);
    assert_ok(mxc_predictor_load(net.prefix, -1, 1, &input, NULL, &p));
    check_and_destroy(p);
    assert_ok(mxc_predictor_load(net.folder, -1, 1, &input, NULL, &p));
    check_and_destroy(p);
    assert_ok(mxc_predictor_load_files(net.symbol_path, net.params_path, 1, &input, NULL, &p));
    check_and_destroy(p);
    assert_ok(mxc_predictor_load_memory(json, json_bytes, params, params_bytes, 1, &input, NULL, &p));
    check_and_destroy(p);
}

/* The contents may be freed before the first run. */
static void test_memory_is_not_kept(void **state) {
    char *copy = malloc(params_bytes);
    mxc_predictor *p;
    (void)state;
    memcpy(copy, params, params_bytes);
    assert_ok(mxc_predictor_load_memory(json, json_bytes, copy, params_bytes, 1, &input, NULL, &p));
    memset(copy, 0x55, params_bytes);
    free(copy);
    check_and_destroy(p);
}

/* What the parameters become is kept, and what lay between goes back to the system. */
static void test_nothing_stays_cached(void **state) {
    const mxc_context where = {MXC_CPU, 0};
    mxc_storage_stats before, after;
    mxc_predictor_options options;
    mxc_predictor *p;
    (void)state;
    mxc_predictor_options_init(&options, sizeof options);
    options.fold_norms = options.release_params = 1;
    assert_ok(mxc_storage_trim(where, 0));
    assert_ok(mxc_storage_get_stats(where, &before));
    assert_int_equal(before.bytes_cached, 0);
    assert_ok(mxc_predictor_load(net.prefix, 3, 1, &input, &options, &p));
    assert_ok(mxc_storage_get_stats(where, &after));
    assert_true(after.bytes_peak > after.bytes_in_use);
    assert_int_equal(after.bytes_cached, 0);
    mxc_predictor_destroy(p);
}

static void test_absent_files(void **state) {
    test_path path;
    mxc_predictor *p;
    (void)state;
    assert_fails(mxc_predictor_load(net.prefix, 4, 1, &input, NULL, &p), MXC_ENOTFOUND, "net-0004.params");
    assert_null(p);
    test_join(path, net.folder, "absent");
    assert_fails(mxc_predictor_load(path, -1, 1, &input, NULL, &p), MXC_ENOTFOUND, "absent-symbol.json");
    assert_fails(mxc_predictor_load(path, 1, 1, &input, NULL, &p), MXC_ENOTFOUND, "absent-symbol.json");
    assert_fails(mxc_predictor_load(net.prefix, -2, 1, &input, NULL, &p), MXC_EINVAL, "-2");
    assert_fails(mxc_predictor_load_files(path, net.params_path, 1, &input, NULL, &p), MXC_ENOTFOUND, "absent");
    assert_fails(mxc_predictor_load_files(net.symbol_path, path, 1, &input, NULL, &p), MXC_ENOTFOUND, "absent");
    assert_fails(mxc_predictor_load_files(net.folder, net.params_path, 1, &input, NULL, &p), MXC_EIO, net.folder);
    assert_fails(mxc_predictor_load_files("/dev/zero", net.params_path, 1, &input, NULL, &p), MXC_EIO, "/dev/zero");
    assert_fails(mxc_predictor_load(net.prefix, 3, -1, &input, NULL, &p), MXC_EINVAL, "n_inputs");
    assert_null(p);
}

/* Whatever is in the files, loading ends with a status and leaves nothing behind; what loads also runs. */
static mxc_status try_memory(const char *some_json, size_t some_bytes, const char *some_params, size_t n) {
    float found[SAVED_CLASSES];
    mxc_predictor *p;
    mxc_status status = mxc_predictor_load_memory(some_json, some_bytes, some_params, n, 1, &input, NULL, &p);
    if (status != MXC_OK) {
        assert_null(p);
        assert_true(strlen(mxc_last_error()) > 0);
        return status;
    }
    assert_ok(mxc_predictor_set_input_at(p, 0, data, SAVED_SIZE * sizeof *data));
    assert_ok(mxc_predictor_forward(p));
    if (mxc_ndarray_bytes(mxc_predictor_output(p, 0)) == sizeof found)
        MXC_IGNORE(mxc_predictor_get_output_at(p, 0, found, sizeof found));
    mxc_predictor_destroy(p);
    return MXC_OK;
}

static void test_cut_short(void **state) {
    (void)state;
    const int64_t alive = saved_live_blocks();
    for (size_t n = 0; n < params_bytes; n += TEST_SANITIZED ? 37 : 1)
        assert_int_equal(try_memory(json, json_bytes, params, n), MXC_EFORMAT);
    for (size_t n = 0; n < json_bytes; n += TEST_SANITIZED ? 37 : 1) {
        const mxc_status status = try_memory(json, n, params, params_bytes);
        assert_true(status != MXC_OK || strspn(json + n, " \n\r\t") == json_bytes - n);
    }
    assert_true(saved_live_blocks() <= alive + 8);
}

static void test_flipped_bytes(void **state) {
    (void)state;
    const int64_t alive = saved_live_blocks();
    for (size_t i = 0; i < params_bytes; i += TEST_SANITIZED ? 41 : 1) {
        params[i] = (char)~params[i];
        MXC_IGNORE(try_memory(json, json_bytes, params, params_bytes));
        params[i] = (char)~params[i];
    }
    for (size_t i = 0; i < json_bytes; i += TEST_SANITIZED ? 41 : 1) {
        json[i] ^= 5;
        MXC_IGNORE(try_memory(json, json_bytes, params, params_bytes));
        json[i] ^= 5;
    }
    assert_true(saved_live_blocks() <= alive + 8);
    assert_int_equal(try_memory(json, json_bytes, params, params_bytes), MXC_OK);
}

/* An unnamed list, and no parameters at all. */
static void test_lists_that_are_no_parameters(void **state) {
    test_path path;
    mxc_predictor *p;
    (void)state;
    test_join(path, net.folder, "unnamed");
    assert_ok(mxc_ndarray_save(path, net.params.n, net.params.arrays, NULL));
    assert_fails(mxc_predictor_load_files(net.symbol_path, path, 1, &input, NULL, &p), MXC_EINVAL, "no names");
    assert_ok(mxc_ndarray_save(path, 0, NULL, NULL));
    assert_fails(mxc_predictor_load_files(net.symbol_path, path, 1, &input, NULL, &p), MXC_ENOTFOUND,
                 "8 missing: conv_weight, conv_bias");
}

/* ---- models of others -------------------------------------------------------------------------------------------- */

enum { MOST_INPUTS = 8 };

static glob_t find(const char *folder, const char *pattern) {
    test_path path;
    glob_t found;
    assert_int_equal(glob(test_join(path, folder, pattern), 0, NULL, &found), 0);
    return found;
}

/* The largest difference between two arrays, as a multiple of 1e-4 + 1e-3 of the expected number. */
static double largest_difference(const char *path, mxc_ndarray *array) {
    mxc_ndarray *expected;
    void *e, *f;
    double most = 0;
    assert_ok(mxc_ndarray_load_npy(path, &expected));
    assert_int_equal(mxc_ndarray_size(expected), mxc_ndarray_size(array));
    assert_ok(mxc_ndarray_data(expected, &e));
    assert_ok(mxc_ndarray_data(array, &f));
    for (int64_t i = 0; i < mxc_ndarray_size(array); i++) {
        const double want = (double)((float *)e)[i], have = (double)((float *)f)[i];
        most = fmax(most, fabs(have - want) / (1e-4 + 1e-3 * fabs(want)));
    }
    mxc_ndarray_release(expected);
    return most;
}

/* The inputs are expected/in-<name>.npy; a single one is not named. */
static mxc_predictor *load_with_inputs(const char *folder) {
    glob_t files = find(folder, "expected/in-*.npy");
    const int n = (int)files.gl_pathc;
    mxc_ndarray *arrays[MOST_INPUTS];
    mxc_data_desc inputs[MOST_INPUTS];
    char names[MOST_INPUTS][64];
    mxc_predictor *p;
    assert_in_range(n, 1, MOST_INPUTS);
    for (int i = 0; i < n; i++) {
        const char *name = strrchr(files.gl_pathv[i], '/') + strlen("/in-");
        snprintf(names[i], sizeof names[i], "%.*s", (int)(strlen(name) - strlen(".npy")), name);
        assert_ok(mxc_ndarray_load_npy(files.gl_pathv[i], &arrays[i]));
        inputs[i] = (mxc_data_desc){n > 1 ? names[i] : NULL, *mxc_ndarray_shape(arrays[i]), MXC_F32};
    }
    assert_ok(mxc_predictor_load(folder, -1, n, inputs, NULL, &p));
    for (int i = 0; i < n; i++) {
        assert_ok(mxc_predictor_set_input_array(p, names[i], arrays[i]));
        mxc_ndarray_release(arrays[i]);
    }
    globfree(&files);
    return p;
}

/* Models that others trained, by their folders, with the file of parameters found. */
static void test_models_of_others(void **state) {
    test_path models;
    (void)state;
    if (!test_data(models, "models"))
        skip();
    glob_t folders = find(models, "*/expected");
    for (size_t i = 0; i < folders.gl_pathc; i += TEST_SANITIZED ? 4 : 1) {
        char *folder = folders.gl_pathv[i];
        *strrchr(folder, '/') = '\0';
        mxc_predictor *p = load_with_inputs(folder);
        glob_t outputs = find(folder, "expected/out*.npy");
        assert_ok(mxc_predictor_forward(p));
        assert_int_equal(mxc_predictor_n_outputs(p), outputs.gl_pathc);
        for (int64_t k = 0; k < mxc_predictor_n_outputs(p); k++)
            if (!(largest_difference(outputs.gl_pathv[k], mxc_predictor_output(p, k)) <= 1))
                fail_msg("%s differs", outputs.gl_pathv[k]);
        globfree(&outputs);
        mxc_predictor_destroy(p);
    }
    globfree(&folders);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ways_to_load),
        cmocka_unit_test(test_memory_is_not_kept),
        cmocka_unit_test(test_nothing_stays_cached),
        cmocka_unit_test(test_absent_files),
        cmocka_unit_test(test_cut_short),
        cmocka_unit_test(test_flipped_bytes),
        cmocka_unit_test(test_lists_that_are_no_parameters),
        cmocka_unit_test(test_models_of_others),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
