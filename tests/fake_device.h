/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device that runs what is queued on its streams later, as a GPU does: one thread per stream, which runs closures one
 * after the other with pauses of random length. Its memory is the host's. Register fake_device for MXC_GPU; fake_submit
 * queues a closure on mxc_run.stream. A closure can be made to fail: from then on its stream runs nothing more, and
 * every wait for it fails. Header only.
 */
#ifndef MXC_TESTS_FAKE_DEVICE_H
#define MXC_TESTS_FAKE_DEVICE_H

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/device.h"
#include "base/sys.h"

enum { FAKE_DEVICES = 2 };

typedef struct fake_work fake_work;

typedef struct fake_stream {
    mxci_mutex mutex; /* guards what follows */
    mxci_cond cond;   /* something was queued, or came to an end */
    fake_work *first, **end;
    uint64_t queued, done; /* pieces of work; an event is the count of those before it */
    int failed, closing;
    uint64_t random;
    mxci_thread thread;
} fake_stream;

/* Run fn, or wait until another stream has reached an event. */
struct fake_work {
    fake_work *next;
    void (*fn)(void *arg);
    void *arg;
    fake_stream *other;
    uint64_t event;
};

/* Counters, and what is to go wrong. */
static struct fake {
    _Atomic int waits, stream_waits,
        events;             /* calls that block the host; that make streams wait for events; that record them */
    _Atomic int streams;    /* made so far */
    _Atomic uint32_t held;  /* 1: streams run nothing */
    _Atomic int fail_in;    /* the n-th closure from now on fails; 0: none */
    _Atomic int fail_event; /* the next event cannot be recorded */
    _Atomic int busy_ns;    /* longest pause before a closure */
} fake = {.busy_ns = 20000};

static inline void fake_hold(void) {
    atomic_store(&fake.held, 1);
}

static inline void fake_go_on(void) {
    atomic_store(&fake.held, 0);
    mxci_unpark(&fake.held, INT32_MAX);
}

/* Wait until stream is closing (0) or has done so many pieces. */
static inline void fake_await(fake_stream *s, uint64_t done) {
    mxci_mutex_lock(&s->mutex);
    while (s->done < done)
        mxci_cond_wait(&s->cond, &s->mutex);
    mxci_mutex_unlock(&s->mutex);
}

static inline void fake_pause(fake_stream *s) {
    int longest = atomic_load(&fake.busy_ns);
    s->random = s->random * 6364136223846793005u + 1442695040888963407u;
    if (longest && s->random >> 62 == 0)
        mxci_sleep_ns((int64_t)(s->random >> 33) % longest);
    while (atomic_load(&fake.held))
        mxci_park(&fake.held, 1, INT64_MAX);
}

/* 1 if it failed. */
static inline int fake_perform(fake_stream *s, const fake_work *work) {
    int left = atomic_load(&fake.fail_in);
    if (work->other) {
        fake_await(work->other, work->event);
        return 0;
    }
    fake_pause(s);
    while (left && !atomic_compare_exchange_weak(&fake.fail_in, &left, left - 1))
        continue;
    if (left != 1)
        work->fn(work->arg);
    return left == 1;
}

static inline void fake_main(void *arg) {
    fake_stream *s = arg;
    mxci_mutex_lock(&s->mutex);
    while (s->first || !s->closing) {
        fake_work *work = s->first;
        int skip = s->failed, failed;
        if (!work) {
            mxci_cond_wait(&s->cond, &s->mutex);
            continue;
        }
        mxci_mutex_unlock(&s->mutex);
        failed = !skip && fake_perform(s, work);
        mxci_mutex_lock(&s->mutex);
        s->first = work->next;
        if (!s->first)
            s->end = &s->first;
        free(work);
        s->failed |= failed;
        s->done++;
        mxci_cond_broadcast(&s->cond);
    }
    mxci_mutex_unlock(&s->mutex);
}

static inline void fake_queue(fake_stream *s, fake_work work) {
    fake_work *copy = malloc(sizeof *copy);
    *copy = work;
    copy->next = NULL;
    mxci_mutex_lock(&s->mutex);
    *s->end = copy;
    s->end = &copy->next;
    s->queued++;
    mxci_cond_broadcast(&s->cond);
    mxci_mutex_unlock(&s->mutex);
}

/* stream: of mxc_run */
static inline void fake_submit(void *stream, void (*fn)(void *arg), void *arg) {
    fake_queue(stream, (fake_work){NULL, fn, arg, NULL, 0});
}

/* ---- the table ------------------------------------------------------------------------------------------------- */

