/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computing constants: see constants.h. The operators that make them are found in the cache or added to it, in
 * topological order, since the key of each names those that it reads from; then, in reverse order, what has to be
 * computed is marked; then the operators are called like those of imperative programs.
 */
#include "executor/run/constants.h"

#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "engine/core/frame.h"

typedef struct evaluation {
    const mxc_executor *executor;
    const mxci_program *program;
    mxci_constants *constants;
    mxci_node_sequence order; /* operators that make constants */
    uint8_t *is_kept;         /* entry: it is a constant */
    uint8_t *is_wanted;       /* entry: to be computed */
    int32_t *readers;         /* entry: operators still to be called that read it */
    mxc_ndarray **values;     /* entry: what has been computed or found, retained */
    mxc_ndarray **in, **out;  /* of one call */
    mxc_req *req;
} evaluation;

static mxc_status evaluation_open(evaluation *v) {
    const mxci_program *p = v->program;
    const mxci_graph *g = p->graph;
    const size_t n_nodes = (size_t)g->n_nodes + 1, n_entries = (size_t)g->n_entries + 1;
    v->order.nodes = mxci_calloc(3 * n_nodes, sizeof *v->order.nodes);
    v->is_kept = mxci_calloc(n_entries, 1);
    v->is_wanted = mxci_calloc(n_entries, 1);
    v->readers = mxci_calloc(n_entries, sizeof *v->readers);
    v->values = mxci_calloc(n_entries, sizeof *v->values);
    v->in = mxci_calloc((size_t)g->n_inputs + 1, sizeof *v->in);
    v->out = mxci_calloc(n_entries, sizeof *v->out);
    v->req = mxci_calloc(n_entries, sizeof *v->req);
    v->constants->arrays = mxci_calloc((size_t)p->n_constants + 1, sizeof *v->constants->arrays);
    v->constants->nodes = mxci_calloc(n_nodes, sizeof *v->constants->nodes);
    if (!v->order.nodes || !v->is_kept || !v->is_wanted || !v->readers || !v->values || !v->in || !v->out || !v->req ||
        !v->constants->arrays || !v->constants->nodes)
        return MXCI_NO_MEMORY("executor", "constants");
    v->order.place = v->order.nodes + n_nodes;
    v->order.stack = v->order.place + n_nodes;
    for (int32_t i = 0; i < g->n_nodes; i++)
        v->order.place[i] = -1;
    for (int32_t i = 0; i < p->n_constants; i++) {
        v->is_kept[p->constants[i].value] = 1;
        mxci_graph_place(g, g->entry_node[p->constants[i].value], &v->order);
    }
    return MXC_OK;
}

