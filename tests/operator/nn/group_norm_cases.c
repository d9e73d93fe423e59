/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of InstanceNorm and GroupNorm. */
#include "operator/nn/nn_reference.h"

static void groups(const op_run *r, int64_t n_groups, double eps) {
    const mxc_shape *s = &r->in_shape[0];
    int64_t inner = 1, channels = s->dim[1], size;
    for (int i = 2; i < s->ndim; i++)
        inner *= s->dim[i];
    size = channels / n_groups * inner;
    for (int64_t g = 0; g < s->dim[0] * n_groups; g++) {
        double mean, std;
        case_moments(r->in[0] + g * size, size, 1, 1, eps, &mean, &std);
        r->out[1][g] = mean;
        r->out[2][g] = std;
        for (int64_t i = g * size; i < (g + 1) * size; i++) {
            int64_t c = i / inner % channels;
            int64_t span = channels / r->in_shape[1].dim[0]; /* channels that share a gamma */
            r->out[0][i] = r->in[1][c / span] * (r->in[0][i] - mean) / std + r->in[2][c / span];
        }
    }
}

static void ref_instance(const op_run *r) {
    groups(r, r->in_shape[0].dim[1], case_number(r, "eps", 1e-3));
}

static void ref_group(const op_run *r) {
    groups(r, (int64_t)case_number(r, "num_groups", 1), case_number(r, "eps", 1e-5));
}

#define ROUGH(name, given, shapes, ref) \
    { .op = name, .params = given, .in = shapes, .reference = ref, .tolerance = 8 }

/* gamma and beta have an element for each group. */
#define GROUPS(given, shapes)                                                                                 \
    {                                                                                                         \
        .op = "GroupNorm", .params = given, .in = shapes, .reference = ref_group, .flags = CASE_ONE_OF_FORMS, \
        .tolerance = 8                                                                                        \
    }

static const op_case cases[] = {
    ROUGH("InstanceNorm", "",
          "2x3x4 3 3; 1x1x7 1 1; 2x1x5 1 1; 7x2x3 2 2; 1x3x65 3 3; 2x2x1x3x2 2 2; 1x65x2 65 65; "
          "3x2x17 2 2; 1x2x129 2 2; 2x1x2x2x2 1 1; 1x4x33 4 4; 5x3x2 3 3; 1x1x1 1 1; "
          "2x3x9@-1:1nf 3 3",
          ref_instance),
    ROUGH("InstanceNorm", "eps=0.1", "2x3x4x5 3 3", ref_instance),
    ROUGH("InstanceNorm", "", "1x1x1 1 1", ref_instance),
    ROUGH("InstanceNorm", "", "3x2x1x7 2 2", ref_instance),
    ROUGH("InstanceNorm", "", "1x4x2x3x5 4 4", ref_instance),
    ROUGH("InstanceNorm", "", "2x5x33x31 5 5", ref_instance),
    ROUGH("InstanceNorm", "", "0x3x4 3 3", ref_instance),
    ROUGH("InstanceNorm", "", "2x3x0 3 3", ref_instance),
    FAILS("InstanceNorm", "", "2x3 3 3", MXC_ESHAPE, "expected at least 3 axes, found 2"),
    FAILS("InstanceNorm", "", "2x3x4 2 3", MXC_ESHAPE, "argument 'gamma': expected shape (3,), found (2,)"),
    FAILS("InstanceNorm", "", "2x3x4 3 2", MXC_ESHAPE, "argument 'beta'"),
    INFERS("InstanceNorm", "", "?x?x5,3,? -> 2x?x?,?,? => 2x3x5,3,3 -> 2x3x5,2x3,2x3"),
    ROUGH("GroupNorm", "",
          "2x3x4 3 3; 1x1x7 1 1; 2x1x5 1 1; 7x2x3 2 2; 1x3x65 3 3; 2x2x1x3x2 2 2; 1x65x2 65 65; "
          "3x2x17 2 2; 1x2x129 2 2; 2x1x2x2x2 1 1; 1x4x33 4 4; 5x3x2 3 3; 1x1x1 1 1; "
          "2x3x33@1000:1001 3 3; 2x3x9@-1:1nf 3 3",
          ref_group),
    ROUGH("GroupNorm", "num_groups=2", "2x4x3 4 4", ref_group),
    ROUGH("GroupNorm", "num_groups=3 eps=0.01", "2x6x2x5 6 6", ref_group),
    ROUGH("GroupNorm", "num_groups=4", "3x4x7 4 4", ref_group),
    ROUGH("GroupNorm", "", "1x1x2 1 1", ref_group),
    GROUPS("", "2x3x4 1 1; 1x4x2x3 1 1"),
    GROUPS("num_groups=2", "2x4x3 2 2"),
    ROUGH("GroupNorm", "num_groups=2", "2x16x9x17 16 16", ref_group),
    ROUGH("GroupNorm", "num_groups=2", "0x4x3 4 4", ref_group),
    ROUGH("GroupNorm", "num_groups=2", "2x4x0 4 4", ref_group),
    SHOWN("GroupNorm", "num_groups=2 output_mean_var=True", "2x4x3 4 4", ref_group),
    FAILS("GroupNorm", "num_groups=2", "2x3x4 3 3", MXC_ESHAPE, "3 channels do not divide into 2 groups"),
    FAILS("GroupNorm", "num_groups=0", "2x3x4 3 3", MXC_EINVAL, "num_groups"),
    FAILS("GroupNorm", "", "2x3 3 3", MXC_ESHAPE, "expected at least 3 axes"),
    INFERS("GroupNorm", "num_groups=2", "2x4x5,?,? -> ?,?,? => 2x4x5,4,4 -> 2x4x5,2x2,2x2"),
};

MXC_CASES(nn_group_norm_cases, cases);
