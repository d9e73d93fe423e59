/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The placement pass: which context each node runs on. A node with a device group (attribute ctx_group) is placed as
 * the options say. Any other operator is placed with its first placed input, since its arrays are there; what has none,
 * as variables, with its first user; and what is left on the context of the options. Two sweeps, up and down the
 * topological order, so linear time.
 */
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "executor/passes/passes.h"

static int is_placed(const mxci_gnode *n) {
    return n->context.device != 0;
}

mxc_status mxci_pass_placement(mxci_graph *g, const mxc_bind_options *options) {
    uint8_t *fixed = mxci_calloc((size_t)g->n_nodes + 1, 1);
    if (!fixed)
        return MXCI_NO_MEMORY("placement", "the states of nodes");
    /* Up: by device group, else with the first input that is placed. */
    for (int32_t i = 0; i < g->n_nodes; i++) {
        mxci_gnode *n = &g->nodes[i];
        const char *group = n->node ? mxci_node_attr(n->node, "ctx_group") : NULL;
        n->context = (mxc_context){0, 0};
        for (int j = 0; group && j < options->n_groups && !is_placed(n); j++)
            if (strcmp(group, options->group_names[j]) == 0)
                n->context = options->group_contexts[j];
        for (int32_t j = 0; n->kind != MXCI_VARIABLE && j < n->n_inputs && !is_placed(n); j++)
            n->context = g->nodes[g->entry_node[mxci_graph_inputs(g, i)[j]]].context;
        fixed[i] = is_placed(n);
    }
    /* Down: what is not placed yet goes with its first user, which is the last one that this loop visits. */
    for (int32_t i = g->n_nodes - 1; i >= 0; i--) {
        if (!is_placed(&g->nodes[i]))
            g->nodes[i].context = options->context;
        for (int32_t j = 0; j < g->nodes[i].n_inputs; j++) {
            int32_t from = g->entry_node[mxci_graph_inputs(g, i)[j]];
            if (!fixed[from])
                g->nodes[from].context = g->nodes[i].context;
        }
    }
    mxci_free(fixed);
    return MXC_OK;
}
