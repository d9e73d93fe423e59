/* SPDX-License-Identifier: Apache-2.0 */
/* The device tables of GPUs and of pinned memory (base/device.h): memory, copies, streams, events and graphs by the
 * CUDA runtime. All streams are created non-blocking, so nothing waits for the legacy stream, and nothing here may use
 * it. */
#include <cstdlib>
#include <new>

#include "cuda/runtime/module.h"
#include "cuda/nvidia/stream.h"

void mxcu_ignore_error(cudaError_t error) {
    if (error != cudaSuccess)
        (void)cudaGetLastError();
}

mxc_status mxcu_check(cudaError_t error, const char *what) {
    if (error == cudaSuccess)
        return MXC_OK;
    mxcu_ignore_error(error);
    return MXC_FAIL(error == cudaErrorMemoryAllocation ? MXC_ENOMEM : MXC_EDEVICE, "%s: %s", what,
                    cudaGetErrorString(error));
}

mxc_status mxcu_enter(const mxc_op_call *call, cudaStream_t *out) {
    const mxcu_stream *s = static_cast<const mxcu_stream *>(call->run->stream);
    *out = s->stream;
    return mxcu_check(cudaSetDevice(s->id), "cudaSetDevice");
}

mxc_status mxcu_launched(const mxc_op_call *call) {
    (void)call;
    return mxcu_check(cudaGetLastError(), "kernel launch");
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Called at every push. The driver is queried until it has reported a GPU, then the number is kept; 0 is not kept,
 * since a driver may be loaded later. */
static int gpu_count(void) {
    static std::atomic<int> known{0};
    int n = known.load();
    if (n > 0)
        return n;
    cudaError_t error = cudaGetDeviceCount(&n);
    mxcu_ignore_error(error); /* no driver, or no GPU */
    if (error != cudaSuccess)
        return 0;
    known.store(n);
    return n;
}

/* cudaMalloc returns memory aligned to 256 bytes. It may synchronize the device, which is why storage.c keeps pools. */
static mxc_status gpu_alloc(mxc_context context, size_t bytes, void **out) {
    *out = nullptr;
    MXC_TRY(mxcu_check(cudaSetDevice(context.id), "cudaSetDevice"));
    cudaError_t error = cudaMalloc(out, bytes);
    if (error != cudaErrorMemoryAllocation)
        return mxcu_check(error, "cudaMalloc");
    mxcu_ignore_error(error);
    return MXC_FAIL(MXC_ENOMEM, "gpu(%d): no memory for %zu bytes", (int)context.id, bytes);
}

/* cudaFree waits for all work on the device, so the memory is not in use when it returns. bytes is for allocators that
 * need it. */
static void gpu_free(mxc_context context, void *block, size_t bytes) {
    (void)bytes;
    cudaError_t error = cudaSetDevice(context.id);
    mxcu_ignore_error(error == cudaSuccess ? cudaFree(block) : error);
}

static mxc_status gpu_memory(mxc_context context, size_t *total, size_t *free_now) {
    MXC_TRY(mxcu_check(cudaSetDevice(context.id), "cudaSetDevice"));
    return mxcu_check(cudaMemGetInfo(free_now, total), "cudaMemGetInfo");
}

/* Portable: the memory counts as pinned for every GPU, not only the current one. */
static mxc_status pinned_alloc(mxc_context context, size_t bytes, void **out) {
    (void)context;
    *out = nullptr;
    return mxcu_check(cudaHostAlloc(out, bytes, cudaHostAllocPortable), "cudaHostAlloc");
}

static void pinned_free(mxc_context context, void *block, size_t bytes) {
    (void)context;
    (void)bytes;
    mxcu_ignore_error(cudaFreeHost(block));
}

/* cudaMemcpyDefault: the driver derives the direction from the addresses. From or to pageable memory the call may block
 * while the driver copies through a staging buffer. */
static mxc_status gpu_copy(mxc_context to, void *destination, mxc_context from, const void *source, size_t bytes,
                           void *stream) {
    const mxcu_stream *s = static_cast<const mxcu_stream *>(stream);
    (void)to;
    (void)from;
    MXC_TRY(mxcu_check(cudaSetDevice(s->id), "cudaSetDevice"));
    return mxcu_check(cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDefault, s->stream), "cudaMemcpyAsync");
}

namespace {

/* A thread's streams for copies that it waits for, one for each GPU, created when the thread first copies there.
 * cudaMemcpy cannot be used: it runs on the legacy stream, with which non-blocking streams do not synchronize, and it
 * may return before a copy from pageable memory or within a GPU has ended. */
struct copy_streams {
    cudaStream_t of[MXC_MAX_DEVICE_ID + 1] = {};
    ~copy_streams() {
        for (cudaStream_t stream : of)
            if (stream)
                mxcu_ignore_error(cudaStreamDestroy(stream));
    }
};

thread_local copy_streams own_streams;

} // namespace

