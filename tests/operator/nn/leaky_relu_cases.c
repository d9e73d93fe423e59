/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of LeakyReLU. */
#include <math.h>

#include "operator/cases.h"

static void ref_leaky(const op_run *r) {
    int64_t n = case_size(&r->in_shape[0]), inner = 1;
    int elu = case_is(r, "act_type", "elu");
    double slope = case_number(r, "slope", 0.25);
    for (int i = 2; i < r->in_shape[0].ndim; i++)
        inner *= r->in_shape[0].dim[i];
    if (case_is(r, "act_type", "rrelu")) /* in inference, or with one slope for all */
        slope = (case_number(r, "lower_bound", 0.125) + case_number(r, "upper_bound", 0.334)) / 2;
    for (int64_t i = 0; i < n; i++) {
        double x = r->in[0][i];
        if (r->n_out == 2)
            r->out[1][i] = slope;
        if (r->n_in == 2)
            slope = r->in[1][i / inner % r->in_shape[0].dim[1] % r->in_shape[1].dim[0]];
        r->out[0][i] = x > 0 ? x : elu ? slope * expm1(x) : slope * x;
    }
}

static void ref_gelu(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->out[0][i] = r->in[0][i] * 0.5 * erfc(-r->in[0][i] / sqrt(2));
}

static void ref_selu(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++) {
        double x = r->in[0][i];
        r->out[0][i] = 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * expm1(x));
    }
}

static const op_case cases[] = {
    RUN("LeakyReLU", "", "3x5@-2:2.3" CASE_EACH(CASE_ONE) "; 5x9@-2:2.3nf", ref_leaky),
    RUN("LeakyReLU", "slope=0.1", "1031@-2:2.3", ref_leaky),
    RUN("LeakyReLU", "act_type=leaky slope=0.01 lower_bound=0.2", "2x3x4x5@-2:2.3", ref_leaky),
    RUN("LeakyReLU", "act_type=elu", "3x5@-2:2.3; 5x9@-2:2.3nf", ref_leaky),
    RUN("LeakyReLU", "act_type=elu slope=1.5", "1031@-2:2.3", ref_leaky),
    RUN("LeakyReLU", "act_type=prelu", "3x5@-2:2.3 5@0:1", ref_leaky),
    RUN("LeakyReLU", "act_type=prelu", "2x3x4x5@-2:2.3 3@0:1", ref_leaky),
    RUN("LeakyReLU", "act_type=prelu", "2x1x7@-2:2.3 1@0:1", ref_leaky),
    {.op = "LeakyReLU",
     .params = "act_type=prelu",
     .in = "2x3x4@-2:2.3 1@0.2:0.3",
     .reference = ref_leaky,
     .flags = CASE_ONE_OF_FORMS},
    RUN("LeakyReLU", "act_type=prelu", "2x40x30x9@-2:2.3 40@0:1", ref_leaky),
    RUN("LeakyReLU", "act_type=prelu", "0x3x4 3", ref_leaky),
    RUN("LeakyReLU", "act_type=elu", "0x3", ref_leaky),
    RUN("LeakyReLU", "act_type=gelu", "3x5@-4:4.3; 5x9@-4:4.3nf", ref_gelu),
    RUN("LeakyReLU", "act_type=gelu slope=0.5", "1031@-4:4.3", ref_gelu),
    RUN("LeakyReLU", "act_type=gelu", "2x3x4x5@-2:2.3", ref_gelu),
    RUN("LeakyReLU", "act_type=gelu", "0x3", ref_gelu),
    RUN("LeakyReLU", "act_type=selu", "3x5@-2:2.3; 5x9@-2:2.3nf", ref_selu),
    RUN("LeakyReLU", "act_type=selu", "1031@-4:2.3", ref_selu),
    RUN("LeakyReLU", "act_type=selu", "s@-2:-1", ref_selu),
    FAILS("LeakyReLU", "act_type=gelu", "3x5 5", MXC_EINVAL, "LeakyReLU: expected 1 arrays"),
    RUN("LeakyReLU", "act_type=rrelu", "3x5@-2:2.3; 1031@-2:2.3; 0x3", ref_leaky),
    RUN("LeakyReLU", "act_type=rrelu lower_bound=0.1 upper_bound=0.2", "2x3x4x5@-2:2.3", ref_leaky),
    {.op = "LeakyReLU",
     .params = "act_type=rrelu lower_bound=0.25 upper_bound=0.25",
     .in = "7x129@-2:2.3",
     .reference = ref_leaky,
     .flags = CASE_TRAIN},
    {.op = "LeakyReLU",
     .params = "act_type=rrelu",
     .in = "50x70@-2:2.3",
     .flags = CASE_TRAIN | CASE_RANDOM | CASE_NO_GRADIENT},
    FAILS("LeakyReLU", "act_type=rrelu lower_bound=0.5", "3x5", MXC_EINVAL, "lower_bound is 0.5, expected at most"),
    FAILS("LeakyReLU", "act_type=relu", "3x5", MXC_EINVAL, "act_type"),
    FAILS("LeakyReLU", "act_type=prelu", "3 3", MXC_ESHAPE, "expected at least 2 axes"),
    FAILS("LeakyReLU", "act_type=prelu", "3x5 4", MXC_ESHAPE, "argument 'gamma': expected shape (5,), found (4,)"),
    INFERS("LeakyReLU", "act_type=prelu", "?x6,? -> 2x? => 2x6,6 -> 2x6"),
};

MXC_CASES(nn_leaky_relu_cases, cases);
