/* SPDX-License-Identifier: Apache-2.0 */
/* Completing tasks: on the thread that ran them, asynchronous ones from any thread, and those lost in a fork. */
#include "engine/schedule/complete.h"

#include "base/error.h"
#include "base/text.h"
#include "engine/core/frame.h"
#include "engine/core/operation.h"
#include "engine/engine.h"

/* destroy is called before the dependencies are released, so that it has been called when a wait returns. */
void mxci_task_complete(mxci_engine_task *task, mxci_failure *failure, mxci_task_list *ready) {
    const mxci_operation *operation = task->operation;
    mxci_stripe *home = task->home;
    mxc_engine *engine = home->engine;
    int epoch = task->epoch;
    uint64_t completed;
    if (task->in_flight)
        mxci_in_flight_remove(&engine->in_flight, task);
    if (operation->prepared)
        mxci_operation_task_completed(operation->prepared);
    else if (operation->destroy)
        operation->destroy(operation->arg);
    if (mxci_task_release_deps(task, failure, ready))
        mxci_eventcount_notify_all(&engine->waiters);
    mxci_failure_release(failure);
    if (!task->canceled) /* the lost thread's function may still refer to a canceled one, so that is not used again */
        mxci_task_recycle(task);
    /* Counted last: from here on mxc_engine_destroy may return. A thread that drains the epoch sees the end only when
     * the last task of a stripe is complete, so it is notified then. */
    completed = atomic_fetch_add(&home->completed[epoch], 1) + 1;
    if (atomic_load(&engine->draining) && completed == atomic_load(&home->pushed[epoch]))
        mxci_eventcount_notify_all(&engine->waiters);
}

/* completing keeps mxc_engine_destroy from freeing the engine under this call, which still uses it after the task is
 * complete. A canceled task belongs to the parent of a fork. */
void mxc_done_complete(mxc_done *done, mxc_status status, const char *message) {
    if (!done)
        return;
    mxci_engine_task *task = (mxci_engine_task *)done;
    mxc_engine *engine = task->home->engine;
    mxci_task_list ready = {NULL, NULL};
    atomic_fetch_add(&engine->completing, 1);
    mxci_fork_guard_enter();
    if (!task->canceled) {
        task->failure = status == MXC_OK ? NULL : mxci_failure_from_text(status, message);
        mxci_errors_note(&engine->errors, task->failure);
        if (engine->ops->async_event(task, 1))
            mxci_task_complete(task, task->failure, &ready);
        mxci_engine_dispatch(engine, &ready);
    }
    mxci_fork_guard_leave();
    atomic_fetch_sub(&engine->completing, 1); /* the engine may be destroyed from here on */
}

/* ---- after a fork ---------------------------------------------------------------------------------------------- */

static void cancel(mxc_engine *engine, mxci_engine_task *task, mxci_task_list *ready) {
    char text[MXC_ERROR_MAX];
    mxci_failure *failure;
    mxci_format(text, sizeof text, "%s: had not ended when the process forked", task->operation->name);
    failure = mxci_failure_from_text(MXC_ECANCELED, text);
    mxci_errors_note(&engine->errors, failure);
    task->canceled = 1;
    mxci_task_complete(task, failure, ready);
}

void mxci_tasks_cancel_lost(mxc_engine *engine, mxci_task_list *ready) {
    mxci_engine_task *next;
    for (int i = 0; i < engine->slots.count; i++) {
        mxci_thread_slot *slot = &engine->slots.slot[i];
        mxci_engine_task *task = slot->task;
        if (task && mxci_frame_runs(task))
            continue;
        slot->task = NULL;
        mxci_thread_slot_release(slot);
        if (task && !task->operation->async_fn)
            cancel(engine, task, ready);
    }
    for (mxci_engine_task *task = engine->in_flight.first; task; task = next) {
        next = task->in_flight_next;
        if (task->has_waiter) { /* a naive engine's thread was to run it; it has not begun */
            mxci_in_flight_remove(&engine->in_flight, task);
            task->has_waiter = 0;
            if (atomic_exchange(&task->done, 0))
                mxci_task_list_add(ready, task);
        } else if (!mxci_frame_runs(task)) {
            cancel(engine, task, ready);
        }
    }
}
