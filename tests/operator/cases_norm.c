/* Cases of InstanceNorm, GroupNorm, LayerNorm and RMSNorm. */
#include <math.h>

#include "operator/cases.h"

/* Elements first, first + step, ... (n of them): their mean (0 if not centred) and root of the mean square about it. */
static void measure(const double *x, int64_t n, int64_t step, int centred, double eps, double *mean, double *std) {
    double sum = 0, square = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i * step];
    *mean = centred && n ? sum / (double)n : 0;
    for (int64_t i = 0; i < n; i++)
        square += (x[i * step] - *mean) * (x[i * step] - *mean);
    *std = sqrt((n ? square / (double)n : 0) + eps);
}

static void groups(const op_run *r, int64_t n_groups, double eps) {
    const mxc_shape *s = &r->in_shape[0];
    int64_t inner = 1, channels = s->dim[1], size;
    for (int i = 2; i < s->ndim; i++)
        inner *= s->dim[i];
    size = channels / n_groups * inner;
    for (int64_t g = 0; g < s->dim[0] * n_groups; g++) {
        double mean, std;
        measure(r->in[0] + g * size, size, 1, 1, eps, &mean, &std);
        r->out[1][g] = mean;
        r->out[2][g] = std;
        for (int64_t i = g * size; i < (g + 1) * size; i++) {
            int64_t c = i / inner % channels;
            r->out[0][i] = r->in[1][c] * (r->in[0][i] - mean) / std + r->in[2][c];
        }
    }
}

static void ref_instance(const op_run *r) {
    groups(r, r->in_shape[0].dim[1], case_number(r, "eps", 1e-3));
}

static void ref_group(const op_run *r) {
    groups(r, (int64_t)case_number(r, "num_groups", 1), case_number(r, "eps", 1e-5));
}

static void rows(const op_run *r, int centred) {
    const mxc_shape *s = &r->in_shape[0];
    int axis = (int)case_number(r, "axis", -1);
    int64_t inner = 1, k, n = case_size(s);
    axis = axis < 0 ? axis + s->ndim : axis;
    for (int i = axis + 1; i < s->ndim; i++)
        inner *= s->dim[i];
    k = s->dim[axis];
    for (int64_t i = 0; i < (k ? n / k : 0); i++) {
        int64_t first = i / inner * k * inner + i % inner;
        double mean, std;
        measure(r->in[0] + first, k, inner, centred, case_number(r, "eps", 1e-5), &mean, &std);
        r->out[1][i] = centred ? mean : std;
        if (centred)
            r->out[2][i] = std;
        for (int64_t j = 0; j < k; j++) {
            double y = r->in[1][j] * (r->in[0][first + j * inner] - mean) / std;
            r->out[0][first + j * inner] = y + (centred ? r->in[2][j] : 0);
        }
    }
}

static void ref_layer(const op_run *r) {
    rows(r, 1);
}

static void ref_rms(const op_run *r) {
    rows(r, 0);
}

#define ROUGH(name, given, shapes, ref) \
    { .op = name, .params = given, .in = shapes, .reference = ref, .tolerance = 8 }
