/* Running functions: what they are told, and asynchronous ones, whose end is told from anywhere at any time. */
#include "engine/helpers.h"

/* ---- what a function is told ---- */

typedef struct told {
    mxc_run run;
    void *arg;
} told;

static mxc_status take_down(const mxc_run *run, void *arg) {
    ((told *)arg)->run = *run;
    ((told *)arg)->arg = arg;
    return MXC_OK;
}

static void test_run_record(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        mxc_engine *engine = make_engine(all_kinds[k], 2, 0);
        told t;
        mxc_task task = make_task(take_down, &t);
        task.context = mxc_cpu(3);
        assert_ok(mxc_engine_push(engine, &task, 0, NULL, 0, NULL, 0xfeedfacecafebeefu));
        assert_ok(mxc_wait_all(engine));
        assert_ptr_equal(t.run.engine, engine);
        assert_true(mxc_context_equal(t.run.context, mxc_cpu(3)));
        assert_null(t.run.stream);
        assert_true(t.run.token == 0xfeedfacecafebeefu);
        assert_in_range(t.run.worker, 0, mxc_engine_thread_limit(engine) - 1);
        mxc_engine_destroy(engine);
    }
}

/* ---- asynchronous functions ---- */

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
