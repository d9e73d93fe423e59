/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory and copies for the function that runs on this thread: see run_memory.h. */
#include "engine/device/run_memory.h"

#include "base/error.h"
#include "engine/core/frame.h"
#include "engine/core/var.h"
#include "engine/fork/fork_guard.h"

/* ---- memory ---------------------------------------------------------------------------------------------------- */

/* How a variable stores a context in 16 bits. 0: none */
static uint16_t code_of(mxc_context context) {
    return (uint16_t)(context.device << 8 | context.id);
}

int mxci_var_has_memory_of(const mxc_var *var, mxc_context context) {
    return var->device_memory == code_of(context);
}

static mxc_status synchronize_latest(mxci_stream_list *streams, void *context) {
    return mxci_event_synchronize(mxci_streams_latest_event(streams, *(mxc_context *)context));
}

/* The event that comes after all work on memory of the context's pool which this engine has queued. Blocks until that
 * of other engines, whose streams this one's cannot know, is done. */
static mxc_status event_of_pool(mxci_stream_list *streams, mxc_context context, mxci_stream_event *out) {
    *out = mxci_streams_latest_event(streams, context);
    if (mxci_streams_in_process() == atomic_load(&streams->count))
        return MXC_OK;
    return mxci_fork_guard_visit(streams, synchronize_latest, &context);
}

mxc_status mxci_var_memory_acquired(mxc_var *var, mxc_context context) {
    mxci_stream_event event;
    int fits;
    if (context.device != MXC_GPU)
        return MXC_OK;
    MXC_TRY(event_of_pool(var->vars->streams, context, &event));
    mxci_fork_guard_enter();
    mxci_lock_acquire(&var->lock);
    var->device_memory = code_of(context);
    fits = !var->last_use.stream || var->last_use.stream == event.stream;
    if (fits && event.stream)
        var->last_use = event;
    mxci_lock_release(&var->lock);
    mxci_fork_guard_leave();
    if (!fits)
        return mxci_event_synchronize(event);
    return mxci_frame_top ? mxci_stream_wait_event(mxci_frame_top->stream, event) : MXC_OK;
}

mxc_status mxci_run_memory_acquired(const mxc_run *run) {
    const mxci_frame *frame = mxci_frame_top;
    mxci_stream_event event;
    if (run->context.device != MXC_GPU || !frame)
        return MXC_OK;
    MXC_TRY(event_of_pool(frame->streams, run->context, &event));
    return mxci_stream_wait_event(frame->stream, event);
}

/* ---- the function's stream ------------------------------------------------------------------------------------- */

mxc_status mxci_run_synchronize(const mxc_run *run) {
    const mxci_device *device;
    if (!run->stream)
        return MXC_OK;
    MXC_TRY(mxci_device_get(run->context, &device));
    return device->stream_synchronize ? device->stream_synchronize(run->context, run->stream) : MXC_OK;
}

mxc_status mxc_run_stream(const mxc_run *run, void **out) {
    const mxci_device *device;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(run));
    if (!run->stream)
        return MXC_OK;
    MXC_TRY(mxci_device_get(run->context, &device));
    return device->stream_native ? device->stream_native(run->context, run->stream, out) : MXC_OK;
}

mxc_status mxci_run_copy_async(const mxc_run *run, mxc_context to, void *destination, mxc_context from,
                               const void *source, size_t bytes) {
    const mxci_device *device;
    MXC_TRY(mxci_device_get(to.device == MXC_GPU ? to : from, &device));
    return run->stream ? device->copy(to, destination, from, source, bytes, run->stream)
                       : device->copy_now(to, destination, from, source, bytes);
}

mxc_status mxci_run_copy(const mxc_run *run, mxc_context to, void *destination, mxc_context from, const void *source,
                         size_t bytes) {
    MXC_TRY(mxci_run_copy_async(run, to, destination, from, source, bytes));
    return mxci_run_synchronize(run);
}
