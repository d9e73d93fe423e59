/* SPDX-License-Identifier: Apache-2.0 */
/* Thread slots: the numbers under which functions run, and the streams of threads that are no workers. */
#include "fake_device.h"
#include "engine/helpers.h"

/* No two functions run with one number at the same time, and all numbers are below the limit. */
typedef struct numbers {
    _Atomic int in_use[256], wrong;
    int limit;
} numbers;

static mxc_status use_number(const mxc_run *run, void *arg) {
    numbers *n = arg;
    if (run->worker < 0 || run->worker >= n->limit || atomic_fetch_add(&n->in_use[run->worker], 1))
        atomic_fetch_add(&n->wrong, 1);
    for (int i = 0; i < 50; i++)
        mxci_pause();
    atomic_fetch_sub(&n->in_use[run->worker], 1);
    return MXC_OK;
}

typedef struct pusher {
    mxc_engine *engine;
    numbers *n;
} pusher;

static void push_numbers(void *arg) {
    pusher *p = arg;
    mxc_task task = make_task(use_number, p->n);
    for (int i = 0; i < TEST_SCALE(5000); i++) {
        task.flags = i % 2 ? MXC_TASK_CHEAP : MXC_TASK_HELPED;
        task.property = i % 7 ? MXC_PROP_NORMAL : MXC_PROP_IO;
        if (mxc_engine_push(p->engine, &task, 0, NULL, 0, NULL, 0) != MXC_OK ||
            (i % 100 == 0 && mxc_wait_all(p->engine) != MXC_OK))
            atomic_fetch_add(&p->n->wrong, 1);
    }
}

static void test_numbers(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        static numbers n;
        mxc_engine *engine = make_engine(all_kinds[k], 3, 0);
        pusher p = {engine, &n};
        mxci_thread threads[3];
        n.limit = mxc_engine_thread_limit(engine);
        assert_true(n.limit <= 256);
        for (int i = 0; i < 3; i++)
            assert_ok(mxci_thread_start(&threads[i], "pusher", push_numbers, &p));
        push_numbers(&p);
        for (int i = 0; i < 3; i++)
            mxci_thread_join(threads[i]);
        assert_ok(mxc_wait_all(engine));
        assert_int_equal(n.wrong, 0);
        mxc_engine_destroy(engine);
    }
}

static void add_one(void *arg) {
    ++*(int *)arg;
}

static mxc_status queue_one(const mxc_run *run, void *arg) {
    fake_submit(run->stream, add_one, arg);
    return MXC_OK;
}

/* A thread's functions on a device share a stream; one that has failed is not used again. */
static void test_streams_are_kept(void **state) {
    mxc_engine *engine = make_engine(MXC_ENGINE_NAIVE, 0, 0);
    mxc_var *var = make_var(engine);
    int sums[FAKE_DEVICES] = {0};
    (void)state;
    assert_ok(mxci_device_register(MXC_GPU, &fake_device));
    for (int i = 0; i < 100; i++) {
        mxc_task task = make_task(queue_one, &sums[i % FAKE_DEVICES]);
        task.context = mxc_gpu(i % FAKE_DEVICES);
        assert_ok(mxc_engine_push(engine, &task, 0, NULL, 1, &var, 0));
        assert_int_equal(sums[i % FAKE_DEVICES], i / FAKE_DEVICES + 1); /* done when the push returns */
        if (i == 49)
            atomic_store(&fake.fail_in, 1);
        if (i == 49)
            assert_fails(mxc_engine_push(engine, &task, 0, NULL, 1, &var, 0), MXC_EDEVICE, "failed");
    }
    assert_int_equal(atomic_load(&fake.streams), FAKE_DEVICES + 1);
    mxc_var_delete(var, NULL, NULL);
    mxc_engine_destroy(engine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_streams_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
