/* SPDX-License-Identifier: Apache-2.0 */
/* Recording of trace events. */
#ifndef MXCI_BASE_TRACE_H
#define MXCI_BASE_TRACE_H

#include <stdatomic.h>
#include <stdint.h>

#include <mxc/trace.h>

extern atomic_int mxci_trace_on;

/* Start time for mxci_trace_end, 0 when tracing is off. */
int64_t mxci_trace_begin_slow(void);
static inline int64_t mxci_trace_begin(void) {
    return atomic_load_explicit(&mxci_trace_on, memory_order_relaxed) ? mxci_trace_begin_slow() : 0;
}
/* Record one event of the calling thread; nothing if begin is 0. name is copied (truncated to 47 bytes); category is a
 * literal. Takes a lock that is nearly always free. */
void mxci_trace_end(int64_t begin, const char *name, const char *category);
/* The same with arguments of the event: text (truncated to 127 bytes; NULL: none) and bytes of memory. */
void mxci_trace_end_with(int64_t begin, const char *name, const char *category, const char *text, int64_t bytes,
                         int64_t temp_bytes);
/* Name the row of the calling thread (truncated to 31 bytes). mxci_thread_start does it for its threads. */
void mxci_trace_thread_name(const char *name);
/* Stop, and free all events. */
void mxci_trace_clear(void);

#endif
