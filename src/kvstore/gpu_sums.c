/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions between GPUs.
 *
 * Within one process: a function of the engine waits until the values are computed, starts the reduction on all GPUs
 * together, and returns when it is done. A communicator is used by one such function at a time, so that no two can
 * deadlock by waiting for each other's GPUs.
 *
 * Between workers: the communication thread starts reductions on a communicator with one GPU of each worker, in the
 * order of the announcements (comm.h), where it would otherwise start a reduction of the host's transport.
 */
#include "kvstore/gpu_sums.h"

#include <stdatomic.h>
#include <string.h>

#include "base/communicator.h"
#include "base/log.h"
#include "base/module.h"
#include "base/options.h"
#include "base/text.h"
#include "kvstore/comm_state.h"

#define JOIN_NS 60000000000 /* limit for the other members to join */
#define IDLE_POLL_NS 50000  /* between polls, after MXC_SPIN_US of spinning */

/* The GPU module's communicators, or NULL. */
static const mxci_communicator_api *find_api(mxc_context context) {
    const mxci_module *module;
    return context.device == MXC_GPU && mxci_module_get(MXC_GPU, &module) == MXC_OK ? module->communicator : NULL;
}

static mxc_status wait_for_work(const mxci_communicator_api *api, mxci_communicator *communicator, int64_t ticket) {
    const int64_t spin_until = mxci_now_ns() + 1000 * mxci_option_get(MXCI_OPT_MXC_SPIN_US);
    int done;
    for (;;) {
        MXC_TRY(api->test(communicator, ticket, &done));
        if (done)
            return MXC_OK;
        if (mxci_now_ns() < spin_until)
            mxci_thread_yield();
        else
            mxci_sleep_ns(IDLE_POLL_NS);
    }
}

/* Wait until all members have joined. comm: of the processes whose GPUs these are; NULL: all are in this process. */
static mxc_status wait_for_all(const mxci_communicator_api *api, mxci_communicator *communicator, mxci_comm *comm) {
    const int64_t until = mxci_now_ns() + JOIN_NS;
    int done = 0;
    while (!done) {
        if (comm)
            MXC_TRY(mxci_comm_check(comm));
        MXC_TRY(api->test(communicator, 0, &done));
        if (!done && mxci_now_ns() > until)
            return MXC_FAIL(MXC_EDEVICE, "%s: waited %d s for all GPUs", api->name, (int)(JOIN_NS / 1000000000));
        if (!done)
            mxci_sleep_ns(IDLE_POLL_NS);
    }
    return MXC_OK;
}

static int abort_communicator(const mxci_communicator_api *api, mxci_communicator *communicator) {
    api->abort(communicator);
    return api->destroy(communicator);
}

/* Join n of size members, numbered from first, on these GPUs, and wait for the others. *out is NULL on failure. */
static mxc_status create_communicator(const mxci_communicator_api *api, const mxci_communicator_id *id, int size,
                                      int first, int n, const int *gpus, mxci_comm *comm, mxci_communicator **out) {
    MXC_TRY(api->create(id, size, first, n, gpus, out));
    mxc_status status = wait_for_all(api, *out, comm);
    if (status == MXC_OK)
        return MXC_OK;
    (void)abort_communicator(api, *out);
    *out = NULL;
    return status;
}

/* ---- within one process ------------------------------------------------------------------------------------------ */

/* A set of GPUs of this process, in ascending order. Kept until the process ends. */
typedef struct gpu_set {
    int n, gpus[MXCI_COMMUNICATOR_MEMBERS];
    const mxci_communicator_api *api;
    atomic_int is_whole;             /* 0: the communicator could not be made, or has failed */
    mxci_mutex lock;                 /* held while a sum is made; over communicator */
    mxci_communicator *communicator; /* NULL where it is not whole */
    struct gpu_set *next;
} gpu_set;

static mxci_global_mutex sets_lock = MXCI_GLOBAL_MUTEX_INIT; /* over sets, and while one is made */
static gpu_set *sets;

/* The set of these GPUs, created at the first call for it; NULL without memory. A communicator that cannot be made is
 * logged once and not tried again. */
