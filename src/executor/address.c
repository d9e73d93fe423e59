/* Where the data of a bound program is: arrays that the caller sees, and arenas for what is inside. */
#include "executor/bound.h"

/* ---- addresses ------------------------------------------------------------------------------------------------- */

static mxc_ndarray *array_of(const mxc_executor *e, mxci_home home) {
    switch (home.kind) {
    case MXCI_HOME_ARG:
        return e->args[home.index];
    case MXCI_HOME_AUX:
        return e->aux[home.index];
    case MXCI_HOME_HEAD:
        return e->heads[home.index];
    case MXCI_HOME_OUTPUT:
        return e->outputs[home.index];
    case MXCI_HOME_GRAD:
        return e->grads[home.index];
    default:
        return NULL;
    }
}

void *mxci_layout_data(const mxc_executor *e, const mxci_layout *l, int32_t entry) {
    const mxci_program *p = l->program;
    mxci_home home = entry >= 0 ? p->home[p->root[entry]] : (mxci_home){MXCI_HOME_NONE, 0};
    mxc_tensor tensor = {0};
    if (home.kind == MXCI_HOME_NONE)
        return NULL;
    if (home.kind == MXCI_HOME_POOL) {
        const mxci_block *b = &p->blocks[home.index];
        return l->blocks[b->pool] ? (char *)l->blocks[b->pool] + b->offset : NULL;
    }
    return mxc_ndarray_tensor(array_of(e, home), &tensor) == MXC_OK ? tensor.data : NULL; /* memory was taken at bind */
}

/* Segments of a pool run one after the other, so that its steps can share one piece of scratch. */
static void *temp_of(const mxci_layout *l, int32_t step) {
    const mxci_program *p = l->program;
    int32_t pool = mxci_pool_of(p, p->graph->nodes[p->order[step]].context);
    return l->steps[step].call.temp_bytes ? (char *)l->blocks[pool] + p->pool_bytes[pool] : NULL;
}

void mxci_layout_fill(const mxc_executor *e, mxci_layout *l) {
    for (int32_t i = 0; i < l->program->n_pools; i++)
        l->blocks[i] = l->arenas[i]->block;
    mxci_record_drop(l, &l->bulk);
    for (int32_t i = 0; i < l->program->n_steps; i++) {
        l->steps[i].call.temp = temp_of(l, i);
        for (int32_t slot = 0; slot < l->steps[i].n_slots; slot++)
            l->steps[i].tensors[slot].data = mxci_layout_data(e, l, l->steps[i].entries[slot]);
    }
}

void mxci_layout_update(mxc_executor *e, mxci_layout *l) {
    for (int32_t i = 0; i < l->program->n_pools; i++)
        if (l->blocks[i] != l->arenas[i]->block) {
            mxci_executor_wait(e);
            mxci_layout_fill(e, l);
            return;
        }
}

/* ---- arenas ---------------------------------------------------------------------------------------------------- */

static mxc_status arena_for(mxc_executor *e, mxc_context context, size_t bytes, mxci_arena **out) {
    mxci_arena **grown;
    for (int32_t i = 0; i < e->n_arenas; i++)
        if (mxc_context_equal(e->arenas[i]->context, context)) {
            *out = e->arenas[i];
            return mxci_arena_grow(e->arenas[i], bytes);
        }
    grown = mxci_realloc_array(e->arenas, (size_t)e->n_arenas + 1, sizeof *grown);
    if (!grown)
        return MXC_FAIL(MXC_ENOMEM, "executor: no memory");
    e->arenas = grown;
    MXC_TRY(mxci_arena_create(e->engine, context, bytes, out));
    e->arenas[e->n_arenas++] = *out;
    return MXC_OK;
}

mxc_status mxci_layout_take_arenas(mxc_executor *e, mxci_layout *l) {
    const mxci_program *p = l->program;
    for (int32_t i = 0; i < p->n_pools; i++) {
        mxci_arena *arena;
        MXC_TRY(arena_for(e, p->pools[i], (size_t)p->pool_bytes[i] + l->temp_bytes[i], &arena));
        l->arenas[i] = mxci_arena_retain(arena);
    }
    return MXC_OK;
}
