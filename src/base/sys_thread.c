/* SPDX-License-Identifier: Apache-2.0 */
/* Locks, conditions, threads and futex waits over pthreads and Linux. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/sys.h"
#include "base/trace.h"

/* A lock call fails only on a lock that was not initialised, or is used after its destruction. */
static void must(int error) {
    MXCI_ASSERT(error == 0);
    (void)error;
}

void mxci_mutex_init(mxci_mutex *m) {
    must(pthread_mutex_init(m, NULL));
}

void mxci_mutex_destroy(mxci_mutex *m) {
    must(pthread_mutex_destroy(m));
}

void mxci_mutex_lock(mxci_mutex *m) {
    must(pthread_mutex_lock(m));
}

int mxci_mutex_trylock(mxci_mutex *m) {
    return pthread_mutex_trylock(m) == 0;
}

void mxci_mutex_unlock(mxci_mutex *m) {
    must(pthread_mutex_unlock(m));
}

void mxci_cond_init(mxci_cond *c) {
    must(pthread_cond_init(c, NULL));
}

void mxci_cond_destroy(mxci_cond *c) {
    must(pthread_cond_destroy(c));
}

void mxci_cond_wait(mxci_cond *c, mxci_mutex *m) {
    must(pthread_cond_wait(c, m));
}

/* A time in the past becomes 0, which has passed as well. */
static struct timespec to_timespec(int64_t ns) {
    if (ns < 0)
        ns = 0;
    return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

int mxci_cond_wait_until(mxci_cond *c, mxci_mutex *m, int64_t deadline_ns) {
    struct timespec until = to_timespec(deadline_ns);
    if (deadline_ns == INT64_MAX) {
        mxci_cond_wait(c, m);
        return 1;
    }
    return pthread_cond_clockwait(c, m, CLOCK_MONOTONIC, &until) != ETIMEDOUT;
}

void mxci_cond_signal(mxci_cond *c) {
    must(pthread_cond_signal(c));
}

void mxci_cond_broadcast(mxci_cond *c) {
    must(pthread_cond_broadcast(c));
}

/* Arguments of a new thread, on the stack of the thread that starts it and waits until they are copied: nothing is
 * allocated that a thread would free at some time later. */
typedef struct start {
    void (*body)(void *);
    void *arg;
    char name[32];
    sem_t taken;
} start;

static void *thread_main(void *given) {
    start *from = given, s = {.body = from->body, .arg = from->arg};
    memcpy(s.name, from->name, sizeof s.name);
    must(sem_post(&from->taken)); /* *from may be gone from here on */
    mxci_trace_thread_name(s.name);
    s.name[15] = '\0'; /* the kernel keeps 15 bytes */
    pthread_setname_np(pthread_self(), s.name);
    s.body(s.arg);
    return NULL;
}

/* The mask is inherited, so the new thread has all signals blocked from its first instruction on. */
mxc_status mxci_thread_start(mxci_thread *out, const char *name, void (*body)(void *), void *arg) {
    sigset_t all, before;
    start s = {.body = body, .arg = arg};
    strncpy(s.name, name, sizeof s.name - 1);
    must(sem_init(&s.taken, 0, 0));
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(out, NULL, thread_main, &s);
    if (!error)
        must(sem_wait(&s.taken)); /* no signal interrupts it */
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    must(sem_destroy(&s.taken));
    if (error)
        return MXC_FAIL(MXC_EIO, "thread %s: the system could not start it: %s", name, strerrordesc_np(error));
    return MXC_OK;
}

void mxci_thread_join(mxci_thread t) {
    must(pthread_join(t, NULL));
}

void mxci_thread_detach(mxci_thread t) {
    must(pthread_detach(t));
}

void mxci_thread_yield(void) {
    sched_yield();
}

int mxci_thread_is_first(void) {
    return syscall(SYS_gettid) == getpid();
}

mxc_status mxci_tls_create(mxci_tls *out, void (*destroy)(void *value)) {
    if (pthread_key_create(out, destroy))
        return MXC_FAIL(MXC_ENOMEM, "no memory for a value per thread");
    return MXC_OK;
}

mxc_status mxci_tls_set(mxci_tls tls, void *value) {
    if (pthread_setspecific(tls, value))
        return MXC_FAIL(MXC_ENOMEM, "no memory for this thread's value");
    return MXC_OK;
}

/* Of the affinity mask, so that taskset and the cpusets of containers are respected. */
int mxci_cpu_count(void) {
    cpu_set_t set;
    long count = 0;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        count = CPU_COUNT(&set);
    else
        count = sysconf(_SC_NPROCESSORS_ONLN); /* more processors than a cpu_set_t holds */
    return count < 1 ? 1 : (int)count;
}

/* PRIVATE: words are not shared between processes, so the kernel need not look up the mapping. BITSET: the variant with
 * an absolute deadline. */
void mxci_park(_Atomic uint32_t *word, uint32_t expected, int64_t deadline_ns) {
    struct timespec until = to_timespec(deadline_ns);
    syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, expected, deadline_ns == INT64_MAX ? NULL : &until, NULL,
            FUTEX_BITSET_MATCH_ANY);
}

void mxci_unpark(_Atomic uint32_t *word, int count) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}
