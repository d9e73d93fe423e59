/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flat graph: made from a symbol, extended by passes, sorted, and converted back to a symbol. What passes ask of a
 * graph is in graph_query.c, how they edit it in graph_edit.c, inference in graph_infer.c.
 */
#include "symbol/graph.h"

#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "symbol/topological_order.h"

/* ---- growing ----------------------------------------------------------------------------------------------- */

/* A new capacity of at least need items, at least doubled so that appending is linear on average. */
static int32_t graph_larger(int32_t cap, int64_t need) {
    int64_t n = 2 * (int64_t)cap > need ? 2 * (int64_t)cap : need;
    return (int32_t)(n > INT32_MAX ? INT32_MAX : n);
}

/* Reallocates to cap items; array is the address of a pointer of any type, so it is read and written as bytes. On
 * failure the array stays as it was. */
static int graph_grow(void *array, int32_t cap, size_t bytes) {
    void *block;
    memcpy(&block, array, sizeof block);
    block = mxci_realloc_array(block, (size_t)cap, bytes);
    if (block)
        memcpy(array, &block, sizeof block);
    return block != NULL;
}

/* Makes room for so many more nodes, inputs and entries. On failure the graph is as it was. */
static mxc_status graph_reserve(mxci_graph *g, int64_t nodes, int64_t inputs, int64_t entries) {
    nodes += g->n_nodes;
    inputs += g->n_inputs;
    entries += g->n_entries;
    if (nodes > INT32_MAX || inputs > INT32_MAX || entries > INT32_MAX)
        return MXC_FAIL(MXC_EUNSUPPORTED, "graph: more than %d nodes, inputs or outputs", INT32_MAX);
    if (nodes > g->cap_nodes) {
        int32_t cap = graph_larger(g->cap_nodes, nodes);
        if (!graph_grow(&g->nodes, cap, sizeof *g->nodes))
            return MXCI_NO_MEMORY("graph", "nodes");
        g->cap_nodes = cap;
    }
    if (inputs > g->cap_inputs) {
        int32_t cap = graph_larger(g->cap_inputs, inputs);
        if (!graph_grow(&g->inputs, cap, sizeof *g->inputs))
            return MXCI_NO_MEMORY("graph", "inputs");
        g->cap_inputs = cap;
    }
    if (entries > g->cap_entries) {
        int32_t cap = graph_larger(g->cap_entries, entries);
        if (!graph_grow(&g->entry_node, cap, sizeof *g->entry_node) ||
            !graph_grow(&g->shapes, cap, sizeof *g->shapes) || !graph_grow(&g->types, cap, sizeof *g->types))
            return MXCI_NO_MEMORY("graph", "outputs of nodes");
        g->cap_entries = cap;
    }
    return MXC_OK;
}

/* Append a node with room for its inputs, which the caller fills in. */
static mxc_status graph_append(mxci_graph *g, const mxci_gnode *like, const char *name, int32_t *out) {
    mxci_gnode *n;
    char *copy;
    MXC_TRY(graph_reserve(g, 1, like->n_inputs, like->n_outputs));
    copy = mxci_strdup(name);
    if (!copy)
        return MXCI_NO_MEMORY("graph", "the name of a node");
    n = &g->nodes[g->n_nodes];
    *n = *like;
    n->name = copy;
    n->op = like->op ? mxc_op_retain(like->op) : NULL;
    n->node = like->node ? mxci_node_retain(like->node) : NULL;
    n->first_input = g->n_inputs;
    n->first_entry = g->n_entries;
    n->n_aux = like->op ? mxc_op_n_aux(like->op) : 0;
    n->context = mxc_cpu(0);
    for (int32_t i = g->n_entries; i < g->n_entries + n->n_outputs; i++) {
        g->entry_node[i] = g->n_nodes;
        g->shapes[i].ndim = -1;
        g->types[i] = MXC_DTYPE_UNKNOWN;
    }
    g->n_inputs += n->n_inputs;
    g->n_entries += n->n_outputs;
    *out = g->n_nodes++;
    return MXC_OK;
}

