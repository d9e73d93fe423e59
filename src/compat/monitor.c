/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Monitors of executors. What a run has computed is copied while it runs, and shown afterwards with MXNet's names,
 * which number the gradients of a node: "<node>_backward_output<i>" for argument i, or "<node>_backward_output" of one
 * argument. MXNet also shows gradients that nothing asked for; here they are a single 0.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compat/executor.h"

/* ---- what is observed -------------------------------------------------------------------------------------------- */

void mxnet_monitor_clear(mxnet_monitor *monitor) {
    while (monitor->first) {
        mxnet_observed *observed = monitor->first;
        monitor->first = observed->next;
        mxc_ndarray_release(observed->array);
        mxnet_free(observed->name);
        mxnet_free(observed);
    }
    monitor->last = &monitor->first;
}

/* A copy of an array that is there only during the monitor's call. */
static mxc_status copy_now(mxc_ndarray *array, mxc_ndarray **out) {
    const mxc_shape *shape = mxc_ndarray_shape(array);
    size_t bytes = mxc_ndarray_bytes(array);
    void *data = mxnet_alloc(1, bytes);
    *out = NULL;
    if (!data)
        return MXC_ENOMEM;
    mxc_status status = mxc_ndarray_get(array, data, bytes);
    if (status == MXC_OK)
        status = mxc_ndarray_from_data(shape->ndim, shape->dim, mxc_ndarray_dtype(array), data, out);
    mxnet_free(data);
    return status;
}

/* Called by the executor for one array after the other. What cannot be copied is left out. */
static void observe(const char *name, mxc_ndarray *array, void *user) {
    mxnet_monitor *monitor = user;
    mxnet_observed *observed = mxnet_alloc(1, sizeof *observed);
    if (!observed)
        return;
    observed->name = mxnet_copy_text(name);
    if (!observed->name || copy_now(array, &observed->array) != MXC_OK) {
        mxnet_free(observed->name);
        mxnet_free(observed);
        return;
    }
    *monitor->last = observed;
    monitor->last = &observed->next;
}

int mxnet_monitor_set(mxnet_monitor *monitor, mxc_executor *executor, ExecutorMonitorCallback callback, void *user) {
    MXNET_TRY(mxc_executor_set_monitor(executor, callback ? observe : NULL, monitor));
    mxnet_monitor_clear(monitor);
    monitor->callback = callback;
    monitor->user = user;
    return 0;
}

/* ---- gradients --------------------------------------------------------------------------------------------------- */

/* The gradients of one node: its name has `length` characters of theirs. */
typedef struct gradients {
    const char *node;
    size_t length;
    int n; /* arguments of the node; 0: its names are left as they are */
    const mxc_op_def *def;
} gradients;

static const char backward[] = "_backward_";

/* The number of names in a list "a,b". */
static int count_names(const char *names) {
    int n = names && *names;
    for (; names && *names; names++)
        n += *names == ',';
    return n;
}

/* Fill in the operator and the number of arguments if one output of the graph is of that node. */
static mxc_status describe_node(const mxc_symbol *output, gradients *g) {
    const char *name = mxc_symbol_name(output), *op = mxc_symbol_op_name(output);
    mxc_symbol *inputs;
    if (!op || !name || strlen(name) != g->length || strncmp(name, g->node, g->length) != 0)
        return MXC_OK;
    MXC_TRY(mxc_symbol_children(output, &inputs));
    g->def = mxc_op_find(op);
    g->n = g->def ? (int)mxc_symbol_n_outputs(inputs) - count_names(g->def->aux) : 0;
    mxc_symbol_release(inputs);
    return MXC_OK;
}

/* The node that an observed name is a gradient of, if it is one. */
static mxc_status find_gradients(const mxc_symbol *symbol, const char *name, gradients *out) {
    const char *mark = strstr(name, backward);
    mxc_symbol *internals, *output;
    *out = (gradients){.node = name, .length = mark ? (size_t)(mark - name) : 0};
    if (!mark)
        return MXC_OK;
    MXC_TRY(mxc_symbol_internals(symbol, &internals));
    mxc_status status = MXC_OK;
    for (int64_t i = 0; i < mxc_symbol_n_outputs(internals) && !out->n && status == MXC_OK; i++) {
        status = mxc_symbol_output(internals, i, &output);
        if (status == MXC_OK)
            status = describe_node(output, out);
        mxc_symbol_release(output);
    }
    mxc_symbol_release(internals);
    return status;
}

/* Which argument of the node an observed name is the gradient of; -1: none that has a name. */
static int argument_of(const gradients *g, const char *name) {
    const char *arg = name + g->length + sizeof backward - 1, *at = g->def->args ? g->def->args : "data";
    if (strncmp(name, g->node, g->length) != 0 || strncmp(name + g->length, backward, sizeof backward - 1) != 0)
        return -1;
    for (int i = 0; i < g->n && *at; i++) {
        size_t length = strcspn(at, ",");
        if (strlen(arg) == length && strncmp(arg, at, length) == 0)
            return i;
        at += length + (at[length] == ',');
    }
    return -1;
}

/* ---- showing ----------------------------------------------------------------------------------------------------- */

/* array NULL: a single 0. */
static int show(const mxnet_monitor *monitor, const char *name, mxc_ndarray *array) {
    const int64_t one = 1;
    NDArrayHandle handle;
    mxc_ndarray *shown = mxc_ndarray_retain(array);
    if (!shown)
        MXNET_TRY(mxc_ndarray_from_data(1, &one, MXC_F32, &(float){0}, &shown));
    MXNET_CALL(mxnet_ndarray_new(shown, &handle));
    monitor->callback(name, handle, monitor->user); /* frees the handle */
    return 0;
}

/* Shows all gradients of the node whose first one is *at, and moves *at behind those that were observed. */
static int show_gradients(const mxnet_monitor *monitor, const gradients *g, const mxnet_observed **at) {
    const size_t size = g->length + sizeof backward + 24;
    mxc_ndarray **found = mxnet_alloc((size_t)g->n, sizeof *found);
    char *name = mxnet_alloc(size, 1);
    int result = found && name ? 0 : -1;
    for (int k; !result && *at && (k = argument_of(g, (*at)->name)) >= 0; *at = (*at)->next)
        found[k] = (*at)->array;
    for (int i = 0; i < g->n && !result; i++) {
        if (g->n > 1)
            snprintf(name, size, "%.*s%soutput%d", (int)g->length, g->node, backward, i);
        else
            snprintf(name, size, "%.*s%soutput", (int)g->length, g->node, backward);
        result = show(monitor, name, found[i]);
    }
    mxnet_free(found);
    mxnet_free(name);
    return result;
}

int mxnet_monitor_show(mxnet_monitor *monitor, const mxc_executor *executor) {
    mxc_engine *engine;
    int result = 0;
    if (!monitor->callback)
        return 0;
    MXNET_TRY(mxc_engine_default(&engine));
    MXNET_TRY(mxc_wait_all(engine));
    for (const mxnet_observed *at = monitor->first; at && !result;) {
        gradients g;
        MXNET_TRY(find_gradients(mxc_executor_symbol(executor), at->name, &g));
        if (g.n > 0 && argument_of(&g, at->name) >= 0) {
            result = show_gradients(monitor, &g, &at);
        } else {
            result = show(monitor, at->name, at->array);
            at = at->next;
        }
    }
    mxnet_monitor_clear(monitor);
    return result;
}
