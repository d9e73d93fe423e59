/* Marks: what a function waits for on devices before it runs, and what it leaves to be done. */
#include "engine/mark.h"

#include "base/error.h"
#include "engine/engine.h"

static _Atomic int32_t streams_ahead; /* of all engines */

/* ---- streams --------------------------------------------------------------------------------------------------- */

static void list_stream(mxc_engine *engine, mxci_stream *stream) {
    stream->next = atomic_load(&engine->streams);
    while (!atomic_compare_exchange_weak(&engine->streams, &stream->next, stream))
        continue;
    atomic_fetch_add(&engine->n_streams, 1);
    atomic_fetch_add(&streams_ahead, 1);
}

mxc_status mxci_stream_open(mxc_engine *engine, const mxci_device *device, mxc_context context, int computes,
                            mxci_stream *out) {
    MXC_TRY(device->stream_create(context, &out->handle));
    out->device = device;
    out->context = context;
    out->ahead = computes && device->stream_mark;
    if (out->ahead)
        list_stream(engine, out);
    return MXC_OK;
}

void mxci_stream_close(mxci_stream *stream) {
    if (stream->ahead)
        atomic_fetch_sub(&streams_ahead, 1);
    if (stream->handle && stream->device->stream_destroy)
        stream->device->stream_destroy(stream->context, stream->handle);
}

static mxci_stream *first_stream(mxc_engine *engine) {
    return atomic_load_explicit(&engine->streams, memory_order_acquire);
}

void mxci_streams_forked(mxc_engine *engine) {
    for (mxci_stream *s = first_stream(engine); s; s = s->next)
        s->ahead = 0;
    atomic_fetch_sub(&streams_ahead, atomic_exchange(&engine->n_streams, 0));
}

/* ---- marks ----------------------------------------------------------------------------------------------------- */

static int same(mxci_mark a, mxci_mark b) {
    return a.on == b.on && a.position == b.position;
}

static mxci_mark latest(const mxci_stream *stream) {
    uint64_t marks = stream->ahead ? atomic_load(&stream->marks) : 0;
    return (mxci_mark){marks ? stream : NULL, marks - 1};
}

/* Block until the device has come to the mark. */
static mxc_status wait_for(mxci_mark mark) {
    unsigned before = mxci_error_count();
    char name[32];
    mxc_status status;
    if (!mark.on)
        return MXC_OK;
    mxc_context_format(mark.on->context, name, sizeof name);
    if (!mark.on->ahead)
        return MXC_FAIL(MXC_ECANCELED, "%s: what was queued had not ended when the process forked", name);
    status = mark.on->device->mark_wait(mark.on->context, mark.on->handle, mark.position);
    if (status != MXC_OK && mxci_error_count() == before)
        return MXC_FAIL(status, "%s: queued work failed: %s", name, mxc_status_text(status));
    return status;
}

/* Have what comes next on the stream, or on this thread if that is NULL, wait until the device has come to the mark. */
static mxc_status follow(const mxci_stream *stream, mxci_mark mark) {
    if (!mark.on || mark.on == stream)
        return MXC_OK;
    if (!stream || stream->device != mark.on->device || !mark.on->ahead)
        return wait_for(mark);
    return stream->device->stream_follow(stream->context, stream->handle, mark.on->context, mark.on->handle,
                                         mark.position);
}

/* What a function with this dependency must come after. */
static mxci_mark mark_before(const mxci_dep *dep) {
    mxc_var *var = dep->var;
    mxci_mark mark;
    mxci_lock_take(&var->lock);
    mark = dep->mode == MXCI_READ ? var->written : var->used;
    mxci_lock_drop(&var->lock);
    return mark;
}

static mxc_status follow_all(const mxci_block *block, const mxci_stream *stream) {
    for (int i = 0; i < block->n_deps; i++)
        MXC_TRY(follow(stream, mark_before(&block->deps[i])));
    return MXC_OK;
}

