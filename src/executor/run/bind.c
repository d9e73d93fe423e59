/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binding a symbol to arrays (mxc_executor_bind): checks the arrays, lowers the symbol, creates the outputs, and
 * prepares the steps. Binding from shapes alone is in simple_bind.c, from saved parameters in load_params.c.
 */
#include "executor/run/bind.h"

#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "base/sized.h"
#include "executor/passes/lowering.h"
#include "executor/run/bound_program.h"
#include "executor/run/segments.h"

/* ---- options --------------------------------------------------------------------------------------------------- */

void mxc_bind_options_init(mxc_bind_options *options, size_t size) {
    static const mxc_bind_options defaults = MXC_BIND_OPTIONS_INIT;
    mxci_sized_init(options, size, &defaults, sizeof defaults);
}

void mxc_bind_spec_init(mxc_bind_spec *spec, size_t size) {
    static const mxc_bind_spec defaults = MXC_BIND_SPEC_INIT;
    mxci_sized_init(spec, size, &defaults, sizeof defaults);
}

mxc_status mxci_bind_options_read(const mxc_bind_options *given, mxc_bind_options *out) {
    *out = (mxc_bind_options)MXC_BIND_OPTIONS_INIT;
    if (given)
        MXC_TRY(mxci_sized_read("bind", "options", "mxc_bind_options_init", given, out, sizeof *out));
    if (out->n_groups < 0 || (out->n_groups > 0 && (!out->group_names || !out->group_contexts)))
        return MXC_FAIL(MXC_EINVAL, "bind: %d device groups, but no names or contexts", out->n_groups);
    if (out->recompute < MXC_RECOMPUTE_NONE || out->recompute > MXC_RECOMPUTE_ALL)
        return MXC_FAIL(MXC_EINVAL, "bind: recompute is %d, expected 0 to %d", (int)out->recompute, MXC_RECOMPUTE_ALL);
    if (out->bulk_nodes < 0)
        return MXC_FAIL(MXC_EINVAL, "bind: bulk_nodes is %d, expected 0 or more", out->bulk_nodes);
    if (out->bulk_nodes == 0)
        out->bulk_nodes = (int)mxci_option_get(MXCI_OPT_MXC_BULK_NODES);
    return MXC_OK;
}

mxc_status mxci_bind_spec_read(const mxc_bind_spec *given, mxc_bind_spec *out) {
    *out = (mxc_bind_spec)MXC_BIND_SPEC_INIT;
    if (given)
        MXC_TRY(mxci_sized_read("bind", "spec", "mxc_bind_spec_init", given, out, sizeof *out));
    if (out->n > 0)
        MXC_TRY(MXCI_CHECK_NON_NULL(out->names, "bind: spec->names"));
    return out->n_no_grad > 0 ? MXCI_CHECK_NON_NULL(out->no_grad, "bind: spec->no_grad") : MXC_OK;
}

/* A copy of n flags; NULL stays NULL. */
static mxc_status copy_flags(const uint8_t *from, int64_t n, const uint8_t **out) {
    uint8_t *to = from ? mxci_calloc((size_t)n + 1, 1) : NULL;
    *out = to;
    if (from && !to)
        return MXCI_NO_MEMORY("bind", "constant arguments");
    for (int64_t i = 0; i < n && to; i++)
        to[i] = from[i] != 0;
    return MXC_OK;
}

