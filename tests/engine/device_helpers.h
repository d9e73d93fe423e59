/* SPDX-License-Identifier: Apache-2.0 */
/* What the engine's tests of devices share: a fixture with an engine over the fake device, and functions that queue
 * work on it. fake_hold keeps that work from being done until fake_go_on. */
#ifndef MXC_TESTS_ENGINE_DEVICE_HELPERS_H
#define MXC_TESTS_ENGINE_DEVICE_HELPERS_H

#include "engine/helpers.h"
#include "fake_device.h"

/* A function whose work adds one to a number, or stores what another number is. */
typedef struct job {
    int *to;
    const int *from; /* NULL: add one */
    _Atomic int called;
} job;

static inline void do_job(void *arg) {
    job *j = arg;
    *j->to = j->from ? *j->from : *j->to + 1;
}

static inline mxc_status run_job(const mxc_run *run, void *arg) {
    job *j = arg;
    atomic_fetch_add(&j->called, 1);
    if (run->stream)
        fake_submit(run->stream, do_job, j);
    else
        do_job(j);
    return MXC_OK;
}

static inline void push_job(mxc_engine *engine, job *j, mxc_context context, mxc_property property, mxc_var *reads,
                            mxc_var *writes) {
    mxc_task task = make_task(run_job, j);
    task.context = context;
    task.property = property;
    assert_ok(mxc_engine_push(engine, &task, reads != NULL, &reads, writes != NULL, &writes, 0));
}

enum { LOOKS = 50000, BETWEEN_NS = 100000 }; /* some seconds at most */

static inline void await_calls(job *j, int calls) {
    for (int i = 0; i < LOOKS && atomic_load(&j->called) < calls; i++)
        mxci_sleep_ns(BETWEEN_NS);
    assert_int_equal(atomic_load(&j->called), calls);
}

static inline void await_idle(mxc_var *var) {
    for (int i = 0; i < LOOKS && !mxc_var_idle(var); i++)
        mxci_sleep_ns(BETWEEN_NS);
    assert_true(mxc_var_idle(var));
}

static inline void go_on_soon(void *arg) {
    (void)arg;
    mxci_sleep_ns(20000000);
    fake_go_on();
}

typedef struct fixture {
    mxc_engine *engine;
    mxc_var *a, *b;
    int x, y;
    job change, copy; /* x + 1; y = x */
    mxci_thread helper;
} fixture;

static inline int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    f->engine = make_engine(MXC_ENGINE_THREADED, 1, 0);
    f->a = make_var(f->engine);
    f->b = make_var(f->engine);
    f->change = (job){.to = &f->x};
    f->copy = (job){.to = &f->y, .from = &f->x};
    atomic_store(&fake.waits, 0);
    atomic_store(&fake.stream_waits, 0);
    *state = f;
    return 0;
}

static inline int tear_down(void **state) {
    fixture *f = *state;
    fake_go_on();
    mxc_var_delete(f->a, NULL, NULL);
    mxc_var_delete(f->b, NULL, NULL);
    mxc_engine_destroy(f->engine);
    atomic_store(&fake.fail_in, 0);
    free(f);
    return 0;
}

static inline void release_soon(fixture *f) {
    assert_ok(mxci_thread_start(&f->helper, "helper", go_on_soon, NULL));
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
