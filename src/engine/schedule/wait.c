/* SPDX-License-Identifier: Apache-2.0 */
/* The public waits (mxc_wait_to_read, mxc_wait_to_write, mxc_wait_all), and how a thread sleeps. */
#include "engine/schedule/wait.h"

#include "base/error.h"
#include "engine/core/frame.h"
#include "engine/core/operation.h"
#include "engine/device/ordering.h"
#include "engine/engine.h"
#include "engine/fork/fork_child.h"
#include "engine/schedule/spin.h"

/* ---- sleeping --------------------------------------------------------------------------------------------------
 *
 * A wait must not miss its notification. The waiting thread reads the eventcount's word, announces what it waits for,
 * looks whether the wait is over, and then spins or sleeps only while the word is unchanged. The other thread stores
 * what is waited for (a version, done, a count), looks for the announcement, and then changes the word. So if the
 * waiting thread does not see what is stored, the other one sees the announcement, and the word changes after it was
 * read. The loads and stores concerned are sequentially consistent, or made under the variable's lock.
 */

uint32_t mxci_wait_announce(const mxci_wait *wait) {
    uint32_t word = atomic_load(&wait->engine->waiters.word);
    if (wait->var) {
        mxci_fork_guard_enter();
        mxci_var_wake_at(wait->var, wait->version);
        mxci_fork_guard_leave();
    }
    return word;
}

void mxci_wait_sleep(const mxci_wait *wait, uint32_t word) {
    mxci_eventcount *waiters = &wait->engine->waiters;
    atomic_fetch_add(&waiters->sleeping, 1);
    if (!wait->is_over(wait) && !mxci_loops_open(&wait->engine->loops))
        mxci_park(&waiters->word, word, wait->deadline ? wait->deadline : INT64_MAX);
    atomic_fetch_sub(&waiters->sleeping, 1);
}

/* Spin until a notification; 0 if the time is over. */
static int spin_until_notified(const mxci_eventcount *waiters, uint32_t word, mxci_spin *spin) {
    while (atomic_load(&waiters->word) == word)
        if (!mxci_spin_again(spin))
            return 0;
    return 1;
}

void mxci_wait_without_helping(const mxci_wait *wait) {
    mxci_spin spin = mxci_spin_begin(wait->engine->spin_ns);
    for (;;) {
        uint32_t word = mxci_wait_announce(wait);
        if (wait->is_over(wait))
            return;
        if (!spin_until_notified(&wait->engine->waiters, word, &spin))
            mxci_wait_sleep(wait, word);
    }
}

mxc_status mxci_wait_for(const mxci_wait *wait) {
    int depth = mxci_fork_guard_suspend();
    mxc_status status = wait->engine->ops->wait(wait);
    mxci_fork_guard_resume(depth);
    return status;
}

int mxci_wait_task_done(const mxci_wait *wait) {
    return atomic_load_explicit(&wait->task->done, memory_order_acquire) != 0;
}

/* A time so many milliseconds from now, at least 1, that does not overflow. */
static int64_t deadline_in(int64_t timeout_ms) {
    const int64_t now = mxci_now_ns(), most = (INT64_MAX - 1 - now) / 1000000;
    return now + 1 + (timeout_ms < 0 ? 0 : timeout_ms < most ? timeout_ms : most) * 1000000;
}

static int is_late(const mxci_wait *wait) {
    return wait->deadline && mxci_now_ns() >= wait->deadline;
}

/* ---- one variable ---------------------------------------------------------------------------------------------- */

/* Acquire order: the waiting thread sees what the tasks wrote that completed this version. */
static int version_reached(const mxci_wait *wait) {
    return atomic_load_explicit(&wait->var->version, memory_order_acquire) >= wait->version;
}

static int version_reached_or_late(const mxci_wait *wait) {
    return version_reached(wait) || is_late(wait);
}

/* A function that waits for a variable that it names itself would wait for its own end. */
static mxc_status check_not_named(const char *caller, const mxc_var *var) {
    const mxci_engine_task *task = mxci_frame_naming(var);
    return task ? MXC_FAIL(MXC_ESTATE, "%s: called inside %s for a variable that this function itself names", caller,
                           task->operation->name)
                : MXC_OK;
}

