/* SPDX-License-Identifier: Apache-2.0 */
/* The threaded kind: which thread runs what, queues of devices and for I/O, pushes from everywhere. */
#include "engine/helpers.h"

#include "base/device.h"

static mxc_status note_thread(const mxc_run *run, void *arg) {
    (void)run;
    *(pthread_t *)arg = pthread_self();
    return MXC_OK;
}

/* Cheap functions run on the pushing thread if they are ready and it is in no function; never at the cost of a wait. */
static mxc_status push_cheap(const mxc_run *run, void *arg) {
    mxc_task task = make_task(note_thread, arg);
    task.flags = MXC_TASK_CHEAP;
    return mxc_engine_push(run->engine, &task, 0, NULL, 0, NULL, 0);
}

static void test_cheap(void **state) {
    mxc_engine *engine = make_engine(MXC_ENGINE_THREADED, 1, 0);
    mxc_var *var = make_var(engine);
    barrier b = {0, 0};
    pthread_t where = 0;
    mxc_task cheap = make_task(note_thread, &where), outer = make_task(push_cheap, &where);
    mxc_task holder = make_task(hold, &b);
    (void)state;
    cheap.flags = MXC_TASK_CHEAP;
    assert_ok(mxc_engine_push(engine, &cheap, 0, NULL, 1, &var, 0));
    assert_true(pthread_equal(where, pthread_self()));
    assert_true(mxc_var_idle(var));
    assert_ok(mxc_engine_push(engine, &holder, 0, NULL, 1, &var, 0));
    /* Not ready: returns at once, and runs on the worker. */
    assert_ok(mxc_engine_push(engine, &cheap, 0, NULL, 1, &var, 0));
    assert_false(mxc_var_idle(var));
    where = 0;
    atomic_store(&b.open, 1);
    assert_ok(mxc_wait_to_read(var));
    assert_true(where && !pthread_equal(where, pthread_self()));
    assert_ok(mxc_engine_push(engine, &outer, 0, NULL, 0, NULL, 0));
    assert_ok(mxc_wait_all(engine));
    mxc_var_delete(var, NULL, NULL);
    mxc_engine_destroy(engine);
}

/* Functions that block on I/O keep nobody from computing, nor do those that compute hold I/O back. */
static void test_io_apart(void **state) {
    mxc_engine *engine = make_engine(MXC_ENGINE_THREADED, 1, 0);
    barrier io = {0, 0}, cpu = {0, 0};
    mxc_task io_holder = make_task(hold, &io), cpu_holder = make_task(hold, &cpu);
    pthread_t io_thread = 0, cpu_thread = 0;
    mxc_task io_task = make_task(note_thread, &io_thread), cpu_task = make_task(note_thread, &cpu_thread);
    mxc_var *var = make_var(engine);
    (void)state;
    io_holder.property = io_task.property = MXC_PROP_IO;
    for (int i = 0; i < 4; i++)
        assert_ok(mxc_engine_push(engine, &io_holder, 0, NULL, 0, NULL, 0));
    wait_entered(&io, 2);
    assert_ok(mxc_engine_push(engine, &cpu_task, 0, NULL, 1, &var, 0));
    assert_ok(mxc_wait_to_read(var));
    atomic_store(&io.open, 1);
    assert_ok(mxc_engine_push(engine, &cpu_holder, 0, NULL, 0, NULL, 0));
    wait_entered(&cpu, 1);
    assert_ok(mxc_engine_push(engine, &io_task, 0, NULL, 1, &var, 0));
    assert_ok(mxc_wait_to_read(var));
    atomic_store(&cpu.open, 1);
    assert_ok(mxc_wait_all(engine));
    assert_false(pthread_equal(io_thread, cpu_thread));
    mxc_var_delete(var, NULL, NULL);
    mxc_engine_destroy(engine);
}

/* ---- a device that counts what is asked of it ---- */

static _Atomic int created, destroyed, waited;

static int two_devices(void) {
    return 2;
}

static mxc_status create_stream(mxc_context context, void **out) {
    static int streams[64];
    *out = &streams[atomic_fetch_add(&created, 1) % 64];
    return context.id < 2 ? MXC_OK : MXC_EDEVICE;
}

static void destroy_stream(mxc_context context, void *stream) {
    (void)context;
    (void)stream;
    atomic_fetch_add(&destroyed, 1);
}

/* What was queued on the second device fails. */
static mxc_status wait_stream(mxc_context context, void *stream) {
    (void)stream;
    atomic_fetch_add(&waited, 1);
    return context.id == 1 ? MXC_FAIL(MXC_EDEVICE, "the kernel failed") : MXC_OK;
}

static const mxci_device fake = {
    .name = "gpu",
    .count = two_devices,
    .stream_create = create_stream,
    .stream_destroy = destroy_stream,
    .stream_synchronize = wait_stream,
};

typedef struct place {
    pthread_t thread;
    void *stream;
} place;

static mxc_status note_place(const mxc_run *run, void *arg) {
    *(place *)arg = (place){pthread_self(), run->stream};
    return MXC_OK;
}

