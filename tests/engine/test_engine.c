/* SPDX-License-Identifier: Apache-2.0 */
/* Engines from creation to destruction: options, several at once, the default one. */
#include <stdlib.h>
#include <sys/mman.h>

#include "engine/fork_helpers.h"

static void test_bad_options(void **state) {
    mxc_engine_options options = MXC_ENGINE_OPTIONS_INIT;
    mxc_engine *engine = (mxc_engine *)&options;
    (void)state;
    options.size = 4;
    assert_fails(mxc_engine_create(&options, &engine), MXC_EINVAL, "options->size is 4");
    assert_null(engine);
    options.size = sizeof options;
    options.kind = (mxc_engine_kind)7;
    assert_fails(mxc_engine_create(&options, &engine), MXC_EINVAL, "7 is not a kind");
    options.kind = MXC_ENGINE_THREADED;
    options.workers = -1;
    assert_fails(mxc_engine_create(&options, &engine), MXC_EINVAL, "-1 workers");
    options.workers = 1;
    options.parallelism = 100000;
    assert_fails(mxc_engine_create(&options, &engine), MXC_EINVAL, "parallelism 100000");
}

static void test_numbers(void **state) {
    mxc_engine_options options = MXC_ENGINE_OPTIONS_INIT;
    mxc_engine *engine;
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        engine = make_engine(all_kinds[k], 3, 0);
        assert_int_equal(mxc_engine_get_kind(engine), all_kinds[k]);
        assert_int_equal(mxc_engine_parallelism(engine), 4);
        assert_true(mxc_engine_thread_limit(engine) >= 1);
        mxc_engine_destroy(engine);
    }
    assert_ok(mxc_engine_create(NULL, &engine));
    assert_int_equal(mxc_engine_get_kind(engine), options.kind);
    assert_true(mxc_engine_parallelism(engine) >= 1);
    mxc_engine_destroy(engine);
    mxc_engine_destroy(NULL);
    assert_fails(mxc_var_create(NULL, (mxc_var *[1]){0}), MXC_EINVAL, "engine must not be NULL");
    mxc_engine_op_destroy(NULL);
}

static mxc_status take_a_while(const mxc_run *run, void *arg) {
    mxci_sleep_ns(1000000);
    return count_up(run, arg);
}

/* Destroying waits for what was pushed, and what that pushes: also in an engine that was never waited for. */
static mxc_status push_again(const mxc_run *run, void *arg) {
    mxc_task task = make_task(run->token ? push_again : count_up, arg);
    return mxc_engine_push(run->engine, &task, 0, NULL, 0, NULL, run->token - 1);
}

static void test_destroy_waits(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        mxc_engine *engine = make_engine(all_kinds[k], 2, 0);
        mxc_var *var = make_var(engine);
        _Atomic int count = 0;
        mxc_task task = make_task(take_a_while, (void *)&count);
        for (int i = 0; i < 10; i++)
            assert_ok(mxc_engine_push(engine, &task, 0, NULL, i % 2, &var, 0));
        task.fn = push_again;
        assert_ok(mxc_engine_push(engine, &task, 0, NULL, 1, &var, 20));
        mxc_var_delete(var, count_destroy, (void *)&count);
        mxc_engine_destroy(engine);
        assert_int_equal(count, 12);
    }
}

/* Engines of all kinds side by side; functions of one push to the next and wait there. */
typedef struct hop {
    mxc_engine *engine;
    mxc_var *var;
    struct hop *next;
    _Atomic int *count;
} hop;

static mxc_status hop_on(const mxc_run *run, void *arg) {
    hop *h = arg;
    mxc_task task = make_task(hop_on, h->next);
    atomic_fetch_add(h->count, 1);
    if (run->engine != h->engine)
        return MXC_FAIL(MXC_EUSER, "on the wrong engine");
    if (!h->next)
        return MXC_OK;
    MXC_TRY(mxc_engine_push(h->next->engine, &task, 0, NULL, 1, &h->next->var, 0));
    return mxc_wait_to_read(h->next->var);
}

