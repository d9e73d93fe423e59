/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of moments. */
#include <stdlib.h>

#include "operator/cases.h"

/* The element of the outputs that element i of data belongs to. */
static int64_t output_of(const op_run *r, int64_t i) {
    const mxc_shape *data = &r->in_shape[0];
    const mxc_tuple axes = case_tuple(r, "axes");
    int64_t index[MXC_MAX_NDIM], at = 0;
    case_indices(data, i, index);
    for (int a = 0; a < data->ndim; a++) {
        int reduced = axes.n <= 0;
        for (int k = 0; k < axes.n; k++)
            reduced = reduced || axes.value[k] == a || axes.value[k] + data->ndim == a;
        at = reduced ? at : at * data->dim[a] + index[a];
    }
    return at;
}

static void ref_moments(const op_run *r) {
    const int64_t n = case_size(&r->in_shape[0]), outputs = case_size(&r->out_shape[0]);
    const double each = outputs ? (double)n / (double)outputs : 0;
    for (int64_t i = 0; i < outputs; i++)
        r->out[0][i] = r->out[1][i] = n ? 0 : 0.0 / each;
    for (int64_t i = 0; i < n; i++)
        r->out[0][output_of(r, i)] += r->in[0][i] / each;
    for (int64_t i = 0; i < n; i++) {
        const double off = r->in[0][i] - r->out[0][output_of(r, i)];
        r->out[1][output_of(r, i)] += off * off / each;
    }
}

static const op_case cases[] = {
    RUN("moments", "axes=1; axes=0; axes=(0,1); axes=-1; axes=(-2,) keepdims=True",
        "3x5@-2:2.3; 1x1; 7x65; 65x7; 1x17; 17x1; 3x600; 600x3; 2x3x4; 3x0; 5x9@-2:2nf", ref_moments),
    RUN("moments", "; axes=None; axes=() keepdims=True", "3x5; s; 7; 1031; 2x3x4; 2x1x3x1x2", ref_moments),
    RUN("moments", "axes=(0,2); axes=(1,3) keepdims=1; axes=(0,2,3); axes=2", "2x3x4x5; 3x1x7x2; 1x5x1x1; 2x3x65x2",
        ref_moments),
    RUN("moments", "axes=1", "3x50@100:101", ref_moments),
    /* the square of the mean has no digits left for the variance */
    {.op = "moments",
     .params = "axes=1; axes=0; axes=(0,1)",
     .in = "3x50@100000000:100000001; 70x3; 1x1",
     .reference = ref_moments,
     .flags = CASE_F64_ONLY | CASE_NO_GRADIENT},
    FAILS("moments", "axes=2", "2x3", MXC_ESHAPE, "axis 2"),
    FAILS("moments", "axes=(1,-1)", "2x3", MXC_ESHAPE, "axis 1 is named twice"),
    INFERS("moments", "axes=1", "?x3 -> 2,? => 2x3 -> 2,2"),
    INFERS("moments", "axes=1 keepdims=True", "2x3 -> ?,? => 2x3 -> 2x1,2x1"),
};

MXC_CASES(reduce_moments_cases, cases);
