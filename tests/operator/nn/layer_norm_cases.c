/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of LayerNorm and RMSNorm. */
#include "operator/nn/nn_reference.h"

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
        case_moments(r->in[0] + first, k, inner, centred, case_number(r, "eps", 1e-5), &mean, &std);
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

static const op_case cases[] = {
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

MXC_CASES(nn_layer_norm_cases, cases);
