/* SPDX-License-Identifier: Apache-2.0 */
/* Recording: the modes of threads, and the nodes of operators' calls. */
#include "autograd/record.h"

#include "base/error.h"
#include "base/sys.h"
#include "operator/call_record.h"

/* ---- modes ------------------------------------------------------------------------------------------------------- */

static int set_mode(unsigned bit, int is_on) {
    mxci_tape_install();
    unsigned before = mxci_mode_exchange(is_on ? mxci_mode | bit : mxci_mode & ~bit);
    return (before & bit) != 0;
}

int mxc_autograd_set_recording(int is_recording) {
    return set_mode(MXCI_MODE_RECORD, is_recording);
}

int mxc_autograd_set_training(int is_training) {
    return set_mode(MXCI_MODE_TRAIN, is_training);
}

int mxc_autograd_is_recording(void) {
    return (mxci_mode & MXCI_MODE_RECORD) != 0;
}

int mxc_autograd_is_training(void) {
    return (mxci_mode & MXCI_MODE_TRAIN) != 0;
}

int mxc_autograd_record(int is_train) {
    mxci_tape_install();
    return (int)mxci_mode_exchange(MXCI_MODE_RECORD | (is_train ? MXCI_MODE_TRAIN : 0));
}

int mxc_autograd_pause(int is_train) {
    return (int)mxci_mode_exchange(is_train ? MXCI_MODE_TRAIN : 0);
}

void mxc_autograd_leave(int scope) {
    mxci_mode = (unsigned)scope & (MXCI_MODE_RECORD | MXCI_MODE_TRAIN);
}

/* ---- operators --------------------------------------------------------------------------------------------------- */

static int call_reads_out_grad(const mxci_tape_node *node, int index) {
    mxc_op_needs needs;
    mxc_op *op = mxci_call_record_op(node->data);
    if (!mxci_op_has_backward(mxc_op_get_def(op)))
        return 1;
    mxc_op_get_needs(op, &needs);
    return mxc_need_has(needs.out_grad, index);
}

static int call_stops_gradient(const mxci_tape_node *node) {
    return (mxc_op_get_def(mxci_call_record_op(node->data))->flags & MXC_OP_ZERO_GRADIENT) != 0;
}

static mxc_status call_check(const mxci_tape_node *node, int allow_changes) {
    return mxci_call_record_check(node->data, allow_changes);
}

static mxc_status call_backward(mxci_tape_node *node, mxc_ndarray *const *out_grad, mxc_ndarray *const *in_grad,
                                const mxc_req *req) {
    return mxci_call_record_backward(node->data, out_grad, in_grad, req);
}

static mxc_status call_symbol(const mxci_tape_node *node, const char *name, mxc_symbol *const *in, mxc_symbol **out) {
    mxc_op *op = mxci_call_record_op(node->data);
    int n = mxc_op_n_given(op);
    const char **texts = mxci_calloc(2 * (size_t)n + 1, sizeof *texts);
    *out = NULL;
    if (!texts)
        return MXCI_NO_MEMORY("mxc_autograd_symbol", "parameters");
    for (int i = 0; i < n; i++)
        mxc_op_given(op, i, &texts[i], &texts[n + i]);
    mxc_status status = mxc_symbol_op(mxc_op_name(op), name, n, texts, texts + n, node->n_in, NULL, in, out);
    mxci_free(texts);
    return status;
}

static void call_destroy(void *data) {
    mxci_call_record_destroy(data);
}

static const mxci_tape_kind call_kind = {
    .reads_out_grad = call_reads_out_grad,
    .stops_gradient = call_stops_gradient,
    .check = call_check,
    .backward = call_backward,
    .symbol = call_symbol,
    .destroy = call_destroy,
};

