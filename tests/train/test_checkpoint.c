/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints: the files, a full disk at every write, damaged files, and files of another network. Covers
 * train/checkpoint.c and training_state.c.
 */
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/sys.h"
#include "train/toy.h"

static test_path folder, prefix;

static int set_up(void **state) {
    (void)state;
    test_temp_dir(folder);
    test_join(prefix, folder, "run");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    test_remove_dir(folder);
    return 0;
}

static const char *file_of(const char *name) {
    static test_path path;
    return test_join(path, folder, name);
}

static int n_files(void) {
    DIR *dir = opendir(folder);
    struct dirent *entry;
    int n = 0;
    while (dir && (entry = readdir(dir)) != NULL)
        n += entry->d_name[0] != '.';
    closedir(dir);
    return n;
}

/* Train the toy up to this epoch with checkpoints at prefix. */
static mxc_status fit_with(int64_t epochs, int resume, int overwrite, mxc_fit_callback callback,
                           mxc_fit_progress *result, mxc_ndarray_list *params) {
    toy t;
    assert_ok(toy_open(&t, "8"));
    t.options.epochs = epochs;
    t.options.checkpoint = prefix;
    t.options.resume = resume;
    t.options.overwrite = overwrite;
    t.options.callback = callback;
    mxc_status status = mxc_fit(&t.options, result, params);
    toy_close(&t);
    return status;
}

static mxc_status fit(int64_t epochs, int resume, mxc_fit_progress *result, mxc_ndarray_list *params) {
    return fit_with(epochs, resume, 0, NULL, result, params);
}

static void test_names(void **state) {
    const char *const names[] = {
        "run.last",        "run.state0",      "run.state1",      "run-symbol.json",
        "run-0001.params", "run-0002.params", "run-0003.params",
    };
    mxc_ndarray_list trained, saved;
    mxc_symbol *net;
    (void)state;
    assert_ok(fit(3, 0, NULL, &trained));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_int_equal(access(file_of(names[i]), R_OK), 0);
    assert_int_equal(n_files(), sizeof names / sizeof names[0]);
    assert_ok(mxc_model_load(prefix, 3, &net, &saved));
    toy_expect_same(&trained, &saved);
    mxc_symbol_release(net);
    mxc_ndarray_list_release(&trained);
    mxc_ndarray_list_release(&saved);
}

/* With resume but no checkpoint a run begins; with overwrite an old checkpoint does not matter and stays readable. */
static void test_beginnings(void **state) {
    mxc_fit_progress first, again;
    mxc_ndarray_list a, b;
    (void)state;
    assert_ok(fit(2, 1, &first, &a));
    assert_ok(fit_with(2, 0, 1, NULL, &again, &b));
    assert_int_equal(first.updates, again.updates);
    toy_expect_same(&a, &b);
    mxc_ndarray_list_release(&b);
    assert_ok(fit(2, 1, &again, &b)); /* nothing left to do */
    assert_int_equal(again.epoch, 2);
    assert_true(again.valid_accuracy == first.valid_accuracy && again.valid_loss == first.valid_loss);
    toy_expect_same(&a, &b);
    mxc_ndarray_list_release(&a);
    mxc_ndarray_list_release(&b);
}

/* ---- files in the way ---------------------------------------------------------------------------------------- */

static void expect_kept(const char *name, int resume, const char *text) {
    static const char whole[] = "pretrained";
    size_t bytes = 0;
    test_write_file(file_of(name), whole, sizeof whole);
    assert_fails(fit(2, resume, NULL, NULL), MXC_EEXIST, text);
    assert_non_null(strstr(mxc_last_error(), name));
    char *now = test_read_file(file_of(name), &bytes);
    assert_int_equal(bytes, sizeof whole);
    assert_memory_equal(now, whole, sizeof whole);
    free(now);
    assert_int_equal(n_files(), 1);
    unlink(file_of(name));
}

