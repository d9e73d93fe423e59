/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bound executor: a program with arrays, and everything that a run needs prepared: one call per step with its
 * addresses, grouped into segments that the engine runs. An executor is used by one thread at a time.
 */
#ifndef MXCI_EXECUTOR_RUN_EXECUTOR_H
#define MXCI_EXECUTOR_RUN_EXECUTOR_H

#include <mxc/executor.h>

#include "base/device.h"
#include "base/sys.h"
#include "executor/plan/program.h"
#include "executor/run/arena.h"
#include "executor/run/constant_cache.h"
#include "operator/callback.h"

/* One step, ready to run. Slots of its tensors, in order: in, out, aux; backward also out_grad, in_grad. */
typedef struct mxci_step {
    mxc_op_compute_fn fn;
    mxc_op_call call;      /* run, is_train and random are filled in at each run */
    uint64_t random_at[2]; /* [is_train]: its first number among those reserved for a forward run */
    int32_t n_slots;
    mxc_tensor *tensors; /* slot */
    int32_t *entries;    /* slot: entry whose data it sees; -1: none */
    int64_t *strides;    /* slot: bytes from slice to slice in a tile; 0: the same for all */
} mxci_step;

typedef struct mxci_segment {
    mxc_executor *executor;
    int32_t first, end; /* steps */
    int32_t pool;       /* of its context */
    int is_single;      /* a step by itself, that a monitor may watch */
    int is_callback;    /* a step by itself, whose operator has MXC_OP_CALLBACK */
    mxci_callback callback;
    uint64_t token; /* of the callback's run */
    mxc_var *done;  /* changed by the segment; later ones of the run read it, so that a failure stops them */
    mxc_engine_op *op;
    const mxci_device *capture_device; /* NULL: its work is not captured */
    void *captured[2];                 /* [is_train]: the device graph; NULL: not captured yet */
    int runs[2];                       /* [is_train]: before it is captured; -1: it cannot be */
} mxci_segment;

typedef struct mxci_segments {
    int32_t n, n_forward;
    mxci_segment *items; /* NULL: not made yet */
} mxci_segments;

/* The constants of a program (executor/run/constants.h). */
typedef struct mxci_constants {
    mxci_constant_cache *cache; /* retained; NULL: there are none */
    int32_t n, n_nodes;
    mxc_ndarray **arrays;       /* constant: its value */
    mxci_constant_node **nodes; /* of the cache, held: those that make the values */
} mxci_constants;

/* All that depends on the program; made again where an executor whose passes have rewritten or tiled the graph must run
 * the symbol's own nodes. */
typedef struct mxci_bound_program {
    mxci_program *program;
    mxci_step *steps;
    mxc_tensor *tensors; /* what steps point into */
    mxc_req *reqs;
    int32_t *entries;
    int64_t *strides;
    void **states;             /* node */
    mxci_arena **arenas;       /* pool; retained */
    void **bases;              /* pool: where the arena was when addresses were filled in */
    size_t *temp_bytes;        /* pool: scratch that its steps share, after the planned ranges in the arena */
    uint64_t *random_count[2]; /* [is_train] pool: numbers that one forward run draws */
    mxc_random *random;        /* pool: seed and stream of the runs that are queued */
    uint64_t *token;           /* pool: of the latest forward run */
    mxci_constants constants;
    mxci_segments bulk, single;
} mxci_bound_program;

struct mxc_executor {
    mxc_symbol *symbol;
    mxc_bind_options options; /* groups and constant_... are owned copies; shared is NULL */
    mxc_names arg_names, output_names, aux_names;
    mxc_engine *engine;
    mxc_ndarray **args, **grads, **aux, **outputs, **heads; /* by index, retained; NULL entries in grads and heads */
    mxc_req *reqs;                                          /* argument */
    mxci_bound_program *bound;
    mxci_constant_cache *constants; /* retained; NULL: it has no constant arguments and states */
    int32_t n_arenas;
    mxci_arena **arenas;   /* one per context used so far, at least those of bound */
    mxci_segments *latest; /* what the latest forward run used; NULL: none yet */
    int latest_is_train;
    int64_t partial_next; /* step that partial_forward has come to */
    mxc_monitor_fn monitor;
    void *monitor_user;
    int monitor_inputs, monitor_hidden; /* whether it is shown those, too */
    mxci_mutex monitor_lock;            /* one call at a time */
#ifdef MXCI_CHECKS
    _Atomic int is_in_call;
#endif
};

#endif
