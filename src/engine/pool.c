/* Queues of ready blocks, and the life of the threads that serve them. */
#include "engine/pool.h"

#include <string.h>

#include "base/check.h"
#include "base/text.h"
#include "engine/engine.h"
#include "engine/spin.h"

enum { AWAKE, ASLEEP, CALLED, RETIRED }; /* mxci_worker.state; CALLED: woken, and counted as spinning by the waker */

enum { SPARES = 16 };

static MXCI_THREAD_LOCAL mxci_worker *this_worker;

mxci_pool *mxci_pool_of_thread(void) {
    return this_worker ? this_worker->pool : NULL;
}

/* ---- queue ---- */

/* 1 if a runs before b. */
static int before(const mxci_block *a, const mxci_block *b) {
    if (a->urgent != b->urgent)
        return a->urgent;
    if (a->priority != b->priority)
        return a->priority > b->priority;
    return a->order < b->order;
}

/* Heaps hang their children on child, siblings on next. Each may be NULL. */
static mxci_block *meld(mxci_block *a, mxci_block *b) {
    if (!a || !b)
        return a ? a : b;
    if (before(b, a)) {
        mxci_block *swap = a;
        a = b;
        b = swap;
    }
    b->next = a->child;
    a->child = b;
    return a;
}

/* The heap without its root: children melded in pairs, then the pairs from the last to the first. */
static mxci_block *without_root(mxci_block *root) {
    mxci_block *pairs = NULL, *heap = NULL, *child = root->child;
    while (child) {
        mxci_block *a = child, *b = a->next;
        child = b ? b->next : NULL;
        a->next = NULL;
        if (b)
            b->next = NULL;
        a = meld(a, b);
        a->next = pairs;
        pairs = a;
    }
    while (pairs) {
        mxci_block *rest = pairs->next;
        pairs->next = NULL;
        heap = meld(heap, pairs);
        pairs = rest;
    }
    return heap;
}

static int is_ranked(const mxci_block *block) {
    return block->urgent || block->priority != 0;
}

static int is_helped(const mxci_block *block) {
    return (block->body->flags & MXC_TASK_HELPED) != 0;
}

static void add_to(_Atomic int32_t *count, int by) { /* under the lock: nobody else writes */
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + by, memory_order_release);
}

int mxci_pool_is_valid(const mxci_pool *pool) {
    int ready = pool->ready, ranked = pool->ranked, helped = pool->helped;
    return ready >= ranked && ranked >= 0 && helped >= 0 && helped <= ready && !pool->heap == !ranked &&
           !pool->fifo.first == (ready == ranked);
}

void mxci_pool_put(mxci_pool *pool, mxci_block *block) {
    mxci_lock_take(&pool->lock);
    block->order = pool->order++;
    if (is_ranked(block)) {
        block->child = NULL;
        block->next = NULL;
        pool->heap = meld(pool->heap, block);
        add_to(&pool->ranked, 1);
    } else {
        mxci_list_add(&pool->fifo, block);
    }
    if (is_helped(block))
        add_to(&pool->helped, 1);
    add_to(&pool->ready, 1);
    MXCI_ASSERT(mxci_pool_is_valid(pool));
    mxci_lock_drop(&pool->lock);
}

mxci_block *mxci_pool_take(mxci_pool *pool, int helped) {
    mxci_block *block;
    int from_heap;
    if (atomic_load_explicit(&pool->ready, memory_order_acquire) == 0)
        return NULL;
    mxci_lock_take(&pool->lock);
    from_heap = pool->heap && (!pool->fifo.first || pool->heap->urgent || pool->heap->priority > 0);
    block = from_heap ? pool->heap : pool->fifo.first;
    if (block && helped && !is_helped(block))
        block = NULL;
    if (block) {
        if (from_heap) {
            pool->heap = without_root(block);
            add_to(&pool->ranked, -1);
        } else {
            pool->fifo.first = block->next;
        }
        if (is_helped(block))
            add_to(&pool->helped, -1);
        add_to(&pool->ready, -1);
    }
    MXCI_ASSERT(mxci_pool_is_valid(pool));
    mxci_lock_drop(&pool->lock);
    return block;
}

/* ---- sleeping and waking ---- */

int mxci_pool_call(mxci_pool *pool, int count) {
    int called = 0;
    for (int i = 0; i < pool->limit && called < count && atomic_load(&pool->sleeping) > 0; i++) {
        mxci_worker *worker = &pool->worker[i];
        uint32_t expected = ASLEEP;
        if (!atomic_compare_exchange_strong(&worker->state, &expected, CALLED))
            continue;
        atomic_fetch_sub(&pool->sleeping, 1);
        atomic_fetch_add(&pool->spinning, 1);
        mxci_unpark(&worker->state, 1);
        called++;
    }
    return called;
}

