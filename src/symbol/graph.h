/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flat form of a symbol: nodes in topological order (depth-first post-order), inputs and outputs as index arrays.
 * All passes work on it; nothing here follows pointers from node to node.
 *
 * Entry e is output e - nodes[n].first_entry of the node n that makes it. Variables have one entry. For
 * SliceChannel(data) with two outputs, followed by a sum of the two:
 *
 *   node  kind           inputs  entries
 *   0     data           -       0
 *   1     SliceChannel   0       1, 2
 *   2     elemwise_add   1, 2    3            outputs = {3}
 */
#ifndef MXCI_SYMBOL_GRAPH_H
#define MXCI_SYMBOL_GRAPH_H

#include "symbol/node.h"

typedef struct mxci_gnode {
    mxci_node_kind kind;
    mxc_op *op;                    /* retained; NULL for a variable */
    char *name;                    /* owned */
    mxci_node *node;               /* retained: the symbol's node, for attributes; NULL for nodes that passes add */
    int32_t forward;               /* MXCI_BACKWARD: index of the forward node; else -1 */
    int32_t first_input, n_inputs; /* in graph.inputs */
    int32_t first_entry, n_outputs;
    int32_t n_aux;       /* the last n_aux inputs are auxiliary states */
    mxc_context context; /* cpu(0) until the placement pass sets it */
} mxci_gnode;

typedef struct mxci_graph {
    int32_t n_nodes, cap_nodes;
    mxci_gnode *nodes;
    int32_t n_inputs, cap_inputs;
    int32_t *inputs; /* entry ids */
    int32_t n_entries, cap_entries;
    int32_t *entry_node; /* node of each entry */
    mxc_shape *shapes;   /* of each entry; ndim -1: unknown */
    mxc_dtype *types;
    int32_t n_outputs;
    int32_t *outputs; /* entry ids: the symbol's outputs in order */
    int32_t n_args, n_aux;
    int32_t *args; /* node indices of the argument variables, in list_arguments order */
    int32_t *aux;  /* of the auxiliary variables, in list_aux order */
} mxci_graph;

/* Flatten. Without recursion; MXC_ENOMEM, MXC_ESTATE (an operator not applied yet). Free with mxci_graph_destroy. */
mxc_status mxci_graph_from_symbol(const mxc_symbol *symbol, mxci_graph **out);
void mxci_graph_destroy(mxci_graph *graph); /* NULL is fine */
/* Append a node; inputs are entry ids. Returns its index through out. Keeps topological order if inputs come before.
 * Does not touch outputs, args, aux. Pointers into the graph's arrays are invalid afterwards. MXC_ENOMEM. */
mxc_status mxci_graph_add(mxci_graph *graph, mxci_node_kind kind, mxc_op *op, const char *name, int32_t n_inputs,
                          const int32_t *inputs, int32_t n_outputs, int32_t forward, int32_t *out);
/* The node's inputs. */
static inline const int32_t *mxci_graph_inputs(const mxci_graph *g, int32_t node) {
    return g->inputs + g->nodes[node].first_input;
}
/* How many of the node's inputs are arguments: all but the auxiliary states. */
static inline int32_t mxci_graph_n_args(const mxci_gnode *node) {
    return node->n_inputs - node->n_aux;
}
/* An execution order under construction. */
typedef struct mxci_node_sequence {
    int32_t n;
    int32_t *nodes; /* place: node */
    int32_t *place; /* node: place; -1: none yet */
    int32_t *stack; /* room for as many nodes as there are */
} mxci_node_sequence;
/* Gives the node the next place. Operators that it reads from, directly or not, and that have no place get theirs just
 * before. Without recursion. */
void mxci_graph_place(const mxci_graph *graph, int32_t node, mxci_node_sequence *sequence);
/* Sorts the nodes topologically: variables first, then operators in their present order, except that an operator that
 * comes too late moves to just before the first that reads it. Entries keep their numbers. MXC_ENOMEM. */
mxc_status mxci_graph_sort(mxci_graph *graph);
/* Infer shapes and types of all entries both ways until nothing changes; known ones are set in the graph before. What a
 * MXCI_BACKWARD node reads and writes has the shapes and types of its forward node's slots. Errors name the node. */
mxc_status mxci_graph_infer(mxci_graph *graph);
/* Flatten and infer from known variables as mxc_symbol_infer does, with its statuses. */
mxc_status mxci_symbol_infer_graph(const mxc_symbol *symbol, int64_t n, const char *const *names,
                                   const mxc_shape *shapes, const mxc_dtype *types, mxci_graph **out);
/* For each argument that is nothing but a label (labels.c) the node of a loss that it is the label of; -1 for others.
 * label_of: n_args numbers. MXC_ENOMEM. */
mxc_status mxci_graph_find_labels(const mxci_graph *graph, int32_t *label_of);
/* Back to a symbol over the given entries. A node whose gnode.node still has the inputs that it has in the graph is
 * used again; others are made new, with the attributes of gnode.node if there is one. Needs topological order. */
mxc_status mxci_graph_to_symbol(const mxci_graph *graph, int32_t n, const int32_t *entries, mxc_symbol **out);

#endif