mxc_status mxci_marks_before(const mxci_block *block, const mxci_stream *stream) {
    return mxci_has_marks(block->home->engine) ? follow_all(block, stream) : MXC_OK;
}

/* A new mark of a function with this dependency. 0 if there is no room for it: another stream still reads. A mark that
 * equals that of the last change gives way, as the reader came after the change. */
static int set_mark(const mxci_dep *dep, mxci_mark mark) {
    mxc_var *var = dep->var;
    int fits;
    mxci_lock_take(&var->lock);
    fits = dep->mode == MXCI_CHANGE || !var->used.on || var->used.on == mark.on || same(var->used, var->written);
    if (fits)
        var->used = mark;
    if (dep->mode == MXCI_CHANGE)
        var->written = mark;
    mxci_lock_drop(&var->lock);
    return fits;
}

static mxc_status mark_all(const mxci_block *block, mxci_stream *stream) {
    mxci_mark mark = {stream, 0};
    int fit = 1;
    mxc_status status = stream->device->stream_mark(stream->context, stream->handle, &mark.position);
    if (status != MXC_OK) {
        (void)stream->device->stream_wait(stream->context, stream->handle);
        return status;
    }
    atomic_store(&stream->marks, mark.position + 1);
    for (int i = 0; i < block->n_deps; i++)
        fit &= set_mark(&block->deps[i], mark);
    return fit ? MXC_OK : wait_for(mark);
}

/* The function's own work is done, so what it came after is, too; whether that failed, only its own stream says. */
static mxc_status check_all(const mxci_block *block) {
    MXC_TRY(follow_all(block, NULL));
    for (int i = 0; i < block->n_deps; i++)
        if (block->deps[i].mode == MXCI_CHANGE)
            set_mark(&block->deps[i], (mxci_mark){NULL, 0});
    return MXC_OK;
}

mxc_status mxci_marks_after(const mxci_block *block, mxci_stream *stream) {
    if (stream && stream->ahead)
        return mark_all(block, stream);
    if (stream && stream->device->stream_wait)
        MXC_TRY(stream->device->stream_wait(stream->context, stream->handle));
    return mxci_has_marks(block->home->engine) ? check_all(block) : MXC_OK;
}

/* ---- waits ----------------------------------------------------------------------------------------------------- */

/* Nothing is to be done any more for the variable but what was marked since. */
static void forget(mxc_var *var, mxci_mark mark) {
    const mxci_mark none = {NULL, 0};
    mxci_lock_take(&var->lock);
    if (same(var->written, mark))
        var->written = none;
    if (same(var->used, mark))
        var->used = none;
    mxci_lock_drop(&var->lock);
}

static mxc_status settle(mxc_var *var, mxci_mark mark, int changed) {
    mxc_status status;
    int depth = mxci_gate_suspend();
    status = wait_for(mark);
    mxci_gate_resume(depth);
    mxci_gate_enter();
    if (status == MXC_OK)
        forget(var, mark);
    else if (changed)
        mxci_var_late_failure(var, mark, mxci_failure_of_thread(status));
    mxci_gate_leave();
    return status;
}

mxc_status mxci_var_settle(mxc_var *var, int all) {
    mxci_mark written, used;
    mxc_status status, others;
    if (!mxci_has_marks(var->engine))
        return MXC_OK;
    mxci_gate_enter();
    mxci_lock_take(&var->lock);
    written = var->written;
    used = all ? var->used : written;
    mxci_lock_drop(&var->lock);
    mxci_gate_leave();
    status = settle(var, written, 1);
    others = same(used, written) ? MXC_OK : settle(var, used, 0);
    return status != MXC_OK ? status : others;
}

