/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The passes that lowering runs over a flat graph, in this order, one file each. Those before node_order see a graph
 * whose nodes are in topological order unless stated otherwise, and whose shapes and types are all known; they keep
 * it so. All return MXC_ENOMEM; further statuses are named.
 */
#ifndef MXCI_EXECUTOR_PASSES_PASSES_H
#define MXCI_EXECUTOR_PASSES_PASSES_H

#include "executor/plan/program.h"

/* placement.c: give every node its context, from ctx_group attributes, neighbours, and the options. */
mxc_status mxci_pass_placement(mxci_graph *graph, const mxc_bind_options *options);

/* fold_batch_norm.c: move norms into the layers before them, for inference. Needs contexts. options: what is constant.
 * *is_folded: set if there were such. */
mxc_status mxci_pass_fold_batch_norm(mxci_graph *graph, const mxc_bind_options *options, int *is_folded);

/* channels_last.c: compute regions around convolutions channels last. packing: of an executor for inference, in which
 * those on CPUs whose weights can be packed count; NULL: none do. Needs contexts. *is_changed: set if there were such.
 */
mxc_status mxci_pass_channels_last(mxci_graph *graph, const mxc_bind_options *packing, int *is_changed);

/* pack.c: for inference, let operators that can read packed weights. Needs contexts. *is_changed: set if there were
 * such. */
mxc_status mxci_pass_pack(mxci_graph *graph, int *is_changed);

/* differentiate.c: append the backward pass. wanted: per argument. Head gradients are new variables, or ones where
 * heads is NULL. grads: per argument, -1 where zero. MXC_EUNSUPPORTED names the operator that has no gradient. */
mxc_status mxci_pass_differentiate(mxci_graph *graph, const uint8_t *wanted, int32_t *grads, int32_t *heads);

/* recompute.c: let backward read copies of forward nodes that run again, where that frees memory. Needs n_symbol_nodes;
 * from here on nodes that a pass adds may come after their readers. */
mxc_status mxci_pass_recompute(mxci_program *program, mxc_recompute mode);

/* device_copies.c: insert a _CrossDeviceCopy where an entry is read on another context. MXC_EINVAL names an
 * auxiliary state in another context than its operator. */
mxc_status mxci_pass_device_copies(mxci_program *program);

/* epilogue.c: make one node of a layer and the additions and activations that read its output. */
mxc_status mxci_pass_epilogue(mxci_program *program);

/* fusion.c: on GPUs, make one node of several element-wise ones. */
mxc_status mxci_pass_fusion(mxci_program *program);

/* constants.c: in inference, replace by variables what follows from constant arguments and states alone: constants. */
mxc_status mxci_pass_constants(mxci_program *program, const mxc_bind_options *options);

/* constants.c: which nodes follow from constant arguments and states alone; *out: node, for mxci_free; NULL: none.
 * all_states: 0: without states that a node takes as its own, which it may change. */
mxc_status mxci_find_constants(const mxci_graph *graph, const mxc_bind_options *options, int all_states, uint8_t **out);

/* node_order.c: nodes that outputs and gradients need, in execution order: order, step_of, n_steps, n_forward.
 * params_first: added nodes that read variables only run before all others, so that they do not separate steps that
 * could be tiled together. */
mxc_status mxci_pass_node_order(mxci_program *program, int params_first);

/* requests.c: root, req, first, last, and locations outside the pools; takes sums out of the order where their terms
 * can be added in place. */
mxc_status mxci_pass_requests(mxci_program *program);

/* tiling.c: choose tiles (none where enabled is 0): tiles, slice; widens first and last of what crosses a tile's edge.
 */
mxc_status mxci_pass_tiling(mxci_program *program, int enabled);

#endif
