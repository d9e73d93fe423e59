/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The representation of arrays: a chunk (memory and its engine variable, shared by all views) and a view of it. It is
 * private to this directory; other modules use <mxc/ndarray.h> and the functions at the end.
 */
#ifndef MXCI_NDARRAY_ARRAY_H
#define MXCI_NDARRAY_ARRAY_H

#include <stdatomic.h>

#include <mxc/ndarray.h>

#include "base/size.h"
#include "ndarray/graph_link.h"

/* Memory of one context and the variable that orders its use. Reference counted by its views. */
typedef struct mxci_chunk {
    atomic_int refs;
    mxc_var *var;
    _Atomic(mxc_var *) reading; /* created by the first mxc_ndarray_get; orders the copies to the host */
    mxc_context context;
    size_t bytes;
    _Atomic(void *) data;       /* NULL until first use; set once */
    int borrowed;               /* the memory belongs to the program and is returned by release(arg) */
    void (*release)(void *arg); /* may be NULL */
    void *arg;
} mxci_chunk;

/* One queued change of an array (array_task.h). */
typedef struct mxci_array_task mxci_array_task;
struct mxci_array_task {
    atomic_int refs;        /* the pusher's and the task's */
    int in_slot;            /* lies in the target's own slot */
    int task_ended;         /* destroy was called; read by the pusher only, after a push that failed */
    mxc_ndarray *to, *from; /* a reference each; from may be NULL */
    /* Write elements [begin, end) in the target's dtype to out, which is the address of element begin. source: all
     * elements of from, on the host; NULL without from. */
    void (*produce)(const mxci_array_task *task, const void *source, int64_t begin, int64_t end, void *out);
    int64_t grain; /* least number of elements per part of a parallel loop */
    double a, b;   /* fill: the value; uniform: low and high; normal: mean and deviation */
    mxc_random random;
};

struct mxc_ndarray {
    atomic_int refs;
    mxci_chunk *chunk;
    size_t offset; /* bytes into the chunk */
    int64_t size;  /* elements */
    mxc_dtype dtype;
    mxc_shape shape;
    mxci_link_node *_Atomic link; /* its node in a recorded graph, retained; NULL: none (graph_link.h) */
    int link_index;               /* which output of the node it is */
    atomic_int slot_taken;        /* so that one queued change per view needs no allocation */
    mxci_array_task slot;
};

static inline size_t mxci_array_bytes(const mxc_ndarray *array) {
    return mxci_size_of(array->size, mxc_dtype_size(array->dtype));
}
/* 1 if the host can read and write the context's memory. */
static inline int mxci_on_host(mxc_context context) {
    return context.device != MXC_GPU;
}

/* ---- for other modules ------------------------------------------------------------------------------------------- */

/* Address of the first element, after allocating the memory if there is none yet; NULL for an array without elements.
 * Thread-safe. MXC_ENOMEM. */
mxc_status mxci_array_data(mxc_ndarray *array, void **out);

/* A view of elements from byte offset on, with a reference to the chunk; the caller releases it. It belongs to no
 * recorded graph. */
mxc_status mxci_array_view(mxc_ndarray *array, const mxc_shape *shape, size_t offset, mxc_ndarray **out);
/* As mxc_ndarray_create, from a shape. caller begins the messages. */
mxc_status mxci_ndarray_new(const char *caller, const mxc_shape *shape, mxc_dtype dtype, mxc_context context,
                            mxc_ndarray **out);
/* As mxc_ndarray_wrap, for memory of any context. */
mxc_status mxci_ndarray_wrap(const char *caller, const mxc_shape *shape, mxc_dtype dtype, mxc_context context,
                             void *data, void (*release)(void *arg), void *arg, mxc_ndarray **out);

#endif