mxc_status mxci_graph_add(mxci_graph *g, mxci_node_kind kind, mxc_op *op, const char *name, int32_t n_inputs,
                          const int32_t *inputs, int32_t n_outputs, int32_t forward, int32_t *out) {
    mxci_gnode like = {.kind = kind, .op = op, .forward = forward, .n_inputs = n_inputs, .n_outputs = n_outputs};
    MXC_TRY(graph_append(g, &like, name, out));
    if (n_inputs)
        memcpy(g->inputs + g->nodes[*out].first_input, inputs, (size_t)n_inputs * sizeof *inputs);
    return MXC_OK;
}

/* ---- sorting ----------------------------------------------------------------------------------------------- */

/* The first operator that the node reads from and that has no place yet; -1 if all have one. */
static int32_t missing_input(const mxci_graph *g, int32_t node, const int32_t *place) {
    for (int32_t i = 0; i < g->nodes[node].n_inputs; i++) {
        int32_t from = g->entry_node[mxci_graph_inputs(g, node)[i]];
        if (g->nodes[from].kind != MXCI_VARIABLE && place[from] < 0)
            return from;
    }
    return -1;
}

void mxci_graph_place(const mxci_graph *g, int32_t node, mxci_node_sequence *s) {
    int32_t depth = 0;
    if (s->place[node] >= 0)
        return;
    s->stack[depth++] = node;
    while (depth > 0) {
        int32_t top = s->stack[depth - 1], from = missing_input(g, top, s->place);
        if (from >= 0) {
            s->stack[depth++] = from;
            continue;
        }
        s->place[top] = s->n;
        s->nodes[s->n++] = top;
        depth--;
    }
}

/* Replaces each node index by the node's new place; -1 stays. */
static void renumber(int32_t n, int32_t *nodes, const int32_t *place) {
    for (int32_t i = 0; i < n; i++)
        if (nodes[i] >= 0)
            nodes[i] = place[nodes[i]];
}

mxc_status mxci_graph_sort(mxci_graph *g) {
    const size_t n = (size_t)g->n_nodes + 1;
    mxci_gnode *moved = mxci_calloc(n, sizeof *moved);
    int32_t *room = mxci_calloc(3 * n, sizeof *room);
    mxci_node_sequence s = {0, room, room + n, room + 2 * n};
    if (!moved || !room) {
        mxci_free(moved);
        mxci_free(room);
        return MXCI_NO_MEMORY("graph", "sorting its nodes");
    }
    memset(s.place, -1, n * sizeof *s.place);
    for (int32_t pass = 0; pass < 2; pass++) /* variables, then operators */
        for (int32_t i = 0; i < g->n_nodes; i++)
            if ((g->nodes[i].kind != MXCI_VARIABLE) == pass)
                mxci_graph_place(g, i, &s);
    for (int32_t i = 0; i < g->n_nodes; i++) {
        moved[i] = g->nodes[s.nodes[i]];
        renumber(1, &moved[i].forward, s.place);
    }
    memcpy(g->nodes, moved, (size_t)g->n_nodes * sizeof *moved);
    renumber(g->n_entries, g->entry_node, s.place);
    renumber(g->n_args, g->args, s.place);
    renumber(g->n_aux, g->aux, s.place);
    mxci_free(moved);
    mxci_free(room);
    return MXC_OK;
}

/* ---- from a symbol ----------------------------------------------------------------------------------------- */

/* The number of a symbol's entry, whose node has been added. */
static int32_t entry_id(const mxci_graph *g, const mxci_topological_order *order, mxci_entry e) {
    return g->nodes[mxci_topological_order_find(order, e.node)].first_entry + e.index;
}