/* A copy that owns its arrays; freed with the executor, also after a failure. */
static mxc_status copy_options(const mxc_executor *e, const mxc_bind_options *from, mxc_bind_options *to) {
    char **names;
    mxc_context *contexts;
    *to = *from;
    to->shared = NULL;
    to->constant_args = to->constant_aux = NULL;
    to->group_names = (const char *const *)(names = mxci_calloc((size_t)from->n_groups + 1, sizeof *names));
    to->group_contexts = contexts = mxci_calloc((size_t)from->n_groups + 1, sizeof *contexts);
    if (!names || !contexts)
        return MXCI_NO_MEMORY("bind", "device groups");
    for (int i = 0; i < from->n_groups; i++) {
        MXC_TRY(MXCI_CHECK_NON_NULL(from->group_names[i], "bind: the name of a device group"));
        contexts[i] = from->group_contexts[i];
        names[i] = mxci_strdup(from->group_names[i]);
        if (!names[i])
            return MXCI_NO_MEMORY("bind", "device groups");
    }
    MXC_TRY(copy_flags(from->constant_args, e->arg_names.n, &to->constant_args));
    return copy_flags(from->constant_aux, e->aux_names.n, &to->constant_aux);
}

/* ---- graph ----------------------------------------------------------------------------------------------------- */

static void set_known(mxci_graph *g, int32_t node, mxc_ndarray *array) {
    g->shapes[g->nodes[node].first_entry] = *mxc_ndarray_shape(array);
    g->types[g->nodes[node].first_entry] = mxc_ndarray_dtype(array);
}

mxc_status mxci_check_complete(const mxci_graph *g) {
    for (int32_t i = 0; i < g->n_entries; i++)
        if (!mxc_shape_known(&g->shapes[i]) || g->types[i] == MXC_DTYPE_UNKNOWN)
            return MXC_FAIL(MXC_ESHAPE, "bind: a shape or dtype of node %s does not follow from the arguments",
                            g->nodes[g->entry_node[i]].name);
    return MXC_OK;
}

mxc_status mxci_bind_graph(const mxc_symbol *symbol, mxc_ndarray *const *args, mxc_ndarray *const *aux,
                           mxci_graph **out) {
    mxci_graph *g;
    mxc_status status;
    *out = NULL;
    MXC_TRY(mxci_graph_from_symbol(symbol, &g));
    for (int32_t i = 0; i < g->n_args; i++)
        set_known(g, g->args[i], args[i]);
    for (int32_t i = 0; i < g->n_aux; i++)
        set_known(g, g->aux[i], aux[i]);
    status = mxci_graph_infer(g);
    if (status == MXC_OK)
        status = mxci_check_complete(g);
    if (status == MXC_OK)
        *out = g;
    else
        mxci_graph_destroy(g);
    return status;
}

mxc_status mxci_executor_lower(const mxc_executor *e, int unoptimized, mxci_program **out) {
    mxci_lowering_options lowering = {&e->options, e->reqs, e->options.bulk_nodes > 0, unoptimized};
    mxci_graph *graph;
    *out = NULL;
    MXC_TRY(mxci_bind_graph(e->symbol, e->args, e->aux, &graph));
    return mxci_lower(graph, &lowering, out);
}

/* ---- given arrays ---------------------------------------------------------------------------------------------- */

/* Retains the arrays given; what and param name them in messages. */
static mxc_status take_arrays(const char *what, const char *param, const mxc_names *names, mxc_ndarray *const *given,
                              mxc_ndarray **out) {
    if (names->n > 0 && !given)
        return MXC_FAIL(MXC_EINVAL, "bind: %lld %ss expected, found none: %s is NULL", (long long)names->n, what,
                        param);
    for (int64_t i = 0; i < names->n; i++) {
        if (!given[i])
            return MXC_FAIL(MXC_EINVAL, "bind: %s %s is NULL", what, names->items[i]);
        out[i] = mxc_ndarray_retain(given[i]);
    }
    return MXC_OK;
}

