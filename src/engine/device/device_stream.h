/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of devices, and events on them. The stream that computes for a device is asynchronous where the device has
 * events (base/device.h): its functions return before the work that they queued is done. All other streams are
 * synchronized when a function returns, so they leave nothing behind and need no events.
 */
#ifndef MXCI_ENGINE_DEVICE_DEVICE_STREAM_H
#define MXCI_ENGINE_DEVICE_DEVICE_STREAM_H

#include <stdatomic.h>

#include "base/device.h"
#include "engine/core/failure.h"

typedef struct mxci_device_stream {
    const mxci_device *device;
    mxc_context context;
    void *handle;                    /* NULL: not open */
    int is_async;                    /* 0 in the child of a fork: the work is lost */
    _Atomic uint64_t events;         /* one more than the position of the latest event; 0: none was recorded */
    struct mxci_device_stream *next; /* in the engine's list of asynchronous streams */
} mxci_device_stream;

/* A place on an asynchronous stream: the end of what had been queued when the event was recorded. */
typedef struct mxci_stream_event {
    const mxci_device_stream *stream; /* NULL: nothing to wait for. Lives as long as the engine */
    uint64_t position;                /* grows along the stream */
} mxci_stream_event;

static inline int mxci_event_equal(mxci_stream_event a, mxci_stream_event b) {
    return a.stream == b.stream && a.position == b.position;
}

/* The asynchronous streams of one engine. Streams are added, never removed. */
typedef struct mxci_stream_list {
    _Alignas(MXCI_CACHE_LINE) _Atomic(mxci_device_stream *) first; /* NULL: no variable has events */
    _Atomic int32_t count;                                         /* those that this process can use */
} mxci_stream_list;

/* 0: no stream has ever been asynchronous, so that no variable has events. Relaxed: a task that uses a variable with
 * events was granted it by the task that recorded them. */
static inline int mxci_streams_any(const mxci_stream_list *streams) {
    return atomic_load_explicit(&streams->first, memory_order_relaxed) != NULL;
}

/* Open a stream of context. May be asynchronous if streams is not NULL, and is added to that list then. Statuses of the
 * device. May block. */
mxc_status mxci_device_stream_open(mxci_stream_list *streams, const mxci_device *device, mxc_context context,
                                   mxci_device_stream *out);
/* Nothing is queued on it any more. Does nothing for one that is not open. */
void mxci_device_stream_close(mxci_device_stream *stream);
/* In the child of a fork: what was queued will never be done. */
void mxci_streams_forked(mxci_stream_list *streams);
/* Asynchronous streams of all engines of the process, this one's included. */
int32_t mxci_streams_in_process(void);

/* Record an event behind all that is queued on an asynchronous stream. Statuses of the device, after which the stream
 * is synchronized. May block to bound how far the host runs ahead. */
mxc_status mxci_stream_record_event(mxci_device_stream *stream, mxci_stream_event *out);
/* The event that was recorded last on a stream. */
mxci_stream_event mxci_stream_latest_event(const mxci_device_stream *stream);
/* The same on the engine's asynchronous stream of a context; stream NULL: it has none, or nothing was recorded. */
mxci_stream_event mxci_streams_latest_event(mxci_stream_list *streams, mxc_context context);
/* Block until the device has reached the event. The status of the device; MXC_ECANCELED in the child of a fork. */
mxc_status mxci_event_synchronize(mxci_stream_event event);
/* Have what is queued on stream from now on wait for the event, on the device if both streams are of one kind of
 * device, else by blocking; with stream NULL by blocking. Statuses as above. */
mxc_status mxci_stream_wait_event(const mxci_device_stream *stream, mxci_stream_event event);
/* Block until all asynchronous streams have done what has been queued so far. Failures are noted in errors. */
void mxci_streams_synchronize(mxci_stream_list *streams, mxci_engine_errors *errors);

#endif
