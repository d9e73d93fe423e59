/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gradients of computations on arrays, without a symbol: calls of a thread that records are kept as a graph, and
 * backward computes the gradients of arrays that were marked.
 *
 *     mxc_autograd_attach(w, MXC_REQ_WRITE, NULL)            w gets a gradient
 *     int scope = mxc_autograd_record(1);
 *     mxc_invoke("dot", ...)                                 any calls on arrays that depend on w
 *     mxc_autograd_leave(scope);
 *     mxc_autograd_backward(1, &loss, NULL, NULL)            writes mxc_autograd_grad(w)
 *
 * Recorded are mxc_invoke, mxc_invoke_into and mxc_op_invoke, views (slice, at, reshape), copies between arrays and
 * cached operators (cached_op.h), where an argument is an array of the graph: one with a gradient attached, or a result
 * of a recorded call. The graph belongs to the handles of these arrays; it is freed with them, or by backward. It keeps
 * the memory that backward reads, and no other.
 *
 * What backward reads must not change before: an array that is written between the recorded call and backward makes
 * backward fail (MXC_ESTATE), unless its options allow changes. Calls of a thread that records do not write to arrays
 * of a graph (MXC_ESTATE). Auxiliary states may change.
 *
 * The gradients are the same, bit for bit, as those of an executor that is bound to the symbol of the graph
 * (mxc_autograd_symbol). Each call's backward behaves as in training or inference as the call did.
 *
 * Whether a thread records and trains is known per thread, off at first, and off in functions that the engine runs.
 * All calls are thread-safe; one graph is used by one thread at a time.
 */
#ifndef MXC_AUTOGRAD_H
#define MXC_AUTOGRAD_H

#include <mxc/ndarray.h>
#include <mxc/symbol.h>

/* ---- what a thread does ------------------------------------------------------------------------------------------ */

/** Begin a scope in which this thread records, or one in which it does not. In training mode (is_train 1), calls with
 *  is_train 0 behave as with 1. Returns a number for mxc_autograd_leave; scopes nest. */
MXC_API int mxc_autograd_record(int is_train);
MXC_API int mxc_autograd_pause(int is_train);
/** End a scope, on the thread that began it: what held before holds again. */
MXC_API void mxc_autograd_leave(int scope);
/** Set one of the two by itself (0 or 1); returns what it was. */
MXC_API int mxc_autograd_set_recording(int is_recording);
MXC_API int mxc_autograd_set_training(int is_training);
MXC_API int mxc_autograd_is_recording(void);
MXC_API int mxc_autograd_is_training(void);

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

/**
 * Make an array a variable of graphs that are recorded from now on. It leaves the graph that it was a result of.
 * @param array  of a float type, the handle by which it will be used; views of it made before have no gradient
 * @param req    MXC_REQ_WRITE: backward overwrites the gradient; MXC_REQ_ADD: adds to it; MXC_REQ_NULL: leaves it
 * @param[null] grad  the gradient, of the array's shape, dtype and context; its memory is shared. NULL: a new one,
 * zeros
 * @return MXC_EINVAL (req), MXC_EDTYPE, MXC_ESHAPE, MXC_EDEVICE, MXC_ENOMEM
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_autograd_attach(mxc_ndarray *array, mxc_req req, mxc_ndarray *grad);
/** The gradient attached to an array, borrowed until another one is attached or the array is released; NULL if there is
 *  none. */
MXC_API mxc_ndarray *mxc_autograd_grad(const mxc_ndarray *array);
/** 1 if backward has computed the gradient attached to the array since mxc_autograd_set_fresh(array, 0). */
MXC_API int mxc_autograd_is_fresh(const mxc_ndarray *array);
MXC_API void mxc_autograd_set_fresh(mxc_ndarray *array, int is_fresh);
/** 1 if gradients flow through the array: it has one attached, or is the result of a recorded call whose graph has not
 *  been freed. */
MXC_API int mxc_autograd_in_graph(const mxc_ndarray *array);
/** Another handle of the same memory that belongs to no graph. MXC_ENOMEM. */
MXC_API MXC_MUST_CHECK mxc_status mxc_autograd_detach(mxc_ndarray *array, mxc_ndarray **out);

/* ---- gradients --------------------------------------------------------------------------------------------------- */

