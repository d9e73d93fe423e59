/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients of imperative calls, and cached operators. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compat/mxnet.h"

/* ---- what a thread does ------------------------------------------------------------------------------------------ */

int MXAutogradSetIsTraining(int is_training, int *prev) {
    MXNET_NEED(prev);
    *prev = mxc_autograd_set_training(is_training != 0);
    if (!mxnet_is_version_1()) /* there the one mode is also the other */
        mxc_autograd_set_recording(is_training != 0);
    return 0;
}

int MXAutogradSetIsRecording(int is_recording, int *prev) {
    MXNET_NEED(prev);
    mxnet_set_version_1();
    *prev = mxc_autograd_set_recording(is_recording != 0);
    return 0;
}

int MXAutogradIsRecording(bool *curr) {
    MXNET_NEED(curr);
    *curr = mxc_autograd_is_recording() != 0;
    return 0;
}

int MXAutogradIsTraining(bool *curr) {
    MXNET_NEED(curr);
    *curr = mxc_autograd_is_training() != 0;
    return 0;
}

/* ---- gradients --------------------------------------------------------------------------------------------------- */

/* The gradient of integers stays as it is: nothing is differentiable in them, but front ends may ask for it. */
static int mark(mxnet_ndarray *variable, NDArrayHandle grad_handle, mxc_req req) {
    mxc_ndarray *array = mxnet_array(variable), *grad = mxnet_array(grad_handle);
    if (!array || !grad)
        return -1;
    variable->grad_storage = ((mxnet_ndarray *)grad_handle)->storage;
    if (MXC_DTYPES_FLOAT & MXC_DTYPE_BIT(mxc_ndarray_dtype(array)))
        return mxnet_result(mxc_autograd_attach(array, req, grad));
    mxc_ndarray_retain(grad);
    mxc_ndarray_release(variable->grad);
    variable->grad = grad;
    return 0;
}

int MXAutogradMarkVariables(uint32_t num_var, NDArrayHandle const *var_handles, const uint32_t *reqs_array,
                            NDArrayHandle const *grad_handles) {
    for (uint32_t i = 0; i < num_var; i++)
        MXNET_CALL(mark(var_handles[i], grad_handles[i], (mxc_req)reqs_array[i]));
    return 0;
}

/* Arrays of a list that may be absent, in a slot. */
static int take_arrays(mxnet_slot slot, uint32_t n, NDArrayHandle const *handles, mxc_ndarray ***out) {
    *out = NULL;
    if (!handles || !n)
        return 0;
    *out = mxnet_buffer(slot, n, sizeof **out);
    return *out ? mxnet_arrays(n, handles, *out) : -1;
}

int MXAutogradBackwardEx(uint32_t num_output, NDArrayHandle const *output_handles, NDArrayHandle const *ograd_handles,
                         uint32_t num_variables, NDArrayHandle const *var_handles, int retain_graph, int create_graph,
                         int is_train, NDArrayHandle **grad_handles, int **grad_stypes) {
    mxc_backward_options options;
    mxc_ndarray **heads, **grads, **variables, **made;
    (void)is_train; /* backward of each call is as its forward was */
    mxc_backward_options_init(&options, sizeof options);
    options.retain_graph = retain_graph;
    options.create_graph = create_graph;
    options.allow_changes = 1;
    MXNET_CALL(take_arrays(MXNET_SLOT_SCRATCH, num_output, output_handles, &heads));
    MXNET_CALL(take_arrays(MXNET_SLOT_SCRATCH2, num_output, ograd_handles, &grads));
    if (!num_variables)
        return mxnet_result(mxc_autograd_backward((int)num_output, heads, grads, &options));
    MXNET_CALL(take_arrays(MXNET_SLOT_ARGS, num_variables, var_handles, &variables));
    made = mxnet_buffer(MXNET_SLOT_GRADS, num_variables, sizeof *made);
    MXNET_NEED(grad_handles);
    MXNET_NEED(grad_stypes);
    if (!made)
        return -1;
    MXNET_CALL(mxnet_return_dense((int)num_variables, (const int **)grad_stypes));
    MXNET_TRY(mxc_autograd_gradients((int)num_output, heads, grads, (int)num_variables, variables, &options, made));
    return mxnet_return_arrays(MXNET_SLOT_HANDLES, num_variables, made, grad_handles);
}

