/* SPDX-License-Identifier: Apache-2.0 */
/* Thread slots, and the device streams that they keep: see thread_slot.h. */
#include "engine/schedule/thread_slot.h"

#include <string.h>

#include "base/error.h"
#include "engine/fork/fork_guard.h"

/* ---- all slots ------------------------------------------------------------------------------------------------- */

mxc_status mxci_thread_slots_create(mxci_thread_slots *slots, int workers, int spares) {
    int count = workers + MXCI_EXTERNAL_THREADS + (spares ? MXCI_SPARE_THREADS : 0);
    slots->count = count;
    slots->workers = workers;
    slots->slot = mxci_pages_alloc((size_t)count * sizeof *slots->slot);
    if (!slots->slot)
        return MXC_FAIL(MXC_ENOMEM, "mxc_engine_create: no memory for %d threads", count);
    memset(slots->slot, 0, (size_t)count * sizeof *slots->slot);
    for (int i = 0; i < count; i++)
        slots->slot[i].number = i;
    return MXC_OK;
}

static void close_stream(mxci_slot_stream **at) {
    mxci_slot_stream *s = *at;
    *at = s->next;
    mxci_device_stream_close(&s->stream);
    mxci_free(s);
}

void mxci_thread_slots_destroy(mxci_thread_slots *slots) {
    for (int i = 0; slots->slot && i < slots->count; i++)
        while (slots->slot[i].streams)
            close_stream(&slots->slot[i].streams);
    mxci_pages_free(slots->slot, (size_t)slots->count * sizeof *slots->slot);
}

void mxci_thread_slots_forked(mxci_thread_slots *slots) {
    for (int i = 0; i < slots->count; i++)
        slots->slot[i].streams = NULL;
}

/* ---- claiming -------------------------------------------------------------------------------------------------- */

/* Acquire here and release below: the streams that a slot keeps pass from thread to thread with it. */
mxci_thread_slot *mxci_thread_slot_claim(mxci_thread_slots *slots) {
    int first = mxci_thread_index();
    for (int i = 0; i < MXCI_EXTERNAL_THREADS; i++) {
        mxci_thread_slot *slot = &slots->slot[slots->workers + (first + i) % MXCI_EXTERNAL_THREADS];
        uint32_t none = 0;
        if (atomic_compare_exchange_strong_explicit(&slot->claimed, &none, 1, memory_order_acquire,
                                                    memory_order_relaxed))
            return slot;
    }
    return NULL;
}

void mxci_thread_slot_release(mxci_thread_slot *slot) {
    atomic_store_explicit(&slot->claimed, 0, memory_order_release);
}

mxci_thread_slot *mxci_thread_slot_take_spare(mxci_thread_slots *slots) {
    int used = atomic_load(&slots->spares_used);
    while (used < MXCI_SPARE_THREADS)
        if (atomic_compare_exchange_weak(&slots->spares_used, &used, used + 1))
            return &slots->slot[slots->workers + MXCI_EXTERNAL_THREADS + used];
    return NULL;
}

/* ---- streams --------------------------------------------------------------------------------------------------- */

/* Where the slot's stream for the context is linked, or where its list ends. */
static mxci_slot_stream **find_stream(mxci_thread_slot *slot, mxc_context context) {
    mxci_slot_stream **at = &slot->streams;
    while (*at && !mxc_context_equal((*at)->stream.context, context))
        at = &(*at)->next;
    return at;
}

mxc_status mxci_thread_slot_stream(mxci_thread_slot *slot, const mxci_operation *operation, mxci_device_stream **out) {
    mxci_slot_stream **at, *s;
    mxc_status status;
    *out = NULL;
    if (!operation->device || !operation->device->stream_create)
        return MXC_OK;
    at = find_stream(slot, operation->context);
    if (!*at) {
        s = mxci_calloc(1, sizeof *s);
        if (!s)
            return MXCI_NO_MEMORY("engine", "a stream");
        status = mxci_device_stream_open(NULL, operation->device, operation->context, &s->stream);
        if (status != MXC_OK) {
            mxci_free(s);
            return status;
        }
        *at = s;
    }
    *out = &(*at)->stream;
    return MXC_OK;
}

void mxci_thread_slot_drop_stream(mxci_thread_slot *slot, mxc_context context) {
    mxci_slot_stream **at = find_stream(slot, context);
    if (*at)
        close_stream(at);
}
