/* SPDX-License-Identifier: Apache-2.0 */
/* The threaded kind: pools of workers per context and property, and waiting threads that help. */
#include "engine/schedule/threaded.h"

#include "base/error.h"
#include "engine/core/frame.h"
#include "engine/schedule/run_task.h"
#include "engine/schedule/spin.h"

enum {
    /* Tasks that a worker runs one after the other, each made ready by the one before, while others are queued. */
    MAX_CHAIN = 64,
    DEVICE_THREADS = 1,
    IO_THREADS = 2
};

/* ---- pools ----------------------------------------------------------------------------------------------------- */

/* Acquire order: a pool was filled in before it was added to the list. */
static mxci_worker_pool *find_pool(mxci_threaded *threaded, mxc_context context, mxc_property property) {
    mxci_worker_pool *pool = atomic_load_explicit(&threaded->devices, memory_order_acquire);
    while (pool && !(mxc_context_equal(pool->context, context) && pool->property == property))
        pool = pool->next;
    return pool;
}

/* A pool of a device, created at first use. */
static mxc_status device_pool(mxci_threaded *threaded, const mxci_operation *operation, mxc_property property,
                              mxci_worker_pool **out) {
    mxc_status status = MXC_OK;
    *out = find_pool(threaded, operation->context, property);
    if (*out)
        return MXC_OK;
    mxci_mutex_lock(&threaded->mutex);
    *out = find_pool(threaded, operation->context, property);
    if (!*out)
        status = mxci_worker_pool_create(&threaded->env, operation->context, property, DEVICE_THREADS, out);
    if (*out && !(*out)->device) {
        (*out)->device = operation->device;
        (*out)->spin_ns = threaded->spin_ns;
        (*out)->next = atomic_load(&threaded->devices);
        atomic_store_explicit(&threaded->devices, *out, memory_order_release);
    }
    mxci_mutex_unlock(&threaded->mutex);
    return status;
}

/* A device has a pool for computing and one for copies in each direction; the CPU has one, and one for I/O. */
static mxc_status threaded_prepare(mxc_engine *engine, mxci_operation *operation, mxc_property property) {
    mxci_threaded *threaded = &engine->threaded;
    int is_copy = property == MXC_PROP_COPY_FROM_DEVICE || property == MXC_PROP_COPY_TO_DEVICE;
    if (property == MXC_PROP_IO)
        operation->pool = threaded->io;
    else if (!operation->device)
        operation->pool = threaded->cpu;
    else
        MXC_TRY(device_pool(threaded, operation, is_copy ? property : MXC_PROP_NORMAL, &operation->pool));
    return mxci_worker_pool_start(operation->pool);
}

/* ---- dispatch -------------------------------------------------------------------------------------------------- */

/* Cheap functions for the CPU, pushed from outside of functions. */
static int threaded_runs_inline(const mxci_operation *operation) {
    return (operation->flags & MXC_TASK_CHEAP) && operation->pool->helps_loops && !mxci_frame_top &&
           !mxci_in_parallel_for();
}

static void threaded_enqueue(mxc_engine *engine, mxci_engine_task *task) {
    (void)engine;
    mxci_ready_queue_put(&task->operation->pool->queue, task);
}

static void threaded_wake(mxc_engine *engine, mxci_worker_pool *pool) {
    (void)engine;
    mxci_worker_pool_wake(pool);
}

static mxc_status threaded_run_inline(mxc_engine *engine, mxci_engine_task *task, int ready) {
    mxci_task_list dependents = {NULL, NULL};
    mxci_thread_slot *slot;
    if (!ready)
        return MXC_OK;
    slot = mxci_thread_slot_claim(&engine->slots);
    if (slot) {
        mxci_task_run(slot, NULL, task, &dependents, NULL);
        mxci_thread_slot_release(slot);
    } else {
        mxci_task_list_add(&dependents, task);
    }
    mxci_engine_dispatch(engine, &dependents);
    return MXC_OK;
}

/* Of the tasks that became ready, a single one for this pool stays with this worker, so that a chain costs no queue and
 * wakes no thread; others are enqueued. Returns that one or NULL. */
