/* SPDX-License-Identifier: Apache-2.0 */
/* Calling operators on arrays: checks the arguments, infers shapes and dtypes, makes outputs, pushes the run. */
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "engine/core/frame.h"
#include "ndarray/array.h"
#include "operator/call_record.h"
#include "operator/infer.h"
#include "operator/invocation.h"

static const char *invoke_op_name(const mxci_invocation *v) {
    return mxc_op_get_def(v->op)->name;
}

/* Retain an array that the run reads or writes, in its slot. */
static void hold(mxci_invocation *v, int slot, mxc_ndarray *array) {
    v->arrays[slot] = mxc_ndarray_retain(array);
}

static void invoke_describe(mxc_ndarray *array, mxc_shape *shape, mxc_dtype *type) {
    *shape = *mxc_ndarray_shape(array);
    *type = mxc_ndarray_dtype(array);
}

/* ---- context and function ---------------------------------------------------------------------------------------- */

/* Where an operator without arrays runs: its parameter "ctx" if it has one and it is given, else cpu(0). */
static mxc_status source_context(const mxc_op *op, mxc_context *out) {
    const mxc_param *p = mxc_op_get_def(op)->params;
    *out = mxc_cpu(0);
    for (; p && p->name; p++)
        if (p->type == MXC_PARAM_STRING && !strcmp(p->name, "ctx")) {
            const char *text = (const char *)mxc_op_params(op) + p->offset;
            return *text ? mxc_context_parse(text, out) : MXC_OK;
        }
    return MXC_OK;
}

/* The implementation on the context's device; MXC_EUNSUPPORTED for an operator without a gradient, MXC_EDEVICE for a
 * device without any implementation. */
static mxc_status choose_function(mxci_invocation *v) {
    const mxc_op_def *def = mxc_op_get_def(v->op);
    char text[32];
    mxci_op_impl_get(def, v->sig.context.device, &v->impl);
    v->compute = v->pass == MXC_FORWARD ? v->impl.forward : v->impl.backward;
    if (v->compute)
        return MXC_OK;
    if (v->pass == MXC_BACKWARD && !mxci_op_has_backward(def))
        return MXC_FAIL(MXC_EUNSUPPORTED, "%s: has no gradient", def->name);
    return MXC_FAIL(MXC_EDEVICE, "%s: is not implemented on %s%s", def->name,
                    mxc_context_format(v->sig.context, text, sizeof text), mxci_op_impl_hint(def));
}

