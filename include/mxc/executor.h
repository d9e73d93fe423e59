/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executors: a symbol bound to arrays, ready to run forward and backward many times.
 *
 * Binding flattens the graph, infers, takes the gradient, places devices, plans memory, and prepares engine operators;
 * each run then only pushes those. A bound executor allocates nothing per step. Calls on one executor must not overlap;
 * different executors may run from different threads.
 */
#ifndef MXC_EXECUTOR_H
#define MXC_EXECUTOR_H

#include <mxc/ndarray.h>
#include <mxc/symbol.h>

typedef struct mxc_executor mxc_executor;

typedef enum mxc_recompute {
    MXC_RECOMPUTE_NONE = 0,  /* keep what backward needs */
    MXC_RECOMPUTE_CHEAP = 1, /* compute cheap element-wise results again in backward */
    MXC_RECOMPUTE_ALL = 2    /* keep about the square root of the chain, compute the rest again */
} mxc_recompute;

/** Options of binding. Initialise them with mxc_bind_options_init or MXC_BIND_OPTIONS_INIT. */
typedef struct mxc_bind_options {
    /* sizeof(mxc_bind_options) */
    size_t size;
    /* Device of all nodes that no group places elsewhere. Default cpu(0). */
    mxc_context context;
    /* Device groups: nodes with attribute ctx_group = group_names[i] are placed on group_contexts[i]. Default none.
     * @length n_groups */
    int n_groups;
    const char *const *group_names;
    const mxc_context *group_contexts;
    /* Executor whose memory pool is shared (bucketing); the two must not run at the same time. Default NULL. */
    mxc_executor *shared;
    /* 1: plan memory without in-place operators, for comparison and debugging. Default 0. */
    int no_inplace;
    /* 1: plan memory without sharing it between arrays. Default 0. */
    int no_sharing;
    /* Which results backward computes again instead of keeping them. Default MXC_RECOMPUTE_NONE. */
    mxc_recompute recompute;
    /* Largest number of nodes that run as one task of the engine; 1: each node by itself. Default 0: MXC_BULK_NODES. */
    int bulk_nodes;
    /* 1: backward may run several times after one forward run, for which what it reads is kept until the next forward
     * run. Takes more memory. Default 0. */
    int repeat_backward;
    /* 1: backward may also follow a forward run with is_train 0, and computes the gradients of what that computed.
     * Default 0: it has to be a training run. */
    int backward_after_inference;
    /* One flag per argument: not 0 if the caller promises not to change its values after binding. What follows from
     * such arguments and states alone, for instance weights with norms folded in, is then computed once, when binding,
     * for which binding waits; executors made by reshape share it. A change may have an effect or none. For
     * mxc_executor_bind; without effect where gradients are asked for. Default NULL: all may change. @length text */
    const uint8_t *constant_args;
    /* The same per auxiliary state. Operators go on to change states of their own. Default NULL: all may change.
     * @length text */
    const uint8_t *constant_aux;
} mxc_bind_options;
#define MXC_BIND_OPTIONS_INIT \
    { sizeof(mxc_bind_options), {MXC_CPU, 0}, 0, NULL, NULL, NULL, 0, 0, MXC_RECOMPUTE_NONE, 0, 0, 0, NULL, NULL }
/** Set the defaults, as MXC_BIND_OPTIONS_INIT does; size is sizeof(mxc_bind_options), of which no more is written.
 *  @param[out] options  where the defaults go
 */
MXC_API void mxc_bind_options_init(mxc_bind_options *options, size_t size);

/** What is known about the variables of a symbol before they have arrays, and which arguments get gradients. Initialise
 *  it with mxc_bind_spec_init, MXC_BIND_SPEC_INIT or designated initialisers; members left out are zero. Everything is
 *  borrowed for the call. */
typedef struct mxc_bind_spec {
    /* sizeof(mxc_bind_spec) */
    size_t size;
    /* Known variables, as for mxc_symbol_infer: inputs such as data and label. Default none. */
    int64_t n;
    const char *const *names;
    /* Shapes of the n variables. Default NULL: none is known. @length n */
    const mxc_shape *shapes;
    /* Dtypes of the n variables. Default NULL: float32 where nothing else is inferred. */
    const mxc_dtype *types;
    /* Request for the gradients of all arguments except those named above, labels of losses (mxc_op_def.labels), and
     * those in no_grad, which get MXC_REQ_NULL. Default MXC_REQ_NULL. */
    mxc_req req;
    /* Names of further arguments without gradients. Default none. */
    int n_no_grad;
    const char *const *no_grad;
} mxc_bind_spec;
#define MXC_BIND_SPEC_INIT \
    { sizeof(mxc_bind_spec), 0, NULL, NULL, NULL, MXC_REQ_NULL, 0, NULL }
