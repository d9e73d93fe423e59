/*
 * Streams of devices, and marks: how far on a stream something has come. The stream that computes for a device runs
 * ahead where the device has marks: its functions end before what they queued on it is done. A variable then says with
 * marks what is still to be done for it, and whoever touches it next orders itself behind. All other streams are waited
 * for when a function ends, so what ran on them leaves no marks.
 */
#ifndef MXCI_ENGINE_MARK_H
#define MXCI_ENGINE_MARK_H

#include <stdatomic.h>

#include <mxc/engine.h>

#include "base/device.h"

typedef struct mxci_block mxci_block;

typedef struct mxci_stream {
    const mxci_device *device;
    mxc_context context;
    void *handle;             /* NULL: not opened */
    int ahead;                /* functions end before their work. 0 in the child of a fork: that work is lost */
    _Atomic uint64_t marks;   /* one more than the latest mark; 0: none was made */
    struct mxci_stream *next; /* in the engine's list of those that run ahead */
} mxci_stream;

/* A place on a stream that runs ahead. */
typedef struct mxci_mark {
    const mxci_stream *on; /* NULL: there is nothing to be done first. Lives as long as the engine */
    uint64_t position;
} mxci_mark;

/* ---- for the engine -------------------------------------------------------------------------------------------- */

/* Open a stream. computes: it is the one that may run ahead. What the device says. */
mxc_status mxci_stream_open(mxc_engine *engine, const mxci_device *device, mxc_context context, int computes,
                            mxci_stream *out);
/* Nothing is queued on it any more. */
void mxci_stream_close(mxci_stream *stream);
/* Block until all streams of the engine have done what the functions that have ended queued. Failures are noted. */
void mxci_streams_wait(mxc_engine *engine);
/* In the child of a fork: what was queued will never be done. */
void mxci_streams_forked(mxc_engine *engine);

/* Before the block's function is called: order it behind the marks of its variables, on the stream, or on the host if
 * that is NULL. The block is granted. What the device says; what was queued failed. */
mxc_status mxci_marks_before(const mxci_block *block, const mxci_stream *stream);
/* After it: mark what the stream has still to do for it, or wait for that. The same statuses. */
mxc_status mxci_marks_after(const mxci_block *block, mxci_stream *stream);
/* Wait for the work that changes the variable, or for all that uses it; its failure becomes the variable's. Returns
 * it. */
mxc_status mxci_var_settle(mxc_var *var, int all);
/* The variable is deleted and idle. 1: queued work still uses what destroy would free, and a thread was found to wait
 * for it and to end the variable then; 0: it may end. */
int mxci_var_hand_over(mxc_var *var);

/* ---- for who takes memory from a device's pool ----------------------------------------------------------------- */
/* A block goes back to its pool as soon as the last function that named it has ended, though the device's own stream
 * may still work on it. So whoever takes one stands behind what that stream has been given. May block if several
 * engines use the device. */

/* Before anybody learns of it: memory of context was taken for what the variable guards. It is given back by the
 * variable's deletion and in no other way. What the device says. */
mxc_status mxci_var_memory(mxc_var *var, mxc_context context);
/* Memory of run->context was taken for the function that runs on this thread. */
mxc_status mxci_run_memory(const mxc_run *run);
/* Before memory that the function used goes back to a pool in other ways than with a variable. */
mxc_status mxci_run_wait(const mxc_run *run);
/* Copy between two places of which at least one is on a device, as a part of the function that runs on this thread:
 * behind what run's stream was given, and complete when the function's own work is. */
mxc_status mxci_run_queue_copy(const mxc_run *run, mxc_context to, void *destination, mxc_context from,
                               const void *source, size_t bytes);
/* The same, and complete on return. */
mxc_status mxci_run_copy(const mxc_run *run, mxc_context to, void *destination, mxc_context from, const void *source,
                         size_t bytes);

#endif
