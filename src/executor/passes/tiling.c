/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tiling, for inference: consecutive operators that compute each row of axis 0 by itself (MXC_OP_SAMPLEWISE) are run
 * slice by slice of the batch, so that the arrays between them hold a slice instead of the whole batch, and mostly stay
 * in cache. Arrays that enter and leave such a run of operators are not sliced.
 *
 * A slice is the largest divisor of the rows whose arrays fit a budget, an eighth (1 / PART) of what the run's outputs
 * take whole. Operators on small arrays at both ends are left out, since they are faster on whole arrays.
 */
#include "base/error.h"
#include "base/sys.h"
#include "executor/passes/passes.h"
#include "symbol/graph_query.h"

/* The arrays of a run are reduced to this part of their bytes, but a slice below LEAST_BYTES or LEAST_ROWS saves
 * nothing and costs speed. */
#define PART 8
#define LEAST_BYTES (256 * 1024)
#define LEAST_ROWS 4
#define MOST_SLICES 65536 /* that are tried, since the number of rows has no limit */

/* A run found so far: steps [first, end). */
typedef struct run {
    mxci_program *program;
    int32_t first, end;
    int64_t rows;
    int64_t budget; /* bytes that the inside of the run may take */
} run;

static const mxci_gnode *node_at(const mxci_program *p, int32_t step) {
    return &p->graph->nodes[p->order[step]];
}

static int32_t input_at(const mxci_program *p, int32_t step, int32_t i) {
    return mxci_graph_inputs(p->graph, p->order[step])[i];
}

/* ---- finding runs ---------------------------------------------------------------------------------------------- */

static int has_rows(const mxc_shape *shape, int64_t rows) {
    return shape->ndim > 0 && shape->dim[0] == rows;
}

/* 1 if the step draws random numbers: those of each slice would be those of the first rows. */
static int draws_numbers(const mxci_program *p, int32_t step) {
    const mxci_graph *g = p->graph;
    const mxci_gnode *n = node_at(p, step);
    const mxc_op_def *def = mxci_graph_op_def(g, p->order[step]);
    mxc_op_sig sig = {
        .op = n->op,
        .params = mxc_op_params(n->op),
        .n_in = 1,
        .n_out = n->n_outputs,
        .context = n->context,
        .parallelism = 1,
    };
    sig.in_shape = &g->shapes[input_at(p, step, 0)];
    sig.in_type = &g->types[input_at(p, step, 0)];
    sig.out_shape = &g->shapes[n->first_entry];
    sig.out_type = &g->types[n->first_entry];
    return def->random_count && (mxci_graph_n_args(n) > 1 || def->random_count(&sig) > 0);
}

/* Rows of a node that can run by slices; 0 if it cannot. */
static int64_t sliceable_rows(const mxci_program *p, int32_t step) {
    const mxci_graph *g = p->graph;
    const mxci_gnode *n = node_at(p, step);
    int64_t rows;
    if (n->kind != MXCI_FORWARD || !(mxci_graph_op_def(g, p->order[step])->flags & MXC_OP_SAMPLEWISE) ||
        mxci_graph_n_args(n) < 1)
        return 0;
    if (draws_numbers(p, step))
        return 0;
    if (n->context.device == MXC_GPU)
        return 0; /* GPUs hide the latency of memory by many threads, not by caches */
    rows = g->shapes[input_at(p, step, 0)].ndim > 0 ? g->shapes[input_at(p, step, 0)].dim[0] : 0;
    for (int32_t i = n->first_entry; i < n->first_entry + n->n_outputs; i++)
        if (p->req[i] != MXC_REQ_NULL && !has_rows(&g->shapes[i], rows))
            return 0;
    return rows;
}

/* 1 if an input that is not sliced is made inside the run. */
static int reads_inside(const run *r, int32_t step) {
    const mxci_program *p = r->program;
    for (int32_t i = 1; i < node_at(p, step)->n_inputs; i++)
        if (p->step_of[p->graph->entry_node[input_at(p, step, i)]] >= r->first ||
            input_at(p, step, i) == input_at(p, step, 0))
            return 1;
    return 0;
}

/* Sets the end of the run that begins at r->first. */
static void extend(run *r) {
    const mxci_program *p = r->program;
    r->rows = sliceable_rows(p, r->first);
    r->end = r->first;
    while (r->rows > 1 && r->end < p->n_steps && sliceable_rows(p, r->end) == r->rows && !reads_inside(r, r->end) &&
           mxc_context_equal(node_at(p, r->end)->context, node_at(p, r->first)->context))
        r->end++;
}

/* ---- choosing slices ------------------------------------------------------------------------------------------- */

static int64_t output_bytes(const mxci_program *p, int32_t step) {
    const mxci_gnode *n = node_at(p, step);
    int64_t bytes = 0;
    for (int32_t i = n->first_entry; i < n->first_entry + n->n_outputs; i++)
        if (p->req[i] != MXC_REQ_NULL)
            bytes += mxci_graph_entry_bytes(p->graph, i);
    return bytes;
}