/* A model that no checkpoint belongs to is not replaced, with resume or without; other files do not matter. */
static void test_pretrained_files_are_kept(void **state) {
    (void)state;
    for (int resume = 0; resume < 2; resume++) {
        expect_kept("run-0001.params", resume, "or set overwrite");
        expect_kept("run-0002.params", resume, "no checkpoint to resume from");
        expect_kept("run-symbol.json", resume, "choose another checkpoint prefix");
    }
    test_write_file(file_of("run-0003.params"), "x", 1);
    test_write_file(file_of("other-0001.params"), "x", 1);
    assert_ok(fit(2, 0, NULL, NULL));
    unlink(file_of("run.last"));
    assert_fails(fit(2, 1, NULL, NULL), MXC_EEXIST, "run-symbol.json");
    assert_ok(fit_with(2, 1, 1, NULL, NULL, NULL));
}

/* Where resume was forgotten nothing is lost. */
static void test_checkpoint_is_kept(void **state) {
    mxc_fit_progress result;
    (void)state;
    assert_ok(fit(1, 0, NULL, NULL));
    assert_fails(fit(2, 0, NULL, NULL), MXC_EEXIST, "run.last exists: set resume to go on from this checkpoint");
    assert_ok(fit(2, 1, &result, NULL));
    assert_int_equal(result.updates, 2 * ((TOY_SAMPLES + TOY_BATCH - 1) / TOY_BATCH));
}

static mxc_status fail_at_epoch_end(const mxc_fit_progress *progress, int epoch_end, void *user) {
    (void)progress;
    (void)user;
    return epoch_end ? MXC_FAIL(MXC_EUSER, "enough") : MXC_OK;
}

/* As after a kill before the first checkpoint: even a model may be there, which is this training's own. */
static void test_killed_before_the_first_checkpoint(void **state) {
    (void)state;
    assert_fails(fit_with(1, 0, 0, fail_at_epoch_end, NULL, NULL), MXC_EUSER, "callback");
    test_write_file(file_of("run-0001.params"), "x", 1);
    assert_fails(fit(1, 0, NULL, NULL), MXC_EEXIST, "run-0001.params");
    assert_ok(fit(1, 1, NULL, NULL));
}

/* ---- a full disk --------------------------------------------------------------------------------------------- */