static mxci_engine_task *keep_one(mxci_worker_pool *pool, mxci_task_list *ready, int *chain) {
    mxci_engine_task *task = ready->first;
    int mine = 0;
    if (!task)
        return NULL;
    if (!task->next && task->operation->pool == pool && !task->urgent && task->priority == 0 &&
        atomic_load_explicit(&pool->queue.ranked, memory_order_relaxed) == 0 &&
        (++*chain < MAX_CHAIN || atomic_load_explicit(&pool->queue.ready, memory_order_relaxed) == 0))
        return task;
    while ((task = mxci_task_list_take(ready)) != NULL) { /* as mxci_engine_dispatch, but this pool is woken once */
        mxci_worker_pool *to = task->operation->pool;
        mxci_ready_queue_put(&to->queue, task);
        mine += to == pool;
        if (to != pool)
            mxci_worker_pool_wake(to);
    }
    if (mine > 1)
        mxci_worker_pool_wake(pool); /* this thread takes only one of them */
    return NULL;
}

/* For mxci_worker_env.serve. Ends early for a fork, or if this thread is to retire. */
static void serve(mxci_worker_pool *pool, mxci_worker *worker) {
    mxci_engine_task *task = mxci_ready_queue_take(&pool->queue, 0);
    int chain = 0;
    while (task) {
        mxci_task_list ready = {NULL, NULL};
        mxci_task_run(worker->slot, worker->stream.handle ? &worker->stream : NULL, task, &ready, NULL);
        task = keep_one(pool, &ready, &chain);
        if (atomic_load_explicit(&mxci_fork_requested, memory_order_relaxed) || atomic_load(&pool->excess) > 0)
            break;
        if (!task) {
            task = mxci_ready_queue_take(&pool->queue, 0);
            chain = 0;
        }
    }
    if (task) {
        mxci_ready_queue_put(&pool->queue, task);
        mxci_worker_pool_wake(pool);
    }
}

/* Acquire and release order: the thread that sees both events sees what was done before each of them. */
static int threaded_async_event(mxci_engine_task *task, int completed) {
    (void)completed;
    return atomic_fetch_sub_explicit(&task->async_events, 1, memory_order_acq_rel) == 1;
}

/* Wake as many threads as are missing; those that spin find the loop by themselves. */
static void threaded_call_helpers(mxc_engine *engine, int wanted) {
    mxci_worker_pool *cpu = engine->threaded.cpu;
    wanted -= atomic_load(&cpu->spinning) + atomic_load(&engine->waiters.spinning);
    if (wanted > 0)
        wanted -= mxci_worker_pool_wake_some(cpu, wanted);
    if (wanted > 0)
        mxci_eventcount_notify(&engine->waiters, wanted);
}

/* ---- waiting --------------------------------------------------------------------------------------------------- */

/* Whole functions are run only by a thread of the program that waits outside of functions: a function might need a lock
 * of the program that the one below it on the stack holds. */
static int may_run_tasks(void) {
    return !mxci_frame_top && !mxci_in_parallel_for() && !mxci_worker_pool_of_thread();
}

/* Run tasks that allow it (MXC_TASK_HELPED), until the wait is over or there are none. 1 if any ran. */
static int run_helpable_tasks(const mxci_wait *wait) {
    mxc_engine *engine = wait->engine;
    mxci_ready_queue *queue = &engine->threaded.cpu->queue;
    mxci_thread_slot *slot;
    mxci_engine_task *task;
    int any = 0;
    if (atomic_load_explicit(&queue->helpable, memory_order_relaxed) == 0)
        return 0;
    mxci_fork_guard_enter();
    slot = mxci_thread_slot_claim(&engine->slots);
    while (slot && !wait->is_over(wait) && !atomic_load_explicit(&mxci_fork_requested, memory_order_relaxed) &&
           (task = mxci_ready_queue_take(queue, 1)) != NULL) {
        mxci_task_list ready = {NULL, NULL};
        mxci_task_run(slot, NULL, task, &ready, NULL);
        mxci_engine_dispatch(engine, &ready);
        any = 1;
    }
    if (slot)
        mxci_thread_slot_release(slot);
    mxci_fork_guard_leave();
    return any;
}

