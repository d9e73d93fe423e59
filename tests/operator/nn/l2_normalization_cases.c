/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of L2Normalization. */
#include <math.h>
#include <stdlib.h>

#include "operator/cases.h"

/* The group of element i: its sample, with its channel or its place. */
static int64_t group_of(const op_run *r, int64_t i) {
    const mxc_shape *s = &r->in_shape[0];
    int64_t places = 1, channels = s->ndim > 1 ? s->dim[1] : 1;
    for (int k = 2; k < s->ndim; k++)
        places *= s->dim[k];
    if (case_is(r, "mode", "spatial"))
        return i / places;
    if (case_is(r, "mode", "channel"))
        return i / places / channels * places + i % places;
    return i / (places * channels);
}

static void ref_l2(const op_run *r) {
    int64_t n = case_size(&r->in_shape[0]), *group = malloc(((size_t)n + 1) * sizeof *group);
    double eps = case_number(r, "eps", 1e-10), *sum = malloc(((size_t)n + 1) * sizeof *sum); /* one for each group */
    for (int64_t i = 0; i < n; i++) {
        group[i] = group_of(r, i);
        sum[i] = eps;
    }
    for (int64_t i = 0; i < n; i++)
        sum[group[i]] += r->in[0][i] * r->in[0][i];
    for (int64_t i = 0; i < n; i++)
        r->out[0][i] = r->in[0][i] / sqrt(sum[group[i]]);
    free(group);
    free(sum);
}

#define L2(given, shapes) RUN("L2Normalization", given, shapes, ref_l2)

static const op_case cases[] = {
    L2("", "3x5; 7x1@0.5:2; 1@0.5:2; 65x3@0.5:2; 17@0.5:2; 2x1x3x1x2@0.5:2; 5x9@-1:1nf"),
    L2("eps=1", "7"),
    L2("eps=0.5", "2x3x4x5"),
    L2("", "2x1x1"),
    L2("", "0x3x2"),
    L2("", "2x3x0"),
    L2("", "1x500"),
    L2("mode=spatial", "2x3x4"),
    L2("mode=spatial", "2x3x13x11"),
    L2("mode=spatial eps=0.1", "1x2x2x3x4"),
    L2("mode=spatial", "2x3x1@0.5:1"),
    L2("mode=channel", "2x3x4"),
    L2("mode=channel", "2x5x3x7"),
    L2("mode=channel", "1x7x1"),
    L2("mode=channel", "1x3x131"),
    L2("mode=channel eps=2", "2x1x4"),
    L2("mode=channel", "2x0x3"),
    FAILS("L2Normalization", "mode=channel", "2x3", MXC_ESHAPE, "expected at least 3 axes, found 2"),
    FAILS("L2Normalization", "mode=batch", "2x3", MXC_EINVAL, "mode"),
    INFERS("L2Normalization", "", "?x3 -> 2x? => 2x3 -> 2x3"),
};

MXC_CASES(nn_l2_normalization_cases, cases);