/* Checks and retains the gradient arrays with a request. Without requests, each array given is written. */
static mxc_status take_gradients(mxc_executor *e, mxc_ndarray *const *grads, const mxc_req *reqs) {
    for (int64_t i = 0; i < e->arg_names.n; i++) {
        char want[MXC_SHAPE_TEXT], have[MXC_SHAPE_TEXT];
        mxc_ndarray *grad = grads ? grads[i] : NULL;
        mxc_req req = !grads ? MXC_REQ_NULL : reqs ? reqs[i] : grad ? MXC_REQ_WRITE : MXC_REQ_NULL;
        if (req != MXC_REQ_NULL && req != MXC_REQ_WRITE && req != MXC_REQ_ADD)
            return MXC_FAIL(MXC_EINVAL, "bind: gradient request %d of argument %s: expected null, write or add",
                            (int)req, e->arg_names.items[i]);
        if (req != MXC_REQ_NULL && !grad)
            return MXC_FAIL(MXC_EINVAL, "bind: the gradient of argument %s is asked for, but its array is NULL",
                            e->arg_names.items[i]);
        e->reqs[i] = req;
        if (req == MXC_REQ_NULL)
            continue;
        if (!mxc_shape_equal(mxc_ndarray_shape(e->args[i]), mxc_ndarray_shape(grad)))
            return MXC_FAIL(MXC_ESHAPE, "bind: gradient of argument %s: expected shape %s, found %s",
                            e->arg_names.items[i], mxc_shape_format(mxc_ndarray_shape(e->args[i]), want, sizeof want),
                            mxc_shape_format(mxc_ndarray_shape(grad), have, sizeof have));
        if (mxc_ndarray_dtype(e->args[i]) != mxc_ndarray_dtype(grad))
            return MXC_FAIL(MXC_EDTYPE, "bind: gradient of argument %s: expected dtype %s, found %s",
                            e->arg_names.items[i], mxc_dtype_name(mxc_ndarray_dtype(e->args[i])),
                            mxc_dtype_name(mxc_ndarray_dtype(grad)));
        e->grads[i] = mxc_ndarray_retain(grad);
    }
    return MXC_OK;
}

/* Checks the context and that all arrays have one engine, and allocates the memory now, so that no run has to. */
static mxc_status bind_check_array(mxc_executor *e, const char *name, mxc_ndarray *array, mxc_context context) {
    char want[32], have[32];
    mxc_tensor tensor;
    mxc_engine *engine = mxc_var_engine(mxc_ndarray_var(array));
    if (!mxc_context_equal(mxc_ndarray_context(array), context))
        return MXC_FAIL(MXC_EDEVICE, "bind: array of %s: expected context %s, found %s", name,
                        mxc_context_format(context, want, sizeof want),
                        mxc_context_format(mxc_ndarray_context(array), have, sizeof have));
    if (e->engine && e->engine != engine)
        return MXC_FAIL(MXC_EINVAL, "bind: array of %s belongs to another engine than the others", name);
    e->engine = engine;
    return mxc_ndarray_tensor(array, &tensor);
}

/* Checks all arrays given, and sets the engine that they belong to. */
static mxc_status check_arrays(mxc_executor *e, const mxci_graph *g) {
    for (int32_t i = 0; i < g->n_args; i++) {
        mxc_context context = g->nodes[g->args[i]].context;
        if (mxci_constant_cache_lacks(e->constants, i))
            continue;
        MXC_TRY(bind_check_array(e, e->arg_names.items[i], e->args[i], context));
        if (e->grads[i])
            MXC_TRY(bind_check_array(e, e->arg_names.items[i], e->grads[i], context));
    }
    for (int32_t i = 0; i < g->n_aux; i++)
        MXC_TRY(bind_check_array(e, e->aux_names.items[i], e->aux[i], g->nodes[g->aux[i]].context));
    return e->engine ? MXC_OK : mxc_engine_default(&e->engine);
}

/* ---- new arrays ------------------------------------------------------------------------------------------------ */

mxc_status mxci_bind_array(const mxci_graph *g, int32_t entry, mxc_ndarray **out) {
    const mxc_shape *shape = &g->shapes[entry];
    const mxci_gnode *node = &g->nodes[g->entry_node[entry]];
    mxc_status status = mxc_ndarray_create(shape->ndim, shape->dim, g->types[entry], node->context, out);
    if (status == MXC_OK)
        status = mxc_ndarray_fill(*out, 0);
    return status == MXC_OK ? MXC_OK : MXC_FAIL(status, "bind: array of %s: %s", node->name, mxc_last_error());
}