/* Appends all nodes of the symbol. Sizes are counted first, so that every array is allocated once. */
static mxc_status add_nodes(mxci_graph *g, const mxci_topological_order *order) {
    int64_t inputs = 0, entries = 0;
    for (int32_t i = 0; i < order->n; i++) {
        inputs += order->nodes[i]->n_inputs;
        entries += mxci_node_n_outputs(order->nodes[i]);
    }
    MXC_TRY(graph_reserve(g, order->n, inputs + 1, entries)); /* one more: then there is an array also without inputs */
    for (int32_t i = 0; i < order->n; i++) {
        mxci_node *node = order->nodes[i];
        mxci_gnode like = {
            .kind = node->kind,
            .op = node->op,
            .node = node,
            .forward = node->forward ? mxci_topological_order_find(order, node->forward) : -1,
            .n_inputs = node->n_inputs,
            .n_outputs = mxci_node_n_outputs(node),
        };
        int32_t at;
        MXC_TRY(graph_append(g, &like, node->name, &at));
        for (int32_t j = 0; j < node->n_inputs; j++)
            g->inputs[g->nodes[at].first_input + j] = entry_id(g, order, node->inputs[j]);
    }
    return MXC_OK;
}

/* Fills args and aux: a variable that an operator changes, one of its last n_aux inputs, is an auxiliary state. */
static mxc_status list_variables(mxci_graph *g) {
    unsigned char *is_aux = mxci_calloc((size_t)g->n_nodes + 1, 1);
    int32_t n = 0, aux = 0;
    if (!is_aux)
        return MXCI_NO_MEMORY("graph", "the list of variables");
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const int32_t *in = mxci_graph_inputs(g, i);
        for (int32_t j = g->nodes[i].n_inputs - g->nodes[i].n_aux; j < g->nodes[i].n_inputs; j++)
            is_aux[g->entry_node[in[j]]] = 1;
    }
    for (int32_t i = 0; i < g->n_nodes; i++) {
        n += g->nodes[i].kind == MXCI_VARIABLE;
        aux += g->nodes[i].kind == MXCI_VARIABLE && is_aux[i];
    }
    g->args = mxci_calloc((size_t)(n - aux) + 1, sizeof *g->args);
    g->aux = mxci_calloc((size_t)aux + 1, sizeof *g->aux);
    for (int32_t i = 0; i < g->n_nodes && g->args && g->aux; i++)
        if (g->nodes[i].kind == MXCI_VARIABLE) {
            if (is_aux[i])
                g->aux[g->n_aux++] = i;
            else
                g->args[g->n_args++] = i;
        }
    mxci_free(is_aux);
    return g->args && g->aux ? MXC_OK : MXCI_NO_MEMORY("graph", "the list of variables");
}

/* Fills outputs; an entry may occur several times. */
static mxc_status list_outputs(mxci_graph *g, const mxci_topological_order *order, const mxc_symbol *symbol) {
    if (symbol->n_outputs > INT32_MAX)
        return MXC_FAIL(MXC_EUNSUPPORTED, "graph: more than %d outputs", INT32_MAX);
    g->outputs = mxci_calloc((size_t)symbol->n_outputs + 1, sizeof *g->outputs);
    if (!g->outputs)
        return MXCI_NO_MEMORY("graph", "the list of outputs");
    for (; g->n_outputs < symbol->n_outputs; g->n_outputs++)
        g->outputs[g->n_outputs] = entry_id(g, order, symbol->outputs[g->n_outputs]);
    return MXC_OK;
}

mxc_status mxci_graph_from_symbol(const mxc_symbol *symbol, mxci_graph **out) {
    mxci_topological_order order;
    mxci_graph *g;
    mxc_status status;
    *out = NULL;
    MXC_TRY(mxci_topological_order_make(symbol, &order));
    g = mxci_calloc(1, sizeof *g);
    status = g ? add_nodes(g, &order) : MXCI_NO_MEMORY("graph", "itself");
    if (status == MXC_OK)
        status = list_variables(g);
    if (status == MXC_OK)
        status = list_outputs(g, &order, symbol);
    mxci_topological_order_free(&order);
    if (status != MXC_OK)
        mxci_graph_destroy(g);
    else
        *out = g;
    return status;
}

