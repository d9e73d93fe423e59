/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of Activation. */
#include <math.h>

#include "operator/cases.h"

static void ref_activation(const op_run *r) {
    int relu = case_is(r, "act_type", "relu"), sigmoid = case_is(r, "act_type", "sigmoid");
    int is_tanh = case_is(r, "act_type", "tanh");
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++) {
        double x = r->in[0][i];
        r->out[0][i] = relu      ? (x < 0 ? 0 : x)
                       : sigmoid ? 1 / (1 + exp(-x))
                       : is_tanh ? tanh(x)
                                 : fmax(x, 0) + log1p(exp(-fabs(x)));
    }
}

static void ref_softsign(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->out[0][i] = r->in[0][i] / (1 + fabs(r->in[0][i]));
}

static void ref_log_sigmoid(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->out[0][i] = -log1p(exp(-r->in[0][i]));
}

static void ref_mish(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->out[0][i] = r->in[0][i] * tanh(log1p(exp(r->in[0][i])));
}

#define ACT(given, shapes) \
    { .op = "Activation", .params = given, .in = shapes, .reference = ref_activation }

static const op_case cases[] = {
    ACT("act_type=relu", "3x7@-1:1.1" CASE_EACH(CASE_ONE) "; 5x9@-1:1.1nf"),
    ACT("act_type=relu", "0x7"),
    ACT("act_type=relu", "s"),
    ACT("act_type=sigmoid", "2x3x5@-6:6; 5x9@-6:6nf"),
    ACT("act_type=sigmoid", "1x17@-30:30"),
    ACT("act_type=tanh", "5x9@-3:3; 5x9@-6:6nf"),
    ACT("act_type=tanh", "40x500@-2:2"),
    ACT("act_type=softrelu", "4x9@-5:5; 5x9@-6:6nf"),
    ACT("act_type=softrelu", "33@-40:40"),
    {.op = "Activation", .params = "act_type=softsign", .in = "3x7@-3:3.2", .reference = ref_softsign},
    {.op = "Activation", .params = "act_type=softsign", .in = "40x500@-3:3.2", .reference = ref_softsign},
    {.op = "Activation", .params = "act_type=log_sigmoid", .in = "5x9@-5:5", .reference = ref_log_sigmoid},
    {.op = "Activation", .params = "act_type=log_sigmoid", .in = "1031@-2:2", .reference = ref_log_sigmoid},
    {.op = "Activation", .params = "act_type=mish", .in = "5x9@-5:5", .reference = ref_mish},
    {.op = "Activation", .params = "act_type=mish", .in = "1031@-2:2", .reference = ref_mish},
    {.op = "Activation", .params = "act_type=mish", .in = "0x3", .reference = ref_mish},
    FAILS("Activation", "act_type=swish", "3x7", MXC_EINVAL, "act_type"),
    FAILS("Activation", "", "3x7", MXC_EINVAL, "act_type"),
};

MXC_CASES(nn_activation_cases, cases);
