/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recorded graphs: a node for each recorded call, and a leaf for each array that calls read and none made. Arrays refer
 * to nodes (ndarray/graph_link.h) and nodes to the nodes of their inputs, never to arrays of the graph, so that a graph
 * is freed with the last array that needs it.
 *
 *   made -- mxci_tape_claim --> claimed by one thread -- mxci_tape_unclaim --> made
 *   claimed -- mxci_tape_free_node --> freed: has neither inputs nor memory; what still refers to it is constant
 *
 * What a node has but its references and flags is read and freed by the thread that has claimed it. Leaves are not
 * claimed: several graphs share them.
 */
#ifndef MXCI_AUTOGRAD_TAPE_H
#define MXCI_AUTOGRAD_TAPE_H

#include <stdatomic.h>

#include <mxc/autograd.h>
#include <mxc/symbol.h>

#include "ndarray/graph_link.h"
#include "operator/call_record.h"

typedef struct mxci_tape_node mxci_tape_node;

/* An input of a node: an output of another one, which it keeps alive. */
typedef struct mxci_tape_input {
    mxci_tape_node *node;
    int index;
} mxci_tape_input;

/* What kind of call a node is. Functions are called by the thread that has claimed the node. */
typedef struct mxci_tape_kind {
    /* 1 if backward reads the gradient of an output. */
    int (*reads_out_grad)(const mxci_tape_node *node, int index);
    /* 1 if the gradients of its inputs are zero everywhere; optional: 0. */
    int (*stops_gradient)(const mxci_tape_node *node);
    /* Fails if backward cannot run. allow_changes: arrays may have been written since the call. Optional. */
    mxc_status (*check)(const mxci_tape_node *node, int allow_changes);
    /* Queue backward: out_grad has n_out arrays, NULL where they are not read; in_grad and req one for each of n_args
     * inputs, NULL and MXC_REQ_NULL where none is asked for. */
    mxc_status (*backward)(mxci_tape_node *node, mxc_ndarray *const *out_grad, mxc_ndarray *const *in_grad,
                           const mxc_req *req);
    /* The node as a symbol of inputs in, n_in symbols of one output, and its name. Optional: it has none. */
    mxc_status (*symbol)(const mxci_tape_node *node, const char *name, mxc_symbol *const *in, mxc_symbol **out);
    /* Free data. */
    void (*destroy)(void *data);
} mxci_tape_kind;

struct mxci_tape_node {
    mxci_link_node link;        /* first */
    const mxci_tape_kind *kind; /* NULL: a leaf */
    const char *name;           /* of the kind of call, for messages and symbols; owned by data */
    void *data;                 /* the kind's */
    int n_in, n_args, n_out;    /* the first n_args inputs can have gradients */
    mxci_tape_input *in;        /* n_in */
    mxci_tensor_type *out;      /* n_out; a leaf has one */
    int needs_grad;             /* a variable with a gradient is among its inputs, directly or not */
    atomic_int is_claimed, is_freed;
    mxci_tape_node *next_dead; /* while it is freed */
    /* Of a leaf: the gradient attached to its array, a handle of its own; NULL: none. */
    mxc_ndarray *grad;
    mxc_req req;
    atomic_int is_fresh;
};

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

/* A node with one reference, for n_in inputs, all empty, and n_out outputs. kind NULL: a leaf. It takes data only when
 * the caller sets it. MXC_ENOMEM. */
mxc_status mxci_tape_node_create(const mxci_tape_kind *kind, int n_in, int n_args, int n_out, mxci_tape_node **out);
void mxci_tape_node_release(mxci_tape_node *node); /* NULL is fine; no recursion, however long the graph */
/* Set input i to what the array is; an array of no graph becomes a leaf. MXC_ENOMEM. */
mxc_status mxci_tape_set_input(mxci_tape_node *node, int i, mxc_ndarray *array);
/* Make the array output i, whose description follows. */
void mxci_tape_set_output(mxci_tape_node *node, int i, mxc_ndarray *array);
/* The node that the array is an output of, retained; NULL if there is none or it is freed. */
mxci_tape_node *mxci_tape_node_of(const mxc_ndarray *array, int *index);
mxci_tensor_type mxci_tape_type_of(const mxc_ndarray *array);
/* 1 if a gradient flows through the array. */
int mxci_tape_needs_grad(const mxc_ndarray *array);
/* 1 if a recorded call may not write to the array: it is a result or has a gradient. */
int mxci_tape_is_in_graph(const mxc_ndarray *array);

/* Free what a claimed node keeps; leaves stay as they are. */
void mxci_tape_free_node(mxci_tape_node *node);

/* ---- the graph of some heads ------------------------------------------------------------------------------------- */

typedef struct mxci_tape_slot mxci_tape_slot;

/* Nodes in depth-first post-order, the order of the symbol of the graph (symbol/topological_order.h). Nodes that are no
 * leaves are claimed; all are retained. */
typedef struct mxci_tape_order {
    int32_t n, capacity;
    mxci_tape_node **nodes;
    mxci_tape_slot *slots; /* a hash table from nodes to their places */
    size_t n_slots, n_used;
} mxci_tape_order;

/* caller begins messages. MXC_ESTATE (not recorded, freed, claimed by another thread), MXC_ENOMEM. */
mxc_status mxci_tape_order_make(const char *caller, int n, mxc_ndarray *const *heads, mxci_tape_order *out);
void mxci_tape_order_free(mxci_tape_order *order);
int32_t mxci_tape_order_find(const mxci_tape_order *order, const mxci_tape_node *node); /* -1: not in it */

#endif
