/* SPDX-License-Identifier: Apache-2.0 */
/* Network quantization: mxc_quantize without running the network, which the calibration function of the caller does. */
#ifndef MXCI_REWRITE_QUANTIZE_NETWORK_H
#define MXCI_REWRITE_QUANTIZE_NETWORK_H

#include <mxc/quantize.h>

#include "rewrite/activation_range.h"
#include "rewrite/rebuild.h"

/* The symbol with each BatchNorm that follows a Convolution or FullyConnected folded into its weights and bias, which
 * get new names. */
mxc_status mxci_fold_norms_into_params(const mxc_symbol *symbol, const mxc_ndarray_list *params, mxc_symbol **out,
                                       mxc_ndarray_list *out_params);

/* Fills ranges, one zeroed item for each entry of the graph, with the values that the nodes of the symbol, from which
 * the graph was made, compute for the batches of options->data. Makes histograms for MXC_CALIBRATE_ENTROPY. */
typedef mxc_status mxci_quantize_calibrate_fn(const mxc_quantize_options *options, mxc_symbol *symbol,
                                              const mxc_ndarray_list *params, const mxci_graph *graph,
                                              mxci_activation_range *ranges);

/* mxc_quantize with the given calibration function. Options are checked here; outputs are NULL or empty. */
mxc_status mxci_quantize_network(const mxc_quantize_options *options, mxci_quantize_calibrate_fn *calibrate,
                                 mxc_symbol **symbol, mxc_ndarray_list *params);

#endif
