/* SPDX-License-Identifier: Apache-2.0 */
/* Prepared operations: pushed many times, and destroyed before their last run has ended. */
#include "engine/helpers.h"

static void test_operator(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        mxc_engine *engine = make_engine(all_kinds[k], 2, 9);
        mxc_var *var = make_var(engine);
        journal j = {.count = 0};
        mxc_task task = make_task(note, &j);
        mxc_engine_op *op;
        assert_ok(mxc_engine_op_create(engine, &task, 0, NULL, 1, &var, &op));
        for (uint64_t i = 0; i < 100; i++)
            assert_ok(mxc_engine_op_push(op, 0, i));
        assert_ok(mxc_wait_to_read(var));
        for (uint64_t i = 0; i < 100; i++)
            assert_int_equal(j.entries[i], i);
        mxc_engine_op_destroy(op);
        mxc_engine_op_destroy(NULL);
        mxc_var_delete(var, NULL, NULL);
        mxc_engine_destroy(engine);
    }
}

/* Destroyed with runs pending: all of them run, then its destroy is called, once. */
static void test_operator_destroyed_early(void **state) {
    mxc_engine *engine = make_engine(MXC_ENGINE_THREADED, 3, 0);
    mxc_var *var = make_var(engine);
    barrier b = {0, 0};
    mxc_task holder = make_task(hold, &b), task;
    (void)state;
    for (int n = 0; n < 20; n++) { /* also with no run at all */
        _Atomic int count = 0;
        mxc_engine_op *op;
        task = make_task(count_up, (void *)&count);
        task.destroy = count_destroy;
        b = (barrier){0, 0};
        assert_ok(mxc_engine_push(engine, &holder, 0, NULL, 1, &var, 0));
        assert_ok(mxc_engine_op_create(engine, &task, 1, &var, 0, NULL, &op));
        for (int i = 0; i < n; i++)
            assert_ok(mxc_engine_op_push(op, 0, 0));
        mxc_engine_op_destroy(op);
        assert_int_equal(count, n == 0);
        atomic_store(&b.open, 1);
        assert_ok(mxc_wait_all(engine));
        assert_int_equal(count, n + 1);
    }
    mxc_var_delete(var, NULL, NULL);
    mxc_engine_destroy(engine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operator),
        cmocka_unit_test(test_operator_destroyed_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