/* What may not be written to, and what cannot be recorded if the call is to be. */
static mxc_status check_outputs(const mxci_invocation *v, int is_recorded) {
    char where[96];
    for (int i = 0; i < v->n_out; i++) {
        const int slot = mxci_slot_out(v) + i;
        if (!v->arrays[slot])
            continue;
        if (mxci_tape_is_in_graph(v->arrays[slot]))
            return MXC_FAIL(MXC_ESTATE,
                            "%s: %s is to be written while recording, but belongs to a recorded graph already; write "
                            "to a new array, or in mxc_autograd_pause",
                            mxc_op_get_def(v->op)->name, mxci_slot_text(v, slot, where, sizeof where));
        if (is_recorded && v->req[i] == MXC_REQ_ADD)
            return MXC_FAIL(MXC_EUNSUPPORTED, "%s: %s: a call with request add cannot be recorded",
                            mxc_op_get_def(v->op)->name, mxci_slot_text(v, slot, where, sizeof where));
    }
    return MXC_OK;
}

/* Hidden outputs are described too, since backward may read their gradients, which are zero. */
static mxc_status make_call_node(const mxci_invocation *v, mxci_tape_node *node) {
    mxci_call_record *record;
    MXC_TRY(mxci_call_record_create(v, &record));
    node->data = record;
    node->name = mxc_op_get_def(v->op)->name;
    for (int i = 0; i < v->n_in + v->n_aux; i++)
        MXC_TRY(mxci_tape_set_input(node, i, v->arrays[i < v->n_in ? i : mxci_slot_aux(v) + i - v->n_in]));
    for (int i = 0; i < v->n_out; i++) { /* now, because the task writes the tensors */
        const mxc_tensor *t = &v->tensors[mxci_slot_out(v) + i];
        node->out[i] = (mxci_tensor_type){t->shape, t->dtype, v->sig.context};
    }
    return MXC_OK;
}

static mxc_status begin_call(mxci_invocation *v, void **record) {
    mxci_tape_node *node;
    mxc_status status;
    int needs_grad = 0;
    *record = NULL;
    for (int i = 0; i < v->n_in && !needs_grad; i++)
        needs_grad = mxci_tape_needs_grad(v->arrays[i]);
    MXC_TRY(check_outputs(v, needs_grad));
    if (!needs_grad)
        return MXC_OK;
    MXC_TRY(mxci_tape_node_create(&call_kind, v->n_in + v->n_aux, v->n_in, v->n_out, &node));
    status = make_call_node(v, node);
    if (status == MXC_OK)
        *record = node;
    else
        mxci_tape_node_release(node);
    return status;
}

static void end_call(mxci_invocation *v, void *record, mxc_status pushed) {
    mxci_tape_node *node = record;
    if (pushed == MXC_OK)
        mxci_call_record_complete(node->data, v);
    for (int i = 0; i < v->n_out && pushed == MXC_OK; i++)
        if (v->arrays[mxci_slot_out(v) + i])
            mxci_tape_set_output(node, i, v->arrays[mxci_slot_out(v) + i]);
    mxci_tape_node_release(node);
}

mxc_status mxci_tape_simple_call(const char *name, int n, const char *const *keys, const char *const *values,
                                 const mxci_tensor_type *in, const mxci_tensor_type *result, mxci_tape_node **out) {
    mxc_op *op;
    mxci_call_record *record = NULL;
    mxc_status status;
    *out = NULL;
    MXC_TRY(mxc_op_create(name, n, keys, values, &op));
    status = mxci_call_record_create_simple(op, in, result, &record);
    mxc_op_release(op);
    MXC_TRY(status);
    status = mxci_tape_node_create(&call_kind, 1, 1, 1, out);
    if (status != MXC_OK) {
        mxci_call_record_destroy(record);
        return status;
    }
    (*out)->data = record;
    (*out)->name = mxc_op_get_def(mxci_call_record_op(record))->name;
    (*out)->out[0] = *result;
    return MXC_OK;
}

/* ---- installation ------------------------------------------------------------------------------------------------ */

void mxci_tape_install(void) {
    static const mxci_call_recorder calls = {begin_call, end_call};
    static const mxci_array_recorder arrays = {mxci_tape_slice, mxci_tape_reshape, mxci_tape_copy};
    mxci_call_recorder_install(&calls);
    mxci_array_recorder_install(&arrays);
}
