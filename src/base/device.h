/*
 * What the library asks of a device. One table per device kind; the CPU's is built in, a GPU module registers its own
 * when it is loaded. Asking for a device without a table is a clear error.
 */
#ifndef MXCI_BASE_DEVICE_H
#define MXCI_BASE_DEVICE_H

#include <mxc/types.h>

struct mxc_random; /* mxc/random.h */

typedef struct mxci_device {
    const char *name; /* "cpu", "gpu", "cpu_pinned" */
    /* Number of ids that exist: 0..count-1 are legal. May block on first use. */
    int (*count)(void);
    /* Fresh memory, at least 64-byte aligned. MXC_ENOMEM. May block. */
    mxc_status (*alloc)(mxc_context context, size_t bytes, void **out);
    /* May block until queued work that still uses the memory is done. */
    void (*free)(mxc_context context, void *block, size_t bytes);
    /* Copy between two places of which at least one is on this device; on the host when stream is NULL and then
     * complete on return, else queued on stream. */
    mxc_status (*copy)(mxc_context to, void *destination, mxc_context from, const void *source, size_t bytes,
                       void *stream);
    /* A queue of device work for one engine worker; optional (NULL: work is done when the function returns). */
    mxc_status (*stream_create)(mxc_context context, void **out);
    void (*stream_destroy)(mxc_context context, void *stream);
    /* Block until everything queued on stream is done; returns the first error of that work. */
    mxc_status (*stream_wait)(mxc_context context, void *stream);
    /* Marks, optional, all three or none: without them every function is waited for when it returns.
     * Mark the end of what is queued on stream so far. Marks of a stream count up. May block to bound how far the host
     * runs ahead. */
    mxc_status (*stream_mark)(mxc_context context, void *stream, uint64_t *out);
    /* Have what is queued on stream from now on wait until another stream of this kind of device, which is of context
     * from, has come to a mark. Does not block. */
    mxc_status (*stream_follow)(mxc_context context, void *stream, mxc_context from, void *other, uint64_t mark);
    /* Block until stream has come to a mark; returns the first error of the work before it. Any thread. */
    mxc_status (*mark_wait)(mxc_context context, void *stream, uint64_t mark);
    /* Recordings, optional, all four or none. Between begin and end what this thread queues on stream is kept and not
     * done; replay queues all of it. end fails, with *out NULL, if something cannot be recorded. Memory that the work
     * names must stay. random: the numbers of what is recorded, and at each replay those in their place; NULL, both
     * times: none. Replays of one recording, on any stream, follow each other. */
    mxc_status (*record_begin)(mxc_context context, void *stream, const struct mxc_random *random);
    mxc_status (*record_end)(mxc_context context, void *stream, void **out);
    mxc_status (*replay)(mxc_context context, void *stream, void *recording, const struct mxc_random *random);
    void (*record_free)(mxc_context context, void *recording);
} mxci_device;

/* The table for a device kind. MXC_EDEVICE if none is registered or the id does not exist. Thread-safe. */
mxc_status mxci_device_get(mxc_context context, const mxci_device **out);
/* Add a table. device must stay valid. MXC_EEXIST. Thread-safe. */
mxc_status mxci_device_register(mxc_device kind, const mxci_device *device);

#endif
