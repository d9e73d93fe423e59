/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory planning: every array inside the program gets a memory range, in two stages.
 * 1. In place: an operator writes its output over an input, where its descriptor allows it, the input is read for the
 *    last time, both have as many bytes, and no other slot of the operator is in that range. The output's lifetime then
 *    extends the range's.
 * 2. Sharing: ranges whose lifetimes, intervals of steps, do not overlap may have the same addresses; packing.c finds
 *    the offsets in the pool of their context.
 * Steps run in their order on one context, so that lifetimes counted in steps are exact there; what another context
 * reads is ordered by the engine, through the pool's variable.
 */
#include "executor/plan/memory_plan.h"

#include "base/error.h"
#include "base/sys.h"
#include "executor/plan/packing.h"
#include "operator/op.h"
#include "symbol/graph_query.h"

typedef struct plan {
    mxci_program *program;
    int no_inplace;
    int64_t *whole; /* range: bytes that it would have without tiles */
} plan;

/* ---- in place -------------------------------------------------------------------------------------------------- */

/* The memory range of an entry; -1 if it has none (yet). */
static int32_t range_of(const mxci_program *p, int32_t entry) {
    mxci_location location = p->location[p->root[entry]];
    return location.kind == MXCI_LOCATION_POOL ? location.index : -1;
}

/* The input entry that an in-place option names; -1 if this use does not read it. */
static int32_t source_of(const mxci_graph *g, int32_t node, int from) {
    const mxci_gnode *n = &g->nodes[node];
    mxci_read_group group = from >= MXC_FROM_OUT(0)  ? MXCI_READS_OUT
                            : from >= MXC_FROM_IN(0) ? MXCI_READS_IN
                                                     : MXCI_READS_OUT_GRAD;
    int32_t slot = from - (group == MXCI_READS_OUT ? MXC_FROM_OUT(0) : group == MXCI_READS_IN ? MXC_FROM_IN(0) : 0);
    if (n->kind == MXCI_BACKWARD)
        slot = mxci_graph_backward_input(g, node, group, slot);
    else if (slot >= mxci_graph_n_args(n))
        return -1;
    return slot >= 0 ? mxci_graph_inputs(g, node)[slot] : -1;
}

/* How many inputs and outputs of the node lie in the range. */
static int users_of_range(const mxci_program *p, int32_t node, int32_t range) {
    const mxci_gnode *n = &p->graph->nodes[node];
    int users = 0;
    for (int32_t i = 0; i < n->n_inputs; i++)
        users += range_of(p, mxci_graph_inputs(p->graph, node)[i]) == range;
    for (int32_t i = 0; i < n->n_outputs; i++)
        users += range_of(p, n->first_entry + i) == range;
    return users;
}

/* 1 if the node at step may write output to over input from. */
static int can_overwrite(const mxci_program *p, int32_t step, int32_t from, int32_t to) {
    const mxci_graph *g = p->graph;
    int32_t range = range_of(p, from);
    int in_tile = mxci_program_tile_of(p, step) >= 0;
    if (range < 0 || p->ranges[range].last != step || users_of_range(p, p->order[step], range) != 1)
        return 0;
    if (p->ranges[range].pool != mxci_program_pool_of(p, g->nodes[p->order[step]].context))
        return 0;
    if (in_tile && !(p->slice[p->root[from]] && p->slice[p->root[to]]))
        return 0;
    return mxci_graph_entry_bytes(g, from) == mxci_graph_entry_bytes(g, to);
}

/* 1 if the entry's array is inside the program and has no range yet. */
static int needs_range(const mxci_program *p, int32_t entry) {
    return p->req[entry] == MXC_REQ_WRITE && p->location[p->root[entry]].kind == MXCI_LOCATION_NONE;
}

