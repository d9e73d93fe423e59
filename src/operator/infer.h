/* SPDX-License-Identifier: Apache-2.0 */
/* Shape and type inference: what operators' infer_shape and infer_type functions share. */
#ifndef MXCI_OPERATOR_INFER_H
#define MXCI_OPERATOR_INFER_H

#include <mxc/op.h>

/* Copy known axes of b to unknown ones of a; returns 0 if they conflict (a is then undefined). */
int mxci_shape_merge(mxc_shape *a, const mxc_shape *b);
/* A shape of ndim axes, all unknown; the caller sets those that it knows. */
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

/* All inputs and outputs (not aux) have one shape: each slot learns what any other knows. */
mxc_status mxci_infer_shape_same(mxc_op_sig *sig);
/* All inputs, outputs and aux have one type. */
mxc_status mxci_infer_type_same(mxc_op_sig *sig);
/* The n slots have one shape, or one type. */
mxc_status mxci_sig_same_shape(mxc_op_sig *sig, int n, const int *slots);
mxc_status mxci_sig_same_type(mxc_op_sig *sig, int n, const int *slots);

/* Axis counted from the end if negative, as 0..ndim-1. MXC_ESHAPE names the operator, the axis and the range. */
mxc_status mxci_sig_axis(const mxc_op_sig *sig, int64_t axis, int ndim, int *out);
/* Checks that an input's shape, as far as it is known, broadcasts to full: aligned at the last axis, each axis is
 * full's or 1. MXC_ESHAPE. */
mxc_status mxci_sig_broadcasts_to(const mxc_op_sig *sig, int slot, const mxc_shape *full);

#endif
