/*
 * A program: what a symbol becomes before there is any memory: nodes in running order, what each output is for, and a
 * place for every array. The passes below make it, in this order, each in its own file; they work on index arrays only.
 *
 * Words: a step is a node's place in the running order. An entry is one output of a node. The root of an entry is the
 * entry whose array it shares by meaning (a sum's terms are added straight into the sum). A block is a piece of a pool
 * that one or several roots occupy one after the other. There is one pool per context.
 */
#ifndef MXCI_EXECUTOR_PROGRAM_H
#define MXCI_EXECUTOR_PROGRAM_H

#include <mxc/executor.h>

#include "base/size.h"
#include "operator/op_impl.h"
#include "symbol/graph.h"

/* Where the data of an entry is. */
typedef enum mxci_home_kind {
    MXCI_HOME_NONE = 0,   /* nobody reads it */
    MXCI_HOME_ARG = 1,    /* index: argument */
    MXCI_HOME_AUX = 2,    /* index: auxiliary state */
    MXCI_HOME_HEAD = 3,   /* index: output whose gradient the caller gives */
    MXCI_HOME_OUTPUT = 4, /* index: output */
    MXCI_HOME_GRAD = 5,   /* index: argument */
    MXCI_HOME_POOL = 6    /* index: block */
} mxci_home_kind;

typedef struct mxci_home {
    mxci_home_kind kind;
    int32_t index;
} mxci_home;

typedef struct mxci_block {
    int64_t bytes;       /* a multiple of MXCI_SIZE_ALIGN */
    int32_t first, last; /* steps at which it is occupied, both included */
    int32_t pool;
    int64_t offset; /* in the pool */
} mxci_block;

/* Steps [first, end) run together, slice by slice of axis 0, so that arrays inside need only a slice. */
typedef struct mxci_tile {
    int32_t first, end;
    int64_t rows, slice; /* rows = a multiple of slice */
} mxci_tile;

typedef struct mxci_program {
    mxci_graph *graph;          /* owned */
    int is_folded;              /* nodes of the symbol do not run, others do in their place */
    int is_rearranged;          /* the same, with no other results in training */
    int32_t n_symbol_nodes;     /* nodes of the symbol, folded and laid out; passes add theirs behind */
    int32_t n_base_nodes;       /* and of the gradient; behind them nodes that run just before what needs them */
    uint8_t *wanted;            /* argument: its gradient is asked for */
    mxc_req *grad_req;          /* argument: MXC_REQ_NULL, MXC_REQ_WRITE, MXC_REQ_ADD */
    int32_t *grads;             /* argument: entry of its gradient; -1: none, or nothing to add */
    int32_t *heads;             /* output: entry of its head gradient; -1: nobody reads one */
    int32_t n_steps, n_forward; /* steps before n_forward make forward, the others backward */
    int32_t *order;             /* step: node */
    int32_t *step_of;           /* node: step; -1: does not run */
    int32_t *root;              /* entry: the entry whose array it is, mostly itself */
    mxc_req *req;               /* entry: what its node does to it */
    mxci_home *home;            /* root entry */
    int32_t *first, *last;      /* root entry: steps that write it first and use it last; -1: none */
    int32_t n_tiles;
    mxci_tile *tiles; /* in order */
    int64_t *slice;   /* root entry: rows of axis 0 that its array holds; 0: all */
    int32_t n_blocks;
    mxci_block *blocks;
    int32_t n_pools;
    mxc_context *pools;
    int64_t *pool_bytes;
    mxc_memory_report report; /* internal_..., n_nodes and n_internal_arrays are set here, the rest by report.c */
} mxci_program;

/* Options that lowering looks at. */
typedef struct mxci_lowering {
    const mxc_bind_options *options;
    const mxc_req *reqs; /* per argument; NULL: no gradients */
    int no_tiles;        /* 1: every array whole */
    int as_written;      /* 1: the symbol's own nodes, arrays whole, as training behaviour and monitors need */
} mxci_lowering;

/* Run all passes over a graph whose shapes and types are all known. Takes the graph over, also on failure. Statuses
 * of the passes. Free with mxci_program_destroy. */
mxc_status mxci_program_create(mxci_graph *graph, const mxci_lowering *lowering, mxci_program **out);
void mxci_program_destroy(mxci_program *program); /* NULL is fine */

/* ---- helpers ------------------------------------------------------------------------------------------------- */

/* Bytes of an entry whose shape is known. Those of all entries of a program, each rounded up to a block, add up to
 * MXCI_SIZE_LIMIT at most (program.c). */
int64_t mxci_entry_bytes(const mxci_graph *graph, int32_t entry);
/* Bytes of a block that holds so many. */
static inline int64_t mxci_block_bytes(int64_t bytes) {
    return (int64_t)mxci_size_align((size_t)bytes);
}
/* Append a node that runs op, with the context of node like and the name "<its name>_<suffix>". Its first output
 * through out; shapes and types are set by the caller. MXC_ENOMEM. */