static mxc_status gpu_copy_now(mxc_context to, void *destination, mxc_context from, const void *source, size_t bytes) {
    const int id = to.device == MXC_GPU ? to.id : from.id;
    cudaStream_t *stream = &own_streams.of[id];
    MXC_TRY(mxcu_check(cudaSetDevice(id), "cudaSetDevice"));
    if (!*stream)
        MXC_TRY(mxcu_check(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), "cudaStreamCreate"));
    MXC_TRY(mxcu_check(cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDefault, *stream), "cudaMemcpyAsync"));
    return mxcu_check(cudaStreamSynchronize(*stream), "copy");
}

/* ---- streams ----------------------------------------------------------------------------------------------------- */

static void stream_free(mxcu_stream *s) {
    for (cudaEvent_t event : s->events)
        if (event)
            mxcu_ignore_error(cudaEventDestroy(event));
    mxcu_blas_close(s->blas);
    if (s->stream)
        mxcu_ignore_error(cudaStreamDestroy(s->stream));
    delete s;
}

static mxc_status stream_fill(mxcu_stream *s) {
    MXC_TRY(mxcu_check(cudaSetDevice(s->id), "cudaSetDevice"));
    return mxcu_check(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking), "cudaStreamCreate");
}

static mxc_status stream_create(mxc_context context, void **out) {
    mxcu_stream *s = new (std::nothrow) mxcu_stream();
    mxc_status status;
    *out = nullptr;
    if (!s)
        return MXC_FAIL(MXC_ENOMEM, "GPU: no memory for a stream");
    s->id = context.id;
    status = stream_fill(s);
    if (status == MXC_OK)
        *out = s;
    else
        stream_free(s);
    return status;
}

static void stream_destroy(mxc_context context, void *stream) {
    cudaError_t error = cudaSetDevice(context.id);
    mxcu_ignore_error(error);
    if (error == cudaSuccess)
        stream_free(static_cast<mxcu_stream *>(stream));
}

static mxc_status stream_native(mxc_context context, void *stream, void **out) {
    *out = nullptr;
    MXC_TRY(mxcu_check(cudaSetDevice(context.id), "cudaSetDevice"));
    *out = static_cast<mxcu_stream *>(stream)->stream;
    return MXC_OK;
}

static mxc_status stream_synchronize(mxc_context context, void *stream) {
    MXC_TRY(mxcu_check(cudaSetDevice(context.id), "cudaSetDevice"));
    return mxcu_check(cudaStreamSynchronize(static_cast<mxcu_stream *>(stream)->stream), "work on the GPU");
}

/* The event of the ring at a position. Before an event is recorded again, the host waits until the work before its
 * former position is done: this bounds how far the host runs ahead. Events are created when the ring first reaches
 * them, since most streams record few or none. */
static mxc_status event_at(mxcu_stream *s, uint64_t position, cudaEvent_t *out) {
    cudaEvent_t *event = &s->events[position % MXCU_EVENTS];
    if (*event)
        MXC_TRY(mxcu_check(cudaEventSynchronize(*event), "work on the GPU"));
    else
        MXC_TRY(mxcu_check(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "cudaEventCreate"));
    *out = *event;
    return MXC_OK;
}

/* Record an event; *out = its position, counted from 1. If the ring reuses an event while another thread waits for its
 * former position, that thread waits longer, never too short. */
static mxc_status stream_record_event(mxc_context context, void *stream, uint64_t *out) {
    mxcu_stream *s = static_cast<mxcu_stream *>(stream);
    uint64_t position = s->position.load() + 1;
    cudaEvent_t event;
    MXC_TRY(mxcu_check(cudaSetDevice(context.id), "cudaSetDevice"));
    MXC_TRY(event_at(s, position, &event));
    MXC_TRY(mxcu_check(cudaEventRecord(event, s->stream), "cudaEventRecord"));
    s->position.store(position);
    *out = position;
    return MXC_OK;
}

/* The device waits, not the host. The event may meanwhile stand for a later position of the other stream: then the wait
 * is longer than needed. */
static mxc_status stream_wait_event(mxc_context context, void *stream, mxc_context from, void *other,
                                    uint64_t position) {
    cudaEvent_t event = static_cast<mxcu_stream *>(other)->events[position % MXCU_EVENTS];
    (void)from;
    MXC_TRY(mxcu_check(cudaSetDevice(context.id), "cudaSetDevice"));
    return mxcu_check(cudaStreamWaitEvent(static_cast<mxcu_stream *>(stream)->stream, event, 0), "cudaStreamWaitEvent");
}

static mxc_status event_synchronize(mxc_context context, void *stream, uint64_t position) {
    MXC_TRY(mxcu_check(cudaSetDevice(context.id), "cudaSetDevice"));
    return mxcu_check(cudaEventSynchronize(static_cast<mxcu_stream *>(stream)->events[position % MXCU_EVENTS]),
                      "work on the GPU");
}

