/* SPDX-License-Identifier: Apache-2.0 */
/* Lowering: from a graph to a program, by all passes and the memory plan. */
#ifndef MXCI_EXECUTOR_PASSES_LOWERING_H
#define MXCI_EXECUTOR_PASSES_LOWERING_H

#include "executor/plan/program.h"

typedef struct mxci_lowering_options {
    const mxc_bind_options *options;
    const mxc_req *reqs; /* per argument; NULL: no gradients */
    int no_tiles;        /* 1: every array whole */
    int unoptimized;     /* 1: the symbol's own nodes, arrays whole, as monitors and partial runs need */
} mxci_lowering_options;

/* Run all passes over a graph whose shapes and types are all known. Takes the graph over, also on failure. Statuses
 * of the passes. Free with mxci_program_destroy. */
mxc_status mxci_lower(mxci_graph *graph, const mxci_lowering_options *lowering, mxci_program **out);

#endif
