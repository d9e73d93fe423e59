/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cutting a program into segments: see segments.h. Each segment becomes one engine operation on the variables of the
 * arrays that its steps read and write, and of its pool.
 */
#include "executor/run/segments.h"

#include <stdlib.h>

#include "base/error.h"
#include "executor/run/execute.h"
#include "executor/run/graph_capture.h"
#include "symbol/graph_query.h"

/* Fewest steps of a backward segment that ends early because a gradient is ready. */
#define EARLY_STEPS 10

/* An engine variable that a segment reads or writes. */
typedef struct use {
    mxc_var *var;
    int writes;
} use;

typedef struct cutter {
    mxc_executor *executor;
    mxci_bound_program *bound;
    mxci_segments *segments;
    int32_t *latest; /* pool: its latest segment so far; -1: none */
    int32_t n_uses;
    use *uses;      /* room for n of cut */
    mxc_var **vars; /* reads, then writes */
} cutter;

/* ---- where to cut ---------------------------------------------------------------------------------------------- */

static mxc_context context_at(const mxci_program *p, int32_t step) {
    return p->graph->nodes[p->order[step]].context;
}

static int writes_gradient(const mxci_program *p, int32_t step) {
    const mxci_gnode *n = &p->graph->nodes[p->order[step]];
    for (int32_t i = n->first_entry; i < n->first_entry + n->n_outputs; i++)
        if (p->req[i] != MXC_REQ_NULL && p->location[p->root[i]].kind == MXCI_LOCATION_GRAD)
            return 1;
    return 0;
}

static int is_callback(const mxci_program *p, int32_t step) {
    return (mxci_graph_op_def(p->graph, p->order[step])->flags & MXC_OP_CALLBACK) != 0;
}

/* The end of the segment that begins at first: at the end of forward, after limit steps, before a change of context or
 * a callback operator, and in backward after a gradient of the caller. */
static int32_t segment_end(const mxci_program *p, int32_t first, int32_t limit) {
    if (is_callback(p, first))
        return first + 1;
    for (int32_t i = first + 1; i < p->n_steps; i++) {
        if (i == p->n_forward || (limit && i - first >= limit) || is_callback(p, i))
            return i;
        if (!mxc_context_equal(context_at(p, i), context_at(p, first)))
            return i;
        if (i > p->n_forward && i - first >= EARLY_STEPS && writes_gradient(p, i - 1))
            return i;
    }
    return p->n_steps;
}

/* ---- variables ------------------------------------------------------------------------------------------------- */

static void add_use(cutter *c, mxc_var *var, int writes) {
    c->uses[c->n_uses++] = (use){var, writes};
}

/* A segment writes its own pool, reads others, and reads the done variable of the pool's latest segment, so that a
 * failure stops those that follow. */
static void use_pool(cutter *c, const mxci_segment *s, int32_t pool) {
    add_use(c, c->bound->arenas[pool]->var, pool == s->pool);
    if (c->latest[pool] >= 0)
        add_use(c, c->segments->items[c->latest[pool]].done, 0);
}

/* Adds the engine variable that guards an entry. An output array is written by the node that makes it, and read by
 * others. An entry of the segment's own pool is guarded by the pool's variable already. */
static void use_entry(cutter *c, const mxci_segment *s, int32_t node, int32_t entry) {
    const mxc_executor *e = c->executor;
    const mxci_program *p = c->bound->program;
    mxci_location location = p->location[p->root[entry]];
    switch (location.kind) {
    case MXCI_LOCATION_NONE:
        break;
    case MXCI_LOCATION_ARG:
        add_use(c, mxc_ndarray_var(e->args[location.index]), 0);
        break;
    case MXCI_LOCATION_AUX:
        add_use(c, mxc_ndarray_var(e->aux[location.index]), 1);
        break;
    case MXCI_LOCATION_HEAD:
        add_use(c, mxc_ndarray_var(e->heads[location.index]), 0);
        break;
    case MXCI_LOCATION_GRAD:
        add_use(c, mxc_ndarray_var(e->grads[location.index]), 1);
        break;
    case MXCI_LOCATION_OUTPUT:
        add_use(c, mxc_ndarray_var(e->outputs[location.index]), p->graph->entry_node[entry] == node);
        break;
    case MXCI_LOCATION_CONSTANT:
        add_use(c, mxc_ndarray_var(c->bound->constants.arrays[location.index]), 0);
        break;
    case MXCI_LOCATION_POOL:
        if (p->ranges[location.index].pool != s->pool)
            use_pool(c, s, p->ranges[location.index].pool);
        break;
    }
}

static int by_var(const void *a, const void *b) {
    uintptr_t x = (uintptr_t)((const use *)a)->var, y = (uintptr_t)((const use *)b)->var;
    return (x > y) - (x < y);
}

/* Each variable once; written where any use writes it. */
static void merge_uses(cutter *c) {
    int32_t n = 0;
    qsort(c->uses, (size_t)c->n_uses, sizeof *c->uses, by_var);
    for (int32_t i = 0; i < c->n_uses; i++) {
        if (n && c->uses[n - 1].var == c->uses[i].var)
            c->uses[n - 1].writes |= c->uses[i].writes;
        else
            c->uses[n++] = c->uses[i];
    }
    c->n_uses = n;
}

