/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface of devices: one table of functions per kind of device. The CPU's is built in; the GPU module
 * registers its own when it is loaded. A kind without a table is MXC_EDEVICE.
 */
#ifndef MXCI_BASE_DEVICE_H
#define MXCI_BASE_DEVICE_H

#include <mxc/types.h>

struct mxc_random; /* mxc/random.h */

/* No slot is called with a lock of the engine held. Unless it says that it may block, a slot returns at once. */
typedef struct mxci_device {
    const char *name; /* "cpu", "gpu", "cpu_pinned" */
    /* Number of ids that exist: 0..count-1 are valid. May block on first use. */
    int (*count)(void);
    /* Fresh memory, at least 64-byte aligned. MXC_ENOMEM. May block. */
    mxc_status (*alloc)(mxc_context context, size_t bytes, void **out);
    /* May block until queued work that still uses the memory is done. */
    void (*free)(mxc_context context, void *block, size_t bytes);
    /* Bytes of memory that the device has, and bytes that are free; optional. */
    mxc_status (*memory)(mxc_context context, size_t *total, size_t *free_now);
    /* Copy between two blocks of memory, of which at least one is on this device. Blocks until it is done: work that is
     * queued on any stream afterwards sees the bytes, and the source may be overwritten. Waits for no stream: work that
     * uses the two blocks must have ended. Any thread. */
    mxc_status (*copy_now)(mxc_context to, void *destination, mxc_context from, const void *source, size_t bytes);
    /* Queue such a copy on stream, which is not NULL. The source must stay as it is until the copy has ended. Required
     * of devices with streams, NULL for others. */
    mxc_status (*copy)(mxc_context to, void *destination, mxc_context from, const void *source, size_t bytes,
                       void *stream);
    /* A queue of device work for one engine worker; optional (NULL: work is done when the function returns). May block.
     */
    mxc_status (*stream_create)(mxc_context context, void **out);
    void (*stream_destroy)(mxc_context context, void *stream);
    /* What mxc_run_stream gives to programs; context becomes the thread's current device where the platform has one. */
    mxc_status (*stream_native)(mxc_context context, void *stream, void **out);
    /* Block until everything queued on stream is done; returns the first error of that work. */
    mxc_status (*stream_synchronize)(mxc_context context, void *stream);
    /* Events, optional, all three or none; without them every stream is synchronized when a function returns.
     * Record an event behind what is queued on stream so far. Events of a stream are numbered upwards. May block to
     * bound how far the host runs ahead of the device. */
    mxc_status (*stream_record_event)(mxc_context context, void *stream, uint64_t *out);
    /* Make work that is queued on stream from now on wait for an event of another stream, of context from and of this
     * kind of device. Does not block. */
    mxc_status (*stream_wait_event)(mxc_context context, void *stream, mxc_context from, void *other, uint64_t event);
    /* Block until stream has reached an event; returns the first error of the work before it. Any thread. */
    mxc_status (*event_synchronize)(mxc_context context, void *stream, uint64_t event);
    /* Capture into graphs, optional, all four or none. Between begin and end what this thread queues on stream is
     * recorded and not done; launch queues all of it. end fails, with *out NULL, if something cannot be captured.
     * Memory that the work names must stay. random: the numbers that the captured work draws, and at each launch
     * those that replace them; NULL, both times: none. Launches of one graph, on any stream, run one after the other.
     */
    mxc_status (*capture_begin)(mxc_context context, void *stream, const struct mxc_random *random);
    mxc_status (*capture_end)(mxc_context context, void *stream, void **out);
    mxc_status (*graph_launch)(mxc_context context, void *stream, void *graph, const struct mxc_random *random);
    void (*graph_destroy)(mxc_context context, void *graph);
} mxci_device;

/* The table for a device kind. MXC_EDEVICE if none is registered or the id does not exist. Thread-safe. */
mxc_status mxci_device_get(mxc_context context, const mxci_device **out);
/* Add a table. device must stay valid. MXC_EEXIST. Thread-safe. */
mxc_status mxci_device_register(mxc_device kind, const mxci_device *device);

#endif
