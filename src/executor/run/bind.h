/* SPDX-License-Identifier: Apache-2.0 */
/* What binding to given arrays (bind.c) shares with simple_bind.c, load_params.c and forward_backward.c. */
#ifndef MXCI_EXECUTOR_RUN_BIND_H
#define MXCI_EXECUTOR_RUN_BIND_H

#include "executor/run/executor.h"

/* Lower the executor's symbol for its arrays. unoptimized: as mxci_lowering_options has it. */
mxc_status mxci_executor_lower(const mxc_executor *executor, int unoptimized, mxci_program **out);

/* Options with defaults for members that an older caller does not have; NULL: all defaults. MXC_EINVAL. */
mxc_status mxci_bind_options_read(const mxc_bind_options *given, mxc_bind_options *out);
/* The same for the spec of simple_bind. */
mxc_status mxci_bind_spec_read(const mxc_bind_spec *given, mxc_bind_spec *out);
/* mxc_executor_bind. constants: where to find and keep them; NULL: a cache of the executor's own. */
mxc_status mxci_executor_bind(mxc_symbol *symbol, const mxc_bind_options *options, mxc_ndarray *const *args,
                              mxc_ndarray *const *grads, const mxc_req *reqs, mxc_ndarray *const *aux,
                              mxci_constant_cache *constants, mxc_executor **out);
/* New array for an entry on its node's context: zeros, whose memory has been touched. */
mxc_status mxci_bind_array(const mxci_graph *graph, int32_t entry, mxc_ndarray **out);
/* MXC_ESHAPE names a node of which something is unknown. */
mxc_status mxci_check_complete(const mxci_graph *graph);
/* Flatten, with the shapes and types of arrays set, and infer. */
mxc_status mxci_bind_graph(const mxc_symbol *symbol, mxc_ndarray *const *args, mxc_ndarray *const *aux,
                           mxci_graph **out);

#endif
