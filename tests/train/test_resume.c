/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A training that is stopped, or killed with SIGKILL, and resumed ends with the same weights bit for bit as one that
 * is not. The toy has everything that must be carried over: shuffling, prefetch, Dropout, the moving averages of
 * BatchNorm, momentum and a learning-rate schedule.
 *
 * Called as "test_resume PREFIX CONTEXTS KILL_AT MORE" the program is the training that is killed.
 */
#include <math.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/sys.h"
#include "train/toy.h"

enum { EPOCHS = 4, BATCHES = (TOY_SAMPLES + TOY_BATCH - 1) / TOY_BATCH };

static const char *program;
static test_path folder, prefix;
static const char *dtype; /* of every training */
static int has_more;      /* also: accumulated batches, clipping, averages, metrics, the best model */
static uint32_t dice = 20;

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

static int64_t random_below(int64_t n) {
    dice = dice * 1664525 + 1013904223;
    return (int64_t)((uint64_t)dice * (uint64_t)n >> 32);
}

typedef struct brake {
    int steps, stop_at; /* of this run */
    int kill;           /* rather than stop */
    int stop;
} brake;

static mxc_status on_step(const mxc_fit_progress *progress, int epoch_end, void *user) {
    brake *b = user;
    (void)progress;
    b->steps += !epoch_end;
    if (b->steps == b->stop_at && b->kill)
        raise(SIGKILL);
    b->stop = b->steps >= b->stop_at;
    return MXC_OK;
}

static mxc_status fit(const char *checkpoint, int n_contexts, brake *b, mxc_fit_progress *result,
                      mxc_ndarray_list *params) {
    const mxc_context contexts[] = {mxc_cpu(0), mxc_cpu(1)};
    toy t;
    mxc_status status = toy_open(&t, "8");
    t.options.epochs = EPOCHS;
    t.options.n_contexts = n_contexts;
    t.options.contexts = contexts;
    t.options.checkpoint = checkpoint;
    t.options.dtype = dtype;
    t.options.checkpoint_batches = !b || b->kill ? 3 : 0; /* each write waits for the disk */
    t.options.resume = checkpoint != NULL;
    t.options.callback = b ? on_step : NULL;
    t.options.user = b;
    t.options.stop = b ? &b->stop : NULL;
    mxc_metric *top_k = NULL;
    const char *key = "top_k", *value = "2";
    if (status == MXC_OK)
        status = mxc_metric_create("top_k_accuracy", 1, &key, &value, &top_k);
    if (has_more) {
        t.options.accumulate = 5;
        t.options.clip_norm = 0.5;
        t.options.ema = 0.8;
        t.options.n_metrics = 1;
        t.options.metrics = &top_k;
        t.options.patience = EPOCHS;
        t.options.save_best = checkpoint != NULL;
        t.options.keep_models = checkpoint ? 2 : 0;
    }
    if (status == MXC_OK)
        status = mxc_fit(&t.options, result, params);
    mxc_metric_destroy(top_k);
    toy_close(&t);
    return status;
}

/* ---- stopping ------------------------------------------------------------------------------------------------- */

static void stop_and_resume(int n_contexts, int64_t most) {
    mxc_fit_progress whole, result = {0};
    mxc_ndarray_list expected, params;
    int64_t updates = 0;
    assert_ok(fit(NULL, n_contexts, NULL, &whole, &expected));
    do {
        brake b = {.stop_at = 1 + (int)random_below(most)};
        assert_ok(fit(prefix, n_contexts, &b, &result, &params));
        updates += b.steps;
        if (!has_more) /* otherwise it stops after whole updates */
            assert_int_equal(result.updates, updates);
        if (result.interrupted)
            mxc_ndarray_list_release(&params);
    } while (result.interrupted);
    assert_int_equal(result.updates, EPOCHS * (has_more ? (BATCHES + 4) / 5 : BATCHES));
    assert_true(has_more ? result.best == whole.best && result.best_epoch == whole.best_epoch : isnan(result.best));
    for (int i = 0; i < whole.n_metrics; i++)
        assert_true(result.metrics[i].train == whole.metrics[i].train);
    assert_true(result.valid_loss == whole.valid_loss && (has_more || result.valid_accuracy == whole.valid_accuracy));
    toy_expect_same(&expected, &params);
    mxc_ndarray_list_release(&expected);
    mxc_ndarray_list_release(&params);
}

static void test_stopped(void **state) {
    (void)state;
    for (int n_contexts = 1; n_contexts <= 2; n_contexts++)
        for (int i = 0; i < TEST_SCALE(10); i++) {
            stop_and_resume(n_contexts, i == 0 ? 1 : EPOCHS * BATCHES / 2);
            tear_down(NULL);
            set_up(NULL);
        }
}

/* With f32 copies of weights, and a loss scale that has changed. */
static void test_stopped_in_16_bits(void **state) {
    (void)state;
    dtype = "float16";
    for (int n_contexts = 1; n_contexts <= 2; n_contexts++) {
        stop_and_resume(n_contexts, EPOCHS * BATCHES / 2);
        tear_down(NULL);
        set_up(NULL);
    }
    dtype = NULL;
}

/* With everything that a training can carry over, in 32 and 16 bits. */
static void test_stopped_with_more(void **state) {
    (void)state;
    has_more = 1;
    for (int n_contexts = 1; n_contexts <= 2; n_contexts++)
        for (int i = 0; i < 2; i++) {
            dtype = i == 0 ? NULL : "float16";
            stop_and_resume(n_contexts, EPOCHS * BATCHES / 2);
            tear_down(NULL);
            set_up(NULL);
        }
    dtype = NULL;
    has_more = 0;
}

