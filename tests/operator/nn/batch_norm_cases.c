/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of BatchNorm, _contrib_BatchNormWithReLU and _contrib_SyncBatchNorm. */
#include <math.h>

#include "operator/cases.h"

/* (N,C,D) about the channels' axis. */
static void bn_axes(const op_run *r, int64_t *n, int64_t *channels, int64_t *d) {
    const mxc_shape *s = &r->in_shape[0];
    int axis = (int)case_number(r, "axis", 1);
    axis += axis < 0 ? s->ndim : 0;
    *n = *d = 1;
    *channels = s->dim[axis];
    for (int i = 0; i < s->ndim; i++)
        *(i < axis ? n : d) *= i == axis ? 1 : s->dim[i];
}

static void bn_moments(const op_run *r, int64_t c, double *mean, double *var) {
    int64_t n, channels, d;
    bn_axes(r, &n, &channels, &d);
    *mean = *var = 0;
    for (int64_t i = 0; i < n * d; i++)
        *mean += r->in[0][(i / d * channels + c) * d + i % d] / (double)(n * d);
    for (int64_t i = 0; i < n * d; i++)
        *var += pow(r->in[0][(i / d * channels + c) * d + i % d] - *mean, 2) / (double)(n * d);
}

static void ref_bn(const op_run *r) {
    int64_t size = case_size(&r->in_shape[0]), n, channels, d;
    int batch = r->is_train && !case_is(r, "use_global_stats", "True");
    double eps = case_number(r, "eps", 1e-3), keep = case_number(r, "momentum", 0.9);
    bn_axes(r, &n, &channels, &d);
    for (int64_t c = 0; c < channels; c++) {
        double mean = r->aux[0][c], var = r->aux[1][c];
        if (batch && size > 0) {
            bn_moments(r, c, &mean, &var);
            r->aux[0][c] = keep * r->aux[0][c] + (1 - keep) * mean;
            r->aux[1][c] = keep * r->aux[1][c] + (1 - keep) * var;
        }
        r->out[1][c] = mean;
        r->out[2][c] = 1 / sqrt(var + eps);
    }
    for (int64_t i = 0; i < size; i++) {
        int64_t c = i / d % channels;
        double gamma = case_is(r, "fix_gamma", "False") ? r->in[1][c] : 1;
        r->out[0][i] = gamma * (r->in[0][i] - r->out[1][c]) * r->out[2][c] + r->in[2][c];
    }
}

static void ref_bn_relu(const op_run *r) {
    ref_bn(r);
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->out[0][i] = fmax(r->out[0][i], 0);
}

/* By the formula of the gradient, since differences cannot be taken where an output is close to 0; exactly 0 are none,
 * as beta is above 0 in the cases. */
static void grad_bn_relu(const op_run *r) {
    const int batch = r->is_train && !case_is(r, "use_global_stats", "True");
    const int scaled = case_is(r, "fix_gamma", "False");
    int64_t n, channels, d;
    bn_axes(r, &n, &channels, &d);
    for (int64_t c = 0; c < channels; c++) {
        const double mean = r->out[1][c], spread = 1 / (r->out[2][c] * r->out[2][c]);
        const double scale = (scaled ? r->in[1][c] : 1) / sqrt(spread), count = (double)(n * d);
        double sum = 0, product = 0;
        for (int pass = 0; pass < 2; pass++)
            for (int64_t i = 0; i < n * d; i++) {
                const int64_t at = (i / d * channels + c) * d + i % d;
                const double g = r->out[0][at] > 0 ? r->out_grad[0][at] : 0, apart = r->in[0][at] - mean;
                if (pass == 1)
                    r->in_grad[0][at] = scale * (g - (batch ? (sum + apart * product / spread) / count : 0));
                sum += pass ? 0 : g;
                product += pass ? 0 : g * apart;
            }
        r->in_grad[1][c] = scaled ? product / sqrt(spread) : 0;
        r->in_grad[2][c] = sum;
    }
}

#define BN_RELU(given, shapes)                                                                  \
    {                                                                                           \
        .op = "_contrib_BatchNormWithReLU", .params = given, .in = shapes, .flags = CASE_TRAIN, \
        .reference = ref_bn_relu, .gradient = grad_bn_relu                                      \
    }
