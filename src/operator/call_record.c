/* SPDX-License-Identifier: Apache-2.0 */
/* Records of calls on arrays: see call_record.h. */
#include "operator/call_record.h"

#include "base/error.h"
#include "base/sys.h"
#include "engine/core/frame.h"
#include "engine/core/var.h"
#include "ndarray/array.h"

static const mxci_call_recorder *_Atomic installed;

void mxci_call_recorder_install(const mxci_call_recorder *recorder) {
    atomic_store_explicit(&installed, recorder, memory_order_release);
}

const mxci_call_recorder *mxci_call_recorder_get(void) {
    return mxci_mode & MXCI_MODE_RECORD ? atomic_load_explicit(&installed, memory_order_acquire) : NULL;
}

/* ---- creation ---------------------------------------------------------------------------------------------------- */

static mxc_status call_record_allocate(mxc_op *op, mxc_context context, mxci_call_record **out) {
    mxci_call_record *r = mxci_calloc(1, sizeof *r);
    *out = NULL;
    if (!r)
        return MXCI_NO_MEMORY("record", "a call");
    r->op = mxc_op_retain(op);
    r->context = context;
    r->n_in = mxc_op_n_args(op);
    r->n_out = mxc_op_n_outputs(op);
    r->n_aux = mxc_op_n_aux(op);
    size_t slots = (size_t)r->n_in + (size_t)r->n_out + (size_t)r->n_aux + 1;
    r->kept = mxci_calloc(slots, sizeof *r->kept);
    r->pushed = mxci_calloc(slots, sizeof *r->pushed);
    r->shapes = mxci_calloc(slots, sizeof *r->shapes);
    r->types = mxci_calloc(slots, sizeof *r->types);
    if (r->kept && r->pushed && r->shapes && r->types) {
        *out = r;
        return MXC_OK;
    }
    mxci_call_record_destroy(r);
    return MXCI_NO_MEMORY("record", "the arrays of a call");
}

void mxci_call_record_destroy(mxci_call_record *r) {
    if (!r)
        return;
    for (int i = 0; i < r->n_in + r->n_out + r->n_aux && r->kept; i++)
        mxc_ndarray_release(r->kept[i]);
    mxci_op_state_release(r->state);
    mxci_free(r->kept);
    mxci_free(r->pushed);
    mxci_free(r->shapes);
    mxci_free(r->types);
    mxc_op_release(r->op);
    mxci_free(r);
}

/* A handle that belongs to no graph, so that the record keeps the memory and not the graph. */
static mxc_status keep(mxci_call_record *r, int slot, mxc_ndarray *array) {
    return array ? mxci_array_view(array, mxc_ndarray_shape(array), 0, &r->kept[slot]) : MXC_OK;
}

/* Arguments and outputs that backward reads, and all auxiliary states. An operator with a state keeps its outputs too,
 * so that its backward runs after its forward, whatever it reads. */
static mxc_status keep_arrays(mxci_call_record *r, const mxci_invocation *v) {
    mxc_op_needs needs;
    if (!mxci_op_has_backward(mxc_op_get_def(r->op)))
        return MXC_OK;
    mxc_op_get_needs(r->op, &needs);
    for (int i = 0; i < r->n_in; i++)
        if (mxc_need_has(needs.in, i))
            MXC_TRY(keep(r, i, v->arrays[i]));
    for (int i = 0; i < r->n_out; i++)
        if (mxc_need_has(needs.out, i) || v->impl.state_create)
            MXC_TRY(keep(r, mxci_slot_out(v) + i, v->arrays[mxci_slot_out(v) + i]));
    for (int i = mxci_slot_aux(v); i < mxci_slot_out_grad(v); i++)
        MXC_TRY(keep(r, i, v->arrays[i]));
    return MXC_OK;
}

/* An output may lie in the memory of an argument only if backward does not read that. */
static mxc_status check_outputs(const mxci_call_record *r, const mxci_invocation *v) {
    char in_text[96], out_text[96];
    for (int out = mxci_slot_out(v); out < mxci_slot_aux(v); out++)
        for (int in = 0; in < r->n_in && v->arrays[out]; in++)
            if (r->kept[in] && mxc_ndarray_var(r->kept[in]) == mxc_ndarray_var(v->arrays[out]))
                return MXC_FAIL(MXC_EINVAL, "%s: %s shares memory with %s, which backward reads, and is recorded",
                                mxc_op_get_def(r->op)->name, mxci_slot_text(v, out, out_text, sizeof out_text),
                                mxci_slot_text(v, in, in_text, sizeof in_text));
    return MXC_OK;
}

mxc_status mxci_call_record_create(const mxci_invocation *v, mxci_call_record **out) {
    mxci_call_record *r;
    mxc_status status;
    MXC_TRY(call_record_allocate(v->op, v->sig.context, &r));
    r->is_train = v->sig.is_train;
    for (int i = 0; i < r->n_in + r->n_out + r->n_aux; i++) {
        r->shapes[i] = v->tensors[i].shape;
        r->types[i] = v->tensors[i].dtype;
    }
    status = keep_arrays(r, v);
    if (status == MXC_OK)
        status = check_outputs(r, v);
    if (status == MXC_OK)
        *out = r;
    else
        mxci_call_record_destroy(r);
    return status;
}

void mxci_call_record_complete(mxci_call_record *r, const mxci_invocation *v) {
    r->state = mxci_op_state_retain(v->state);
    for (int i = 0; i < r->n_in + r->n_out; i++)
        if (r->kept[i])
            r->pushed[i] = mxci_var_pushed(mxc_ndarray_var(r->kept[i]));
}

mxc_status mxci_call_record_create_simple(mxc_op *op, const mxci_tensor_type *in, const mxci_tensor_type *result,
                                          mxci_call_record **out) {
    MXC_TRY(call_record_allocate(op, in->context, out));
    (*out)->is_train = 1;
    (*out)->shapes[0] = in->shape;
    (*out)->types[0] = in->dtype;
    (*out)->shapes[1] = result->shape;
    (*out)->types[1] = result->dtype;
    return MXC_OK;
}

/* ---- use --------------------------------------------------------------------------------------------------------- */

mxc_op *mxci_call_record_op(const mxci_call_record *r) {
    return r->op;
}

mxc_status mxci_call_record_check(const mxci_call_record *r, int allow_changes) {
    const mxc_op_def *def = mxc_op_get_def(r->op);
    char name[96];
    if (!mxci_op_has_backward(def))
        return MXC_FAIL(MXC_EUNSUPPORTED, "gradient: operator %s has no gradient", def->name);
    for (int i = 0; i < r->n_in + r->n_out && !allow_changes; i++)
        if (r->kept[i] && mxci_var_pushed(mxc_ndarray_var(r->kept[i])) != r->pushed[i])
            return MXC_FAIL(MXC_ESTATE,
                            "gradient: %s: %s '%s' was written after the call was recorded, but backward reads it; "
                            "write to it after backward, or to a copy",
                            def->name, i < r->n_in ? "argument" : "output",
                            i < r->n_in ? mxc_op_arg_name(r->op, i, name, sizeof name)
                                        : mxc_op_output_name(r->op, i - r->n_in, name, sizeof name));
    return MXC_OK;
}
