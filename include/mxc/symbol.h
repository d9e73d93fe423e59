/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols: a computation written down before it runs.
 *
 * A symbol is an ordered list of outputs of nodes; a node is a variable or an operator applied to outputs of other
 * nodes. Nodes are shared between symbols and reference counted. Reading symbols is thread-safe; composing or setting
 * attributes must not run together with other use of the same nodes.
 */
#ifndef MXC_SYMBOL_H
#define MXC_SYMBOL_H

#include <mxc/op.h>
#include <mxc/types.h>

typedef struct mxc_symbol mxc_symbol;

/** A list of strings that the caller owns; free with mxc_names_release. */
typedef struct mxc_names {
    int64_t n;
    char **items; /* @length n */
} mxc_names;
/** Free the strings and clear the list; a cleared list is fine.
 *  @param[in,out] names  all zeros afterwards
 */
MXC_API void mxc_names_release(mxc_names *names);
/** Index of name; -1 if absent. */
MXC_API int64_t mxc_names_find(const mxc_names *names, const char *name);

/* ---- creation ---------------------------------------------------------------------------------------------------- */

/** A variable: an argument to be given at bind. Status: MXC_EINVAL (empty name), MXC_ENOMEM. */
MXC_API MXC_MUST_CHECK mxc_status mxc_symbol_variable(const char *name, mxc_symbol **out);
/**
 * An operator applied to inputs.
 * @param op        operator name or alias
 *                  Operators of control flow (_foreach, _while_loop, _cond) take their subgraphs as the first
 *                  inputs, and all inputs in order
 * @param[null] name  of the node; NULL: made from the operator's name and a counter, "fullyconnected0"
 * @param keys      of parameters; attributes may be among them: "__key__", "lr_mult" and the like, "weight_lr_mult"
 * @param[null,n=n_in] arg_keys  argument name of each input; NULL: in order. Missing arguments and auxiliary states
 *                  become variables "<name>_<arg>"
 * @param in        n_in symbols; one with several outputs serves several arguments in order (positional only)
 * @return MXC_ENOTFOUND, MXC_EINVAL (parameter, unknown or repeated argument, too many inputs), MXC_EUNSUPPORTED (an
 *         operator for arrays only), MXC_ENOMEM
 * The attributes of the current scope are set on the node and on variables made here. Where the operator counts its
 * inputs in a parameter (Concat: num_args) and it is not given, it is set from n_in.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_symbol_op(const char *op, const char *name, int n_params, const char *const *keys,
                                                const char *const *values, int n_in, const char *const *arg_keys,
                                                mxc_symbol *const *in, mxc_symbol **out);
/** An operator not applied to anything yet; apply it with mxc_symbol_compose, copy it, set its attributes. Other calls
 *  on it give MXC_ESTATE. Status: those of mxc_symbol_op. */
MXC_API MXC_MUST_CHECK mxc_status mxc_symbol_atomic(const char *op, int n_params, const char *const *keys,
                                                    const char *const *values, mxc_symbol **out);
/**
 * Apply in place: give an atomic symbol its name and inputs as mxc_symbol_op does, or replace free variables of a
 * composed symbol (by their names, arg_keys required) with other symbols of one output, and rename the node of its
 * first output unless name is NULL. Other symbols that share nodes with it stay as they are. On failure symbol is as
 * before.
 * Status: those of mxc_symbol_op; MXC_EINVAL also for a name that is no free variable.
 * @param[null] name  of the node
 * @param[null,n=n_in] arg_keys  argument name of each input; NULL: in order
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_symbol_compose(mxc_symbol *symbol, const char *name, int n_in,
                                                     const char *const *arg_keys, mxc_symbol *const *in);
/** All outputs of several symbols, in order. */
MXC_API MXC_MUST_CHECK mxc_status mxc_symbol_group(int n, mxc_symbol *const *symbols, mxc_symbol **out);
/** Deep copy: nothing shared. */
MXC_API MXC_MUST_CHECK mxc_status mxc_symbol_copy(const mxc_symbol *symbol, mxc_symbol **out);
/** Add a reference; returns symbol.
 *  @return[give] symbol
 */
MXC_API mxc_symbol *mxc_symbol_retain(mxc_symbol *symbol);
/** Drop a reference. NULL is fine. No recursion, however deep the graph. */
MXC_API void mxc_symbol_release(mxc_symbol *symbol);

/* ---- control flow ------------------------------------------------------------------------------------------------ */

/*
 * Symbols that run other symbols, with gradients. These, the subgraphs, have no auxiliary states. Variables of a
 * subgraph that are not named in the call are variables of the new symbol, too: one weight is the same in and outside.
 * Status of all: MXC_EINVAL (a name that no subgraph has, numbers of outputs that do not fit, a negative count),
 * MXC_EUNSUPPORTED (auxiliary states, subgraphs nested more than 4 deep), MXC_ENOMEM.
 */

