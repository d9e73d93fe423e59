/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of operators that a front end defines. The front end is given copies of the arrays, which it may keep; what it
 * has queued on them ends before the run does. These functions run on threads that libmxc keeps for callbacks.
 */
#include <string.h>

#include "compat/custom_op.h"

/* What the front end calls an array: its kind, and whether it is computed. */
enum { TAG_IN = 0, TAG_OUT = 1, TAG_IN_GRAD = 2, TAG_OUT_GRAD = 3, TAG_AUX = 4 };

typedef struct custom_state {
    const custom_prop *prop;
    struct MXCallbackList functions;
    char context[32];
} custom_state;

static mxc_status refuse(const custom_state *state, const char *function) {
    return MXC_FAIL(MXC_EUSER, "Custom: the front end's operator %s: %s failed; it has printed why",
                    state->prop->def->name, function);
}

/* ---- state ------------------------------------------------------------------------------------------------------- */

typedef struct custom_inputs {
    unsigned **shapes, (*dims)[MXC_MAX_NDIM];
    int *ndims, *types;
} custom_inputs;

static mxc_status create(const mxc_op_sig *sig, custom_state *state, const custom_inputs *in) {
    custom_create_fn fn = (custom_create_fn)custom_function(&state->prop->functions, PROP_CREATE);
    for (int i = 0; i < sig->n_in; i++) {
        in->shapes[i] = in->dims[i];
        in->ndims[i] = sig->in_shape[i].ndim;
        in->types[i] = (int)sig->in_type[i];
        for (int k = 0; k < in->ndims[i]; k++)
            in->dims[i][k] = (unsigned)sig->in_shape[i].dim[k];
    }
    mxc_context_format(sig->context, state->context, sizeof state->context);
    if (!fn || !fn(state->context, sig->n_in, in->shapes, in->ndims, in->types, &state->functions,
                   state->prop->functions.contexts[PROP_CREATE]))
        return refuse(state, "create_operator");
    return MXC_OK;
}

mxc_status mxnet_custom_create(const mxc_op_sig *sig, void **out) {
    const size_t n = (size_t)sig->n_in;
    custom_inputs in = {mxnet_alloc(n, sizeof *in.shapes), mxnet_alloc(n, sizeof *in.dims),
                        mxnet_alloc(n, sizeof *in.ndims), mxnet_alloc(n, sizeof *in.types)};
    custom_state *state = mxnet_alloc(1, sizeof *state);
    const int entered = mxnet_callback_enter();
    mxc_status status;
    if (state)
        state->prop = sig->params;
    if (!entered && state && in.shapes && in.dims && in.ndims && in.types)
        status = create(sig, state, &in);
    else
        status = MXC_FAIL(MXC_ENOMEM, "Custom: out of memory");
    mxnet_callback_leave(entered);
    mxnet_free(in.shapes);
    mxnet_free(in.dims);
    mxnet_free(in.ndims);
    mxnet_free(in.types);
    if (status == MXC_OK)
        *out = state;
    else
        mxnet_free(state);
    return status;
}

