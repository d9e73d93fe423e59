/* SPDX-License-Identifier: Apache-2.0 */
/* Running functions: the mxc_run that they are given. */
#include "engine/helpers.h"

typedef struct given {
    mxc_run run;
    void *arg;
} given;

static mxc_status copy_run(const mxc_run *run, void *arg) {
    ((given *)arg)->run = *run;
    ((given *)arg)->arg = arg;
    return MXC_OK;
}

static void test_run_record(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        mxc_engine *engine = make_engine(all_kinds[k], 2, 0);
        given g;
        mxc_task task = make_task(copy_run, &g);
        task.context = mxc_cpu(3);
        assert_ok(mxc_engine_push(engine, &task, 0, NULL, 0, NULL, 0xfeedfacecafebeefu));
        assert_ok(mxc_wait_all(engine));
        assert_ptr_equal(g.run.engine, engine);
        assert_true(mxc_context_equal(g.run.context, mxc_cpu(3)));
        assert_null(g.run.stream);
        assert_true(g.run.token == 0xfeedfacecafebeefu);
        assert_in_range(g.run.worker, 0, mxc_engine_thread_limit(engine) - 1);
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
