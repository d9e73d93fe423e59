/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracing: what ran when, on which thread, as a file for chrome://tracing or https://ui.perfetto.dev.
 *
 * Off by default; an event then costs one load. While on, each thread records its events in a buffer of its own.
 */
#ifndef MXC_TRACE_H
#define MXC_TRACE_H

#include <mxc/status.h>

/** Discard earlier events and record from now on. Status: MXC_ENOMEM. Thread-safe. */
MXC_API MXC_MUST_CHECK mxc_status mxc_trace_start(void);

/** Stop recording; what was recorded stays until the next start. Thread-safe. */
MXC_API void mxc_trace_stop(void);

/**
 * Write the events as Chrome trace JSON: one row per thread, each event with name, category, start and duration in
 * microseconds. Events of operators also have args: shapes, "(64,784) (128,784) (128,) -> (64,128)", of a backward run
 * those of the gradients; bytes of the arrays that the operator reads and writes; temp_bytes of scratch memory. The
 * file is replaced atomically. Status: MXC_EIO, MXC_ENOMEM. Thread-safe; call it after waiting for the work: events
 * that have not ended, and those that end while it writes, are left out.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_trace_write(const char *path);

#endif
