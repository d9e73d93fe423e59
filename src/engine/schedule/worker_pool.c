/* SPDX-License-Identifier: Apache-2.0 */
/* Workers: how they look for tasks, sleep, are woken, and are replaced while they wait inside a function. */
#include "engine/schedule/worker_pool.h"

#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "engine/fork/fork_guard.h"
#include "engine/schedule/spin.h"

enum { AWAKE, ASLEEP, WOKEN, RETIRED }; /* mxci_worker.state; WOKEN: by another thread, which counted it as spinning */

enum { MAX_WAITING = 16 }; /* threads of a pool that may wait inside functions at once */

static MXCI_THREAD_LOCAL mxci_worker *this_worker;

mxci_worker_pool *mxci_worker_pool_of_thread(void) {
    return this_worker ? this_worker->pool : NULL;
}

/* ---- sleeping and waking --------------------------------------------------------------------------------------- */

int mxci_worker_pool_wake_some(mxci_worker_pool *pool, int count) {
    int woken = 0;
    for (int i = 0; i < pool->limit && woken < count && atomic_load(&pool->sleeping) > 0; i++) {
        mxci_worker *worker = &pool->worker[i];
        uint32_t expected = ASLEEP;
        if (!atomic_compare_exchange_strong(&worker->state, &expected, WOKEN))
            continue;
        atomic_fetch_sub(&pool->sleeping, 1);
        atomic_fetch_add(&pool->spinning, 1);
        mxci_unpark(&worker->state, 1);
        woken++;
    }
    return woken;
}

/* A spinning worker finds the task by itself. With no worker spinning or asleep all are busy, and the tasks may be left
 * to them, but a thread that waits in the engine may run some. */
void mxci_worker_pool_wake(mxci_worker_pool *pool) {
    mxci_eventcount *waiters = pool->env->waiters;
    if (atomic_load(&pool->spinning) > 0 ||
        (atomic_load(&pool->sleeping) > 0 && mxci_worker_pool_wake_some(pool, 1) > 0))
        return;
    if (atomic_load_explicit(&pool->queue.helpable, memory_order_relaxed) > 0 && atomic_load(&waiters->spinning) == 0)
        mxci_eventcount_notify(waiters, 1);
}

static int has_work(mxci_worker_pool *pool) {
    return atomic_load(&pool->queue.ready) > 0 || (pool->helps_loops && mxci_loops_open(pool->env->loops)) ||
           atomic_load(&pool->stopping) || atomic_load(&pool->excess) > 0;
}

/* Spin for a while; 1 once there is work. The thread is counted as spinning, so no other is woken for it. */
static int spin_for_work(mxci_worker_pool *pool) {
    mxci_spin spin = mxci_spin_begin(pool->spin_ns);
    do {
        if (has_work(pool))
            return 1;
    } while (mxci_spin_again(&spin));
    return 0;
}

/* 1 if it was woken, and is counted as spinning; 0 if it found something itself.
 *
 * No wake-up is lost: the worker counts itself as sleeping, then acquires the queue's lock once and looks again. A task
 * put before that is seen here; a thread that puts one later has acquired the lock after this thread, and so finds it
 * asleep.
 */
static int sleep_until_woken(mxci_worker *worker) {
    mxci_worker_pool *pool = worker->pool;
    uint32_t expected = ASLEEP;
    atomic_store(&worker->state, ASLEEP);
    atomic_fetch_add(&pool->sleeping, 1);
    mxci_ready_queue_fence(&pool->queue);
    if (has_work(pool) && atomic_compare_exchange_strong(&worker->state, &expected, AWAKE)) {
        atomic_fetch_sub(&pool->sleeping, 1);
        return 0;
    }
    while (atomic_load(&worker->state) == ASLEEP)
        mxci_park(&worker->state, ASLEEP, INT64_MAX);
    atomic_store(&worker->state, AWAKE);
    return 1;
}

/* ---- replacing threads that wait ------------------------------------------------------------------------------- */

/* If there are more threads than wanted, sleep until this one has to replace another. Wakes another worker for the
 * tasks that were left to this one. */