#define SYNC_BN(given, shapes) \
    { .op = "_contrib_SyncBatchNorm", .params = given, .in = shapes, .flags = CASE_TRAIN, .reference = ref_bn }
#define BN(given, shapes) \
    { .op = "BatchNorm", .params = given, .in = shapes, .flags = CASE_TRAIN, .reference = ref_bn }

static const op_case cases[] = {
    BN("", "4x3 3 3 3 3@0.5:2"),
    BN("fix_gamma=False", "4x3 3@0.5:2 3 3 3@0.5:2; 7x1 1 1 1 1; 3x65 65 65 65 65; 2x3x4 3 3 3 3; 5x2x1x2 2 2 2 2; "
                          "2x2x3x2x2 2 2 2 2; 33x2 2 2 2 2; 3x1x17 1 1 1 1; 9x4 4 4 4 4; 17x3 3 3 3 3; "
                          "9x4x33@-50:-49 4 4 4 4; "
                          "3x4x1x1 4 4 4 4; 1x1 1 1 1 1; 2x3x9@-1:1nf 3 3 3 3"),
    BN("fix_gamma=False eps=0.01 momentum=0.5", "3x2x4x5@-2:2 2@0.5:2 2 2 2@0.5:2"),
    BN("fix_gamma=False", "2x3x7@5:9 3@0.5:2 3 3 3@0.5:2"),
    BN("fix_gamma=False use_global_stats=True", "2x3x5x2 3@0.5:2 3 3 3@0.5:2"),
    BN("use_global_stats=True", "2x3x5x2 3@0.5:2 3 3 3@0.5:2"),
    BN("", "2x1x60x70 1 1 1 1@0.5:2"),
    BN("axis=-1 fix_gamma=False", "2x3x5x4 4@0.5:2 4 4 4@0.5:2; 7x1 1 1 1 1; 3x4x65 65 65 65 65; 9x4x33@-50:-49 33 33 "
                                  "33 33; 3x1x1x4 4 4 4 4; 2x9x3@-1:1nf 3 3 3 3"),
    /* channels last: cycles of coefficients, whole and cut, and tiles */
    BN("axis=-1 fix_gamma=False; axis=3 fix_gamma=False use_global_stats=True",
       "2x5x7x24 24@0.5:2 24 24 24@0.5:2; 1x3x5x33 33@0.5:2 33 33 33@0.5:2; 2x9x8x1 1 1 1 1@0.5:2; "
       "1x2x3x200 200@0.5:2 200 200 200@0.5:2; 9x5x1x3@1000:1001 3@0.5:2 3 3@1000:1001 3@0.5:2"),
    BN("axis=2 fix_gamma=False eps=0.01 momentum=0.5", "3x2x4x5@-2:2 4@0.5:2 4 4 4@0.5:2"),
    BN("axis=3 use_global_stats=True", "2x3x5x2 2@0.5:2 2 2 2@0.5:2"),
    BN("axis=0 fix_gamma=False; axis=0", "4x3 4@0.5:2 4 4 4@0.5:2; 2x3x70 2@0.5:2 2 2 2@0.5:2"),
    FAILS("BatchNorm", "axis=2", "4x3 3 3 3 3", MXC_ESHAPE, "axis"),
    INFERS("BatchNorm", "axis=-1", "2x5x?,?,7,?,? -> ?,?,? => 2x5x7,7,7,7,7 -> 2x5x7,7,7"),
    BN("fix_gamma=False min_calib_range=-1 max_calib_range=2.5", "4x3 3@0.5:2 3 3 3@0.5:2"),
    BN_RELU("fix_gamma=False",
            "4x3 3@0.5:2 3@0.05:0.3 3 3@0.5:2; 7x1 1 1 1 1; 3x65 65 65 65 65; 2x3x4 3 3 3 3; 5x2x1x2 2 2 2 2; "
            "2x2x3x2x2 2 2 2 2; 33x2 2 2 2 2; 3x1x17 1 1 1 1; 9x4 4 4 4 4; 17x3 3 3 3 3; "
            "3x4x1x1 4 4 4 4; 1x1 1 1 1 1; 0x2x5 2 2 2 2"),
    BN_RELU("fix_gamma=False use_global_stats=True",
            "2x3x5x2 3@0.5:2 3@0.05:0.3 3 3@0.5:2; 3x2 2 2 2 2; 4x1x3 1 1 1 1"),
    BN_RELU("axis=-1 eps=0.01 momentum=0.5", "2x3x5x4@-2:2 4@0.5:2 4@0.05:0.3 4 4@0.5:2; 7x2 2 2 2 2; 3x4x9 9 9 9 9"),
    BN_RELU("axis=-1 fix_gamma=False; axis=-1 fix_gamma=False use_global_stats=True",
            "2x5x7x24 24@0.5:2 24@0.05:0.3 24 24@0.5:2; 1x3x5x33 33@0.5:2 33 33 33@0.5:2; "
            "1x2x3x200 200@0.5:2 200 200 200@0.5:2"),
    BN_RELU("", "2x1x60x70 1 1@0.05:0.3 1 1@0.5:2"),
    INFERS("_contrib_BatchNormWithReLU", "", "2x?x3,?,7,?,? -> ?,?,? => 2x7x3,7,7,7,7 -> 2x7x3,7,7"),
    SYNC_BN("key=bn fix_gamma=False", "4x3 3@0.5:2 3 3 3@0.5:2; 7x1 1 1 1 1; 3x65 65 65 65 65; 2x3x4 3 3 3 3; "
                                      "1x1 1 1 1 1; 5x2x1x2 2 2 2 2; "
                                      "2x2x3x2x2 2 2 2 2; 33x2 2 2 2 2; 3x1x17 1 1 1 1; 9x4 4 4 4 4; "
                                      "17x3 3 3 3 3; 3x4x1x1 4 4 4 4; 9x4x33@-50:-49 4 4 4 4; 2x3x9@-1:1nf 3 3 3 3"),
    SYNC_BN("key=bn use_global_stats=True; key=bn ndev=4 use_global_stats=True",
            "2x3x5x2 3@0.5:2 3 3 3@0.5:2; 3x2 2 2 2 2; 4x1x3 1 1 1 1"),
    SYNC_BN("eps=0.01 momentum=0.5", "3x2x4x5@-2:2 2@0.5:2 2 2 2@0.5:2; 2x5 5 5 5 5; 3x3x1x2 3 3 3 3"),
    {.op = "BatchNorm",
     .params = "fix_gamma=False",
     .in = "2x3x5x2 3@0.5:2 3 3 3@0.5:2",
     .flags = CASE_NO_GRADIENT,
     .reference = ref_bn},
    /* the mean that backward reads is rounded */
    {.op = "BatchNorm",
     .params = "fix_gamma=False",
     .in = "9x4@1000:1001 4@0.5:2 4 4 4@0.5:2; 9x4x33 4 4 4 4",
     .reference = ref_bn,
     .flags = CASE_TRAIN | CASE_NO_GRADIENT},
    {.op = "BatchNorm",
     .params = "output_mean_var=True",
     .in = "3x2x5 2 2 2 2@0.5:2",
     .reference = ref_bn,
     .flags = CASE_TRAIN | CASE_NO_GRADIENT},
    {.op = "BatchNorm",
     .params = "",
     .in = "0x2x5 2 2 2 2@0.5:2",
     .reference = ref_bn,
     .flags = CASE_TRAIN | CASE_NO_GRADIENT},
    FAILS("BatchNorm", "", "4 3 3 3 3", MXC_ESHAPE, "at least 2 axes"),
    FAILS("BatchNorm", "", "4x3 2 3 3 3", MXC_ESHAPE, "gamma"),
    FAILS("BatchNorm", "", "4x3 3 3 3 4", MXC_ESHAPE, "moving_var"),
    INFERS("BatchNorm", "", "2x5x3,?,?,?,? -> ?,?,? => 2x5x3,5,5,5,5 -> 2x5x3,5,5"),
    INFERS("BatchNorm", "", "2x?x3,?,7,?,? -> ?,?,? => 2x7x3,7,7,7,7 -> 2x7x3,7,7"),
};

MXC_CASES(nn_batch_norm_cases, cases);
