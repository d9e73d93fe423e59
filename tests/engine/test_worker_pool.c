/* SPDX-License-Identifier: Apache-2.0 */
/* Queues and their threads: order, sleeping, numbers, functions that wait. */
#include <sys/resource.h>

#include "engine/helpers.h"

static int64_t cpu_time_us(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (int64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 + u.ru_utime.tv_usec + u.ru_stime.tv_usec;
}

/* Microseconds of processor time that the whole process uses in a tenth of a second. */
static int64_t time_used_idle(void) {
    int64_t before = cpu_time_us();
    mxci_sleep_ns(100000000);
    return cpu_time_us() - before;
}

static void test_idle_threads_sleep(void **state) {
    mxc_engine *engine = make_engine(MXC_ENGINE_THREADED, 4, 0);
    _Atomic int count = 0;
    mxc_task task = make_task(count_up, (void *)&count);
    int tries = 0;
    (void)state;
    for (int i = 0; i < 1000; i++)
        assert_ok(mxc_engine_push(engine, &task, 0, NULL, 0, NULL, 0));
    assert_ok(mxc_wait_all(engine));
    while (time_used_idle() > 1000) /* OpenBLAS has a thread of its own that spins when the process starts */
        assert_true(++tries < 20);
    assert_ok(mxc_engine_push(engine, &task, 0, NULL, 0, NULL, 0));
    assert_ok(mxc_wait_all(engine)); /* and they wake */
    mxc_engine_destroy(engine);
}

/* Work that comes while workers fall asleep is never forgotten. */
static void test_no_lost_wake(void **state) {
    mxc_engine *engine = make_engine(MXC_ENGINE_THREADED, 2, 0);
    _Atomic int count = 0;
    mxc_task task = make_task(count_up, (void *)&count);
    uint64_t random = 5;
    int rounds = TEST_SCALE(2000);
    (void)state;
    for (int i = 0; i < rounds; i++) {
        mxci_sleep_ns(next_random(&random) % 300000);
        assert_ok(mxc_engine_push(engine, &task, 0, NULL, 0, NULL, 0));
        while (atomic_load(&count) <= i) /* without a wait, which might help */
            mxci_thread_yield();
    }
    mxc_engine_destroy(engine);
}

/* ---- functions that wait for others ---- */

typedef struct tower {
    mxc_engine *engine;
    mxc_var *vars[16];
    _Atomic int deepest, wrong;
} tower;

/* Level n pushes level n + 1 and waits for it, so all levels are on one worker's hands at once. */
static mxc_status climb(const mxc_run *run, void *arg) {
    tower *t = arg;
    int level = (int)run->token;
    mxc_task task = make_task(climb, t);
    mxc_status status;
    atomic_store(&t->deepest, level);
    if (level == 15)
        return MXC_OK;
    MXC_TRY(mxc_engine_push(t->engine, &task, 0, NULL, 1, &t->vars[level + 1], (uint64_t)level + 1));
    status = level % 2 ? mxc_wait_to_read(t->vars[level + 1]) : mxc_wait_to_write(t->vars[level + 1]);
    if (status == MXC_OK && mxc_var_version(t->vars[level + 1]) == 0)
        atomic_store(&t->wrong, 1);
    return status;
}

static void test_functions_may_wait(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++)
        for (int round = 0; round < 3; round++) {
            tower t = {.engine = make_engine(all_kinds[k], 1, 1)};
            mxc_task task = make_task(climb, &t);
            for (int again = 0; again < 3; again++) {
                for (int i = 0; i < 16; i++)
                    t.vars[i] = make_var(t.engine);
                assert_ok(mxc_engine_push(t.engine, &task, 0, NULL, 1, &t.vars[0], 0));
                assert_ok(mxc_wait_to_read(t.vars[0]));
                assert_int_equal(t.deepest, 15);
                assert_int_equal(t.wrong, 0);
                for (int i = 0; i < 16; i++)
                    mxc_var_delete(t.vars[i], NULL, NULL);
            }
            mxc_engine_destroy(t.engine);
        }
}

/* Afterwards no more threads run than there are workers. */
static void test_replacements_retire(void **state) {
    tower t = {.engine = make_engine(MXC_ENGINE_THREADED, 2, 1)};
    mxc_task task = make_task(climb, &t);
    barrier b = {0, 0};
    mxc_task holder = make_task(hold, &b);
    (void)state;
    for (int i = 0; i < 16; i++)
        t.vars[i] = make_var(t.engine);
    assert_ok(mxc_engine_push(t.engine, &task, 0, NULL, 1, &t.vars[0], 0));
    assert_ok(mxc_wait_all(t.engine));
    mxci_sleep_ns(20000000);
    for (int i = 0; i < 8; i++)
        assert_ok(mxc_engine_push(t.engine, &holder, 0, NULL, 0, NULL, 0));
    wait_entered(&b, 2);
    mxci_sleep_ns(50000000);
    assert_int_equal(atomic_load(&b.entered), 2);
    atomic_store(&b.open, 1);
    assert_ok(mxc_wait_all(t.engine));
    for (int i = 0; i < 16; i++)
        mxc_var_delete(t.vars[i], NULL, NULL);
    mxc_engine_destroy(t.engine);
}

/* A function that waited hands what became ready by it to the thread that took its place, which sleeps by then. */
typedef struct relay {
    mxc_var *slow;
    _Atomic int count;
} relay;

static mxc_status sleep_long(const mxc_run *run, void *arg) {
    (void)run;
    (void)arg;
    mxci_sleep_ns(3000000);
    return MXC_OK;
}

static mxc_status wait_for_slow(const mxc_run *run, void *arg) {
    (void)run;
    return mxc_wait_to_read(((relay *)arg)->slow);
}

static void test_retiring_thread_hands_over(void **state) {
    mxc_engine *engine = make_engine(MXC_ENGINE_THREADED, 1, 0);
    relay r = {make_var(engine), 0};
    mxc_var *var = make_var(engine);
    mxc_task slow = make_task(sleep_long, NULL), waiting = make_task(wait_for_slow, &r);
    mxc_task last = make_task(count_up, (void *)&r.count);
    (void)state;
    slow.property = MXC_PROP_IO;
    last.priority = 1; /* such a block is queued even if it is the only one */
    for (int i = 1; i <= TEST_SCALE(100); i++) {
        int64_t deadline = mxci_now_ns() + 5000000000;
        assert_ok(mxc_engine_push(engine, &slow, 0, NULL, 1, &r.slow, 0));
        assert_ok(mxc_engine_push(engine, &waiting, 0, NULL, 1, &var, 0));
        assert_ok(mxc_engine_push(engine, &last, 0, NULL, 1, &var, 0));
        while (atomic_load(&r.count) < i) { /* without a wait, which might help */
            assert_true(mxci_now_ns() < deadline);
            mxci_thread_yield();
        }
    }
    mxc_var_delete(var, NULL, NULL);
    mxc_var_delete(r.slow, NULL, NULL);
    mxc_engine_destroy(engine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_idle_threads_sleep),         cmocka_unit_test(test_no_lost_wake),
        cmocka_unit_test(test_functions_may_wait),         cmocka_unit_test(test_replacements_retire),
        cmocka_unit_test(test_retiring_thread_hands_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
