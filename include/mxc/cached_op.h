/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cached operators: symbols that are called on arrays like an operator (MXNet's CachedOp). Each call runs an executor,
 * which is bound once for each combination of shapes, and is recorded as one node of the graph (autograd.h). Where the
 * shapes of results depend on what arrays hold (_contrib_boolean_mask), each call runs operator by operator instead, as
 * calls on arrays.
 */
#ifndef MXC_CACHED_OP_H
#define MXC_CACHED_OP_H

#include <mxc/autograd.h>
#include <mxc/executor.h>

typedef struct mxc_cached_op mxc_cached_op;

/** Options of cached operators. Initialise them with mxc_cached_op_options_init or
 *  MXC_CACHED_OP_OPTIONS_INIT. */
typedef struct mxc_cached_op_options {
    /* sizeof(mxc_cached_op_options) */
    size_t size;
    /* 1: the outputs of a call are arrays of the executor, without a copy; a later call with the same shapes may
     * overwrite them once its executor is free, that is, for a recorded call, once backward has run. Default 0: they
     * are new arrays. */
    int static_alloc;
    /* 1: backward may run several times after a recorded call (retain_graph), which takes more memory. Default 0. */
    int repeat_backward;
    /* Number of executors that are kept while no graph uses them. Default 16. */
    int capacity;
} mxc_cached_op_options;
#define MXC_CACHED_OP_OPTIONS_INIT \
    { sizeof(mxc_cached_op_options), 0, 0, 16 }
/** Set the defaults, as MXC_CACHED_OP_OPTIONS_INIT does; size is sizeof(mxc_cached_op_options): no more is written.
 *  @param[out] options  where the defaults go
 */
MXC_API void mxc_cached_op_options_init(mxc_cached_op_options *options, size_t size);

/**
 * A cached operator that runs a symbol.
 * @param[null] options  NULL: all defaults
 * @return MXC_EINVAL (options), MXC_ENOMEM
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_cached_op_create(mxc_symbol *symbol, const mxc_cached_op_options *options,
                                                       mxc_cached_op **out);
/** Graphs that have recorded calls keep what they need. NULL is fine. */
MXC_API void mxc_cached_op_destroy(mxc_cached_op *op);
/**
 * Queue one run, as in training or inference as this thread's mode says (mxc_autograd_set_training). Inputs that are
 * the same arrays in each call, as parameters are, are read where they are; others are copied.
 * @param in       n_in arrays on one context: the symbol's arguments in order, then its auxiliary states, which are
 *                 changed
 * @param out      n_out entries, the symbol's outputs; set to NULL first, then to new arrays, which the caller releases
 * @return MXC_EINVAL (counts), MXC_ESHAPE, MXC_EDTYPE, MXC_EDEVICE, MXC_ENOMEM
 * Thread-safe: calls at the same time run on executors of their own. Blocks only where an executor is bound or freed.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_cached_op_invoke(mxc_cached_op *op, int n_in, mxc_ndarray *const *in, int n_out,
                                                       mxc_ndarray **out);
/**
 * A function that is shown what a call computes.
 * @param name   the name of the node, "_", and the name of its argument or output
 * @param op     the name of the operator
 * @param array  borrowed, not necessarily computed yet
 * @thread caller
 */
typedef void (*mxc_cached_op_monitor_fn)(const char *name, const char *op, mxc_ndarray *array, void *user);
/**
 * Show the outputs of the symbol's operators to a function. Calls then run operator by operator, as calls on arrays,
 * which is slower. Not during a call.
 * @param[null] fn  NULL: no function any more
 * @param is_all    1: show what each operator reads, too
 * @param[null] user  passed to fn
 * @return MXC_ENOMEM
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_cached_op_set_monitor(mxc_cached_op *op, mxc_cached_op_monitor_fn fn, int is_all,
                                                            void *user);
/** Its symbol, borrowed. */
MXC_API mxc_symbol *mxc_cached_op_symbol(const mxc_cached_op *op);

#endif