/* A queue, a thread and a stream for computing and for each direction of copies; streams are waited for. */
static void test_device_queues(void **state) {
    static const mxc_property properties[] = {
        MXC_PROP_NORMAL, MXC_PROP_COPY_FROM_DEVICE, MXC_PROP_COPY_TO_DEVICE, MXC_PROP_IO, MXC_PROP_URGENT,
    };
    mxc_engine *engine = make_engine(MXC_ENGINE_THREADED, 1, 0);
    place places[3][5]; /* by round, since I/O tasks of several rounds may run at the same time */
    (void)state;
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 5; i++) {
            mxc_task task = make_task(note_place, &places[round][i]);
            task.context = mxc_gpu(0);
            task.property = properties[i];
            task.flags = MXC_TASK_CHEAP | MXC_TASK_HELPED; /* neither makes another thread run it */
            assert_ok(mxc_engine_push(engine, &task, 0, NULL, 0, NULL, 0));
        }
    assert_ok(mxc_wait_all(engine));
    for (int round = 0; round < 3; round++) {
        const place *now = places[round];
        for (int i = 0; i < 3; i++) {
            assert_non_null(now[i].stream);
            assert_ptr_equal(now[i].stream, places[0][i].stream);
            assert_false(pthread_equal(now[i].thread, pthread_self()));
            for (int k = 0; k < i; k++)
                assert_true(now[i].stream != now[k].stream && !pthread_equal(now[i].thread, now[k].thread));
        }
        assert_null(now[3].stream); /* I/O knows no streams */
        assert_ptr_equal(now[4].stream, now[0].stream);
    }
    assert_int_equal(atomic_load(&created), 3);
    assert_int_equal(atomic_load(&waited), 12);
    mxc_engine_destroy(engine);
    assert_int_equal(atomic_load(&destroyed), 3);
}

static void test_device_failure(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        mxc_engine *engine = make_engine(all_kinds[k], 1, 0);
        mxc_var *var = make_var(engine);
        place p;
        mxc_task task = make_task(note_place, &p);
        task.context = mxc_gpu(1);
        assert_status(mxc_engine_push(engine, &task, 0, NULL, 1, &var, 0), k == 0 ? MXC_EDEVICE : MXC_OK);
        assert_fails(mxc_wait_to_read(var), MXC_EDEVICE, "the kernel failed");
        task.context = mxc_gpu(2);
        assert_status(mxc_engine_push(engine, &task, 0, NULL, 1, &var, 0), MXC_EDEVICE);
        mxc_var_delete(var, NULL, NULL);
        mxc_engine_destroy(engine);
    }
    assert_int_equal(atomic_load(&created), atomic_load(&destroyed));
}

/* ---- pushes from everywhere ---- */

/* A tree of functions, each pushed by the one above, all of which change one variable, or each its own. */
typedef struct tree {
    mxc_engine *engine;
    mxc_var *vars[8];
    _Atomic int count, wrong;
} tree;

static mxc_status grow(const mxc_run *run, void *arg) {
    tree *t = arg;
    mxc_task task = make_task(grow, t);
    atomic_fetch_add(&t->count, 1);
    task.flags = run->token % 3 == 0 ? MXC_TASK_CHEAP : run->token % 3 == 1 ? MXC_TASK_HELPED : 0;
    for (int i = 0; i < 2 && run->token > 0; i++)
        if (mxc_engine_push(run->engine, &task, 0, NULL, 1, &t->vars[(run->token + (unsigned)i) % 8], run->token - 1))
            atomic_fetch_add(&t->wrong, 1);
    return MXC_OK;
}

static mxc_status read_once(const mxc_run *run, void *arg) {
    (void)run;
    (void)arg;
    return MXC_OK;
}

static void test_push_inside(void **state) {
    int depth = TEST_SANITIZED ? 10 : 14;
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        tree t = {.engine = make_engine(all_kinds[k], 3, 1)};
        mxc_task task = make_task(grow, &t), last = make_task(read_once, NULL);
        for (int i = 0; i < 8; i++)
            t.vars[i] = make_var(t.engine);
        assert_ok(mxc_engine_push(t.engine, &task, 0, NULL, 1, &t.vars[0], (uint64_t)depth));
        for (int level = 0; level <= depth; level++) /* each wait is for what had been pushed when it began */
            assert_ok(mxc_wait_all(t.engine));
        assert_ok(mxc_engine_push(t.engine, &last, 8, t.vars, 0, NULL, 0));
        assert_ok(mxc_wait_all(t.engine));
        assert_int_equal(t.count, (2 << depth) - 1);
        assert_int_equal(t.wrong, 0);
        for (int i = 0; i < 8; i++)
            mxc_var_delete(t.vars[i], NULL, NULL);
        mxc_engine_destroy(t.engine);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cheap),          cmocka_unit_test(test_io_apart),    cmocka_unit_test(test_device_queues),
        cmocka_unit_test(test_device_failure), cmocka_unit_test(test_push_inside),
    };
    if (mxci_device_register(MXC_GPU, &fake) != MXC_OK)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