/** Options of backward. Initialise them with mxc_backward_options_init or MXC_BACKWARD_OPTIONS_INIT. */
typedef struct mxc_backward_options {
    /* sizeof(mxc_backward_options) */
    size_t size;
    /* 1: keep the graph, for another backward. Default 0: free it, each node after its backward. */
    int retain_graph;
    /* 1: record backward itself, for gradients of gradients. Not supported: MXC_EUNSUPPORTED. Default 0. */
    int create_graph;
    /* 1: backward reads what arrays hold now, as in MXNet, also if they were written since the call that read them.
     * Default 0: that is MXC_ESTATE. */
    int allow_changes;
} mxc_backward_options;
#define MXC_BACKWARD_OPTIONS_INIT \
    { sizeof(mxc_backward_options), 0, 0, 0 }
/** Set the defaults, as MXC_BACKWARD_OPTIONS_INIT does; size is sizeof(mxc_backward_options): no more is written.
 *  @param[out] options  where the defaults go
 */
MXC_API void mxc_backward_options_init(mxc_backward_options *options, size_t size);

/**
 * Queue computing the gradients of the attached variables that the heads depend on, as their requests say. Those whose
 * gradient is zero are set to zero (MXC_REQ_WRITE).
 * @param heads       n arrays that were recorded; their gradients are summed
 * @param[null] head_grads  n arrays like the heads, or NULL entries, or NULL: ones. Not used for a head whose operator
 *                    reads none (a loss such as SoftmaxOutput)
 * @param[null] options  NULL: all defaults
 * @return MXC_ESTATE (a head was not recorded, or its graph is freed; no variable was reached; an array was written
 *         since; another thread uses the graph), MXC_EUNSUPPORTED (an operator without gradient, create_graph),
 *         MXC_ESHAPE, MXC_EDTYPE, MXC_EDEVICE (head_grads), MXC_ENOMEM, or the error of a function's backward. In the
 *         last two cases gradients may be incomplete, and the graph is freed unless it is retained; in the others
 *         nothing has changed
 * Does not block. User functions are called on this thread; it does not record meanwhile.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_autograd_backward(int n, mxc_ndarray *const *heads,
                                                        mxc_ndarray *const *head_grads,
                                                        const mxc_backward_options *options);
/**
 * Queue computing the gradients of the heads with respect to some arrays of the graph, variables or results, as new
 * arrays. Attached gradients are not touched.
 * @param[null] head_grads  as for mxc_autograd_backward
 * @param variables  n_variables arrays
 * @param[null] options  NULL: all defaults
 * @param[out,n=n_variables] out  n_variables new arrays; the caller releases them
 * @return as mxc_autograd_backward; MXC_ESTATE also for an array that the heads do not depend on
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_autograd_gradients(int n, mxc_ndarray *const *heads,
                                                         mxc_ndarray *const *head_grads, int n_variables,
                                                         mxc_ndarray *const *variables,
                                                         const mxc_backward_options *options, mxc_ndarray **out);

/* ---- functions of the program ------------------------------------------------------------------------------------ */

/**
 * Backward of a function: queue writing to in_grad, from out_grad and what the function has kept in arg.
 * @param out_grad  gradients of the outputs, borrowed
 * @param in_grad   one per input, to be overwritten; NULL where no gradient is asked for
 * @thread caller
 */
typedef mxc_status (*mxc_autograd_fn)(int n_out, mxc_ndarray *const *out_grad, int n_in, mxc_ndarray *const *in_grad,
                                      void *arg);
/**
 * Record a function that the program has computed, in a pause, as one node. If this thread does not record, or no input
 * belongs to a graph, only destroy is called.
 * @param in        n_in arrays
 * @param out       n_out arrays computed from them, which belong to no graph
 * @param backward  called by mxc_autograd_backward on its thread, more than once if the graph is retained
 * @param[null,thread=any] destroy  called with arg when backward will not be called any more; may be NULL. Not called
 *                  if this function fails
 * @return MXC_ESTATE (an output belongs to a graph), MXC_ENOMEM
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_autograd_function(const char *name, int n_in, mxc_ndarray *const *in, int n_out,
                                                        mxc_ndarray *const *out, mxc_autograd_fn backward,
                                                        void (*destroy)(void *arg), void *arg);

/* ---- graphs as symbols ------------------------------------------------------------------------------------------- */

/**
 * The graph of some heads as a symbol, whose outputs they are.
 * @param inputs  n_inputs arrays that become variables called names; others, with and without gradients, are called
 *                "var0", "var1"... in the symbol's order of arguments
 * @return MXC_ESTATE (a head was not recorded, or its graph is freed), MXC_EUNSUPPORTED (a function of the program in
 *         the graph), MXC_EINVAL (an empty or repeated name, or one of the form var0 that another variable has),
 *         MXC_ENOMEM
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_autograd_symbol(int n, mxc_ndarray *const *heads, int n_inputs,
                                                      mxc_ndarray *const *inputs, const char *const *names,
                                                      mxc_symbol **out);

#endif
