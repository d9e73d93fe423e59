/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forks while other threads are inside calls: setting and reading arrays, calling operators, running an executor,
 * waiting. The child uses what it shares with them and what is its own, and checks values.
 *
 * LIBMXC_TEST_FORKS=<n> forks n times for each engine, default 40.
 */
#include "executor/nets.h"

#include <stdatomic.h>

#include <sys/wait.h>

#include <mxc/op.h>

#include "base/sys.h"

enum { LENGTH = 700, THREADS = 5, CHILD_SECONDS = 60, BATCH = 4 };

static struct {
    mxc_ndarray *shared; /* (LENGTH,), all elements equal at any time */
    mxc_ndarray *copy;   /* likewise */
    mxc_ndarray *own;    /* of the thread that forks, all 3 */
    mxc_executor *other, *mine;
    double *expected; /* outputs of mine */
    atomic_int stop, wrong;
} load;

static int is_uniform(const float *values) {
    for (int i = 1; i < LENGTH; i++)
        if (values[i] != values[0])
            return 0;
    return 1;
}

static void note(int is_right) {
    if (!is_right)
        atomic_fetch_add(&load.wrong, 1);
}

/* ---- threads of the parent --------------------------------------------------------------------------------------- */

static void get(void *arg) {
    float values[LENGTH];
    (void)arg;
    while (!atomic_load(&load.stop))
        note(mxc_ndarray_get(load.shared, values, sizeof values) == MXC_OK && is_uniform(values));
}

static void set(void *arg) {
    float values[LENGTH];
    (void)arg;
    for (int round = 0; !atomic_load(&load.stop); round++) {
        for (int i = 0; i < LENGTH; i++)
            values[i] = (float)(round % 1000);
        note(mxc_ndarray_set(load.shared, values, sizeof values) == MXC_OK);
    }
}

static void invoke(void *arg) {
    (void)arg;
    while (!atomic_load(&load.stop)) {
        mxc_ndarray *sum = NULL;
        float value = 0;
        note(mxc_invoke("sum", 1, &load.own, 0, NULL, NULL, 1, &sum) == MXC_OK &&
             mxc_ndarray_get(sum, &value, sizeof value) == MXC_OK && value == 3 * LENGTH);
        mxc_ndarray_release(sum);
    }
}

static void forward(void *arg) {
    (void)arg;
    while (!atomic_load(&load.stop))
        note(mxc_executor_forward(load.other, 0) == MXC_OK &&
             mxc_ndarray_wait_to_read(mxc_executor_output(load.other, 0)) == MXC_OK);
}

static void wait_in_turn(void *arg) {
    mxc_engine *engine = mxc_var_engine(mxc_ndarray_var(load.shared));
    (void)arg;
    while (!atomic_load(&load.stop))
        note(mxc_ndarray_copy_to(load.shared, load.copy, 0) == MXC_OK &&
             mxc_ndarray_wait_to_write(load.copy) == MXC_OK && mxc_wait_all(engine) == MXC_OK);
}

/* ---- the child --------------------------------------------------------------------------------------------------- */

static int holds(mxc_ndarray *array, float value) {
    float values[LENGTH];
    return mxc_ndarray_get(array, values, sizeof values) == MXC_OK && is_uniform(values) && values[0] == value;
}

static int invokes(void) {
    const char *key = "scalar", *value = "2";
    mxc_ndarray *product = NULL;
    int right = mxc_invoke("_mul_scalar", 1, &load.own, 1, &key, &value, 1, &product) == MXC_OK && holds(product, 6);
    mxc_ndarray_release(product);
    return right;
}

static int runs_executor(void) {
    mxc_ndarray *output = mxc_executor_output(load.mine, 0);
    float values[BATCH * 10];
    if (mxc_executor_forward(load.mine, 0) != MXC_OK || mxc_ndarray_get(output, values, sizeof values) != MXC_OK)
        return 0;
    for (int i = 0; i < BATCH * 10; i++)
        if (values[i] != load.expected[i])
            return 0;
    return 1;
}