/* No gradient flows through the statistics, unlike in the reference. */
#define SHOWN(name, given, shapes, ref) \
    { .op = name, .params = given, .in = shapes, .reference = ref, .tolerance = 8, .flags = CASE_NO_GRADIENT }

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
    ROUGH("GroupNorm", "num_groups=2", "2x16x9x17 16 16", ref_group),
    ROUGH("GroupNorm", "num_groups=2", "0x4x3 4 4", ref_group),
    ROUGH("GroupNorm", "num_groups=2", "2x4x0 4 4", ref_group),
    SHOWN("GroupNorm", "num_groups=2 output_mean_var=True", "2x4x3 4 4", ref_group),
    FAILS("GroupNorm", "num_groups=2", "2x3x4 3 3", MXC_ESHAPE, "3 channels do not divide into 2 groups"),
    FAILS("GroupNorm", "num_groups=0", "2x3x4 3 3", MXC_EINVAL, "num_groups"),
    FAILS("GroupNorm", "", "2x3 3 3", MXC_ESHAPE, "expected at least 3 axes"),
    INFERS("GroupNorm", "num_groups=2", "2x4x5,?,? -> ?,?,? => 2x4x5,4,4 -> 2x4x5,2x2,2x2"),
    ROUGH("LayerNorm", "",
          "4x5 5 5; 5x33@1000:1001 33 33; 3x300@-50:-49 300 300; 1x7 7 7; 7x1 1 1; 2x3x4 4 4; "
          "2x1x3x1x2 2 2; 65x3 3 3; 17x9 9 9; 3x33 33 33; "
          "5x9@-1:1nf 9 9",
          ref_layer),
    ROUGH("LayerNorm", "eps=0.1", "2x3x7 7 7", ref_layer),
    ROUGH("LayerNorm", "axis=1", "2x3x4 3 3", ref_layer),
    ROUGH("LayerNorm", "axis=0", "6x3 6 6", ref_layer),
    ROUGH("LayerNorm", "axis=-2", "2x5x2x3 2 2", ref_layer),
    ROUGH("LayerNorm", "", "9 9 9", ref_layer),
    ROUGH("LayerNorm", "", "1x1 1 1", ref_layer),
    ROUGH("LayerNorm", "", "70x130 130 130", ref_layer),
    ROUGH("LayerNorm", "", "3x1031 1031 1031", ref_layer),
    ROUGH("LayerNorm", "", "0x5 5 5", ref_layer),
    ROUGH("LayerNorm", "", "5x0 0 0", ref_layer),
    SHOWN("LayerNorm", "output_mean_var=True", "4x5 5 5", ref_layer),
    SHOWN("LayerNorm", "output_mean_var=True axis=1", "2x3x4 3 3", ref_layer),
    FAILS("LayerNorm", "", "4x5 4 5", MXC_ESHAPE, "argument 'gamma': expected shape (5,), found (4,)"),
    FAILS("LayerNorm", "axis=2", "4x5 5 5", MXC_ESHAPE, "axis 2 is not in [-2, 2)"),
    FAILS("LayerNorm", "eps=-1", "4x5 5 5", MXC_EINVAL, "eps"),
    INFERS("LayerNorm", "", "4x?,?,5 -> ?,?,? => 4x5,5,5 -> 4x5,4x1,4x1"),
    ROUGH("RMSNorm", "",
          "4x5 5; 5x33@1000:1001 33; 1x7 7; 7x1 1; 2x3x4 4; 2x1x3x1x2 2; 65x3 3; 17x9 9; 3x33 33; "
          "2x129 129; 3x0x2 2; "
          "33x2 2; 5x9@-1:1nf 9",
          ref_rms),
    ROUGH("RMSNorm", "eps=0.1", "2x3x7 7", ref_rms),
    ROUGH("RMSNorm", "axis=1", "2x3x4 3", ref_rms),
    ROUGH("RMSNorm", "axis=0", "6x3 6", ref_rms),
    ROUGH("RMSNorm", "", "9@2:3 9", ref_rms),
    ROUGH("RMSNorm", "", "1x1 1", ref_rms),
    ROUGH("RMSNorm", "", "70x130 130", ref_rms),
    ROUGH("RMSNorm", "", "0x5 5", ref_rms),
    ROUGH("RMSNorm", "", "5x0 0", ref_rms),
    FAILS("RMSNorm", "", "4x5 4", MXC_ESHAPE, "argument 'gamma': expected shape (5,), found (4,)"),
    INFERS("RMSNorm", "axis=0", "?,3 -> ?x2,? => 3x2,3 -> 3x2,1x2"),
};

MXC_CASES(norm_cases, cases);
