/* The naive kind: a push runs its function before it returns, also from inside functions, and says how it went. */
#include "engine/helpers.h"
#include "fake_device.h"

static void test_runs_in_push(void **state) {
    mxc_engine *engine = make_engine(MXC_ENGINE_NAIVE, 0, 0);
    mxc_var *var = make_var(engine);
    _Atomic int count = 0;
    mxc_task task = make_task(count_up, (void *)&count);
    static const mxc_property properties[] = {
        MXC_PROP_NORMAL, MXC_PROP_COPY_FROM_DEVICE, MXC_PROP_COPY_TO_DEVICE, MXC_PROP_IO, MXC_PROP_URGENT,
    };
    (void)state;
    for (int i = 0; i < 5; i++) {
        task.property = properties[i];
        assert_ok(mxc_engine_push(engine, &task, 0, NULL, 1, &var, 0));
        assert_int_equal(count, i + 1);
        assert_true(mxc_var_idle(var));
    }
    mxc_var_delete(var, NULL, NULL);
    mxc_engine_destroy(engine);
}

static mxc_status go_wrong(const mxc_run *run, void *arg) {
    (void)run;
    (void)arg;
    return MXC_FAIL(MXC_EUSER, "on purpose");
}

static void test_push_returns_failure(void **state) {
    mxc_engine *engine = make_engine(MXC_ENGINE_NAIVE, 0, 0);
    mxc_var *var = make_var(engine);
    _Atomic int count = 0;
    mxc_task failing = make_task(go_wrong, NULL), task = make_task(count_up, (void *)&count);
    (void)state;
    assert_fails(mxc_engine_push(engine, &failing, 0, NULL, 1, &var, 0), MXC_EUSER, "on purpose");
    assert_ok(mxc_engine_push(engine, &task, 1, &var, 0, NULL, 0)); /* skipped: not its own failure */
    assert_int_equal(count, 0);
    assert_fails(mxc_wait_to_read(var), MXC_EUSER, "on purpose");
    mxc_var_delete(var, NULL, NULL);
    mxc_engine_destroy(engine);
}

/* Level n notes itself, pushes the next one, and notes itself again. */
typedef struct nest {
    mxc_engine *engine;
    mxc_var *var;
    journal j;
    int depth;
} nest;

static mxc_status descend(const mxc_run *run, void *arg) {
    nest *n = arg;
    mxc_task task = make_task(descend, n);
    n->j.entries[n->j.count++] = run->token;
    if (run->token < (uint64_t)n->depth)
        MXC_TRY(mxc_engine_push(n->engine, &task, n->var != NULL, &n->var, 0, NULL, run->token + 1));
    n->j.entries[n->j.count++] = 100 + run->token;
    return MXC_OK;
}

static void test_push_inside(void **state) {
    nest n = {.engine = make_engine(MXC_ENGINE_NAIVE, 0, 0), .depth = 3};
    mxc_task task = make_task(descend, &n);
    static const uint64_t inside[] = {0, 1, 2, 3, 103, 102, 101, 100}, after[] = {0, 100, 1, 2, 3, 103, 102, 101};
    (void)state;
    assert_ok(mxc_engine_push(n.engine, &task, 0, NULL, 0, NULL, 0));
    assert_memory_equal(n.j.entries, inside, sizeof inside);
    n.j.count = 0;
    n.var = make_var(n.engine); /* the first one changes it, so the second runs after it, yet before the push returns */
    assert_ok(mxc_engine_push(n.engine, &task, 0, NULL, 1, &n.var, 0));
    assert_int_equal(n.j.count, 8);
    assert_memory_equal(n.j.entries, after, sizeof after);
    mxc_var_delete(n.var, NULL, NULL);
    mxc_engine_destroy(n.engine);
}

/* Deeper than there are numbers for threads. */
static void test_deep_nesting(void **state) {
    nest n = {.engine = make_engine(MXC_ENGINE_NAIVE, 0, 0), .depth = 100};
    mxc_task task = make_task(descend, &n);
    (void)state;
    assert_ok(mxc_engine_push(n.engine, &task, 0, NULL, 0, NULL, 0));
    assert_int_equal(n.j.count, 202);
    mxc_engine_destroy(n.engine);
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
        cmocka_unit_test(test_runs_in_push),     cmocka_unit_test(test_push_returns_failure),
        cmocka_unit_test(test_push_inside),      cmocka_unit_test(test_deep_nesting),
        cmocka_unit_test(test_streams_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