/* Go on from epoch 1 while something is wrong with writing, then again without: the end is as if nothing had been. */
static mxc_status fit_on_full_disk(void (*begin)(int64_t), void (*end)(void), int64_t n,
                                   const mxc_ndarray_list *expected) {
    mxc_ndarray_list params;
    test_remove_dir(folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_ok(fit(1, 0, NULL, NULL));
    begin(n);
    mxc_status status = fit(2, 1, NULL, NULL);
    end();
    if (status != MXC_OK) {
        assert_int_equal(status, MXC_EIO);
        assert_non_null(strstr(mxc_last_error(), prefix));
        assert_int_equal(n_files() <= 6, 1); /* no temporary file is left */
    }
    assert_ok(fit(2, 1, NULL, &params));
    toy_expect_same(expected, &params);
    mxc_ndarray_list_release(&params);
    return status;
}

static void begin_failing(int64_t n) {
    mxci_test_fail_write(n);
}

static void end_failing(void) {
    mxci_test_fail_write(0);
}

static void test_each_write_fails(void **state) {
    mxc_ndarray_list expected;
    int64_t n = 1;
    (void)state;
    assert_ok(fit(2, 0, NULL, &expected));
    while (fit_on_full_disk(begin_failing, end_failing, n, &expected) != MXC_OK)
        n++;
    assert_true(n > 4 * 3); /* four files, each written, flushed, renamed */
    mxc_ndarray_list_release(&expected);
}

/* The system itself refuses files above a size. */
static void begin_limit(int64_t bytes) {
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = (rlim_t)bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void end_limit(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void test_limited_disk(void **state) {
    mxc_ndarray_list expected;
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    (void)state;
    assert_ok(fit(2, 0, NULL, &expected));
    assert_status(fit_on_full_disk(begin_limit, end_limit, 0, &expected), MXC_EIO);
    assert_status(fit_on_full_disk(begin_limit, end_limit, 1000, &expected), MXC_EIO);
    assert_ok(fit_on_full_disk(begin_limit, end_limit, 1 << 20, &expected));
    mxc_ndarray_list_release(&expected);
    signal(SIGXFSZ, before);
}

/* The message of the failure that people see. */
static void test_message(void **state) {
    (void)state;
    assert_ok(fit(1, 0, NULL, NULL));
    mxci_test_fail_write(1);
    assert_fails(fit(2, 1, NULL, NULL), MXC_EIO, "run.state1: cannot write: No space left on device");
    mxci_test_fail_write(0);
}

/* ---- damaged files ------------------------------------------------------------------------------------------- */

/* The file in force after one epoch is state0. */
static void expect_refused(const char *name, const char *data, size_t bytes, const char *text) {
    mxc_ndarray_list params = {.n = 1};
    test_write_file(file_of(name), data, bytes);
    assert_fails(fit(2, 1, NULL, &params), MXC_EFORMAT, text);
    assert_non_null(strstr(mxc_last_error(), name));
    assert_int_equal(params.n, 0);
}

static void test_damaged_state(void **state) {
    size_t bytes = 0;
    (void)state;
    assert_ok(fit(1, 0, NULL, NULL));
    char *whole = test_read_file(file_of("run.state0"), &bytes);
    for (size_t n = 0; n < bytes; n += bytes / 16)
        expect_refused("run.state0", whole, n, "CRC-32");
    for (size_t at = 0; at < bytes; at += bytes / 16) {
        whole[at] ^= 0x10;
        expect_refused("run.state0", whole, bytes, "CRC-32");
        whole[at] ^= 0x10;
    }
    test_write_file(file_of("run.state0"), whole, bytes);
    assert_ok(fit(2, 1, NULL, NULL));
    free(whole);
    unlink(file_of("run.state0"));
    unlink(file_of("run.state1"));
    assert_fails(fit(3, 1, NULL, NULL), MXC_ENOTFOUND, "run.state1");
}

static unsigned long checksum(const char *data, size_t bytes) { /* CRC-32 */
    uint32_t sum = 0xffffffff;
    for (size_t i = 0; i < bytes; i++) {
        sum ^= (unsigned char)data[i];
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
    }
    return sum ^ 0xffffffff;
}

/* Replace "counts" of a valid checkpoint, in a valid file. */
static void expect_counts_refused(int64_t columns, const int64_t *counts, const char *text) {
    test_path path;
    mxc_ndarray_list state;
    char manifest[128];
    size_t bytes = 0;
    snprintf(path, sizeof path, "%s", file_of("run.state0"));
    assert_ok(mxc_ndarray_load(path, &state));
    for (int64_t i = 0; i < state.n; i++)
        if (strcmp(state.names[i], "counts") == 0) {
            mxc_ndarray_release(state.arrays[i]);
            assert_ok(mxc_ndarray_from_data(2, (int64_t[]){1, columns}, MXC_I64, counts, &state.arrays[i]));
        }
    assert_ok(mxc_ndarray_save(path, state.n, state.arrays, (const char *const *)state.names));
    mxc_ndarray_list_release(&state);
    char *data = test_read_file(path, &bytes);
    int n = snprintf(manifest, sizeof manifest,
                     "{\"format\": \"mxc-checkpoint\", \"version\": 1, \"slot\": 0, \"crc32\": %lu}",
                     checksum(data, bytes));
    free(data);
    test_write_file(file_of("run.last"), manifest, (size_t)n);
    assert_fails(fit(2, 1, NULL, NULL), MXC_EFORMAT, text);
}

static void test_other_counts(void **state) {
    /* version, epoch, batch, updates, iterator epoch and position, batches, best epoch */
    (void)state;
    assert_ok(fit(1, 0, NULL, NULL));
    expect_counts_refused(9, (int64_t[]){1, 1, 0, 12, 1, 0, 12, 0, 0},
                          "version 1 of the state of a training, expected 2");
    expect_counts_refused(9, (int64_t[]){2, 1, 0, 12, 1, 0, 12, 0, 0}, "\"counts\" is absent or not int64 of shape");
    expect_counts_refused(8, (int64_t[]){2, 1, 0, 12, 1, 0, 12, INT64_MIN}, "best epoch -9223372036854775808 make no");
    expect_counts_refused(8, (int64_t[]){2, 1, 0, 12, 1, 0, 12, 2}, "best epoch 2 make no sense");
    expect_counts_refused(8, (int64_t[]){2, 1, 0, 12, 1, 0, -1, 0}, "batch 0 of -1");
}

static void test_damaged_manifest(void **state) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "line 1"},
        {"{\"format\": \"mxc-checkpoint\", \"version\": 1, \"slot\": 0, \"crc", "line 1"},
        {"[1, 2]", "not a manifest"},
        {"{\"format\": \"zip\", \"version\": 1, \"slot\": 0, \"crc32\": 0}", "\"zip\""},
        {"{\"format\": \"mxc-checkpoint\", \"version\": 2}", "version 2"},
        {"{\"format\": \"mxc-checkpoint\", \"version\": 1, \"slot\": 2, \"crc32\": 0}", "slot 2"},
        {"{\"format\": \"mxc-checkpoint\", \"version\": 1, \"slot\": \"0\", \"crc32\": 0}", "not a manifest"},
        {"{\"format\": \"mxc-checkpoint\", \"version\": 1, \"slot\": 0, \"crc32\": -1}", "crc32 -1"},
        {"{\"format\": \"mxc-checkpoint\", \"version\": 1, \"slot\": 0, \"slot\": 0, \"crc32\": 1}", "line 1"},
    };
    (void)state;
    assert_ok(fit(1, 0, NULL, NULL));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_refused("run.last", cases[i].text, strlen(cases[i].text), cases[i].message);
    assert_fails(fit(2, 1, NULL, NULL), MXC_EFORMAT, "run.last");
    assert_fails(fit(2, 0, NULL, NULL), MXC_EEXIST, "run.last");
    assert_ok(fit_with(2, 0, 1, NULL, NULL, NULL)); /* a new run does not need it */
}

