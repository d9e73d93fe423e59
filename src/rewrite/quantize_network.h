/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of mxc_quantize. */
#ifndef MXCI_REWRITE_QUANTIZE_NETWORK_H
#define MXCI_REWRITE_QUANTIZE_NETWORK_H

#include <mxc/quantize.h>

#include "rewrite/activation_range.h"
#include "rewrite/rebuild.h"

/* The symbol with each BatchNorm that follows a Convolution or FullyConnected folded into its weights and bias, which
 * get new names. */
mxc_status mxci_fold_norms_into_params(const mxc_symbol *symbol, const mxc_ndarray_list *params, mxc_symbol **out,
                                       mxc_ndarray_list *out_params);

/* Fill ranges, one for each entry of the graph, zero before, with what the nodes compute while the symbol, which the
 * graph is of, runs over the batches of options->data. Histograms are made where options want them. */
typedef mxc_status mxci_quantize_calibrate_fn(const mxc_quantize_options *options, mxc_symbol *symbol,
                                              const mxc_ndarray_list *params, const mxci_graph *graph,
                                              mxci_activation_range *ranges);

/* mxc_quantize, given what runs a symbol over data. Options are checked here; outputs are NULL or empty. */
mxc_status mxci_quantize_network(const mxc_quantize_options *options, mxci_quantize_calibrate_fn *calibrate,
                                 mxc_symbol **symbol, mxc_ndarray_list *params);

#endif
