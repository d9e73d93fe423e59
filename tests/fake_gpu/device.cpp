/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device tables of the fake GPU: two GPUs in host memory. Each stream is a thread that runs what was queued, in
 * order and late. Memory is shifted out of the host's reach and filled with junk when it is given out. A stream that
 * has failed stays so, as on a real GPU: every later wait for it, or for an event behind the failure, fails.
 *
 * Variables of the environment: FAKE_GPU_MB limits the memory of each GPU, FAKE_GPU_FAIL=n lets the n-th piece
 * of work of each stream fail.
 */
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>
#include <set>
#include <thread>
#include <vector>

#include "cuda_platform/platform.h"
#include "stream.h"

namespace {

enum { GPUS = 2, AHEAD = 256 };

long setting(const char *name) {
    const char *text = getenv(name);
    return text ? strtol(text, nullptr, 10) : 0;
}

/* ---- streams ----------------------------------------------------------------------------------------------------- */

/* Work that was given to a stream, and where replays put their random numbers. */
struct recording {
    std::vector<std::function<void()>> work;
    mxc_random place;
    bool draws;
    uint64_t begin;
};

struct stream {
    std::mutex lock;
    std::condition_variable changed;
    std::deque<std::function<void()>> queue;
    uint64_t queued = 0, done = 0; /* pieces of work so far */
    uint64_t failed = 0;           /* the piece that failed; 0: none */
    bool stopping = false;
    recording *made = nullptr; /* where work goes instead; of the thread that queues */
    fake_gpu_stream native = {
        [](void *self, void (*fn)(void *), void *arg) { static_cast<stream *>(self)->push([fn, arg] { fn(arg); }); },
        this,
    };
    std::thread thread;

    void run() {
        std::unique_lock<std::mutex> held(lock);
        const uint64_t fail_at = (uint64_t)setting("FAKE_GPU_FAIL");
        for (;;) {
            changed.wait(held, [&] { return stopping || !queue.empty(); });
            if (queue.empty())
                return;
            std::function<void()> work = std::move(queue.front());
            queue.pop_front();
            held.unlock();
            if (done % 64 == 63)
                std::this_thread::sleep_for(std::chrono::microseconds(20));
            if (!failed)
                work();
            work = nullptr;
            held.lock();
            done++;
            if (done == fail_at)
                failed = done;
            changed.notify_all();
        }
    }

    void push(std::function<void()> work) {
        if (made) {
            made->work.push_back(std::move(work));
            return;
        }
        std::lock_guard<std::mutex> held(lock);
        queue.push_back(std::move(work));
        queued++;
        changed.notify_all();
    }

