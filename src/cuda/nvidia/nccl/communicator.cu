/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators by NCCL (base/communicator.h), in its non-blocking mode.
 *
 * In this mode a call into NCCL may continue after it has returned, and until it has ended the ncclComm_t accepts no
 * other call. So work waits in a queue, and each test makes progress: if the call in flight has ended, it records an
 * event on each member's stream, then begins the next call, for all members together. No thread waits inside NCCL, so
 * that a process that has died cannot block this one.
 *
 * A ticket is the number of a piece of work, from 1. Tickets issued > tickets launched (the call into NCCL has ended,
 * the kernels are queued) >= tickets done (the event of that ticket has passed on every member). */
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "base/communicator.h"
#include "cuda/runtime/module.h"
#include "cuda/nvidia/nccl/library.h"
#include "cuda/nvidia/stream.h"

static_assert(sizeof(ncclUniqueId) == sizeof(mxci_communicator_id), "an id is what NCCL says it is");

namespace {

enum { EVENTS = 32 }; /* a ring: a test of work that is 32 tickets old waits for later work */
constexpr std::chrono::seconds ABORT_TIMEOUT(3); /* for calls to end, and for an abort */

/* One GPU of this process in the communicator, with a stream of its own for NCCL's kernels. */
struct member {
    int gpu;
    ncclComm_t comm;
    cudaStream_t stream;
    cudaEvent_t events[EVENTS];
};

} // namespace

struct mxci_communicator {
    const mxcu_nccl *nccl;
    std::mutex lock; /* over all that follows, and over calls into NCCL but abort's */
    int n;
    member members[MXCI_COMMUNICATOR_MEMBERS];
    bool call_in_flight; /* the first call creates the communicator */
    bool failed;         /* for good; error_text is the reason */
    char error_text[256];
    int64_t issued, launched; /* tickets: the last one issued; the last whose call has ended, -1 before creation */
    std::deque<mxci_communicator_work> waiting; /* not yet begun, in the order of tickets */
    std::thread aborting;
    std::condition_variable ended; /* of aborting */
    bool is_aborting, has_ended;
};

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* Record the first failure, which every later call returns, and report it. The lock is held. */
static mxc_status set_failed(mxci_communicator *c, const char *what, const char *text, const char *detail) {
    if (!c->failed)
        snprintf(c->error_text, sizeof c->error_text, "%s: %s%s%.120s", what, text, *detail ? "; " : "", detail);
    c->failed = true;
    return MXC_FAIL(MXC_EDEVICE, "%s", c->error_text);
}

static mxc_status check_nccl(mxci_communicator *c, ncclResult_t result, const char *what, ncclComm_t comm) {
    if (result == ncclSuccess || result == ncclInProgress)
        return MXC_OK;
    return set_failed(c, what, c->nccl->GetErrorString(result), c->nccl->GetLastError(comm));
}

static mxc_status check_cuda(mxci_communicator *c, cudaError_t error, const char *what) {
    mxcu_ignore_error(error);
    return error == cudaSuccess ? MXC_OK : set_failed(c, what, cudaGetErrorString(error), "");
}

/* ---- joining ----------------------------------------------------------------------------------------------------- */

static mxc_status create_id(mxci_communicator_id *out) {
    const mxcu_nccl *nccl;
    ncclUniqueId id;
    MXC_TRY(mxcu_nccl_get(&nccl));
    ncclResult_t result = nccl->GetUniqueId(&id);
    if (result != ncclSuccess)
        return MXC_FAIL(MXC_EDEVICE, "ncclGetUniqueId: %s", nccl->GetErrorString(result));
    memcpy(out->bytes, &id, sizeof id);
    return MXC_OK;
}

static void free_communicator(mxci_communicator *c) {
    for (int i = 0; i < c->n; i++) {
        member *m = &c->members[i];
        cudaError_t error = cudaSetDevice(m->gpu);
        for (cudaEvent_t event : m->events)
            if (error == cudaSuccess && event)
                mxcu_ignore_error(cudaEventDestroy(event));
        mxcu_ignore_error(error == cudaSuccess && m->stream ? cudaStreamDestroy(m->stream) : error);
    }
    delete c;
}