/**
 * Run body once for each row of some arrays, with states that go from one step to the next (MXNet's _foreach).
 * @param[null] name  of the node; NULL: made from the operator's name and a counter
 * @param body    its outputs, then its n_states new states, of the shapes and types of the states
 * @param[n=n_data] data_names  arguments of body
 * @param data    n_data symbols of shape (T,...); the argument data_names[i] of body is row t of data[i]
 * @param[n=n_states] state_names  arguments of body
 * @param states  n_states symbols, the first values of the arguments state_names
 * @param[out] out  outputs: those of body, stacked (T,...), then the states after the last step
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_symbol_foreach(const char *name, mxc_symbol *body, int n_data,
                                                     const char *const *data_names, mxc_symbol *const *data,
                                                     int n_states, const char *const *state_names,
                                                     mxc_symbol *const *states, mxc_symbol **out);
/**
 * Run body on the variables of a loop as long as condition is not 0 (MXNet's _while_loop).
 * @param[null] name       of the node; NULL: made from the operator's name and a counter
 * @param condition       one output of one element, of arguments among var_names and others
 * @param body            its outputs, then the n_vars new variables
 * @param[n=n_vars] var_names  arguments of body
 * @param vars            n_vars symbols, the first values of the arguments var_names of body
 * @param max_iterations  at most so many steps, at least 1
 * @param[out] out  outputs: those of body, stacked (max_iterations,...), zeros behind the last step, then the variables
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_symbol_while_loop(const char *name, mxc_symbol *condition, mxc_symbol *body,
                                                        int n_vars, const char *const *var_names,
                                                        mxc_symbol *const *vars, int64_t max_iterations,
                                                        mxc_symbol **out);
/** Run then_branch if condition, one output of one element, is not 0, and else_branch if it is (MXNet's _cond). The
 *  branches have the same number of outputs, of the same shapes and types.
 *  @param[null] name  of the node; NULL: made from the operator's name and a counter
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_symbol_cond(const char *name, mxc_symbol *condition, mxc_symbol *then_branch,
                                                  mxc_symbol *else_branch, mxc_symbol **out);

/**
 * Cut a symbol along the border of the nodes whose attribute key has a value, such as those made in an attribute scope:
 * what one of them reads from a node without is replaced by a variable that is called as that output.
 * @param[out] inside  the symbol with these variables
 * @param[out] outside  the outputs that they stand for, in the same order, as a group; NULL if nothing is cut
 * Status: MXC_ENOMEM.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_symbol_cut(const mxc_symbol *symbol, const char *key, const char *value,
                                                 mxc_symbol **inside, mxc_symbol **outside);
/** The symbol without amp_cast and amp_multicast, which MXNet's automatic mixed precision inserts. */
MXC_API MXC_MUST_CHECK mxc_status mxc_symbol_remove_amp_casts(const mxc_symbol *symbol, mxc_symbol **out);

/* ---- outputs, inner nodes, names --------------------------------------------------------------------------------- */

/** Name of the node of a one-output symbol; NULL for a group. Borrowed. */
MXC_API const char *mxc_symbol_name(const mxc_symbol *symbol);
/** Name of the operator of the node that all outputs belong to; NULL for a variable and for outputs of several nodes.
 *  Borrowed. */
MXC_API const char *mxc_symbol_op_name(const mxc_symbol *symbol);
/** Number of outputs. */
MXC_API int64_t mxc_symbol_n_outputs(const mxc_symbol *symbol);
/** Output i alone. Status: MXC_EINVAL. */
MXC_API MXC_MUST_CHECK mxc_status mxc_symbol_output(const mxc_symbol *symbol, int64_t index, mxc_symbol **out);
/** The output of that name, as mxc_symbol_list_outputs gives it (search in internals for inner ones). MXC_ENOTFOUND;
 *  MXC_EINVAL where several have it. */
MXC_API MXC_MUST_CHECK mxc_status mxc_symbol_find_output(const mxc_symbol *symbol, const char *name, mxc_symbol **out);
/** Every visible output of every node, in topological order. */
MXC_API MXC_MUST_CHECK mxc_status mxc_symbol_internals(const mxc_symbol *symbol, mxc_symbol **out);
/** The inputs of the symbol's nodes as a group; *out is NULL for a variable. */
MXC_API MXC_MUST_CHECK mxc_status mxc_symbol_children(const mxc_symbol *symbol, mxc_symbol **out);
/** Every variable, arguments and auxiliary states together, in depth-first post-order; *out is NULL if there are none.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_symbol_inputs(const mxc_symbol *symbol, mxc_symbol **out);
/** Which of its node's outputs a symbol of one output is, from 0; -1 for a group. */
MXC_API int64_t mxc_symbol_output_index(const mxc_symbol *symbol);
/** Names in depth-first post-order; aux: variables that an operator changes. */
MXC_API MXC_MUST_CHECK mxc_status mxc_symbol_list_arguments(const mxc_symbol *symbol, mxc_names *out);
MXC_API MXC_MUST_CHECK mxc_status mxc_symbol_list_outputs(const mxc_symbol *symbol, mxc_names *out);
MXC_API MXC_MUST_CHECK mxc_status mxc_symbol_list_aux(const mxc_symbol *symbol, mxc_names *out);

