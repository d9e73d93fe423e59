/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a predictor and its clones share: the symbol, rewritten as the options say and with the outputs asked for, and
 * its parameters, in the dtypes and on the context that it computes in. Constant once created, except that the cache of
 * constants, which has a lock, holds what predictors have computed.
 */
#ifndef MXCI_PREDICT_NETWORK_H
#define MXCI_PREDICT_NETWORK_H

#include <stdatomic.h>

#include <mxc/predict.h>

#include "executor/run/constant_cache.h"
#include "symbol/graph.h"

typedef struct mxci_network {
    atomic_int refs;
    mxc_symbol *symbol;
    mxc_context context;
    int releases_params;            /* once a predictor has been made */
    mxc_names inputs;               /* in the order given */
    mxc_dtype *types;               /* input: MXC_DTYPE_UNKNOWN: inferred */
    mxc_names outputs;              /* of the symbol before it was rewritten */
    mxc_names args, aux;            /* of the symbol */
    int64_t *input_of;              /* argument: the input that it is; -1: none */
    mxc_ndarray **params;           /* argument: NULL: an input, a label, or missing and allowed to be */
    mxc_ndarray **states;           /* auxiliary state, as loaded: NULL: missing and allowed to be */
    mxci_constant_cache *constants; /* what is computed of parameters and states once, for all clones */
} mxci_network;

/* Match parameters and network, and rewrite it. given: NULL for the defaults. *graph: of the network's symbol, inferred
 * from the inputs; the caller destroys it. Statuses of mxc_predictor_create. */
mxc_status mxci_network_create(mxc_symbol *symbol, const mxc_ndarray_list *params, int64_t n_inputs,
                               const mxc_data_desc *inputs, const mxc_predictor_options *given, mxci_network **out,
                               mxci_graph **graph);
mxci_network *mxci_network_retain(mxci_network *network);
void mxci_network_release(mxci_network *network); /* NULL is fine */

/* Infer everything from the shapes of the inputs and the parameters. fallback: shapes of inputs that do not follow from
 * the others; may be NULL. MXC_ESHAPE lists variables whose shape does not follow. */
mxc_status mxci_network_infer(const mxci_network *network, const mxc_shape *shapes, const mxc_shape *fallback,
                              mxci_graph **out);

#endif
