/* SPDX-License-Identifier: Apache-2.0 */
/* Forks: the child uses engines of its parent and makes its own, whatever other threads were doing at the time. */
#include "engine/fork_helpers.h"

static void test_idle(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++)
        for (int used = 0; used < 2 && can_fork(all_kinds[k]); used++) {
            mxc_engine *engine = make_engine(all_kinds[k], 2, 0);
            if (used)
                assert_int_equal(works(engine), 0);
            assert_int_equal(in_child(use_and_destroy, engine), 0);
            assert_int_equal(works(engine), 0);
            mxc_engine_destroy(engine);
        }
}

/* A grandchild, too; and engines that the child makes. */
static int make_and_fork(void *arg) {
    mxc_engine_options options = MXC_ENGINE_OPTIONS_INIT;
    mxc_engine *engine;
    int status;
    pid_t pid;
    options.workers = 2;
    if (mxc_engine_create(&options, &engine) != MXC_OK || works(engine) || works(arg))
        return 10;
    pid = fork();
    if (pid == 0) {
        alarm(CHILD_SECONDS);
        _exit(works(engine) || use_and_destroy(arg));
    }
    if (waitpid(pid, &status, 0) != pid || status != 0)
        return 11;
    mxc_engine_destroy(engine);
    return use_and_destroy(arg);
}

static void test_grandchild(void **state) {
    mxc_engine *engine;
    (void)state;
    if (!can_fork(MXC_ENGINE_THREADED))
        skip();
    engine = make_engine(MXC_ENGINE_THREADED, 2, 0);
    assert_int_equal(works(engine), 0);
    assert_int_equal(in_child(make_and_fork, engine), 0);
    assert_int_equal(works(engine), 0);
    mxc_engine_destroy(engine);
}

/* ---- while others are busy ---- */

typedef struct busy {
    mxc_engine *engine;
    mxc_var *vars[4];
    _Atomic int stop, wrong, pushed, ended;
} busy;

static mxc_status end_one(const mxc_run *run, void *arg) {
    (void)run;
    atomic_fetch_add(&((busy *)arg)->ended, 1);
    return MXC_OK;
}

static void part(void *arg, int64_t begin, int64_t end, int number) {
    (void)arg;
    (void)begin;
    (void)end;
    (void)number;
}

static mxc_status end_one_after_loop(const mxc_run *run, void *arg) {
    mxc_parallel_for(run, 100, 1, part, NULL);
    return end_one(run, arg);
}

static void keep_busy(void *arg) {
    busy *b = arg;
    uint64_t random = (uint64_t)(uintptr_t)&random;
    while (!atomic_load(&b->stop)) {
        uint32_t r = next_random(&random);
        mxc_task task = make_task(r % 8 ? end_one : end_one_after_loop, b);
        task.flags = r >> 3 & (MXC_TASK_CHEAP | MXC_TASK_HELPED);
        task.property = r % 16 == 1 ? MXC_PROP_IO : MXC_PROP_NORMAL;
        task.priority = r % 16 == 2;
        if (mxc_engine_push(b->engine, &task, 1, &b->vars[r >> 8 & 1], 1, &b->vars[2 + (r >> 9 & 1)], 0) != MXC_OK)
            atomic_fetch_add(&b->wrong, 1);
        atomic_fetch_add(&b->pushed, 1);
        if ((r % 64 == 3 && mxc_wait_all(b->engine) != MXC_OK) ||
            (r % 64 == 4 && mxc_wait_to_write(b->vars[r >> 8 & 3]) != MXC_OK))
            atomic_fetch_add(&b->wrong, 1);
    }
}

/* All that was queued at the fork runs in the child as well; a push may be counted there or not. */
static int finish(void *arg) {
    busy *b = arg;
    int missing;
    if (mxc_wait_all(b->engine) != MXC_OK)
        return 20;
    missing = atomic_load(&b->pushed) - atomic_load(&b->ended);
    if (missing > 0 || missing < -2 || atomic_load(&b->wrong))
        return 21;
    for (int i = 0; i < 4; i++)
        if (!mxc_var_idle(b->vars[i]))
            return 22;
    return use_and_destroy(b->engine);
}

static void test_under_load(void **state) {
    (void)state;
    if (TEST_SANITIZED) /* see can_fork: the threads below allocate with every engine */
        skip();
    for (int k = 0; k < KINDS; k++) {
        busy b = {.engine = make_engine(all_kinds[k], 2, 0)};
        int result = 0;
        mxci_thread threads[2];
        for (int i = 0; i < 4; i++)
            b.vars[i] = make_var(b.engine);
        for (int i = 0; i < 2; i++)
            assert_ok(mxci_thread_start(&threads[i], "busy", keep_busy, &b));
        for (int i = 0; i < 30 && result == 0; i++) {
            result = in_child(finish, &b);
            mxci_sleep_ns(1000000);
        }
        atomic_store(&b.stop, 1);
        for (int i = 0; i < 2; i++)
            mxci_thread_join(threads[i]);
        assert_int_equal(result, 0);
        assert_ok(mxc_wait_all(b.engine));
        assert_int_equal(b.wrong, 0);
        assert_int_equal(b.pushed, b.ended);
        for (int i = 0; i < 4; i++)
            mxc_var_delete(b.vars[i], NULL, NULL);
        mxc_engine_destroy(b.engine);
    }
}

/* fork() inside a function: parent and child both go on with it, the child on the only thread it has. */
static mxc_status fork_inside(const mxc_run *run, void *arg) {
    pid_t pid = fork();
    int status;
    if (pid == 0) {
        alarm(CHILD_SECONDS);
        _exit(mxc_engine_push(run->engine,
                              &(mxc_task){.size = sizeof(mxc_task), .fn = count_up, .arg = arg, .context = mxc_cpu(0)},
                              0, NULL, 0, NULL, 0) != MXC_OK);
    }
    if (waitpid(pid, &status, 0) != pid || status != 0)
        return MXC_FAIL(MXC_EUSER, "the child ended with status %d", status);
    return count_up(run, arg);
}

static void test_inside(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        if (!can_fork(all_kinds[k]))
            continue;
        mxc_engine *engine = make_engine(all_kinds[k], 2, 0);
        _Atomic int count = 0;
        mxc_task task = make_task(fork_inside, (void *)&count);
        for (int i = 0; i < 4; i++)
            assert_ok(mxc_engine_push(engine, &task, 0, NULL, 0, NULL, 0));
        assert_ok(mxc_wait_all(engine));
        assert_int_equal(count, 4);
        mxc_engine_destroy(engine);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_idle),
        cmocka_unit_test(test_grandchild),
        cmocka_unit_test(test_under_load),
        cmocka_unit_test(test_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
