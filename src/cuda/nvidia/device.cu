/* The device tables: memory, copies, streams and marks by the CUDA runtime. */
#include <cstdlib>
#include <new>

#include "cuda/module.h"
#include "cuda/nvidia/stream.h"

mxc_status mxcu_check(cudaError_t error, const char *what) {
    if (error == cudaSuccess)
        return MXC_OK;
    (void)cudaGetLastError(); /* errors that are not sticky end here */
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

static int gpu_count(void) {
    int n = 0;
    if (cudaGetDeviceCount(&n) != cudaSuccess)
        (void)cudaGetLastError(); /* no driver, or no GPU */
    return n;
}

static mxc_status gpu_alloc(mxc_context context, size_t bytes, void **out) {
    *out = nullptr;
    MXC_TRY(mxcu_check(cudaSetDevice(context.id), "cudaSetDevice"));
    return mxcu_check(cudaMalloc(out, bytes), "cudaMalloc");
}

static void gpu_free(mxc_context context, void *block, size_t bytes) {
    (void)bytes;
    if (cudaSetDevice(context.id) == cudaSuccess)
        (void)cudaFree(block);
}

static mxc_status pinned_alloc(mxc_context context, size_t bytes, void **out) {
    (void)context;
    *out = nullptr;
    return mxcu_check(cudaHostAlloc(out, bytes, cudaHostAllocPortable), "cudaHostAlloc");
}

static void pinned_free(mxc_context context, void *block, size_t bytes) {
    (void)context;
    (void)bytes;
    (void)cudaFreeHost(block);
}

static mxc_status gpu_copy(mxc_context to, void *destination, mxc_context from, const void *source, size_t bytes,
                           void *stream) {
    const mxcu_stream *s = static_cast<const mxcu_stream *>(stream);
    MXC_TRY(mxcu_check(cudaSetDevice(s ? s->id : to.device == MXC_GPU ? to.id : from.id), "cudaSetDevice"));
    if (s)
        return mxcu_check(cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDefault, s->stream), "cudaMemcpyAsync");
    return mxcu_check(cudaMemcpy(destination, source, bytes, cudaMemcpyDefault), "cudaMemcpy");
}

/* ---- streams ----------------------------------------------------------------------------------------------------- */

static void stream_free(mxcu_stream *s) {
    for (cudaEvent_t event : s->events)
        if (event)
            (void)cudaEventDestroy(event);
    mxcu_blas_close(s->blas);
    if (s->stream)
        (void)cudaStreamDestroy(s->stream);
    delete s;
}

static mxc_status stream_fill(mxcu_stream *s) {
    MXC_TRY(mxcu_check(cudaSetDevice(s->id), "cudaSetDevice"));
    MXC_TRY(mxcu_check(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking), "cudaStreamCreate"));
    for (cudaEvent_t &event : s->events)
        MXC_TRY(mxcu_check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate"));
    return MXC_OK;
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
    if (cudaSetDevice(context.id) == cudaSuccess)
        stream_free(static_cast<mxcu_stream *>(stream));
}

static mxc_status stream_wait(mxc_context context, void *stream) {
    MXC_TRY(mxcu_check(cudaSetDevice(context.id), "cudaSetDevice"));
    return mxcu_check(cudaStreamSynchronize(static_cast<mxcu_stream *>(stream)->stream), "work on the GPU");
}

/* Recording an event anew while another thread waits for its old mark makes that thread wait longer, not too short. */
static mxc_status stream_mark(mxc_context context, void *stream, uint64_t *out) {
    mxcu_stream *s = static_cast<mxcu_stream *>(stream);
    uint64_t mark = s->marks.load() + 1;
    cudaEvent_t event = s->events[mark % MXCU_MARKS];
    MXC_TRY(mxcu_check(cudaSetDevice(context.id), "cudaSetDevice"));
    MXC_TRY(mxcu_check(cudaEventSynchronize(event), "work on the GPU"));
    MXC_TRY(mxcu_check(cudaEventRecord(event, s->stream), "cudaEventRecord"));
    s->marks.store(mark);
    *out = mark;
    return MXC_OK;
}

