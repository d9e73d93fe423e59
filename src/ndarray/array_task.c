/* SPDX-License-Identifier: Apache-2.0 */
/* Queued changes of arrays: creation, queueing, and running on host and on device arrays. */
#include "ndarray/array_task.h"

#include "base/size.h"
#include "base/sys.h"
#include "engine/device/run_memory.h"
#include "resource/temp.h"

/* ---- lifetime ---------------------------------------------------------------------------------------------------- */

/* Uses the target's own slot if it is free, so that one queued change per view allocates nothing. */
mxc_status mxci_array_task_create(mxc_ndarray *to, mxc_ndarray *from, mxci_array_task **out) {
    int free_slot = 0;
    int in_slot = atomic_compare_exchange_strong(&to->slot_taken, &free_slot, 1);
    mxci_array_task *task = in_slot ? &to->slot : mxci_alloc(sizeof *task);
    *out = NULL;
    if (!task)
        return MXC_FAIL(MXC_ENOMEM, "no memory to queue work on an array");
    atomic_init(&task->refs, 2);
    task->in_slot = in_slot;
    task->task_ended = 0;
    task->to = mxc_ndarray_retain(to);
    task->from = from ? mxc_ndarray_retain(from) : NULL;
    *out = task;
    return MXC_OK;
}

/* The references to the arrays are dropped last, since the slot lies in one of them. */
static void array_task_release(mxci_array_task *task) {
    mxc_ndarray *to = task->to, *from = task->from;
    if (atomic_fetch_sub(&task->refs, 1) > 1)
        return;
    if (task->in_slot)
        atomic_store(&to->slot_taken, 0); /* another change may take the slot from here on */
    else
        mxci_free(task);
    mxc_ndarray_release(from);
    mxc_ndarray_release(to);
}

void mxci_array_task_drop(mxci_array_task *task) {
    array_task_release(task);
    array_task_release(task);
}

/* Called when the engine drops the task, whether it ran or not. */
static void array_task_ended(void *arg) {
    mxci_array_task *task = arg;
    task->task_ended = 1;
    array_task_release(task);
}

/* A task that overwrites the whole chunk clears its error state; any other one updates it, and is skipped in the error
 * state. */
mxc_status mxci_array_task_push(mxci_array_task *task, const char *name, mxc_task_fn fn, mxc_property property,
                                mxc_context context, int priority, int cheap) {
    mxc_task engine_task = MXC_TASK_INIT;
    mxc_var *to = task->to->chunk->var, *from = task->from ? task->from->chunk->var : NULL;
    const mxci_chunk *chunk = task->to->chunk;
    int overwrites = mxci_array_bytes(task->to) == chunk->bytes && !(task->from && task->from->chunk == chunk);
    mxc_status status;
    engine_task.name = name;
    engine_task.fn = fn;
    engine_task.arg = task;
    engine_task.destroy = array_task_ended;
    engine_task.context = context;
    engine_task.property = property;
    engine_task.priority = priority;
    engine_task.flags = MXC_TASK_HELPED | (cheap ? MXC_TASK_CHEAP : 0) | (overwrites ? 0 : MXC_TASK_UPDATES);
    status = mxc_engine_push(mxc_var_engine(to), &engine_task, from && from != to, &from, 1, &to, 0);
    if (status != MXC_OK && !task->task_ended) /* refused; otherwise a naive engine ran it and it failed */
        array_task_release(task);
    array_task_release(task);
    return status;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

typedef struct range_args {
    const mxci_array_task *task;
    const void *source;
    char *out;
    size_t element; /* bytes */
} range_args;

static void produce_range(void *arg, int64_t begin, int64_t end, int part) {
    const range_args *c = arg;
    (void)part;
    c->task->produce(c->task, c->source, begin, end, c->out + (size_t)begin * c->element);
}

/* Produce all elements at out, on several threads. */
static void produce_all(const mxc_run *run, const mxci_array_task *task, const void *source, void *out) {
    range_args call = {task, source, out, mxc_dtype_size(task->to->dtype)};
    mxc_parallel_for(run, task->to->size, task->grain, produce_range, &call);
}

/* Source or target or both are in device memory: copy the source to host scratch memory, produce there, and copy the
 * result to the device. */
static mxc_status run_through_host(const mxc_run *run, mxci_array_task *task, const void *source, void *target) {
    const mxc_context host = mxc_cpu(0), to = task->to->chunk->context;
    int fetches = task->from && !mxci_on_host(task->from->chunk->context), sends = !mxci_on_host(to);
    size_t fetched = fetches ? mxci_size_align(mxci_array_bytes(task->from)) : 0;
    mxc_run scratch_run = *run;
    void *scratch, *out;
    scratch_run.context = host;
    MXC_TRY(mxci_temp_get(&scratch_run, mxci_size_add(fetched, mxci_array_bytes(task->to)), &scratch));
    out = sends ? (char *)scratch + fetched : target;
    if (fetches) {
        const mxc_context from = task->from->chunk->context;
        MXC_TRY(mxci_run_copy(run, host, scratch, from, source, mxci_array_bytes(task->from)));
        source = scratch;
    }
    produce_all(run, task, source, out);
    return sends ? mxci_run_copy(run, to, target, host, out, mxci_array_bytes(task->to)) : MXC_OK;
}

mxc_status mxci_array_task_run(const mxc_run *run, void *arg) {
    mxci_array_task *task = arg;
    void *source = NULL, *target;
    int on_host = mxci_on_host(task->to->chunk->context) && !(task->from && !mxci_on_host(task->from->chunk->context));
    MXC_TRY(mxci_array_data(task->to, &target));
    if (task->from)
        MXC_TRY(mxci_array_data(task->from, &source));
    if (!on_host)
        return run_through_host(run, task, source, target);
    produce_all(run, task, source, target);
    return MXC_OK;
}
