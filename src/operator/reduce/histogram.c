/* SPDX-License-Identifier: Apache-2.0 */
/*
 * _histogram: counts the elements of data in bins, whose bounds ascend; a bin has its lower bound, the last one both.
 * Elements outside of the bins, and NaN, are not counted.
 *
 * With bin_cnt and range there are bin_cnt bins of equal size over the range; if that is a single number, over the
 * interval of size 1 about it. Otherwise the argument bins (k+1) has the bounds. counts (k) is int64, bin_edges (k+1)
 * are the bounds. No gradient, as in MXNet.
 */
#include <math.h>

#include "math/assign.h"
#include "math/tile_kernels.h"
#include "operator/infer.h"

enum { DATA, BINS };
enum { COUNTS, EDGES };
enum { PARTS = 64 }; /* histograms that threads fill by themselves, so that the counts are added up at the end */

typedef struct histogram_params {
    int64_t bin_cnt; /* MXC_PARAM_UNSET: bins are an argument */
    mxc_floats range;
} histogram_params;

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(histogram_params, bin_cnt), .name = "bin_cnt", .type = MXC_PARAM_INT, .initial = "None",
     .optional = 1, .bounded = 1, .minimum = 1, .maximum = 1e9,
     .doc = "Number of bins of equal size. None: bins has their bounds."},
    {MXC_PARAM_FIELD(histogram_params, range), .name = "range", .type = MXC_PARAM_FLOATS, .initial = "None",
     .optional = 1, .doc = "Lower and upper bound of all bins. Required with bin_cnt, and used with it only."},
    MXC_PARAM_END,
};

static int is_uniform(const void *params) {
    return ((const histogram_params *)params)->bin_cnt != MXC_PARAM_UNSET;
}

static mxc_status histogram_check(void *params) {
    histogram_params *p = params;
    if (is_uniform(p) != (p->range.n >= 0))
        return MXC_FAIL(MXC_EINVAL, "_histogram: bin_cnt and range must both be given, or neither");
    if (!is_uniform(p))
        return MXC_OK;
    if (p->range.n != 2)
        return MXC_FAIL(MXC_EINVAL, "_histogram: range has %d numbers, expected 2", (int)p->range.n);
    const double size = p->range.value[1] - p->range.value[0];
    if (!(size >= 0) || !isfinite(size))
        return MXC_FAIL(
            MXC_EINVAL,
            "_histogram: range is (%g,%g), expected two numbers in ascending order, a finite distance apart",
            p->range.value[0], p->range.value[1]);
    if (p->range.value[0] == p->range.value[1]) {
        p->range.value[0] -= 0.5;
        p->range.value[1] += 0.5;
    }
    return MXC_OK;
}

static int histogram_count_args(const void *params) {
    return is_uniform(params) ? 1 : 2;
}

/* ---- inference --------------------------------------------------------------------------------------------------- */

static mxc_status histogram_infer_shape(mxc_op_sig *sig) {
    const histogram_params *p = sig->params;
    mxc_shape counts = mxci_shape_of(1, &p->bin_cnt), edges = mxci_shape_axes(1);
    if (!is_uniform(p)) {
        MXC_TRY(mxc_sig_set_shape(sig, BINS, &edges));
        MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){BINS, MXC_SLOT_OUT(EDGES)}));
        if (sig->in_shape[BINS].dim[0] == 0)
            return mxc_sig_fail(sig, "argument 'bins' has no elements, expected at least 1");
        counts.dim[0] = sig->in_shape[BINS].dim[0] < 0 ? -1 : sig->in_shape[BINS].dim[0] - 1;
    }
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(COUNTS), &counts));
    edges.dim[0] = mxci_dim_add(sig->out_shape[COUNTS].dim[0], 1);
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(EDGES), &edges));
    return is_uniform(p) ? MXC_OK : mxci_sig_same_shape(sig, 2, (int[]){BINS, MXC_SLOT_OUT(EDGES)});
}

static mxc_status histogram_infer_type(mxc_op_sig *sig) {
    MXC_TRY(mxci_sig_same_type(sig, 2, (int[]){DATA, MXC_SLOT_OUT(EDGES)}));
    if (!is_uniform(sig->params))
        MXC_TRY(mxci_sig_same_type(sig, 3, (int[]){DATA, BINS, MXC_SLOT_OUT(EDGES)}));
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(COUNTS), MXC_I64);
}

/* ---- counting ---------------------------------------------------------------------------------------------------- */

typedef struct histogram_run {
    const mxc_op_call *call;
    int64_t bins;
    double *edges;   /* bins + 1 */
    int64_t *counts; /* (parts, bins) */
    int parts;
} histogram_run;

/* Histograms beside each other: fewer where they are large beside the data. */
static int parts_of(int64_t data, int64_t bins) {
    const int64_t parts = data / (4 * bins + MXCI_GRAIN);
    return parts < 1 ? 1 : parts < PARTS ? (int)parts : PARTS;
}

