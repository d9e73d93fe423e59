/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on converted copies: sizes of the copies, copying in both directions, and the nesting of the two conversions,
 * layout outside and dtype inside. */
#include "operator/converted_call.h"

#include "math/strided_copy.h"

enum { SLOTS = MXCI_CONVERTED_SLOTS };

/* What a copy changes: the dtype, or the order of the axes. */
typedef enum conversion { TO_F32, TO_CHANNELS_SECOND } conversion;

/* Room for the parameters of any operator, aligned for any member. */
typedef union params_room {
    char bytes[MXCI_CONVERTED_PARAMS];
    int64_t integer;
    double number;
    void *pointer;
} params_room;

int mxci_is_converted(const mxc_op_def *def) {
    return def->cpu_dtypes || def->to_channels_second;
}

/* Whether a 16-bit dtype is missing in the CPU's dtypes. */
static int needs_f32(const mxc_op_def *def, mxc_dtype dtype) {
    return def->cpu_dtypes && mxc_dtype_size(dtype) == 2 && !(def->cpu_dtypes & MXC_DTYPE_BIT(dtype));
}

static mxc_status check_slots(const mxc_op_call *call) {
    if (call->n_in <= SLOTS && call->n_out <= SLOTS)
        return MXC_OK;
    return MXC_FAIL(MXC_EINVAL, "%s: %d arguments and %d outputs, but at most %d of each can be converted",
                    mxc_op_get_def(call->op)->name, call->n_in, call->n_out, SLOTS);
}

/* ---- shapes and scratch ------------------------------------------------------------------------------------------ */

/* (N,spatial,C) as (N,C,spatial); up to two axes stay as they are. */
static mxc_shape channels_second(const mxc_shape *last) {
    mxc_shape second = *last;
    for (int i = 2; i < last->ndim; i++)
        second.dim[i] = last->dim[i - 1];
    if (last->ndim > 2)
        second.dim[1] = last->dim[last->ndim - 1];
    return second;
}

static size_t copy_bytes(const mxc_shape *shape, mxc_dtype type, conversion to) {
    if (to == TO_CHANNELS_SECOND && shape->ndim <= 2)
        return 0;
    return mxci_size_align(mxci_shape_bytes(shape, mxc_dtype_size(to == TO_F32 ? MXC_F32 : type)));
}

/* Bytes of the copies of all arrays that a pass reads or writes; must not be less than run_copies takes. Backward: an
 * input if it is read, and its gradient; an output if it or its gradient is read. */
static size_t copies_bytes(const mxc_op_sig *sig, mxc_pass pass, conversion to) {
    mxc_op_needs needs;
    mxci_scratch s = {0};
    mxc_op_get_needs(sig->op, &needs);
    for (int i = 0; i < sig->n_in; i++) {
        int copies = pass == MXC_FORWARD ? 1 : 1 + mxc_need_has(needs.in, i);
        mxci_scratch_array(&s, copies, copy_bytes(&sig->in_shape[i], sig->in_type[i], to));
    }
    for (int i = 0; i < sig->n_out; i++) {
        int copies = pass == MXC_FORWARD ? 1 : mxc_need_has(needs.out_grad, i) + mxc_need_has(needs.out, i);
        mxci_scratch_array(&s, copies, copy_bytes(&sig->out_shape[i], sig->out_type[i], to));
    }
    return s.bytes;
}

/* The copies come first, then the operator's own scratch, measured as if all arrays were f32. */
size_t mxci_f32_temp(const mxc_op_sig *sig, mxc_pass pass, size_t (*temp_bytes)(const mxc_op_sig *sig, mxc_pass pass)) {
    mxc_dtype in[SLOTS], out[SLOTS];
    mxc_op_sig real = *sig;
    size_t copies = copies_bytes(sig, pass, TO_F32);
    for (int i = 0; i < SLOTS; i++)
        in[i] = out[i] = MXC_F32;
    real.in_type = in, real.out_type = out;
    return mxci_size_add(copies, temp_bytes ? temp_bytes(&real, pass) : 0);
}

/* Scratch of a call whose layout needs no conversion. */
static size_t typed_temp(const mxc_op_def *def, const mxc_op_sig *sig, mxc_pass pass) {
    if (sig->n_in > 0 && needs_f32(def, sig->in_type[0]))
        return mxci_f32_temp(sig, pass, def->temp_bytes);
    return def->temp_bytes ? def->temp_bytes(sig, pass) : 0;
}

size_t mxci_converted_temp(const mxc_op_sig *sig, mxc_pass pass) {
    const mxc_op_def *def = mxc_op_get_def(sig->op);
    mxc_shape in[SLOTS], out[SLOTS];
    mxc_op_sig second = *sig;
    params_room params;
    if (!def->backward[MXC_CPU] && pass == MXC_BACKWARD)
        return 0;
    if (sig->n_in > SLOTS || sig->n_out > SLOTS) /* the run reports it */
        return 0;
    if (!def->to_channels_second || !def->to_channels_second(sig->params, pass, &params))
        return typed_temp(def, sig, pass);
    for (int i = 0; i < sig->n_in; i++)
        in[i] = channels_second(&sig->in_shape[i]);
    for (int i = 0; i < sig->n_out; i++)
        out[i] = channels_second(&sig->out_shape[i]);
    second.in_shape = in, second.out_shape = out;
    second.params = &params;
    return mxci_size_add(copies_bytes(sig, pass, TO_CHANNELS_SECOND), typed_temp(def, &second, pass));
}

/* ---- copies ------------------------------------------------------------------------------------------------------ */