static void evaluation_close(evaluation *v) {
    for (int32_t i = 0; i < v->program->graph->n_entries && v->values; i++)
        mxc_ndarray_release(v->values[i]);
    mxci_free(v->order.nodes);
    mxci_free(v->is_kept);
    mxci_free(v->is_wanted);
    mxci_free(v->readers);
    mxci_free(v->values);
    mxci_free(v->in);
    mxci_free(v->out);
    mxci_free(v->req);
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

/* Texts of any contents are preceded by their length. */
static void add_text(mxci_text *key, const char *text) {
    mxci_text_printf(key, " %zu:%s", strlen(text), text);
}

/* The operator, its parameters, what it reads, and the dtypes, shapes and context of its results. */
static mxc_status make_key(const evaluation *v, int32_t at, char **out) {
    const mxci_graph *g = v->program->graph;
    const mxci_gnode *n = &g->nodes[at];
    const char *name, *value;
    char text[MXC_SHAPE_TEXT];
    mxci_text key = {0};
    add_text(&key, mxc_op_get_def(n->op)->name);
    for (int i = 0; i < mxc_op_n_given(n->op); i++) {
        mxc_op_given(n->op, i, &name, &value);
        add_text(&key, name);
        add_text(&key, value);
    }
    for (int32_t i = 0; i < n->n_inputs; i++) {
        const int32_t entry = mxci_graph_inputs(g, at)[i], from = g->entry_node[entry];
        const mxci_location location = v->program->location[entry];
        if (g->nodes[from].kind == MXCI_VARIABLE)
            mxci_text_printf(&key, " %s%d", location.kind == MXCI_LOCATION_ARG ? "arg" : "aux", location.index);
        else
            mxci_text_printf(&key, " #%llu.%d", (unsigned long long)v->constants->nodes[v->order.place[from]]->id,
                             entry - g->nodes[from].first_entry);
    }
    for (int32_t i = n->first_entry; i < n->first_entry + n->n_outputs; i++)
        mxci_text_printf(&key, " %s%s", mxc_dtype_name(g->types[i]),
                         mxc_shape_format(&g->shapes[i], text, sizeof text));
    mxci_text_printf(&key, " %s", mxc_context_format(n->context, text, sizeof text));
    return mxci_text_take(&key, out);
}

/* Finds or makes the nodes of the cache, and takes what they have. */
static mxc_status take_nodes(evaluation *v) {
    const mxci_graph *g = v->program->graph;
    mxci_constants *c = v->constants;
    for (int32_t i = 0; i < v->order.n; i++) {
        const mxci_gnode *n = &g->nodes[v->order.nodes[i]];
        char *key;
        mxc_status status;
        MXC_TRY(make_key(v, v->order.nodes[i], &key));
        status = mxci_constant_cache_take(c->cache, key, n->n_outputs, &c->nodes[i]);
        mxci_free(key);
        MXC_TRY(status);
        c->n_nodes++;
        for (int32_t j = 0; j < n->n_outputs; j++)
            v->values[n->first_entry + j] = mxc_ndarray_retain(c->nodes[i]->outputs[j]);
    }
    return MXC_OK;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* Marks the results that the cache lacks, and those that they are computed from. */
static void mark_wanted(evaluation *v) {
    const mxci_graph *g = v->program->graph;
    for (int32_t i = 0; i < g->n_entries; i++)
        v->is_wanted[i] = v->is_kept[i] && !v->values[i];
    for (int32_t i = v->order.n - 1; i >= 0; i--) {
        const mxci_gnode *n = &g->nodes[v->order.nodes[i]];
        int is_called = 0;
        for (int32_t j = n->first_entry; j < n->first_entry + n->n_outputs; j++)
            is_called |= v->is_wanted[j];
        for (int32_t j = 0; j < n->n_inputs && is_called; j++) {
            const int32_t entry = mxci_graph_inputs(g, v->order.nodes[i])[j];
            v->is_wanted[entry] = !v->values[entry];
            v->readers[entry]++;
        }
    }
}

static mxc_status value_of(const evaluation *v, int32_t entry, mxc_ndarray **out) {
    const mxci_location location = v->program->location[entry];
    const mxc_executor *e = v->executor;
    if (v->program->graph->nodes[v->program->graph->entry_node[entry]].kind != MXCI_VARIABLE) {
        *out = v->values[entry];
        return MXC_OK;
    }
    *out = location.kind == MXCI_LOCATION_ARG ? e->args[location.index] : e->aux[location.index];
    return location.kind == MXCI_LOCATION_ARG ? mxci_constants_check_arg(e, location.index) : MXC_OK;
}

/* Releases what only the operator, whose call is queued, still had to read, so that memory for all that lies between
 * parameters and constants is not there at once. */
static void release_inputs(evaluation *v, int32_t at) {
    const mxci_graph *g = v->program->graph;
    for (int32_t i = 0; i < g->nodes[at].n_inputs; i++) {
        const int32_t entry = mxci_graph_inputs(g, at)[i];
        if (--v->readers[entry] > 0 || v->is_kept[entry])
            continue;
        mxc_ndarray_release(v->values[entry]);
        v->values[entry] = NULL;
    }
}

/* Queues the call of an operator for those of its results that are wanted. */
static mxc_status call_operator(evaluation *v, int32_t at) {
    const mxci_graph *g = v->program->graph;
    const mxci_gnode *n = &g->nodes[at];
    int n_wanted = 0;
    for (int32_t i = 0; i < n->n_outputs; i++) {
        const int32_t entry = n->first_entry + i;
        const mxc_shape *shape = &g->shapes[entry];
        v->req[i] = v->is_wanted[entry] ? MXC_REQ_WRITE : MXC_REQ_NULL;
        v->out[i] = NULL;
        if (!v->is_wanted[entry])
            continue;
        MXC_TRY(mxc_ndarray_create(shape->ndim, shape->dim, g->types[entry], n->context, &v->values[entry]));
        v->out[i] = v->values[entry];
        n_wanted++;
    }
    for (int32_t i = 0; i < n->n_inputs && n_wanted; i++)
        MXC_TRY(value_of(v, mxci_graph_inputs(g, at)[i], &v->in[i]));
    if (!n_wanted)
        return MXC_OK;
    MXC_TRY(mxc_op_invoke(n->op, n->n_inputs, v->in, n->n_outputs, v->out, v->req, 0));
    release_inputs(v, at);
    return MXC_OK;
}

/* Gives the executor its constants, and the cache what it lacked. A constant that failed is not kept, so that the next
 * executor computes it again. */
static mxc_status keep_values(evaluation *v) {
    const mxci_program *p = v->program;
    mxc_tensor tensor;
    for (int32_t i = 0; i < p->n_constants; i++) {
        const int32_t entry = p->constants[i].value, node = p->graph->entry_node[entry];
        mxc_ndarray **cached =
            &v->constants->nodes[v->order.place[node]]->outputs[entry - p->graph->nodes[node].first_entry];
        MXC_TRY(mxc_ndarray_wait_to_read(v->values[entry]));
        MXC_TRY(mxc_ndarray_tensor(v->values[entry], &tensor)); /* memory, also of one without elements */
        if (!*cached)
            *cached = mxc_ndarray_retain(v->values[entry]);
        v->constants->arrays[v->constants->n++] = mxc_ndarray_retain(*cached); /* one of equal ones */
    }
    return MXC_OK;
}

static mxc_status evaluate(evaluation *v) {
    const unsigned mode = mxci_mode_exchange(0); /* not recorded, and as in inference */
    mxc_status status = evaluation_open(v);
    mxci_constant_cache_lock(v->constants->cache);
    if (status == MXC_OK)
        status = take_nodes(v);
    if (status == MXC_OK)
        mark_wanted(v);
    for (int32_t i = 0; i < v->order.n && status == MXC_OK; i++)
        status = call_operator(v, v->order.nodes[i]);
    if (status == MXC_OK)
        status = keep_values(v);
    mxci_constant_cache_unlock(v->constants->cache);
    evaluation_close(v);
    mxci_mode = mode;
    return status;
}

mxc_status mxci_constants_compute(const mxc_executor *e, const mxci_program *p, mxci_constants *out) {
    evaluation v = {.executor = e, .program = p, .constants = out};
    *out = (mxci_constants){0};
    if (!p->n_constants)
        return MXC_OK;
    out->cache = mxci_constant_cache_retain(e->constants);
    return evaluate(&v);
}

void mxci_constants_release(mxci_constants *c) {
    for (int32_t i = 0; i < c->n; i++)
        mxc_ndarray_release(c->arrays[i]);
    if (c->n_nodes)
        mxci_constant_cache_lock(c->cache);
    for (int32_t i = 0; i < c->n_nodes; i++)
        mxci_constant_cache_drop(c->cache, c->nodes[i]);
    if (c->n_nodes)
        mxci_constant_cache_unlock(c->cache);
    mxci_constant_cache_release(c->cache);
    mxci_free(c->arrays);
    mxci_free(c->nodes);
    *c = (mxci_constants){0};
}

/* ---- arguments that are not needed any more ---------------------------------------------------------------------- */

mxc_status mxci_constants_check_arg(const mxc_executor *e, int32_t arg) {
    if (!mxci_constant_cache_lacks(e->constants, arg))
        return MXC_OK;
    return MXC_FAIL(MXC_ESTATE,
                    "bind: the values of %s are needed, but were released, since results of them were enough "
                    "(release_params)",
                    e->arg_names.items[arg]);
}

/* Which constant arguments neither a step nor an output is. */
static void find_unread(const mxc_executor *e, uint8_t *unread) {
    const mxci_bound_program *b = e->bound;
    const mxci_program *p = b->program;
    for (int64_t i = 0; i < e->arg_names.n; i++)
        unread[i] = e->options.constant_args[i];
    for (int32_t i = 0; i < p->n_steps; i++)
        for (int32_t slot = 0; slot < b->steps[i].n_slots; slot++) {
            const int32_t entry = b->steps[i].entries[slot];
            if (entry >= 0 && p->location[p->root[entry]].kind == MXCI_LOCATION_ARG)
                unread[p->location[p->root[entry]].index] = 0;
        }
    for (int32_t i = 0; i < p->graph->n_outputs; i++)
        if (p->location[p->graph->outputs[i]].kind == MXCI_LOCATION_ARG)
            unread[p->location[p->graph->outputs[i]].index] = 0;
}

mxc_status mxci_constants_release_args(mxc_executor *e) {
    const int64_t n = e->options.constant_args ? e->arg_names.n : 0;
    uint8_t *unread = mxci_calloc((size_t)n + 1, 1);
    mxc_ndarray **empty = mxci_calloc((size_t)n + 1, sizeof *empty);
    mxc_status status = unread && empty ? MXC_OK : MXCI_NO_MEMORY("executor", "released arguments");
    if (status == MXC_OK && n)
        find_unread(e, unread);
    for (int64_t i = 0; i < n && status == MXC_OK; i++) {
        const mxc_shape *shape = mxc_ndarray_shape(e->args[i]);
        if (unread[i]) /* gets memory at its first use, which never comes */
            status = mxc_ndarray_create(shape->ndim, shape->dim, mxc_ndarray_dtype(e->args[i]),
                                        mxc_ndarray_context(e->args[i]), &empty[i]);
    }
    for (int64_t i = 0; i < n && empty; i++) {
        mxc_ndarray_release(status == MXC_OK && empty[i] ? e->args[i] : empty[i]);
        if (status == MXC_OK && empty[i])
            e->args[i] = empty[i];
    }
    mxci_free(empty);
    if (status == MXC_OK && n)
        mxci_constant_cache_release_args(e->constants, unread, e->bound->constants.n_nodes, e->bound->constants.nodes);
    else
        mxci_free(unread);
    return status;
}
