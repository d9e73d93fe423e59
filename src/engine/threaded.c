/* The threaded kind: pools of workers per context and property, and waiting threads that help. */
#include "base/check.h"
#include "engine/engine.h"
#include "engine/op.h"
#include "engine/spin.h"

enum {
    STREAK = 64, /* blocks that a worker runs past others that wait, following one chain */
    DEVICE_THREADS = 1
};

/* ---- pools ---- */

/* Which of a device's queues. */
static mxc_property queue_of(mxc_property property) {
    return property == MXC_PROP_COPY_FROM_DEVICE || property == MXC_PROP_COPY_TO_DEVICE ? property : MXC_PROP_NORMAL;
}

static mxci_pool *find_pool(mxc_engine *engine, mxc_context context, mxc_property property) {
    mxci_pool *pool = atomic_load_explicit(&engine->devices, memory_order_acquire);
    while (pool && !(mxc_context_equal(pool->context, context) && pool->property == property))
        pool = pool->next;
    return pool;
}

/* The queue of a device, made if it is not there. */
static mxc_status device_pool(mxc_engine *engine, const mxci_body *body, mxc_property property, mxci_pool **out) {
    mxc_status status = MXC_OK;
    *out = find_pool(engine, body->context, property);
    if (*out)
        return MXC_OK;
    mxci_mutex_lock(&engine->pools_mutex);
    *out = find_pool(engine, body->context, property);
    if (!*out)
        status = mxci_pool_create(engine, body->context, property, DEVICE_THREADS, out);
    if (*out && !(*out)->device) {
        (*out)->device = body->device;
        (*out)->spin_ns = engine->spin_ns;
        (*out)->next = atomic_load(&engine->devices);
        atomic_store_explicit(&engine->devices, *out, memory_order_release);
    }
    mxci_mutex_unlock(&engine->pools_mutex);
    return status;
}

static mxc_status threaded_prepare(mxc_engine *engine, mxci_body *body, mxc_property property) {
    if (property == MXC_PROP_IO)
        body->pool = engine->io;
    else if (!body->device)
        body->pool = engine->cpu;
    else
        MXC_TRY(device_pool(engine, body, queue_of(property), &body->pool));
    return mxci_pool_start(body->pool);
}

/* ---- dispatch ---- */

static int threaded_direct(const mxci_body *body) {
    return (body->flags & MXC_TASK_CHEAP) && body->pool->helps_loops && !mxci_frame_top && !mxci_in_part();
}

static void threaded_enqueue(mxc_engine *engine, mxci_block *block) {
    (void)engine;
    mxci_pool_put(block->body->pool, block);
}

static void threaded_wake(mxc_engine *engine, mxci_pool *pool) {
    (void)engine;
    mxci_pool_wake(pool);
}

/* A cheap function, on the pushing thread. */
static mxc_status threaded_run(mxc_engine *engine, mxci_block *block, int ready) {
    mxci_list follow = {NULL, NULL};
    mxci_runner *runner;
    if (!ready)
        return MXC_OK;
    runner = mxci_runner_claim(engine);
    if (runner) {
        mxci_block_run(runner, NULL, block, &follow, NULL);
        mxci_runner_release(runner);
    } else {
        mxci_list_add(&follow, block);
    }
    mxci_dispatch(engine, &follow);
    return MXC_OK;
}

/* What became ready: at most one block that this worker goes on with; the others are queued. */
static mxci_block *keep_one(mxci_pool *pool, mxci_list *ready, int *streak) {
    mxci_block *block = ready->first;
    int mine = 0;
    if (!block)
        return NULL;
    if (!block->next && block->body->pool == pool && !block->urgent && block->priority == 0 &&
        atomic_load_explicit(&pool->ranked, memory_order_relaxed) == 0 &&
        (++*streak < STREAK || atomic_load_explicit(&pool->ready, memory_order_relaxed) == 0))
        return block;
    while ((block = mxci_list_take(ready)) != NULL) {
        mxci_pool *to = block->body->pool;
        mxci_pool_put(to, block);
        mine += to == pool;
        if (to != pool)
            mxci_pool_wake(to);
    }
    if (mine > 1)
        mxci_pool_wake(pool); /* this thread takes only one of them */
    return NULL;
}