/** Set the defaults, as MXC_BIND_SPEC_INIT does; size is sizeof(mxc_bind_spec), of which no more is written.
 *  @param[out] spec  where the defaults go
 */
MXC_API void mxc_bind_spec_init(mxc_bind_spec *spec, size_t size);

/** Memory by class, in bytes. Internal: outputs of inner nodes and inner gradients. */
typedef struct mxc_memory_report {
    int64_t arguments, gradients, aux, outputs; /* arrays that the caller sees */
    int64_t internal_unplanned;                 /* every internal array by itself */
    int64_t internal_inplace;                   /* after in-place reuse */
    int64_t internal_planned;                   /* after sharing too: what is allocated with these options */
    int64_t temp;                               /* largest scratch of one operator */
    int64_t n_nodes, n_internal_arrays;
    int64_t constants; /* computed when binding (constant_args); each executor that shares them counts them */
} mxc_memory_report;

/**
 * Bind to given arrays, which the executor retains.
 * @param[null] options  NULL: all defaults
 * @param[n=text] args  one per list_arguments, on the contexts that their nodes are placed on
 * @param[null,n=text] grads  one per argument, NULL where its request is MXC_REQ_NULL; the whole may be NULL
 *               (inference)
 * @param[null,n=text] reqs  MXC_REQ_NULL, MXC_REQ_WRITE or MXC_REQ_ADD per argument; NULL: write where grads has an
 *               array
 * @param[null,n=text] aux  one per list_aux; NULL if there are none
 * @return MXC_ESHAPE and MXC_EDTYPE name operator, argument and both shapes; MXC_EINVAL, MXC_EDEVICE, MXC_ENOMEM
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_executor_bind(mxc_symbol *symbol, const mxc_bind_options *options,
                                                    mxc_ndarray *const *args, mxc_ndarray *const *grads,
                                                    const mxc_req *reqs, mxc_ndarray *const *aux, mxc_executor **out);
/**
 * Infer everything from some shapes (and types; float32 where nothing says otherwise), make the arrays (zeros), bind.
 * @param[null] options  NULL: all defaults
 * @param[null] spec  NULL: no variable is known, no gradients
 * @return as mxc_executor_bind; MXC_ESHAPE lists the arguments whose shape does not follow; MXC_ENOTFOUND names an
 *         argument of the spec that the symbol does not have
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_executor_simple_bind(mxc_symbol *symbol, const mxc_bind_options *options,
                                                           const mxc_bind_spec *spec, mxc_executor **out);
/** What need not agree between a list of parameters and a network. */
typedef enum mxc_params_flags {
    MXC_PARAMS_STRICT = 0,
    MXC_PARAMS_ALLOW_MISSING = 1, /* arguments and auxiliary states without a parameter keep their values */
    MXC_PARAMS_ALLOW_EXTRA = 2,   /* parameters of other networks may be in the list */
    MXC_PARAMS_CONVERT = 4        /* dtypes may differ: values are converted to the network's */
} mxc_params_flags;
/**
 * Queue copying a list of parameters (as mxc_model_load and mxc_ndarray_load read them) to an executor's arguments and
 * auxiliary states. A parameter is called "arg:<argument>", "aux:<state>", or by the name alone. Nothing is copied
 * unless everything agrees. Does not block.
 * @param flags   mxc_params_flags, or'ed: without them every argument but the inputs, and every auxiliary state, has
 *                its parameter, of its shape and dtype, and no parameter is left over
 * @param inputs  n_inputs arguments that are no parameters: data, labels, states
 * @return MXC_ENOTFOUND (missing parameters, named), MXC_EINVAL (parameters left over, named; unnamed arrays),
 *         MXC_EEXIST (a parameter twice), MXC_ESHAPE, MXC_EDTYPE (parameter, expected, found), MXC_ENOMEM
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_executor_load_params(mxc_executor *executor, const mxc_ndarray_list *params,
                                                           unsigned flags, int64_t n_inputs, const char *const *inputs);
/**
 * Bind for inference with parameters: simple_bind from the inputs and from the parameters' shapes and dtypes, then
 * load_params. A parameter whose shape or dtype contradicts the inputs is named. Does not block.
 * @param[null] options  NULL: all defaults
 * @param[null] spec  the inputs: all that are no parameters, labels too, unless MXC_PARAMS_ALLOW_MISSING is among
 *               flags; its req must be MXC_REQ_NULL
 * @param flags  as for load_params; with MXC_PARAMS_CONVERT the parameters' dtypes say nothing about the network's
 * @return as simple_bind and load_params
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_executor_bind_params(mxc_symbol *symbol, const mxc_bind_options *options,
                                                           const mxc_bind_spec *spec, const mxc_ndarray_list *params,
                                                           unsigned flags, mxc_executor **out);
/** What simple_bind with these arguments would allocate, before anything is.
 *  @param[null] options, spec  as for simple_bind
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_executor_plan(mxc_symbol *symbol, const mxc_bind_options *options,
                                                    const mxc_bind_spec *spec, mxc_memory_report *out);
/** The report as a table. Caller frees with mxc_free. */
MXC_API MXC_MUST_CHECK mxc_status mxc_memory_report_print(const mxc_memory_report *report, char **out);
/** Wait for queued runs, then free. NULL is fine. */
MXC_API void mxc_executor_destroy(mxc_executor *executor);

