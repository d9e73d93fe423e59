/* SPDX-License-Identifier: Apache-2.0 */
/* Pushing: what is refused, prepared operators, memory. */
#include "engine/helpers.h"

static mxc_status nothing(const mxc_run *run, void *arg) {
    (void)run;
    (void)arg;
    return MXC_OK;
}

static void nothing_async(const mxc_run *run, void *arg, mxc_done *done) {
    (void)run;
    (void)arg;
    mxc_done_complete(done, MXC_OK, NULL);
}

static void test_bad_tasks(void **state) {
    mxc_engine *engine = make_engine(MXC_ENGINE_THREADED, 1, 0);
    mxc_task task = MXC_TASK_INIT;
    _Atomic int gone = 0;
    (void)state;
    task.destroy = count_destroy;
    task.arg = (void *)&gone;
    task.name = "mine";
    assert_fails(mxc_engine_push(NULL, &task, 0, NULL, 0, NULL, 0), MXC_EINVAL, "engine is NULL");
    assert_fails(mxc_engine_push(engine, NULL, 0, NULL, 0, NULL, 0), MXC_EINVAL, "task is NULL");
    assert_fails(mxc_engine_push(engine, &task, 0, NULL, 0, NULL, 0), MXC_EINVAL, "mine: expected either fn or async");
    task.fn = nothing;
    task.async_fn = nothing_async;
    assert_fails(mxc_engine_push(engine, &task, 0, NULL, 0, NULL, 0), MXC_EINVAL, "found both");
    task.async_fn = NULL;
    task.size = 4;
    assert_fails(mxc_engine_push(engine, &task, 0, NULL, 0, NULL, 0), MXC_EINVAL, "task->size is 4");
    task.size = offsetof(mxc_task, fn); /* what an older program does not know is not read */
    assert_fails(mxc_engine_push(engine, &task, 0, NULL, 0, NULL, 0), MXC_EINVAL, "mine: expected either fn or async");
    task.size = sizeof task;
    task.flags = 0x40;
    assert_fails(mxc_engine_push(engine, &task, 0, NULL, 0, NULL, 0), MXC_EINVAL, "unknown bits 0x40");
    task.flags = 0;
    task.property = (mxc_property)9;
    assert_fails(mxc_engine_push(engine, &task, 0, NULL, 0, NULL, 0), MXC_EINVAL, "9 is not a property");
    task.property = MXC_PROP_NORMAL;
    task.context.id = 64;
    assert_fails(mxc_engine_push(engine, &task, 0, NULL, 0, NULL, 0), MXC_EDEVICE, "cpu(64)");
    task.context = mxc_gpu(0);
    assert_fails(mxc_engine_push(engine, &task, 0, NULL, 0, NULL, 0), MXC_EDEVICE, "gpu(0)");
    assert_ok(mxc_wait_all(engine));
    assert_int_equal(gone, 0);
    mxc_engine_destroy(engine);
}

static void test_bad_lists(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        mxc_engine *engine = make_engine(all_kinds[k], 1, 0), *foreign = make_engine(MXC_ENGINE_NAIVE, 0, 0);
        mxc_var *a = make_var(engine), *b = make_var(engine), *alien = make_var(foreign);
        mxc_var *twice[] = {a, b, a}, *both[] = {b, a}, *strange[] = {a, alien}, *null[] = {NULL};
        mxc_task task = make_task(nothing, NULL);
        mxc_engine_op *op;
        task.name = "mine";
        assert_fails(mxc_engine_push(engine, &task, 3, twice, 0, NULL, 0), MXC_EINVAL, "mine: reads[0] and reads[2]");
        assert_fails(mxc_engine_push(engine, &task, 0, NULL, 3, twice, 0), MXC_EINVAL, "writes[0] and writes[2]");
        assert_fails(mxc_engine_push(engine, &task, 2, both, 1, &a, 0), MXC_EINVAL, "reads[1] and writes[0]");
        assert_fails(mxc_engine_push(engine, &task, 2, strange, 0, NULL, 0), MXC_EINVAL,
                     "reads[1] is a variable of another engine");
        assert_fails(mxc_engine_push(engine, &task, 0, NULL, 1, null, 0), MXC_EINVAL, "writes[0] is NULL");
        assert_fails(mxc_engine_push(engine, &task, -1, NULL, 0, NULL, 0), MXC_EINVAL, "-1 variables");
        assert_fails(mxc_engine_push(engine, &task, 1, NULL, 0, NULL, 0), MXC_EINVAL, "reads must not be NULL");
        assert_fails(mxc_engine_op_create(engine, &task, 2, both, 1, &a, &op), MXC_EINVAL, "engine_op_create: mine");
        assert_null(op);
        assert_true(mxc_var_idle(a) && mxc_var_idle(b));
        assert_ok(mxc_wait_all(engine));
        mxc_var_delete(a, NULL, NULL);
        mxc_var_delete(b, NULL, NULL);
        mxc_var_delete(alien, NULL, NULL);
        mxc_engine_destroy(engine);
        mxc_engine_destroy(foreign);
    }
}

