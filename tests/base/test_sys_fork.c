/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers around fork: which run, in what order, and in which process. */
#include "support.h"

#include <sys/wait.h>

#include "base/sys.h"

static char order[64];

static void note(const char *what) {
    strncat(order, what, sizeof order - strlen(order) - 1);
}

static void prepare_1(void) {
    note("a");
}
static void parent_1(void) {
    note("b");
}
static void child_1(void) {
    note("c");
}
static void prepare_2(void) {
    note("A");
}
static void parent_2(void) {
    note("B");
}
static void child_2(void) {
    note("C");
}
static void prepare_quiet(void) {
    note("1");
}
static void parent_quiet(void) {
    note("2");
}
static void child_quiet(void) {
    note("3");
}

/* Whether a child finds the order expected of it. */
static int child_finds(const char *expected) {
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        _exit(strcmp(order, expected) != 0);
    return waitpid(child, &status, 0) == child && status == 0;
}

/* Work rests first, then locks are taken, the last first; afterwards the other way round. */
static void handlers_run_in_order(void **state) {
    (void)state;
    assert_ok(mxci_at_fork(prepare_1, parent_1, child_1));
    assert_ok(mxci_at_fork_before_locks(prepare_quiet, parent_quiet, child_quiet));
    assert_ok(mxci_at_fork(prepare_2, parent_2, child_2));
    assert_ok(mxci_at_fork(NULL, NULL, NULL));
    assert_true(child_finds("1AacC3"));
    assert_string_equal(order, "1AabB2");
}

/* ---- global locks ------------------------------------------------------------------------------------------------ */

static mxci_global_mutex outer = MXCI_GLOBAL_MUTEX_INIT, inner = MXCI_GLOBAL_MUTEX_INIT;
static _Atomic int stop;

static void take_both(void *arg) {
    (void)arg;
    while (!stop) {
        mxci_global_lock(&outer);
        mxci_thread_yield();
        mxci_global_lock(&inner);
        mxci_thread_yield();
        mxci_global_unlock(&inner);
        mxci_global_unlock(&outer);
        mxci_thread_yield();
    }
}

/* 1 if a child can take both; held: this thread has the outer one already. */
static int child_takes_both(int held) {
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        if (!held)
            mxci_global_lock(&outer);
        mxci_global_lock(&inner);
        _exit(0);
    }
    return waitpid(child, &status, 0) == child && status == 0;
}

static void global_locks_are_free_in_a_child(void **state) {
    mxci_thread threads[2];
    int works = 1;
    (void)state;
    for (int i = 0; i < 2; i++)
        assert_ok(mxci_thread_start(&threads[i], "locks", take_both, NULL));
    for (int i = 0; i < TEST_SCALE(50); i++)
        works &= child_takes_both(0);
    stop = 1;
    for (int i = 0; i < 2; i++)
        mxci_thread_join(threads[i]);
    assert_true(works);
    mxci_global_lock(&outer); /* fork() does not wait for the thread that calls it */
    assert_true(child_takes_both(1));
    mxci_global_unlock(&outer);
    assert_true(child_takes_both(0));
}

static void too_many_handlers_are_refused(void **state) {
    int left = 1000;
    (void)state;
    while (left > 0 && mxci_at_fork(NULL, NULL, NULL) == MXC_OK)
        left--;
    assert_true(left > 0);
    assert_status(mxci_at_fork(NULL, NULL, NULL), MXC_ENOMEM);
    order[0] = '\0';
    assert_true(child_finds("1AacC3"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handlers_run_in_order),
        cmocka_unit_test(global_locks_are_free_in_a_child),
        cmocka_unit_test(too_many_handlers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
