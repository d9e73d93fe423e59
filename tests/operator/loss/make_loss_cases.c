/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of make_loss and MakeLoss. */
#include <math.h>

#include "operator/cases.h"

static void one_gradient(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->in_grad[0][i] = 1;
}

static void ref_loss(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->out[0][i] = r->in[0][i];
}

static void grad_loss(const op_run *r) {
    int64_t n = case_size(&r->in_shape[0]);
    double count = 0;
    for (int64_t i = 0; i < n; i++)
        count += r->in[0][i] > case_number(r, "valid_thresh", 0);
    if (!case_is(r, "normalization", "valid"))
        count = case_is(r, "normalization", "batch") ? (double)r->in_shape[0].dim[0] : 1;
    for (int64_t i = 0; i < n; i++)
        r->in_grad[0][i] = case_number(r, "grad_scale", 1) / fmax(count, 1);
}

#define LOSS(given, shapes) \
    { .op = "MakeLoss", .params = given, .in = shapes, .reference = ref_loss, .gradient = grad_loss }

static const op_case cases[] = {
    {.op = "make_loss",
     .in = "2x3" CASE_EACH(CASE_ONE) "; 5x9@-1:1nf",
     .reference = case_copy,
     .gradient = one_gradient},

    LOSS("", "3x5" CASE_EACH(CASE_ONE) "; 5x9@-1:1nf"),
    LOSS("grad_scale=0.5", "7"),
    LOSS("grad_scale=3 normalization=batch", "4x2x3"),
    LOSS("grad_scale=3 normalization=batch", "0x3"),
    LOSS("normalization=valid", "5x31"),
    LOSS("normalization=valid valid_thresh=0.5 grad_scale=2", "3x400"),
    LOSS("normalization=valid valid_thresh=9", "4x2"),
    LOSS("normalization=valid", "s"),
    FAILS("MakeLoss", "normalization=mean", "3", MXC_EINVAL, "normalization"),
    INFERS("MakeLoss", "", "?x3 -> 2x? => 2x3 -> 2x3"),
};

MXC_CASES(loss_make_loss_cases, cases);
