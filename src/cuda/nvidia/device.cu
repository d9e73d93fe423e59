/* SPDX-License-Identifier: Apache-2.0 */
/* The device tables: memory, copies, streams and events by the CUDA runtime. */
#include <cstdlib>
#include <new>

#include "cuda/runtime/module.h"
#include "cuda/nvidia/stream.h"

void mxcu_forget(cudaError_t error) {
    if (error != cudaSuccess)
        (void)cudaGetLastError();
}

mxc_status mxcu_check(cudaError_t error, const char *what) {
    if (error == cudaSuccess)
        return MXC_OK;
    mxcu_forget(error);
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

/* Asked for at every push, so the driver is asked once. */
static int gpu_count(void) {
    static std::atomic<int> known{0};
    int n = known.load();
    if (n > 0)
        return n;
    cudaError_t error = cudaGetDeviceCount(&n);
    mxcu_forget(error); /* no driver, or no GPU */
    if (error != cudaSuccess)
        return 0;
    known.store(n);
    return n;
}

static mxc_status gpu_alloc(mxc_context context, size_t bytes, void **out) {
    *out = nullptr;
    MXC_TRY(mxcu_check(cudaSetDevice(context.id), "cudaSetDevice"));
    cudaError_t error = cudaMalloc(out, bytes);
    if (error != cudaErrorMemoryAllocation)
        return mxcu_check(error, "cudaMalloc");
    mxcu_forget(error);
    return MXC_FAIL(MXC_ENOMEM, "gpu(%d): no memory for %zu bytes", (int)context.id, bytes);
}

static void gpu_free(mxc_context context, void *block, size_t bytes) {
    (void)bytes;
    cudaError_t error = cudaSetDevice(context.id);
    mxcu_forget(error == cudaSuccess ? cudaFree(block) : error);
}

static mxc_status gpu_memory(mxc_context context, size_t *total, size_t *free_now) {
    MXC_TRY(mxcu_check(cudaSetDevice(context.id), "cudaSetDevice"));
    return mxcu_check(cudaMemGetInfo(free_now, total), "cudaMemGetInfo");
}

static mxc_status pinned_alloc(mxc_context context, size_t bytes, void **out) {
    (void)context;
    *out = nullptr;
    return mxcu_check(cudaHostAlloc(out, bytes, cudaHostAllocPortable), "cudaHostAlloc");
}

static void pinned_free(mxc_context context, void *block, size_t bytes) {
    (void)context;
    (void)bytes;
    mxcu_forget(cudaFreeHost(block));
}

static mxc_status gpu_copy(mxc_context to, void *destination, mxc_context from, const void *source, size_t bytes,
                           void *stream) {
    const mxcu_stream *s = static_cast<const mxcu_stream *>(stream);
    (void)to;
    (void)from;
    MXC_TRY(mxcu_check(cudaSetDevice(s->id), "cudaSetDevice"));
    return mxcu_check(cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDefault, s->stream), "cudaMemcpyAsync");
}

