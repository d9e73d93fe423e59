/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the control-flow operators (_foreach, _while_loop, _cond) share: parameters that say which input of the operator
 * is which argument of its subgraphs, arrays over the operator's tensors, and the executors of a subgraph.
 *
 * A subgraph is a symbol without auxiliary states. Its arguments are numbered as mxc_symbol_list_arguments gives them.
 * The operators have MXC_OP_CALLBACK: their functions run on threads that may wait, and call the library for each step.
 */
#ifndef MXCI_EXECUTOR_CONTROL_FLOW_H
#define MXCI_EXECUTOR_CONTROL_FLOW_H

#include <mxc/executor.h>
#include <mxc/op.h>

#include "operator/op.h"

/* Limit of steps. A training run keeps an executor for each. */
enum { MXCI_MAX_ITERATIONS = 1 << 24 };

/* Numbers as in "[0, 2]". */
typedef struct mxci_locations {
    int n;
    int32_t *at; /* n; owned */
} mxci_locations;

/* What all three operators have as parameters; those of the _locs that an operator does not have stay empty. */
typedef struct mxci_control_params {
    mxc_symbol *subgraphs[MXCI_MAX_SUBGRAPHS]; /* retained; first, since mxci_op_create_with_subgraphs fills them in */
    int n_in[MXCI_MAX_SUBGRAPHS], n_out[MXCI_MAX_SUBGRAPHS]; /* arguments and outputs of each subgraph */
    int n_subgraphs, n_args; /* n_args: inputs of the operator, without the subgraphs that num_args counts too */
    int depth;               /* 1: no subgraph has an operator with subgraphs in it, 2: one has, and so on */
    int64_t num_args, num_outputs, num_out_data, max_iterations;
    mxci_locations locs[3]; /* in the order of the operator's names for them */
} mxci_control_params;

/* How an operator describes itself to the functions below. */
typedef struct mxci_control_op {
    const char *name;
    int n_subgraphs;
    const char *locs[3];      /* names of the _locs; NULL: none */
    const mxc_param *numbers; /* the other parameters: the three below, as far as the operator has them */
    mxc_status (*check)(const mxci_control_params *p);
} mxci_control_op;

#define MXCI_CONTROL_COUNTS                                                                                            \
    {MXC_PARAM_FIELD(mxci_control_params, num_args),                                                                   \
     .name = "num_args",                                                                                               \
     .type = MXC_PARAM_INT,                                                                                            \
     .bounded = 1,                                                                                                     \
     .minimum = 0,                                                                                                     \
     .maximum = 1 << 20,                                                                                               \
     .doc = "Number of inputs, the subgraphs among them."},                                                            \
    {                                                                                                                  \
        MXC_PARAM_FIELD(mxci_control_params, num_outputs), .name = "num_outputs", .type = MXC_PARAM_INT, .bounded = 1, \
                                                           .minimum = 1, .maximum = 1 << 20,                           \
                                                           .doc = "Number of outputs."                                 \
    }
#define MXCI_CONTROL_OUT_DATA                                                                          \
    {                                                                                                  \
        MXC_PARAM_FIELD(mxci_control_params, num_out_data),                                            \
            .name = "num_out_data", .type = MXC_PARAM_INT, .initial = "0", .bounded = 1, .minimum = 0, \
            .maximum = 1 << 20, .doc = "Number of outputs that are stacked, one row per step."         \
    }
#define MXCI_CONTROL_MAX_ITERATIONS                                                                                 \
    {                                                                                                               \
        MXC_PARAM_FIELD(mxci_control_params, max_iterations),                                                       \
            .name = "max_iterations", .type = MXC_PARAM_INT, .bounded = 1, .minimum = 1,                            \
            .maximum = MXCI_MAX_ITERATIONS, .doc = "Largest number of iterations, and rows of the stacked outputs." \
    }

/* Parse and check the parameters of an operator whose subgraphs are in params already, and retain these. MXC_EINVAL,
 * MXC_EUNSUPPORTED (a subgraph with auxiliary states, or nested too deep), MXC_ENOMEM; on failure nothing is left to
 * free. */
mxc_status mxci_control_open(const mxci_control_op *op, int n, const char *const *keys, const char *const *values,
                             mxci_control_params *params);
void mxci_control_close(void *params);
int mxci_control_n_args(const void *params);
int mxci_control_n_outputs(const void *params);
/* Fail unless the _locs of each subgraph name an input for each of its arguments (subgraph g has locs[g]). */
mxc_status mxci_control_check_reads(const mxci_control_op *op, const mxci_control_params *p);
/* Fail unless the lists, together, hold each of 0 to n - 1 exactly once. */
mxc_status mxci_locations_check(const char *op, const char *what, int n, int n_lists, const mxci_locations *lists);

/* Infer the shapes (or types, where shapes is NULL) of a subgraph's arguments and outputs from those that are known, in
 * both directions; in and out are both read and completed. MXC_ESHAPE, MXC_EDTYPE, MXC_ENOMEM. */
mxc_status mxci_subgraph_infer(mxc_symbol *subgraph, mxc_shape *in, mxc_shape *out, mxc_dtype *in_types,
                               mxc_dtype *out_types);