static inline int fake_count(void) {
    return FAKE_DEVICES;
}

static inline mxc_status fake_alloc(mxc_context context, size_t bytes, void **out) {
    (void)context;
    *out = mxci_pages_alloc(bytes);
    return *out ? MXC_OK : MXC_FAIL(MXC_ENOMEM, "the device is full");
}

static inline void fake_free(mxc_context context, void *block, size_t bytes) {
    (void)context;
    mxci_pages_free(block, bytes);
}

static inline mxc_status fake_stream_create(mxc_context context, void **out) {
    static _Atomic uint64_t seeds;
    fake_stream *s = calloc(1, sizeof *s);
    (void)context;
    mxci_mutex_init(&s->mutex);
    mxci_cond_init(&s->cond);
    s->end = &s->first;
    s->random = atomic_fetch_add(&seeds, 1) + 1;
    atomic_fetch_add(&fake.streams, 1);
    *out = s;
    return mxci_thread_start(&s->thread, "fake", fake_main, s);
}

static inline void fake_stream_destroy(mxc_context context, void *stream) {
    fake_stream *s = stream;
    (void)context;
    mxci_mutex_lock(&s->mutex);
    s->closing = 1;
    mxci_cond_broadcast(&s->cond);
    mxci_mutex_unlock(&s->mutex);
    mxci_thread_join(s->thread);
    mxci_mutex_destroy(&s->mutex);
    mxci_cond_destroy(&s->cond);
    free(s);
}

static inline mxc_status fake_wait_until(fake_stream *s, uint64_t done) {
    int failed;
    atomic_fetch_add(&fake.waits, 1);
    fake_await(s, done);
    mxci_mutex_lock(&s->mutex);
    failed = s->failed;
    mxci_mutex_unlock(&s->mutex);
    return failed ? MXC_FAIL(MXC_EDEVICE, "the fake device failed") : MXC_OK;
}

static inline uint64_t fake_queued(fake_stream *s) {
    uint64_t queued;
    mxci_mutex_lock(&s->mutex);
    queued = s->queued;
    mxci_mutex_unlock(&s->mutex);
    return queued;
}

static inline mxc_status fake_stream_synchronize(mxc_context context, void *stream) {
    (void)context;
    return fake_wait_until(stream, fake_queued(stream));
}

static inline mxc_status fake_stream_record_event(mxc_context context, void *stream, uint64_t *out) {
    (void)context;
    atomic_fetch_add(&fake.events, 1);
    if (atomic_exchange(&fake.fail_event, 0))
        return MXC_FAIL(MXC_EDEVICE, "no event can be recorded");
    *out = fake_queued(stream);
    return MXC_OK;
}

static inline mxc_status fake_stream_wait_event(mxc_context context, void *stream, mxc_context from, void *other,
                                                uint64_t event) {
    (void)context;
    (void)from;
    atomic_fetch_add(&fake.stream_waits, 1);
    fake_queue(stream, (fake_work){NULL, NULL, NULL, other, event});
    return MXC_OK;
}

static inline mxc_status fake_event_synchronize(mxc_context context, void *stream, uint64_t event) {
    (void)context;
    return fake_wait_until(stream, event);
}

typedef struct fake_move {
    void *to;
    const void *from;
    size_t bytes;
} fake_move;

static inline void fake_move_now(void *arg) {
    fake_move *m = arg;
    memmove(m->to, m->from, m->bytes);
    free(m);
}

static inline mxc_status fake_copy(mxc_context to, void *destination, mxc_context from, const void *source,
                                   size_t bytes, void *stream) {
    fake_move *m = malloc(sizeof *m);
    (void)to;
    (void)from;
    *m = (fake_move){destination, source, bytes};
    fake_submit(stream, fake_move_now, m);
    return MXC_OK;
}

static inline mxc_status fake_copy_now(mxc_context to, void *destination, mxc_context from, const void *source,
                                       size_t bytes) {
    (void)to;
    (void)from;
    memmove(destination, source, bytes);
    return MXC_OK;
}

static const mxci_device fake_device = {
    .name = "gpu",
    .count = fake_count,
    .alloc = fake_alloc,
    .free = fake_free,
    .copy_now = fake_copy_now,
    .copy = fake_copy,
    .stream_create = fake_stream_create,
    .stream_destroy = fake_stream_destroy,
    .stream_synchronize = fake_stream_synchronize,
    .stream_record_event = fake_stream_record_event,
    .stream_wait_event = fake_stream_wait_event,
    .event_synchronize = fake_event_synchronize,
};

#endif
