/* SPDX-License-Identifier: Apache-2.0 */
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
    /* An operator not applied to inputs yet, else NULL. Its only output is a nameless MXCI_FORWARD node without op,
     * whose attributes are the parameters and attributes given so far; it never becomes part of a graph. */
    char *atomic;
};

/* ---- lifetime -------------------------------------------------------------------------------------------------- */

/* New node with one reference; name is copied, op retained; inputs start empty. MXC_ENOMEM. */
mxc_status mxci_node_create(mxci_node_kind kind, const char *name, mxc_op *op, mxci_node **out);
mxci_node *mxci_node_retain(mxci_node *node);
/* Drop a reference; frees without recursion, however deep the graph. NULL is fine. */
void mxci_node_release(mxci_node *node);
/* Once per node: make room for n inputs, then add them (each is retained). MXC_ENOMEM. */
mxc_status mxci_node_reserve_inputs(mxci_node *node, int64_t n);
void mxci_node_add_input(mxci_node *node, mxci_entry input);

/* ---- outputs ----------------------------------------------------------------------------------------------- */

/* Outputs of a node: 1 for a variable. */
int mxci_node_n_outputs(const mxci_node *node);
int mxci_node_n_visible(const mxci_node *node); /* the first ones, which users see */
/* "<node>_<output>", the name itself for a variable, "<node>_<arg>_grad" for backward. Caller frees. MXC_ENOMEM. */
mxc_status mxci_node_output_name(const mxci_node *node, int index, char **out);

/* ---- attributes -------------------------------------------------------------------------------------------- */

/* Longest attribute name with its terminator. */
#define MXCI_ATTR_KEY_MAX 256

int mxci_attr_is_known(const char *key);  /* ctx_group, lr_mult, wd_mult, force_mirroring, mirror_stage */
int mxci_attr_is_hidden(const char *key); /* of the form __key__ */
/* "weight_lr_mult": points at the known key after "<argument>_"; else NULL. */
const char *mxci_attr_suffix(const char *key);
/* User attribute or NULL. A key is looked up as it is, then as __key__. */
const char *mxci_node_attr(const mxci_node *node, const char *key);
/* The key under which set_attr stores: known keys, and all plain keys on operators, as __key__, because files keep
 * attributes and parameters of an operator in one list; "<argument>_<known key>" as it is. out: MXCI_ATTR_KEY_MAX
 * bytes. */
const char *mxci_attr_stored_key(const mxci_node *node, const char *key, char *out);
/* MXC_EINVAL (length of the key), MXC_EUNSUPPORTED (too many), MXC_ENOMEM. */
mxc_status mxci_node_set_attr(mxci_node *node, const char *key, const char *value);
mxc_status mxci_node_put_attr(mxci_node *node, const char *key, const char *value); /* under the key as it is */
void mxci_node_drop_attr(mxci_node *node, const char *key);
/* All attributes, or those of the form __key__. MXC_ENOMEM. */
mxc_status mxci_node_copy_attrs(mxci_node *to, const mxci_node *from, int hidden_only);

/* ---- symbols ----------------------------------------------------------------------------------------------- */

/* New symbol with one reference over n entries, which it retains. */
mxc_status mxci_symbol_create(int64_t n, const mxci_entry *outputs, mxc_symbol **out);
/* A new symbol for operator op not applied yet, whose parameters and attributes are those of node (retained). */
mxc_status mxci_symbol_atomic_over(const char *op, mxci_node *node, mxc_symbol **out);

#endif