namespace {

/* A thread's streams for copies that it waits for, one for each GPU, made when it first copies there. cudaMemcpy would
 * not do: it uses the legacy stream, which the streams here do not wait for, and it may return before the copy has
 * ended if that is from pageable memory or within a GPU. */
struct copy_streams {
    cudaStream_t of[MXC_MAX_DEVICE_ID + 1] = {};
    ~copy_streams() {
        for (cudaStream_t stream : of)
            if (stream)
                mxcu_forget(cudaStreamDestroy(stream));
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
            mxcu_forget(cudaEventDestroy(event));
    mxcu_blas_close(s->blas);
    if (s->stream)
        mxcu_forget(cudaStreamDestroy(s->stream));
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
    mxcu_forget(error);
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

/* The event of the ring at a position, once the work before its former position is done. Created when the ring first
 * reaches it: most streams record few events or none. */
static mxc_status event_at(mxcu_stream *s, uint64_t position, cudaEvent_t *out) {
    cudaEvent_t *event = &s->events[position % MXCU_EVENTS];
    if (*event)
        MXC_TRY(mxcu_check(cudaEventSynchronize(*event), "work on the GPU"));
    else
        MXC_TRY(mxcu_check(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "cudaEventCreate"));
    *out = *event;
    return MXC_OK;
}

/* If an event is recorded anew while another thread waits for its former position, that thread waits longer, never too
 * short. */
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

static void graph_destroy(mxc_context context, void *recording) {
    mxcu_recording *r = static_cast<mxcu_recording *>(recording);
    cudaError_t error = cudaSetDevice(context.id);
    if (error == cudaSuccess && r->graph)
        mxcu_forget(cudaGraphExecDestroy(r->graph));
    mxcu_forget(error == cudaSuccess ? cudaFree(r->place) : error);
    delete r;
}

static mxc_status begin_capture(mxcu_stream *s, const mxc_random *random) {
    mxcu_recording *r = s->recording;
    MXC_TRY(mxcu_check(cudaSetDevice(s->id), "cudaSetDevice"));
    if (random) {
        MXC_TRY(mxcu_check(cudaMalloc(&r->place, sizeof *r->place), "cudaMalloc"));
        r->begin = random->offset;
    }
    return mxcu_check(cudaStreamBeginCapture(s->stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
}

static mxc_status capture_begin(mxc_context context, void *stream, const mxc_random *random) {
    mxcu_stream *s = static_cast<mxcu_stream *>(stream);
    mxc_status status;
    s->recording = new (std::nothrow) mxcu_recording();
    if (!s->recording)
        return MXC_FAIL(MXC_ENOMEM, "GPU: no memory for a recording");
    status = begin_capture(s, random);
    if (status != MXC_OK) {
        graph_destroy(context, s->recording);
        s->recording = nullptr;
    }
    return status;
}

static mxc_status capture_end(mxc_context context, void *stream, void **out) {
    mxcu_stream *s = static_cast<mxcu_stream *>(stream);
    mxcu_recording *r = s->recording;
    cudaGraph_t graph = nullptr;
    mxc_status status = mxcu_check(cudaStreamEndCapture(s->stream, &graph), "cudaStreamEndCapture");
    s->recording = nullptr;
    if (status == MXC_OK)
        status = mxcu_check(cudaGraphInstantiate(&r->graph, graph, 0), "cudaGraphInstantiate");
    if (graph)
        mxcu_forget(cudaGraphDestroy(graph));
    if (status != MXC_OK)
        graph_destroy(context, r);
    *out = status == MXC_OK ? r : nullptr;
    return status;
}

static __global__ void put_random(mxc_random *place, mxc_random random) {
    *place = random;
}

static mxc_status set_random(mxc_random *place, mxc_random random, cudaStream_t on) {
    void *args[] = {&place, &random};
    return mxcu_check(cudaLaunchKernel(reinterpret_cast<const void *>(put_random), dim3(1), dim3(1), args, 0, on),
                      "kernel launch");
}

static mxc_status graph_launch(mxc_context context, void *stream, void *recording, const mxc_random *random) {
    const mxcu_recording *r = static_cast<mxcu_recording *>(recording);
    cudaStream_t on = static_cast<mxcu_stream *>(stream)->stream;
    MXC_TRY(mxcu_check(cudaSetDevice(context.id), "cudaSetDevice"));
    MXC_TRY(random ? set_random(r->place, *random, on) : MXC_OK);
    return mxcu_check(cudaGraphLaunch(r->graph, on), "cudaGraphLaunch");
}

const mxc_random *mxcu_random_place(const mxc_op_call *call, uint64_t *begin) {
    const mxcu_recording *r = static_cast<const mxcu_stream *>(call->run->stream)->recording;
    *begin = r && r->place ? r->begin : 0;
    return r ? r->place : nullptr;
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
