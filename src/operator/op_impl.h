/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The implementation of an operator on a kind of device. The CPU's is in the descriptor; those of another kind of
 * device are in its module (base/module.h). Libraries of operators add further ones (operator/part.h). Where a device
 * has none, the operator falls back to the host: it is computed there on copies of the arrays.
 */
#ifndef MXCI_OPERATOR_OP_IMPL_H
#define MXCI_OPERATOR_OP_IMPL_H

#include <mxc/op.h>

/* The members mean what they do in mxc_op_def. */
typedef struct mxci_op_impl {
    const char *name; /* the descriptor's */
    mxc_op_compute_fn forward, backward;
    size_t (*temp_bytes)(const mxc_op_sig *sig, mxc_pass pass);
    mxc_status (*state_create)(const mxc_op_sig *sig, void **out);
    void (*state_destroy)(void *state);
} mxci_op_impl;

/* The implementation on a kind of device (pinned host memory uses the CPU's), in this order: a part that was registered
 * for it, the descriptor's function for the device, the module's, the host fallback. forward or backward is NULL where
 * there is none. */
void mxci_op_impl_get(const mxc_op_def *def, mxc_device device, mxci_op_impl *out);

/* 1 if the module has the implementation on a kind of device, not the program. */
int mxci_op_impl_is_of_module(const mxc_op_def *def, mxc_device device, mxc_pass pass);

/* 1 if the operator computes a gradient on any device, by its descriptor or a part. */
int mxci_op_has_backward(const mxc_op_def *def);

/* For messages of an operator without an implementation on a device: how one comes, or "". */
const char *mxci_op_impl_hint(const mxc_op_def *def);

/* Bytes of scratch for one run, 0 if the implementation needs none. MXC_ENOMEM, with the operator's name, if they are
 * more than memory can have. */
mxc_status mxci_op_impl_temp(const mxci_op_impl *impl, const mxc_op_sig *sig, mxc_pass pass, size_t *out);

/* 1 if a run has anything to compute: one of the requested results (forward: outputs, backward: gradients of
 * arguments), or in forward an auxiliary state, has elements. Otherwise mxci_compute_nothing replaces the operator's
 * function, whose loops over other axes could be of any length. Functions of MXC_OP_CALLBACK are always called. All
 * shapes are known. */
int mxci_has_work(const mxc_op_sig *sig, mxc_pass pass, const mxc_req *req);
mxc_status mxci_compute_nothing(const mxc_op_call *call);

/* host_fallback.c: run the CPU implementation on copies of arrays that the host cannot address. They block until the
 * results are copied back. */
mxc_status mxci_host_fallback_forward(const mxc_op_call *call);
mxc_status mxci_host_fallback_backward(const mxc_op_call *call);

#endif