/* ---- attributes -------------------------------------------------------------------------------------------------- */

/** Value of an attribute or parameter of the symbol's node, borrowed until it is set again; NULL if absent or if the
 *  outputs belong to several nodes. A key is looked up as it is, then as __key__. */
MXC_API const char *mxc_symbol_attr(const mxc_symbol *symbol, const char *key);
/**
 * Set an attribute on the node of every output. ctx_group, lr_mult, wd_mult, force_mirroring and mirror_stage, and on
 * operators every key, are kept as __key__, since files keep attributes and parameters in one list;
 * "<argument>_lr_mult" and the like go to the operator's argument where that is a variable.
 * Status: MXC_EINVAL (a parameter of the operator, a key of 252 bytes or more), MXC_EUNSUPPORTED (4,096 attributes on
 * one node), MXC_ENOMEM.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_symbol_set_attr(mxc_symbol *symbol, const char *key, const char *value);
/** Keys and values alternately; deep: of all nodes, keys written "node$key". Operator parameters are included.
 *  Status: MXC_ENOMEM; MXC_EINVAL where it is not deep and the outputs belong to several nodes. */
MXC_API MXC_MUST_CHECK mxc_status mxc_symbol_list_attrs(const mxc_symbol *symbol, int deep, mxc_names *out);
/** Attributes for every node made on this thread from now on, until left; scopes nest, inner ones win. Leave every
 *  scope on the thread that entered it. Status: as mxc_symbol_set_attr. */
MXC_API MXC_MUST_CHECK mxc_status mxc_attr_scope_enter(int n, const char *const *keys, const char *const *values);
MXC_API void mxc_attr_scope_leave(void);

/* ---- inference --------------------------------------------------------------------------------------------------- */

/** Result of inference, in the order of list_arguments, list_outputs, list_aux. Free with mxc_inferred_release. */
typedef struct mxc_inferred {
    int64_t n_args, n_outputs, n_aux;
    mxc_shape *arg_shapes, *output_shapes, *aux_shapes; /* @length n_args, n_outputs, n_aux */
    mxc_dtype *arg_types, *output_types, *aux_types;    /* @length n_args, n_outputs, n_aux */
    int complete;                                       /* nothing is unknown */
} mxc_inferred;
/** Free the lists and clear the struct.
 *  @param[in,out] inferred  all zeros afterwards
 */
MXC_API void mxc_inferred_release(mxc_inferred *inferred);

/**
 * Infer shapes and types both ways until nothing more follows.
 * @param n       number of known variables: names[i] has shapes[i] and types[i]
 * @param[null,n=n] shapes  ndim -1: unknown, as is every shape without the array
 * @param[null,n=n] types  MXC_DTYPE_UNKNOWN: unknown, as is every type without the array
 * @return MXC_ENOTFOUND (no such argument, listing candidates), MXC_ESHAPE or MXC_EDTYPE with node, operator, argument,
 *         both shapes. If something remains unknown, the status is MXC_OK and complete is 0
 * Variables' attributes __shape__ (0 or -1: unknown axis) and __dtype__ count as known.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_symbol_infer(const mxc_symbol *symbol, int64_t n, const char *const *names,
                                                   const mxc_shape *shapes, const mxc_dtype *types, mxc_inferred *out);

/* ---- text -------------------------------------------------------------------------------------------------------- */

/** JSON as MXNet 1.x writes it, and MXNet's JSON of every version read. Caller frees *out with mxc_free. */
MXC_API MXC_MUST_CHECK mxc_status mxc_symbol_to_json(const mxc_symbol *symbol, char **out);
/** Read JSON. Status: MXC_EFORMAT with the offending node or position; MXC_ENOTFOUND names a foreign operator;
 *  MXC_ENOMEM. */
MXC_API MXC_MUST_CHECK mxc_status mxc_symbol_from_json(const char *json, size_t bytes, mxc_symbol **out);
/** Write JSON to a file, or read it from one. The file is replaced in one step; where path is a symbolic link, the file
 *  that it names. */
MXC_API MXC_MUST_CHECK mxc_status mxc_symbol_save(const mxc_symbol *symbol, const char *path);
MXC_API MXC_MUST_CHECK mxc_status mxc_symbol_load(const char *path, mxc_symbol **out);
/** One line per node: name, operator, inputs, parameters. Caller frees with mxc_free. */
MXC_API MXC_MUST_CHECK mxc_status mxc_symbol_print(const mxc_symbol *symbol, char **out);
/** The graph in Graphviz' dot language, with shapes on the edges where they follow. The caller frees it with mxc_free.
 *  @param names  n variables whose shapes are known
 *  @param[null,n=n] shapes  their shapes; NULL: no shapes on the edges
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_symbol_to_dot(const mxc_symbol *symbol, int64_t n, const char *const *names,
                                                    const mxc_shape *shapes, char **out);

#endif
