/* SPDX-License-Identifier: Apache-2.0 */
/* The order of ready tasks: urgent first, then by priority, then first come. */
#include "engine/helpers.h"

#include "engine/schedule/ready_queue.h"

/* The queue alone, against a search of all that is in it; MXC_TASK_HELPED is given to every third task. */
static void test_against_search(void **state) {
    enum { COUNT = 64 };
    static const mxci_operation operations[] = {{.name = "plain"}, {.name = "helped", .flags = MXC_TASK_HELPED}};
    mxci_engine_task *tasks[COUNT];
    static mxci_ready_queue queue;
    int queued[COUNT] = {0}, in_queue = 0;
    uint64_t random = 17;
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        tasks[i] = aligned_alloc(MXCI_CACHE_LINE, sizeof **tasks);
        memset(tasks[i], 0, sizeof **tasks);
    }
    for (int step = 0; step < TEST_SCALE(20000); step++) {
        int i = (int)(next_random(&random) % COUNT), only_helpable = next_random(&random) % 4 == 0, best = -1;
        mxci_engine_task *taken, *expected;
        if (!queued[i]) {
            tasks[i]->operation = &operations[i % 3 == 0];
            tasks[i]->urgent = next_random(&random) % 8 == 0;
            tasks[i]->priority = next_random(&random) % 2 ? 0 : (int)(next_random(&random) % 5) - 2;
            mxci_ready_queue_put(&queue, tasks[i]);
            queued[i] = 1;
            in_queue++;
            continue;
        }
        for (int k = 0; k < COUNT; k++) {
            if (!queued[k])
                continue;
            if (best < 0 || tasks[k]->urgent > tasks[best]->urgent ||
                (tasks[k]->urgent == tasks[best]->urgent &&
                 (tasks[k]->priority > tasks[best]->priority ||
                  (tasks[k]->priority == tasks[best]->priority && tasks[k]->sequence < tasks[best]->sequence))))
                best = k;
        }
        expected = only_helpable && best % 3 != 0 ? NULL : tasks[best];
        taken = mxci_ready_queue_take(&queue, only_helpable);
        assert_ptr_equal(taken, expected);
        if (taken) {
            queued[best] = 0;
            in_queue--;
        }
        assert_int_equal(queue.ready, in_queue);
        assert_true(mxci_ready_queue_is_valid(&queue));
    }
    for (int i = 0; i < COUNT; i++)
        free(tasks[i]);
}

/* Functions pushed while the only worker is held run by urgency, priority, and then first come. */
static void test_priorities(void **state) {
    static const struct {
        int priority, urgent;
        int place; /* in the order of running */
    } cases[] = {
        {0, 0, 5}, {5, 0, 3}, {-1, 0, 8}, {0, 0, 6}, {5, 0, 4}, {0, 1, 1}, {-9, 1, 2}, {3, 1, 0}, {0, 0, 7}, {-2, 0, 9},
    };
    enum { COUNT = sizeof cases / sizeof *cases };
    mxc_engine *engine = make_engine(MXC_ENGINE_THREADED, 1, 0);
    barrier b = {0, 0};
    journal j = {.count = 0};
    mxc_task holder = make_task(hold, &b), task = make_task(note, &j);
    (void)state;
    assert_ok(mxc_engine_push(engine, &holder, 0, NULL, 0, NULL, 0));
    wait_entered(&b, 1);
    for (int i = 0; i < COUNT; i++) {
        task.priority = cases[i].priority;
        task.property = cases[i].urgent ? MXC_PROP_URGENT : MXC_PROP_NORMAL;
        assert_ok(mxc_engine_push(engine, &task, 0, NULL, 0, NULL, (uint64_t)i));
    }
    atomic_store(&b.open, 1);
    assert_ok(mxc_wait_all(engine));
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(j.entries[cases[i].place], i);
    mxc_engine_destroy(engine);
}

/* The same for functions that become ready together on the worker itself, pushed as prepared operators. */
static void test_priorities_of_dependents(void **state) {
    mxc_engine *engine = make_engine(MXC_ENGINE_THREADED, 1, 0);
    mxc_var *var = make_var(engine);
    barrier b = {0, 0};
    journal j = {.count = 0};
    mxc_task holder = make_task(hold, &b), task = make_task(note, &j);
    mxc_engine_op *op;
    uint64_t random = 11;
    (void)state;
    assert_ok(mxc_engine_op_create(engine, &task, 1, &var, 0, NULL, &op));
    assert_ok(mxc_engine_push(engine, &holder, 0, NULL, 1, &var, 0));
    for (int i = 0; i < 200; i++) {
        int priority = (int)(next_random(&random) % 7) - 3;
        assert_ok(mxc_engine_op_push(op, priority, (uint64_t)((3 - priority) * 1000 + i)));
    }
    atomic_store(&b.open, 1);
    assert_ok(mxc_wait_to_write(var));
    for (int i = 1; i < 200; i++)
        assert_true(j.entries[i - 1] < j.entries[i]);
    mxc_engine_op_destroy(op);
    mxc_var_delete(var, NULL, NULL);
    mxc_engine_destroy(engine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_search),
        cmocka_unit_test(test_priorities),
        cmocka_unit_test(test_priorities_of_dependents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
