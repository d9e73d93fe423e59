/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Storing results as write requests (mxc_req) say: assigned, added or not at all; and small helpers on tensors. Work is
 * split over the threads that a run offers. Not for kernels, which see plain types only.
 */
#ifndef MXCI_MATH_ASSIGN_H
#define MXCI_MATH_ASSIGN_H

#include <mxc/engine.h>
#include <mxc/types.h>

#include "base/size.h"

/* Elements of light element-wise work that are worth giving to another thread (about 5 us). */
#define MXCI_GRAIN 16384
/* Results of at least so many bytes are stored past the caches (non-temporal stores): they would be evicted before
 * anyone reads them, and the stores need not read the lines first. */
#define MXCI_STREAM_BYTES (32 << 20)

static inline int64_t mxci_tensor_size(const mxc_tensor *t) {
    return mxc_shape_size(&t->shape);
}
static inline size_t mxci_tensor_bytes(const mxc_tensor *t) {
    return mxci_shape_bytes(&t->shape, mxc_dtype_size(t->dtype));
}

/* ---- requests: what a result does to memory that is there ------------------------------------------------------ */

/* to = from or to += from as req says; same element count and dtype. Does nothing where req is MXC_REQ_NULL or both are
 * one memory and req is not MXC_REQ_ADD. */
void mxci_assign(const mxc_run *run, mxc_req req, const mxc_tensor *to, const mxc_tensor *from);
/* The same for n elements from one place to another, on this thread: a row, a tile. */
void mxci_assign_row(mxc_req req, mxc_dtype dtype, void *to, const void *from, int64_t n);
/* The same with conversion. A sum is made in the compute type of to_dtype and rounded once; of floats added to integers
 * it is saturated. */
void mxci_assign_cast_row(mxc_req req, mxc_dtype from_dtype, const void *from, mxc_dtype to_dtype, void *to, int64_t n);
/* The store mode of a result of so many bytes (MXCI_STORE_...), for mxci_assign_tile: many bytes are streamed, unless
 * they take an input's memory, which is in the caches by then. A part of a loop that may stream ends with
 * mxci_stream_end. */
int mxci_store_mode(mxc_req req, size_t bytes, int in_place);
/* to = value or to += value. */
void mxci_assign_constant(const mxc_run *run, mxc_req req, const mxc_tensor *to, double value);
/* to = from or to += from with conversion of the dtype. */
void mxci_assign_cast(const mxc_run *run, mxc_req req, const mxc_tensor *to, const mxc_tensor *from);

/* Element i of an array of a float dtype; to = value or to += value. For few elements: statistics, parameters. */
double mxci_value_at(const mxc_tensor *t, int64_t i);
void mxci_assign_value(mxc_req req, const mxc_tensor *to, int64_t i, double value);

/* 1 if a result is requested and has elements. An operator with several results may otherwise loop over all axes of an
 * empty one. */
static inline int mxci_is_wanted(mxc_req req, const mxc_tensor *to) {
    return req != MXC_REQ_NULL && mxci_tensor_size(to) > 0;
}

static inline void *mxci_at(const mxc_tensor *t, int64_t element) {
    return t->data ? (char *)t->data + (size_t)element * mxc_dtype_size(t->dtype) : NULL;
}

#endif
