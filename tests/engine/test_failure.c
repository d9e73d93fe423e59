/* SPDX-License-Identifier: Apache-2.0 */
/* Errors: error states, skipped dependents, messages in waits, what clears an error state. */
#include "engine/helpers.h"

#include "engine/core/failure.h"

static mxc_status go_wrong(const mxc_run *run, void *arg) {
    (void)arg;
    return MXC_FAIL(MXC_EUSER, "number %d went wrong", (int)run->token);
}

static mxc_status go_wrong_silently(const mxc_run *run, void *arg) {
    (void)run;
    (void)arg;
    return MXC_EIO;
}

/* An engine of each kind with three variables, and a function that counts. */
typedef struct place {
    mxc_engine *engine;
    mxc_var *a, *b, *c;
    _Atomic int count;
    mxc_task counting;
} place;

static void open_place(place *p, mxc_engine_kind kind) {
    p->engine = make_engine(kind, 2, 4);
    p->a = make_var(p->engine);
    p->b = make_var(p->engine);
    p->c = make_var(p->engine);
    p->count = 0;
    p->counting = make_task(count_up, (void *)&p->count);
}

static void close_place(place *p) {
    mxc_var_delete(p->a, NULL, NULL);
    mxc_var_delete(p->b, NULL, NULL);
    mxc_var_delete(p->c, NULL, NULL);
    mxc_engine_destroy(p->engine);
}

/* A function that fails: a naive engine returns the error from the push. */
static void push_failing(place *p, mxc_task_fn fn, mxc_var *var, uint64_t token, mxc_status code) {
    mxc_task task = make_task(fn, NULL);
    task.name = "bad";
    mxc_status status = mxc_engine_push(p->engine, &task, 0, NULL, 1, &var, token);
    assert_true(status == (mxc_engine_get_kind(p->engine) == MXC_ENGINE_NAIVE ? code : MXC_OK));
}

static void test_chain(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        place p;
        open_place(&p, all_kinds[k]);
        push_failing(&p, go_wrong, p.a, 7, MXC_EUSER);
        assert_ok(mxc_engine_push(p.engine, &p.counting, 1, &p.a, 1, &p.b, 0));
        assert_ok(mxc_engine_push(p.engine, &p.counting, 1, &p.b, 1, &p.c, 0));
        assert_fails(mxc_wait_to_read(p.c), MXC_EUSER, "number 7 went wrong");
        assert_non_null(strstr(mxc_last_error_place(), "test_failure.c:"));
        assert_fails(mxc_wait_to_write(p.b), MXC_EUSER, "number 7 went wrong");
        assert_fails(mxc_wait_to_read(p.a), MXC_EUSER, "number 7 went wrong");
        assert_fails(mxc_wait_to_read(p.a), MXC_EUSER, "number 7 went wrong"); /* the error state stays */
        assert_int_equal(p.count, 0);
        assert_fails(mxc_wait_all(p.engine), MXC_EUSER, "number 7 went wrong");
        assert_ok(mxc_wait_all(p.engine)); /* returned once */
        assert_int_equal(mxc_var_version(p.c), 1);
        close_place(&p);
    }
}

static void test_overwriting_clears(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        place p;
        open_place(&p, all_kinds[k]);
        push_failing(&p, go_wrong, p.a, 1, MXC_EUSER);
        assert_ok(mxc_engine_push(p.engine, &p.counting, 1, &p.a, 1, &p.b, 0));
        assert_ok(mxc_engine_push(p.engine, &p.counting, 0, NULL, 1, &p.a, 0));
        assert_ok(mxc_engine_push(p.engine, &p.counting, 1, &p.a, 0, NULL, 0));
        assert_ok(mxc_wait_to_write(p.a));
        assert_int_equal(p.count, 2);
        assert_status(mxc_wait_to_read(p.b), MXC_EUSER);
        push_failing(&p, go_wrong, p.b, 2, MXC_EUSER); /* another error replaces the error state */
        assert_fails(mxc_wait_to_read(p.b), MXC_EUSER, "number 2");
        assert_fails(mxc_wait_all(p.engine), MXC_EUSER, "number 1");
        close_place(&p);
    }
}