mxc_status mxci_add_op(mxci_graph *graph, mxc_op *op, int32_t like, const char *suffix, int32_t n,
                       const int32_t *inputs, int32_t n_outputs, int32_t *out);
/* Append a node that runs operator op_name on n entries, with the first one's shape, type and context and the name
 * "<name of entry's node>_<suffix>". Its first output through out. num_args is given where n > 1. MXC_ENOMEM,
 * MXC_ENOTFOUND. */
mxc_status mxci_add_like(mxci_graph *graph, const char *op_name, const char *suffix, int32_t n, const int32_t *entries,
                         int32_t *out);
/* How often each entry is read, by nodes and as an output; mxci_free it, also after a failure. MXC_ENOMEM. */
mxc_status mxci_count_uses(const mxci_graph *graph, int32_t **out);
/* Have who reads an entry read another one. */
void mxci_replace_entry(mxci_graph *graph, int32_t from, int32_t to);
/* The operator's descriptor at a node; NULL for a variable. */
const mxc_op_def *mxci_node_def(const mxci_graph *graph, int32_t node);
/* How the operator at a node is computed where the node is placed. */
mxci_op_form mxci_node_form(const mxci_graph *graph, int32_t node);
/* Node's argument inputs: all but aux. */
static inline int32_t mxci_n_args(const mxci_gnode *node) {
    return node->n_inputs - node->n_aux;
}
/* What a backward node may read, in the order of its inputs. */
typedef enum mxci_read_group { MXCI_READS_OUT_GRAD = 0, MXCI_READS_IN = 1, MXCI_READS_OUT = 2 } mxci_read_group;
/* Place of a slot of a group among a backward node's inputs; -1 if it is not read. */
int32_t mxci_backward_input(const mxci_graph *graph, int32_t node, mxci_read_group group, int32_t slot);
/* Tile that a step belongs to; -1: none. */
int32_t mxci_tile_of(const mxci_program *program, int32_t step);
/* Pool of a context, which must be one of the program's. */
int32_t mxci_pool_of(const mxci_program *program, mxc_context context);

/* ---- passes -------------------------------------------------------------------------------------------------- */

/* place.c: give every node its context, from ctx_group attributes, neighbours, and the options. */
mxc_status mxci_pass_place(mxci_graph *graph, const mxc_bind_options *options);

/* fold.c: move norms into the layers before them. *is_folded: set if there were such. */
mxc_status mxci_pass_fold(mxci_graph *graph, int *is_folded);

/* layout.c: have regions computed channels last. *is_changed: set if there were such. MXC_ENOMEM. */
mxc_status mxci_pass_layout(mxci_graph *graph, int *is_changed);

/* gradient.c: append the backward pass. wanted: per argument. Head gradients are new variables, or ones where
 * heads is NULL. grads: per argument, -1 where zero. MXC_EUNSUPPORTED names the operator that has no gradient. */
mxc_status mxci_pass_gradient(mxci_graph *graph, const uint8_t *wanted, int32_t *grads, int32_t *heads);

/* recompute.c: let backward read copies of forward nodes that run again, where that frees memory. */
mxc_status mxci_pass_recompute(mxci_program *program, mxc_recompute mode);

/* copies.c: where an entry is used on another context, put a _CrossDeviceCopy between. */
mxc_status mxci_pass_copies(mxci_program *program);

/* epilogue.c: make one node of a FullyConnected and its relu. */
mxc_status mxci_pass_epilogue(mxci_program *program);

/* chain.c: make one node of several element-wise ones. */
mxc_status mxci_pass_chain(mxci_program *program);

/* order.c: nodes that outputs and gradients need, in running order: order, step_of, n_steps, n_forward. params_first:
 * nodes that read variables only, and were added, run before all others, so that they do not part runs of steps. */
mxc_status mxci_pass_order(mxci_program *program, int params_first);

/* request.c: root, req, first, last, and homes outside the pools; takes sums out of the order where their terms can be
 * added in place. */
mxc_status mxci_pass_request(mxci_program *program);

/* tile.c: choose tiles (none where enabled is 0): tiles, slice; widens first and last of what crosses a tile's edge. */
mxc_status mxci_pass_tile(mxci_program *program, int enabled);

/* plan.c: blocks, in-place requests, offsets and the report of them. */
mxc_status mxci_pass_plan(mxci_program *program, int no_inplace, int no_sharing);
/* pack.c: offsets of those of the n blocks that belong to pool, so that blocks occupied at one step do not overlap
 * (with no_sharing: none do). *bytes: size of the pool. MXC_ENOMEM. */
mxc_status mxci_pack(mxci_block *blocks, int32_t n, int32_t pool, int no_sharing, int64_t *bytes);

#endif
