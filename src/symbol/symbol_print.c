/* SPDX-License-Identifier: Apache-2.0 */
/* mxc_symbol_print: a symbol as text for people, one line per node: "fc1 = FullyConnected(data, w, b; num_hidden=10)".
 */
#include <mxc/symbol.h>

#include "base/error.h"
#include "base/text.h"
#include "symbol/graph.h"

static void add_entry(mxci_text *t, const mxci_graph *g, int32_t entry) {
    const mxci_gnode *node = &g->nodes[g->entry_node[entry]];
    mxci_text_add(t, node->name);
    if (node->n_outputs > 1)
        mxci_text_printf(t, "[%d]", (int)(entry - node->first_entry));
}

static void symbol_print_add_node(mxci_text *t, const mxci_graph *g, int32_t at) {
    const mxci_gnode *node = &g->nodes[at];
    mxci_text_add(t, node->name);
    if (node->kind == MXCI_VARIABLE) {
        mxci_text_add(t, " = variable");
    } else {
        mxci_text_printf(t, " = %s%s(", mxc_op_get_def(node->op)->name, node->kind == MXCI_BACKWARD ? ".backward" : "");
        for (int32_t i = 0; i < node->n_inputs; i++) {
            mxci_text_add(t, i ? ", " : "");
            add_entry(t, g, mxci_graph_inputs(g, at)[i]);
        }
        for (int i = 0; i < mxc_op_n_given(node->op); i++) {
            const char *key, *value;
            mxc_op_given(node->op, i, &key, &value);
            mxci_text_printf(t, "%s%s=%s", i ? ", " : "; ", key, value);
        }
        mxci_text_add(t, ")");
    }
    for (int32_t i = 0; i < node->node->n_attrs; i++)
        mxci_text_printf(t, "%s%s=%s", i ? ", " : "  {", node->node->attr_keys[i], node->node->attr_values[i]);
    mxci_text_add(t, node->node->n_attrs ? "}\n" : "\n");
}

mxc_status mxc_symbol_print(const mxc_symbol *symbol, char **out) {
    mxci_graph *g;
    mxci_text text = {0};
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(symbol));
    MXC_TRY(mxci_graph_from_symbol(symbol, &g));
    for (int32_t i = 0; i < g->n_nodes; i++)
        symbol_print_add_node(&text, g, i);
    mxci_text_add(&text, "outputs: ");
    for (int32_t i = 0; i < g->n_outputs; i++) {
        mxci_text_add(&text, i ? ", " : "");
        add_entry(&text, g, g->outputs[i]);
    }
    mxci_text_add(&text, "\n");
    mxci_graph_destroy(g);
    return mxci_text_take(&text, out);
}
