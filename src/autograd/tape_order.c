/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The graph of some heads in topological order: depth-first post-order with an explicit stack, since graphs may be
 * deeper than a thread's stack. The order is that of symbol/topological_order.c, on which the order of sums in
 * backward depends.
 */
#include <string.h>

#include "autograd/tape.h"
#include "base/error.h"
#include "base/sys.h"

struct mxci_tape_slot {
    const mxci_tape_node *node; /* NULL: free */
    int32_t place;              /* -1 until all its inputs have one */
};

/* A node on the stack, whose inputs before next have been visited. */
typedef struct frame {
    mxci_tape_node *node;
    int next;
} frame;

typedef struct walk {
    const char *caller;
    mxci_tape_order *order;
    frame *frames;
    size_t depth, capacity;
} walk;

/* The slot of the node, or the free one where it belongs. At most half of the slots are in use. */
static mxci_tape_slot *slot_of(const mxci_tape_order *order, const mxci_tape_node *node) {
    uint64_t hash = (uint64_t)(uintptr_t)node * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(hash >> 20) & (order->n_slots - 1);
    while (order->slots[at].node && order->slots[at].node != node)
        at = (at + 1) & (order->n_slots - 1);
    return &order->slots[at];
}

static mxc_status grow(const char *caller, mxci_tape_order *order) {
    mxci_tape_order old = *order;
    order->n_slots = old.n_slots ? old.n_slots * 2 : 64;
    order->slots = mxci_calloc(order->n_slots, sizeof *order->slots);
    if (!order->slots) {
        *order = old;
        return MXCI_NO_MEMORY(caller, "the order of the graph");
    }
    for (size_t i = 0; i < old.n_slots; i++)
        if (old.slots[i].node)
            *slot_of(order, old.slots[i].node) = old.slots[i];
    mxci_free(old.slots);
    return MXC_OK;
}

static mxc_status append(const char *caller, mxci_tape_order *order, mxci_tape_node *node) {
    if (order->n == order->capacity) {
        int32_t capacity = order->capacity ? 2 * order->capacity : 64;
        mxci_tape_node **nodes =
            order->n > INT32_MAX / 2 ? NULL : mxci_realloc_array(order->nodes, (size_t)capacity, sizeof *nodes);
        if (!nodes)
            return MXCI_NO_MEMORY(caller, "the order of the graph");
        order->nodes = nodes;
        order->capacity = capacity;
    }
    slot_of(order, node)->place = order->n;
    order->nodes[order->n++] = node;
    return MXC_OK;
}

/* Claim a node and push it on the stack, unless it was seen before. A freed node has lost its inputs. */
static mxc_status enter(walk *w, mxci_tape_node *node) {
    mxci_tape_order *order = w->order;
    mxci_tape_slot *slot;
    if (2 * (order->n_used + 1) > order->n_slots)
        MXC_TRY(grow(w->caller, order));
    slot = slot_of(order, node);
    if (slot->node)
        return MXC_OK;
    if (w->depth == w->capacity) {
        size_t capacity = w->capacity ? w->capacity * 2 : 64;
        frame *frames = mxci_realloc_array(w->frames, capacity, sizeof *frames);
        if (!frames)
            return MXCI_NO_MEMORY(w->caller, "the order of the graph");
        w->frames = frames;
        w->capacity = capacity;
    }
    if (node->kind && atomic_exchange(&node->is_claimed, 1))
        return MXC_FAIL(MXC_ESTATE, "%s: another call uses the recorded graph (a thread, or a function's backward)",
                        w->caller);
    if (atomic_load(&node->is_freed)) {
        atomic_store(&node->is_claimed, 0);
        return MXC_FAIL(MXC_ESTATE,
                        "%s: a part of the graph was freed by an earlier backward; keep it with retain_graph 1",
                        w->caller);
    }
    mxci_link_node_retain(&node->link);
    *slot = (mxci_tape_slot){node, -1};
    order->n_used++;
    w->frames[w->depth++] = (frame){node, 0};
    return MXC_OK;
}

static void leave(mxci_tape_node *node) {
    if (node->kind)
        atomic_store(&node->is_claimed, 0);
    mxci_tape_node_release(node);
}

/* Descend into the next input of the top node, or finish it. */
static mxc_status step(walk *w) {
    frame *top = &w->frames[w->depth - 1];
    mxci_tape_node *node = top->node;
    if (top->next < node->n_in)
        return enter(w, node->in[top->next++].node);
    MXC_TRY(append(w->caller, w->order, node));
    w->depth--;
    return MXC_OK;
}

static mxc_status enter_head(walk *w, int i, mxc_ndarray *head) {
    int index;
    mxci_tape_node *node = mxci_tape_node_of(head, &index);
    if (!node)
        return MXC_FAIL(MXC_ESTATE,
                        "%s: heads[%d] belongs to no recorded graph: it was computed outside of mxc_autograd_record, "
                        "or from no array with a gradient, or backward has freed the graph (retain_graph 0)",
                        w->caller, i);
    mxc_status status = enter(w, node);
    mxci_tape_node_release(node);
    return status;
}

mxc_status mxci_tape_order_make(const char *caller, int n, mxc_ndarray *const *heads, mxci_tape_order *out) {
    walk w = {.caller = caller, .order = out};
    mxc_status status = MXC_OK;
    memset(out, 0, sizeof *out);
    for (int i = 0; i < n && status == MXC_OK; i++) {
        status = enter_head(&w, i, heads[i]);
        while (w.depth && status == MXC_OK)
            status = step(&w);
    }
    while (status != MXC_OK && w.depth)
        leave(w.frames[--w.depth].node);
    mxci_free(w.frames);
    if (status != MXC_OK)
        mxci_tape_order_free(out);
    return status;
}

void mxci_tape_order_free(mxci_tape_order *order) {
    for (int32_t i = order->n; i-- > 0;)
        leave(order->nodes[i]);
    mxci_free(order->nodes);
    mxci_free(order->slots);
    memset(order, 0, sizeof *order);
}

int32_t mxci_tape_order_find(const mxci_tape_order *order, const mxci_tape_node *node) {
    const mxci_tape_slot *slot = order->n_slots ? slot_of(order, node) : NULL;
    return slot && slot->node ? slot->place : -1;
}
