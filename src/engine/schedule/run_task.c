/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running a task: skip it if it inherits an error state; else order it behind device work, call the function,
 * and order device work behind the function; then complete it (complete.c).
 */
#include "engine/schedule/run_task.h"

#include "base/error.h"
#include "base/trace.h"
#include "engine/core/frame.h"
#include "engine/device/ordering.h"
#include "engine/engine.h"
#include "engine/schedule/complete.h"

/* ---- calling the function -------------------------------------------------------------------------------------- */

/* Fails only if the function was not called: it reports its own error by mxc_done_complete. It is called when all
 * device work before it is done, since it may hand its work to any thread. own_stream: the slot's, to be synchronized;
 * or NULL. */
static mxc_status call_async(mxci_thread_slot *slot, mxci_engine_task *task, const mxc_run *run,
                             const mxci_device_stream *own_stream) {
    MXC_TRY(mxci_order_before(&run->engine->streams, task, NULL));
    task->operation->async_fn(run, task->operation->arg, (mxc_done *)task);
    if (own_stream && own_stream->device->stream_synchronize &&
        own_stream->device->stream_synchronize(run->context, own_stream->handle) != MXC_OK)
        mxci_thread_slot_drop_stream(slot, run->context);
    return MXC_OK;
}

static mxc_status call_sync(mxci_engine_task *task, const mxc_run *run, mxci_device_stream *stream) {
    mxci_stream_list *streams = &run->engine->streams;
    mxc_status status, after;
    if (!stream && !mxci_streams_any(streams))
        return task->operation->fn(run, task->operation->arg);
    mxci_frame_top->stream = stream;
    MXC_TRY(mxci_order_before(streams, task, stream));
    status = task->operation->fn(run, task->operation->arg);
    after = mxci_order_after(streams, task, stream);
    return status != MXC_OK ? status : after;
}

static mxc_status run_task_call(mxci_thread_slot *slot, mxci_device_stream *worker_stream, mxci_engine_task *task) {
    const mxci_operation *operation = task->operation;
    mxc_run run = {task->home->engine, operation->context, NULL, task->token, slot->number};
    mxci_device_stream *own_stream = NULL, *stream = operation->device ? worker_stream : NULL;
    mxc_status status;
    if (!stream) {
        MXC_TRY(mxci_thread_slot_stream(slot, operation, &own_stream));
        stream = own_stream;
    }
    run.stream = stream ? stream->handle : NULL;
    if (operation->async_fn)
        return call_async(slot, task, &run, own_stream);
    status = call_sync(task, &run, stream);
    if (own_stream && status != MXC_OK)
        mxci_thread_slot_drop_stream(slot, run.context);
    return status;
}

/* Call with a frame, a trace event, and a record of the failure: the message of this thread, or the name of the
 * operation for a function that left none. */
static mxci_failure *call_framed(mxci_thread_slot *slot, mxci_device_stream *stream, mxci_engine_task *task) {
    mxc_engine *engine = task->home->engine;
    const char *name = task->operation->name; /* an asynchronous task may be gone after the call */
    mxci_frame frame = {mxci_frame_top, engine, &engine->streams, task, NULL};
    unsigned before = mxci_error_count();
    int64_t begin = mxci_trace_begin();
    unsigned mode = mxci_mode_exchange(0);
    mxc_status status;
    mxci_frame_top = &frame;
    slot->task = task;
    status = run_task_call(slot, stream, task);
    slot->task = NULL;
    mxci_frame_top = frame.outer;
    mxci_mode = mode;
    mxci_trace_end(begin, name, "engine");
    if (status == MXC_OK)
        return NULL;
    if (mxci_error_count() == before)
        MXC_IGNORE(MXC_FAIL(status, "%s: %s", name, mxc_status_text(status)));
    return mxci_failure_from_last_error(status);
}

/* ---- the whole task -------------------------------------------------------------------------------------------- */

static void run_async(mxci_thread_slot *slot, mxci_device_stream *stream, mxci_engine_task *task, mxci_task_list *ready,
                      mxci_failure **own) {
    mxc_engine *engine = task->home->engine;
    mxci_failure *failure;
    task->failure = NULL;
    atomic_store_explicit(&task->async_events, 2, memory_order_relaxed); /* the call publishes the task */
    mxci_in_flight_add(&engine->in_flight, task);
    failure = call_framed(slot, stream, task);
    if (failure)
        mxci_errors_note(&engine->errors, failure); /* the function was not called, so nothing will complete it */
    else if (engine->ops->async_event(task, 0))
        failure = task->failure;
    else
        return;
    if (own)
        *own = mxci_failure_retain(failure);
    mxci_task_complete(task, failure, ready);
}

void mxci_task_run(mxci_thread_slot *slot, mxci_device_stream *stream, mxci_engine_task *task, mxci_task_list *ready,
                   mxci_failure **own) {
    mxc_engine *engine = task->home->engine;
    mxci_failure *failure;
    if ((task->operation->flags & MXC_TASK_AWAITED) && mxci_thread_is_lost(task->pusher)) {
        /* In the child of a fork, and the thread that waits for the task is not here: as if it had not been pushed. */
        for (int i = 0; i < task->n_deps; i++)
            if (task->deps[i].mode == MXCI_DEP_WRITE)
                task->deps[i].mode = MXCI_DEP_CANCELED;
        mxci_task_complete(task, NULL, ready);
        return;
    }
    failure = mxci_task_inherited_failure(&engine->errors, task);
    if (failure) {
        mxci_task_complete(task, mxci_failure_retain(failure), ready);
    } else if (task->operation->async_fn) {
        run_async(slot, stream, task, ready, own);
    } else {
        failure = call_framed(slot, stream, task);
        mxci_errors_note(&engine->errors, failure);
        if (own)
            *own = mxci_failure_retain(failure);
        mxci_task_complete(task, failure, ready);
    }
}