void mxci_streams_wait(mxc_engine *engine) {
    for (mxci_stream *s = first_stream(engine); s; s = s->next) {
        mxc_status status = wait_for(latest(s));
        mxci_failure *failure = status == MXC_OK ? NULL : mxci_failure_of_thread(status);
        mxci_note_first(engine, failure);
        mxci_failure_release(failure);
    }
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

/* How a variable names the context of its memory. 0: none */
static uint16_t code_of(mxc_context context) {
    return (uint16_t)(context.device << 8 | context.id);
}

static mxc_status settle_deleted(const mxc_run *run, void *arg) {
    mxc_var *var = arg;
    (void)run;
    (void)wait_for(var->used); /* it was told on what the work changed */
    mxci_var_end(var);
    return MXC_OK;
}

int mxci_var_hand_over(mxc_var *var) {
    const mxci_stream *on = var->used.on;
    mxc_task task = MXC_TASK_INIT;
    if (!on || !on->ahead || !var->destroy || var->memory == code_of(on->context))
        return 0;
    task.name = "delete";
    task.fn = settle_deleted;
    task.arg = var;
    task.property = MXC_PROP_IO;
    if (mxc_engine_push(var->engine, &task, 0, NULL, 0, NULL, 0) == MXC_OK)
        return 1;
    (void)wait_for(var->used);
    return 0;
}

/* Of the engine's stream that runs ahead on a context; on NULL: there is none, or nothing was queued. */
static mxci_mark latest_of(mxc_engine *engine, mxc_context context) {
    for (const mxci_stream *s = first_stream(engine); s; s = s->next)
        if (mxc_context_equal(s->context, context))
            return latest(s);
    return (mxci_mark){NULL, 0};
}

static mxc_status wait_latest(mxc_engine *engine, void *context) {
    return wait_for(latest_of(engine, *(mxc_context *)context));
}

/* What a function, or this thread, has to come after before it touches memory out of the context's pool. */
static mxc_status mark_of_pool(mxc_engine *engine, mxc_context context, mxci_mark *out) {
    *out = latest_of(engine, context);
    if (atomic_load(&streams_ahead) == atomic_load(&engine->n_streams))
        return MXC_OK;
    return mxci_fork_visit(engine, wait_latest, &context);
}

mxc_status mxci_var_memory(mxc_var *var, mxc_context context) {
    mxci_mark mark;
    int fits;
    if (context.device != MXC_GPU)
        return MXC_OK;
    MXC_TRY(mark_of_pool(var->engine, context, &mark));
    mxci_gate_enter();
    mxci_lock_take(&var->lock);
    var->memory = code_of(context);
    fits = !var->used.on || var->used.on == mark.on;
    if (fits && mark.on)
        var->used = mark;
    mxci_lock_drop(&var->lock);
    mxci_gate_leave();
    if (!fits)
        return wait_for(mark);
    return mxci_frame_top ? follow(mxci_frame_top->stream, mark) : MXC_OK;
}

mxc_status mxci_run_memory(const mxc_run *run) {
    const mxci_frame *frame = mxci_frame_top;
    mxci_mark mark;
    if (run->context.device != MXC_GPU || !frame)
        return MXC_OK;
    MXC_TRY(mark_of_pool(frame->engine, run->context, &mark));
    return follow(frame->stream, mark);
}

mxc_status mxci_run_wait(const mxc_run *run) {
    const mxci_device *device;
    if (!run->stream)
        return MXC_OK;
    MXC_TRY(mxci_device_get(run->context, &device));
    return device->stream_wait ? device->stream_wait(run->context, run->stream) : MXC_OK;
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

mxc_status mxci_run_queue_copy(const mxc_run *run, mxc_context to, void *destination, mxc_context from,
                               const void *source, size_t bytes) {
    const mxci_device *device;
    MXC_TRY(mxci_device_get(to.device == MXC_GPU ? to : from, &device));
    return run->stream ? device->copy(to, destination, from, source, bytes, run->stream)
                       : device->copy_now(to, destination, from, source, bytes);
}

mxc_status mxci_run_copy(const mxc_run *run, mxc_context to, void *destination, mxc_context from, const void *source,
                         size_t bytes) {
    MXC_TRY(mxci_run_queue_copy(run, to, destination, from, source, bytes));
    return mxci_run_wait(run);
}
