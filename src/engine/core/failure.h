/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failure records: code, message and place of a function's error. One record is the error state of all variables that
 * the function would have changed, and of those of the tasks that were skipped because of it. Records are
 * reference-counted, and making one cannot fail: without memory the code alone is kept.
 */
#ifndef MXCI_ENGINE_CORE_FAILURE_H
#define MXCI_ENGINE_CORE_FAILURE_H

#include <stdatomic.h>

#include <mxc/status.h>

#include "base/sys.h"

typedef struct mxci_failure mxci_failure;

/* From the calling thread's last error message and its place. code is not MXC_OK. */
mxci_failure *mxci_failure_from_last_error(mxc_status code);
/* From a text; NULL: the code's own. */
mxci_failure *mxci_failure_from_text(mxc_status code, const char *text);
mxci_failure *mxci_failure_retain(mxci_failure *failure); /* NULL is fine; returns failure */
void mxci_failure_release(mxci_failure *failure);         /* NULL is fine */
/* Of two, the one that was made first; each may be NULL. */
mxci_failure *mxci_failure_earlier(mxci_failure *a, mxci_failure *b);
/* Make it the calling thread's last error and return its code; NULL: MXC_OK. */
mxc_status mxci_failure_raise(const mxci_failure *failure);

/* Errors of one engine: read by every task, written only when something fails, hence on a cache line of their own. */
typedef struct mxci_engine_errors {
    _Alignas(MXCI_CACHE_LINE) _Atomic int64_t failed_vars; /* variables in the error state; 0: no task need look */
    _Atomic(mxci_failure *) first;                         /* since the last mxc_wait_all; holds a reference */
} mxci_engine_errors;

/* Keep the failure for mxc_wait_all if it is the first since the last one; NULL is fine. Takes no lock. */
void mxci_errors_note(mxci_engine_errors *errors, mxci_failure *failure);

#endif
