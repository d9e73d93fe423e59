/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering: see lowering.h. The order of the passes is in lowering_lower; what each of them needs and sets is stated in
 * passes.h.
 */
#include "executor/passes/lowering.h"

#include "base/error.h"
#include "base/sys.h"
#include "executor/passes/passes.h"
#include "executor/plan/memory_plan.h"
#include "symbol/graph_edit.h"
#include "symbol/graph_query.h"

/* ---- gradients ----------------------------------------------------------------------------- */

/* Gives each wanted gradient a node of its own that writes it: a head gradient is copied, and zeros are made, except
 * where they would only be added. */
static mxc_status own_gradients(mxci_program *p) {
    mxci_graph *g = p->graph;
    for (int32_t i = 0; i < g->n_args; i++) {
        int32_t argument = g->nodes[g->args[i]].first_entry;
        if (!p->wanted[i])
            continue;
        if (p->grads[i] >= 0 && g->nodes[g->entry_node[p->grads[i]]].kind == MXCI_VARIABLE)
            MXC_TRY(mxci_graph_add_like(g, "_copy", "grad", 1, &p->grads[i], &p->grads[i]));
        if (p->grads[i] < 0 && p->grad_req[i] == MXC_REQ_WRITE)
            MXC_TRY(mxci_graph_add_like(g, "zeros_like", "grad", 1, &argument, &p->grads[i]));
    }
    return MXC_OK;
}

/* Appends the backward pass of the arguments with a request; grads and heads stay -1 without any. */
static mxc_status add_gradients(mxci_program *p, const mxc_req *reqs) {
    const mxci_graph *g = p->graph;
    int32_t n_wanted = 0;
    p->wanted = mxci_calloc((size_t)g->n_args + 1, sizeof *p->wanted);
    p->grad_req = mxci_calloc((size_t)g->n_args + 1, sizeof *p->grad_req);
    p->grads = mxci_calloc((size_t)g->n_args + 1, sizeof *p->grads);
    p->heads = mxci_calloc((size_t)g->n_outputs + 1, sizeof *p->heads);
    if (!p->wanted || !p->grad_req || !p->grads || !p->heads)
        return MXCI_NO_MEMORY("program", "gradients");
    for (int32_t i = 0; i < g->n_args; i++) {
        p->grads[i] = -1;
        p->grad_req[i] = reqs ? reqs[i] : MXC_REQ_NULL;
        p->wanted[i] = p->grad_req[i] != MXC_REQ_NULL;
        n_wanted += p->wanted[i];
    }
    for (int32_t i = 0; i < g->n_outputs; i++)
        p->heads[i] = -1;
    if (!n_wanted)
        return MXC_OK;
    MXC_TRY(mxci_pass_differentiate(p->graph, p->wanted, p->grads, p->heads));
    return own_gradients(p);
}

/* ---- all passes ------------------------------------------------------------------------------------------------ */

/* The sum of all arrays is checked once, so that no sum of some of them can overflow in the passes that follow. */
static mxc_status check_bytes(const mxci_graph *g) {
    size_t bytes = 0;
    for (int32_t i = 0; i < g->n_entries; i++)
        bytes = mxci_size_add(bytes, (size_t)mxci_memory_range_bytes(mxci_graph_entry_bytes(g, i)));
    if (mxci_size_fits(bytes))
        return MXC_OK;
    return MXC_FAIL(MXC_ENOMEM, "memory plan: the arrays of %d nodes together are larger than memory can be",
                    (int)g->n_nodes);
}

/* Order, requests and memory of a complete graph. */
static mxc_status plan_steps(mxci_program *p, const mxc_bind_options *options, int tiles) {
    mxci_program_clear_steps(p);
    MXC_TRY(mxci_pass_node_order(p, tiles));
    MXC_TRY(mxci_pass_requests(p));
    MXC_TRY(mxci_pass_tiling(p, tiles));
    return mxci_plan_memory(p, options->no_inplace, options->no_sharing);
}

/* Tiles cost some speed: they are for programs that take more than a fifth of unplanned memory without them. */
static int wants_tiles(const mxci_program *p, const mxci_lowering_options *lowering) {
    const mxc_bind_options *options = lowering->options;
    return p->n_steps == p->n_forward && !lowering->no_tiles && !lowering->unoptimized && !options->no_inplace &&
           !options->no_sharing && p->report.internal_planned > p->report.internal_unplanned / 5;
}

/* Contexts come first, since most passes depend on them; passes that only inference allows come before differentiation;
 * passes that replace nodes by fused ones come after it, because backward nodes refer to the nodes of the symbol. */
static mxc_status lowering_lower(mxci_program *p, const mxci_lowering_options *lowering) {
    const mxc_bind_options *options = lowering->options;
    int is_training = 0;
    p->repeats_backward = options->repeat_backward;
    for (int32_t i = 0; lowering->reqs && i < p->graph->n_args; i++)
        is_training |= lowering->reqs[i] != MXC_REQ_NULL;
    MXC_TRY(mxci_pass_placement(p->graph, options));
    if (!lowering->unoptimized && !is_training)
        MXC_TRY(mxci_pass_fold_batch_norm(p->graph, options, &p->is_folded));
    if (!lowering->unoptimized)
        MXC_TRY(mxci_pass_channels_last(p->graph, is_training ? NULL : options, &p->is_rewritten));
    if (!lowering->unoptimized && !is_training)
        MXC_TRY(mxci_pass_pack(p->graph, &p->is_folded));
    p->n_symbol_nodes = p->graph->n_nodes;
    MXC_TRY(add_gradients(p, lowering->reqs));
    p->n_base_nodes = p->graph->n_nodes;
    MXC_TRY(mxci_pass_recompute(p, options->recompute));
    MXC_TRY(mxci_pass_device_copies(p));
    if (!lowering->unoptimized) {
        MXC_TRY(mxci_pass_epilogue(p));
        MXC_TRY(mxci_pass_fusion(p));
    }
    if (!lowering->unoptimized && !is_training)
        MXC_TRY(mxci_pass_constants(p, options));
    MXC_TRY(check_bytes(p->graph));
    MXC_TRY(plan_steps(p, options, 0));
    return wants_tiles(p, lowering) ? plan_steps(p, options, 1) : MXC_OK;
}

mxc_status mxci_lower(mxci_graph *graph, const mxci_lowering_options *lowering, mxci_program **out) {
    mxci_program *p = mxci_calloc(1, sizeof *p);
    mxc_status status;
    *out = NULL;
    if (!p) {
        mxci_graph_destroy(graph);
        return MXCI_NO_MEMORY("program", "itself");
    }
    p->graph = graph;
    status = lowering_lower(p, lowering);
    if (status == MXC_OK)
        *out = p;
    else
        mxci_program_destroy(p);
    return status;
}
