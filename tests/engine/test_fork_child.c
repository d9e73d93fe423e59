/* SPDX-License-Identifier: Apache-2.0 */
/* The child of a fork: what cannot go on there is canceled. */
#include "engine/fork_helpers.h"

typedef struct lost {
    mxc_engine *engine;
    mxc_var *var, *other;
    _Atomic(mxc_done *) done;
    _Atomic int waits;
} lost;

static void keep_done(const mxc_run *run, void *arg, mxc_done *done) {
    (void)run;
    atomic_store(&((lost *)arg)->done, done);
}

static mxc_status wait_for_other(const mxc_run *run, void *arg) {
    lost *l = arg;
    (void)run;
    atomic_store(&l->waits, 1);
    return mxc_wait_to_read(l->other);
}

static int see_it_canceled(void *arg) {
    lost *l = arg;
    if (mxc_wait_to_read(l->var) != MXC_ECANCELED || !strstr(mxc_last_error(), "slow: had not ended"))
        return 30;
    if (mxc_wait_all(l->engine) != MXC_ECANCELED)
        return 31;
    mxc_var_delete(l->var, NULL, NULL);
    mxc_var_delete(l->other, NULL, NULL);
    return use_and_destroy(l->engine);
}

/* An asynchronous function whose end nobody can tell there; and a function that waits, whose thread is gone. */
static void test_lost(void **state) {
    (void)state;
    if (!can_fork(MXC_ENGINE_THREADED))
        skip();
    for (int waiting = 0; waiting < 2; waiting++) {
        lost l = {.engine = make_engine(MXC_ENGINE_THREADED, 1, 0)};
        mxc_task async = MXC_TASK_INIT, task = make_task(wait_for_other, &l);
        l.var = make_var(l.engine);
        l.other = make_var(l.engine);
        async.async_fn = keep_done;
        async.arg = &l;
        async.name = task.name = "slow";
        assert_ok(mxc_engine_push(l.engine, &async, 0, NULL, 1, waiting ? &l.other : &l.var, 0));
        if (waiting)
            assert_ok(mxc_engine_push(l.engine, &task, 0, NULL, 1, &l.var, 0));
        while (!atomic_load(&l.done) || (waiting && !atomic_load(&l.waits)))
            mxci_thread_yield();
        assert_int_equal(in_child(see_it_canceled, &l), 0);
        mxc_done_complete(atomic_load(&l.done), MXC_OK, NULL);
        assert_ok(mxc_wait_all(l.engine));
        assert_ok(mxc_wait_to_read(l.var));
        mxc_var_delete(l.var, NULL, NULL);
        mxc_var_delete(l.other, NULL, NULL);
        mxc_engine_destroy(l.engine);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
