/* SPDX-License-Identifier: Apache-2.0 */
/* The seeded kind: one number is one schedule, every schedule comes up, and nothing runs but at waits. */
#include "engine/helpers.h"

enum { STEPS = 40 };

/* Journal of a small graph: chains on four variables, with functions between them. */
static void run_graph(uint64_t seed, journal *j) {
    mxc_engine *engine = make_engine(MXC_ENGINE_SEEDED, 0, seed);
    mxc_task task = make_task(note, j);
    mxc_var *vars[4];
    j->count = 0;
    for (int i = 0; i < 4; i++)
        vars[i] = make_var(engine);
    for (int i = 0; i < STEPS; i++) {
        if (i % 5 == 4)
            assert_ok(mxc_engine_push(engine, &task, 1, &vars[i % 4], 1, &vars[(i + 1) % 4], (uint64_t)i));
        else
            assert_ok(mxc_engine_push(engine, &task, 0, NULL, 1, &vars[i % 4], (uint64_t)i));
    }
    assert_ok(mxc_wait_all(engine));
    assert_int_equal(j->count, STEPS);
    for (int i = 0; i < 4; i++)
        mxc_var_delete(vars[i], NULL, NULL);
    mxc_engine_destroy(engine);
}

static void test_replay(void **state) {
    static journal first, again, other;
    int different = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        run_graph(seed, &first);
        run_graph(seed, &again);
        run_graph(seed + 1000, &other);
        assert_memory_equal(first.entries, again.entries, STEPS * sizeof *first.entries);
        different += memcmp(first.entries, other.entries, STEPS * sizeof *first.entries) != 0;
    }
    assert_int_equal(different, 50);
}

/* All orders of four functions that do not depend on each other. */
static void test_every_order(void **state) {
    int seen[256] = {0}, orders = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 500; seed++) {
        mxc_engine *engine = make_engine(MXC_ENGINE_SEEDED, 0, seed);
        journal j = {.count = 0};
        mxc_task task = make_task(note, &j);
        int order;
        for (uint64_t i = 0; i < 4; i++)
            assert_ok(mxc_engine_push(engine, &task, 0, NULL, 0, NULL, i));
        assert_ok(mxc_wait_all(engine));
        order = (int)(j.entries[0] << 6 | j.entries[1] << 4 | j.entries[2] << 2 | j.entries[3]);
        orders += !seen[order]++;
        mxc_engine_destroy(engine);
    }
    assert_int_equal(orders, 24);
}

static void test_runs_at_waits_only(void **state) {
    mxc_engine *engine = make_engine(MXC_ENGINE_SEEDED, 0, 1);
    mxc_var *a = make_var(engine), *b = make_var(engine);
    _Atomic int count = 0;
    mxc_task task = make_task(count_up, (void *)&count);
    (void)state;
    task.flags = MXC_TASK_CHEAP;
    for (int i = 0; i < 10; i++)
        assert_ok(mxc_engine_push(engine, &task, 0, NULL, 1, &a, 0));
    assert_int_equal(count, 0);
    assert_ok(mxc_wait_to_read(b)); /* nothing to wait for */
    assert_int_equal(count, 0);
    assert_ok(mxc_wait_to_read(a));
    assert_int_equal(count, 10);
    mxc_var_delete(a, NULL, NULL);
    mxc_var_delete(b, NULL, NULL);
    mxc_engine_destroy(engine);
}

/* The parts of a loop come in various orders, too. */
static void note_part(void *arg, int64_t begin, int64_t end, int part) {
    journal *j = arg;
    (void)begin;
    (void)end;
    j->entries[atomic_fetch_add(&j->count, 1)] = (uint64_t)part;
}

static mxc_status run_loop(const mxc_run *run, void *arg) {
    mxc_parallel_for(run, 100, 1, note_part, arg);
    return MXC_OK;
}

static void test_parts(void **state) {
    int seen[256] = {0}, orders = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        mxc_engine *engine = make_engine(MXC_ENGINE_SEEDED, 0, seed);
        journal j = {.count = 0};
        mxc_task task = make_task(run_loop, &j);
        assert_ok(mxc_engine_push(engine, &task, 0, NULL, 0, NULL, 0));
        assert_ok(mxc_wait_all(engine));
        assert_int_equal(j.count, 4);
        orders += !seen[j.entries[0] << 6 | j.entries[1] << 4 | j.entries[2] << 2 | j.entries[3]]++;
        mxc_engine_destroy(engine);
    }
    assert_true(orders >= 8); /* 4 first parts, 2 steps */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replay),
        cmocka_unit_test(test_every_order),
        cmocka_unit_test(test_runs_at_waits_only),
        cmocka_unit_test(test_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
