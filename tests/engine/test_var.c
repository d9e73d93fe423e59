/* SPDX-License-Identifier: Apache-2.0 */
/* Variables: versions, idleness, who runs together, deferred deletion. */
#include "engine/helpers.h"

#include "engine/core/var.h"

static void test_version(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        mxc_engine *engine = make_engine(all_kinds[k], 2, 0);
        mxc_var *var = make_var(engine);
        _Atomic int count = 0;
        mxc_task task = make_task(count_up, (void *)&count);
        assert_ptr_equal(mxc_var_engine(var), engine);
        assert_true(mxc_var_idle(var));
        assert_int_equal(mxc_var_version(var), 0);
        for (int i = 0; i < 5; i++)
            assert_ok(mxc_engine_push(engine, &task, 0, NULL, 1, &var, 0));
        assert_ok(mxc_engine_push(engine, &task, 1, &var, 0, NULL, 0));
        assert_ok(mxc_wait_to_read(var));
        assert_int_equal(mxc_var_version(var), 5);
        assert_ok(mxc_wait_to_write(var));
        assert_true(mxc_var_idle(var));
        assert_int_equal(mxc_var_version(var), 5);
        assert_int_equal(count, 6);
        assert_true(mxci_var_is_valid(var));
        mxc_var_delete(var, NULL, NULL);
        mxc_engine_destroy(engine);
    }
}

static void test_idle_while_held(void **state) {
    mxc_engine *engine = make_engine(MXC_ENGINE_THREADED, 1, 0);
    mxc_var *held = make_var(engine), *other = make_var(engine);
    barrier b = {0, 0};
    mxc_task task = make_task(hold, &b);
    (void)state;
    assert_ok(mxc_engine_push(engine, &task, 1, &held, 0, NULL, 0));
    wait_entered(&b, 1);
    assert_false(mxc_var_idle(held));
    assert_true(mxc_var_idle(other));
    assert_ok(mxc_wait_to_read(held)); /* nobody changes it */
    assert_ok(mxc_wait_to_write(other));
    assert_int_equal(mxc_var_version(held), 0);
    atomic_store(&b.open, 1);
    assert_ok(mxc_wait_to_write(held));
    assert_true(mxc_var_idle(held));
    mxc_var_delete(held, NULL, NULL);
    mxc_var_delete(other, NULL, NULL);
    mxc_engine_destroy(engine);
}

/* Readers run together: each waits until all have come. */
static void test_readers_together(void **state) {
    mxc_engine *engine = make_engine(MXC_ENGINE_THREADED, 3, 0);
    mxc_var *var = make_var(engine);
    _Atomic int count = 0;
    barrier b = {0, 0};
    mxc_task change = make_task(count_up, (void *)&count), read = make_task(hold, &b);
    (void)state;
    assert_ok(mxc_engine_push(engine, &change, 0, NULL, 1, &var, 0));
    for (int i = 0; i < 3; i++)
        assert_ok(mxc_engine_push(engine, &read, 1, &var, 0, NULL, 0));
    assert_ok(mxc_engine_push(engine, &change, 0, NULL, 1, &var, 0));
    wait_entered(&b, 3);
    assert_int_equal(count, 1);
    atomic_store(&b.open, 1);
    assert_ok(mxc_wait_all(engine));
    assert_int_equal(count, 2);
    mxc_var_delete(var, NULL, NULL);
    mxc_engine_destroy(engine);
}

static void destroy_notes(void *arg) {
    journal *j = arg;
    j->entries[atomic_fetch_add(&j->count, 1)] = 100;
}

/* A wait for everything also waits for deletions; they come after all that was pushed before. */
static void test_deletion_is_last(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        mxc_engine *engine = make_engine(all_kinds[k], 2, 3);
        mxc_var *var = make_var(engine);
        journal j = {.count = 0};
        mxc_task task = make_task(note, &j);
        for (uint64_t i = 0; i < 4; i++)
            assert_ok(mxc_engine_push(engine, &task, 0, NULL, 1, &var, i));
        mxc_var_delete(var, destroy_notes, &j);
        assert_ok(mxc_wait_all(engine));
        assert_int_equal(j.count, 5);
        for (uint64_t i = 0; i < 4; i++)
            assert_int_equal(j.entries[i], i);
        assert_int_equal(j.entries[4], 100);
        mxc_engine_destroy(engine);
    }
}

static void test_deletion_when_idle(void **state) {
    mxc_engine *engine = make_engine(MXC_ENGINE_THREADED, 1, 0);
    _Atomic int gone = 0;
    (void)state;
    mxc_var_delete(NULL, count_destroy, (void *)&gone);
    assert_int_equal(gone, 0);
    mxc_var_delete(make_var(engine), count_destroy, (void *)&gone);
    assert_int_equal(gone, 1);
    mxc_engine_destroy(engine);
}

/* Deletion inside a function that names the variable, as an array's last release does: it comes after the function. */
typedef struct self_deletion {
    mxc_var *var;
    _Atomic int gone, gone_too_early;
} self_deletion;

static void count_gone(void *arg) {
    atomic_fetch_add(&((self_deletion *)arg)->gone, 1);
}

static mxc_status delete_own(const mxc_run *run, void *arg) {
    self_deletion *s = arg;
    (void)run;
    mxc_var_delete(s->var, count_gone, s);
    atomic_store(&s->gone_too_early, atomic_load(&s->gone));
    return MXC_OK;
}

static void test_deletion_inside(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        mxc_engine *engine = make_engine(all_kinds[k], 1, 0);
        self_deletion s = {make_var(engine), 0, 0};
        mxc_task task = make_task(delete_own, &s);
        assert_ok(mxc_engine_push(engine, &task, 0, NULL, 1, &s.var, 0));
        assert_ok(mxc_wait_all(engine));
        assert_int_equal(s.gone, 1);
        assert_int_equal(s.gone_too_early, 0);
        mxc_engine_destroy(engine);
    }
}

/* Variables are reused: many in a row take no more memory than a few. */
static void test_reuse(void **state) {
    mxc_engine *engine = make_engine(MXC_ENGINE_THREADED, 1, 0);
    int64_t before;
    (void)state;
    mxc_var_delete(make_var(engine), NULL, NULL);
    before = mxci_alloc_count();
    for (int i = 0; i < 10000; i++)
        mxc_var_delete(make_var(engine), NULL, NULL);
    assert_int_equal(mxci_alloc_count(), before);
    mxc_engine_destroy(engine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_version),
        cmocka_unit_test(test_idle_while_held),
        cmocka_unit_test(test_readers_together),
        cmocka_unit_test(test_deletion_is_last),
        cmocka_unit_test(test_deletion_when_idle),
        cmocka_unit_test(test_deletion_inside),
        cmocka_unit_test(test_reuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
