/* SPDX-License-Identifier: Apache-2.0 */
/* Waits: what they wait for and what not, from several threads, where they are refused. */
#include "engine/helpers.h"

static void test_null(void **state) {
    (void)state;
    assert_fails(mxc_wait_to_read(NULL), MXC_EINVAL, "var is NULL");
    assert_fails(mxc_wait_to_write(NULL), MXC_EINVAL, "var is NULL");
    assert_fails(mxc_wait_all(NULL), MXC_EINVAL, "engine is NULL");
    int is_done = 1;
    assert_fails(mxc_wait_to_read_for(NULL, 1, &is_done), MXC_EINVAL, "var is NULL");
    assert_int_equal(is_done, 0);
    is_done = 1;
    assert_fails(mxc_wait_all_for(NULL, 1, &is_done), MXC_EINVAL, "engine is NULL");
    assert_int_equal(is_done, 0);
}

/* A thread that pushes all the time does not keep others from seeing the end of what was pushed before. */
typedef struct stream {
    mxc_engine *engine;
    mxc_var *var;
    _Atomic int stop, ended;
    int reads;
} stream;

static mxc_status slow_step(const mxc_run *run, void *arg) {
    (void)run;
    mxci_sleep_ns(20000);
    atomic_fetch_add(&((stream *)arg)->ended, 1);
    return MXC_OK;
}

static void push_on(void *arg) {
    stream *s = arg;
    mxc_task task = make_task(slow_step, s);
    int pushed = 0;
    while (!atomic_load(&s->stop)) {
        MXC_IGNORE(mxc_engine_push(s->engine, &task, s->reads, &s->var, !s->reads, &s->var, 0));
        pushed++;
        while (pushed - atomic_load(&s->ended) > 50)
            mxci_sleep_ns(10000);
    }
}

static void test_no_starvation(void **state) {
    (void)state;
    for (int reads = 0; reads < 2; reads++)
        for (int way = 0; way < 3; way++) {
            stream s = {.engine = make_engine(MXC_ENGINE_THREADED, 2, 0), .reads = reads};
            mxci_thread thread;
            s.var = make_var(s.engine);
            assert_ok(mxci_thread_start(&thread, "stream", push_on, &s));
            while (atomic_load(&s.ended) < 10)
                mxci_sleep_ns(10000);
            for (int i = 0; i < 10; i++)
                assert_ok(way == 0   ? mxc_wait_to_read(s.var)
                          : way == 1 ? mxc_wait_to_write(s.var)
                                     : mxc_wait_all(s.engine));
            atomic_store(&s.stop, 1);
            mxci_thread_join(thread);
            assert_ok(mxc_wait_all(s.engine));
            mxc_var_delete(s.var, NULL, NULL);
            mxc_engine_destroy(s.engine);
        }
}

/* Each of several threads sees its own pushes ended, however the others push. */
typedef struct client {
    mxc_engine *engine;
    mxc_var *shared, *own;
    _Atomic int wrong;
    int number;
} client;

static void be_client(void *arg) {
    client *c = arg;
    uint64_t random = (uint64_t)c->number;
    for (int i = 0; i < TEST_SCALE(2000); i++) {
        _Atomic int count = 0;
        int pushes = 1 + (int)(next_random(&random) % 5), way = (int)(next_random(&random) % 3);
        mxc_task task = make_task(count_up, (void *)&count);
        mxc_status status;
        task.flags = next_random(&random) % 2 ? MXC_TASK_HELPED : 0;
        for (int k = 0; k < pushes; k++)
            MXC_IGNORE(mxc_engine_push(c->engine, &task, 1, &c->shared, 1, &c->own, 0));
        status = way == 0   ? mxc_wait_to_read(c->own)
                 : way == 1 ? mxc_wait_to_write(c->shared)
                            : mxc_wait_all(c->engine);
        if (status != MXC_OK || atomic_load(&count) != pushes)
            atomic_fetch_add(&c->wrong, 1);
        MXC_IGNORE(mxc_wait_to_write(c->own));
    }
}

static void test_several_threads(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        mxc_engine *engine = make_engine(all_kinds[k], 2, 0);
        mxc_var *shared = make_var(engine);
        client clients[3];
        mxci_thread threads[3];
        for (int i = 0; i < 3; i++) {
            clients[i] = (client){engine, shared, make_var(engine), 0, i};
            assert_ok(mxci_thread_start(&threads[i], "client", be_client, &clients[i]));
        }
        for (int i = 0; i < 3; i++) {
            mxci_thread_join(threads[i]);
            assert_int_equal(clients[i].wrong, 0);
            mxc_var_delete(clients[i].own, NULL, NULL);
        }
        mxc_var_delete(shared, NULL, NULL);
        mxc_engine_destroy(engine);
    }
}

