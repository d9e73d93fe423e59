/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Monitors of executors. What a run has computed is copied while it runs, and shown afterwards with MXNet's names,
 * which number the gradients of a node: "<node>_backward_output<i>" for argument i, or "<node>_backward_output" of one
 * argument. MXNet also shows gradients that nothing asked for; here they are a single 0.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compat/executor.h"

/* ---- names --------------------------------------------------------------------------------------------------------
 */

/* Whether MXNet has no name for the one input of an operator. */
static int has_unnamed_input(const char *op) {
    static const char *const names[] = {
#define UNNAMED_INPUT(name) name,
#include "compat/unnamed_inputs.def"
#undef UNNAMED_INPUT
    };
    const mxc_op_def *def = mxc_op_find(op);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(op, names[i]))
            return 1;
    return def && (def->flags & MXC_OP_ELEMENTWISE) && def->args && !strcmp(def->args, "data") &&
           strcmp(op, "_contrib_quadratic") != 0;
}

const char *mxnet_shown_name(const char *name, const char *op, char *out, size_t size) {
    static const char input[] = "_data";
    const size_t length = strlen(name), end = sizeof input - 1;
    if (length <= end || strcmp(name + length - end, input) != 0 || !has_unnamed_input(op))
        return name;
    snprintf(out, size, "%.*s_input0", (int)(length - end), name);
    return out;
}

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

int mxnet_monitor_set(mxnet_monitor *monitor, mxc_executor *executor, ExecutorMonitorCallback callback, void *user,
                      int is_all) {
    MXNET_TRY(mxc_executor_set_monitor(executor, callback ? observe : NULL, monitor));
    MXNET_TRY(mxc_executor_set_monitored(executor, is_all, 1));
    monitor->is_all = is_all;
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
static mxc_status find_gradients(const mxc_symbol *internals, const char *name, gradients *out) {
    const char *mark = strstr(name, backward);
    mxc_symbol *output;
    *out = (gradients){.node = name, .length = mark ? (size_t)(mark - name) : 0};
    if (!mark)
        return MXC_OK;
    mxc_status status = MXC_OK;
    for (int64_t i = 0; i < mxc_symbol_n_outputs(internals) && !out->n && status == MXC_OK; i++) {
        status = mxc_symbol_output(internals, i, &output);
        if (status == MXC_OK)
            status = describe_node(output, out);
        mxc_symbol_release(output);
    }
    return status;
}

/* The place of a name in a list "a,b", or of "arg<i>", the arguments that MXNet numbers; -1: none. */
static int place_of(const char *name, const char *names) {
    for (int place = 0; *names; place++) {
        size_t length = strcspn(names, ",");
        if (strlen(name) == length && strncmp(name, names, length) == 0)
            return place;
        names += length + (names[length] == ',');
    }
    if (strncmp(name, "arg", 3) != 0 || name[3] < '0' || name[3] > '9')
        return -1;
    char *end;
    long number = strtol(name + 3, &end, 10);
    return *end || number > INT_MAX ? -1 : (int)number;
}

/* Which argument of the node an observed name is the gradient of; -1: none that has a name. */
static int argument_of(const gradients *g, const char *name) {
    int place;
    if (strncmp(name, g->node, g->length) != 0 || strncmp(name + g->length, backward, sizeof backward - 1) != 0)
        return -1;
    place = place_of(name + g->length + sizeof backward - 1, g->def->args ? g->def->args : "data");
    return place < g->n ? place : -1;
}

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

/* What a node reads, borrowed from the graph. */
typedef struct node_input {
    const char *op;       /* of the node; NULL: the observed array is not an input */
    const char *variable; /* NULL: another node has computed it */
} node_input;

/* Fill in what is known of the observed name if it is an input of the node that has this output. */
static mxc_status describe_input(const mxc_symbol *output, const char *observed, node_input *out) {
    const char *node = mxc_symbol_name(output), *op = mxc_symbol_op_name(output);
    const mxc_op_def *def = op ? mxc_op_find(op) : NULL;
    const size_t length = node ? strlen(node) : 0;
    mxc_symbol *inputs, *input = NULL;
    if (!def || !length || strncmp(observed, node, length) != 0 || observed[length] != '_')
        return MXC_OK;
    MXC_TRY(mxc_symbol_children(output, &inputs));
    const int n = (int)mxc_symbol_n_outputs(inputs), n_aux = count_names(def->aux);
    int place = place_of(observed + length + 1, def->args ? def->args : "data");
    if (place < 0 && n_aux && (place = place_of(observed + length + 1, def->aux)) >= 0)
        place += n - n_aux;
    mxc_status status = place >= 0 && place < n ? mxc_symbol_output(inputs, place, &input) : MXC_OK;
    if (input)
        *out = (node_input){op, mxc_symbol_op_name(input) ? NULL : mxc_symbol_name(input)};
    mxc_symbol_release(input);
    mxc_symbol_release(inputs);
    return status;
}

/* Nodes run in about the order of the graph's outputs, so the search begins with *at, where the last one ended. */
static mxc_status find_input(const mxc_symbol *internals, const char *observed, int64_t *at, node_input *out) {
    const int64_t n = mxc_symbol_n_outputs(internals);
    mxc_status status = MXC_OK;
    *out = (node_input){NULL, NULL};
    for (int64_t i = 0; i < n && !out->op && status == MXC_OK; i++) {
        mxc_symbol *output;
        status = mxc_symbol_output(internals, (*at + i) % n, &output);
        if (status == MXC_OK)
            status = describe_input(output, observed, out);
        mxc_symbol_release(output);
        if (out->op)
            *at = (*at + i) % n;
    }
    return status;
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

/* An output by its name; an input after the variable that it is, if it is one. */
static int show_forward(const mxnet_monitor *monitor, const mxnet_observed *at, const mxc_symbol *internals,
                        int64_t *place) {
    char text[256];
    node_input input = {NULL, NULL};
    if (monitor->is_all)
        MXNET_TRY(find_input(internals, at->name, place, &input));
    if (input.variable)
        MXNET_CALL(show(monitor, input.variable, at->array));
    return show(monitor, input.op ? mxnet_shown_name(at->name, input.op, text, sizeof text) : at->name, at->array);
}

int mxnet_monitor_show(mxnet_monitor *monitor, const mxc_executor *executor) {
    mxc_engine *engine;
    mxc_symbol *internals;
    int64_t place = 0;
    int result = 0;
    if (!monitor->callback)
        return 0;
    MXNET_TRY(mxc_engine_default(&engine));
    MXNET_TRY(mxc_wait_all(engine));
    MXNET_TRY(mxc_symbol_internals(mxc_executor_symbol(executor), &internals));
    for (const mxnet_observed *at = monitor->first; at && !result;) {
        gradients g;
        result = mxnet_result(find_gradients(internals, at->name, &g));
        if (result)
            break;
        if (g.n > 0 && argument_of(&g, at->name) >= 0) {
            result = show_gradients(monitor, &g, &at);
        } else {
            result = show_forward(monitor, at, internals, &place);
            at = at->next;
        }
    }
    mxc_symbol_release(internals);
    mxnet_monitor_clear(monitor);
    return result;
}
