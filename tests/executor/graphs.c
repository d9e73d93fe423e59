/* SPDX-License-Identifier: Apache-2.0 */
#include "executor/graphs.h"

#include "base/sys.h"
#include "base/text.h"
#include "symbol/graph_query.h"

mxci_program *graph_program(mxc_symbol *symbol, const mxc_shape *data, mxc_dtype type, mxc_context context) {
    static const char *const name[] = {"data"};
    mxci_program *p = mxci_calloc(1, sizeof *p);
    assert_non_null(p);
    assert_ok(mxci_symbol_infer_graph(symbol, 1, name, data, &type, &p->graph));
    for (int32_t i = 0; i < p->graph->n_nodes; i++)
        p->graph->nodes[i].context = context;
    p->n_symbol_nodes = p->n_base_nodes = p->graph->n_nodes;
    p->grads = mxci_calloc((size_t)p->graph->n_args + 1, sizeof *p->grads);
    p->heads = mxci_calloc((size_t)p->graph->n_outputs + 1, sizeof *p->heads);
    p->wanted = mxci_calloc((size_t)p->graph->n_args + 1, sizeof *p->wanted);
    p->grad_req = mxci_calloc((size_t)p->graph->n_args + 1, sizeof *p->grad_req);
    assert_true(p->grads && p->heads && p->wanted && p->grad_req);
    for (int32_t i = 0; i < p->graph->n_args; i++)
        p->grads[i] = -1;
    for (int32_t i = 0; i < p->graph->n_outputs; i++)
        p->heads[i] = -1;
    mxc_symbol_release(symbol);
    return p;
}

static void add_entry(const mxci_graph *g, int32_t entry, mxci_text *text) {
    int32_t node = g->entry_node[entry];
    const mxci_gnode *n = &g->nodes[node];
    if (n->kind == MXCI_VARIABLE) {
        mxci_text_add(text, n->name);
        return;
    }
    mxci_text_printf(text, "%s%s(", mxci_graph_op_def(g, node)->name, n->kind == MXCI_BACKWARD ? "_backward" : "");
    for (int32_t i = 0; i < n->n_inputs; i++) {
        mxci_text_add(text, i ? "," : "");
        add_entry(g, mxci_graph_inputs(g, node)[i], text);
    }
    mxci_text_add(text, ")");
    if (entry != n->first_entry)
        mxci_text_printf(text, ".%d", (int)(entry - n->first_entry));
}

char *graph_text(const mxci_graph *g, int32_t entry) {
    mxci_text text = {0};
    char *out;
    add_entry(g, entry, &text);
    assert_ok(mxci_text_take(&text, &out));
    return out;
}

void assert_entry(const mxci_graph *g, int32_t entry, const char *text) {
    char *found;
    assert_true(entry >= 0);
    found = graph_text(g, entry);
    assert_string_equal(found, text);
    mxci_free(found);
}

void assert_output(const mxci_program *p, const char *text) {
    assert_entry(p->graph, p->graph->outputs[0], text);
}

int32_t graph_find(const mxci_graph *g, const char *name) {
    for (int32_t i = 0; i < g->n_nodes; i++)
        if (!strcmp(g->nodes[i].name, name))
            return i;
    fail_msg("no node %s", name);
    return -1;
}