static void test_updates(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        place p;
        open_place(&p, all_kinds[k]);
        p.counting.flags = MXC_TASK_UPDATES;
        push_failing(&p, go_wrong, p.a, 1, MXC_EUSER);
        assert_ok(mxc_engine_push(p.engine, &p.counting, 0, NULL, 1, &p.a, 0));
        assert_status(mxc_wait_to_read(p.a), MXC_EUSER);
        assert_int_equal(p.count, 0);
        p.counting.flags |= MXC_TASK_ALWAYS;
        assert_ok(mxc_engine_push(p.engine, &p.counting, 0, NULL, 1, &p.a, 0));
        assert_ok(mxc_wait_to_read(p.a));
        assert_int_equal(p.count, 1);
        close_place(&p);
    }
}

static void test_always(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        place p;
        open_place(&p, all_kinds[k]);
        p.counting.flags = MXC_TASK_ALWAYS;
        push_failing(&p, go_wrong, p.a, 1, MXC_EUSER);
        assert_ok(mxc_engine_push(p.engine, &p.counting, 1, &p.a, 1, &p.b, 0));
        assert_ok(mxc_wait_to_read(p.b));
        assert_int_equal(p.count, 1);
        close_place(&p);
    }
}

/* Of two error states the one that was set first is propagated. */
static void test_first_of_two(void **state) {
    (void)state;
    for (int order = 0; order < 2; order++) {
        place p;
        mxc_var *both[2];
        open_place(&p, MXC_ENGINE_THREADED);
        both[0] = p.a;
        both[1] = p.b;
        push_failing(&p, go_wrong, both[order], 1, MXC_EUSER);
        assert_status(mxc_wait_to_read(both[order]), MXC_EUSER);
        push_failing(&p, go_wrong_silently, both[!order], 2, MXC_EIO);
        assert_ok(mxc_engine_push(p.engine, &p.counting, 2, both, 1, &p.c, 0));
        assert_fails(mxc_wait_to_read(p.c), MXC_EUSER, "number 1");
        close_place(&p);
    }
}

/* A function that leaves no message does not inherit that of another one which ran on the same thread. */
static void test_no_message(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        place p;
        open_place(&p, all_kinds[k]);
        push_failing(&p, go_wrong, p.a, 1, MXC_EUSER);
        push_failing(&p, go_wrong_silently, p.a, 2, MXC_EIO);
        assert_fails(mxc_wait_to_read(p.a), MXC_EIO, "bad: input or output failed");
        close_place(&p);
    }
}

/* Many at once: every wait returns a message of this test, and nothing leaks (which the address sanitizer checks). */
static void test_many(void **state) {
    place p;
    uint64_t random = 3;
    (void)state;
    open_place(&p, MXC_ENGINE_THREADED);
    for (int i = 0; i < TEST_SCALE(20000); i++) {
        mxc_var *vars[] = {p.a, p.b, p.c};
        mxc_var *from = vars[next_random(&random) % 3], *to = vars[next_random(&random) % 3];
        if (next_random(&random) % 4 == 0)
            push_failing(&p, go_wrong, to, (uint64_t)i, MXC_EUSER);
        else
            assert_ok(mxc_engine_push(p.engine, &p.counting, from != to, &from, 1, &to, 0));
        if (i % 64 == 0 && mxc_wait_to_read(from) != MXC_OK)
            assert_non_null(strstr(mxc_last_error(), "went wrong"));
    }
    MXC_IGNORE(mxc_wait_all(p.engine));
    close_place(&p);
}

/* Without memory for a record the code still comes through. */
static void test_no_memory(void **state) {
    place p;
    mxci_failure *failure;
    (void)state;
    open_place(&p, MXC_ENGINE_NAIVE);
    mxci_test_fail_alloc(1, 1);
    failure = mxci_failure_from_text(MXC_ESHAPE, "lost");
    mxci_test_fail_alloc(0, 0);
    mxci_failure_release(mxci_failure_retain(failure));
    assert_fails(mxci_failure_raise(failure), MXC_ESHAPE, "no memory to keep the message");
    mxci_failure_release(failure);
    close_place(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain),  cmocka_unit_test(test_overwriting_clears), cmocka_unit_test(test_updates),
        cmocka_unit_test(test_always), cmocka_unit_test(test_first_of_two),       cmocka_unit_test(test_no_message),
        cmocka_unit_test(test_many),   cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