void mxnet_custom_destroy(void *block) {
    custom_state *state = block;
    custom_delete_fn fn = (custom_delete_fn)custom_function(&state->functions, OP_DELETE);
    const int entered = mxnet_callback_enter();
    if (fn && !entered)
        fn(state->functions.contexts[OP_DELETE]);
    mxnet_callback_leave(entered);
    mxnet_free(state);
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

/* The arrays of one run. */
typedef struct custom_run {
    int n;
    mxc_ndarray **arrays; /* ours */
    void **handles;       /* the front end's */
    int *tags;
} custom_run;

/* A copy of a tensor, or an array with undefined contents where there is none. */
static mxc_status add(custom_run *run, const mxc_tensor *tensor, int tag, int has_contents) {
    const mxc_shape *shape = &tensor->shape;
    mxc_ndarray **array = &run->arrays[run->n];
    if (has_contents && tensor->data)
        MXC_TRY(mxc_ndarray_from_data(shape->ndim, shape->dim, tensor->dtype, tensor->data, array));
    else
        MXC_TRY(mxc_ndarray_create(shape->ndim, shape->dim, tensor->dtype, mxc_cpu(0), array));
    run->tags[run->n] = tag;
    if (mxnet_ndarray_new(mxc_ndarray_retain(*array), &run->handles[run->n++]))
        return MXC_FAIL(MXC_ENOMEM, "Custom: out of memory");
    return MXC_OK;
}

/* Results go back to the tensors; requests of null have none. */
static mxc_status give_back(mxc_ndarray *array, const mxc_tensor *tensor) {
    if (!tensor->data)
        return MXC_OK;
    MXC_TRY(mxc_ndarray_wait_to_write(array));
    return mxc_ndarray_get(array, tensor->data, mxc_ndarray_bytes(array));
}

static mxc_status run_open(custom_run *run, int limit) {
    run->arrays = mxnet_alloc((size_t)limit, sizeof *run->arrays);
    run->handles = mxnet_alloc((size_t)limit, sizeof *run->handles);
    run->tags = mxnet_alloc((size_t)limit, sizeof *run->tags);
    return run->arrays && run->handles && run->tags ? MXC_OK : MXC_FAIL(MXC_ENOMEM, "Custom: out of memory");
}

/* The front end frees the handles that it was given. */
static void run_close(custom_run *run, int was_called) {
    for (int i = 0; run->arrays && i < run->n; i++) {
        mxc_ndarray_release(run->arrays[i]);
        if (!was_called)
            MXNDArrayFree(run->handles[i]);
    }
    mxnet_free(run->arrays);
    mxnet_free(run->handles);
    mxnet_free(run->tags);
}

static mxc_status call_front_end(const mxc_op_call *call, const custom_run *run, int place, const char *name,
                                 const int *reqs) {
    const custom_state *state = call->state;
    custom_run_fn fn = (custom_run_fn)custom_function(&state->functions, place);
    const int entered = mxnet_callback_enter();
    int done = 0;
    if (fn && !entered)
        done = fn(run->n, run->handles, run->tags, reqs, call->is_train, state->functions.contexts[place]);
    mxnet_callback_leave(entered);
    return done ? MXC_OK : refuse(state, name);
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

static mxc_status add_all(custom_run *run, int n, const mxc_tensor *tensors, int tag) {
    for (int i = 0; i < n; i++)
        MXC_TRY(add(run, &tensors[i], tag, 1));
    return MXC_OK;
}

static mxc_status add_forward(const mxc_op_call *call, custom_run *run) {
    MXC_TRY(add_all(run, call->n_in, call->in, TAG_IN));
    for (int i = 0; i < call->n_out; i++)
        MXC_TRY(add(run, &call->out[i], TAG_OUT, call->req[i] == MXC_REQ_ADD));
    return add_all(run, call->n_aux, call->aux, TAG_AUX);
}

static mxc_status take_aux(const mxc_op_call *call, const custom_run *run) {
    for (int i = 0; i < call->n_aux; i++)
        MXC_TRY(give_back(run->arrays[run->n - call->n_aux + i], &call->aux[i]));
    return MXC_OK;
}

/* Inputs are waited for too: what the front end has queued on them reads its own copies, but may fail. */
static mxc_status take_forward(const mxc_op_call *call, const custom_run *run) {
    for (int i = 0; i < call->n_out; i++)
        if (call->req[i] != MXC_REQ_NULL)
            MXC_TRY(give_back(run->arrays[call->n_in + i], &call->out[i]));
    return take_aux(call, run);
}

mxc_status mxnet_custom_forward(const mxc_op_call *call) {
    custom_run run = {0};
    int was_called = 0;
    mxc_status status = run_open(&run, call->n_in + call->n_out + call->n_aux);
    if (status == MXC_OK)
        status = add_forward(call, &run);
    if (status == MXC_OK) {
        was_called = 1;
        status = call_front_end(call, &run, OP_FORWARD, "forward", (const int *)call->req);
    }
    if (status == MXC_OK)
        status = take_forward(call, &run);
    run_close(&run, was_called);
    return status;
}

/* ---- backward ---------------------------------------------------------------------------------------------------- */

static mxc_status add_backward(const mxc_op_call *call, custom_run *run) {
    MXC_TRY(add_all(run, call->n_out, call->out_grad, TAG_OUT_GRAD));
    MXC_TRY(add_all(run, call->n_in, call->in, TAG_IN));
    MXC_TRY(add_all(run, call->n_out, call->out, TAG_OUT));
    for (int i = 0; i < call->n_in; i++)
        MXC_TRY(add(run, &call->in_grad[i], TAG_IN_GRAD, call->req[i] == MXC_REQ_ADD));
    return add_all(run, call->n_aux, call->aux, TAG_AUX);
}

static mxc_status take_backward(const mxc_op_call *call, const custom_run *run) {
    for (int i = 0; i < call->n_in; i++)
        if (call->req[i] != MXC_REQ_NULL)
            MXC_TRY(give_back(run->arrays[2 * call->n_out + call->n_in + i], &call->in_grad[i]));
    return take_aux(call, run);
}

mxc_status mxnet_custom_backward(const mxc_op_call *call) {
    custom_run run = {0};
    int was_called = 0;
    mxc_status status = run_open(&run, 2 * (call->n_out + call->n_in) + call->n_aux);
    if (status == MXC_OK)
        status = add_backward(call, &run);
    if (status == MXC_OK) {
        was_called = 1;
        status = call_front_end(call, &run, OP_BACKWARD, "backward", (const int *)call->req);
    }
    if (status == MXC_OK)
        status = take_backward(call, &run);
    run_close(&run, was_called);
    return status;
}