    /* Whether all succeeded up to the piece of work with this number. */
    bool wait(uint64_t position) {
        std::unique_lock<std::mutex> held(lock);
        changed.wait(held, [&] { return done >= position; });
        return !failed || failed > position;
    }
};

stream *of(void *handle) {
    return static_cast<stream *>(handle);
}

mxc_status outcome(bool good) {
    return good ? MXC_OK : MXC_FAIL(MXC_EDEVICE, "work on the GPU: injected failure");
}

mxc_status stream_create(mxc_context, void **out) {
    stream *s = new stream;
    s->thread = std::thread([s] { s->run(); });
    *out = s;
    return MXC_OK;
}

void stream_destroy(mxc_context, void *handle) {
    stream *s = of(handle);
    {
        std::lock_guard<std::mutex> held(s->lock);
        s->stopping = true;
        s->changed.notify_all();
    }
    s->thread.join();
    delete s;
}

mxc_status stream_native(mxc_context, void *handle, void **out) {
    *out = &of(handle)->native;
    return MXC_OK;
}

mxc_status stream_synchronize(mxc_context, void *handle) {
    uint64_t position;
    if (of(handle)->made)
        return MXC_FAIL(MXC_EDEVICE, "work on the GPU: waited for while it is recorded");
    {
        std::lock_guard<std::mutex> held(of(handle)->lock);
        position = of(handle)->queued;
    }
    return outcome(of(handle)->wait(position));
}

/* The position of an event is the number of the last piece of work queued, so that two may be the same; at least 1. */
mxc_status stream_record_event(mxc_context, void *handle, uint64_t *out) {
    stream *s = of(handle);
    {
        std::lock_guard<std::mutex> held(s->lock);
        *out = s->queued;
    }
    return outcome(*out <= AHEAD || s->wait(*out - AHEAD));
}

mxc_status stream_wait_event(mxc_context, void *handle, mxc_context, void *other, uint64_t position) {
    of(handle)->push([=] { (void)of(other)->wait(position); });
    return MXC_OK;
}

mxc_status event_synchronize(mxc_context, void *handle, uint64_t position) {
    return outcome(of(handle)->wait(position));
}

/* ---- recordings -------------------------------------------------------------------------------------------------- */

mxc_status capture_begin(mxc_context, void *handle, const mxc_random *random) {
    of(handle)->made = new recording{{}, {}, random != nullptr, random ? random->offset : 0};
    return MXC_OK;
}

mxc_status capture_end(mxc_context, void *handle, void **out) {
    *out = of(handle)->made;
    of(handle)->made = nullptr;
    return MXC_OK;
}

mxc_status graph_launch(mxc_context, void *handle, void *given, const mxc_random *random) {
    recording *r = static_cast<recording *>(given);
    of(handle)->push([r, numbers = random ? *random : mxc_random()] {
        r->place = numbers;
        for (const std::function<void()> &piece : r->work)
            piece();
    });
    return MXC_OK;
}

void graph_destroy(mxc_context, void *given) {
    delete static_cast<recording *>(given);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

std::atomic<long long> in_use[GPUS];

/* Where blocks really are, since the leak sanitizer does not know the addresses that are given out. */
std::mutex blocks_lock;
std::set<void *> *const blocks = new std::set<void *>;

int count() {
    return GPUS;
}

mxc_status gpu_alloc(mxc_context context, size_t bytes, void **out) {
    const long long limit = (long long)setting("FAKE_GPU_MB") << 20;
    void *block = nullptr;
    *out = nullptr;
    if (limit && in_use[context.id] + (long long)bytes > limit)
        return MXC_FAIL(MXC_ENOMEM, "fake GPU: no memory for %zu bytes", bytes);
    if (posix_memalign(&block, 256, bytes))
        return MXC_FAIL(MXC_ENOMEM, "fake GPU: no memory for %zu bytes", bytes);
    in_use[context.id] += (long long)bytes;
    {
        std::lock_guard<std::mutex> held(blocks_lock);
        blocks->insert(block);
    }
    memset(block, 0xA5, bytes);
    *out = reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(block) + MXCU_SHIFT);
    return MXC_OK;
}

void gpu_free(mxc_context context, void *block, size_t bytes) {
    in_use[context.id] -= (long long)bytes;
    {
        std::lock_guard<std::mutex> held(blocks_lock);
        blocks->erase(mxcu_pointer<void>(block));
    }
    free(mxcu_pointer<void>(block));
}

mxc_status gpu_memory(mxc_context context, size_t *total, size_t *free_now) {
    const long megabytes = setting("FAKE_GPU_MB");
    *total = megabytes ? (size_t)megabytes << 20 : (size_t)1 << 40;
    *free_now = *total - (size_t)in_use[context.id];
    return MXC_OK;
}

mxc_status pinned_alloc(mxc_context, size_t bytes, void **out) {
    *out = nullptr;
    return posix_memalign(out, 256, bytes) ? MXC_FAIL(MXC_ENOMEM, "fake GPU: no memory for %zu bytes", bytes) : MXC_OK;
}

void pinned_free(mxc_context, void *block, size_t) {
    free(block);
}

bool is_on_gpu(const void *at) {
    return reinterpret_cast<uintptr_t>(at) & MXCU_SHIFT;
}

/* What CUDA's legacy stream does with a copy, for a caller that forgets to name a stream: the other streams do not wait
 * for it, and it is over on return only if it is to the host. Else the bytes are read now, or, within a GPU, later. */
mxc_status copy_on_legacy_stream(void *to, const void *from, size_t bytes) {
    static void *const legacy = [] {
        void *made;
        (void)stream_create({MXC_GPU, 0}, &made);
        return made;
    }();
    void *target = mxcu_pointer<void>(to);
    const char *source = mxcu_pointer<const char>(from);
    of(legacy)->push([] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); });
    if (is_on_gpu(from))
        of(legacy)->push([=] { memmove(target, source, bytes); });
    else
        of(legacy)->push([target, staged = std::vector<char>(source, source + bytes)] {
            memcpy(target, staged.data(), staged.size());
        });
    return is_on_gpu(to) ? MXC_OK : stream_synchronize({MXC_GPU, 0}, legacy);
}

mxc_status copy(mxc_context, void *to, mxc_context, const void *from, size_t bytes, void *handle) {
    void *target = mxcu_pointer<void>(to);
    const void *source = mxcu_pointer<const void>(from);
    if (!handle)
        return copy_on_legacy_stream(to, from, bytes);
    return mxcu_fake_queue(handle, [=] { memmove(target, source, bytes); });
}

mxc_status copy_now(mxc_context, void *to, mxc_context, const void *from, size_t bytes) {
    memmove(mxcu_pointer<void>(to), mxcu_pointer<const void>(from), bytes);
    return MXC_OK;
}

} // namespace

const mxc_random *mxcu_captured_random(const mxc_op_call *call, uint64_t *begin) {
    const recording *r = of(call->run->stream)->made;
    *begin = r && r->draws ? r->begin : 0;
    return r && r->draws ? &r->place : nullptr;
}

mxc_status mxcu_fake_queue(void *handle, std::function<void()> work) {
    of(handle)->push(std::move(work));
    return MXC_OK;
}

mxc_status mxcu_fake_queue_copy(void *handle, void (*run)(const void *argument), const void *argument, size_t bytes) {
    std::vector<std::max_align_t> copy((bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
    memcpy(static_cast<void *>(copy.data()), argument, bytes);
    return mxcu_fake_queue(handle, [run, copy = std::move(copy)] { run(copy.data()); });
}

bool mxcu_fake_failed(void *handle) {
    std::lock_guard<std::mutex> held(of(handle)->lock);
    return of(handle)->failed != 0;
}

const mxci_device mxcu_gpu = {
    "gpu",
    count,
    gpu_alloc,
    gpu_free,
    gpu_memory,
    copy_now,
    copy,
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
    "cpu_pinned", count,   pinned_alloc, pinned_free, nullptr, copy_now, nullptr, nullptr, nullptr,
    nullptr,      nullptr, nullptr,      nullptr,     nullptr, nullptr,  nullptr, nullptr, nullptr,
};
