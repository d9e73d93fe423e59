/* SPDX-License-Identifier: Apache-2.0 */
/* Editing the flat graph: see graph_edit.h. Nodes are only ever appended; a pass sorts the graph afterwards. */
#include "symbol/graph_edit.h"

#include "base/text.h"

void mxci_graph_replace_entry(mxci_graph *g, int32_t from, int32_t to) {
    for (int32_t i = 0; i < g->n_inputs; i++)
        if (g->inputs[i] == from)
            g->inputs[i] = to;
    for (int32_t i = 0; i < g->n_outputs; i++)
        if (g->outputs[i] == from)
            g->outputs[i] = to;
}

mxc_status mxci_graph_add_op(mxci_graph *g, mxc_op *op, int32_t like, const char *suffix, int32_t n,
                             const int32_t *inputs, int32_t n_outputs, int32_t *out) {
    char name[256];
    int32_t node = -1;
    mxci_format(name, sizeof name, "%s_%s", g->nodes[like].name, suffix);
    MXC_TRY(mxci_graph_add(g, MXCI_FORWARD, op, name, n, inputs, n_outputs, -1, &node));
    g->nodes[node].context = g->nodes[like].context;
    *out = g->nodes[node].first_entry;
    return MXC_OK;
}

mxc_status mxci_graph_add_like(mxci_graph *g, const char *op_name, const char *suffix, int32_t n,
                               const int32_t *entries, int32_t *out) {
    int32_t from = entries[0];
    const char *key = "num_args", *value;
    char count[16];
    mxc_op *op;
    mxc_status status;
    mxci_format(count, sizeof count, "%d", n);
    value = count;
    MXC_TRY(mxc_op_create(op_name, n > 1, &key, &value, &op));
    status = mxci_graph_add_op(g, op, g->entry_node[from], suffix, n, entries, 1, out);
    mxc_op_release(op);
    MXC_TRY(status);
    g->shapes[*out] = g->shapes[from];
    g->types[*out] = g->types[from];
    return MXC_OK;
}
