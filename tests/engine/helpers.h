/* SPDX-License-Identifier: Apache-2.0 */
/* What the engine's tests share: engines of each kind, tasks that note their order, a barrier that blocks a worker,
 * a thread that completes asynchronous functions. */
#ifndef MXC_TESTS_ENGINE_HELPERS_H
#define MXC_TESTS_ENGINE_HELPERS_H

#include <stdatomic.h>

#include <mxc/engine.h>

#include "base/sys.h"
#include "support.h"

static inline mxc_engine *make_engine(mxc_engine_kind kind, int workers, uint64_t seed) {
    mxc_engine_options options = MXC_ENGINE_OPTIONS_INIT;
    mxc_engine *engine;
    options.kind = kind;
    options.workers = workers;
    options.parallelism = 4;
    options.seed = seed;
    assert_ok(mxc_engine_create(&options, &engine));
    return engine;
}

static inline mxc_var *make_var(mxc_engine *engine) {
    mxc_var *var;
    assert_ok(mxc_var_create(engine, &var));
    return var;
}

static inline mxc_task make_task(mxc_task_fn fn, void *arg) {
    mxc_task task = MXC_TASK_INIT;
    task.fn = fn;
    task.arg = arg;
    return task;
}

/* Numbers in the order in which functions ran. */
typedef struct journal {
    _Atomic int count;
    uint64_t entries[256];
} journal;

/* arg: a journal. Notes the token. */
static inline mxc_status note(const mxc_run *run, void *arg) {
    journal *j = arg;
    j->entries[atomic_fetch_add(&j->count, 1)] = run->token;
    return MXC_OK;
}

/* arg: an atomic int. */
static inline mxc_status count_up(const mxc_run *run, void *arg) {
    (void)run;
    atomic_fetch_add((_Atomic int *)arg, 1);
    return MXC_OK;
}

static inline void count_destroy(void *arg) {
    atomic_fetch_add((_Atomic int *)arg, 1);
}

/* Blocks the threads that run it until it is opened. */
typedef struct barrier {
    _Atomic int entered, open;
} barrier;

static inline mxc_status hold(const mxc_run *run, void *arg) {
    barrier *b = arg;
    (void)run;
    atomic_fetch_add(&b->entered, 1);
    while (!atomic_load(&b->open))
        mxci_thread_yield();
    return MXC_OK;
}

static inline void wait_entered(barrier *b, int count) {
    while (atomic_load(&b->entered) < count)
        mxci_thread_yield();
}

/* Completes asynchronous functions on a thread of its own. */
typedef struct completer {
    _Atomic(mxc_done *) done;
    _Atomic int stop;
    int64_t delay_ns;
    mxc_status status;
    const char *message;
    mxci_thread thread;
} completer;

static inline void complete_all(void *arg) {
    completer *t = arg;
    while (!atomic_load(&t->stop)) {
        mxc_done *done = atomic_exchange(&t->done, NULL);
        if (!done) {
            mxci_thread_yield();
            continue;
        }
        if (t->delay_ns)
            mxci_sleep_ns(t->delay_ns);
        mxc_done_complete(done, t->status, t->message);
    }
}

static inline void start_completer(completer *t) {
    *t = (completer){.status = MXC_OK};
    assert_ok(mxci_thread_start(&t->thread, "completer", complete_all, t));
}

static inline void stop_completer(completer *t) {
    atomic_store(&t->stop, 1);
    mxci_thread_join(t->thread);
}

static inline void complete_elsewhere(const mxc_run *run, void *arg, mxc_done *done) {
    completer *t = arg;
    mxc_done *none = NULL;
    (void)run;
    while (!atomic_compare_exchange_weak(&t->done, &none, done)) {
        none = NULL;
        mxci_thread_yield();
    }
}

static inline uint32_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static const mxc_engine_kind all_kinds[] = {MXC_ENGINE_NAIVE, MXC_ENGINE_THREADED, MXC_ENGINE_SEEDED};
enum { KINDS = 3 };

#endif