/* ---- capture into CUDA graphs ------------------------------------------------------------------------------------ */

static void graph_destroy(mxc_context context, void *graph) {
    mxcu_capture *r = static_cast<mxcu_capture *>(graph);
    cudaError_t error = cudaSetDevice(context.id);
    if (error == cudaSuccess && r->graph)
        mxcu_ignore_error(cudaGraphExecDestroy(r->graph));
    mxcu_ignore_error(error == cudaSuccess ? cudaFree(r->random) : error);
    delete r;
}

/* Thread-local capture mode: calls of other threads that cannot be captured, such as cudaMalloc, stay legal and do not
 * end this capture. The range of random numbers is allocated before the capture begins, for the same reason. */
static mxc_status begin_capture(mxcu_stream *s, const mxc_random *random) {
    mxcu_capture *r = s->capture;
    MXC_TRY(mxcu_check(cudaSetDevice(s->id), "cudaSetDevice"));
    if (random) {
        MXC_TRY(mxcu_check(cudaMalloc(&r->random, sizeof *r->random), "cudaMalloc"));
        r->begin = random->offset;
    }
    return mxcu_check(cudaStreamBeginCapture(s->stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
}

static mxc_status capture_begin(mxc_context context, void *stream, const mxc_random *random) {
    mxcu_stream *s = static_cast<mxcu_stream *>(stream);
    mxc_status status;
    s->capture = new (std::nothrow) mxcu_capture();
    if (!s->capture)
        return MXC_FAIL(MXC_ENOMEM, "GPU: no memory for a capture");
    status = begin_capture(s, random);
    if (status != MXC_OK) {
        graph_destroy(context, s->capture);
        s->capture = nullptr;
    }
    return status;
}

/* cudaStreamEndCapture reports here whatever could not be captured. The graph is only needed until it is
 * instantiated. */
static mxc_status capture_end(mxc_context context, void *stream, void **out) {
    mxcu_stream *s = static_cast<mxcu_stream *>(stream);
    mxcu_capture *r = s->capture;
    cudaGraph_t graph = nullptr;
    mxc_status status = mxcu_check(cudaStreamEndCapture(s->stream, &graph), "cudaStreamEndCapture");
    s->capture = nullptr;
    if (status == MXC_OK)
        status = mxcu_check(cudaGraphInstantiate(&r->graph, graph, 0), "cudaGraphInstantiate");
    if (graph)
        mxcu_ignore_error(cudaGraphDestroy(graph));
    if (status != MXC_OK)
        graph_destroy(context, r);
    *out = status == MXC_OK ? r : nullptr;
    return status;
}

/* One thread. Queued before each launch of a graph that draws random numbers, so that the launch reads the range of
 * this run. */
static __global__ void put_random(mxc_random *place, mxc_random random) {
    *place = random;
}

/* cudaLaunchKernel instead of <<<>>>, so that the file is also compiled by the C++ compiler against the emulated CUDA
 * runtime of tests/cuda. The argument is copied at the call. */
static mxc_status set_random(mxc_random *place, mxc_random random, cudaStream_t on) {
    void *args[] = {&place, &random};
    return mxcu_check(cudaLaunchKernel(reinterpret_cast<const void *>(put_random), dim3(1), dim3(1), args, 0, on),
                      "kernel launch");
}

static mxc_status graph_launch(mxc_context context, void *stream, void *graph, const mxc_random *random) {
    const mxcu_capture *r = static_cast<mxcu_capture *>(graph);
    cudaStream_t on = static_cast<mxcu_stream *>(stream)->stream;
    MXC_TRY(mxcu_check(cudaSetDevice(context.id), "cudaSetDevice"));
    MXC_TRY(random ? set_random(r->random, *random, on) : MXC_OK);
    return mxcu_check(cudaGraphLaunch(r->graph, on), "cudaGraphLaunch");
}

/* See runtime/module.h. */
const mxc_random *mxcu_captured_random(const mxc_op_call *call, uint64_t *begin) {
    const mxcu_capture *r = static_cast<const mxcu_stream *>(call->run->stream)->capture;
    *begin = r && r->random ? r->begin : 0;
    return r ? r->random : nullptr;
}

const mxci_device mxcu_gpu = {
    "gpu",
    gpu_count,
    gpu_alloc,
    gpu_free,
    gpu_memory,
    gpu_copy_now,
    gpu_copy,
    stream_create,
    stream_destroy,
    stream_native,
    stream_synchronize,
    stream_record_event,
    stream_wait_event,
    event_synchronize,
    capture_begin,
    capture_end,
    graph_launch,
    graph_destroy,
};

const mxci_device mxcu_pinned = {
    "cpu_pinned", gpu_count, pinned_alloc, pinned_free, nullptr, gpu_copy_now, nullptr, nullptr, nullptr,
    nullptr,      nullptr,   nullptr,      nullptr,     nullptr, nullptr,      nullptr, nullptr, nullptr,
};
