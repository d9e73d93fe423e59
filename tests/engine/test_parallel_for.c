/* SPDX-License-Identifier: Apache-2.0 */
/* Parallel loops: every index once, the same parts each time, nested, from many functions at once, on every kind. */
#include "engine/helpers.h"

enum { MOST = 5000 };

typedef struct loop {
    int64_t n, grain;
    int parts; /* that mxc_parallel_parts said */
    int64_t begins[1024], ends[1024];
    _Atomic int touched[MOST], seen[1024], wrong;
    int nested;
} loop;

static void touch(void *arg, int64_t begin, int64_t end, int part) {
    loop *l = arg;
    if (part < 0 || part >= l->parts || atomic_fetch_add(&l->seen[part], 1))
        atomic_fetch_add(&l->wrong, 1);
    l->begins[part] = begin;
    l->ends[part] = end;
    for (int64_t i = begin; i < end; i++)
        atomic_fetch_add_explicit(&l->touched[i], 1, memory_order_relaxed);
}

static mxc_status run_loop(const mxc_run *run, void *arg) {
    loop *l = arg;
    l->parts = mxc_parallel_parts(run, l->n, l->grain);
    mxc_parallel_for(run, l->n, l->grain, touch, l);
    return MXC_OK;
}

static void check_loop(loop *l, int parallelism) {
    int64_t least = l->grain > 1 ? l->grain : 1;
    assert_int_equal(l->wrong, 0);
    assert_in_range(l->parts, l->n > 0, parallelism);
    if (l->parts > 1)
        assert_true(l->n / l->parts >= least);
    for (int p = 0; p < l->parts; p++) {
        assert_int_equal(l->seen[p], 1);
        assert_int_equal(l->begins[p], p ? l->ends[p - 1] : 0);
        assert_true(l->ends[p] - l->begins[p] <= l->n / l->parts + 1);
    }
    for (int i = 0; i < MOST; i++)
        assert_int_equal(l->touched[i], i < l->n);
}

static void test_coverage(void **state) {
    static loop l;
    uint64_t random = 9;
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        mxc_engine *engine = make_engine(all_kinds[k], 2, 3);
        mxc_task task = make_task(run_loop, &l);
        for (int i = 0; i < TEST_SCALE(300); i++) {
            memset(&l, 0, sizeof l);
            l.n = i < 10 ? i - 2 : (int64_t)(next_random(&random) % MOST);
            l.grain = next_random(&random) % 3 ? (int64_t)(next_random(&random) % 2000) - 5 : 1;
            task.flags = i % 3 == 0 ? MXC_TASK_CHEAP : 0;
            assert_ok(mxc_engine_push(engine, &task, 0, NULL, 0, NULL, 0));
            assert_ok(mxc_wait_all(engine));
            check_loop(&l, mxc_engine_parallelism(engine));
        }
        mxc_engine_destroy(engine);
    }
}

static void test_without_run(void **state) {
    static loop l;
    (void)state;
    l.n = 1000;
    l.grain = 1;
    l.parts = mxc_parallel_parts(NULL, l.n, l.grain);
    assert_int_equal(l.parts, 1);
    mxc_parallel_for(NULL, l.n, l.grain, touch, &l);
    check_loop(&l, 1);
    assert_int_equal(mxc_parallel_parts(NULL, 0, 1), 0);
    mxc_parallel_for(NULL, 0, 1, touch, NULL);
}

/* The parts are those of the parallelism, whatever the kind and the number of workers. */
static void test_same_parts(void **state) {
    static loop l[4];
    (void)state;
    for (int k = 0; k < 4; k++) {
        mxc_engine *engine = make_engine(all_kinds[k % KINDS], k + 1, 3);
        mxc_task task = make_task(run_loop, &l[k]);
        l[k].n = 1237;
        l[k].grain = 200;
        assert_ok(mxc_engine_push(engine, &task, 0, NULL, 0, NULL, 0));
        assert_ok(mxc_wait_all(engine));
        check_loop(&l[k], 4);
        assert_int_equal(l[k].parts, 4);
        assert_memory_equal(l[k].begins, l[0].begins, sizeof l[0].begins);
        mxc_engine_destroy(engine);
    }
}

/* ---- dynamic ---- */

typedef struct dynamic_loop {
    int64_t n, grain;
    _Atomic int touched[MOST], running[1024], parts, wrong;
} dynamic_loop;