int MXAutogradBackward(uint32_t num_output, NDArrayHandle const *output_handles, NDArrayHandle const *ograd_handles,
                       int retain_graph) {
    return MXAutogradBackwardEx(num_output, output_handles, ograd_handles, 0, NULL, retain_graph, 0, 1, NULL, NULL);
}

int MXAutogradComputeGradient(uint32_t num_output, NDArrayHandle const *output_handles) {
    return MXAutogradBackward(num_output, output_handles, NULL, 0);
}

int MXAutogradGetSymbol(NDArrayHandle handle, SymbolHandle *out) {
    mxc_ndarray *array = mxnet_array(handle);
    mxc_symbol *symbol;
    MXNET_NEED(out);
    if (!array)
        return -1;
    MXNET_TRY(mxc_autograd_symbol(1, &array, 0, NULL, NULL, &symbol));
    return mxnet_symbol_new(symbol, out);
}

/* ---- cached operators -------------------------------------------------------------------------------------------- */

/* CachedOpHandle. The front end gives inputs in the order in which the graph meets its variables, libmxc takes
 * arguments, then states: input i of libmxc is the front end's order[i]. */
typedef struct cached_op {
    mxc_cached_op *op;
    int n_in, n_out;
    int *order;
    CachedOpMonitorCallback hook; /* NULL: none */
} cached_op;

/* All variables in the graph's order are what an identity of names says: internals that are arguments or states. */
static int find_order(const mxc_symbol *symbol, cached_op *made) {
    mxc_names inner = {0}, args = {0}, aux = {0};
    mxc_symbol *internals = NULL;
    mxc_status status = mxc_symbol_internals(symbol, &internals);
    int at = 0;
    if (status == MXC_OK)
        status = mxc_symbol_list_outputs(internals, &inner);
    if (status == MXC_OK)
        status = mxc_symbol_list_arguments(symbol, &args);
    if (status == MXC_OK)
        status = mxc_symbol_list_aux(symbol, &aux);
    made->n_in = (int)(args.n + aux.n);
    made->order = status == MXC_OK ? mxnet_alloc((size_t)made->n_in, sizeof *made->order) : NULL;
    for (int64_t i = 0; made->order && i < inner.n; i++) {
        int64_t arg = mxc_names_find(&args, inner.items[i]), state = mxc_names_find(&aux, inner.items[i]);
        if (arg >= 0)
            made->order[arg] = at++;
        else if (state >= 0)
            made->order[args.n + state] = at++;
    }
    mxc_symbol_release(internals);
    mxc_names_release(&inner);
    mxc_names_release(&args);
    mxc_names_release(&aux);
    MXNET_TRY(status);
    return made->order ? 0 : -1;
}

int MXFreeCachedOp(CachedOpHandle handle) {
    cached_op *op = handle;
    if (!op)
        return 0;
    mxc_cached_op_destroy(op->op);
    mxnet_free(op->order);
    mxnet_free(op);
    return 0;
}

static int is_true(const char *value) {
    return !strcmp(value, "True") || !strcmp(value, "true") || !strcmp(value, "1");
}

int MXCreateCachedOpEx(SymbolHandle handle, int num_flags, const char *const *keys, const char *const *vals,
                       CachedOpHandle *out) {
    const mxnet_symbol *symbol = handle;
    mxc_cached_op_options options;
    cached_op *made;
    MXNET_NEED(symbol);
    MXNET_NEED(out);
    mxc_cached_op_options_init(&options, sizeof options);
    options.repeat_backward = 1;
    for (int i = 0; i < num_flags; i++)
        if (!strcmp(keys[i], "static_alloc"))
            options.static_alloc = is_true(vals[i]);
    made = mxnet_alloc(1, sizeof *made);
    if (!made)
        return -1;
    made->n_out = (int)mxc_symbol_n_outputs(symbol->symbol);
    if (find_order(symbol->symbol, made) || mxnet_result(mxc_cached_op_create(symbol->symbol, &options, &made->op))) {
        MXFreeCachedOp(made);
        return -1;
    }
    *out = made;
    return 0;
}