static mxc_status make_array(mxc_executor *e, const mxci_graph *g, int32_t entry, mxc_ndarray **out) {
    const mxci_gnode *node = &g->nodes[g->entry_node[entry]];
    MXC_TRY(mxci_bind_array(g, entry, out));
    return bind_check_array(e, node->name, *out, node->context);
}

/* Output arrays and, where they are read, arrays of head gradients. An output that is an argument, an auxiliary state
 * or an earlier output is the same array. */
static mxc_status make_outputs(mxc_executor *e, const mxci_program *p) {
    const mxci_graph *g = p->graph;
    for (int32_t i = 0; i < g->n_outputs; i++) {
        mxci_location location = p->location[g->outputs[i]];
        if (location.kind == MXCI_LOCATION_ARG)
            e->outputs[i] = mxc_ndarray_retain(e->args[location.index]);
        else if (location.kind == MXCI_LOCATION_AUX)
            e->outputs[i] = mxc_ndarray_retain(e->aux[location.index]);
        else if (location.index < i)
            e->outputs[i] = mxc_ndarray_retain(e->outputs[location.index]); /* the same output twice */
        else
            MXC_TRY(make_array(e, g, g->outputs[i], &e->outputs[i]));
        if (p->heads[i] >= 0)
            MXC_TRY(make_array(e, g, p->heads[i], &e->heads[i]));
    }
    return MXC_OK;
}

/* ---- binding --------------------------------------------------------------------------------------------------- */

/* Everything that follows from the symbol and the options: names, and empty lists of arrays. */
static mxc_status bind_describe(mxc_executor *e, mxc_symbol *symbol, const mxc_bind_options *given) {
    mxc_bind_options options;
    size_t n_args, n_outputs;
    MXC_TRY(mxci_bind_options_read(given, &options));
    e->symbol = mxc_symbol_retain(symbol);
    MXC_TRY(mxc_symbol_list_arguments(symbol, &e->arg_names));
    MXC_TRY(mxc_symbol_list_outputs(symbol, &e->output_names));
    MXC_TRY(mxc_symbol_list_aux(symbol, &e->aux_names));
    MXC_TRY(copy_options(e, &options, &e->options));
    n_args = (size_t)e->arg_names.n + 1;
    n_outputs = (size_t)e->output_names.n + 1;
    e->args = mxci_calloc(n_args, sizeof *e->args);
    e->grads = mxci_calloc(n_args, sizeof *e->grads);
    e->reqs = mxci_calloc(n_args, sizeof *e->reqs);
    e->aux = mxci_calloc((size_t)e->aux_names.n + 1, sizeof *e->aux);
    e->outputs = mxci_calloc(n_outputs, sizeof *e->outputs);
    e->heads = mxci_calloc(n_outputs, sizeof *e->heads);
    if (!e->args || !e->grads || !e->reqs || !e->aux || !e->outputs || !e->heads)
        return MXCI_NO_MEMORY("bind", "lists of arrays");
    return MXC_OK;
}

/* Everything that follows from the arrays: the program, output arrays, arenas (those of shared first, if it is not
 * NULL), and the prepared steps. */
static mxc_status bind_prepare(mxc_executor *e, const mxc_executor *shared) {
    mxci_program *p;
    mxc_status status;
    MXC_TRY(mxci_executor_lower(e, 0, &p));
    status = check_arrays(e, p->graph);
    if (status == MXC_OK)
        status = make_outputs(e, p);
    if (status == MXC_OK && shared && shared->n_arenas) {
        e->arenas = mxci_calloc((size_t)shared->n_arenas, sizeof *e->arenas);
        if (shared->engine != e->engine)
            status = MXC_FAIL(MXC_EINVAL, "bind: the executor to share memory with runs on another engine");
        else if (!e->arenas)
            status = MXCI_NO_MEMORY("bind", "the list of arenas");
        for (; status == MXC_OK && e->n_arenas < shared->n_arenas; e->n_arenas++)
            e->arenas[e->n_arenas] = mxci_arena_retain(shared->arenas[e->n_arenas]);
    }
    if (status != MXC_OK) {
        mxci_program_destroy(p);
        return status;
    }
    return mxci_bound_program_create(e, p, &e->bound);
}

