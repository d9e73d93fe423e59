/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous functions, which are completed by any thread, during or after the call. */
#include "engine/helpers.h"

static void complete_now(const mxc_run *run, void *arg, mxc_done *done) {
    (void)run;
    (void)arg;
    mxc_done_complete(done, MXC_OK, NULL);
}

static mxc_task make_async(mxc_task_async_fn fn, void *arg) {
    mxc_task task = MXC_TASK_INIT;
    task.async_fn = fn;
    task.arg = arg;
    return task;
}

/* Ends inside the call, at once from another thread, and later: what depends on it comes after. */
static void test_async_order(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        mxc_engine *engine = make_engine(all_kinds[k], 2, 0);
        mxc_var *var = make_var(engine);
        journal j = {.count = 0};
        completer t;
        start_completer(&t);
        for (int way = 0; way < 3; way++) {
            mxc_task async = way ? make_async(complete_elsewhere, &t) : make_async(complete_now, NULL);
            mxc_task after = make_task(note, &j);
            t.delay_ns = way == 2 ? 2000000 : 0;
            for (uint64_t i = 0; i < 20; i++) {
                uint64_t version = mxc_var_version(var);
                assert_ok(mxc_engine_push(engine, &async, 0, NULL, 1, &var, 0));
                assert_ok(mxc_engine_push(engine, &after, 1, &var, 0, NULL, i));
                if (i % 2)
                    assert_ok(mxc_wait_to_write(var));
                else
                    assert_ok(mxc_wait_all(engine));
                assert_int_equal(mxc_var_version(var), version + 1);
                assert_int_equal(j.entries[j.count - 1], i);
            }
        }
        assert_int_equal(j.count, 60);
        stop_completer(&t);
        mxc_var_delete(var, NULL, NULL);
        mxc_engine_destroy(engine);
    }
}

static void test_async_failure(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        mxc_engine *engine = make_engine(all_kinds[k], 2, 0);
        int naive = all_kinds[k] == MXC_ENGINE_NAIVE;
        mxc_var *var = make_var(engine);
        _Atomic int count = 0;
        mxc_task async, after = make_task(count_up, (void *)&count);
        completer t;
        start_completer(&t);
        async = make_async(complete_elsewhere, &t);
        async.name = "far";
        t.status = MXC_EIO;
        t.message = "the far end hung up";
        assert_status(mxc_engine_push(engine, &async, 0, NULL, 1, &var, 0), naive ? MXC_EIO : MXC_OK);
        assert_ok(mxc_engine_push(engine, &after, 1, &var, 0, NULL, 0));
        assert_fails(mxc_wait_to_write(var), MXC_EIO, "the far end hung up");
        assert_int_equal(count, 0);
        assert_fails(mxc_wait_all(engine), MXC_EIO, "the far end hung up");
        t.message = NULL;
        assert_status(mxc_engine_push(engine, &async, 0, NULL, 1, &var, 0), naive ? MXC_EIO : MXC_OK);
        assert_fails(mxc_wait_to_read(var), MXC_EIO, mxc_status_text(MXC_EIO));
        t.status = MXC_OK;
        assert_ok(mxc_engine_push(engine, &async, 0, NULL, 1, &var, 0));
        assert_ok(mxc_wait_to_read(var));
        stop_completer(&t);
        mxc_var_delete(var, NULL, NULL);
        mxc_engine_destroy(engine);
    }
}

/* An asynchronous function holds no worker, and its destroy is called once, after its end. */
static void keep_done(const mxc_run *run, void *arg, mxc_done *done) {
    (void)run;
    atomic_store((_Atomic(mxc_done *) *)arg, done);
}

static _Atomic int destroyed;
static void note_destroyed(void *arg) {
    (void)arg;
    atomic_fetch_add(&destroyed, 1);
}

static void test_async_holds_no_worker(void **state) {
    mxc_engine *engine = make_engine(MXC_ENGINE_THREADED, 1, 0);
    mxc_var *var = make_var(engine), *other = make_var(engine);
    _Atomic(mxc_done *) done = NULL;
    _Atomic int count = 0;
    mxc_task async = make_async(keep_done, (void *)&done), task = make_task(count_up, (void *)&count);
    (void)state;
    async.destroy = note_destroyed;
    atomic_store(&destroyed, 0);
    assert_ok(mxc_engine_push(engine, &async, 0, NULL, 1, &var, 0));
    while (!atomic_load(&done))
        mxci_thread_yield();
    assert_ok(mxc_engine_push(engine, &task, 0, NULL, 1, &other, 0));
    assert_ok(mxc_wait_to_read(other));
    assert_int_equal(count, 1);
    assert_false(mxc_var_idle(var));
    assert_int_equal(destroyed, 0);
    mxc_done_complete(atomic_load(&done), MXC_OK, NULL);
    assert_int_equal(destroyed, 1);
    assert_ok(mxc_wait_all(engine));
    mxc_var_delete(var, NULL, NULL);
    mxc_var_delete(other, NULL, NULL);
    mxc_engine_destroy(engine);
}

/* A prepared asynchronous operator, pushed again before its earlier runs have ended. */
static void test_async_operator(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        mxc_engine *engine = make_engine(all_kinds[k], 2, 0);
        mxc_var *var = make_var(engine);
        mxc_engine_op *op;
        mxc_task async;
        completer t;
        start_completer(&t);
        async = make_async(complete_elsewhere, &t);
        async.destroy = note_destroyed;
        atomic_store(&destroyed, 0);
        assert_ok(mxc_engine_op_create(engine, &async, 0, NULL, 1, &var, &op));
        for (int i = 0; i < 200; i++)
            assert_ok(mxc_engine_op_push(op, 0, 0));
        mxc_engine_op_destroy(op);
        assert_ok(mxc_wait_all(engine));
        assert_int_equal(mxc_var_version(var), 200);
        assert_int_equal(destroyed, 1);
        stop_completer(&t);
        mxc_var_delete(var, NULL, NULL);
        mxc_engine_destroy(engine);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_async_order),
        cmocka_unit_test(test_async_failure),
        cmocka_unit_test(test_async_holds_no_worker),
        cmocka_unit_test(test_async_operator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
