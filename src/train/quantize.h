/* The steps of mxc_quantize. */
#ifndef MXCI_TRAIN_QUANTIZE_H
#define MXCI_TRAIN_QUANTIZE_H

#include <mxc/quantize.h>

#include "train/rebuild.h"

/* The symbol with each BatchNorm that follows a Convolution or FullyConnected moved into its weights and bias, which
 * get names of their own. */
mxc_status mxci_fold_batch_norm(const mxc_symbol *symbol, const mxc_ndarray_list *params, mxc_symbol **out,
                                mxc_ndarray_list *out_params);

/* What was seen of one output of a node, or of a variable. */
typedef struct mxci_range {
    float low, high;  /* low > high: nothing */
    float *histogram; /* MXCI_HISTOGRAM bins from -t to t, t the larger absolute value; NULL: not wanted */
} mxci_range;
enum { MXCI_HISTOGRAM = 8001 };

/* Have ranges (one for each entry of the graph, zeros; the caller's) hold what nodes make when the symbol, which the
 * graph is of, runs over the batches. Histograms are made where options want them. Close also after a failure. */
mxc_status mxci_calibrate(const mxc_quantize_options *options, mxc_symbol *symbol, const mxc_ndarray_list *params,
                          const mxci_graph *graph, mxci_range *ranges);
void mxci_ranges_close(int32_t n, mxci_range *ranges);
/* Where a range is to be cut: the bounds seen, or those that the histogram says. Of one that was seen. */
mxc_status mxci_range_bounds(const mxci_range *range, double *low, double *high);

#endif
