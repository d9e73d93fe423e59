/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One imperative run of an operator on arrays, from checking to the engine task. Everything that the task needs is in
 * one block of memory, which the calling thread and the task share by reference counting. invoke.c fills it, alias.c
 * checks its memory, invocation.c pushes and runs it.
 */
#ifndef MXCI_OPERATOR_INVOCATION_H
#define MXCI_OPERATOR_INVOCATION_H

#include <stdatomic.h>

#include <mxc/op.h>

#include "operator/callback.h"
#include "operator/op_impl.h"

/* What state_create made for one use of an operator, shared by its forward and backward runs. */
typedef struct mxci_op_state {
    atomic_int refs;
    void *value;
    void (*destroy)(void *value);
} mxci_op_state;

mxci_op_state *mxci_op_state_retain(mxci_op_state *state); /* NULL is fine */
void mxci_op_state_release(mxci_op_state *state);          /* NULL is fine */

/* Slots in order: n_in arguments, n_out outputs, n_aux states; in backward also n_out out_grads and n_in in_grads. */
typedef struct mxci_invocation {
    atomic_int refs;
    int task_ended; /* the engine has dropped its reference */
    /* sig and tensors are what inference found for inputs with these shapes and dtypes on this context: kept with the
     * block for the operator's next call. */
    int is_inferred;
    mxc_op *op;
    mxc_pass pass;
    int n_in, n_out, n_aux, n_slots;
    mxc_ndarray **arrays; /* by slot, retained; NULL where the run does not touch the data */
    mxc_tensor *tensors;  /* by slot; shapes and dtypes always, data while the task runs */
    mxc_req *req;         /* forward: by output; backward: by argument */
    mxc_var **vars;       /* room for n_slots: reads from the front, writes from the back */
    mxc_op_sig sig;
    mxc_op_call call;
    mxci_op_impl impl;         /* on the context's device */
    mxc_op_compute_fn compute; /* of it, for this pass */
    size_t temp_bytes;
    mxci_callback callback; /* MXC_OP_CALLBACK */
    mxci_op_state *state;   /* of a backward run: that of the forward run, if it was recorded */
} mxci_invocation;

/* A run with one reference. The groups of sig have their sizes; shapes and dtypes are unknown, or those of an earlier
 * call (is_inferred). MXC_ENOMEM. */
mxc_status mxci_invocation_create(mxc_op *op, mxc_pass pass, mxci_invocation **out);
/* Drop a reference; NULL is fine. */
void mxci_invocation_release(mxci_invocation *v);
/* 1 if the caller has the only reference: the task has ended, or was not queued. */
static inline int mxci_invocation_is_mine(mxci_invocation *v) {
    return atomic_load_explicit(&v->refs, memory_order_acquire) == 1;
}

/* First slot of each group. */
static inline int mxci_slot_out(const mxci_invocation *v) {
    return v->n_in;
}
static inline int mxci_slot_aux(const mxci_invocation *v) {
    return v->n_in + v->n_out;
}
static inline int mxci_slot_out_grad(const mxci_invocation *v) {
    return v->n_in + v->n_out + v->n_aux;
}
static inline int mxci_slot_in_grad(const mxci_invocation *v) {
    return mxci_slot_out_grad(v) + v->n_out;
}

/* 1 if the run writes the slot's array. */
int mxci_slot_changes(const mxci_invocation *v, int slot);
/* The request of a slot that the run writes; MXC_REQ_ADD for auxiliary states, which are read too. */
mxc_req mxci_slot_req(const mxci_invocation *v, int slot);
/* "output 'mean'", "gradient of argument 'data'" and the like, written to out; returns out. */
const char *mxci_slot_text(const mxci_invocation *v, int slot, char *out, size_t size);

/* Fails if an array shares memory with one that the run writes, except as the in-place options allow; those requests
 * become MXC_REQ_INPLACE. MXC_EINVAL, MXC_ENOMEM. */
mxc_status mxci_invocation_check_memory(mxci_invocation *v);

/* Queue the task. Shapes are known, arrays and requests are set. */
mxc_status mxci_invocation_push(mxci_invocation *v);

#endif
