/* Queued changes of arrays: their life, and how one runs on host and on device arrays. */
#include "ndarray/array_task.h"

#include "base/size.h"
#include "base/sys.h"
#include "engine/device/run_memory.h"
#include "resource/temp.h"

/* ---- life ------------------------------------------------------------------------------------------------------ */

mxc_status mxci_array_task_create(mxc_ndarray *to, mxc_ndarray *from, mxci_array_task **out) {
    int free_slot = 0;
    int in_slot = atomic_compare_exchange_strong(&to->slot_taken, &free_slot, 1);
    mxci_array_task *job = in_slot ? &to->slot : mxci_alloc(sizeof *job);
    *out = NULL;
    if (!job)
        return MXC_FAIL(MXC_ENOMEM, "no memory to queue work on an array");
    atomic_init(&job->refs, 2);
    job->in_slot = in_slot;
    job->task_ended = 0;
    job->to = mxc_ndarray_retain(to);
    job->from = from ? mxc_ndarray_retain(from) : NULL;
    *out = job;
    return MXC_OK;
}

static void job_release(mxci_array_task *job) {
    mxc_ndarray *to = job->to, *from = job->from;
    if (atomic_fetch_sub(&job->refs, 1) > 1)
        return;
    if (job->in_slot)
        atomic_store(&to->slot_taken, 0); /* the job may be another's from here on */
    else
        mxci_free(job);
    mxc_ndarray_release(from);
    mxc_ndarray_release(to);
}

/* The task's end, whether it ran or not. */
static void job_task_ended(void *arg) {
    mxci_array_task *job = arg;
    job->task_ended = 1;
    job_release(job);
}

/* 1 if the job leaves none of the chunk as it was, so that it mends an earlier failure. */
static int overwrites(const mxci_array_task *job) {
    const mxci_chunk *chunk = job->to->chunk;
    return mxci_array_bytes(job->to) == chunk->bytes && !(job->from && job->from->chunk == chunk);
}

mxc_status mxci_array_task_push(mxci_array_task *job, const char *name, mxc_task_fn fn, mxc_property property,
                                mxc_context context, int priority, int cheap) {
    mxc_task task = MXC_TASK_INIT;
    mxc_var *to = job->to->chunk->var, *from = job->from ? job->from->chunk->var : NULL;
    mxc_status status;
    task.name = name;
    task.fn = fn;
    task.arg = job;
    task.destroy = job_task_ended;
    task.context = context;
    task.property = property;
    task.priority = priority;
    task.flags = MXC_TASK_HELPED | (cheap ? MXC_TASK_CHEAP : 0) | (overwrites(job) ? 0 : MXC_TASK_UPDATES);
    status = mxc_engine_push(mxc_var_engine(to), &task, from && from != to, &from, 1, &to, 0);
    if (status != MXC_OK && !job->task_ended) /* refused; otherwise a naive engine ran it and it failed */
        job_release(job);
    job_release(job);
    return status;
}

/* ---- running --------------------------------------------------------------------------------------------------- */

typedef struct range_call {
    const mxci_array_task *job;
    const void *source;
    char *out;
    size_t element; /* bytes */
} range_call;

static void produce_range(void *arg, int64_t begin, int64_t end, int part) {
    const range_call *c = arg;
    (void)part;
    c->job->produce(c->job, c->source, begin, end, c->out + (size_t)begin * c->element);
}

/* Produce all elements at out, on several threads. */
static void produce_all(const mxc_run *run, const mxci_array_task *job, const void *source, void *out) {
    range_call call = {job, source, out, mxc_dtype_size(job->to->dtype)};
    mxc_parallel_for(run, job->to->size, job->grain, produce_range, &call);
}

/* Where source or target or both are out of the host's reach: fetch, produce and send through host scratch. */
static mxc_status run_staged(const mxc_run *run, mxci_array_task *job, const void *source, void *target) {
    const mxc_context host = mxc_cpu(0), to = job->to->chunk->context;
    int fetch = job->from && !mxci_on_host(job->from->chunk->context), send = !mxci_on_host(to);
    size_t fetched = fetch ? mxci_size_align(mxci_array_bytes(job->from)) : 0;
    mxc_run scratch_run = *run;
    void *scratch, *out;
    scratch_run.context = host;
    MXC_TRY(mxci_temp_get(&scratch_run, mxci_size_add(fetched, mxci_array_bytes(job->to)), &scratch));
    out = send ? (char *)scratch + fetched : target;
    if (fetch) {
        const mxc_context from = job->from->chunk->context;
        MXC_TRY(mxci_run_copy(run, host, scratch, from, source, mxci_array_bytes(job->from)));
        source = scratch;
    }
    produce_all(run, job, source, out);
    return send ? mxci_run_copy(run, to, target, host, out, mxci_array_bytes(job->to)) : MXC_OK;
}

mxc_status mxci_array_task_run(const mxc_run *run, void *arg) {
    mxci_array_task *job = arg;
    void *source = NULL, *target;
    int on_host = mxci_on_host(job->to->chunk->context) && !(job->from && !mxci_on_host(job->from->chunk->context));
    MXC_TRY(mxci_array_data(job->to, &target));
    if (job->from)
        MXC_TRY(mxci_array_data(job->from, &source));
    if (!on_host)
        return run_staged(run, job, source, target);
    produce_all(run, job, source, target);
    return MXC_OK;
}