/* Lists of all lengths up to several hundred, in any order of addresses. */
static void test_long_lists(void **state) {
    enum { MOST = 700 };
    static mxc_var *vars[MOST];
    mxc_engine *engine = make_engine(MXC_ENGINE_THREADED, 2, 0);
    _Atomic int count = 0;
    mxc_task task = make_task(count_up, (void *)&count);
    uint64_t random = 1;
    int pushes = 0;
    (void)state;
    for (int i = 0; i < MOST; i++)
        vars[i] = make_var(engine);
    for (int n = 0; n <= MOST; n += n / 8 + 1, pushes++) {
        for (int i = MOST - 1; i > 0; i--) {
            int j = (int)(next_random(&random) % (uint32_t)(i + 1));
            mxc_var *swap = vars[i];
            vars[i] = vars[j];
            vars[j] = swap;
        }
        assert_ok(mxc_engine_push(engine, &task, n / 2, vars, n - n / 2, vars + n / 2, 0));
        if (n > 1) {
            mxc_var *last = vars[n - 1];
            vars[n - 1] = vars[0];
            assert_status(mxc_engine_push(engine, &task, n / 2, vars, n - n / 2, vars + n / 2, 0), MXC_EINVAL);
            vars[n - 1] = last;
        }
    }
    assert_ok(mxc_wait_all(engine));
    assert_int_equal(count, pushes);
    for (int i = 0; i < MOST; i++)
        mxc_var_delete(vars[i], NULL, NULL);
    mxc_engine_destroy(engine);
}

/* A function pushed once: destroy after it, also if it fails or is skipped, and before waits return. */
static mxc_status go_wrong(const mxc_run *run, void *arg) {
    (void)run;
    (void)arg;
    return MXC_FAIL(MXC_EUSER, "on purpose");
}

static void test_destroy(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        mxc_engine *engine = make_engine(all_kinds[k], 2, 9);
        mxc_var *var = make_var(engine);
        _Atomic int gone = 0;
        mxc_task failing = make_task(go_wrong, (void *)&gone), task = make_task(nothing, (void *)&gone);
        failing.destroy = task.destroy = count_destroy;
        MXC_IGNORE(mxc_engine_push(engine, &failing, 0, NULL, 1, &var, 0));
        assert_ok(mxc_engine_push(engine, &task, 1, &var, 0, NULL, 0));
        assert_status(mxc_wait_to_write(var), MXC_EUSER);
        assert_int_equal(gone, 2);
        mxc_var_delete(var, NULL, NULL);
        mxc_engine_destroy(engine);
    }
}

/* ---- memory ---- */

/* Everything that allocates, once. Stops at the first failure, leaving nothing behind. */
static mxc_status whole_life(mxc_engine_kind kind, _Atomic int *count) {
    mxc_engine_options options = MXC_ENGINE_OPTIONS_INIT;
    mxc_task task = make_task(count_up, (void *)count), failing = make_task(go_wrong, NULL);
    mxc_engine *engine = NULL;
    mxc_engine_op *op = NULL;
    mxc_var *vars[2] = {NULL, NULL};
    mxc_status status;
    options.kind = kind;
    task.property = MXC_PROP_IO;
    status = mxc_engine_create(&options, &engine);
    if (status == MXC_OK)
        status = mxc_var_create(engine, &vars[0]);
    if (status == MXC_OK)
        status = mxc_var_create(engine, &vars[1]);
    if (status == MXC_OK)
        status = mxc_engine_op_create(engine, &task, 1, vars, 1, vars + 1, &op);
    if (status == MXC_OK)
        status = mxc_engine_op_push(op, 0, 0);
    task.property = MXC_PROP_NORMAL;
    if (status == MXC_OK)
        status = mxc_engine_push(engine, &task, 0, NULL, 2, vars, 0);
    if (status == MXC_OK) {
        status = mxc_engine_push(engine, &failing, 0, NULL, 1, vars, 0);
        if (status == MXC_EUSER) /* a naive engine's */
            status = MXC_OK;
    }
    if (status == MXC_OK)
        status = mxc_wait_all(engine);
    mxc_engine_op_destroy(op);
    mxc_var_delete(vars[0], NULL, NULL);
    mxc_var_delete(vars[1], NULL, NULL);
    mxc_engine_destroy(engine);
    return status;
}

/* Fail each allocation in turn: a call says so or does without, the code of a failure is never lost, nothing leaks. */
static void test_each_allocation_fails(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        _Atomic int count = 0;
        int64_t live, used;
        assert_status(whole_life(all_kinds[k], &count), MXC_EUSER);
        live = mxci_alloc_live();
        used = mxci_alloc_count();
        assert_status(whole_life(all_kinds[k], &count), MXC_EUSER);
        used = mxci_alloc_count() - used;
        assert_true(used > 2);
        for (int64_t i = 1; i <= used; i++) {
            mxc_status status;
            mxci_test_fail_alloc(i, 0);
            status = whole_life(all_kinds[k], &count);
            mxci_test_fail_alloc(0, 0);
            assert_true(status == MXC_ENOMEM || status == MXC_EUSER);
            assert_int_equal(mxci_alloc_live(), live);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_tasks),
        cmocka_unit_test(test_bad_lists),
        cmocka_unit_test(test_long_lists),
        cmocka_unit_test(test_destroy),
        cmocka_unit_test(test_each_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
