/* SPDX-License-Identifier: Apache-2.0 */
/* Threads, locks, conditions, parking, values per thread. */
#define _GNU_SOURCE 1 /* pthread_getname_np */
#include "support.h"

#include <signal.h>
#include <stdatomic.h>

#include "base/sys.h"

typedef struct shared {
    mxci_mutex lock;
    mxci_cond changed;
    int64_t count;
    int ready;
} shared;

static void add_many(void *arg) {
    shared *s = arg;
    for (int i = 0; i < 10000; i++) {
        mxci_mutex_lock(&s->lock);
        s->count++;
        mxci_mutex_unlock(&s->lock);
    }
}

static void mutexes_exclude(void **state) {
    shared s = {.count = 0};
    mxci_thread threads[4];
    (void)state;
    mxci_mutex_init(&s.lock);
    for (int i = 0; i < 4; i++)
        assert_ok(mxci_thread_start(&threads[i], "adder", add_many, &s));
    for (int i = 0; i < 4; i++)
        mxci_thread_join(threads[i]);
    assert_int_equal(s.count, 40000);
    assert_true(mxci_mutex_trylock(&s.lock));
    mxci_mutex_unlock(&s.lock);
    mxci_mutex_destroy(&s.lock);
}

static void make_ready(void *arg) {
    shared *s = arg;
    mxci_mutex_lock(&s->lock);
    s->ready = 1;
    mxci_cond_signal(&s->changed);
    mxci_mutex_unlock(&s->lock);
}

static void conditions_wake(void **state) {
    shared s = {MXCI_MUTEX_INIT, MXCI_COND_INIT, 0, 0};
    mxci_thread thread;
    (void)state;
    assert_ok(mxci_thread_start(&thread, "signaller", make_ready, &s));
    mxci_mutex_lock(&s.lock);
    while (!s.ready)
        assert_int_equal(mxci_cond_wait_until(&s.changed, &s.lock, INT64_MAX), 1);
    mxci_mutex_unlock(&s.lock);
    mxci_thread_join(thread);
}

/* Both kinds of condition measure their deadline on the clock of mxci_now_ns. */
static void timed_waits_end(void **state) {
    shared s = {MXCI_MUTEX_INIT, MXCI_COND_INIT, 0, 0};
    (void)state;
    for (int i = 0; i < 2; i++) {
        int64_t start = mxci_now_ns(), deadline = start + 20000000;
        mxci_mutex_lock(&s.lock);
        while (mxci_cond_wait_until(&s.changed, &s.lock, deadline))
            ;
        assert_int_equal(mxci_cond_wait_until(&s.changed, &s.lock, 0), 0);
        mxci_mutex_unlock(&s.lock);
        assert_true(mxci_now_ns() >= deadline);
        assert_true(mxci_now_ns() < start + 10000000000);
        mxci_cond_destroy(&s.changed);
        mxci_cond_init(&s.changed);
    }
    mxci_cond_destroy(&s.changed);
}

static void wake_when_set(void *arg) {
    _Atomic uint32_t *word = arg;
    mxci_sleep_ns(5000000);
    atomic_store(word, 1);
    mxci_unpark(word, INT32_MAX);
}

static void parked_threads_are_woken(void **state) {
    _Atomic uint32_t word = 0;
    mxci_thread thread;
    (void)state;
    assert_ok(mxci_thread_start(&thread, "waker", wake_when_set, &word));
    while (atomic_load(&word) == 0)
        mxci_park(&word, 0, INT64_MAX);
    mxci_thread_join(thread);
    mxci_park(&word, 0, INT64_MAX); /* the word differs: no sleep */
}

static void parking_ends_at_the_deadline(void **state) {
    _Atomic uint32_t word = 0;
    int64_t deadline = mxci_now_ns() + 10000000;
    (void)state;
    while (mxci_now_ns() < deadline)
        mxci_park(&word, 0, deadline);
    mxci_park(&word, 0, 1); /* long past */
    mxci_park(&word, 0, -5);
}

static void look_around(void *arg) {
    char *name = arg;
    sigset_t blocked;
    pthread_getname_np(pthread_self(), name, 16);
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    if (!sigismember(&blocked, SIGINT) || !sigismember(&blocked, SIGTERM) || !sigismember(&blocked, SIGUSR1))
        strcpy(name, "signals open");
}

static void threads_have_names_and_no_signals(void **state) {
    char name[16] = "";
    sigset_t blocked;
    mxci_thread thread;
    (void)state;
    assert_ok(mxci_thread_start(&thread, "a name of more than 15 bytes", look_around, name));
    mxci_thread_join(thread);
    assert_string_equal(name, "a name of more ");
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    assert_false(sigismember(&blocked, SIGINT)); /* this thread's are as they were */
}

static void note_start(void *arg) {
    atomic_store((_Atomic int *)arg, 1);
}

static void starting_needs_no_memory(void **state) {
    mxci_thread thread;
    _Atomic int started = 0;
    (void)state;
    mxci_test_fail_alloc(1, 0);
    assert_ok(mxci_thread_start(&thread, "poor", note_start, (void *)&started));
    mxci_test_fail_alloc(0, 0);
    mxci_thread_join(thread);
    assert_int_equal(atomic_load(&started), 1);
}

static _Atomic int destroyed;

static void count_value(void *value) {
    destroyed += *(int *)value;
}

static void set_value(void *arg) {
    static int three = 3;
    MXC_IGNORE(mxci_tls_set(*(mxci_tls *)arg, &three)); /* the test reads it back */
}

static void values_go_with_their_thread(void **state) {
    mxci_thread thread;
    mxci_tls tls;
    (void)state;
    assert_ok(mxci_tls_create(&tls, count_value));
    for (int i = 1; i <= 2; i++) {
        assert_ok(mxci_thread_start(&thread, "holder", set_value, &tls));
        mxci_thread_join(thread);
        assert_int_equal(destroyed, 3 * i);
    }
}

static void processors_are_counted(void **state) {
    (void)state;
    assert_true(mxci_cpu_count() >= 1);
    assert_true(mxci_cpu_count() <= sysconf(_SC_NPROCESSORS_CONF));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mutexes_exclude),
        cmocka_unit_test(conditions_wake),
        cmocka_unit_test(timed_waits_end),
        cmocka_unit_test(parked_threads_are_woken),
        cmocka_unit_test(parking_ends_at_the_deadline),
        cmocka_unit_test(threads_have_names_and_no_signals),
        cmocka_unit_test(starting_needs_no_memory),
        cmocka_unit_test(values_go_with_their_thread),
        cmocka_unit_test(processors_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
