/* SPDX-License-Identifier: Apache-2.0 */
/* Events of variables. Read and written under the variable's lock, as other tasks may read the variable meanwhile. */
#include "engine/device/ordering.h"

#include "engine/device/run_memory.h"
#include "engine/fork/fork_guard.h"

/* ---- before and after a function ------------------------------------------------------------------------------- */

static mxc_status wait_for_all(const mxci_engine_task *task, const mxci_device_stream *stream) {
    for (int i = 0; i < task->n_deps; i++) {
        mxc_var *var = task->deps[i].var;
        mxci_stream_event event;
        mxci_lock_acquire(&var->lock);
        event = task->deps[i].mode == MXCI_DEP_READ ? var->last_write : var->last_use;
        mxci_lock_release(&var->lock);
        MXC_TRY(mxci_stream_wait_event(stream, event));
    }
    return MXC_OK;
}

mxc_status mxci_order_before(const mxci_stream_list *streams, const mxci_engine_task *task,
                             const mxci_device_stream *stream) {
    return mxci_streams_any(streams) ? wait_for_all(task, stream) : MXC_OK;
}

/* The new event of a task with this dependency. last_use has room for one stream: 0 if another stream still reads, so
 * that the caller has to wait for the event itself. A last_use that equals last_write gives way to a reader, since the
 * reader has ordered itself behind that write. */
static int set_event(const mxci_dep *dep, mxci_stream_event event) {
    mxc_var *var = dep->var;
    int fits;
    mxci_lock_acquire(&var->lock);
    fits = dep->mode == MXCI_DEP_WRITE || !var->last_use.stream || var->last_use.stream == event.stream ||
           mxci_event_equal(var->last_use, var->last_write);
    if (fits)
        var->last_use = event;
    if (dep->mode == MXCI_DEP_WRITE)
        var->last_write = event;
    mxci_lock_release(&var->lock);
    return fits;
}

mxc_status mxci_order_after(const mxci_stream_list *streams, const mxci_engine_task *task, mxci_device_stream *stream) {
    if (stream && stream->is_async) {
        mxci_stream_event event;
        int fit = 1;
        MXC_TRY(mxci_stream_record_event(stream, &event));
        for (int i = 0; i < task->n_deps; i++)
            fit &= set_event(&task->deps[i], event);
        return fit ? MXC_OK : mxci_event_synchronize(event);
    }
    if (stream && stream->device->stream_synchronize)
        MXC_TRY(stream->device->stream_synchronize(stream->context, stream->handle));
    if (!mxci_streams_any(streams))
        return MXC_OK;
    /* The task's own work is done, hence also the work that it was ordered behind. Whether that failed is known to the
     * stream of that work alone, so its events are asked once more; they do not block. */
    MXC_TRY(wait_for_all(task, NULL));
    for (int i = 0; i < task->n_deps; i++)
        if (task->deps[i].mode == MXCI_DEP_WRITE)
            set_event(&task->deps[i], (mxci_stream_event){NULL, 0});
    return MXC_OK;
}

/* ---- waits ----------------------------------------------------------------------------------------------------- */

/* The event has been reached: nothing is left to wait for but what was recorded since. */
static void clear_event(mxc_var *var, mxci_stream_event event) {
    const mxci_stream_event none = {NULL, 0};
    mxci_lock_acquire(&var->lock);
    if (mxci_event_equal(var->last_write, event))
        var->last_write = none;
    if (mxci_event_equal(var->last_use, event))
        var->last_use = none;
    mxci_lock_release(&var->lock);
}

/* is_write: event is behind a write of the variable, so its error is the variable's. */
static mxc_status synchronize(mxc_var *var, mxci_stream_event event, int is_write) {
    mxc_status status;
    int depth = mxci_fork_guard_suspend();
    status = mxci_event_synchronize(event);
    mxci_fork_guard_resume(depth);
    mxci_fork_guard_enter();
    if (status == MXC_OK) {
        clear_event(var, event);
    } else if (is_write) {
        mxci_failure *failure = mxci_failure_from_last_error(status);
        mxci_errors_note(var->vars->errors, failure);
        mxci_var_set_late_failure(var, event, failure);
        mxci_failure_release(failure);
    }
    mxci_fork_guard_leave();
    return status;
}

mxc_status mxci_var_synchronize(mxc_var *var, int all) {
    mxci_stream_event last_write, last_use;
    mxc_status status, others;
    if (!mxci_streams_any(var->vars->streams))
        return MXC_OK;
    mxci_fork_guard_enter();
    mxci_lock_acquire(&var->lock);
    last_write = var->last_write;
    last_use = all ? var->last_use : last_write;
    mxci_lock_release(&var->lock);
    mxci_fork_guard_leave();
    status = synchronize(var, last_write, 1);
    others = mxci_event_equal(last_use, last_write) ? MXC_OK : synchronize(var, last_use, 0);
    return status != MXC_OK ? status : others;
}

/* ---- deletion -------------------------------------------------------------------------------------------------- */

static mxc_status free_when_unused(const mxc_run *run, void *arg) {
    mxc_var *var = arg;
    (void)run;
    (void)mxci_event_synchronize(var->last_use); /* its error has been set on what the work writes */
    mxci_var_free(var);
    return MXC_OK;
}

/* Memory of the very device that still uses it needs no delay: the task that takes it from the pool next orders itself
 * behind that work (run_memory.h). */
int mxci_var_defer_free(mxc_var *var) {
    const mxci_device_stream *stream = var->last_use.stream;
    mxc_task task = MXC_TASK_INIT;
    if (!stream || !stream->is_async || !var->destroy || mxci_var_has_memory_of(var, stream->context))
        return 0;
    task.name = "delete";
    task.fn = free_when_unused;
    task.arg = var;
    task.property = MXC_PROP_IO;
    if (mxc_engine_push(var->vars->engine, &task, 0, NULL, 0, NULL, 0) == MXC_OK)
        return 1;
    (void)mxci_event_synchronize(var->last_use);
    return 0;
}