static mxc_status stream_follow(mxc_context context, void *stream, mxc_context from, void *other, uint64_t mark) {
    cudaEvent_t event = static_cast<mxcu_stream *>(other)->events[mark % MXCU_MARKS];
    (void)from;
    MXC_TRY(mxcu_check(cudaSetDevice(context.id), "cudaSetDevice"));
    return mxcu_check(cudaStreamWaitEvent(static_cast<mxcu_stream *>(stream)->stream, event, 0), "cudaStreamWaitEvent");
}

static mxc_status mark_wait(mxc_context context, void *stream, uint64_t mark) {
    MXC_TRY(mxcu_check(cudaSetDevice(context.id), "cudaSetDevice"));
    return mxcu_check(cudaEventSynchronize(static_cast<mxcu_stream *>(stream)->events[mark % MXCU_MARKS]),
                      "work on the GPU");
}

/* ---- recordings: CUDA graphs ------------------------------------------------------------------------------------- */

static void record_free(mxc_context context, void *recording) {
    mxcu_recording *r = static_cast<mxcu_recording *>(recording);
    if (cudaSetDevice(context.id) == cudaSuccess) {
        if (r->graph)
            (void)cudaGraphExecDestroy(r->graph);
        (void)cudaFree(r->place);
    }
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

static mxc_status record_begin(mxc_context context, void *stream, const mxc_random *random) {
    mxcu_stream *s = static_cast<mxcu_stream *>(stream);
    mxc_status status;
    s->recording = new (std::nothrow) mxcu_recording();
    if (!s->recording)
        return MXC_FAIL(MXC_ENOMEM, "GPU: no memory for a recording");
    status = begin_capture(s, random);
    if (status != MXC_OK) {
        record_free(context, s->recording);
        s->recording = nullptr;
    }
    return status;
}

static mxc_status record_end(mxc_context context, void *stream, void **out) {
    mxcu_stream *s = static_cast<mxcu_stream *>(stream);
    mxcu_recording *r = s->recording;
    cudaGraph_t graph = nullptr;
    mxc_status status = mxcu_check(cudaStreamEndCapture(s->stream, &graph), "cudaStreamEndCapture");
    s->recording = nullptr;
    if (status == MXC_OK)
        status = mxcu_check(cudaGraphInstantiate(&r->graph, graph, 0), "cudaGraphInstantiate");
    if (graph)
        (void)cudaGraphDestroy(graph);
    if (status != MXC_OK)
        record_free(context, r);
    *out = status == MXC_OK ? r : nullptr;
    return status;
}

static __global__ void put_random(mxc_random *place, mxc_random random) {
    *place = random;
}

static mxc_status replay(mxc_context context, void *stream, void *recording, const mxc_random *random) {
    const mxcu_recording *r = static_cast<mxcu_recording *>(recording);
    cudaStream_t on = static_cast<mxcu_stream *>(stream)->stream;
    MXC_TRY(mxcu_check(cudaSetDevice(context.id), "cudaSetDevice"));
    if (random) {
        put_random<<<1, 1, 0, on>>>(r->place, *random);
        MXC_TRY(mxcu_check(cudaGetLastError(), "kernel launch"));
    }
    return mxcu_check(cudaGraphLaunch(r->graph, on), "cudaGraphLaunch");
}

const mxc_random *mxcu_random_place(const mxc_op_call *call, uint64_t *begin) {
    const mxcu_recording *r = static_cast<const mxcu_stream *>(call->run->stream)->recording;
    *begin = r && r->place ? r->begin : 0;
    return r ? r->place : nullptr;
}

const mxci_device mxcu_gpu = {
    "gpu", gpu_count, gpu_alloc, gpu_free, gpu_copy, stream_create, stream_destroy, stream_wait, stream_mark,
    stream_follow, mark_wait, record_begin, record_end, replay, record_free};

const mxci_device mxcu_pinned = {
    "cpu_pinned", gpu_count, pinned_alloc, pinned_free, gpu_copy, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
    nullptr, nullptr, nullptr, nullptr};
