/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program: a symbol compiled for known shapes, before any memory is allocated: nodes in execution order, the request
 * for each output, and a location for every array. Lowering (passes/lowering.h) makes it; everything is an index array.
 *
 * Terms: a step is a node's place in the execution order. An entry is one output of a node. The root of an entry is the
 * entry whose array it is accumulated in (the terms of a gradient's sum are added directly to the sum), mostly itself.
 * A memory range is a part of a pool that one or several roots occupy one after the other. There is one pool per
 * context.
 */
#ifndef MXCI_EXECUTOR_PLAN_PROGRAM_H
#define MXCI_EXECUTOR_PLAN_PROGRAM_H

#include <mxc/executor.h>

#include "base/size.h"
#include "symbol/graph.h"

/* Where the data of an entry is. */
typedef enum mxci_location_kind {
    MXCI_LOCATION_NONE = 0,    /* it is never read */
    MXCI_LOCATION_ARG = 1,     /* index: argument */
    MXCI_LOCATION_AUX = 2,     /* index: auxiliary state */
    MXCI_LOCATION_HEAD = 3,    /* index: output whose gradient the caller gives */
    MXCI_LOCATION_OUTPUT = 4,  /* index: output */
    MXCI_LOCATION_GRAD = 5,    /* index: argument */
    MXCI_LOCATION_POOL = 6,    /* index: memory range */
    MXCI_LOCATION_CONSTANT = 7 /* index: constant */
} mxci_location_kind;

typedef struct mxci_location {
    mxci_location_kind kind;
    int32_t index;
} mxci_location;

/* A result of the symbol's constant arguments and states alone, computed when binding. Steps read a variable instead.
 */
typedef struct mxci_constant {
    int32_t value;    /* entry that is computed */
    int32_t variable; /* entry that steps read */
} mxci_constant;

typedef struct mxci_memory_range {
    int64_t bytes;       /* a multiple of MXCI_SIZE_ALIGN */
    int32_t first, last; /* steps at which it is occupied, both included */
    int32_t pool;
    int64_t offset; /* in the pool */
} mxci_memory_range;

/* Steps [first, end) run together, slice by slice of axis 0, so that arrays inside need only a slice. */
typedef struct mxci_step_tile {
    int32_t first, end;
    int64_t rows, slice; /* rows = a multiple of slice */
} mxci_step_tile;

typedef struct mxci_program {
    mxci_graph *graph;    /* owned */
    int is_folded;        /* for inference only: norms are part of the layers before them */
    int is_rewritten;     /* some of the symbol's nodes are replaced by others with the same results, in training too */
    int repeats_backward; /* what backward reads of forward is kept behind the last step */
    int32_t n_symbol_nodes; /* nodes of the symbol and those that replace some; later passes append theirs */
    int32_t n_base_nodes;   /* and backward nodes; after them, nodes that run just before their first reader */
    int32_t n_constants;
    mxci_constant *constants;   /* in the order of the nodes that read them */
    uint8_t *wanted;            /* argument: its gradient is asked for */
    mxc_req *grad_req;          /* argument: MXC_REQ_NULL, MXC_REQ_WRITE, MXC_REQ_ADD */
    int32_t *grads;             /* argument: entry of its gradient; -1: none, or nothing to add */
    int32_t *heads;             /* output: entry of its head gradient; -1: none is read */
    int32_t n_steps, n_forward; /* steps before n_forward make forward, the others backward */
    int32_t *order;             /* step: node */
    int32_t *step_of;           /* node: step; -1: does not run */
    int32_t *root;              /* entry: the entry whose array it is, mostly itself */
    mxc_req *req;               /* entry: what its node does to it */
    mxci_location *location;    /* root entry */
    int32_t *first, *last;      /* root entry: steps that write it first and use it last; -1: none */
    int32_t n_tiles;
    mxci_step_tile *tiles; /* in order */
    int64_t *slice;        /* root entry: rows of axis 0 that its array holds; 0: all */
    int32_t n_ranges;
    mxci_memory_range *ranges;
    int32_t n_pools;
    mxc_context *pools;
    int64_t *pool_bytes;
    mxc_memory_report report; /* internal_..., n_nodes and n_internal_arrays; mxci_memory_report_make adds the rest */
} mxci_program;

void mxci_program_destroy(mxci_program *program); /* NULL is fine */
/* Frees the execution order and everything that follows from it: order ... pool_bytes. */
void mxci_program_clear_steps(mxci_program *program);
/* Tile that a step belongs to; -1: none. */
int32_t mxci_program_tile_of(const mxci_program *program, int32_t step);
/* Pool of a context; n_pools if the program has none there. */
int32_t mxci_program_pool_of(const mxci_program *program, mxc_context context);
/* Bytes of a memory range that holds so many. Those of all entries of a program add up to MXCI_SIZE_LIMIT at most,
 * which lowering checks. */
static inline int64_t mxci_memory_range_bytes(int64_t bytes) {
    return (int64_t)mxci_size_align((size_t)bytes);
}

#endif