/* Another process trains in between: neither the seed nor the streams' places are those of this one. */
static void test_random_streams_are_restored(void **state) {
    brake b = {.stop_at = BATCHES + 5};
    mxc_ndarray_list expected, params;
    mxc_random used;
    (void)state;
    assert_ok(fit(NULL, 1, NULL, NULL, &expected));
    assert_ok(fit(prefix, 1, &b, NULL, NULL));
    mxc_random_seed(99);
    assert_ok(mxc_random_reserve(mxc_cpu(0), 12345, &used));
    assert_ok(fit(prefix, 1, NULL, NULL, &params));
    toy_expect_same(&expected, &params);
    mxc_ndarray_list_release(&expected);
    mxc_ndarray_list_release(&params);
}

/* ---- killing -------------------------------------------------------------------------------------------------- */

/* The training in a process of its own, which kills itself after that many steps (0: never) or is killed after
 * that time. Returns 1 if it has come to its end. */
static int run_and_kill(int n_contexts, int kill_at, int64_t after_ns) {
    char contexts[16], steps[16], more[16];
    char *const arguments[] = {(char *)program, prefix, contexts, steps, more, NULL};
    int status;
    snprintf(contexts, sizeof contexts, "%d", n_contexts);
    snprintf(steps, sizeof steps, "%d", kill_at);
    snprintf(more, sizeof more, "%d", has_more);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        execv(program, arguments);
        _exit(127);
    }
    if (after_ns > 0) {
        mxci_sleep_ns(after_ns);
        kill(child, SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        assert_int_equal(WTERMSIG(status), SIGKILL);
    else
        assert_int_equal(WEXITSTATUS(status), 0);
    return WIFEXITED(status);
}

static void expect_model(const mxc_ndarray_list *expected) {
    mxc_ndarray_list saved;
    assert_ok(mxc_model_load(prefix, EPOCHS, NULL, &saved));
    toy_expect_same(expected, &saved);
    mxc_ndarray_list_release(&saved);
}

static void test_killed_at_steps(void **state) {
    (void)state;
    for (int n_contexts = 1; n_contexts <= 2; n_contexts++) {
        mxc_ndarray_list expected;
        int kills = 0;
        assert_ok(fit(NULL, n_contexts, NULL, NULL, &expected));
        while (!run_and_kill(n_contexts, 4 + (int)random_below(BATCHES), 0))
            kills++;
        assert_true(kills >= 3);
        expect_model(&expected);
        mxc_ndarray_list_release(&expected);
        tear_down(NULL);
        set_up(NULL);
    }
}

/* The best model is that of an undisturbed training too, and only the last models are left. */
static void test_killed_with_more(void **state) {
    test_path path, undisturbed;
    mxc_ndarray_list expected, best, best_expected;
    int kills = 0;
    (void)state;
    has_more = 1;
    test_join(undisturbed, folder, "undisturbed");
    assert_ok(fit(undisturbed, 1, NULL, NULL, &expected));
    while (!run_and_kill(1, 4 + (int)random_below(BATCHES), 0))
        kills++;
    assert_true(kills >= 3);
    expect_model(&expected);
    snprintf(path, sizeof path, "%.480s-best.params", prefix);
    assert_ok(mxc_ndarray_load(path, &best));
    snprintf(path, sizeof path, "%.480s-best.params", undisturbed);
    assert_ok(mxc_ndarray_load(path, &best_expected));
    toy_expect_same(&best_expected, &best);
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
        snprintf(path, sizeof path, "%.480s-%04d.params", prefix, epoch);
        assert_int_equal(access(path, F_OK) == 0, epoch > EPOCHS - 2);
    }
    mxc_ndarray_list_release(&best);
    mxc_ndarray_list_release(&best_expected);
    mxc_ndarray_list_release(&expected);
    has_more = 0;
}

/* At any time: while it starts, computes or writes. The time grows, so that in the end it gets through. */
static void test_killed_at_times(void **state) {
    mxc_ndarray_list expected;
    (void)state;
    assert_ok(fit(NULL, 1, NULL, NULL, &expected));
    for (int round = 0; round < TEST_SCALE(3); round++) {
        int64_t most = 10000000;
        while (!run_and_kill(1, 0, 1 + random_below(most)))
            most += most / 10;
        expect_model(&expected);
        tear_down(NULL);
        set_up(NULL);
    }
    mxc_ndarray_list_release(&expected);
}

static int be_killed(char **argv) {
    brake b = {.stop_at = atoi(argv[3]), .kill = 1};
    mxc_status status;
    snprintf(prefix, sizeof prefix, "%s", argv[1]);
    has_more = atoi(argv[4]);
    status = fit(prefix, atoi(argv[2]), b.stop_at > 0 ? &b : NULL, NULL, NULL);
    if (status != MXC_OK)
        fprintf(stderr, "training in a child: %s\n", mxc_last_error());
    return status != MXC_OK;
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_stopped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stopped_in_16_bits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stopped_with_more, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_killed_with_more, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_random_streams_are_restored, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_killed_at_steps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_killed_at_times, set_up, tear_down),
    };
    program = argv[0];
    return argc == 5 ? be_killed(argv) : cmocka_run_group_tests(tests, NULL, NULL);
}