/* All arrays of a call are on one context. An operator without arrays runs on the one of its parameter ctx. */
static mxc_status check_context(mxci_invocation *v) {
    char where[96], want[32], have[32];
    const mxc_context *context = NULL;
    mxc_context found;
    for (int i = 0; i < v->n_slots; i++) {
        if (!v->arrays[i])
            continue;
        found = mxc_ndarray_context(v->arrays[i]);
        if (!context) {
            v->is_inferred = v->is_inferred && mxc_context_equal(found, v->sig.context);
            v->sig.context = found;
            context = &v->sig.context;
        }
        if (!mxc_context_equal(found, *context))
            return MXC_FAIL(MXC_EDEVICE, "%s: %s: expected an array on %s, found %s", invoke_op_name(v),
                            mxci_slot_text(v, i, where, sizeof where), mxc_context_format(*context, want, sizeof want),
                            mxc_context_format(found, have, sizeof have));
    }
    if (!context)
        MXC_TRY(source_context(v->op, &v->sig.context));
    return choose_function(v);
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

/* Outputs and gradients that the caller passes must have the inferred shape and dtype. */
static mxc_status invoke_check_array(const mxci_invocation *v, int slot, mxc_ndarray *array, const mxc_shape *shape,
                                     mxc_dtype type) {
    char where[96], want[MXC_SHAPE_TEXT], have[MXC_SHAPE_TEXT];
    mxci_slot_text(v, slot, where, sizeof where);
    if (!mxc_shape_equal(mxc_ndarray_shape(array), shape))
        return MXC_FAIL(MXC_ESHAPE, "%s: %s: expected shape %s, found %s", invoke_op_name(v), where,
                        mxc_shape_format(shape, want, sizeof want),
                        mxc_shape_format(mxc_ndarray_shape(array), have, sizeof have));
    if (mxc_ndarray_dtype(array) != type)
        return MXC_FAIL(MXC_EDTYPE, "%s: %s: expected dtype %s, found %s", invoke_op_name(v), where,
                        mxc_dtype_name(type), mxc_dtype_name(mxc_ndarray_dtype(array)));
    return MXC_OK;
}

static mxc_status invoke_infer(mxci_invocation *v) {
    MXC_TRY(mxc_op_infer_type(&v->sig));
    return mxc_op_infer_shape(&v->sig);
}

static int outputs_known(const mxci_invocation *v) {
    for (int i = 0; i < v->n_out; i++)
        if (!mxc_shape_known(&v->sig.out_shape[i]) || v->sig.out_type[i] == MXC_DTYPE_UNKNOWN)
            return 0;
    return 1;
}

/* Shapes, dtypes and context of all tensors from the signature, all of which must be known now. Gradients are as the
 * arrays that they belong to. */
static mxc_status copy_signature(mxci_invocation *v) {
    char where[96];
    for (int i = 0; i < mxci_slot_out_grad(v) && i < v->n_slots; i++) {
        int slot = i < v->n_in            ? i
                   : i < mxci_slot_aux(v) ? MXC_SLOT_OUT(i - v->n_in)
                                          : MXC_SLOT_AUX(i - mxci_slot_aux(v));
        v->tensors[i].shape = *mxci_sig_shape(&v->sig, slot);
        v->tensors[i].dtype = *mxci_sig_type(&v->sig, slot);
        v->tensors[i].context = v->sig.context;
        if (!mxc_shape_known(&v->tensors[i].shape) || v->tensors[i].dtype == MXC_DTYPE_UNKNOWN)
            return MXC_FAIL(MXC_ESHAPE, "%s: %s: shape or dtype does not follow from what was given", invoke_op_name(v),
                            mxci_slot_text(v, i, where, sizeof where));
    }
    for (int i = mxci_slot_out_grad(v); i < v->n_slots; i++) { /* gradients */
        int is_in = i >= mxci_slot_in_grad(v);
        v->tensors[i] = v->tensors[is_in ? i - mxci_slot_in_grad(v) : v->n_in + i - mxci_slot_out_grad(v)];
    }
    return MXC_OK;
}

/* Of the call, or as in the call before. */
static void describe_input(mxci_invocation *v, mxc_ndarray *array, mxc_shape *shape, mxc_dtype *type) {
    if (v->is_inferred && *type == mxc_ndarray_dtype(array) && mxc_shape_equal(shape, mxc_ndarray_shape(array)))
        return;
    v->is_inferred = 0;
    invoke_describe(array, shape, type);
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

/* None of the arrays may be NULL. */
static mxc_status take_inputs(mxci_invocation *v, int n, mxc_ndarray *const *in) {
    char where[96];
    if (n != v->n_in + v->n_aux)
        return MXC_FAIL(MXC_EINVAL, "%s: expected %d arrays (%d arguments, %d auxiliary states), found %d",
                        invoke_op_name(v), v->n_in + v->n_aux, v->n_in, v->n_aux, n);
    for (int i = 0; i < n; i++) {
        const int index = mxc_op_input_index(v->op, i), is_aux = index >= v->n_in;
        const int at = is_aux ? index - v->n_in : index, slot = is_aux ? mxci_slot_aux(v) + at : at;
        if (!in[i])
            return MXC_FAIL(MXC_EINVAL, "%s: %s is NULL", invoke_op_name(v),
                            mxci_slot_text(v, slot, where, sizeof where));
        MXC_TRY(MXCI_NOT_RELEASED(in[i]));
        hold(v, slot, in[i]);
        describe_input(v, in[i], is_aux ? &v->sig.aux_shape[at] : &v->sig.in_shape[at],
                       is_aux ? &v->sig.aux_type[at] : &v->sig.in_type[at]);
    }
    return MXC_OK;
}

static mxc_req given_req(const mxc_req *req, int n_given, int i) {
    return i < n_given && req ? req[i] : MXC_REQ_WRITE;
}

/* Outputs that are NULL are made later, hidden ones only if the caller passes all outputs or the request is not
 * null. */
static mxc_status take_outputs(mxci_invocation *v, int n, mxc_ndarray *const *out, const mxc_req *req) {
    int n_visible = mxc_op_n_visible(v->op);
    char where[96];
    if (n != n_visible && n != v->n_out)
        return MXC_FAIL(MXC_EINVAL, "%s: expected %d outputs%s, found %d", invoke_op_name(v), n_visible,
                        n_visible < v->n_out ? " (or all, with the hidden ones)" : "", n);
    for (int i = 0; i < v->n_out; i++) {
        v->req[i] = given_req(req, n, i);
        if (v->req[i] < MXC_REQ_NULL || v->req[i] > MXC_REQ_ADD)
            return MXC_FAIL(MXC_EINVAL, "%s: request %d of output %d is none", invoke_op_name(v), (int)v->req[i], i);
        if (v->req[i] == MXC_REQ_INPLACE)
            v->req[i] = MXC_REQ_WRITE; /* found again where memory is shared */
        if (i < n && out[i] && v->req[i] != MXC_REQ_NULL)
            hold(v, mxci_slot_out(v) + i, out[i]);
        else if (v->req[i] == MXC_REQ_ADD)
            return MXC_FAIL(MXC_EINVAL, "%s: %s: request add, but no array to add to", invoke_op_name(v),
                            mxci_slot_text(v, mxci_slot_out(v) + i, where, sizeof where));
    }
    return MXC_OK;
}

/* Lets given outputs take part in inference. */
static void describe_outputs(mxci_invocation *v) {
    for (int i = 0; i < v->n_out; i++) {
        mxc_ndarray *array = v->arrays[mxci_slot_out(v) + i];
        if (array)
            invoke_describe(array, &v->sig.out_shape[i], &v->sig.out_type[i]);
    }
}

/* For operators whose output shapes depend on data: makes inputs begin.. tensors on the host, copied from the GPU if
 * need be, by recursion so that each copy is released on the way back. Blocks until the inputs are computed. */
static mxc_status infer_on_host(mxci_invocation *v, int begin) {
    mxc_tensor *t = &v->tensors[begin];
    mxc_ndarray *copy = NULL;
    mxc_status status = MXC_OK;
    if (begin == v->n_in)
        return mxc_op_get_def(v->op)->infer_from_data(&v->sig, v->tensors);
    *t = (mxc_tensor){.shape = v->sig.in_shape[begin], .dtype = v->sig.in_type[begin], .context = v->sig.context};
    if (v->sig.context.device == MXC_GPU)
        status = mxc_ndarray_copy(v->arrays[begin], mxc_cpu(0), t->dtype, &copy);
    if (status == MXC_OK)
        status = mxc_ndarray_data(copy ? copy : v->arrays[begin], &t->data);
    if (status == MXC_OK)
        status = infer_on_host(v, begin + 1);
    mxc_ndarray_release(copy);
    return status;
}

/* From the inputs; where that is not enough (always for sources), from the outputs too. What follows from the shapes
 * and dtypes of the inputs alone holds for later calls, unless callbacks may say something else each time. */
static mxc_status infer_forward(mxci_invocation *v) {
    const mxc_op_def *def = mxc_op_get_def(v->op);
    int from_inputs = v->n_in > 0 && !def->infer_from_data && !(def->flags & MXC_OP_CALLBACK);
    if (v->is_inferred)
        return MXC_OK;
    for (int i = 0; i < v->n_out; i++) {
        v->sig.out_shape[i].ndim = -1;
        v->sig.out_type[i] = MXC_DTYPE_UNKNOWN;
    }
    if (v->n_in == 0)
        describe_outputs(v);
    MXC_TRY(invoke_infer(v));
    if (def->infer_from_data)
        MXC_TRY(infer_on_host(v, 0)); /* waits for them */
    if (!outputs_known(v)) {
        from_inputs = 0;
        describe_outputs(v);
        MXC_TRY(invoke_infer(v));
    }
    MXC_TRY(copy_signature(v));
    v->is_inferred = from_inputs;
    return MXC_OK;
}

/* Check the outputs that were given and make the others. */
static mxc_status complete_outputs(mxci_invocation *v) {
    for (int i = 0; i < v->n_out; i++) {
        int slot = mxci_slot_out(v) + i;
        const mxc_tensor *t = &v->tensors[slot];
        if (v->arrays[slot])
            MXC_TRY(invoke_check_array(v, slot, v->arrays[slot], &t->shape, t->dtype));
        else if (v->req[i] != MXC_REQ_NULL)
            MXC_TRY(mxci_ndarray_new("mxc_op_invoke", &t->shape, t->dtype, v->sig.context, &v->arrays[slot]));
    }
    return MXC_OK;
}

/* On a thread that records, the call becomes part of its graph. */
static mxc_status record_and_push(mxci_invocation *v) {
    const mxci_call_recorder *recorder = mxci_call_recorder_get();
    void *record = NULL;
    mxc_status status;
    if (recorder)
        MXC_TRY(recorder->begin(v, &record));
    status = mxci_invocation_push(v);
    if (record)
        recorder->end(v, record, status);
    return status;
}

/* The order matters: inference needs the context for operators whose output depends on data, and memory can be checked
 * only when all arrays exist. */
static mxc_status invoke_forward(mxci_invocation *v, int n_in, mxc_ndarray *const *in, int n_out,
                                 mxc_ndarray *const *out, const mxc_req *req) {
    MXC_TRY(take_inputs(v, n_in, in));
    MXC_TRY(take_outputs(v, n_out, out, req));
    MXC_TRY(check_context(v));
    MXC_TRY(infer_forward(v));
    MXC_TRY(complete_outputs(v));
    MXC_TRY(mxci_invocation_check_memory(v));
    return record_and_push(v);
}

/* The caller gets the reference of a call that has ended already, as small ones do; else one of its own. */
static void give_outputs(mxci_invocation *v, int n_out, mxc_ndarray **inout) {
    const int is_mine = mxci_invocation_is_mine(v);
    for (int i = 0; i < n_out; i++) {
        mxc_ndarray **made = &v->arrays[mxci_slot_out(v) + i];
        if (inout[i] || !*made)
            continue;
        inout[i] = is_mine ? *made : mxc_ndarray_retain(*made);
        if (is_mine)
            *made = NULL;
    }
}

static mxc_status invoke(mxc_op *op, int n_in, mxc_ndarray *const *in, int n_out, mxc_ndarray **inout,
                         const mxc_req *req, int is_train) {
    mxci_invocation *v;
    mxc_status status;
    int trains;
    MXC_TRY(mxci_invocation_create(op, MXC_FORWARD, &v));
    trains = is_train || mxci_mode & MXCI_MODE_TRAIN;
    v->is_inferred = v->is_inferred && v->sig.is_train == trains;
    v->sig.is_train = trains;
    status = invoke_forward(v, n_in, in, n_out, inout, req);
    if (status == MXC_OK)
        give_outputs(v, n_out, inout);
    mxci_invocation_release(v);
    return status;
}

mxc_status mxc_op_invoke(mxc_op *op, int n_in, mxc_ndarray *const *in, int n_out, mxc_ndarray **inout,
                         const mxc_req *req, int is_train) {
    MXC_TRY(MXCI_NON_NULL(op));
    MXC_TRY(MXCI_NON_NULL_IF(n_in > 0, in));
    MXC_TRY(MXCI_NON_NULL_IF(n_out > 0, inout));
    return invoke(op, n_in, in, n_out, inout, req, is_train);
}

mxc_status mxc_op_apply(mxc_op *op, mxc_ndarray *a, mxc_ndarray *b, mxc_ndarray **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(op));
    MXC_TRY(MXCI_NON_NULL(a));
    return invoke(op, b ? 2 : 1, (mxc_ndarray *[]){a, b}, 1, out, NULL, 0);
}

static mxc_status invoke_by_name(const char *name, int n_in, mxc_ndarray *const *in, int n_params,
                                 const char *const *keys, const char *const *values, int n_out, mxc_ndarray **inout) {
    mxc_op *op;
    mxc_status status;
    MXC_TRY(mxc_op_create(name, n_params, keys, values, &op));
    status = invoke(op, n_in, in, n_out, inout, NULL, 0);
    mxc_op_release(op);
    return status;
}

mxc_status mxc_invoke(const char *name, int n_in, mxc_ndarray *const *in, int n_params, const char *const *keys,
                      const char *const *values, int n_out, mxc_ndarray **out) {
    for (int i = 0; out && i < n_out; i++)
        out[i] = NULL;
    MXC_TRY(MXCI_NON_NULL(name));
    MXC_TRY(MXCI_NON_NULL_IF(n_in > 0, in));
    MXC_TRY(MXCI_NON_NULL_IF(n_params > 0, keys));
    MXC_TRY(MXCI_NON_NULL_IF(n_params > 0, values));
    MXC_TRY(MXCI_NON_NULL_IF(n_out > 0, out));
    return invoke_by_name(name, n_in, in, n_params, keys, values, n_out, out);
}

mxc_status mxc_invoke_into(const char *name, int n_in, mxc_ndarray *const *in, int n_params, const char *const *keys,
                           const char *const *values, int n_out, mxc_ndarray *const *out) {
    MXC_TRY(MXCI_NON_NULL(name));
    MXC_TRY(MXCI_NON_NULL_IF(n_in > 0, in));
    MXC_TRY(MXCI_NON_NULL_IF(n_params > 0, keys));
    MXC_TRY(MXCI_NON_NULL_IF(n_params > 0, values));
    MXC_TRY(MXCI_NON_NULL_IF(n_out > 0, out));
    for (int i = 0; i < n_out; i++)
        if (!out[i])
            return MXC_FAIL(MXC_EINVAL, "mxc_invoke_into: %s: out[%d] must not be NULL", name, i);
    /* No entry is NULL, so none is changed. */
    return invoke_by_name(name, n_in, in, n_params, keys, values, n_out, (mxc_ndarray **)(uintptr_t)out);
}

/* ---- backward ---------------------------------------------------------------------------------------------------- */

/* An array that backward may read: its shape is always used, its data only if needed. */
static mxc_status take_read(mxci_invocation *v, int slot, mxc_ndarray *array, int needed, mxc_shape *shape,
                            mxc_dtype *type) {
    char where[96];
    if (!array)
        return needed ? MXC_FAIL(MXC_EINVAL, "%s: backward needs %s, which is NULL", invoke_op_name(v),
                                 mxci_slot_text(v, slot, where, sizeof where))
                      : MXC_OK;
    invoke_describe(array, shape, type);
    if (needed)
        hold(v, slot, array);
    return MXC_OK;
}

static mxc_ndarray *entry(mxc_ndarray *const *arrays, int i) {
    return arrays ? arrays[i] : NULL;
}

/* Outputs and their gradients, arguments and auxiliary states, as the operator's needs say. */
static mxc_status take_reads(mxci_invocation *v, mxc_ndarray *const *out_grad, mxc_ndarray *const *in,
                             mxc_ndarray *const *out) {
    mxc_op_needs needs;
    mxc_op_get_needs(v->op, &needs);
    for (int i = 0; i < v->n_out; i++) {
        mxc_shape *shape = &v->sig.out_shape[i];
        mxc_dtype *type = &v->sig.out_type[i];
        MXC_TRY(
            take_read(v, mxci_slot_out_grad(v) + i, entry(out_grad, i), mxc_need_has(needs.out_grad, i), shape, type));
        MXC_TRY(take_read(v, mxci_slot_out(v) + i, entry(out, i), mxc_need_has(needs.out, i), shape, type));
    }
    for (int i = 0; i < v->n_in; i++)
        MXC_TRY(take_read(v, i, entry(in, i), mxc_need_has(needs.in, i), &v->sig.in_shape[i], &v->sig.in_type[i]));
    for (int i = 0; i < v->n_aux; i++)
        MXC_TRY(
            take_read(v, mxci_slot_aux(v) + i, entry(in, v->n_in + i), 1, &v->sig.aux_shape[i], &v->sig.aux_type[i]));
    return MXC_OK;
}

/* Gradients that are requested must be given. A NULL request array means: write those that are given. */
static mxc_status take_gradients(mxci_invocation *v, mxc_ndarray *const *in_grad, const mxc_req *req) {
    char where[96];
    for (int i = 0; i < v->n_in; i++) {
        int slot = mxci_slot_in_grad(v) + i;
        mxc_req wanted = req ? req[i] : entry(in_grad, i) ? MXC_REQ_WRITE : MXC_REQ_NULL;
        if (wanted < MXC_REQ_NULL || wanted > MXC_REQ_ADD)
            return MXC_FAIL(MXC_EINVAL, "%s: request %d of argument %d is none", invoke_op_name(v), (int)wanted, i);
        v->req[i] = wanted == MXC_REQ_INPLACE ? MXC_REQ_WRITE : wanted;
        if (wanted == MXC_REQ_NULL)
            continue;
        if (!entry(in_grad, i))
            return MXC_FAIL(MXC_EINVAL, "%s: %s is asked for but NULL", invoke_op_name(v),
                            mxci_slot_text(v, slot, where, sizeof where));
        hold(v, slot, in_grad[i]);
        if (v->sig.in_shape[i].ndim < 0)
            invoke_describe(in_grad[i], &v->sig.in_shape[i], &v->sig.in_type[i]);
    }
    return MXC_OK;
}

static mxc_status check_backward_arrays(mxci_invocation *v) {
    for (int i = 0; i < v->n_slots; i++)
        if (v->arrays[i])
            MXC_TRY(invoke_check_array(v, i, v->arrays[i], &v->tensors[i].shape, v->tensors[i].dtype));
    return MXC_OK;
}

static mxc_status invoke_backward(mxci_invocation *v, mxc_ndarray *const *out_grad, mxc_ndarray *const *in,
                                  mxc_ndarray *const *out, mxc_ndarray *const *in_grad, const mxc_req *req) {
    MXC_TRY(take_reads(v, out_grad, in, out));
    MXC_TRY(take_gradients(v, in_grad, req));
    MXC_TRY(check_context(v));
    MXC_TRY(invoke_infer(v));
    MXC_TRY(copy_signature(v));
    MXC_TRY(check_backward_arrays(v));
    MXC_TRY(mxci_invocation_check_memory(v));
    return mxci_invocation_push(v);
}

mxc_status mxc_op_invoke_backward(mxc_op *op, mxc_ndarray *const *out_grad, mxc_ndarray *const *in,
                                  mxc_ndarray *const *out, mxc_ndarray *const *in_grad, const mxc_req *req) {
    MXC_TRY(MXCI_NON_NULL(op));
    MXC_TRY(MXCI_NON_NULL(in_grad));
    mxci_invocation *v;
    mxc_status status;
    MXC_TRY(mxci_invocation_create(op, MXC_BACKWARD, &v));
    v->sig.is_train = 1;
    status = invoke_backward(v, out_grad, in, out, in_grad, req);
    mxci_invocation_release(v);
    return status;
}

/* The signature is known from the forward run, and the slots of forward come first in both passes. */
static mxc_status invoke_recorded(mxci_invocation *v, const mxci_call_record *r, mxc_ndarray *const *out_grad,
                                  mxc_ndarray *const *in_grad, const mxc_req *req) {
    mxc_op_needs needs;
    mxc_op_get_needs(v->op, &needs);
    for (int i = 0; i < v->n_in + v->n_out + v->n_aux; i++) {
        int slot = i < v->n_in            ? i
                   : i < mxci_slot_aux(v) ? MXC_SLOT_OUT(i - v->n_in)
                                          : MXC_SLOT_AUX(i - mxci_slot_aux(v));
        *mxci_sig_shape(&v->sig, slot) = r->shapes[i];
        *mxci_sig_type(&v->sig, slot) = r->types[i];
        if (r->kept[i])
            hold(v, i, r->kept[i]);
    }
    for (int i = 0; i < v->n_out; i++)
        if (mxc_need_has(needs.out_grad, i))
            hold(v, mxci_slot_out_grad(v) + i, out_grad[i]);
    MXC_TRY(take_gradients(v, in_grad, req));
    MXC_TRY(check_context(v));
    MXC_TRY(copy_signature(v));
    MXC_TRY(check_backward_arrays(v));
    MXC_TRY(mxci_invocation_check_memory(v));
    return mxci_invocation_push(v);
}

mxc_status mxci_call_record_backward(const mxci_call_record *record, mxc_ndarray *const *out_grad,
                                     mxc_ndarray *const *in_grad, const mxc_req *req) {
    mxci_invocation *v;
    mxc_status status;
    MXC_TRY(mxci_invocation_create(record->op, MXC_BACKWARD, &v));
    v->sig.is_train = record->is_train;
    v->state = mxci_op_state_retain(record->state);
    status = invoke_recorded(v, record, out_grad, in_grad, req);
    mxci_invocation_release(v);
    return status;
}