static void test_several_engines(void **state) {
    enum { ENGINES = 6 };
    hop hops[ENGINES];
    _Atomic int count = 0;
    int rounds = TEST_SCALE(300);
    (void)state;
    for (int i = 0; i < ENGINES; i++) {
        mxc_engine *engine = make_engine(all_kinds[i % KINDS], 1, 0);
        hops[i] = (hop){engine, make_var(engine), i + 1 < ENGINES ? &hops[i + 1] : NULL, &count};
    }
    for (int round = 1; round <= rounds; round++) {
        mxc_task task = make_task(hop_on, hops);
        assert_ok(mxc_engine_push(hops[0].engine, &task, 0, NULL, 1, &hops[0].var, 0));
        assert_ok(mxc_wait_to_read(hops[0].var));
        assert_int_equal(count, round * ENGINES);
    }
    for (int i = 0; i < ENGINES; i++) {
        assert_ok(mxc_wait_all(hops[i].engine));
        mxc_var_delete(hops[i].var, NULL, NULL);
        mxc_engine_destroy(hops[i].engine);
    }
}

/* Threads that each make, use and destroy engines. */
static void live(void *arg) {
    _Atomic int *wrong = arg;
    for (int i = 0; i < TEST_SCALE(60); i++) {
        mxc_engine_options options = MXC_ENGINE_OPTIONS_INIT;
        mxc_engine *engine;
        _Atomic int count = 0;
        mxc_task task = make_task(count_up, (void *)&count);
        options.kind = all_kinds[i % KINDS];
        options.workers = 1 + i % 3;
        if (mxc_engine_create(&options, &engine) != MXC_OK) {
            atomic_fetch_add(wrong, 1);
            return;
        }
        for (int k = 0; k < 20; k++)
            if (mxc_engine_push(engine, &task, 0, NULL, 0, NULL, 0) != MXC_OK)
                atomic_fetch_add(wrong, 1);
        mxc_engine_destroy(engine);
        if (count != 20)
            atomic_fetch_add(wrong, 1);
    }
}

static void test_many_lives(void **state) {
    mxci_thread threads[4];
    _Atomic int wrong = 0;
    int64_t blocks = mxci_alloc_live();
    (void)state;
    for (int i = 0; i < 4; i++)
        assert_ok(mxci_thread_start(&threads[i], "life", live, (void *)&wrong));
    for (int i = 0; i < 4; i++)
        mxci_thread_join(threads[i]);
    assert_int_equal(wrong, 0);
    assert_int_equal(mxci_alloc_live(), blocks);
}

static void test_default(void **state) {
    mxc_engine *standard, *found, *mine = make_engine(MXC_ENGINE_NAIVE, 0, 0);
    (void)state;
    assert_ok(mxc_engine_default(&standard));
    assert_ok(mxc_engine_default(&found));
    assert_ptr_equal(found, standard);
    mxc_engine_set_default(mine);
    assert_ok(mxc_engine_default(&found));
    assert_ptr_equal(found, mine);
    mxc_engine_set_default(NULL);
    assert_ok(mxc_engine_default(&found));
    assert_ptr_equal(found, standard);
    mxc_engine_destroy(mine);
}

/* exit() waits for the default engine's queued work, and does not wait for a function that itself calls it. */
static mxc_status slow_count(const mxc_run *run, void *arg) {
    mxci_sleep_ns(2000000);
    return count_up(run, arg);
}

static mxc_status leave(const mxc_run *run, void *arg) {
    (void)run;
    (void)arg;
    exit(8);
}

static int queue_and_exit(void *arg) {
    mxc_task task = make_task(arg ? slow_count : leave, arg);
    mxc_engine *engine;
    mxc_var *var;
    if (mxc_engine_default(&engine) != MXC_OK || mxc_var_create(engine, &var) != MXC_OK)
        return 1;
    for (int i = 0; i < (arg ? 30 : 1); i++)
        if (mxc_engine_push(engine, &task, 0, NULL, 1, &var, 0) != MXC_OK)
            return 2;
    if (arg)
        exit(7);
    return mxc_wait_to_read(var) == MXC_OK ? 3 : 4;
}

static void test_exit(void **state) {
    _Atomic int *count;
    (void)state;
    if (!can_fork(MXC_ENGINE_THREADED))
        skip();
    count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(count != MAP_FAILED);
    fflush(stdout);
    fflush(stderr);
    assert_int_equal(in_child(queue_and_exit, (void *)count), 7);
    assert_int_equal(atomic_load(count), 30);
    assert_int_equal(in_child(queue_and_exit, NULL), 8);
    assert_int_equal(munmap(count, sizeof *count), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exit),          cmocka_unit_test(test_bad_options),     cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_destroy_waits), cmocka_unit_test(test_several_engines), cmocka_unit_test(test_many_lives),
        cmocka_unit_test(test_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