/* to = or += from. One of them is the copy: `to` where is_copy is set. */
static void put_copy(const mxc_run *run, mxc_req req, const mxc_tensor *to, const mxc_tensor *from, conversion how,
                     int is_copy) {
    const mxc_shape *second = is_copy ? &to->shape : &from->shape;
    const int64_t channels = second->dim[1], pixels = mxci_shape_count(second, 2, second->ndim);
    const int64_t dim[3] = {second->dim[0], is_copy ? channels : pixels, is_copy ? pixels : channels};
    const int64_t step[3] = {channels * pixels, 1, dim[1]};
    mxci_strided strides;
    if (how == TO_F32) {
        mxci_assign_cast(run, req, to, from);
        return;
    }
    mxci_strided_set(&strides, 3, dim, step);
    mxci_assign_from_strided(run, req, to, from, 0, &strides);
}

static int is_copied(const mxc_tensor *t, conversion how) {
    return t->data && (how == TO_F32 || t->shape.ndim > 2);
}

/* Makes to[i] the copy of from[i] for n tensors, with data from *temp on, and fills it where load is set. A tensor that
 * needs no copy stands for itself. */
static void converted_call_copy(const mxc_run *run, int n, const mxc_tensor *from, int load, conversion how,
                                mxc_tensor *to, char **temp) {
    for (int i = 0; i < n; i++) {
        to[i] = from[i];
        if (how == TO_F32)
            to[i].dtype = MXC_F32; /* of an empty one as well: kernels are picked by it */
        else
            to[i].shape = channels_second(&from[i].shape);
        if (!is_copied(&from[i], how))
            continue;
        to[i].data = *temp;
        *temp += copy_bytes(&from[i].shape, from[i].dtype, how);
        if (load)
            put_copy(run, MXC_REQ_WRITE, &to[i], &from[i], how, 1);
    }
}

/* Run compute on copies, then convert the results back as requests say. Results that need no copy are written directly.
 * The rest of scratch is the operator's. */
static mxc_status run_copies(const mxc_op_call *call, mxc_pass pass, const void *params, mxc_op_compute_fn compute,
                             conversion how) {
    mxc_tensor in[SLOTS], out[SLOTS], out_grad[SLOTS], in_grad[SLOTS];
    mxc_req req[SLOTS];
    mxc_op_call copied = *call;
    const mxc_tensor *results = pass == MXC_FORWARD ? call->out : call->in_grad, *computed = out;
    int n = pass == MXC_FORWARD ? call->n_out : call->n_in;
    char *temp = call->temp;
    converted_call_copy(call->run, call->n_in, call->in, 1, how, in, &temp);
    converted_call_copy(call->run, call->n_out, call->out, pass == MXC_BACKWARD, how, out, &temp);
    if (pass == MXC_BACKWARD) {
        converted_call_copy(call->run, call->n_out, call->out_grad, 1, how, out_grad, &temp);
        converted_call_copy(call->run, call->n_in, call->in_grad, 0, how, in_grad, &temp);
        computed = in_grad;
    }
    for (int i = 0; i < n; i++)
        req[i] = call->req[i] != MXC_REQ_NULL && is_copied(&results[i], how) ? MXC_REQ_WRITE : call->req[i];
    copied.in = in, copied.out = out, copied.out_grad = out_grad, copied.in_grad = in_grad, copied.req = req;
    copied.params = params;
    copied.temp = temp;
    copied.temp_bytes = call->temp_bytes - (size_t)(temp - (char *)call->temp);
    MXC_TRY(compute(&copied));
    for (int i = 0; i < n; i++)
        if (call->req[i] != MXC_REQ_NULL && is_copied(&results[i], how))
            put_copy(call->run, call->req[i], &results[i], &computed[i], how, 0);
    return MXC_OK;
}

mxc_status mxci_f32_run(const mxc_op_call *call, mxc_pass pass, mxc_op_compute_fn compute) {
    return run_copies(call, pass, call->params, compute, TO_F32);
}

/* ---- a call: first the layout, then the dtype -------------------------------------------------------------------- */

static mxc_status run_typed(const mxc_op_call *call, mxc_pass pass) {
    const mxc_op_def *def = mxc_op_get_def(call->op);
    mxc_op_compute_fn compute = pass == MXC_FORWARD ? def->forward[MXC_CPU] : def->backward[MXC_CPU];
    if (call->n_in > 0 && needs_f32(def, call->in[0].dtype))
        return mxci_f32_run(call, pass, compute);
    return compute(call);
}

static mxc_status typed_forward(const mxc_op_call *call) {
    return run_typed(call, MXC_FORWARD);
}

static mxc_status typed_backward(const mxc_op_call *call) {
    return run_typed(call, MXC_BACKWARD);
}

static mxc_status converted_call_run(const mxc_op_call *call, mxc_pass pass) {
    const mxc_op_def *def = mxc_op_get_def(call->op);
    mxc_op_compute_fn typed = pass == MXC_FORWARD ? typed_forward : typed_backward;
    params_room params;
    MXC_TRY(check_slots(call));
    if (def->to_channels_second && def->to_channels_second(call->params, pass, &params))
        return run_copies(call, pass, &params, typed, TO_CHANNELS_SECOND);
    return typed(call);
}

mxc_status mxci_converted_forward(const mxc_op_call *call) {
    return converted_call_run(call, MXC_FORWARD);
}

mxc_status mxci_converted_backward(const mxc_op_call *call) {
    return converted_call_run(call, MXC_BACKWARD);
}