/* Stage 1 for the outputs of a step, in the order of the in-place options: the first that applies wins. */
static void plan_inplace(plan *w, int32_t step) {
    mxci_program *p = w->program;
    const mxci_gnode *n = &p->graph->nodes[p->order[step]];
    const mxc_inplace *pair = mxci_op_get_inplace(n->op, n->kind == MXCI_FORWARD ? MXC_FORWARD : MXC_BACKWARD);
    for (; pair && pair->from >= 0; pair++) {
        int32_t from = source_of(p->graph, p->order[step], pair->from), to = n->first_entry + pair->to, range;
        if (from < 0 || pair->to >= n->n_outputs || !needs_range(p, to) || !can_overwrite(p, step, from, to))
            continue;
        range = range_of(p, from);
        p->req[to] = MXC_REQ_INPLACE;
        p->location[p->root[to]] = (mxci_location){MXCI_LOCATION_POOL, range};
        p->ranges[range].last = p->last[p->root[to]];
    }
}

/* ---- ranges ---------------------------------------------------------------------------------------------------- */

/* New ranges for the outputs of a step that have none from stage 1. */
static void plan_fresh(plan *w, int32_t step) {
    mxci_program *p = w->program;
    const mxci_gnode *n = &p->graph->nodes[p->order[step]];
    for (int32_t i = n->first_entry; i < n->first_entry + n->n_outputs; i++) {
        int32_t root = p->root[i];
        int64_t whole = mxci_graph_entry_bytes(p->graph, i), bytes = whole;
        if (!needs_range(p, i))
            continue;
        if (p->slice[root])
            bytes = whole / p->graph->shapes[i].dim[0] * p->slice[root];
        p->location[root] = (mxci_location){MXCI_LOCATION_POOL, p->n_ranges};
        w->whole[p->n_ranges] = mxci_memory_range_bytes(whole);
        p->ranges[p->n_ranges++] = (mxci_memory_range){.bytes = mxci_memory_range_bytes(bytes),
                                                       .first = p->first[root],
                                                       .last = p->last[root],
                                                       .pool = mxci_program_pool_of(p, n->context)};
    }
}

static mxc_status memory_plan_make_plan(plan *w, int no_sharing) {
    mxci_program *p = w->program;
    mxc_memory_report *r = &p->report;
    size_t n = (size_t)p->graph->n_entries + 1;
    p->pools = mxci_calloc((size_t)p->n_steps + 1, sizeof *p->pools);
    p->pool_bytes = mxci_calloc((size_t)p->n_steps + 1, sizeof *p->pool_bytes);
    p->ranges = mxci_calloc(n, sizeof *p->ranges);
    w->whole = mxci_calloc(n, sizeof *w->whole);
    if (!p->pools || !p->pool_bytes || !p->ranges || !w->whole)
        return MXCI_NO_MEMORY("memory plan", "memory ranges");
    for (int32_t i = 0; i < p->n_steps; i++) { /* one pool for each context that a step runs on */
        mxc_context context = p->graph->nodes[p->order[i]].context;
        if (mxci_program_pool_of(p, context) == p->n_pools)
            p->pools[p->n_pools++] = context;
    }
    for (int32_t i = 0; i < p->n_steps; i++) {
        if (!w->no_inplace)
            plan_inplace(w, i);
        plan_fresh(w, i);
    }
    for (int32_t i = 0; i < p->n_pools; i++)
        MXC_TRY(mxci_pack_pool(p->ranges, p->n_ranges, i, no_sharing, &p->pool_bytes[i]));
    *r = (mxc_memory_report){.n_nodes = p->n_steps};
    for (int32_t i = 0; i < p->graph->n_entries; i++) /* arrays inside the program: in a pool, or terms of a sum */
        if (p->root[i] != i || p->location[i].kind == MXCI_LOCATION_POOL) {
            r->n_internal_arrays++;
            r->internal_unplanned += mxci_memory_range_bytes(mxci_graph_entry_bytes(p->graph, i));
        }
    for (int32_t i = 0; i < p->n_ranges; i++)
        r->internal_inplace += w->whole[i];
    for (int32_t i = 0; i < p->n_pools; i++)
        r->internal_planned += p->pool_bytes[i];
    return MXC_OK;
}

mxc_status mxci_plan_memory(mxci_program *p, int no_inplace, int no_sharing) {
    plan w = {.program = p, .no_inplace = no_inplace};
    mxc_status status = memory_plan_make_plan(&w, no_sharing);
    mxci_free(w.whole);
    return status;
}
