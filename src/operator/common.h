/*
 * What most operators share: shape and type inference, axes, requests, splitting work. Tensors come from mxc_op_call.
 * Not for kernels, which see plain types only (kernels/).
 */
#ifndef MXCI_OPERATOR_COMMON_H
#define MXCI_OPERATOR_COMMON_H

#include <mxc/op.h>

#include "base/size.h"

/* Elements of light element-wise work that are worth giving to another thread (about 5 us). */
#define MXCI_GRAIN 16384
/* Bytes of a result that are likely to have left the caches before they are read. */
#define MXCI_STREAM_BYTES (32 << 20)

/* ---- inference ------------------------------------------------------------------------------------------------- */

/* Merge b into a where a is unknown; 0 if they conflict (a is then undefined). */
int mxci_shape_merge(mxc_shape *a, const mxc_shape *b);
/* A shape of ndim axes, all unknown; fill in what is known. */
mxc_shape mxci_shape_axes(int ndim);
/* A shape with these axes known: mxci_shape_of(2, (int64_t[]){n, k}). */
mxc_shape mxci_shape_of(int ndim, const int64_t *dims);

/* The size of an axis that two shapes share: -1 where neither knows it. */
static inline int64_t mxci_known(int64_t a, int64_t b) {
    return a >= 0 ? a : b;
}

/* The slot's current shape or type (slots as for mxc_sig_set_shape). */
mxc_shape *mxci_sig_shape(mxc_op_sig *sig, int slot);
mxc_dtype *mxci_sig_type(mxc_op_sig *sig, int slot);

/* All inputs and outputs (not aux) have one shape, both ways. */
mxc_status mxci_infer_shape_same(mxc_op_sig *sig);
/* All inputs, outputs and aux have one type, both ways. */
mxc_status mxci_infer_type_same(mxc_op_sig *sig);
/* The slots (n of them) have one shape or one type, both ways. */
mxc_status mxci_sig_same_shape(mxc_op_sig *sig, int n, const int *slots);
mxc_status mxci_sig_same_type(mxc_op_sig *sig, int n, const int *slots);

/* Axis counted from the end if negative, as 0..ndim-1. MXC_ESHAPE names the operator, the axis and the range. */
mxc_status mxci_sig_axis(const mxc_op_sig *sig, int64_t axis, int ndim, int *out);
/* Input slot's shape, as far as it is known, stretches to full: from the last axis on, its axes are full's or 1. */
mxc_status mxci_sig_stretches(const mxc_op_sig *sig, int slot, const mxc_shape *full);

static inline int64_t mxci_tensor_size(const mxc_tensor *t) {
    return mxc_shape_size(&t->shape);
}
static inline size_t mxci_tensor_bytes(const mxc_tensor *t) {
    return mxci_shape_bytes(&t->shape, mxc_dtype_size(t->dtype));
}

/* ---- requests: what a result does to memory that is there ------------------------------------------------------ */

/* to = from or to += from as req says; same element count and dtype. Does nothing where req is MXC_REQ_NULL or both are
 * one memory and req is not MXC_REQ_ADD. */
void mxci_put(const mxc_run *run, mxc_req req, const mxc_tensor *to, const mxc_tensor *from);
/* The same for n elements from one place to another, on this thread: a row, a tile. */
void mxci_put_row(mxc_req req, mxc_dtype dtype, void *to, const void *from, int64_t n);
/* How a result of so many bytes is best put to memory, for mxci_put_tile: many bytes are streamed, unless they take an
 * input's memory, which is in the caches by then. Who may stream ends its part of a loop with mxci_stream_end. */
int mxci_how(mxc_req req, size_t bytes, int in_place);
/* to = value or to += value. */
void mxci_put_constant(const mxc_run *run, mxc_req req, const mxc_tensor *to, double value);
/* to = from or to += from with conversion of the dtype. */
void mxci_put_cast(const mxc_run *run, mxc_req req, const mxc_tensor *to, const mxc_tensor *from);

/* Element i of an array of a float dtype; to = value or to += value. For few elements: statistics, parameters. */
double mxci_value_at(const mxc_tensor *t, int64_t i);
void mxci_put_value(mxc_req req, const mxc_tensor *to, int64_t i, double value);

/* 1 if a result is asked for and has elements. What has several results may otherwise go through all the axes of one
 * that is empty. */
static inline int mxci_is_wanted(mxc_req req, const mxc_tensor *to) {
    return req != MXC_REQ_NULL && mxci_tensor_size(to) > 0;
}

static inline void *mxci_at(const mxc_tensor *t, int64_t element) {
    return t->data ? (char *)t->data + (size_t)element * mxc_dtype_size(t->dtype) : NULL;
}

#endif