static void lay_out(histogram_run *r, mxci_scratch *scratch) {
    r->edges = mxci_scratch_array(scratch, mxci_dim_add(r->bins, 1), sizeof *r->edges);
    r->counts = mxci_scratch_array(scratch, mxci_dim_mul(r->parts, r->bins), sizeof *r->counts);
}

static size_t histogram_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    const mxc_shape *data = &sig->in_shape[DATA];
    histogram_run r = {.bins = sig->out_shape[COUNTS].dim[0]};
    mxci_scratch scratch = {0};
    (void)pass;
    r.parts = parts_of(mxci_shape_count(data, 0, data->ndim), r.bins);
    lay_out(&r, &scratch);
    return scratch.bytes;
}

/* The bin of a number within the outer bounds: the last one whose lower bound is not above it. */
static int64_t find_bin(const histogram_run *r, double x) {
    int64_t low = 0, high = r->bins - 1;
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (r->edges[middle] <= x)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Histograms begin..end-1, each of its share of data. */
static void histogram_range(void *arg, int64_t begin, int64_t end, int part) {
    const histogram_run *r = arg;
    const mxc_tensor *data = &r->call->in[DATA];
    const int64_t n = mxci_tensor_size(data);
    double tile[MXCI_TILE];
    (void)part;
    for (int64_t k = begin; k < end; k++) {
        int64_t *counts = r->counts + k * r->bins, last = n * (k + 1) / r->parts;
        for (int64_t i = 0; i < r->bins; i++)
            counts[i] = 0;
        for (int64_t i = n * k / r->parts, count; i < last; i += count) {
            count = last - i < MXCI_TILE ? last - i : MXCI_TILE;
            mxci_convert(data->dtype, mxci_at(data, i), MXC_F64, tile, count);
            for (int64_t j = 0; j < count; j++)
                if (tile[j] >= r->edges[0] && tile[j] <= r->edges[r->bins])
                    counts[find_bin(r, tile[j])]++;
        }
    }
}

/* The bounds in float64: an argument, or evenly spaced. */
static void fill_edges(histogram_run *r) {
    const histogram_params *p = r->call->params;
    const mxc_dtype dtype = r->call->in[DATA].dtype;
    if (!is_uniform(p)) {
        mxci_convert(dtype, r->call->in[BINS].data, MXC_F64, r->edges, r->bins + 1);
        return;
    }
    for (int64_t i = 0; i <= r->bins; i++)
        r->edges[i] = p->range.value[0] + (double)i * (p->range.value[1] - p->range.value[0]) / (double)r->bins;
}

static mxc_status histogram_forward(const mxc_op_call *call) {
    histogram_run r = {.call = call, .bins = call->out[COUNTS].shape.dim[0]};
    mxci_scratch scratch = {.base = call->temp};
    r.parts = parts_of(mxci_tensor_size(&call->in[DATA]), r.bins);
    lay_out(&r, &scratch);
    fill_edges(&r);
    for (int64_t i = 0; i < r.bins; i++)
        if (!(r.edges[i] <= r.edges[i + 1]))
            return MXC_FAIL(MXC_EINVAL,
                            "_histogram: argument 'bins': element %lld is %g after %g, expected ascending "
                            "bounds",
                            (long long)(i + 1), r.edges[i + 1], r.edges[i]);
    mxci_assign_cast_row(call->req[EDGES], MXC_F64, r.edges, call->out[EDGES].dtype, call->out[EDGES].data, r.bins + 1);
    if (r.bins == 0 || call->req[COUNTS] == MXC_REQ_NULL)
        return MXC_OK;
    mxc_parallel_for(call->run, r.parts, 1, histogram_range, &r);
    for (int64_t i = r.bins; i < r.parts * r.bins; i++)
        r.counts[i % r.bins] += r.counts[i];
    mxci_assign_row(call->req[COUNTS], MXC_I64, call->out[COUNTS].data, r.counts, r.bins);
    return MXC_OK;
}

const mxc_op_def mxci_op_histogram = {
    .size = sizeof(mxc_op_def),
    .name = "_histogram",
    .args = "data,bins",
    .n_args = histogram_count_args,
    .outputs = "counts,bin_edges",
    .doc =
        "counts (k), int64, of the elements of data in k bins, and bin_edges (k+1), their bounds: bin_cnt equal bins "
        "over range, or the argument bins (k+1). A bin has its lower bound, the last one both",
    .params = schema,
    .param_size = sizeof(histogram_params),
    .params_check = histogram_check,
    .infer_shape = histogram_infer_shape,
    .infer_type = histogram_infer_type,
    .dtypes = MXC_DTYPES_NUMBER,
    .temp_bytes = histogram_temp_bytes,
    .forward = {[MXC_CPU] = histogram_forward},
};
