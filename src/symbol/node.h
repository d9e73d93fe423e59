/*
 * Nodes of symbols: variables and applied operators, reference counted, forming a directed graph without cycles.
 */
#ifndef MXCI_SYMBOL_NODE_H
#define MXCI_SYMBOL_NODE_H

#include <stdatomic.h>
#include <stdint.h>

#include <mxc/symbol.h>

typedef struct mxci_node mxci_node;

/* One output of a node. */
typedef struct mxci_entry {
    mxci_node *node;
    int32_t index;
} mxci_entry;

typedef enum mxci_node_kind {
    MXCI_VARIABLE = 0,
    MXCI_FORWARD = 1, /* runs op's forward; inputs: its arguments, then its auxiliary states (variables) */
    MXCI_BACKWARD = 2 /* runs op's backward; inputs: the out_grads, inputs, outputs it needs (mxc_op_get_needs, each in
                         slot order), then its auxiliary states; outputs: one in_grad per argument */
} mxci_node_kind;

struct mxci_node {
    atomic_int refs;
    mxci_node_kind kind;
    char *name;
    mxc_op *op;         /* NULL for a variable */
    mxci_node *forward; /* MXCI_BACKWARD: the forward node, kept alive; its shapes are this one's */
    int32_t n_inputs;
    mxci_entry *inputs; /* each keeps its node alive */
    int32_t n_attrs;    /* user attributes, sorted by key; operator parameters are in op */
    char **attr_keys, **attr_values;
};

struct mxc_symbol {
    atomic_int refs;
    int64_t n_outputs;
    mxci_entry *outputs; /* each keeps its node alive */
    int is_atomic;       /* one node without inputs yet */
};

/* Drop a reference; frees without recursion, however deep the graph. NULL is fine. */
void mxci_node_release(mxci_node *node);
mxci_node *mxci_node_retain(mxci_node *node);
/* New node with one reference; name is copied, op retained; inputs start empty. */
mxc_status mxci_node_create(mxci_node_kind kind, const char *name, mxc_op *op, mxci_node **out);
/* Outputs of a node: 1 for a variable. */
int mxci_node_n_outputs(const mxci_node *node);
/* User attribute or NULL; plain and __key__ spellings of the known keys are one. */
const char *mxci_node_attr(const mxci_node *node, const char *key);
mxc_status mxci_node_set_attr(mxci_node *node, const char *key, const char *value);
/* New symbol with one reference over n entries, which it retains. */
mxc_status mxci_symbol_create(int64_t n, const mxci_entry *outputs, mxc_symbol **out);

#endif
