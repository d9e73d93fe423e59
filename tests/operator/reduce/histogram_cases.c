/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _histogram. */
#include <math.h>

#include "operator/cases.h"

static void ref_histogram(const op_run *r) {
    const int64_t bins = r->out_shape[0].dim[0];
    double low = case_entry(r, "range", 0, 0), high = case_entry(r, "range", 1, 0);
    const double middle = low;
    low = low == high ? middle - 0.5 : low, high = low == middle - 0.5 ? middle + 0.5 : high;
    for (int64_t i = 0; i <= bins; i++)
        r->out[1][i] = r->n_in > 1 ? r->in[1][i] : low + (double)i * (high - low) / (double)bins;
    for (int64_t i = 0; i < bins; i++)
        r->out[0][i] = 0;
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        for (int64_t k = bins - 1; k >= 0; k--)
            if (r->in[0][i] >= r->out[1][k] &&
                (r->in[0][i] < r->out[1][k + 1] || (k == bins - 1 && r->in[0][i] == r->out[1][bins]))) {
                r->out[0][k]++;
                break;
            }
}

/* Bounds in ascending order. */
static void sort_bins(const op_run *r) {
    double *bins = r->in[1];
    for (int64_t i = 0; i < case_size(&r->in_shape[1]); i++)
        for (int64_t k = i; k > 0 && bins[k - 1] > bins[k]; k--) {
            const double swap = bins[k];
            bins[k] = bins[k - 1];
            bins[k - 1] = swap;
        }
}

static const op_case cases[] = {
    RUN("_histogram", "bin_cnt=4 range=(0,8); bin_cnt=1 range=(2,6); bin_cnt=8 range=(0,8)",
        "3x5@0:1.3; s; 1; 7; 1031; 0; 0x3; 1x17; 2x3x4; 150x301; 40@0:8i", ref_histogram),
    {.op = "_histogram",
     .params = "bin_cnt=3 range=(-1,1); bin_cnt=7 range=(-0.5,3); bin_cnt=4 range=(1,1); bin_cnt=65 range=(-2,2)",
     .in = "40@-1.5:1.5; 9x65; 5x9@-2:2nf",
     .reference = ref_histogram,
     .flags = CASE_FLOAT_ONLY},
    {.op = "_histogram",
     .in = "40@0:1.3 5@0:1; 9x65 9; 7 2; 7 1; 0 3; 1031 65",
     .reference = ref_histogram,
     .prepare = sort_bins},
    FAILS("_histogram", "bin_cnt=3", "7", MXC_EINVAL, "bin_cnt and range must both be given"),
    FAILS("_histogram", "bin_cnt=3 range=(3,0)", "7", MXC_EINVAL, "range is (3,0), expected two numbers in ascending"),
    FAILS("_histogram", "bin_cnt=3 range=(-1e308,1e308)", "7", MXC_EINVAL, "range is (-1e+308,1e+308)"),
    FAILS("_histogram", "bin_cnt=3 range=(3,)", "7", MXC_EINVAL, "range has 1 numbers"),
    FAILS("_histogram", "", "7 0", MXC_ESHAPE, "argument 'bins' has no elements"),
    FAILS("_histogram", "", "7 2x2", MXC_ESHAPE, "bins"),
    INFERS("_histogram", "", "7,? -> 3,? => 7,4 -> 3,4"),
    INFERS("_histogram", "bin_cnt=3 range=(0,1)", "? -> ?,? => ? -> 3,4"),
};

MXC_CASES(reduce_histogram_cases, cases);