/* No two parts that run at one time have the same number, which is below the parallelism. */
static void touch_as_thread(void *arg, int64_t begin, int64_t end, int thread) {
    dynamic_loop *l = arg;
    if (thread < 0 || thread >= 4 || atomic_fetch_add(&l->running[thread], 1) || begin >= end)
        atomic_fetch_add(&l->wrong, 1);
    if (end - begin < l->grain)
        atomic_fetch_add(&l->wrong, l->n >= l->grain);
    for (int64_t i = begin; i < end; i++)
        atomic_fetch_add_explicit(&l->touched[i], 1, memory_order_relaxed);
    atomic_fetch_add(&l->parts, 1);
    atomic_fetch_sub(&l->running[thread], 1);
}

static mxc_status run_dynamic(const mxc_run *run, void *arg) {
    dynamic_loop *l = arg;
    mxc_parallel_for_dynamic(run, l->n, l->grain, touch_as_thread, l);
    return MXC_OK;
}

static void test_dynamic_coverage(void **state) {
    static dynamic_loop l;
    uint64_t random = 11;
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        mxc_engine *engine = make_engine(all_kinds[k], 2, 3);
        mxc_task task = make_task(run_dynamic, &l);
        for (int i = 0; i < TEST_SCALE(300); i++) {
            memset(&l, 0, sizeof l);
            l.n = i < 10 ? i - 2 : (int64_t)(next_random(&random) % MOST);
            l.grain = next_random(&random) % 3 ? (int64_t)(next_random(&random) % 500) - 5 : 1;
            assert_ok(mxc_engine_push(engine, &task, 0, NULL, 0, NULL, 0));
            assert_ok(mxc_wait_all(engine));
            assert_int_equal(l.wrong, 0);
            if (l.n >= 100 && l.grain <= 1)
                assert_in_range(l.parts, 5, l.n); /* more than threads */
            for (int j = 0; j < MOST; j++)
                assert_int_equal(l.touched[j], j < l.n);
        }
        mxc_engine_destroy(engine);
    }
    memset(&l, 0, sizeof l);
    l.n = 1000;
    mxc_parallel_for_dynamic(NULL, l.n, 1, touch_as_thread, &l);
    mxc_parallel_for_dynamic(NULL, 0, 1, touch_as_thread, NULL);
    mxc_parallel_for_dynamic(NULL, 10, 1, NULL, NULL);
    assert_int_equal(l.parts, 1);
    assert_int_equal(l.wrong, 0);
}

typedef struct stalled_loop {
    _Atomic int ended, others; /* items; of these while the first one had not ended */
} stalled_loop;

/* The first item lasts until the others that are not of its part have ended: their owner's are left to whoever comes.
 */
static void stall_first(void *arg, int64_t begin, int64_t end, int thread) {
    stalled_loop *l = arg;
    const int64_t give_up = mxci_now_ns() + 5000000000;
    (void)thread;
    while (begin == 0 && atomic_load(&l->ended) < 64 - (int)end && mxci_now_ns() < give_up)
        mxci_thread_yield();
    if (begin == 0)
        atomic_store(&l->others, atomic_load(&l->ended));
    atomic_fetch_add(&l->ended, (int)(end - begin));
}

static mxc_status run_stalled(const mxc_run *run, void *arg) {
    mxc_parallel_for_dynamic(run, 64, 1, stall_first, arg);
    return MXC_OK;
}

/* A thread that is held up in one part does not hold up the parts that were meant for it. */
static void test_stalled_thread(void **state) {
    mxc_engine *engine = make_engine(MXC_ENGINE_THREADED, 2, 0);
    (void)state;
    for (int i = 0; i < 20; i++) {
        stalled_loop l = {0, 0};
        mxc_task task = make_task(run_stalled, &l);
        assert_ok(mxc_engine_push(engine, &task, 0, NULL, 0, NULL, 0));
        assert_ok(mxc_wait_all(engine));
        assert_int_equal(l.ended, 64);
        assert_int_equal(l.others, 64 - 64 / (4 * 8));
    }
    mxc_engine_destroy(engine);
}

/* ---- nested, and many at once ---- */

typedef struct nest {
    const mxc_run *run;
    _Atomic int64_t sum;
    _Atomic int wrong;
} nest;

static void inner(void *arg, int64_t begin, int64_t end, int part) {
    nest *n = arg;
    if (part != 0)
        atomic_fetch_add(&n->wrong, 1);
    atomic_fetch_add(&n->sum, end - begin);
}

