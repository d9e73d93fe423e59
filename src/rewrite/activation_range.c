/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds to quantize an activation with: the range observed during calibration, or the threshold whose quantized
 * distribution has the least Kullback-Leibler divergence from the observed one (Migacz, "8-bit Inference with
 * TensorRT", 2017), which _contrib_calibrate_entropy finds from a histogram.
 */
#include "rewrite/activation_range.h"

#include <mxc/op.h>

#include "base/sys.h"

void mxci_activation_ranges_free(int32_t n, mxci_activation_range *ranges) {
    for (int32_t i = 0; ranges && i < n; i++)
        mxci_free(ranges[i].histogram);
    mxci_free(ranges);
}

/* The threshold of least divergence. Activations without negative values use the levels of uint8, so twice as many for
 * the same threshold. */
static mxc_status find_threshold(const mxci_activation_range *range, double *out) {
    static const char *const key = "num_quantized_bins";
    const char *levels = range->low >= 0 ? "511" : "255";
    float edges[MXCI_HISTOGRAM + 1], edge = mxci_activation_range_edge(range), threshold;
    int64_t bins = MXCI_HISTOGRAM, n_edges = MXCI_HISTOGRAM + 1;
    mxc_ndarray *in[2] = {NULL, NULL}, *found[2] = {NULL, NULL};
    mxc_status status;
    for (int i = 0; i <= MXCI_HISTOGRAM; i++)
        edges[i] = edge * (float)(2.0 * i / MXCI_HISTOGRAM - 1);
    status = mxc_ndarray_from_data(1, &bins, MXC_F32, range->histogram, &in[0]);
    if (status == MXC_OK)
        status = mxc_ndarray_from_data(1, &n_edges, MXC_F32, edges, &in[1]);
    if (status == MXC_OK)
        status = mxc_invoke("_contrib_calibrate_entropy", 2, in, 1, &key, &levels, 2, found);
    if (status == MXC_OK)
        status = mxc_ndarray_get(found[0], &threshold, sizeof threshold);
    for (int i = 0; i < 2; i++) {
        mxc_ndarray_release(in[i]);
        mxc_ndarray_release(found[i]);
    }
    *out = status == MXC_OK ? threshold : 0;
    return status;
}

mxc_status mxci_activation_range_bounds(const mxci_activation_range *range, double *low, double *high) {
    double threshold;
    *low = range->low;
    *high = range->high;
    if (!range->histogram || !(mxci_activation_range_edge(range) > 0) || !isfinite(mxci_activation_range_edge(range)))
        return MXC_OK;
    MXC_TRY(find_threshold(range, &threshold));
    *low = range->low >= 0 ? 0 : -threshold;
    *high = threshold;
    return MXC_OK;
}