void mxci_pool_run(mxci_pool *pool, mxci_worker *worker) {
    mxci_block *block = mxci_pool_take(pool, 0);
    int streak = 0;
    while (block) {
        mxci_list ready = {NULL, NULL};
        mxci_block_run(worker->runner, worker->stream.handle ? &worker->stream : NULL, block, &ready, NULL);
        block = keep_one(pool, &ready, &streak);
        if (atomic_load_explicit(&mxci_gate_closed, memory_order_relaxed) || atomic_load(&pool->surplus) > 0)
            break;
        if (!block) {
            block = mxci_pool_take(pool, 0);
            streak = 0;
        }
    }
    if (block) {
        mxci_pool_put(pool, block);
        mxci_pool_wake(pool);
    }
}

static int threaded_half(mxci_block *block, int told) {
    (void)told;
    return atomic_fetch_sub_explicit(&block->parties, 1, memory_order_acq_rel) == 1;
}

/* ---- waiting ---- */

/* Run functions that allow it, until the wait is over or there are none. */
static int run_helped(const mxci_wait *wait) {
    mxc_engine *engine = wait->engine;
    mxci_runner *runner;
    mxci_block *block;
    int any = 0;
    if (atomic_load_explicit(&engine->cpu->helped, memory_order_relaxed) == 0)
        return 0;
    mxci_gate_enter();
    runner = mxci_runner_claim(engine);
    while (runner && !wait->over(wait) && !atomic_load_explicit(&mxci_gate_closed, memory_order_relaxed) &&
           (block = mxci_pool_take(engine->cpu, 1)) != NULL) {
        mxci_list ready = {NULL, NULL};
        mxci_block_run(runner, NULL, block, &ready, NULL);
        mxci_dispatch(engine, &ready);
        any = 1;
    }
    if (runner)
        mxci_runner_release(runner);
    mxci_gate_leave();
    return any;
}

/* Whole functions are run only by a thread that the program itself made wait, with none begun. */
static int may_run(void) {
    return !mxci_frame_top && !mxci_in_part() && !mxci_pool_of_thread();
}

static int help(const mxci_wait *wait) {
    if (mxci_loops_open(&wait->engine->loops) && mxci_loops_help(&wait->engine->loops))
        return 1;
    return may_run() && run_helped(wait);
}

/* Look and help for a while. Returns 0 once over; else the caller may sleep unless *word has moved. */
static int look(const mxci_wait *wait, uint32_t *word) {
    mxci_event *event = &wait->engine->event;
    mxci_spin spin = mxci_spin_begin(wait->engine->spin_ns);
    int over, more = 1;
    atomic_fetch_add(&event->looking, 1);
    *word = mxci_wait_announce(wait);
    over = wait->over(wait);
    while (!over && more) {
        if (help(wait))
            spin = mxci_spin_begin(wait->engine->spin_ns);
        else
            more = mxci_spin_on(&spin);
        if (atomic_load(&event->word) != *word) {
            *word = mxci_wait_announce(wait);
            over = wait->over(wait);
        }
    }
    atomic_fetch_sub(&event->looking, 1);
    return !over;
}

static mxc_status threaded_wait(const mxci_wait *wait) {
    mxci_pool *pool = mxci_pool_of_thread();
    int replaced = 0;
    uint32_t word;
    while (look(wait, &word)) {
        if (may_run() && atomic_load(&wait->engine->cpu->helped) > 0)
            continue; /* came just now, and nobody was woken for it because this thread was looking */
        if (pool && !replaced)
            MXC_TRY(mxci_pool_begin_wait(pool));
        replaced = 1;
        mxci_wait_sleep(wait, word);
    }
    if (pool && replaced)
        mxci_pool_end_wait(pool);
    return MXC_OK;
}

const mxci_kind mxci_kind_threaded = {
    .prepare = threaded_prepare,
    .direct = threaded_direct,
    .enqueue = threaded_enqueue,
    .wake = threaded_wake,
    .run = threaded_run,
    .half = threaded_half,
    .wait = threaded_wait,
};