static int list_vars(const cutter *c, int writes, mxc_var **out) {
    int n = 0;
    for (int32_t i = 0; i < c->n_uses; i++)
        if (c->uses[i].writes == writes)
            out[n++] = c->uses[i].var;
    return n;
}

/* ---- making ---------------------------------------------------------------------------------------------------- */

/* Appends the segment that begins at step first, with its engine operation. */
static mxc_status make_segment(cutter *c, int32_t first, int32_t limit) {
    const mxci_program *p = c->bound->program;
    mxci_segment *s = &c->segments->items[c->segments->n++];
    mxc_task task = MXC_TASK_INIT;
    int n_reads, n_writes;
    *s = (mxci_segment){
        .executor = c->executor,
        .first = first,
        .end = segment_end(p, first, limit),
        .pool = mxci_program_pool_of(p, context_at(p, first)),
        .is_single = limit == 1,
        .is_callback = is_callback(p, first),
    };
    mxci_graph_capture_prepare(c->bound, s);
    MXC_TRY(mxc_var_create(c->executor->engine, &s->done));
    c->n_uses = 0;
    use_pool(c, s, s->pool);
    add_use(c, s->done, 1);
    for (int32_t step = s->first; step < s->end; step++) {
        const mxci_step *t = &c->bound->steps[step];
        for (int32_t slot = 0; slot < t->n_slots; slot++)
            if (t->entries[slot] >= 0)
                use_entry(c, s, p->order[step], t->entries[slot]);
        merge_uses(c); /* after each step, which bounds the room that uses need */
    }
    n_reads = list_vars(c, 0, c->vars);
    n_writes = list_vars(c, 1, c->vars + n_reads);
    task.name = first < p->n_forward ? "forward" : "backward";
    if (s->is_callback)
        task.async_fn = mxci_execute_callback;
    else
        task.fn = mxci_graph_capture_run;
    task.arg = s;
    task.context = p->pools[s->pool];
    task.flags = s->is_single || s->is_callback ? 0 : MXC_TASK_HELPED; /* a monitor may take the program's locks */
    MXC_TRY(mxc_engine_op_create(c->executor->engine, &task, n_reads, c->vars, n_writes, c->vars + n_reads, &s->op));
    c->latest[s->pool] = c->segments->n - 1;
    c->segments->n_forward += first < p->n_forward;
    return MXC_OK;
}

static mxc_status cut(cutter *c, int32_t limit) {
    const mxci_program *p = c->bound->program;
    const mxc_executor *e = c->executor;
    /* Uses of one segment never exceed the variables there are, plus the slots of the step being added. */
    size_t n = (size_t)(3 * e->arg_names.n + e->aux_names.n + 2 * e->output_names.n) + (size_t)p->n_constants, most = 0;
    for (int32_t i = 0; i < p->n_steps; i++)
        if ((size_t)c->bound->steps[i].n_slots > most)
            most = (size_t)c->bound->steps[i].n_slots;
    n += 2 * (most + (size_t)p->n_pools) + 4;
    c->segments->items = mxci_calloc((size_t)p->n_steps + 1, sizeof *c->segments->items);
    c->latest = mxci_calloc((size_t)p->n_pools + 1, sizeof *c->latest);
    c->uses = mxci_calloc(n, sizeof *c->uses);
    c->vars = mxci_calloc(n, sizeof *c->vars);
    if (!c->segments->items || !c->latest || !c->uses || !c->vars)
        return MXCI_NO_MEMORY("executor", "segments");
    for (int32_t i = 0; i < p->n_pools; i++)
        c->latest[i] = -1;
    for (int32_t step = 0; step < p->n_steps; step = c->segments->items[c->segments->n - 1].end)
        MXC_TRY(make_segment(c, step, limit));
    return MXC_OK;
}

mxc_status mxci_segments_create(mxc_executor *e, mxci_bound_program *b, int32_t limit, mxci_segments *out) {
    cutter c = {.executor = e, .bound = b, .segments = out};
    mxc_status status;
    *out = (mxci_segments){0};
    status = cut(&c, limit);
    mxci_free(c.latest);
    mxci_free(c.uses);
    mxci_free(c.vars);
    if (status != MXC_OK)
        mxci_segments_destroy(out);
    return status;
}

void mxci_segments_destroy(mxci_segments *segments) {
    for (int32_t i = 0; i < segments->n; i++) {
        mxc_engine_op_destroy(segments->items[i].op);
        mxc_var_delete(segments->items[i].done, NULL, NULL);
    }
    mxci_free(segments->items);
    *segments = (mxci_segments){0};
}

static void wait_for(const mxci_segments *segments) {
    for (int32_t i = 0; i < segments->n; i++)
        MXC_IGNORE(mxc_wait_to_write(segments->items[i].done)); /* failures stay on the arrays */
}

void mxci_segments_wait_all(const mxci_bound_program *b) {
    if (!b)
        return;
    wait_for(&b->bulk);
    wait_for(&b->single);
}
