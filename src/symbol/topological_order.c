/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Topological order: iterative depth-first post-order with an explicit stack, since graphs may be deeper than a
 * thread's stack, and a hash table from nodes to their places (open addressing, Fibonacci hashing, at most half full).
 */
#include "symbol/topological_order.h"

#include <string.h>

#include "base/error.h"
#include "base/sys.h"

typedef struct mxci_topological_order_slot {
    const mxci_node *node; /* NULL: free */
    int32_t place;         /* -1 until all its inputs have one */
} mxci_topological_order_slot;

/* A node on the stack, whose inputs before next have been visited. */
typedef struct frame {
    mxci_node *node;
    int32_t next;
} frame;

typedef struct walk {
    mxci_topological_order *order;
    frame *frames; /* the stack: the path from an output to the node that is visited */
    size_t depth, cap;
} walk;

/* The slot of the node, or the free one where it belongs. Multiplying by 2^64 / golden ratio spreads the address. */
static mxci_topological_order_slot *slot_of(const mxci_topological_order *order, const mxci_node *node) {
    uint64_t hash = (uint64_t)(uintptr_t)node * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(hash >> 20) & (order->n_slots - 1);
    while (order->slots[at].node && order->slots[at].node != node)
        at = (at + 1) & (order->n_slots - 1);
    return &order->slots[at];
}

/* Doubles the hash table and enters all nodes again. */
static mxc_status grow_table(mxci_topological_order *order) {
    mxci_topological_order old = *order;
    size_t i, n = old.n_slots ? old.n_slots * 2 : 64;
    mxci_topological_order_slot *slots = mxci_calloc(n, sizeof *slots);
    if (!slots)
        return MXCI_NO_MEMORY("symbol", "the order of its nodes");
    order->slots = slots;
    order->n_slots = n;
    for (i = 0; i < old.n_slots; i++)
        if (old.slots[i].node)
            *slot_of(order, old.slots[i].node) = old.slots[i];
    mxci_free(old.slots);
    return MXC_OK;
}

/* Pushes a node, unless it was seen before. */
static mxc_status topological_order_enter(walk *w, mxci_node *node) {
    mxci_topological_order *order = w->order;
    mxci_topological_order_slot *slot;
    if (2 * (order->n_used + 1) > order->n_slots)
        MXC_TRY(grow_table(order));
    slot = slot_of(order, node);
    if (slot->node)
        return MXC_OK;
    if (w->depth == w->cap) {
        size_t cap = w->cap ? w->cap * 2 : 64;
        frame *frames = mxci_realloc_array(w->frames, cap, sizeof *frames);
        if (!frames)
            return MXCI_NO_MEMORY("symbol", "the order of its nodes");
        w->frames = frames;
        w->cap = cap;
    }
    *slot = (mxci_topological_order_slot){node, -1};
    order->n_used++;
    w->frames[w->depth++] = (frame){node, 0};
    return MXC_OK;
}

/* Gives a node, all of whose inputs have one, the next place. */
static mxc_status topological_order_append(mxci_topological_order *order, mxci_node *node) {
    if (order->n == order->cap) {
        int64_t cap = order->cap ? 2 * (int64_t)order->cap : 64;
        mxci_node **nodes = cap > INT32_MAX ? NULL : mxci_realloc_array(order->nodes, (size_t)cap, sizeof *nodes);
        if (!nodes)
            return MXCI_NO_MEMORY("symbol", "the order of its nodes");
        order->nodes = nodes;
        order->cap = (int32_t)cap;
    }
    slot_of(order, node)->place = order->n;
    order->nodes[order->n++] = node;
    return MXC_OK;
}

/* One step: descend into the next input of the top node (its forward node after the inputs), or finish it. */
static mxc_status step(walk *w) {
    frame *top = &w->frames[w->depth - 1];
    mxci_node *node = top->node;
    int32_t next = top->next++;
    if (next < node->n_inputs)
        return topological_order_enter(w, node->inputs[next].node);
    if (next == node->n_inputs && node->forward)
        return topological_order_enter(w, node->forward);
    w->depth--;
    return topological_order_append(w->order, node);
}

mxc_status mxci_topological_order_make(const mxc_symbol *symbol, mxci_topological_order *out) {
    walk w = {.order = out};
    mxc_status status = MXC_OK;
    memset(out, 0, sizeof *out);
    if (symbol->atomic)
        return MXC_FAIL(MXC_ESTATE, "symbol: operator %.100s is not applied to inputs yet", symbol->atomic);
    for (int64_t i = 0; i < symbol->n_outputs && status == MXC_OK; i++) {
        status = topological_order_enter(&w, symbol->outputs[i].node);
        while (w.depth && status == MXC_OK)
            status = step(&w);
    }
    mxci_free(w.frames);
    if (status != MXC_OK)
        mxci_topological_order_free(out);
    return status;
}

void mxci_topological_order_free(mxci_topological_order *order) {
    mxci_free(order->nodes);
    mxci_free(order->slots);
    memset(order, 0, sizeof *order);
}

int32_t mxci_topological_order_find(const mxci_topological_order *order, const mxci_node *node) {
    return slot_of(order, node)->place;
}