static int is_small(const run *r, int32_t step) {
    const mxci_program *p = r->program;
    return mxci_graph_entry_bytes(p->graph, input_at(p, step, 0)) <= r->budget / 4 &&
           output_bytes(p, step) <= r->budget / 4;
}

/* Sets the budget, and removes operators on small arrays from both ends, since they run faster on whole arrays. */
static void trim(run *r) {
    const mxci_program *p = r->program;
    int64_t bytes = 0;
    for (int32_t step = r->first; step < r->end; step++)
        bytes += output_bytes(p, step);
    r->budget = bytes / PART > LEAST_BYTES ? bytes / PART : LEAST_BYTES;
    while (r->end > r->first && is_small(r, r->end - 1))
        r->end--;
    while (r->first < r->end && is_small(r, r->first))
        r->first++;
}

/* 1 if the entry is made and used inside steps [first, end) and seen nowhere else. */
static int is_inside(const mxci_program *p, int32_t root, int32_t first, int32_t end) {
    return p->location[root].kind == MXCI_LOCATION_NONE && p->first[root] >= first && p->last[root] < end;
}

/* Bytes that a step makes inside the run and that are still occupied at another step. */
static int64_t occupied(const run *r, int32_t step, int32_t at) {
    const mxci_program *p = r->program;
    const mxci_gnode *n = node_at(p, step);
    int64_t bytes = 0;
    for (int32_t i = n->first_entry; i < n->first_entry + n->n_outputs; i++)
        if (p->req[i] != MXC_REQ_NULL && p->last[i] >= at && is_inside(p, i, r->first, r->end))
            bytes += mxci_graph_entry_bytes(p->graph, i);
    return bytes;
}

/* Most bytes inside that are occupied at one step. */
static int64_t peak_inside(const run *r) {
    int64_t peak = 0;
    for (int32_t at = r->first; at < r->end; at++) {
        int64_t bytes = 0;
        for (int32_t step = r->first; step <= at; step++)
            bytes += occupied(r, step, at);
        peak = bytes > peak ? bytes : peak;
    }
    return peak;
}

/* The largest divisor of rows whose slices fit the budget, or the smallest one that is worth it; rows: leave it
 * whole. */
static int64_t choose_slice(const run *r) {
    int64_t row_bytes = peak_inside(r) / r->rows, smallest = r->rows;
    if (peak_inside(r) <= r->budget)
        return r->rows;
    for (int64_t n = 2; n <= MOST_SLICES && r->rows / n >= LEAST_ROWS; n++)
        if (r->rows % n == 0) {
            smallest = r->rows / n;
            if (smallest * row_bytes <= r->budget)
                return smallest;
        }
    return smallest;
}

/* ---- the pass -------------------------------------------------------------------------------------------------- */

/* Marks the entries inside the tile as slices. Those that cross its edge stay whole, and live as long as the tile. */
static void slice_entries(mxci_program *p, const mxci_step_tile *tile) {
    for (int32_t step = tile->first; step < tile->end; step++) {
        for (int32_t i = node_at(p, step)->first_entry; i < node_at(p, step)->first_entry + node_at(p, step)->n_outputs;
             i++) {
            if (is_inside(p, i, tile->first, tile->end))
                p->slice[i] = tile->slice;
            else if (p->req[i] != MXC_REQ_NULL)
                p->first[i] = tile->first; /* slices of it are written while earlier steps run again */
        }
        for (int32_t i = 0; i < node_at(p, step)->n_inputs; i++) {
            int32_t in = p->root[input_at(p, step, i)];
            if (!p->slice[in] && p->last[in] < tile->end)
                p->last[in] = tile->end - 1; /* read again for the next slice */
        }
    }
}

/* Makes a tile of a run, if at least two steps remain and slices save memory. */
static void tiling_add_tile(run *r) {
    mxci_program *p = r->program;
    int64_t slice;
    trim(r);
    if (r->end - r->first < 2)
        return;
    slice = choose_slice(r);
    if (slice == r->rows)
        return;
    p->tiles[p->n_tiles] = (mxci_step_tile){r->first, r->end, r->rows, slice};
    slice_entries(p, &p->tiles[p->n_tiles++]);
}

mxc_status mxci_pass_tiling(mxci_program *p, int enabled) {
    run r = {.program = p};
    p->tiles = mxci_calloc((size_t)p->n_steps + 1, sizeof *p->tiles);
    p->slice = mxci_calloc((size_t)p->graph->n_entries + 1, sizeof *p->slice);
    if (!p->tiles || !p->slice)
        return MXCI_NO_MEMORY("tiling", "the tiles");
    while (enabled && r.first < p->n_steps) {
        int32_t next;
        extend(&r);
        next = r.end > r.first ? r.end : r.first + 1;
        if (r.end > r.first)
            tiling_add_tile(&r);
        r.first = next;
    }
    return MXC_OK;
}