/* A stream of the highest priority: communication goes before computation, since other GPUs wait for it. It does not
 * wait for the engine's streams; the engine starts work only after its inputs are complete. */
static mxc_status open_member(mxci_communicator *c, member *m, int gpu) {
    int least, most;
    m->gpu = gpu;
    MXC_TRY(check_cuda(c, cudaSetDevice(gpu), "cudaSetDevice"));
    MXC_TRY(check_cuda(c, cudaDeviceGetStreamPriorityRange(&least, &most), "cudaDeviceGetStreamPriorityRange"));
    MXC_TRY(check_cuda(c, cudaStreamCreateWithPriority(&m->stream, cudaStreamNonBlocking, most), "cudaStreamCreate"));
    for (cudaEvent_t &event : m->events)
        MXC_TRY(check_cuda(c, cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate"));
    return MXC_OK;
}

/* Begin to create the ncclComm_t of all members in one group, as NCCL requires where a thread has several GPUs.
 * GroupEnd is called in any case, since an open group would swallow later calls. */
static mxc_status call_create(mxci_communicator *c, const mxci_communicator_id *id, int size, int first) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    ncclUniqueId unique;
    ncclResult_t result = ncclSuccess;
    memcpy(&unique, id->bytes, sizeof unique);
    config.blocking = 0;
    MXC_TRY(check_nccl(c, c->nccl->GroupStart(), "ncclGroupStart", nullptr));
    for (int i = 0; i < c->n && (result == ncclSuccess || result == ncclInProgress); i++) {
        member *m = &c->members[i];
        cudaError_t error = cudaSetDevice(m->gpu);
        mxcu_ignore_error(error);
        result = error == cudaSuccess ? c->nccl->CommInitRankConfig(&m->comm, size, unique, first + i, &config)
                                      : ncclUnhandledCudaError;
    }
    ncclResult_t end = c->nccl->GroupEnd();
    MXC_TRY(check_nccl(c, result, "ncclCommInitRankConfig", nullptr));
    c->call_in_flight = true;
    return check_nccl(c, end, "ncclCommInitRankConfig", nullptr);
}

/* Joining is complete when the first test finds that no call is in flight. */
static mxc_status create(const mxci_communicator_id *id, int size, int first, int n, const int *gpus,
                         mxci_communicator **out) {
    const mxcu_nccl *nccl;
    *out = nullptr;
    MXC_TRY(mxcu_nccl_get(&nccl));
    mxci_communicator *c = new (std::nothrow) mxci_communicator();
    if (!c)
        return MXC_FAIL(MXC_ENOMEM, "NCCL: no memory for a communicator");
    c->nccl = nccl;
    c->n = n;
    c->launched = -1;
    mxc_status status = MXC_OK;
    for (int i = 0; i < n && status == MXC_OK; i++)
        status = open_member(c, &c->members[i], gpus[i]);
    if (status != MXC_OK) {
        free_communicator(c);
        return status;
    }
    (void)call_create(c, id, size, first); /* a failure is reported by the first test */
    *out = c;
    return MXC_OK;
}

/* ---- work -------------------------------------------------------------------------------------------------------- */

/* -1: not supported. */
static int type_of(mxc_dtype dtype) {
    switch (dtype) {
    case MXC_F32:
        return ncclFloat32;
    case MXC_F64:
        return ncclFloat64;
    case MXC_F16:
        return ncclFloat16;
    case MXC_BF16:
        return ncclBfloat16;
    case MXC_I8:
        return ncclInt8;
    case MXC_U8:
        return ncclUint8;
    case MXC_I32:
        return ncclInt32;
    case MXC_I64:
        return ncclInt64;
    default:
        return -1;
    }
}

static int supports(mxc_dtype dtype) {
    return type_of(dtype) >= 0;
}

/* One member's part of a collective, on its stream. */
static ncclResult_t call_member(const mxcu_nccl *nccl, const mxci_communicator_work *w, int i, const member *m) {
    const ncclDataType_t type = static_cast<ncclDataType_t>(type_of(w->dtype));
    const size_t n = static_cast<size_t>(w->n);
    switch (w->collective) {
    case MXCI_COLLECTIVE_REDUCE:
        return nccl->Reduce(w->in[i], w->out[i], n, type, ncclSum, w->root, m->comm, m->stream);
    case MXCI_COLLECTIVE_BROADCAST:
        return nccl->Broadcast(w->in[i], w->out[i], n, type, w->root, m->comm, m->stream);
    default:
        return nccl->AllReduce(w->in[i], w->out[i], n, type, ncclSum, m->comm, m->stream);
    }
}

/* A collective by all members in one group. NCCL queues the kernels when the group ends. */
static mxc_status call_work(mxci_communicator *c, const mxci_communicator_work *w) {
    ncclResult_t result = ncclSuccess;
    MXC_TRY(check_nccl(c, c->nccl->GroupStart(), "ncclGroupStart", nullptr));
    for (int i = 0; i < c->n && (result == ncclSuccess || result == ncclInProgress); i++)
        result = call_member(c->nccl, w, i, &c->members[i]);
    ncclResult_t end = c->nccl->GroupEnd();
    MXC_TRY(check_nccl(c, result, "NCCL", c->members[0].comm));
    return check_nccl(c, end, "NCCL", c->members[0].comm);
}

/* The asynchronous errors of all members' ncclComm_t; *in_flight: a call has not ended. An ncclComm_t appears only when
 * NCCL's own thread has created it, hence the atomic load. */
static mxc_status query_status(mxci_communicator *c, bool *in_flight) {
    *in_flight = false;
    for (int i = 0; i < c->n; i++) {
        ncclResult_t state = ncclSuccess;
        ncclComm_t comm = __atomic_load_n(&c->members[i].comm, __ATOMIC_ACQUIRE);
        if (!comm) { /* not created yet */
            *in_flight = true;
            continue;
        }
        MXC_TRY(check_nccl(c, c->nccl->CommGetAsyncError(comm, &state), "ncclCommGetAsyncError", comm));
        MXC_TRY(check_nccl(c, state, "NCCL", comm));
        *in_flight |= state == ncclInProgress;
    }
    return MXC_OK;
}

/* Mark the end of the launched ticket's kernels on every member's stream. */
static mxc_status record_events(mxci_communicator *c) {
    for (int i = 0; i < c->n; i++) {
        member *m = &c->members[i];
        MXC_TRY(check_cuda(c, cudaSetDevice(m->gpu), "cudaSetDevice"));
        MXC_TRY(check_cuda(c, cudaEventRecord(m->events[c->launched % EVENTS], m->stream), "cudaEventRecord"));
    }
    return MXC_OK;
}

/* End the call in flight and begin the next ones, as far as they end at once. The lock is held. Does not block. */
static mxc_status make_progress(mxci_communicator *c) {
    bool in_flight;
    if (c->failed)
        return MXC_FAIL(MXC_EDEVICE, "%s", c->error_text);
    for (;;) {
        MXC_TRY(query_status(c, &in_flight));
        if (in_flight)
            return MXC_OK;
        if (c->call_in_flight && ++c->launched > 0)
            MXC_TRY(record_events(c));
        c->call_in_flight = false;
        if (c->waiting.empty())
            return MXC_OK;
        c->call_in_flight = true;
        mxci_communicator_work work = c->waiting.front();
        c->waiting.pop_front();
        MXC_TRY(call_work(c, &work));
    }
}

/* Queue a collective; *ticket = its number. The lock orders tickets, which all processes must issue in the same
 * order. */
static mxc_status start(mxci_communicator *c, const mxci_communicator_work *work, int64_t *ticket) {
    std::lock_guard<std::mutex> held(c->lock);
    try {
        c->waiting.push_back(*work);
    } catch (const std::bad_alloc &) {
        return MXC_FAIL(MXC_ENOMEM, "NCCL: no memory for work");
    }
    *ticket = ++c->issued;
    return make_progress(c);
}

/* *done = 1 once the ticket's kernels have ended on all members. */
static mxc_status test(mxci_communicator *c, int64_t ticket, int *done) {
    std::lock_guard<std::mutex> held(c->lock);
    *done = 0;
    MXC_TRY(make_progress(c));
    if (c->launched < ticket)
        return MXC_OK;
    for (int i = 0; i < c->n && ticket > 0; i++) {
        MXC_TRY(check_cuda(c, cudaSetDevice(c->members[i].gpu), "cudaSetDevice"));
        cudaError_t error = cudaEventQuery(c->members[i].events[ticket % EVENTS]);
        if (error == cudaErrorNotReady) {
            mxcu_ignore_error(error);
            return MXC_OK;
        }
        MXC_TRY(check_cuda(c, error, "work on the GPU"));
    }
    *done = 1;
    return MXC_OK;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* Returns 1 once no call is in flight, 0 after a failure or ABORT_TIMEOUT. Polls, since NCCL has no wait. The lock is
 * held. */
static int wait_for_calls(mxci_communicator *c) {
    const auto until = std::chrono::steady_clock::now() + ABORT_TIMEOUT;
    bool in_flight = true;
    while (query_status(c, &in_flight) == MXC_OK && in_flight && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return !c->failed && !in_flight;
}

/* The thread of an abort: ncclCommAbort for all members in one group, since the end of one may have to wait for the
 * kernels of another. It may never return where a peer hangs, so nobody joins the thread without a timeout. */
static void run_abort(mxci_communicator *c) {
    (void)c->nccl->GroupStart();
    for (int i = 0; i < c->n; i++)
        if (c->members[i].comm)
            (void)c->nccl->CommAbort(c->members[i].comm);
    (void)c->nccl->GroupEnd();
    std::lock_guard<std::mutex> held(c->lock);
    c->has_ended = true;
    c->ended.notify_all();
}

/* Fail the communicator and end its kernels, without blocking. Idempotent. */
static void abort_communicator(mxci_communicator *c) {
    std::lock_guard<std::mutex> held(c->lock);
    if (c->is_aborting)
        return;
    c->is_aborting = true;
    if (!c->failed)
        (void)set_failed(c, "NCCL", "aborted", "");
    try {
        c->aborting = std::thread(run_abort, c);
    } catch (const std::system_error &) {
        /* Without a thread nothing is aborted: the kernels and their memory stay as they are. */
    }
}

/* Wait for the abort; 0: it has not ended in time, and its thread is detached, so that the memory must not be freed. */
static int finish_abort(mxci_communicator *c) {
    std::unique_lock<std::mutex> held(c->lock);
    bool ended = c->ended.wait_for(held, ABORT_TIMEOUT, [c] { return c->has_ended; });
    held.unlock();
    if (ended)
        c->aborting.join();
    else if (c->aborting.joinable())
        c->aborting.detach();
    return ended;
}

/* The orderly end: wait for calls, finalize, destroy. 0 where that is not possible, and an abort is needed. */
static int finish_work(mxci_communicator *c) {
    std::lock_guard<std::mutex> held(c->lock);
    if (c->failed || !wait_for_calls(c))
        return 0;
    for (int i = 0; i < c->n; i++)
        if (check_nccl(c, c->nccl->CommFinalize(c->members[i].comm), "ncclCommFinalize", nullptr) != MXC_OK)
            return 0;
    if (!wait_for_calls(c))
        return 0;
    for (int i = 0; i < c->n; i++)
        (void)c->nccl->CommDestroy(c->members[i].comm);
    return 1;
}

/* Returns 0 where the memory had to be leaked because an abort did not end. */
static int destroy(mxci_communicator *c) {
    int whole = !c->is_aborting && finish_work(c);
    if (!whole)
        abort_communicator(c);
    if (!whole && !finish_abort(c))
        return 0;
    free_communicator(c);
    return 1;
}

const mxci_communicator_api *mxcu_communicator_api(void) {
    static const mxci_communicator_api api = {"NCCL", supports, create_id,          create,
                                              start,  test,     abort_communicator, destroy};
    return &api;
}
