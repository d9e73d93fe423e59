/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracing: what ran when, on which thread, as a file for chrome://tracing or https://ui.perfetto.dev.
 *
 * Off by default; an event then costs one load. While on, each thread records its events in a buffer of its own.
 */
#ifndef MXC_TRACE_H
#define MXC_TRACE_H

#include <stdint.h>

#include <mxc/status.h>

/** Discard earlier events and record from now on. Status: MXC_ENOMEM. Thread-safe. */
MXC_API MXC_MUST_CHECK mxc_status mxc_trace_start(void);

/** Stop recording; what was recorded stays until the next start. Thread-safe. */
MXC_API void mxc_trace_stop(void);

/** Do not record for a while (is_paused 1), and record again (0); events are kept. Nothing happens after
 *  mxc_trace_stop, which ends a pause. Thread-safe. */
MXC_API void mxc_trace_pause(int is_paused);

/** The time for mxc_trace_end, 0 while nothing is recorded. Thread-safe. */
MXC_API int64_t mxc_trace_begin(void);
/**
 * Record an event of the program, which began at that time and ends now, on this thread's row.
 * @param begin     from mxc_trace_begin; 0: nothing is recorded
 * @param name      copied, up to 47 bytes
 * @param category  not copied: a literal, for example
 * Thread-safe.
 */
MXC_API void mxc_trace_end(int64_t begin, const char *name, const char *category);

/** An event: its times are in nanoseconds, of a clock without a meaningful start.
 *  @thread caller
 */
typedef void (*mxc_trace_fn)(const char *name, const char *category, int64_t begin, int64_t end, void *user);
/** Call a function with each event that has been recorded, row by row. It must not call libmxc. Thread-safe.
 *  @param[null] user  passed to fn
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_trace_visit(mxc_trace_fn fn, void *user);

/**
 * Write the events as Chrome trace JSON: one row per thread, each event with name, category, start and duration in
 * microseconds. Events of operators also have args: shapes, "(64,784) (128,784) (128,) -> (64,128)", of a backward run
 * those of the gradients; bytes of the arrays that the operator reads and writes; temp_bytes of scratch memory. The
 * file is replaced atomically. Status: MXC_EIO, MXC_ENOMEM. Thread-safe; call it after waiting for the work: events
 * that have not ended, and those that end while it writes, are left out.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_trace_write(const char *path);

#endif