/* The tasks that were waited for are complete: wait for their device work, and return the error state. */
static mxc_status synchronize_and_raise(mxc_var *var, int all) {
    mxci_failure *failure;
    mxc_status late = mxci_var_synchronize(var, all), status;
    if (!atomic_load_explicit(&var->vars->errors->failed_vars, memory_order_relaxed))
        return late;
    mxci_fork_guard_enter();
    failure = mxci_var_failure(var);
    mxci_fork_guard_leave();
    status = mxci_failure_raise(failure);
    mxci_failure_release(failure);
    return status != MXC_OK ? status : late;
}

static mxc_status check_var(const char *caller, const mxc_var *var) {
    if (!var)
        return MXC_FAIL(MXC_EINVAL, "%s: var is NULL", caller);
    return mxci_engine_resume(var->vars->engine);
}

static mxc_status wait_to_read(const char *caller, mxc_var *var, int64_t deadline, int *is_done) {
    mxci_wait wait = {
        .is_over = deadline ? version_reached_or_late : version_reached, .var = var, .deadline = deadline};
    MXC_TRY(check_var(caller, var));
    wait.engine = var->vars->engine;
    wait.version = atomic_load_explicit(&var->pushed, memory_order_acquire);
    if (!version_reached(&wait)) {
        MXC_TRY(check_not_named(caller, var));
        MXC_TRY(mxci_wait_for(&wait));
    }
    *is_done = version_reached(&wait);
    return *is_done ? synchronize_and_raise(var, 0) : MXC_OK;
}

mxc_status mxc_wait_to_read(mxc_var *var) {
    int is_done;
    return wait_to_read("mxc_wait_to_read", var, 0, &is_done);
}

mxc_status mxc_wait_to_read_for(mxc_var *var, int64_t timeout_ms, int *is_done) {
    MXC_TRY(MXCI_OUT(is_done));
    return wait_to_read("mxc_wait_to_read_for", var, deadline_in(timeout_ms), is_done);
}

/* Put a barrier into the variable's queue. NULL in *out if all tasks before it are complete already. */
static mxc_status enqueue_barrier(mxc_var *var, mxci_engine_task **out) {
    mxc_engine *engine = var->vars->engine;
    mxci_stripe *stripe = mxci_engine_stripe(engine);
    mxci_task_list ready = {NULL, NULL};
    mxci_engine_task *barrier;
    mxci_fork_guard_enter();
    mxci_lock_acquire(&stripe->lock);
    barrier = mxci_task_alloc(stripe, 1, 0);
    *out = barrier;
    if (barrier) {
        barrier->operation = &mxci_barrier_operation;
        barrier->deps[0] = (mxci_dep){var, NULL, 0, MXCI_DEP_BARRIER};
        atomic_store_explicit(&barrier->done, 0, memory_order_relaxed);
        if (mxci_task_enqueue(barrier)) {
            if (mxci_task_release_deps(barrier, NULL, &ready))
                mxci_eventcount_notify_all(&engine->waiters);
            mxci_task_free(stripe, barrier);
            *out = NULL;
        }
    }
    mxci_lock_release(&stripe->lock);
    mxci_engine_dispatch(engine, &ready);
    mxci_fork_guard_leave();
    return barrier ? MXC_OK : MXC_FAIL(MXC_ENOMEM, "mxc_wait_to_write: no memory to wait");
}

/* A barrier is ordered like a write, so that it is granted when all tasks before it, readers too, are complete. */
mxc_status mxc_wait_to_write(mxc_var *var) {
    mxci_wait wait = {.is_over = mxci_wait_task_done};
    MXC_TRY(check_var("mxc_wait_to_write", var));
    wait.engine = var->vars->engine;
    if (!mxc_var_idle(var)) {
        MXC_TRY(check_not_named("mxc_wait_to_write", var));
        MXC_TRY(enqueue_barrier(var, &wait.task));
    }
    if (wait.task) {
        MXC_TRY(mxci_wait_for(&wait));
        mxci_task_recycle(wait.task);
    }
    return synchronize_and_raise(var, 1);
}

/* ---- all tasks ------------------------------------------------------------------------------------------------- */

/* Tasks of epochs first to last that are pushed and not complete. Complete ones are counted first: tasks that come
 * between the two sums then make the result too large, never too small, so 0 was true at one time. */