static gpu_set *get_set(const mxci_communicator_api *api, int n, const int *gpus) {
    mxci_global_lock(&sets_lock);
    gpu_set *set = sets;
    while (set && !(set->n == n && memcmp(set->gpus, gpus, (size_t)n * sizeof *gpus) == 0))
        set = set->next;
    if (!set && (set = mxci_calloc(1, sizeof *set)) != NULL) {
        set->n = n;
        set->api = api;
        memcpy(set->gpus, gpus, (size_t)n * sizeof *gpus);
        mxci_mutex_init(&set->lock);
        mxci_communicator_id id;
        mxc_status status = api->create_id(&id);
        if (status == MXC_OK)
            status = create_communicator(api, &id, n, 0, n, set->gpus, NULL, &set->communicator);
        if (status != MXC_OK)
            mxci_log(MXC_LOG_WARNING, "kvstore: %d GPUs add up by copies: %s", n, mxc_last_error());
        atomic_init(&set->is_whole, set->communicator != NULL);
        set->next = sets;
        sets = set;
    }
    mxci_global_unlock(&sets_lock);
    return set;
}

/* One collective operation and its arrays by rank, a reference each; NULL where the operation has none.
 * refs: one of the thread that queues it and one of the engine's task. */
typedef struct gpu_job {
    atomic_int refs;
    int task_ended; /* read by the queueing thread only, after a push that failed */
    gpu_set *set;
    mxci_collective collective;
    int root;
    mxc_ndarray *in[MXCI_COMMUNICATOR_MEMBERS], *out[MXCI_COMMUNICATOR_MEMBERS];
} gpu_job;

static void job_release(gpu_job *job) {
    if (atomic_fetch_sub(&job->refs, 1) > 1)
        return;
    for (int i = 0; i < job->set->n; i++) {
        mxc_ndarray_release(job->in[i]);
        mxc_ndarray_release(job->out[i]);
    }
    mxci_free(job);
}

static void job_task_ended(void *arg) {
    gpu_job *job = arg;
    job->task_ended = 1;
    job_release(job);
}

static void retain_arrays(const gpu_job *job) {
    for (int i = 0; i < job->set->n; i++) {
        mxc_ndarray_retain(job->in[i]);
        mxc_ndarray_retain(job->out[i]);
    }
}

static mxc_status gpu_sums_find_data(mxc_ndarray *array, void **out) {
    mxc_tensor t = {.data = NULL};
    if (array)
        MXC_TRY(mxc_ndarray_tensor(array, &t));
    *out = t.data;
    return MXC_OK;
}

/* Where the root has only one array, that is what it broadcasts and keeps. */
static mxc_status describe_job(const gpu_job *job, mxci_communicator_work *work) {
    mxc_ndarray *root = job->collective == MXCI_COLLECTIVE_REDUCE ? job->out[job->root] : job->in[job->root];
    *work = (mxci_communicator_work){.collective = job->collective,
                                     .root = job->root,
                                     .dtype = mxc_ndarray_dtype(root),
                                     .n = mxc_ndarray_size(root)};
    for (int i = 0; i < job->set->n; i++) {
        void *in;
        MXC_TRY(gpu_sums_find_data(job->in[i], &in));
        MXC_TRY(gpu_sums_find_data(job->out[i], &work->out[i]));
        work->in[i] = in;
        if (!work->out[i] && job->collective == MXCI_COLLECTIVE_BROADCAST)
            work->out[i] = in;
    }
    return MXC_OK;
}

/* The set's lock is held. Where memory cannot be freed in the end, the arrays are kept by one reference more. */
static mxc_status run_job(const gpu_job *job, const mxci_communicator_work *work) {
    gpu_set *set = job->set;
    mxci_communicator *communicator = set->communicator;
    int64_t ticket;
    if (!communicator)
        return MXC_FAIL(MXC_EDEVICE, "%s: earlier work of these GPUs has failed", set->api->name);
    mxc_status status = set->api->start(communicator, work, &ticket);
    if (status == MXC_OK)
        status = wait_for_work(set->api, communicator, ticket);
    if (status == MXC_OK)
        return MXC_OK;
    atomic_store(&set->is_whole, 0);
    set->communicator = NULL;
    if (!abort_communicator(set->api, communicator))
        retain_arrays(job);
    return status;
}

static mxc_status run_gpu_job(const mxc_run *run, void *arg) {
    gpu_job *job = arg;
    const mxci_device *device;
    mxci_communicator_work work;
    MXC_TRY(mxci_device_get(run->context, &device));
    MXC_TRY(device->stream_synchronize(run->context, run->stream)); /* the copy queue follows the arrays' own */
    MXC_TRY(describe_job(job, &work));
    mxci_mutex_lock(&job->set->lock);
    mxc_status status = run_job(job, &work);
    mxci_mutex_unlock(&job->set->lock);
    return status;
}

/* The variables of the arrays that are not NULL. */
static int list_vars(int n, mxc_ndarray *const *arrays, mxc_var **out) {
    int count = 0;
    for (int i = 0; i < n; i++)
        if (arrays[i])
            out[count++] = mxc_ndarray_var(arrays[i]);
    return count;
}

