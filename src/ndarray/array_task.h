/*
 * Queued changes of arrays. A job says how elements are produced on the host; running it on host arrays splits them
 * over threads, and on device arrays goes through host scratch memory.
 */
#ifndef MXCI_NDARRAY_ARRAY_TASK_H
#define MXCI_NDARRAY_ARRAY_TASK_H

#include "ndarray/array.h"

/* Work that takes a few microseconds at most, in bytes moved or elements computed. */
#define MXCI_CHEAP_BYTES 16384

/* A job on target to, from from (may be NULL), with a reference to both. Status: MXC_ENOMEM. */
mxc_status mxci_array_task_create(mxc_ndarray *to, mxc_ndarray *from, mxci_array_task **out);
/* Queue it; fn is mxci_array_task_run or runs another way. Frees the job when it is done, or here on failure. */
mxc_status mxci_array_task_push(mxci_array_task *job, const char *name, mxc_task_fn fn, mxc_property property,
                                mxc_context context, int priority, int cheap);
/* The function of a job that produces elements: arg is the job. */
mxc_status mxci_array_task_run(const mxc_run *run, void *arg);

#endif
