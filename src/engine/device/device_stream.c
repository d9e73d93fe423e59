/* SPDX-License-Identifier: Apache-2.0 */
/* Device streams: opening and closing them, and recording and waiting for events. Which task waits for which event is
 * in ordering.c. */
#include "engine/device/device_stream.h"

#include "base/error.h"

static _Atomic int32_t streams_in_process;

mxc_status mxci_device_stream_open(mxci_stream_list *streams, const mxci_device *device, mxc_context context,
                                   mxci_device_stream *out) {
    MXC_TRY(device->stream_create(context, &out->handle));
    out->device = device;
    out->context = context;
    out->is_async = streams && device->stream_record_event;
    if (!out->is_async)
        return MXC_OK;
    out->next = atomic_load(&streams->first);
    while (!atomic_compare_exchange_weak(&streams->first, &out->next, out))
        continue;
    atomic_fetch_add(&streams->count, 1);
    atomic_fetch_add(&streams_in_process, 1);
    return MXC_OK;
}

void mxci_device_stream_close(mxci_device_stream *stream) {
    if (stream->is_async)
        atomic_fetch_sub(&streams_in_process, 1);
    if (stream->handle && stream->device->stream_destroy)
        stream->device->stream_destroy(stream->context, stream->handle);
}

/* Acquire order: the fields of a stream were written before it was added. */
static mxci_device_stream *first_stream(mxci_stream_list *streams) {
    return atomic_load_explicit(&streams->first, memory_order_acquire);
}

void mxci_streams_forked(mxci_stream_list *streams) {
    for (mxci_device_stream *s = first_stream(streams); s; s = s->next)
        s->is_async = 0;
    atomic_fetch_sub(&streams_in_process, atomic_exchange(&streams->count, 0));
}

int32_t mxci_streams_in_process(void) {
    return atomic_load(&streams_in_process);
}

mxc_status mxci_stream_record_event(mxci_device_stream *stream, mxci_stream_event *out) {
    mxc_status status;
    *out = (mxci_stream_event){stream, 0};
    status = stream->device->stream_record_event(stream->context, stream->handle, &out->position);
    if (status != MXC_OK) {
        (void)stream->device->stream_synchronize(stream->context, stream->handle);
        return status;
    }
    atomic_store(&stream->events, out->position + 1);
    return MXC_OK;
}

mxci_stream_event mxci_stream_latest_event(const mxci_device_stream *stream) {
    uint64_t events = stream->is_async ? atomic_load(&stream->events) : 0;
    return (mxci_stream_event){events ? stream : NULL, events - 1};
}

mxci_stream_event mxci_streams_latest_event(mxci_stream_list *streams, mxc_context context) {
    for (const mxci_device_stream *s = first_stream(streams); s; s = s->next)
        if (mxc_context_equal(s->context, context))
            return mxci_stream_latest_event(s);
    return (mxci_stream_event){NULL, 0};
}

mxc_status mxci_event_synchronize(mxci_stream_event event) {
    const mxci_device_stream *stream = event.stream;
    unsigned before = mxci_error_count();
    char name[32];
    mxc_status status;
    if (!stream)
        return MXC_OK;
    mxc_context_format(stream->context, name, sizeof name);
    if (!stream->is_async)
        return MXC_FAIL(MXC_ECANCELED, "%s: what was queued had not ended when the process forked", name);
    status = stream->device->event_synchronize(stream->context, stream->handle, event.position);
    if (status != MXC_OK && mxci_error_count() == before)
        return MXC_FAIL(status, "%s: queued work failed: %s", name, mxc_status_text(status));
    return status;
}

mxc_status mxci_stream_wait_event(const mxci_device_stream *stream, mxci_stream_event event) {
    if (!event.stream || event.stream == stream)
        return MXC_OK;
    if (!stream || stream->device != event.stream->device || !event.stream->is_async)
        return mxci_event_synchronize(event);
    return stream->device->stream_wait_event(stream->context, stream->handle, event.stream->context,
                                             event.stream->handle, event.position);
}

void mxci_streams_synchronize(mxci_stream_list *streams, mxci_engine_errors *errors) {
    for (const mxci_device_stream *s = first_stream(streams); s; s = s->next) {
        mxc_status status = mxci_event_synchronize(mxci_stream_latest_event(s));
        mxci_failure *failure = status == MXC_OK ? NULL : mxci_failure_from_last_error(status);
        mxci_errors_note(errors, failure);
        mxci_failure_release(failure);
    }
}
