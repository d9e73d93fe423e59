/* SPDX-License-Identifier: Apache-2.0 */
/* Lifetime of programs, and queries on them: see program.h. */
#include "executor/plan/program.h"

#include "base/sys.h"

void mxci_program_clear_steps(mxci_program *p) {
    mxci_free(p->order);
    mxci_free(p->step_of);
    mxci_free(p->root);
    mxci_free(p->req);
    mxci_free(p->location);
    mxci_free(p->first);
    mxci_free(p->last);
    mxci_free(p->tiles);
    mxci_free(p->slice);
    mxci_free(p->ranges);
    mxci_free(p->pools);
    mxci_free(p->pool_bytes);
    p->order = p->step_of = p->root = p->first = p->last = NULL;
    p->req = NULL;
    p->location = NULL;
    p->tiles = NULL;
    p->slice = NULL;
    p->ranges = NULL;
    p->pools = NULL;
    p->pool_bytes = NULL;
    p->n_steps = p->n_forward = p->n_tiles = p->n_ranges = p->n_pools = 0;
}

void mxci_program_destroy(mxci_program *p) {
    if (!p)
        return;
    mxci_program_clear_steps(p);
    mxci_free(p->constants);
    mxci_free(p->wanted);
    mxci_free(p->grad_req);
    mxci_free(p->grads);
    mxci_free(p->heads);
    mxci_graph_destroy(p->graph);
    mxci_free(p);
}

int32_t mxci_program_tile_of(const mxci_program *p, int32_t step) {
    for (int32_t i = 0; i < p->n_tiles; i++)
        if (step >= p->tiles[i].first && step < p->tiles[i].end)
            return i;
    return -1;
}

int32_t mxci_program_pool_of(const mxci_program *p, mxc_context context) {
    int32_t i = 0;
    while (i < p->n_pools && !mxc_context_equal(p->pools[i], context))
        i++;
    return i;
}