/* Inference by subgraph g, whose arguments are the inputs locs[g]. gives_outputs: its outputs are the operator's, of
 * which the first num_out_data are stacked, max_iterations rows; else they are not looked at. */
mxc_status mxci_control_infer_shape(const mxci_control_op *op, mxc_op_sig *sig, int g, int gives_outputs);
mxc_status mxci_control_infer_type(const mxci_control_op *op, mxc_op_sig *sig, int g, int gives_outputs);

/* What a step sees of an array of rows: (T,...) without T, but (1,) of (T,); and the array of t such rows. */
mxc_shape mxci_row_shape(const mxc_shape *rows);
mxc_shape mxci_rows_shape(const mxc_shape *row, int64_t t);

/* An array over a tensor's memory, which must outlive it; *out is NULL where the tensor has elements but no memory. */
mxc_status mxci_tensor_array(const mxc_tensor *tensor, mxc_ndarray **out);
/* Queue storing from in to as the request says. NULL arrays are skipped. */
mxc_status mxci_store_array(mxc_ndarray *from, mxc_ndarray *to, mxc_req req);

/* Arrays over n tensors, as mxci_tensor_array makes them. Free with mxci_drop_arrays, also after a failure. */
mxc_status mxci_wrap_tensors(int n, const mxc_tensor *tensors, mxc_ndarray ***out);
void mxci_drop_arrays(int n, mxc_ndarray **arrays); /* NULL arrays are fine */
/* Wait until all that is queued on the arrays has ended; the first failure. */
mxc_status mxci_wait_for_arrays(int n, mxc_ndarray *const *arrays);
/* Wrap what a call reads and writes (in and out; backward: out_grad and in_grad), run fn on it, wait for all it queued.
 */
mxc_status mxci_run_on_arrays(const mxc_op_call *call, mxc_pass pass,
                              mxc_status (*fn)(const mxc_op_call *call, mxc_ndarray **from, mxc_ndarray **to));
/* Before a backward call that no training run of the same state came before, as on arrays: forward, to no outputs. */
mxc_status mxci_run_forward_first(const mxc_op_call *call, mxc_op_compute_fn forward);
/* Wait for an array of one element, and whether it is not 0. MXC_ESHAPE, or its failure. */
mxc_status mxci_read_flag(const char *op, mxc_ndarray *array, int *out);
/* Queue storing an array in row t of rows as the request says, and a row in an array. */
mxc_status mxci_store_row(mxc_ndarray *from, mxc_ndarray *rows, int64_t t, mxc_req req);
mxc_status mxci_load_row(mxc_ndarray *rows, int64_t t, mxc_ndarray *to);
/* Row t of rows as an array like output, which may have no axes: the row of (T,) is (1,) otherwise. */
mxc_status mxci_row_like(mxc_ndarray *rows, int64_t t, mxc_ndarray *output, mxc_ndarray **out);
/* Queue zeros in an array that is requested and has no gradient, unless they would be added. NULL is fine. */
mxc_status mxci_store_zeros(mxc_ndarray *to, mxc_req req);

/* ---- executors of a subgraph, one for each step, so that backward finds what each forward run left --------------- */

typedef struct mxci_steps {
    mxc_symbol *subgraph; /* borrowed */
    mxc_context context;
    int n_in;
    mxc_shape *shapes;          /* n_in */
    mxc_dtype *types;           /* n_in */
    uint8_t *is_shared;         /* n_in: 1: all steps read one array */
    mxc_ndarray **shared;       /* n_in: the array of an argument that all steps read; NULL: each has its own */
    mxc_ndarray **shared_grads; /* n_in: the sum of all steps' gradients; NULL where shared or its dtype has none */
    mxc_ndarray **zeros; /* n_in: the gradient of an argument of each step whose dtype has none; NULL for the others */
    int64_t n, capacity;
    mxc_executor **executors;
    int has_gradients; /* the executors have gradient arrays */
} mxci_steps;

/* Executors of subgraph g of an operator, in two calls, between which the caller fills in shapes, types and is_shared.
 * MXC_ENOMEM; on failure mxci_steps_close frees what there is. */
mxc_status mxci_steps_open(const mxci_control_op *op, const mxc_op_sig *sig, int g, mxci_steps *steps);
mxc_status mxci_steps_make_arrays(mxci_steps *steps);
/* The shapes and types of a subgraph whose arguments are the inputs locs[g]. */
void mxci_steps_read_inputs(const mxc_op_sig *sig, int g, mxci_steps *steps);
void mxci_steps_close(mxci_steps *steps);
/* The executor of a step, with gradient arrays if is_train. Steps are asked for in order from 0. Without is_train they
 * take two executors by turns: outputs of a step that are arguments of the subgraph are the arrays of these arguments,
 * so that storing the next step's arguments in the same executor would overwrite what is still to be read. */
mxc_status mxci_steps_get(mxci_steps *steps, int64_t step, int is_train, mxc_executor **out);
/* The gradient that step computed of an argument of its own: zeros where its dtype has none. Borrowed. */
mxc_ndarray *mxci_steps_grad(const mxci_steps *steps, const mxc_executor *step, int argument);

#endif
