/* SPDX-License-Identifier: Apache-2.0 */
/* The addresses of a bound program's tensors: see addresses.h. */
#include "executor/run/addresses.h"

#include "base/error.h"
#include "base/sys.h"
#include "executor/run/graph_capture.h"
#include "executor/run/segments.h"

/* ---- addresses ------------------------------------------------------------------------------------------------- */

/* The caller's array at a location, or a constant; NULL for none and for pools. */
static mxc_ndarray *array_of(const mxc_executor *e, const mxci_bound_program *b, mxci_location location) {
    switch (location.kind) {
    case MXCI_LOCATION_ARG:
        return e->args[location.index];
    case MXCI_LOCATION_AUX:
        return e->aux[location.index];
    case MXCI_LOCATION_HEAD:
        return e->heads[location.index];
    case MXCI_LOCATION_OUTPUT:
        return e->outputs[location.index];
    case MXCI_LOCATION_GRAD:
        return e->grads[location.index];
    case MXCI_LOCATION_CONSTANT:
        return b->constants.arrays[location.index];
    default:
        return NULL;
    }
}

/* The data of an entry; NULL for -1 and for an entry without data. */
static void *data_of(const mxc_executor *e, const mxci_bound_program *b, int32_t entry) {
    const mxci_program *p = b->program;
    mxci_location location = entry >= 0 ? p->location[p->root[entry]] : (mxci_location){MXCI_LOCATION_NONE, 0};
    mxc_tensor tensor = {0};
    if (location.kind == MXCI_LOCATION_NONE)
        return NULL;
    if (location.kind == MXCI_LOCATION_POOL) {
        const mxci_memory_range *range = &p->ranges[location.index];
        return b->bases[range->pool] ? (char *)b->bases[range->pool] + range->offset : NULL;
    }
    /* Cannot fail: binding has allocated the memory of the arrays. */
    return mxc_ndarray_tensor(array_of(e, b, location), &tensor) == MXC_OK ? tensor.data : NULL;
}

void mxci_addresses_fill(const mxc_executor *e, mxci_bound_program *b) {
    const mxci_program *p = b->program;
    for (int32_t i = 0; i < p->n_pools; i++)
        b->bases[i] = b->arenas[i]->memory;
    mxci_graph_capture_discard(b, &b->bulk);
    for (int32_t i = 0; i < p->n_steps; i++) {
        mxci_step *step = &b->steps[i];
        int32_t pool = mxci_program_pool_of(p, p->graph->nodes[p->order[i]].context);
        /* Segments of a pool run one after the other, so its steps share one scratch, after the planned ranges. */
        step->call.temp = step->call.temp_bytes ? (char *)b->bases[pool] + p->pool_bytes[pool] : NULL;
        for (int32_t slot = 0; slot < step->n_slots; slot++)
            step->tensors[slot].data = data_of(e, b, step->entries[slot]);
    }
}

void mxci_addresses_update(const mxc_executor *e, mxci_bound_program *b) {
    for (int32_t i = 0; i < b->program->n_pools; i++)
        if (b->bases[i] != b->arenas[i]->memory) {
            mxci_segments_wait_all(b);
            mxci_addresses_fill(e, b);
            return;
        }
}

/* ---- arenas ---------------------------------------------------------------------------------------------------- */

/* The executor's arena of a context, grown or created; the executor holds the reference. */
static mxc_status arena_for(mxc_executor *e, mxc_context context, size_t bytes, mxci_arena **out) {
    mxci_arena **grown;
    for (int32_t i = 0; i < e->n_arenas; i++)
        if (mxc_context_equal(e->arenas[i]->context, context)) {
            *out = e->arenas[i];
            return mxci_arena_grow(e->arenas[i], bytes);
        }
    grown = mxci_realloc_array(e->arenas, (size_t)e->n_arenas + 1, sizeof *grown);
    if (!grown)
        return MXCI_NO_MEMORY("executor", "the list of arenas");
    e->arenas = grown;
    MXC_TRY(mxci_arena_create(e->engine, context, bytes, out));
    e->arenas[e->n_arenas++] = *out;
    return MXC_OK;
}

mxc_status mxci_addresses_take_arenas(mxc_executor *e, mxci_bound_program *b) {
    const mxci_program *p = b->program;
    for (int32_t i = 0; i < p->n_pools; i++) {
        mxci_arena *arena;
        MXC_TRY(arena_for(e, p->pools[i], (size_t)p->pool_bytes[i] + b->temp_bytes[i], &arena));
        b->arenas[i] = mxci_arena_retain(arena);
    }
    return MXC_OK;
}
