/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs for tests of passes: a program that no pass has seen, and the graph as text. */
#ifndef MXC_TESTS_EXECUTOR_GRAPHS_H
#define MXC_TESTS_EXECUTOR_GRAPHS_H

#include "executor/nets.h"
#include "executor/passes/passes.h"

/* The flat graph of a symbol, which is released, for a variable "data" of a shape and dtype; shapes and types are
 * inferred, all nodes are on one context. Destroy with mxci_program_destroy. */
mxci_program *graph_program(mxc_symbol *symbol, const mxc_shape *data, mxc_dtype type, mxc_context context);
/* What makes an entry: "relu(FullyConnected(data,fc_weight,fc_bias))"; backward nodes as "relu_backward(...)", outputs
 * behind the first with their index: "SliceChannel(data).1". mxci_free it. */
char *graph_text(const mxci_graph *graph, int32_t entry);
void assert_entry(const mxci_graph *graph, int32_t entry, const char *text);
/* Output 0 of the graph. */
void assert_output(const mxci_program *program, const char *text);
/* The node of that name, which there must be. */
int32_t graph_find(const mxci_graph *graph, const char *name);

#endif