/* Inside a function, waits that could never end are refused. */
static mxc_status wait_for_own(const mxc_run *run, void *arg) {
    mxc_var **vars = arg; /* reads the first, changes the second */
    mxc_status wrong = MXC_FAIL(MXC_EUSER, "a wait was not refused");
    if (mxc_wait_all(run->engine) != MXC_ESTATE || mxc_wait_to_read(vars[1]) != MXC_ESTATE ||
        mxc_wait_to_write(vars[1]) != MXC_ESTATE || mxc_wait_to_write(vars[0]) != MXC_ESTATE)
        return wrong;
    return mxc_wait_to_read(vars[0]);
}

static void test_refused_inside(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        mxc_engine *engine = make_engine(all_kinds[k], 1, 0);
        mxc_var *vars[] = {make_var(engine), make_var(engine)};
        mxc_task task = make_task(wait_for_own, vars);
        assert_ok(mxc_engine_push(engine, &task, 1, vars, 1, vars + 1, 0));
        assert_ok(mxc_wait_all(engine));
        mxc_var_delete(vars[0], NULL, NULL);
        mxc_var_delete(vars[1], NULL, NULL);
        mxc_engine_destroy(engine);
    }
}

/* A waiting thread runs functions that allow it, and no others. */
static mxc_status note_thread(const mxc_run *run, void *arg) {
    (void)run;
    *(pthread_t *)arg = pthread_self();
    return MXC_OK;
}

static void test_waiter_helps(void **state) {
    mxc_engine *engine = make_engine(MXC_ENGINE_THREADED, 1, 0);
    barrier b = {0, 0};
    mxc_task holder = make_task(hold, &b), task = MXC_TASK_INIT;
    mxc_var *var = make_var(engine);
    pthread_t helped = 0, other = 0;
    (void)state;
    assert_ok(mxc_engine_push(engine, &holder, 0, NULL, 0, NULL, 0));
    wait_entered(&b, 1); /* the only worker is busy */
    task = make_task(note_thread, &helped);
    task.flags = MXC_TASK_HELPED;
    assert_ok(mxc_engine_push(engine, &task, 0, NULL, 1, &var, 0));
    assert_ok(mxc_wait_to_read(var));
    assert_true(pthread_equal(helped, pthread_self()));
    task = make_task(note_thread, &other);
    assert_ok(mxc_engine_push(engine, &task, 0, NULL, 1, &var, 0));
    atomic_store(&b.open, 1);
    assert_ok(mxc_wait_to_read(var));
    assert_false(pthread_equal(other, pthread_self()));
    mxc_var_delete(var, NULL, NULL);
    mxc_engine_destroy(engine);
}

/* Timed waits end in time while a function holds the variable, and tell the two cases apart; the function's error is
 * returned by the wait that sees the end, and kept by those before. */
static mxc_status hold_and_fail(const mxc_run *run, void *arg) {
    MXC_TRY(hold(run, arg));
    return MXC_FAIL(MXC_EUSER, "the end");
}

static void test_limited_time(void **state) {
    (void)state;
    mxc_engine *engine = make_engine(MXC_ENGINE_THREADED, 1, 0);
    barrier b = {0, 0};
    mxc_task holder = make_task(hold_and_fail, &b), task = MXC_TASK_INIT;
    mxc_var *var = make_var(engine), *other = make_var(engine);
    int is_done = 1;
    _Atomic int ran = 0;
    assert_ok(mxc_engine_push(engine, &holder, 0, NULL, 1, &var, 0));
    wait_entered(&b, 1);
    for (int i = 0; i < 3; i++) {
        const int64_t start = mxci_now_ns();
        assert_ok(mxc_wait_to_read_for(var, i * 5, &is_done));
        assert_int_equal(is_done, 0);
        assert_ok(mxc_wait_all_for(engine, i * 5, &is_done));
        assert_int_equal(is_done, 0);
        assert_true(mxci_now_ns() - start >= i * 10000000);
        task = make_task(count_up, (void *)&ran); /* a later push, in the other epoch, which the waiting thread runs */
        task.flags = MXC_TASK_HELPED;
        assert_ok(mxc_engine_push(engine, &task, 0, NULL, 1, &other, 0));
    }
    assert_ok(mxc_wait_to_read_for(other, 60000, &is_done));
    assert_int_equal(is_done, 1);
    assert_int_equal(ran, 3);
    atomic_store(&b.open, 1);
    assert_fails(mxc_wait_to_read_for(var, INT64_MAX, &is_done), MXC_EUSER, "the end");
    assert_int_equal(is_done, 1);
    assert_fails(mxc_wait_all_for(engine, 60000, &is_done), MXC_EUSER, "the end");
    assert_int_equal(is_done, 1);
    assert_ok(mxc_wait_all_for(engine, -1, &is_done));
    assert_int_equal(is_done, 1);
    mxc_var_delete(var, NULL, NULL);
    mxc_var_delete(other, NULL, NULL);
    mxc_engine_destroy(engine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_null),
        cmocka_unit_test(test_no_starvation),
        cmocka_unit_test(test_several_threads),
        cmocka_unit_test(test_refused_inside),
        cmocka_unit_test(test_waiter_helps),
        cmocka_unit_test(test_limited_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