void mxci_graph_destroy(mxci_graph *g) {
    if (!g)
        return;
    for (int32_t i = 0; i < g->n_nodes; i++) {
        mxc_op_release(g->nodes[i].op);
        mxci_node_release(g->nodes[i].node);
        mxci_free(g->nodes[i].name);
    }
    mxci_free(g->nodes);
    mxci_free(g->inputs);
    mxci_free(g->entry_node);
    mxci_free(g->shapes);
    mxci_free(g->types);
    mxci_free(g->outputs);
    mxci_free(g->args);
    mxci_free(g->aux);
    mxci_free(g);
}

/* ---- to a symbol ------------------------------------------------------------------------------------------- */

/* The symbol's entry for entry e of the graph, whose node has been built. */
static mxci_entry built_entry(const mxci_graph *g, mxci_node *const *built, int32_t e) {
    int32_t n = g->entry_node[e];
    return (mxci_entry){built[n], e - g->nodes[n].first_entry};
}

/* 1 if the inputs of the symbol's node n->node are those that the graph gives it, so that the node can be shared. */
static int is_unchanged(const mxci_graph *g, mxci_node *const *built, const mxci_gnode *n) {
    if (!n->node || n->node->n_inputs != n->n_inputs || (n->forward >= 0 && built[n->forward] != n->node->forward))
        return 0;
    for (int32_t i = 0; i < n->n_inputs; i++) {
        mxci_entry e = built_entry(g, built, g->inputs[n->first_input + i]);
        if (e.node != n->node->inputs[i].node || e.index != n->node->inputs[i].index)
            return 0;
    }
    return 1;
}

/* The node of the symbol for node n: the one it was made from if nothing has changed, else a new one. */
static mxc_status build_node(const mxci_graph *g, mxci_node **built, const mxci_gnode *n, mxci_node **out) {
    if (is_unchanged(g, built, n)) {
        *out = mxci_node_retain(n->node);
        return MXC_OK;
    }
    MXC_TRY(mxci_node_create(n->kind, n->name, n->op, out));
    MXC_TRY(mxci_node_reserve_inputs(*out, n->n_inputs));
    for (int32_t i = 0; i < n->n_inputs; i++)
        mxci_node_add_input(*out, built_entry(g, built, g->inputs[n->first_input + i]));
    if (n->forward >= 0)
        (*out)->forward = mxci_node_retain(built[n->forward]);
    return n->node ? mxci_node_copy_attrs(*out, n->node, 0) : MXC_OK;
}

mxc_status mxci_graph_to_symbol(const mxci_graph *g, int32_t n, const int32_t *entries, mxc_symbol **out) {
    mxci_node **built = mxci_calloc((size_t)g->n_nodes + 1, sizeof *built);
    mxci_entry *outputs = mxci_calloc((size_t)n + 1, sizeof *outputs);
    mxc_status status = built && outputs ? MXC_OK : MXCI_NO_MEMORY("graph", "the nodes of a symbol");
    *out = NULL;
    for (int32_t i = 0; i < g->n_nodes && status == MXC_OK; i++)
        status = build_node(g, built, &g->nodes[i], &built[i]);
    for (int32_t i = 0; i < n && status == MXC_OK; i++)
        outputs[i] = built_entry(g, built, entries[i]);
    if (status == MXC_OK)
        status = mxci_symbol_create(n, outputs, out);
    for (int32_t i = 0; i < g->n_nodes && built; i++)
        mxci_node_release(built[i]);
    mxci_free(built);
    mxci_free(outputs);
    return status;
}