/* 0, or the number of the step that failed. */
static int use_library(void) {
    float values[LENGTH] = {0};
    if (mxc_ndarray_get(load.shared, values, sizeof values) != MXC_OK || !is_uniform(values))
        return 1;
    if (mxc_ndarray_get(load.copy, values, sizeof values) != MXC_OK || !is_uniform(values))
        return 2;
    if (mxc_ndarray_fill(load.shared, -7) != MXC_OK || !holds(load.shared, -7))
        return 3;
    if (!holds(load.own, 3))
        return 4;
    if (!invokes())
        return 5;
    if (!runs_executor())
        return 6;
    if (mxc_wait_all(mxc_var_engine(mxc_ndarray_var(load.shared))) != MXC_OK)
        return 7;
    return holds(load.shared, -7) ? 0 : 8;
}

static int child_works(void) {
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        alarm(CHILD_SECONDS);
        _exit(use_library());
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        fail_msg("cannot fork");
    if (status != 0)
        print_error("child: %s %d\n", WIFEXITED(status) ? "failed in step" : "killed by signal",
                    WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    return status == 0;
}

/* ---- */

static int fork_count(void) {
    const char *text = getenv("LIBMXC_TEST_FORKS");
    return text && atoi(text) > 0 ? atoi(text) : 40;
}

static void make_load(void) {
    int64_t length = LENGTH;
    mxc_shape data = net_shape(2, BATCH, 12, 0, 0);
    mxc_symbol *net = net_mlp(64, 10);
    mxc_ndarray **arrays[] = {&load.shared, &load.copy, &load.own};
    atomic_store(&load.stop, 0);
    for (int i = 0; i < 3; i++) {
        assert_ok(mxc_ndarray_create(1, &length, MXC_F32, mxc_cpu(0), arrays[i]));
        assert_ok(mxc_ndarray_fill(*arrays[i], 3));
    }
    load.other = net_bind(net, NULL, &data, 0);
    load.mine = net_bind(net, NULL, &data, 0);
    net_fill_all(load.other, 1, 10);
    net_fill_all(load.mine, 2, 10);
    assert_ok(mxc_executor_forward(load.mine, 0));
    load.expected = net_read(mxc_executor_output(load.mine, 0));
    mxc_symbol_release(net);
}

static void free_load(void) {
    free(load.expected);
    mxc_executor_destroy(load.other);
    mxc_executor_destroy(load.mine);
    mxc_ndarray_release(load.shared);
    mxc_ndarray_release(load.copy);
    mxc_ndarray_release(load.own);
}

static void fork_under_load(mxc_engine_kind kind) {
    if (TEST_SANITIZED) /* see can_fork in engine/fork_helpers.h: the threads of the test allocate all the time */
        skip();
    void (*const bodies[THREADS])(void *) = {get, set, invoke, forward, wait_in_turn};
    mxc_engine_options options = MXC_ENGINE_OPTIONS_INIT;
    mxci_thread threads[THREADS];
    mxc_engine *engine;
    int failed = 0;
    options.kind = kind;
    options.workers = 2;
    assert_ok(mxc_engine_create(&options, &engine));
    mxc_engine_set_default(engine);
    make_load();
    for (int i = 0; i < THREADS; i++)
        assert_ok(mxci_thread_start(&threads[i], "load", bodies[i], NULL));
    for (int i = 0; i < fork_count(); i++)
        failed += !child_works();
    atomic_store(&load.stop, 1);
    for (int i = 0; i < THREADS; i++)
        mxci_thread_join(threads[i]);
    free_load();
    mxc_engine_set_default(NULL);
    mxc_engine_destroy(engine);
    assert_int_equal(failed, 0);
    assert_int_equal(load.wrong, 0);
}

static void threaded_engine(void **state) {
    (void)state;
    fork_under_load(MXC_ENGINE_THREADED);
}

static void naive_engine(void **state) {
    (void)state;
    fork_under_load(MXC_ENGINE_NAIVE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threaded_engine),
        cmocka_unit_test(naive_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