/* ---- checkpoints of something else ---------------------------------------------------------------------------- */

static void expect_other_refused(const char *hidden, int n_contexts, mxc_status code, const char *text) {
    const mxc_context contexts[] = {mxc_cpu(0), mxc_cpu(1)};
    toy t;
    assert_ok(toy_open(&t, hidden));
    t.options.checkpoint = prefix;
    t.options.resume = 1;
    t.options.n_contexts = n_contexts;
    t.options.contexts = contexts;
    assert_fails(mxc_fit(&t.options, NULL, NULL), code, text);
    toy_close(&t);
}

static void test_other_training(void **state) {
    toy t;
    mxc_symbol *net;
    (void)state;
    assert_ok(fit(1, 0, NULL, NULL));
    expect_other_refused("9", 1, MXC_ESHAPE, "\"arg:fc1_weight\": expected shape (9,6), found (8,6)");
    expect_other_refused("8", 2, MXC_EFORMAT, "\"random\"");
    assert_ok(toy_open(&t, "8"));
    assert_ok(mxc_symbol_variable("data", &net));
    assert_ok(toy_layer("FullyConnected", "other", "num_hidden", "3", &net));
    assert_ok(toy_layer("SoftmaxOutput", "softmax", NULL, NULL, &net));
    t.options.symbol = net;
    t.options.checkpoint = prefix;
    t.options.resume = 1;
    assert_fails(mxc_fit(&t.options, NULL, NULL), MXC_ENOTFOUND, "missing: other_weight");
    mxc_symbol_release(net);
    toy_close(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_beginnings, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_pretrained_files_are_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_checkpoint_is_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_killed_before_the_first_checkpoint, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_each_write_fails, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_limited_disk, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_message, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damaged_state, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_other_counts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damaged_manifest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_other_training, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