static void outer(void *arg, int64_t begin, int64_t end, int part) {
    nest *n = arg;
    (void)part;
    for (int64_t i = begin; i < end; i++) {
        if (mxc_parallel_parts(n->run, 100, 1) != 1)
            atomic_fetch_add(&n->wrong, 1);
        mxc_parallel_for(n->run, 100, 1, inner, n);
    }
}

static mxc_status run_nest(const mxc_run *run, void *arg) {
    nest *n = arg;
    n->run = run;
    mxc_parallel_for(run, 64, 1, outer, n);
    return MXC_OK;
}

static void test_many_nested(void **state) {
    enum { MANY = 40 };
    static nest nests[MANY];
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        mxc_engine *engine = make_engine(all_kinds[k], 3, 0);
        for (int round = 0; round < TEST_SCALE(50); round++) {
            memset(nests, 0, sizeof nests);
            for (int i = 0; i < MANY; i++) {
                mxc_task task = make_task(run_nest, &nests[i]);
                task.flags = i % 2 ? MXC_TASK_HELPED : 0;
                task.property = i % 5 ? MXC_PROP_NORMAL : MXC_PROP_IO;
                assert_ok(mxc_engine_push(engine, &task, 0, NULL, 0, NULL, 0));
            }
            assert_ok(mxc_wait_all(engine));
            for (int i = 0; i < MANY; i++) {
                assert_int_equal(nests[i].sum, 6400);
                assert_int_equal(nests[i].wrong, 0);
            }
        }
        mxc_engine_destroy(engine);
    }
}

/* A part that pushes, which parts may. */
static void pushing_part(void *arg, int64_t begin, int64_t end, int part) {
    nest *n = arg;
    mxc_task task = make_task(count_up, (void *)&n->wrong);
    (void)part;
    task.flags = MXC_TASK_CHEAP;
    for (int64_t i = begin; i < end; i++)
        if (mxc_engine_push(n->run->engine, &task, 0, NULL, 0, NULL, 0) == MXC_OK)
            atomic_fetch_add(&n->sum, 1);
}

static mxc_status run_pushing(const mxc_run *run, void *arg) {
    ((nest *)arg)->run = run;
    mxc_parallel_for(run, 1000, 1, pushing_part, arg);
    return MXC_OK;
}

static void test_parts_push(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        mxc_engine *engine = make_engine(all_kinds[k], 3, 0);
        nest n = {.sum = 0};
        mxc_task task = make_task(run_pushing, &n);
        assert_ok(mxc_engine_push(engine, &task, 0, NULL, 0, NULL, 0));
        assert_ok(mxc_wait_all(engine));
        assert_ok(mxc_wait_all(engine));
        assert_int_equal(n.sum, 1000);
        assert_int_equal(n.wrong, 1000);
        mxc_engine_destroy(engine);
    }
}

/* Sleeping workers and waiters come to a loop: with two parts that wait for each other, somebody must. */
static void meet(void *arg, int64_t begin, int64_t end, int part) {
    _Atomic int *here = arg;
    int64_t give_up = mxci_now_ns() + 5000000000;
    (void)begin;
    (void)end;
    (void)part;
    atomic_fetch_add(here, 1);
    while (atomic_load(here) < 2 && mxci_now_ns() < give_up)
        mxci_thread_yield();
}

static mxc_status run_meeting(const mxc_run *run, void *arg) {
    mxci_sleep_ns(3000000); /* those who looked for work have gone to sleep */
    mxc_parallel_for(run, 2, 1, meet, arg);
    return MXC_OK;
}

static void test_sleepers_come(void **state) {
    (void)state;
    for (int workers = 1; workers <= 2; workers++) { /* 1: the waiting main thread has to come */
        mxc_engine *engine = make_engine(MXC_ENGINE_THREADED, workers, 0);
        for (int i = 0; i < 20; i++) {
            _Atomic int here = 0;
            mxc_task task = make_task(run_meeting, (void *)&here);
            int64_t begin = mxci_now_ns();
            assert_ok(mxc_engine_push(engine, &task, 0, NULL, 0, NULL, 0));
            assert_ok(mxc_wait_all(engine));
            assert_int_equal(here, 2);
            assert_true(mxci_now_ns() - begin < 4000000000);
        }
        mxc_engine_destroy(engine);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coverage),       cmocka_unit_test(test_without_run),
        cmocka_unit_test(test_same_parts),     cmocka_unit_test(test_dynamic_coverage),
        cmocka_unit_test(test_stalled_thread), cmocka_unit_test(test_many_nested),
        cmocka_unit_test(test_parts_push),     cmocka_unit_test(test_sleepers_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