void mxci_pool_wake(mxci_pool *pool) {
    mxci_event *event = &pool->engine->event;
    if (atomic_load(&pool->spinning) > 0 || (atomic_load(&pool->sleeping) > 0 && mxci_pool_call(pool, 1) > 0))
        return;
    if (atomic_load_explicit(&pool->helped, memory_order_relaxed) > 0 && atomic_load(&event->looking) == 0)
        mxci_event_call(event, 1);
}

static int anything(mxci_pool *pool) {
    return atomic_load(&pool->ready) > 0 || (pool->helps_loops && mxci_loops_open(&pool->engine->loops)) ||
           atomic_load(&pool->stopping) || atomic_load(&pool->surplus) > 0;
}

/* Look for work for a while. The thread is counted as spinning, so nobody is woken for what it will find. */
static int look(mxci_pool *pool) {
    mxci_spin spin = mxci_spin_begin(pool->spin_ns);
    do {
        if (anything(pool))
            return 1;
    } while (mxci_spin_on(&spin));
    return 0;
}

/* As anything, but sees whatever was queued by a thread that did not see this one asleep. */
static int anything_at_all(mxci_pool *pool) {
    mxci_lock_take(&pool->lock);
    mxci_lock_drop(&pool->lock);
    return anything(pool);
}

/* 1 if it was called, and is counted as spinning; 0 if it found something itself. */
static int sleep_worker(mxci_worker *worker) {
    mxci_pool *pool = worker->pool;
    uint32_t expected = ASLEEP;
    atomic_store(&worker->state, ASLEEP);
    atomic_fetch_add(&pool->sleeping, 1);
    if (anything_at_all(pool) && atomic_compare_exchange_strong(&worker->state, &expected, AWAKE)) {
        atomic_fetch_sub(&pool->sleeping, 1);
        return 0;
    }
    while (atomic_load(&worker->state) == ASLEEP)
        mxci_park(&worker->state, ASLEEP, INT64_MAX);
    atomic_store(&worker->state, AWAKE);
    return 1;
}

/* ---- replacing threads that wait ---- */

/* Sleep until needed, if there are more threads than wanted. What was left to this thread, another one is woken for. */
static void retire(mxci_worker *worker) {
    mxci_pool *pool = worker->pool;
    mxci_mutex_lock(&pool->mutex);
    if (atomic_load(&pool->surplus) > 0 && !atomic_load(&pool->stopping)) {
        atomic_fetch_sub(&pool->surplus, 1);
        atomic_store(&worker->state, RETIRED);
    }
    mxci_mutex_unlock(&pool->mutex);
    if (atomic_load(&worker->state) == RETIRED && atomic_load(&pool->ready) > 0)
        mxci_pool_wake(pool);
    while (atomic_load(&worker->state) == RETIRED)
        mxci_park(&worker->state, RETIRED, INT64_MAX);
}

static void worker_main(void *arg) {
    mxci_worker *worker = arg;
    mxci_pool *pool = worker->pool;
    int counted = 0;
    this_worker = worker;
    while (!atomic_load(&pool->stopping)) {
        int found;
        if (!counted)
            atomic_fetch_add(&pool->spinning, 1);
        found = look(pool);
        atomic_fetch_sub(&pool->spinning, 1);
        counted = !found && sleep_worker(worker);
        if (atomic_load(&pool->surplus) > 0 && !counted)
            retire(worker);
        if (!counted && atomic_load(&pool->ready) > 0) {
            if (atomic_load(&pool->ready) > 1)
                mxci_pool_wake(pool); /* more than this thread can do at once */
            mxci_gate_enter();
            mxci_pool_run(pool, worker);
            mxci_gate_leave();
        } else if (!counted && pool->helps_loops) {
            mxci_loops_help(&pool->engine->loops);
        }
    }
}

/* ---- starting and stopping ---- */

/* Names have at most 15 bytes. */
static void name_worker(const mxci_pool *pool, int i, char *out, size_t size) {
    const char *way = pool->property == MXC_PROP_COPY_TO_DEVICE     ? "in"
                      : pool->property == MXC_PROP_COPY_FROM_DEVICE ? "out"
                                                                    : "";
    if (pool->property == MXC_PROP_IO)
        mxci_format(out, size, "mxc-io-%d", i);
    else if (!pool->device)
        mxci_format(out, size, "mxc-cpu-%d", i);
    else
        mxci_format(out, size, "mxc-%.3s%d-%s%d", pool->device->name, (int)pool->context.id, way, i);
}