/* home: the array on whose GPU's queue the task runs. */
static mxc_status push_job(const gpu_job *plan, mxc_ndarray *home, int priority) {
    mxc_var *reads[MXCI_COMMUNICATOR_MEMBERS], *writes[MXCI_COMMUNICATOR_MEMBERS];
    mxc_task task = MXC_TASK_INIT;
    gpu_job *job = mxci_alloc(sizeof *job);
    if (!job)
        return MXC_FAIL(MXC_ENOMEM, "kvstore: no memory for a sum of %d GPUs", plan->set->n);
    *job = *plan;
    atomic_init(&job->refs, 2);
    retain_arrays(job);
    int n_reads = list_vars(job->set->n, job->in, reads), n_writes = list_vars(job->set->n, job->out, writes);
    task.name = "kvstore_devices";
    task.fn = run_gpu_job;
    task.arg = job;
    task.destroy = job_task_ended;
    task.context = mxc_ndarray_context(home);
    task.property = MXC_PROP_COPY_FROM_DEVICE;
    task.priority = priority;
    mxc_status status = mxc_engine_push(mxc_var_engine(writes[0]), &task, n_reads, reads, n_writes, writes, 0);
    if (status != MXC_OK && !job->task_ended) /* refused; otherwise a naive engine ran it and it failed */
        job_release(job);
    job_release(job);
    return status;
}

/* The arrays' GPUs in ascending order, and which array is on each. 0: not all on GPUs, or two on one. */
static int order_gpus(int n, mxc_ndarray *const *arrays, int *gpus, mxc_ndarray **by_rank) {
    for (int i = 0; i < n; i++) {
        mxc_context context = mxc_ndarray_context(arrays[i]);
        int at = i;
        if (context.device != MXC_GPU)
            return 0;
        for (; at > 0 && gpus[at - 1] >= context.id; at--) {
            if (gpus[at - 1] == context.id)
                return 0;
            gpus[at] = gpus[at - 1];
            by_rank[at] = by_rank[at - 1];
        }
        gpus[at] = context.id;
        by_rank[at] = arrays[i];
    }
    return 1;
}

/* Order n arrays by GPU, and find the set of these and home's rank in it. *out NULL: there is none that serves. */
static mxc_status find_set(int n, mxc_ndarray *const *arrays, mxc_ndarray *home, mxc_ndarray **by_rank, int *root,
                           gpu_set **out) {
    const mxc_context root_context = mxc_ndarray_context(home);
    const mxci_communicator_api *api = find_api(root_context);
    int gpus[MXCI_COMMUNICATOR_MEMBERS];
    *out = NULL;
    *root = 0;
    if (!api || n > MXCI_COMMUNICATOR_MEMBERS || !api->supports(mxc_ndarray_dtype(home)) ||
        mxc_ndarray_size(home) == 0 || !order_gpus(n, arrays, gpus, by_rank))
        return MXC_OK;
    while (*root < n && gpus[*root] != root_context.id)
        ++*root;
    if (*root == n)
        return MXC_OK;
    gpu_set *set = get_set(api, n, gpus);
    if (!set)
        return MXC_FAIL(MXC_ENOMEM, "kvstore: no memory for a set of %d GPUs", n);
    if (atomic_load(&set->is_whole))
        *out = set;
    return MXC_OK;
}

mxc_status mxci_gpu_sums_reduce(int n, mxc_ndarray *const *values, mxc_ndarray *out, int priority, int *queued) {
    gpu_job plan = {.collective = MXCI_COLLECTIVE_REDUCE};
    void *data;
    *queued = 0;
    MXC_TRY(find_set(n, values, out, plan.in, &plan.root, &plan.set));
    if (!plan.set)
        return MXC_OK;
    MXC_TRY(gpu_sums_find_data(out, &data)); /* it has memory from now on */
    plan.out[plan.root] = out;
    *queued = 1;
    return push_job(&plan, out, priority);
}

mxc_status mxci_gpu_sums_broadcast(mxc_ndarray *from, int n, mxc_ndarray *const *to, int priority, int *queued) {
    gpu_job plan = {.collective = MXCI_COLLECTIVE_BROADCAST};
    void *source, *data[MXCI_COMMUNICATOR_MEMBERS];
    *queued = 0;
    MXC_TRY(find_set(n, to, from, plan.out, &plan.root, &plan.set));
    if (!plan.set)
        return MXC_OK;
    MXC_TRY(gpu_sums_find_data(from, &source));
    for (int i = 0; i < n; i++)
        MXC_TRY(gpu_sums_find_data(plan.out[i], &data[i]));
    if (data[plan.root] == source)
        plan.out[plan.root] = NULL; /* it has the value already */
    else if (mxc_ndarray_var(plan.out[plan.root]) == mxc_ndarray_var(from))
        return MXC_OK; /* parts of one array */
    plan.in[plan.root] = from;
    *queued = 1;
    return push_job(&plan, from, priority);
}

