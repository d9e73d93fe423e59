/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of clip and hard_sigmoid. */
#include "operator/elementwise/elementwise_reference.h"

/* x cut to an interval; NaN stays. */
static double within(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

static void ref_hard_sigmoid(const op_run *r) {
    double alpha = case_number(r, "alpha", 0.2), beta = case_number(r, "beta", 0.5);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = within(alpha * r->in[0][i] + beta, 0, 1);
}

static void ref_clip(const op_run *r) {
    double low = case_number(r, "a_min", 0), high = case_number(r, "a_max", 0);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = within(r->in[0][i], low, high);
}

static const op_case cases[] = {
    SHAPES("hard_sigmoid", ref_hard_sigmoid, "-4:4.3"),
    {.op = "hard_sigmoid", .in = "9@-1e4:1.1e4; 9@-100:110; 9@-1e-3:1.1e-3", .reference = ref_hard_sigmoid},
    {.op = "hard_sigmoid", .params = "alpha=0.3 beta=0.1", .in = "4x5@-4:4.3", .reference = ref_hard_sigmoid},
    {.op = "clip",
     .params = "a_min=-0.7 a_max=0.6; a_min=0 a_max=0; a_min=-9.5 a_max=0.1",
     .in = INPUTS("4x5", "-2:2.3"),
     .reference = ref_clip,
     .flags = CASE_FLOAT_ONLY},
    {.op = "clip",
     .params = "a_min=-3 a_max=4",
     .in = "4x5@-2:2.3; s; 1031; 0x3",
     .reference = ref_clip,
     .flags = CASE_INT_ONLY},
    {.op = "clip", .params = "a_min=1", .in = "2", .status = MXC_EINVAL, .error = "a_max"},
};

MXC_CASES(elementwise_clip_cases, cases);