static uint64_t pending(mxc_engine *engine, uint32_t first, uint32_t last) {
    uint64_t completed = 0, pushed = 0;
    for (uint32_t epoch = first; epoch <= last; epoch++)
        for (int i = 0; i < MXCI_STRIPES; i++)
            completed += atomic_load(&engine->stripes[i].completed[epoch]);
    for (uint32_t epoch = first; epoch <= last; epoch++)
        for (int i = 0; i < MXCI_STRIPES; i++)
            pushed += atomic_load(&engine->stripes[i].pushed[epoch]);
    return pushed - completed;
}

static int epoch_drained(const mxci_wait *wait) {
    return pending(wait->engine, wait->epoch, wait->epoch) == 0;
}

static int epoch_drained_or_late(const mxci_wait *wait) {
    return epoch_drained(wait) || is_late(wait);
}

static int all_drained(const mxci_wait *wait) {
    return pending(wait->engine, 0, 1) == 0;
}

/* While draining is not 0, each stripe notifies when its last pushed task is complete (mxci_task_complete). */
static mxc_status drain(const mxci_wait *wait) {
    mxc_status status;
    atomic_fetch_add(&wait->engine->draining, 1);
    status = wait->is_over(wait) ? MXC_OK : mxci_wait_for(wait);
    atomic_fetch_sub(&wait->engine->draining, 1);
    return status;
}

/* Waits for what has been pushed so far: flips the epoch, so that later pushes are counted elsewhere, and drains the
 * former one. The other epoch holds tasks if an earlier call ran out of time or the process was forked while another
 * thread was in this function, and only then have stripes different epochs. wait_all_mutex is held. */
static mxc_status drain_earlier(mxc_engine *engine, int64_t deadline, int *is_done) {
    mxci_wait wait = {
        .engine = engine, .is_over = deadline ? epoch_drained_or_late : epoch_drained, .deadline = deadline};
    wait.epoch = !engine->stripes[0].epoch;
    MXC_TRY(drain(&wait));
    if (!epoch_drained(&wait))
        return MXC_OK;
    for (int i = 0; i < MXCI_STRIPES; i++) {
        mxci_lock_acquire(&engine->stripes[i].lock);
        engine->stripes[i].epoch = wait.epoch;
        mxci_lock_release(&engine->stripes[i].lock);
    }
    wait.epoch = !wait.epoch;
    MXC_TRY(drain(&wait));
    *is_done = epoch_drained(&wait);
    return MXC_OK;
}

/* Lock wait_all_mutex, which another thread may hold for as long as it waits; 0 if the deadline (0: none) passed. */
static int lock_until(mxci_mutex *mutex, int64_t deadline) {
    if (!deadline) {
        mxci_mutex_lock(mutex);
        return 1;
    }
    while (!mxci_mutex_trylock(mutex)) {
        if (mxci_now_ns() >= deadline)
            return 0;
        mxci_sleep_ns(500000);
    }
    return 1;
}

static mxc_status wait_all(const char *caller, mxc_engine *engine, int64_t deadline, int *is_done) {
    mxci_failure *first;
    mxc_status status;
    *is_done = 0;
    if (!engine)
        return MXC_FAIL(MXC_EINVAL, "%s: engine is NULL", caller);
    if (mxci_frame_inside(engine) || mxci_in_parallel_for())
        return MXC_FAIL(MXC_ESTATE, "%s: called inside a function, which would wait for its own end", caller);
    MXC_TRY(mxci_engine_resume(engine));
    if (!lock_until(&engine->wait_all_mutex, deadline))
        return MXC_OK;
    status = drain_earlier(engine, deadline, is_done);
    mxci_mutex_unlock(&engine->wait_all_mutex);
    if (status != MXC_OK || !*is_done)
        return status;
    mxci_streams_synchronize(&engine->streams, &engine->errors);
    first = atomic_exchange(&engine->errors.first, NULL);
    status = mxci_failure_raise(first);
    mxci_failure_release(first);
    return status;
}

mxc_status mxc_wait_all(mxc_engine *engine) {
    int is_done;
    return wait_all("mxc_wait_all", engine, 0, &is_done);
}

mxc_status mxc_wait_all_for(mxc_engine *engine, int64_t timeout_ms, int *is_done) {
    MXC_TRY(MXCI_OUT(is_done));
    return wait_all("mxc_wait_all_for", engine, deadline_in(timeout_ms), is_done);
}

void mxci_wait_until_idle(mxc_engine *engine) {
    mxci_wait wait = {.engine = engine, .is_over = all_drained};
    (void)drain(&wait);
    mxci_streams_synchronize(&engine->streams, &engine->errors);
}
