/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The placement pass: which context each node runs on. A node with a device group (attribute ctx_group) is placed as
 * the options say. Any other operator is placed with its first placed input, since its arrays are there; what has none,
 * as variables, with its first user; and what is left on the context of the options. Two sweeps, up and down the
 * topological order, so linear time.
 */
#include <string.h>

#include "base/sys.h"
#include "executor/passes/passes.h"

static const mxc_context unplaced = {0, 0};

static int is_placed(const mxci_gnode *n) {
    return n->context.device != 0;
}

static mxc_context context_of_group(const mxci_gnode *n, const mxc_bind_options *options) {
    const char *group = n->node ? mxci_node_attr(n->node, "ctx_group") : NULL;
    for (int i = 0; group && i < options->n_groups; i++)
        if (strcmp(group, options->group_names[i]) == 0)
            return options->group_contexts[i];
    return unplaced;
}

static void take_from_inputs(mxci_graph *g, int32_t node) {
    for (int32_t i = 0; i < g->nodes[node].n_inputs && !is_placed(&g->nodes[node]); i++)
        g->nodes[node].context = g->nodes[g->entry_node[mxci_graph_inputs(g, node)[i]]].context;
}

mxc_status mxci_pass_placement(mxci_graph *g, const mxc_bind_options *options) {
    uint8_t *fixed = mxci_calloc((size_t)g->n_nodes + 1, 1);
    if (!fixed)
        return MXC_FAIL(MXC_ENOMEM, "placement: no memory");
    for (int32_t i = 0; i < g->n_nodes; i++) {
        g->nodes[i].context = context_of_group(&g->nodes[i], options);
        if (g->nodes[i].kind != MXCI_VARIABLE)
            take_from_inputs(g, i);
        fixed[i] = is_placed(&g->nodes[i]);
    }
    /* What has no place yet goes to its first user's: the last one that this loop meets. */
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
