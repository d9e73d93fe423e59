/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communicators of the fake GPU. All members of a set are in one process (of a group of processes that is emulated by
 * threads, too), so that they meet in a table by id. A member's work is a piece on a stream of its own, which waits
 * there until the other members have come to it, as a kernel would; nothing ends that wait but they, or an abort.
 *
 * Variables of the environment: FAKE_GPU_COMMUNICATOR=none: there is no table, =refuse: joining fails, late;
 * FAKE_GPU_COMMUNICATOR_FAIL=n: the n-th piece of work of each set's last member fails, late, and the others wait for
 * it.
 */
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/communicator.h"
#include "cuda_platform/platform.h"

namespace {

std::string setting(const char *name) {
    const char *text = getenv(name);
    return text ? text : "";
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

double value(const char *at, mxc_dtype dtype) {
    switch (dtype) {
    case MXC_F32:
        return *reinterpret_cast<const float *>(at);
    case MXC_F64:
        return *reinterpret_cast<const double *>(at);
    case MXC_F16:
        return mxc_f16_to_float(*reinterpret_cast<const mxc_f16 *>(at));
    case MXC_BF16:
        return mxc_bf16_to_float(*reinterpret_cast<const mxc_bf16 *>(at));
    case MXC_I8:
        return *reinterpret_cast<const int8_t *>(at);
    case MXC_U8:
        return *reinterpret_cast<const uint8_t *>(at);
    case MXC_I32:
        return *reinterpret_cast<const int32_t *>(at);
    default:
        return static_cast<double>(*reinterpret_cast<const int64_t *>(at));
    }
}

void put(char *at, double x, mxc_dtype dtype) {
    switch (dtype) {
    case MXC_F32:
        *reinterpret_cast<float *>(at) = static_cast<float>(x);
        break;
    case MXC_F64:
        *reinterpret_cast<double *>(at) = x;
        break;
    case MXC_F16:
        *reinterpret_cast<mxc_f16 *>(at) = mxc_float_to_f16(static_cast<float>(x));
        break;
    case MXC_BF16:
        *reinterpret_cast<mxc_bf16 *>(at) = mxc_float_to_bf16(static_cast<float>(x));
        break;
    case MXC_I8:
        *reinterpret_cast<int8_t *>(at) = static_cast<int8_t>(x);
        break;
    case MXC_U8:
        *reinterpret_cast<uint8_t *>(at) = static_cast<uint8_t>(x);
        break;
    case MXC_I32:
        *reinterpret_cast<int32_t *>(at) = static_cast<int32_t>(x);
        break;
    default:
        *reinterpret_cast<int64_t *>(at) = static_cast<int64_t>(x);
    }
}

/* ---- sets -------------------------------------------------------------------------------------------------------- */

size_t width_of(mxc_dtype dtype) {
    switch (dtype) {
    case MXC_F64:
    case MXC_I64:
        return 8;
    case MXC_F32:
    case MXC_I32:
        return 4;
    case MXC_F16:
    case MXC_BF16:
        return 2;
    default:
        return 1;
    }
}

/* One piece of work of all members. */
struct meeting {
    int come = 0, gone = 0;
    std::vector<const char *> in;
    std::vector<char> result;
};

struct set {
    std::mutex lock;
    std::condition_variable changed;
    int size, joined = 0;
    std::map<int64_t, meeting> meetings; /* by ticket */
};

std::mutex sets_lock;
std::map<std::string, std::shared_ptr<set>> *const sets = new std::map<std::string, std::shared_ptr<set>>;

void complete(const set &s, meeting *m, const mxci_communicator_work &w) {
    const size_t width = width_of(w.dtype);
    const char *from = m->in[w.collective == MXCI_COLLECTIVE_BROADCAST ? w.root : 0];
    m->result.assign(from, from + static_cast<size_t>(w.n) * width);
    for (int rank = 1; rank < s.size && w.collective != MXCI_COLLECTIVE_BROADCAST; rank++)
        for (size_t i = 0; i < static_cast<size_t>(w.n); i++) {
            char *at = &m->result[i * width];
            put(at, value(at, w.dtype) + value(m->in[rank] + i * width, w.dtype), w.dtype);
        }
}

} // namespace

struct mxci_communicator {
    std::shared_ptr<set> members;
    std::string id;
    int first, n;
    bool refused;
    std::vector<void *> streams;
    std::atomic<int> done[256]; /* by ticket: members */
    std::atomic<bool> aborted{false}, failed{false};
    int64_t given = 0;
    std::mutex lock;
};

/* On a member's stream. */
static void meet(mxci_communicator *c, int i, int64_t ticket, const mxci_communicator_work &w) {
    set &s = *c->members;
    const int rank = c->first + i;
    if (rank == s.size - 1 && ticket == atoll(setting("FAKE_GPU_COMMUNICATOR_FAIL").c_str())) {
        c->failed = true;
        return;
    }
    std::unique_lock<std::mutex> held(s.lock);
    meeting &m = s.meetings[ticket];
    m.in.resize(static_cast<size_t>(s.size));
    m.in[static_cast<size_t>(rank)] = mxcu_pointer<const char>(w.in[i]);
    if (++m.come == s.size)
        complete(s, &m, w);
    s.changed.notify_all();
    s.changed.wait(held, [&] { return m.come == s.size || c->aborted; });
    if (c->aborted)
        return;
    if (w.collective != MXCI_COLLECTIVE_REDUCE || w.root == rank)
        memcpy(mxcu_pointer<char>(w.out[i]), m.result.data(), m.result.size());
    if (++m.gone == s.size)
        s.meetings.erase(ticket);
    c->done[ticket % 256]++;
}

static int supports(mxc_dtype dtype) {
    return dtype != MXC_BOOL;
}

static mxc_status create_id(mxci_communicator_id *out) {
    static std::atomic<int> ids;
    memset(out->bytes, 0, sizeof out->bytes);
    snprintf(out->bytes, sizeof out->bytes, "set %d", ++ids);
    return MXC_OK;
}

static mxc_status create(const mxci_communicator_id *id, int size, int first, int n, const int *gpus,
                         mxci_communicator **out) {
    mxci_communicator *c = new mxci_communicator;
    std::lock_guard<std::mutex> held(sets_lock);
    std::shared_ptr<set> &s = (*sets)[id->bytes];
    if (!s)
        s = std::make_shared<set>();
    c->members = s;
    c->id = id->bytes;
    c->first = first;
    c->n = n;
    c->refused = setting("FAKE_GPU_COMMUNICATOR") == "refuse";
    for (int i = 0; i < n; i++) {
        void *stream;
        MXC_TRY(mxcu_gpu.stream_create(mxc_context{MXC_GPU, gpus[i]}, &stream));
        c->streams.push_back(stream);
    }
    std::lock_guard<std::mutex> inner(s->lock);
    s->size = size;
    s->joined += n;
    *out = c;
    return MXC_OK;
}

static mxc_status start(mxci_communicator *c, const mxci_communicator_work *work, int64_t *ticket) {
    std::lock_guard<std::mutex> held(c->lock);
    *ticket = ++c->given;
    c->done[*ticket % 256] = 0;
    for (int i = 0; i < c->n; i++)
        MXC_TRY(mxcu_fake_queue(c->streams[i], [c, i, t = *ticket, w = *work] { meet(c, i, t, w); }));
    return MXC_OK;
}

static mxc_status test(mxci_communicator *c, int64_t ticket, int *done) {
    *done = 0;
    if (c->aborted)
        return MXC_FAIL(MXC_EDEVICE, "fake communicator: aborted");
    for (void *stream : c->streams)
        if (mxcu_fake_failed(stream))
            c->failed = true;
    if (c->refused || c->failed)
        return MXC_FAIL(MXC_EDEVICE, "fake communicator: injected %s", c->refused ? "refusal" : "failure");
    if (ticket > 0)
        *done = c->done[ticket % 256] == c->n;
    else {
        std::lock_guard<std::mutex> held(c->members->lock);
        *done = c->members->joined == c->members->size;
    }
    return MXC_OK;
}

static void abort_communicator(mxci_communicator *c) {
    std::lock_guard<std::mutex> held(c->members->lock);
    c->aborted = true;
    c->members->changed.notify_all();
}

static int destroy(mxci_communicator *c) {
    for (void *stream : c->streams)
        mxcu_gpu.stream_destroy(mxc_context{MXC_GPU, 0}, stream);
    {
        std::lock_guard<std::mutex> held(sets_lock);
        if (c->members.use_count() == 2) /* the table's, and this one */
            sets->erase(c->id);
    }
    delete c;
    return 1;
}

const mxci_communicator_api *mxcu_communicator_api(void) {
    static const mxci_communicator_api api = {"fake communicator", supports, create_id, create, start, test,
                                              abort_communicator,  destroy};
    return setting("FAKE_GPU_COMMUNICATOR") == "none" ? nullptr : &api;
}