static void retire(mxci_worker *worker) {
    mxci_worker_pool *pool = worker->pool;
    mxci_mutex_lock(&pool->mutex);
    if (atomic_load(&pool->excess) > 0 && !atomic_load(&pool->stopping)) {
        atomic_fetch_sub(&pool->excess, 1);
        atomic_store(&worker->state, RETIRED);
    }
    mxci_mutex_unlock(&pool->mutex);
    if (atomic_load(&worker->state) == RETIRED && atomic_load(&pool->queue.ready) > 0)
        mxci_worker_pool_wake(pool);
    while (atomic_load(&worker->state) == RETIRED)
        mxci_park(&worker->state, RETIRED, INT64_MAX);
}

/* Spin; if that finds nothing, sleep; then serve the queue, or help a loop. A worker that was woken is counted as
 * spinning by its waker already, and spins again, so that a second waker sees it and wakes no other. */
static void worker_main(void *arg) {
    mxci_worker *worker = arg;
    mxci_worker_pool *pool = worker->pool;
    int counted = 0; /* as spinning, by the thread that woke this one */
    this_worker = worker;
    while (!atomic_load(&pool->stopping)) {
        int found;
        if (!counted)
            atomic_fetch_add(&pool->spinning, 1);
        found = spin_for_work(pool);
        atomic_fetch_sub(&pool->spinning, 1);
        counted = !found && sleep_until_woken(worker);
        if (atomic_load(&pool->excess) > 0 && !counted)
            retire(worker);
        if (!counted && atomic_load(&pool->queue.ready) > 0) {
            if (atomic_load(&pool->queue.ready) > 1)
                mxci_worker_pool_wake(pool); /* more than this thread can do at once */
            mxci_fork_guard_enter();
            pool->env->serve(pool, worker);
            mxci_fork_guard_leave();
        } else if (!counted && pool->helps_loops) {
            mxci_loops_help(pool->env->loops);
        }
    }
}

/* ---- starting and stopping ------------------------------------------------------------------------------------- */

/* "mxc-cpu-0", "mxc-gpu0-in0": at most 15 bytes, which is what the kernel keeps. */
static void name_worker(const mxci_worker_pool *pool, int i, char *out, size_t size) {
    const char *direction = pool->property == MXC_PROP_COPY_TO_DEVICE     ? "in"
                            : pool->property == MXC_PROP_COPY_FROM_DEVICE ? "out"
                                                                          : "";
    if (pool->property == MXC_PROP_IO)
        mxci_format(out, size, "mxc-io-%d", i);
    else if (!pool->device)
        mxci_format(out, size, "mxc-cpu-%d", i);
    else
        mxci_format(out, size, "mxc-%.3s%d-%s%d", pool->device->name, (int)pool->context.id, direction, i);
}

/* The first worker of a device's computing pool has an asynchronous stream, all others synchronous ones. pool->mutex is
 * held. */
static mxc_status start_worker(mxci_worker_pool *pool, int i) {
    mxci_worker *worker = &pool->worker[i];
    char name[32];
    if (!worker->slot)
        worker->slot = mxci_thread_slot_take_spare(pool->env->slots);
    if (!worker->slot)
        return MXC_FAIL(MXC_ESTATE, "engine: more than %d threads beside the %d workers", MXCI_SPARE_THREADS,
                        pool->env->slots->workers);
    if (pool->device && pool->device->stream_create && !worker->stream.handle)
        MXC_TRY(mxci_device_stream_open(i == 0 && pool->property == MXC_PROP_NORMAL ? pool->env->streams : NULL,
                                        pool->device, pool->context, &worker->stream));
    worker->pool = pool;
    atomic_store(&worker->state, AWAKE);
    name_worker(pool, i, name, sizeof name);
    MXC_TRY(mxci_thread_start(&worker->thread, name, worker_main, worker));
    worker->alive = 1;
    if (i >= pool->created)
        pool->created = i + 1;
    return MXC_OK;
}

static int count_alive(const mxci_worker_pool *pool) {
    int alive = 0;
    for (int i = 0; i < pool->created; i++)
        alive += pool->worker[i].alive;
    return alive;
}