/* pool->mutex is held. */
static mxc_status start_worker(mxci_pool *pool, int i) {
    mxci_worker *worker = &pool->worker[i];
    char name[32];
    if (!worker->runner)
        worker->runner = mxci_engine_extra(pool->engine);
    if (!worker->runner)
        return MXC_FAIL(MXC_ESTATE, "engine: more than %d threads beside the %d workers", MXCI_EXTRAS,
                        pool->engine->workers);
    if (pool->device && pool->device->stream_create && !worker->stream.handle)
        MXC_TRY(mxci_stream_open(pool->engine, pool->device, pool->context, i == 0 && pool->property == MXC_PROP_NORMAL,
                                 &worker->stream));
    worker->pool = pool;
    atomic_store(&worker->state, AWAKE);
    name_worker(pool, i, name, sizeof name);
    MXC_TRY(mxci_thread_start(&worker->thread, name, worker_main, worker));
    worker->alive = 1;
    if (i >= pool->count)
        pool->count = i + 1;
    return MXC_OK;
}

static int count_alive(const mxci_pool *pool) {
    int alive = 0;
    for (int i = 0; i < pool->count; i++)
        alive += pool->worker[i].alive;
    return alive;
}

mxc_status mxci_pool_start_slow(mxci_pool *pool) {
    mxc_status status = MXC_OK;
    mxci_mutex_lock(&pool->mutex);
    if (!atomic_load(&pool->started)) {
        for (int i = 0; i < pool->base && status == MXC_OK; i++)
            if (!pool->worker[i].alive)
                status = start_worker(pool, i);
        if (count_alive(pool) > 0) { /* fewer than wanted will do */
            atomic_store(&pool->surplus, count_alive(pool) - pool->base);
            atomic_store_explicit(&pool->started, 1, memory_order_release);
            status = MXC_OK;
        }
    }
    mxci_mutex_unlock(&pool->mutex);
    return status;
}

/* Have one thread more at work. pool->mutex is held. */
static mxc_status add_worker(mxci_pool *pool) {
    for (int i = 0; i < pool->count; i++) {
        uint32_t expected = RETIRED;
        if (pool->worker[i].alive && atomic_compare_exchange_strong(&pool->worker[i].state, &expected, AWAKE)) {
            mxci_unpark(&pool->worker[i].state, 1);
            return MXC_OK;
        }
    }
    for (int i = 0; i < pool->limit; i++)
        if (!pool->worker[i].alive)
            return start_worker(pool, i);
    return MXC_FAIL(MXC_ESTATE, "engine: %d functions of one queue wait for others already", SPARES);
}

mxc_status mxci_pool_begin_wait(mxci_pool *pool) {
    mxc_status status = MXC_OK;
    mxci_mutex_lock(&pool->mutex);
    if (atomic_fetch_sub(&pool->surplus, 1) <= 0) {
        status = add_worker(pool);
        atomic_fetch_add(&pool->surplus, 1);
    }
    mxci_mutex_unlock(&pool->mutex);
    return status;
}

void mxci_pool_end_wait(mxci_pool *pool) {
    atomic_fetch_add(&pool->surplus, 1);
}

mxc_status mxci_pool_create(mxc_engine *engine, mxc_context context, mxc_property property, int base, mxci_pool **out) {
    size_t bytes = sizeof(mxci_pool) + (size_t)(base + SPARES) * sizeof(mxci_worker);
    mxci_pool *pool = mxci_pages_alloc(bytes);
    *out = NULL;
    if (!pool)
        return MXC_FAIL(MXC_ENOMEM, "engine: no memory for a queue with %d threads", base);
    memset(pool, 0, bytes);
    pool->engine = engine;
    pool->context = context;
    pool->property = property;
    pool->base = base;
    pool->limit = base + SPARES;
    mxci_mutex_init(&pool->mutex);
    *out = pool;
    return MXC_OK;
}

static void stop_worker(mxci_worker *worker) {
    atomic_store(&worker->state, CALLED);
    mxci_unpark(&worker->state, 1);
    mxci_thread_join(worker->thread);
    worker->alive = 0;
}

void mxci_pool_stop(mxci_pool *pool) {
    mxci_mutex_lock(&pool->mutex); /* no thread retires from here on */
    atomic_store(&pool->stopping, 1);
    mxci_mutex_unlock(&pool->mutex);
    for (int i = 0; i < pool->count; i++)
        if (pool->worker[i].alive)
            stop_worker(&pool->worker[i]);
}

void mxci_pool_destroy(mxci_pool *pool) {
    for (int i = 0; i < pool->count; i++)
        mxci_stream_close(&pool->worker[i].stream);
    mxci_mutex_destroy(&pool->mutex);
    mxci_pages_free(pool, sizeof *pool + (size_t)pool->limit * sizeof(mxci_worker));
}

void mxci_pool_forked(mxci_pool *pool) {
    atomic_store(&pool->lock.word, 0); /* only threads that are gone looked at the queue, and changed nothing */
    atomic_store(&pool->spinning, 0);
    atomic_store(&pool->sleeping, 0);
    atomic_store(&pool->surplus, 0);
    atomic_store(&pool->started, 0);
    mxci_mutex_init(&pool->mutex);
    for (int i = 0; i < pool->count; i++) {
        pool->worker[i].alive = &pool->worker[i] == this_worker;
        atomic_store(&pool->worker[i].state, AWAKE);
    }
}