int MXCreateCachedOp(SymbolHandle handle, CachedOpHandle *out) {
    return MXCreateCachedOpEx(handle, 0, NULL, NULL, out);
}

int MXCreateCachedOpEX(SymbolHandle handle, int num_flags, const char *const *keys, const char *const *vals,
                       CachedOpHandle *out, bool thread_safe) {
    (void)thread_safe; /* all are */
    return MXCreateCachedOpEx(handle, num_flags, keys, vals, out);
}

/* The front end's function, which frees the handle, may call the library. */
static void show_to_hook(const char *name, const char *op, mxc_ndarray *array, void *user) {
    const cached_op *shown = user;
    char text[256];
    NDArrayHandle handle;
    int entered;
    if (mxnet_ndarray_new(mxc_ndarray_retain(array), &handle))
        return;
    entered = mxnet_callback_enter();
    if (entered < 0)
        MXNDArrayFree(handle);
    else
        shown->hook(mxnet_shown_name(name, op, text, sizeof text), op, handle);
    mxnet_callback_leave(entered);
}

int MXCachedOpRegisterOpHook(CachedOpHandle handle, CachedOpMonitorCallback callback, bool monitor_all) {
    cached_op *op = handle;
    MXNET_NEED(op);
    op->hook = callback;
    return mxnet_result(mxc_cached_op_set_monitor(op->op, callback ? show_to_hook : NULL, monitor_all, op));
}

/* To outputs that the caller gave, by a copy. */
static int copy_outputs(int n, mxc_ndarray **from, NDArrayHandle *to) {
    mxc_status status = MXC_OK;
    for (int i = 0; i < n; i++) {
        mxnet_ndarray *handle = to[i];
        if (handle && !handle->array) {
            handle->array = from[i];
            continue;
        }
        if (status == MXC_OK)
            status =
                handle ? mxc_ndarray_copy_to(from[i], handle->array, 0) : MXC_FAIL(MXC_EINVAL, "output %d is NULL", i);
        mxc_ndarray_release(from[i]);
    }
    return mxnet_result(status);
}

int MXInvokeCachedOp(CachedOpHandle handle, int num_inputs, NDArrayHandle const *inputs, int *num_outputs,
                     NDArrayHandle **outputs) {
    const cached_op *op = handle;
    mxc_ndarray **given, **in, **out;
    MXNET_NEED(op);
    MXNET_NEED(num_outputs);
    MXNET_NEED(outputs);
    if (num_inputs != op->n_in)
        return mxnet_fail("the cached operator takes %d inputs, found %d", op->n_in, num_inputs);
    if (*outputs && *num_outputs > 0 && *num_outputs != op->n_out)
        return mxnet_fail("the cached operator has %d outputs, found %d", op->n_out, *num_outputs);
    given = mxnet_buffer(MXNET_SLOT_SCRATCH, (size_t)num_inputs, sizeof *given);
    in = mxnet_buffer(MXNET_SLOT_SCRATCH2, (size_t)num_inputs, sizeof *in);
    out = mxnet_buffer(MXNET_SLOT_ARGS, (size_t)op->n_out, sizeof *out);
    if (!given || !in || !out)
        return -1;
    MXNET_CALL(mxnet_arrays(num_inputs, inputs, given));
    for (int i = 0; i < num_inputs; i++)
        in[i] = given[op->order[i]];
    MXNET_TRY(mxc_cached_op_invoke(op->op, num_inputs, in, op->n_out, out));
    if (*outputs && *num_outputs > 0)
        return copy_outputs(op->n_out, out, *outputs);
    *num_outputs = op->n_out;
    return mxnet_return_arrays(MXNET_SLOT_HANDLES, op->n_out, out, outputs);
}

int MXInvokeCachedOpEx(CachedOpHandle handle, int num_inputs, NDArrayHandle const *inputs, int *num_outputs,
                       NDArrayHandle **outputs, const int **out_stypes) {
    MXNET_NEED(out_stypes);
    MXNET_CALL(MXInvokeCachedOp(handle, num_inputs, inputs, num_outputs, outputs));
    return mxnet_return_dense(*num_outputs, out_stypes);
}
