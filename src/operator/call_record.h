/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is kept of one call on arrays so that its backward can run later: the operator, its signature and state, and the
 * arrays that backward reads (mxc_op_get_needs), no others. Graphs of calls are in src/autograd; a record knows only
 * its own call.
 */
#ifndef MXCI_OPERATOR_CALL_RECORD_H
#define MXCI_OPERATOR_CALL_RECORD_H

#include "operator/invocation.h"

typedef struct mxci_call_record mxci_call_record;

/* Before a forward run is pushed, whose arrays exist. MXC_EINVAL (the run writes to what backward reads), MXC_ENOMEM.
 */
mxc_status mxci_call_record_create(const mxci_invocation *v, mxci_call_record **out);
/* After it was pushed: takes a share of its state, and remembers the versions of the arrays. */
void mxci_call_record_complete(mxci_call_record *record, const mxci_invocation *v);
/* What a tensor is, without data. */
typedef struct mxci_tensor_type {
    mxc_shape shape;
    mxc_dtype dtype;
    mxc_context context;
} mxci_tensor_type;
/* Of an operator that has one input and one output and whose backward reads the output's gradient only. MXC_ENOMEM. */
mxc_status mxci_call_record_create_simple(mxc_op *op, const mxci_tensor_type *in, const mxci_tensor_type *result,
                                          mxci_call_record **out);
void mxci_call_record_destroy(mxci_call_record *record); /* NULL is fine */

mxc_op *mxci_call_record_op(const mxci_call_record *record); /* borrowed */
/* Fails if backward cannot run: MXC_EUNSUPPORTED (no gradient), MXC_ESTATE (what it reads was written since, and
 * changes are not allowed). */
mxc_status mxci_call_record_check(const mxci_call_record *record, int allow_changes);
/* Queue backward (invoke.c). out_grad: n_out, NULL where it is not read; in_grad and req: one per argument. */
mxc_status mxci_call_record_backward(const mxci_call_record *record, mxc_ndarray *const *out_grad,
                                     mxc_ndarray *const *in_grad, const mxc_req *req);

/* What src/autograd does with calls on a thread that records (MXCI_MODE_RECORD). */
typedef struct mxci_call_recorder {
    /* Before a forward run is pushed. *record is NULL if it is not to be recorded. */
    mxc_status (*begin)(mxci_invocation *v, void **record);
    /* Behind the push; frees the record if that failed. */
    void (*end)(mxci_invocation *v, void *record, mxc_status pushed);
} mxci_call_recorder;

void mxci_call_recorder_install(const mxci_call_recorder *recorder);
/* The recorder, if this thread records; else NULL. */
const mxci_call_recorder *mxci_call_recorder_get(void);

/* ---- for call_record.c and invoke.c ------------------------------------------------------------------------------ */

struct mxci_call_record {
    mxc_op *op;
    int is_train;
    mxc_context context;
    int n_in, n_out, n_aux;
    mxci_op_state *state; /* NULL: none */
    mxc_ndarray **kept;   /* slot: a handle of its own of what backward reads, or NULL */
    uint64_t *pushed;     /* slot: writes pushed on its variable (mxci_var_pushed) */
    mxc_shape *shapes;    /* slot */
    mxc_dtype *types;     /* slot */
};

#endif