mxc_status mxci_worker_pool_start_slow(mxci_worker_pool *pool) {
    mxc_status status = MXC_OK;
    mxci_mutex_lock(&pool->mutex);
    if (!atomic_load(&pool->started)) {
        for (int i = 0; i < pool->wanted && status == MXC_OK; i++)
            if (!pool->worker[i].alive)
                status = start_worker(pool, i);
        if (count_alive(pool) > 0) { /* fewer than wanted are enough */
            atomic_store(&pool->excess, count_alive(pool) - pool->wanted);
            atomic_store_explicit(&pool->started, 1, memory_order_release);
            status = MXC_OK;
        }
    }
    mxci_mutex_unlock(&pool->mutex);
    return status;
}

/* Have one more thread at work: a retired one, or a new one. pool->mutex is held. */
static mxc_status add_worker(mxci_worker_pool *pool) {
    for (int i = 0; i < pool->created; i++) {
        uint32_t expected = RETIRED;
        if (pool->worker[i].alive && atomic_compare_exchange_strong(&pool->worker[i].state, &expected, AWAKE)) {
            mxci_unpark(&pool->worker[i].state, 1);
            return MXC_OK;
        }
    }
    for (int i = 0; i < pool->limit; i++)
        if (!pool->worker[i].alive)
            return start_worker(pool, i);
    return MXC_FAIL(MXC_ESTATE, "engine: %d functions of one queue wait for others already", MAX_WAITING);
}

/* A wait takes one from excess. If there was none, a worker is missing now; the one that is added gives it back. */
mxc_status mxci_worker_pool_begin_wait(mxci_worker_pool *pool) {
    mxc_status status = MXC_OK;
    mxci_mutex_lock(&pool->mutex);
    if (atomic_fetch_sub(&pool->excess, 1) <= 0) {
        status = add_worker(pool);
        atomic_fetch_add(&pool->excess, 1);
    }
    mxci_mutex_unlock(&pool->mutex);
    return status;
}

void mxci_worker_pool_end_wait(mxci_worker_pool *pool) {
    atomic_fetch_add(&pool->excess, 1);
}

mxc_status mxci_worker_pool_create(const mxci_worker_env *env, mxc_context context, mxc_property property, int wanted,
                                   mxci_worker_pool **out) {
    size_t bytes = sizeof(mxci_worker_pool) + (size_t)(wanted + MAX_WAITING) * sizeof(mxci_worker);
    mxci_worker_pool *pool = mxci_pages_alloc(bytes);
    *out = NULL;
    if (!pool)
        return MXC_FAIL(MXC_ENOMEM, "engine: no memory for a queue with %d threads", wanted);
    memset(pool, 0, bytes);
    pool->env = env;
    pool->context = context;
    pool->property = property;
    pool->wanted = wanted;
    pool->limit = wanted + MAX_WAITING;
    mxci_mutex_init(&pool->mutex);
    *out = pool;
    return MXC_OK;
}

/* Wakes the worker from any sleep, so that it sees stopping. */
static void stop_worker(mxci_worker *worker) {
    atomic_store(&worker->state, WOKEN);
    mxci_unpark(&worker->state, 1);
    mxci_thread_join(worker->thread);
    worker->alive = 0;
}

void mxci_worker_pool_stop(mxci_worker_pool *pool) {
    mxci_mutex_lock(&pool->mutex); /* no thread retires from here on */
    atomic_store(&pool->stopping, 1);
    mxci_mutex_unlock(&pool->mutex);
    for (int i = 0; i < pool->created; i++)
        if (pool->worker[i].alive)
            stop_worker(&pool->worker[i]);
}

void mxci_worker_pool_destroy(mxci_worker_pool *pool) {
    for (int i = 0; i < pool->created; i++)
        mxci_device_stream_close(&pool->worker[i].stream);
    mxci_mutex_destroy(&pool->mutex);
    mxci_pages_free(pool, sizeof *pool + (size_t)pool->limit * sizeof(mxci_worker));
}

void mxci_worker_pool_forked(mxci_worker_pool *pool) {
    mxci_ready_queue_forked(&pool->queue);
    atomic_store(&pool->spinning, 0);
    atomic_store(&pool->sleeping, 0);
    atomic_store(&pool->excess, 0);
    atomic_store(&pool->started, 0);
    mxci_mutex_init(&pool->mutex);
    /* The thread that forked may be a worker, in a function that forks: it goes on in the child. */
    for (int i = 0; i < pool->created; i++) {
        pool->worker[i].alive = &pool->worker[i] == this_worker;
        atomic_store(&pool->worker[i].state, AWAKE);
    }
}
