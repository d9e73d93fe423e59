/* SPDX-License-Identifier: Apache-2.0 */
/* Free lists of tasks: once enough tasks have been pending, pushes allocate nothing. */
#include "engine/helpers.h"

static mxc_status nothing(const mxc_run *run, void *arg) {
    (void)run;
    (void)arg;
    return MXC_OK;
}

static void burst(mxc_engine *engine, mxc_engine_op *op, mxc_var **vars) {
    mxc_task task = make_task(nothing, NULL);
    for (int i = 0; i < 200; i++) {
        assert_ok(mxc_engine_op_push(op, 0, 0));
        assert_ok(mxc_engine_push(engine, &task, 2, vars, 1, vars + 2, 0));
        assert_ok(mxc_engine_push(engine, &task, 0, NULL, 7, vars, 0));
    }
    assert_ok(mxc_wait_to_read(vars[0]));
    assert_ok(mxc_wait_to_write(vars[1]));
    assert_ok(mxc_wait_all(engine));
}

static void test_no_allocation_when_warm(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        mxc_engine *engine = make_engine(all_kinds[k], 2, 0);
        barrier b = {0, 0};
        mxc_task task = make_task(hold, &b);
        mxc_var *vars[7];
        mxc_engine_op *op;
        int64_t before;
        for (int i = 0; i < 7; i++)
            vars[i] = make_var(engine);
        task = make_task(nothing, NULL);
        assert_ok(mxc_engine_op_create(engine, &task, 1, vars, 1, vars + 1, &op));
        task = make_task(hold, &b);
        if (all_kinds[k] == MXC_ENGINE_THREADED) /* the most that can be pending: nothing runs until all is pushed */
            assert_ok(mxc_engine_push(engine, &task, 0, NULL, 7, vars, 0));
        for (int i = 0; i < 200 && all_kinds[k] == MXC_ENGINE_THREADED; i++) {
            task.fn = nothing;
            assert_ok(mxc_engine_op_push(op, 0, 0));
            assert_ok(mxc_engine_push(engine, &task, 2, vars, 1, vars + 2, 0));
            assert_ok(mxc_engine_push(engine, &task, 0, NULL, 7, vars, 0));
        }
        atomic_store(&b.open, 1);
        burst(engine, op, vars);
        before = mxci_alloc_count();
        for (int i = 0; i < 20; i++)
            burst(engine, op, vars);
        assert_int_equal(mxci_alloc_count(), before);
        mxc_engine_op_destroy(op);
        for (int i = 0; i < 7; i++)
            mxc_var_delete(vars[i], NULL, NULL);
        mxc_engine_destroy(engine);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_allocation_when_warm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
