/* SPDX-License-Identifier: Apache-2.0 */
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_in_push),
        cmocka_unit_test(test_push_returns_failure),
        cmocka_unit_test(test_push_inside),
        cmocka_unit_test(test_deep_nesting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