/* The cache of constants: the one given, or a new one if anything is constant. */
static mxc_status take_cache(mxc_executor *e, mxci_constant_cache *given) {
    if (!e->options.constant_args && !e->options.constant_aux)
        return MXC_OK;
    if (!given)
        return mxci_constant_cache_create(&e->constants);
    e->constants = mxci_constant_cache_retain(given);
    return MXC_OK;
}

mxc_status mxci_executor_bind(mxc_symbol *symbol, const mxc_bind_options *options, mxc_ndarray *const *args,
                              mxc_ndarray *const *grads, const mxc_req *reqs, mxc_ndarray *const *aux,
                              mxci_constant_cache *constants, mxc_executor **out) {
    mxc_executor *e = mxci_calloc(1, sizeof *e);
    mxc_status status;
    *out = NULL;
    if (!e)
        return MXCI_NO_MEMORY("bind", "an executor");
    mxci_mutex_init(&e->monitor_lock);
    status = bind_describe(e, symbol, options);
    if (status == MXC_OK)
        status = take_cache(e, constants);
    if (status == MXC_OK)
        status = take_arrays("argument", "args", &e->arg_names, args, e->args);
    if (status == MXC_OK)
        status = take_arrays("auxiliary state", "aux", &e->aux_names, aux, e->aux);
    if (status == MXC_OK)
        status = take_gradients(e, grads, reqs);
    if (status == MXC_OK)
        status = bind_prepare(e, options ? options->shared : NULL);
    if (status == MXC_OK)
        *out = e;
    else
        mxc_executor_destroy(e);
    return status;
}

mxc_status mxc_executor_bind(mxc_symbol *symbol, const mxc_bind_options *options, mxc_ndarray *const *args,
                             mxc_ndarray *const *grads, const mxc_req *reqs, mxc_ndarray *const *aux,
                             mxc_executor **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(symbol));
    return mxci_executor_bind(symbol, options, args, grads, reqs, aux, NULL, out);
}

static void release_arrays(mxc_ndarray **arrays, int64_t n) {
    for (int64_t i = 0; i < n && arrays; i++)
        mxc_ndarray_release(arrays[i]);
    mxci_free(arrays);
}

void mxc_executor_destroy(mxc_executor *e) {
    if (!MXCI_MAY_RELEASE(e))
        return;
    mxci_segments_wait_all(e->bound);
    mxci_bound_program_destroy(e->bound);
    for (int32_t i = 0; i < e->n_arenas; i++)
        mxci_arena_release(e->arenas[i]);
    mxci_free(e->arenas);
    mxci_constant_cache_release(e->constants);
    release_arrays(e->args, e->arg_names.n);
    release_arrays(e->grads, e->arg_names.n);
    release_arrays(e->aux, e->aux_names.n);
    release_arrays(e->outputs, e->output_names.n);
    release_arrays(e->heads, e->output_names.n);
    mxci_free(e->reqs);
    mxc_names_release(&e->arg_names);
    mxc_names_release(&e->output_names);
    mxc_names_release(&e->aux_names);
    mxc_symbol_release(e->symbol);
    for (int i = 0; i < e->options.n_groups && e->options.group_names; i++)
        mxci_free((char *)e->options.group_names[i]);
    mxci_free((void *)e->options.group_names);
    mxci_free((void *)e->options.group_contexts);
    mxci_free((void *)e->options.constant_args);
    mxci_free((void *)e->options.constant_aux);
    mxci_mutex_destroy(&e->monitor_lock);
    mxci_free_object(e);
}