/* ---- between workers --------------------------------------------------------------------------------------------- */

/* Broadcast by rank 0: the id by which the workers join. */
typedef struct join_offer {
    int64_t is_good; /* 0: there is no id */
    mxci_communicator_id id;
} join_offer;

/* Publish the communicator, so that a failure aborts it. Returns 0 if communication has failed already. */
static int set_communicator(mxci_comm *comm, const mxci_communicator_api *api, mxci_communicator *communicator) {
    mxci_mutex_lock(&comm->lock);
    int is_good = comm->code == MXC_OK;
    if (is_good) {
        comm->gpus.api = api;
        comm->gpus.communicator = communicator;
    }
    mxci_mutex_unlock(&comm->lock);
    return is_good;
}

/* Make the workers' communicator; without one, *joined is 0 at all of them. */
static mxc_status join_workers(mxci_comm *comm, mxc_context context, int64_t *joined) {
    const mxci_communicator_api *api = find_api(context);
    mxci_communicator *communicator = NULL;
    join_offer offer = {.is_good = 0};
    if (comm->rank == 0)
        offer.is_good = api->create_id(&offer.id) == MXC_OK;
    mxci_call call = {.kind = MXCI_CALL_BROADCAST, .n = sizeof offer, .name = "GPUs' id", .out = &offer};
    MXC_TRY(mxci_comm_call(comm, &call));
    mxc_status status =
        offer.is_good ? create_communicator(api, &offer.id, comm->size, comm->rank, 1, &context.id, comm, &communicator)
                      : MXC_FAIL(MXC_EDEVICE, "%s: rank 0 could not begin", api->name);
    if (status != MXC_OK)
        mxci_log(MXC_LOG_WARNING, "kvstore: rank %d: sums of GPUs go through the host: %s", comm->rank,
                 mxc_last_error());
    *joined = communicator != NULL;
    status = mxci_comm_allreduce_min(comm, "GPUs that joined", joined);
    if (status == MXC_OK && *joined && set_communicator(comm, api, communicator))
        comm->gpus.id = context.id;
    else if (communicator)
        (void)abort_communicator(api, communicator);
    return status;
}

mxc_status mxci_gpu_sums_agree(mxci_comm *comm, const char *key, mxc_ndarray *array, int *out) {
    char what[MXCI_CALL_NAME];
    int64_t all;
    *out = 0;
    if (comm->gpus.is_tried && !comm->gpus.communicator)
        return MXC_OK;
    const mxc_context context = mxc_ndarray_context(array);
    const mxci_communicator_api *api = find_api(context);
    all = api && api->supports(mxc_ndarray_dtype(array)) && mxc_ndarray_size(array) > 0 &&
          (!comm->gpus.is_tried || comm->gpus.id == context.id);
    mxci_format(what, sizeof what, "GPU of \"%.100s\"", key);
    MXC_TRY(mxci_comm_allreduce_min(comm, what, &all));
    if (all && !comm->gpus.is_tried)
        MXC_TRY(join_workers(comm, context, &all));
    comm->gpus.is_tried = 1;
    *out = (int)all;
    return MXC_OK;
}

mxc_status mxci_gpu_sums_start(mxci_comm *comm, const void *in, void *out, int64_t n, mxc_dtype dtype,
                               mxci_group_request *t) {
    const mxci_communicator_work work = {
        .collective = MXCI_COLLECTIVE_ALLREDUCE, .dtype = dtype, .n = n, .in = {in}, .out = {out}};
    return comm->gpus.api->start(comm->gpus.communicator, &work, &t->room[0]);
}

mxc_status mxci_gpu_sums_test(mxci_comm *comm, const mxci_group_request *t, int *done) {
    return comm->gpus.api->test(comm->gpus.communicator, t->room[0], done);
}

void mxci_gpu_sums_abort(mxci_comm *comm) {
    mxci_mutex_lock(&comm->lock);
    mxci_communicator *communicator = comm->gpus.communicator;
    mxci_mutex_unlock(&comm->lock);
    if (communicator)
        comm->gpus.api->abort(communicator);
}

int mxci_gpu_sums_close(mxci_comm *comm) {
    return !comm->gpus.communicator || comm->gpus.api->destroy(comm->gpus.communicator);
}
