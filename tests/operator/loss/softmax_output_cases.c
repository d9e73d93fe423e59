/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of SoftmaxOutput. */
#include <math.h>

#include "operator/nn/nn_reference.h"

static double loss_divisor(const op_run *r, case_softmax_axes p) {
    double ignore = case_number(r, "ignore_label", -1), count = 0;
    if (case_is(r, "normalization", "batch"))
        return (double)(p.outer * p.inner);
    if (!case_is(r, "normalization", "valid"))
        return (double)p.inner;
    for (int64_t i = 0; i < p.outer * p.inner; i++)
        count += r->in[1][i] != ignore;
    return fmax(count, 1);
}

static void grad_softmax_output(const op_run *r) {
    case_softmax_axes p = case_softmax_axes_of(r);
    int dense = mxc_shape_equal(&r->in_shape[1], &r->in_shape[0]);
    double scale = case_number(r, "grad_scale", 1) / (dense ? 1 : loss_divisor(r, p));
    for (int64_t i = 0; i < p.outer * p.k * p.inner; i++) {
        int64_t row = i / (p.k * p.inner), k = i / p.inner % p.k, at = row * p.inner + i % p.inner;
        double alpha = case_number(r, "smooth_alpha", 0), off = p.k > 1 ? alpha / (double)(p.k - 1) : 0;
        double target = dense ? r->in[1][i] : r->in[1][at] == (double)k ? 1 - alpha : off;
        double value = scale * (r->out[0][i] - target);
        if (!dense && case_is(r, "use_ignore", "True") && r->in[1][at] == case_number(r, "ignore_label", -1))
            value = 0;
        r->in_grad[0][i] = value * (case_is(r, "out_grad", "True") ? r->out_grad[0][i] : 1);
    }
}

#define SOFTMAX(given, shapes)                                                                                  \
    {                                                                                                           \
        .op = "SoftmaxOutput", .params = given, .in = shapes, .constant = 2, .reference = case_softmax_forward, \
        .gradient = grad_softmax_output                                                                         \
    }
/* A label of another form than the one that inference assumes. */
#define SOFTMAX_FORM(given, shapes)                                                                      \
    {                                                                                                    \
        .op = "SoftmaxOutput", .params = given, .in = shapes, .flags = CASE_ONE_OF_FORMS, .constant = 2, \
        .reference = case_softmax_forward, .gradient = grad_softmax_output                               \
    }

static const op_case cases[] = {
    SOFTMAX("", "1x1 1@0:0"),
    SOFTMAX("", "4x10@-3:3 4@0:9i; 5x9@-3:3n 5@0:8i; 5x9@-3:3f 5@0:8i"),
    SOFTMAX("", "5x3@-30:30 5@0:2i"),
    SOFTMAX("", "5x67 5@0:66i"),
    SOFTMAX("use_ignore=True", "5x3 5@-1:2i"),
    SOFTMAX("", "0x3 0"),
    SOFTMAX("grad_scale=0.5", "6x8 6@0:7i"),
    SOFTMAX("grad_scale=2 normalization=batch", "6x8 6@0:7i"),
    SOFTMAX("normalization=valid ignore_label=2", "6x4 6@0:3i"),
    SOFTMAX("normalization=valid use_ignore=True ignore_label=0", "6x4 6@0:3i"),
    SOFTMAX("normalization=valid use_ignore=True ignore_label=0", "3x4 3@0:0.5i"), /* all ignored */
    SOFTMAX("use_ignore=True ignore_label=1", "6x4 6@0:3i"),
    SOFTMAX("smooth_alpha=0.1", "6x4 6@0:3i; 4x9 4; 5x67 5; 0x3 0"),
    SOFTMAX("smooth_alpha=0.3 use_ignore=True ignore_label=1 normalization=valid grad_scale=2", "6x4 6@0:3i"),
    SOFTMAX("smooth_alpha=0.2 multi_output=True", "2x5x3x4 2x12@0:4i"),
    SOFTMAX("smooth_alpha=1", "3x4 3@0:3i"),
    FAILS("SoftmaxOutput", "smooth_alpha=1.5", "4x5 4", MXC_EINVAL, "smooth_alpha"),
    SOFTMAX("out_grad=True", "6x4 6@0:3i"),
    SOFTMAX_FORM("", "6x4 6x4@0:1"),
    SOFTMAX_FORM("out_grad=True grad_scale=3 normalization=batch", "6x4 6x4@0:1"),
    SOFTMAX("", "3x2x4 3@0:7i"),
    SOFTMAX("preserve_shape=True", "3x2x4 3x2@0:3i"),
    SOFTMAX("preserve_shape=True normalization=batch", "3x2x4 3x2@0:3i"),
    SOFTMAX("multi_output=True", "2x5x3x4 2x12@0:4i"),
    SOFTMAX_FORM("multi_output=True normalization=batch", "2x5x3x4 2x3x4@0:4i"),
    SOFTMAX_FORM("multi_output=True normalization=valid use_ignore=True ignore_label=3", "2x5x3x4 2x1x3x4@0:4i"),
    SOFTMAX("multi_output=True out_grad=True", "2x3x300 2x300@0:2i"),
    SOFTMAX("multi_output=True", "4x5 4x1@0:4i"),
    FAILS("SoftmaxOutput", "", "4x5 3", MXC_ESHAPE, "label"),
    FAILS("SoftmaxOutput", "", "4 4", MXC_ESHAPE, "at least 2 axes"),
    FAILS("SoftmaxOutput", "multi_output=True", "4x5x6 4x5", MXC_ESHAPE, "label"),
    FAILS("SoftmaxOutput", "normalization=none", "4x5 4", MXC_EINVAL, "normalization"),
    INFERS("SoftmaxOutput", "", "8x10,? -> ? => 8x10,8 -> 8x10"),
    INFERS("SoftmaxOutput", "preserve_shape=True", "?,? -> 8x3x10 => 8x3x10,8x3 -> 8x3x10"),
    INFERS("SoftmaxOutput", "multi_output=True", "2x5x3x4,? -> ? => 2x5x3x4,2x12 -> 2x5x3x4"),
    INFERS("Softmax", "", "8x10,8x10 -> ? => 8x10,8x10 -> 8x10"),
};

MXC_CASES(loss_softmax_output_cases, cases);