static int help(const mxci_wait *wait) {
    if (mxci_loops_open(&wait->engine->loops) && mxci_loops_help(&wait->engine->loops))
        return 1;
    return may_run_tasks() && run_helpable_tasks(wait);
}

/* Spin and help for a while. Returns 0 once the wait is over; else the caller may sleep unless *word has changed. */
static int spin_and_help(const mxci_wait *wait, uint32_t *word) {
    mxci_eventcount *waiters = &wait->engine->waiters;
    mxci_spin spin = mxci_spin_begin(wait->engine->spin_ns);
    int over, more = 1;
    atomic_fetch_add(&waiters->spinning, 1);
    *word = mxci_wait_announce(wait);
    over = wait->is_over(wait);
    while (!over && more) {
        if (help(wait))
            spin = mxci_spin_begin(wait->engine->spin_ns);
        else
            more = mxci_spin_again(&spin);
        if (atomic_load(&waiters->word) != *word) {
            *word = mxci_wait_announce(wait);
            over = wait->is_over(wait);
        }
    }
    atomic_fetch_sub(&waiters->spinning, 1);
    return !over;
}

static mxc_status threaded_wait(const mxci_wait *wait) {
    mxci_worker_pool *pool = mxci_worker_pool_of_thread();
    int replaced = 0;
    uint32_t word;
    while (spin_and_help(wait, &word)) {
        if (may_run_tasks() && atomic_load(&wait->engine->threaded.cpu->queue.helpable) > 0)
            continue; /* came just now, and no thread was woken for it because this one was spinning */
        if (pool && !replaced)
            MXC_TRY(mxci_worker_pool_begin_wait(pool));
        replaced = 1;
        mxci_wait_sleep(wait, word);
    }
    if (pool && replaced)
        mxci_worker_pool_end_wait(pool);
    return MXC_OK;
}

const mxci_engine_ops mxci_engine_ops_threaded = {
    .prepare = threaded_prepare,
    .runs_inline = threaded_runs_inline,
    .enqueue = threaded_enqueue,
    .wake = threaded_wake,
    .run_inline = threaded_run_inline,
    .async_event = threaded_async_event,
    .wait = threaded_wait,
    .call_helpers = threaded_call_helpers,
};

/* ---- creation -------------------------------------------------------------------------------------------------- */

mxc_status mxci_threaded_create(mxc_engine *engine) {
    mxci_threaded *threaded = &engine->threaded;
    mxc_context cpu = {MXC_CPU, 0};
    threaded->spin_ns = engine->spin_ns;
    threaded->env = (mxci_worker_env){&engine->waiters, &engine->loops, &engine->slots, &engine->streams, serve};
    MXC_TRY(mxci_worker_pool_create(&threaded->env, cpu, MXC_PROP_NORMAL, engine->slots.workers, &threaded->cpu));
    MXC_TRY(mxci_worker_pool_create(&threaded->env, cpu, MXC_PROP_IO, IO_THREADS, &threaded->io));
    for (int i = 0; i < engine->slots.workers; i++)
        threaded->cpu->worker[i].slot = &engine->slots.slot[i];
    threaded->cpu->spin_ns = engine->spin_ns;
    threaded->cpu->helps_loops = 1;
    return MXC_OK;
}

static void for_each_pool(mxci_threaded *threaded, void (*visit)(mxci_worker_pool *)) {
    mxci_worker_pool *pool = atomic_load(&threaded->devices);
    while (pool) {
        mxci_worker_pool *next = pool->next;
        visit(pool);
        pool = next;
    }
    if (threaded->io)
        visit(threaded->io);
    if (threaded->cpu)
        visit(threaded->cpu);
}

void mxci_threaded_destroy(mxc_engine *engine) {
    for_each_pool(&engine->threaded, mxci_worker_pool_stop);
    for_each_pool(&engine->threaded, mxci_worker_pool_destroy);
}
