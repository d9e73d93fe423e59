/* SPDX-License-Identifier: Apache-2.0 */
/* _contrib_calibrate_entropy: the threshold at which to clip a range of numbers before it is quantized, so that the
 * Kullback-Leibler divergence between the clipped distribution and its quantized form is smallest (Migacz, 8-bit
 * inference with TensorRT, 2017). hist (n,) counts numbers between hist_edges (n + 1,), n odd, the middle bin around 0;
 * every threshold edge from num_quantized_bins / 2 bins away from the middle on is tried. */

#include "math/assign.h"
#include "operator/infer.h"
#include "operator/quantized/calibrate_entropy_kernels.h"

typedef struct entropy_params {
    int64_t num_quantized_bins;
} entropy_params;

enum { HIST, EDGES };

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(entropy_params, num_quantized_bins), .name = "num_quantized_bins", .type = MXC_PARAM_INT,
     .initial = "255", .bounded = 1, .minimum = 1, .maximum = 65535,
     .doc = "Number of bins of the quantized distribution."},
    MXC_PARAM_END,
};

static mxc_status calibrate_entropy_infer_shape(mxc_op_sig *sig) {
    const entropy_params *p = sig->params;
    mxc_shape one = mxci_shape_of(1, (int64_t[]){1}), hist = mxci_shape_axes(1), edges = hist;
    MXC_TRY(mxc_sig_set_shape(sig, HIST, &hist));
    MXC_TRY(mxc_sig_set_shape(sig, EDGES, &edges));
    hist.dim[0] = sig->in_shape[EDGES].dim[0] - (sig->in_shape[EDGES].dim[0] > 0);
    MXC_TRY(mxc_sig_set_shape(sig, HIST, &hist));
    edges.dim[0] = sig->in_shape[HIST].dim[0] + (sig->in_shape[HIST].dim[0] >= 0);
    MXC_TRY(mxc_sig_set_shape(sig, EDGES, &edges));
    hist = sig->in_shape[HIST];
    if (hist.dim[0] >= 0 && (hist.dim[0] % 2 == 0 || hist.dim[0] < p->num_quantized_bins))
        return mxc_sig_fail(sig, "argument 'hist': %lld bins, expected an odd number, at least num_quantized_bins %lld",
                            (long long)hist.dim[0], (long long)p->num_quantized_bins);
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &one));
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(1), &one);
}

/* Scratch: the divergence of each threshold; two histograms for each part. */
static size_t calibrate_entropy_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    (void)pass;
    return mxci_size_of(mxci_dim_mul(sig->in_shape[HIST].dim[0], 2 * sig->parallelism + 1), sizeof(double));
}

/* first_half: bins on each side of the middle for the smallest threshold. */
typedef struct entropy_run {
    const mxc_op_call *call;
    int64_t n, first_half, levels;
    double *divergence, *scratch;
} entropy_run;

/* Thresholds begin..end-1, each by itself. */
static void divergence_range(void *arg, int64_t begin, int64_t end, int part) {
    const entropy_run *r = arg;
    double *p = r->scratch + 2 * part * r->n;
    for (int64_t i = begin; i < end; i++)
        r->divergence[i] =
            mxci_entropy_divergence(r->n, r->call->in[HIST].data, r->first_half + i, r->levels, p, p + r->n);
}

static mxc_status calibrate_entropy_forward(const mxc_op_call *call) {
    const entropy_params *p = call->params;
    entropy_run r = {.call = call, .n = call->in[HIST].shape.dim[0], .levels = p->num_quantized_bins};
    int64_t count, best = 0;
    r.first_half = r.levels / 2;
    count = r.n / 2 + 1 - r.first_half;
    r.divergence = call->temp;
    r.scratch = r.divergence + r.n;
    mxc_parallel_for(call->run, count, 1, divergence_range, &r);
    for (int64_t i = 1; i < count; i++)
        best = r.divergence[i] < r.divergence[best] ? i : best;
    mxci_assign_value(call->req[0], &call->out[0], 0,
                      mxci_value_at(&call->in[EDGES], r.n / 2 + r.first_half + best + 1));
    mxci_assign_value(call->req[1], &call->out[1], 0, r.divergence[best]);
    return MXC_OK;
}

const mxc_op_def mxci_op_calibrate_entropy = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_calibrate_entropy",
    .args = "hist,hist_edges",
    .outputs = "threshold,divergence",
    .doc = "Threshold for quantization with the least Kullback-Leibler divergence: threshold = the edge t of "
           "hist_edges (n + 1,), n odd, for which the histogram hist (n,) clipped to [-t, t] differs least from "
           "itself "
           "quantized to num_quantized_bins bins; divergence = that divergence",
    .flags = MXC_OP_ZERO_GRADIENT,
    .params = schema,
    .param_size = sizeof(entropy_params),
    .infer_shape = calibrate_entropy_infer_shape,
    .dtypes = MXC_DTYPE_BIT(MXC_F32),
    .temp_bytes = calibrate_entropy_temp_bytes,
    .forward = {[MXC_CPU] = calibrate_entropy_forward},
};
