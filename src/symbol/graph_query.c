/* SPDX-License-Identifier: Apache-2.0 */
/* Queries on the flat graph: see graph_query.h. Nothing here changes it. */
#include "symbol/graph_query.h"

#include "base/check.h"
#include "base/error.h"
#include "base/size.h"
#include "base/sys.h"

int64_t mxci_graph_entry_bytes(const mxci_graph *g, int32_t entry) {
    size_t bytes = mxci_shape_bytes(&g->shapes[entry], mxc_dtype_size(g->types[entry]));
    MXCI_ASSERT(mxci_size_fits(bytes)); /* inference refuses larger shapes */
    return (int64_t)bytes;
}

const mxc_op_def *mxci_graph_op_def(const mxci_graph *g, int32_t node) {
    return g->nodes[node].op ? mxc_op_get_def(g->nodes[node].op) : NULL;
}

mxci_op_impl mxci_graph_op_impl(const mxci_graph *g, int32_t node) {
    mxci_op_impl impl;
    mxci_op_impl_get(mxci_graph_op_def(g, node), g->nodes[node].context.device, &impl);
    return impl;
}

mxc_status mxci_graph_count_uses(const mxci_graph *g, int32_t **out) {
    int32_t i, *uses = mxci_calloc((size_t)g->n_entries + 1, sizeof *uses);
    *out = uses;
    if (!uses)
        return MXCI_NO_MEMORY("graph", "counts of uses");
    for (i = 0; i < g->n_inputs; i++)
        uses[g->inputs[i]]++;
    for (i = 0; i < g->n_outputs; i++)
        uses[g->outputs[i]]++;
    return MXC_OK;
}

int32_t mxci_graph_backward_input(const mxci_graph *g, int32_t node, mxci_read_group group, int32_t slot) {
    const mxci_gnode *n = &g->nodes[node], *forward = &g->nodes[n->forward];
    const int32_t sizes[] = {forward->n_outputs, mxci_graph_n_args(forward), forward->n_outputs};
    int32_t at = 0;
    mxc_op_needs needs;
    mxc_op_get_needs(n->op, &needs);
    for (int32_t i = 0; i <= (int32_t)group; i++) {
        uint64_t mask = i == MXCI_READS_OUT_GRAD ? needs.out_grad : i == MXCI_READS_IN ? needs.in : needs.out;
        int32_t end = i == (int32_t)group ? slot : sizes[i];
        for (int32_t j = 0; j < end; j++)
            at += mxc_need_has(mask, j);
        if (i == (int32_t)group)
            return slot < sizes[i] && mxc_need_has(mask, slot) ? at : -1;
    }
    return -1;
}