/** Queue a forward run. Does not block. Errors are reported by the next wait on an output. */
MXC_API MXC_MUST_CHECK mxc_status mxc_executor_forward(mxc_executor *executor, int is_train);
/**
 * Queue one step of forward: one operator, counted from 0 in execution order. Start with step 0, then go on in order
 * (earlier steps may be repeated); MXC_ESTATE otherwise.
 * @param left  how many steps come after this one; 0 also where there is no such step
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_executor_partial_forward(mxc_executor *executor, int is_train, int64_t step,
                                                               int64_t *left);
/**
 * Queue a backward run after a forward run with is_train 1, one for each forward run unless repeat_backward is set.
 * @param head_grads  n gradients of the outputs (copied; NULL where the output's operator reads none); n 0: only where
 *                    no output's operator reads one, else MXC_EINVAL names it
 * @return MXC_ESTATE if the latest forward run was not a training run
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_executor_backward(mxc_executor *executor, int64_t n,
                                                        mxc_ndarray *const *head_grads);

/** Arrays, borrowed for the executor's life. Index as in the symbol's lists; NULL past the end or where none is. */
MXC_API mxc_ndarray *mxc_executor_output(const mxc_executor *executor, int64_t index);
MXC_API mxc_ndarray *mxc_executor_arg(const mxc_executor *executor, int64_t index);
MXC_API mxc_ndarray *mxc_executor_grad(const mxc_executor *executor, int64_t index);
MXC_API mxc_ndarray *mxc_executor_aux(const mxc_executor *executor, int64_t index);
MXC_API mxc_ndarray *mxc_executor_find_arg(const mxc_executor *executor, const char *name);
MXC_API mxc_ndarray *mxc_executor_find_grad(const mxc_executor *executor, const char *name);
MXC_API mxc_ndarray *mxc_executor_find_aux(const mxc_executor *executor, const char *name);
/** Names of the arguments and auxiliary states, and the symbol that it was bound with, borrowed. */
MXC_API const mxc_names *mxc_executor_arg_names(const mxc_executor *executor);
MXC_API const mxc_names *mxc_executor_aux_names(const mxc_executor *executor);
MXC_API mxc_symbol *mxc_executor_symbol(const mxc_executor *executor);

/** Called after each node has run, with "<node>_<output>" and the array, borrowed for the call; from engine threads,
 *  one call at a time.
 *  @thread any
 */
typedef void (*mxc_monitor_fn)(const char *name, mxc_ndarray *array, void *user);
/** Have fn called after each node from the next run on. Turns bulk execution off while set.
 *  @param[null] fn  NULL: none, which turns bulk execution on again
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_executor_set_monitor(mxc_executor *executor, mxc_monitor_fn fn, void *user);
/** What the monitor is shown from the next run on, besides the outputs that the user sees.
 *  @param inputs  1: before a node runs forward, what it reads, as "<node>_<argument>", auxiliary states last; default
 * 0
 *  @param hidden  1: hidden outputs, such as the mean and var of BatchNorm, where something needs them; default 0
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_executor_set_monitored(mxc_executor *executor, int inputs, int hidden);

/**
 * An executor for other input shapes that shares arguments, gradients and aux where their shapes stay the same, and the
 * memory pool. The old one stays valid; the two must not run at the same time.
 * @param[n=n] shapes  of the named arguments
 * @param partial_shaping  arrays not named may change shape too (new arrays are made)
 * @param allow_up_sizing  arrays may grow
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_executor_reshape(mxc_executor *executor, int partial_shaping, int allow_up_sizing,
                                                       int64_t n, const char *const *names, const mxc_shape *shapes,
                                                       mxc_executor **out);

/** What it has allocated. */
MXC_API MXC_MUST_CHECK mxc_status mxc_executor_get_report(const mxc_executor *executor, mxc_memory_report *out);
/** The plan in words: nodes in order, their arrays, storage and sizes. Caller frees with mxc_free. */
MXC_API MXC_MUST_CHECK mxc_status mxc_executor_print(const mxc_executor *executor, char **out);

/**
 * The gradient of a symbol's outputs (summed, head gradients are ones) with respect to some of its arguments, as a
 * symbol with one output per name. Status: MXC_ENOTFOUND, MXC_EUNSUPPORTED (an operator without gradient), MXC_ENOMEM.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_symbol_grad(mxc_symbol *symbol, int n, const char *const *names,
                                                  mxc_symbol **out);

#endif
