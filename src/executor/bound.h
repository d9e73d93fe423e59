/*
 * A bound executor: a program with arrays, and everything that a run needs made ready: one call per step with its
 * addresses filled in, grouped into segments that the engine runs.
 */
#ifndef MXCI_EXECUTOR_BOUND_H
#define MXCI_EXECUTOR_BOUND_H

#include <mxc/executor.h>

#include "base/device.h"
#include "base/sys.h"
#include "executor/arena.h"
#include "executor/program.h"
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
    const mxci_device *recorder; /* NULL: it is not recorded */
    void *recording[2];          /* [is_train]; NULL: not yet */
    int runs[2];                 /* [is_train]: before it is recorded; -1: it never is */
} mxci_segment;

typedef struct mxci_segments {
    int32_t n, n_forward;
    mxci_segment *items; /* NULL: not made yet */
} mxci_segments;

/* All that depends on the program; made anew where a tiled or folded executor must run as it was written. */
typedef struct mxci_layout {
    mxci_program *program;
    mxci_step *steps;
    mxc_tensor *tensors; /* what steps point into */
    mxc_req *reqs;
    int32_t *entries;
    int64_t *strides;
    void **states;             /* node */
    mxci_arena **arenas;       /* pool; retained */
    void **blocks;             /* pool: where the arena was when addresses were filled in */
    size_t *temp_bytes;        /* pool: scratch that its steps share, behind the planned blocks in the arena */
    uint64_t *random_count[2]; /* [is_train] pool: numbers that one forward run draws */
    mxc_random *random;        /* pool: seed and stream of the runs that are queued */
    uint64_t *token;           /* pool: of the latest forward run */
    mxci_segments bulk, single;
} mxci_layout;

struct mxc_executor {
    mxc_symbol *symbol;
    mxc_bind_options options; /* groups are owned copies; shared is NULL */
    mxc_names arg_names, output_names, aux_names;
    mxc_engine *engine;
    mxc_ndarray **args, **grads, **aux, **outputs, **heads; /* by index, retained; NULL entries in grads and heads */
    mxc_req *reqs;                                          /* argument */
    mxci_layout *layout;
    int32_t n_arenas;
    mxci_arena **arenas;   /* one per context used so far, at least those of the layout */
    mxci_segments *latest; /* what the latest forward run used; NULL: none yet */
    int latest_is_train;
    int64_t partial_next; /* step that partial_forward has come to */
    mxc_monitor_fn monitor;
    void *monitor_user;
    mxci_mutex monitor_lock; /* one call at a time */
#ifdef MXCI_CHECKS
    _Atomic int is_in_call;
#endif
};

/* ---- signatures (signature.c) ---------------------------------------------------------------------------------- */

/* Room for one operator's shapes and types, enough for every node of a graph. */
typedef struct mxci_signature_room {
    mxc_shape *shapes;
    mxc_dtype *types;
} mxci_signature_room;
mxc_status mxci_signature_room_make(const mxci_graph *graph, mxci_signature_room *out);
void mxci_signature_room_free(mxci_signature_room *room);
/* Shapes as the node sees them when it runs: in a tile, slices. For a backward node, those of its forward node. */
void mxci_signature(const mxci_program *program, int32_t node, int parallelism, int is_train,
                    const mxci_signature_room *room, mxc_op_sig *out);
/* 1 if the node's step has anything to compute (mxci_has_work). */
int mxci_signature_has_work(const mxci_program *program, int32_t node, const mxc_op_sig *sig);
/* Bytes of scratch that a step needs, the more of training and not. MXC_ENOMEM if memory cannot have so many. */
mxc_status mxci_signature_temp(const mxci_program *program, int32_t node, int parallelism,
                               const mxci_signature_room *room, size_t *out);

/* ---- layout (prepare.c, address.c, segment.c) ------------------------------------------------------------------ */

/* Make a program ready to run on the executor's arrays. Takes the program over, also on failure. */
mxc_status mxci_layout_create(mxc_executor *executor, mxci_program *program, mxci_layout **out);
void mxci_layout_destroy(mxci_layout *layout); /* no run may be queued; NULL is fine */
/* Find or make the pools' arenas among the executor's. */
mxc_status mxci_layout_take_arenas(mxc_executor *executor, mxci_layout *layout);
/* Fill in the addresses of all tensors. */
void mxci_layout_fill(const mxc_executor *executor, mxci_layout *layout);
/* Fill in addresses again if an arena has moved. */
void mxci_layout_update(mxc_executor *executor, mxci_layout *layout);
/* Address of an entry's data; NULL for one that has none. */
void *mxci_layout_data(const mxc_executor *executor, const mxci_layout *layout, int32_t entry);
/* Cut the steps into segments and make their engine operators. limit: most steps each, 0: no limit. */
mxc_status mxci_segments_create(mxc_executor *executor, mxci_layout *layout, int32_t limit, mxci_segments *out);
void mxci_segments_destroy(mxci_segments *segments);

/* ---- recording (record.c) -------------------------------------------------------------------------------------- */

/* Decide whether a new segment may be recorded. */
void mxci_record_prepare(const mxci_layout *layout, mxci_segment *segment);
/* Forget what was recorded: addresses have changed, or the segments go. No run is queued. */
void mxci_record_drop(const mxci_layout *layout, mxci_segments *segments);

/* ---- reports (report.c) ---------------------------------------------------------------------------------------- */

mxc_status mxci_report(const mxci_program *program, mxc_memory_report *out);

/* ---- running (run.c, monitor.c) -------------------------------------------------------------------------------- */

mxc_status mxci_run_segment(const mxc_run *run, void *segment);
/* Its steps, one by one. */
mxc_status mxci_run_steps(mxci_segment *segment, const mxc_run *run);
/* The random numbers of a run of the segment's pool. */
mxc_random mxci_run_random(const mxci_segment *segment, uint64_t token);
/* The same for a segment with is_callback. */
void mxci_begin_segment(const mxc_run *run, void *segment, mxc_done *done);
/* Block until no run is queued. Failures of runs are not reported. */
void mxci_executor_wait(mxc_executor *executor);
/* Make segments of single steps, and run as written, from now on. */
mxc_status mxci_executor_single_steps(mxc_executor *executor);
/* Show what the step has made to the monitor. */
mxc_status mxci_monitor_step(mxc_executor *executor, const mxci_step *step, int32_t node);

/* ---- binding (bind.c) ------------------------------------------------------------------------------------------ */

/* Lower the executor's symbol for its arrays. as_written: as mxci_lowering has it. */
mxc_status mxci_executor_lower(const mxc_executor *executor, int as_written, mxci_program **out);

/* Options with defaults for members that an older caller does not have; NULL: all defaults. MXC_EINVAL. */
mxc_status mxci_bind_options_read(const mxc_bind_options *given, mxc_bind_options *out);
/* New array for an entry on its node's context: zeros, whose memory has been touched. */
mxc_status mxci_bind_array(const mxci_graph *graph, int32_t entry, mxc_ndarray **out);
/* MXC_ESHAPE names a node of which something is unknown. */
mxc_status mxci_check_complete(const mxci_graph *graph);
/* Flatten, with the shapes and types of arrays set, and infer. */
mxc_status mxci_bind_graph(const mxc_symbol *symbol, mxc_ndarray *const *args, mxc_ndarray *const *aux,
                           mxci_graph **out);

#endif
