/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of LinearRegressionOutput, LogisticRegressionOutput and MAERegressionOutput. */
#include <math.h>

#include "operator/cases.h"

static void ref_logistic(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->out[0][i] = 1 / (1 + exp(-r->in[0][i]));
}

static void grad_regression(const op_run *r) {
    int64_t n = case_size(&r->in_shape[1]);
    double scale = case_number(r, "grad_scale", 1) / ((double)n / (double)r->in_shape[1].dim[0]);
    for (int64_t i = 0; i < n; i++)
        r->in_grad[0][i] = scale * (r->out[0][i] - r->in[1][i]);
}

static void grad_mae(const op_run *r) {
    int64_t n = case_size(&r->in_shape[1]);
    double scale = case_number(r, "grad_scale", 1) / ((double)n / (double)r->in_shape[1].dim[0]);
    for (int64_t i = 0; i < n; i++)
        r->in_grad[0][i] = scale * ((r->out[0][i] > r->in[1][i]) - (r->out[0][i] < r->in[1][i]));
}

#define REGRESSION(name, given, shapes, forward, backward) \
    { .op = name, .params = given, .in = shapes, .constant = 2, .reference = forward, .gradient = backward }
/* Data and a label of its shape. */
#define LABELLED                                                                                                 \
    "; 1 1; 7 7; 65 65; 0 0; 0x3 0x3; 1x17 1x17; 3x129 3x129; 2x3x4 2x3x4; 1x5x1 1x5x1; 3x1x7 3x1x7; "           \
    "2x3x2x5 2x3x2x5; 1x1x1x1 1x1x1x1; 2x1x3x1x2 2x1x3x1x2; 1031 1031; 3x0x2 3x0x2; 64x2 64x2; 33x3 33x3; 5 5; " \
    "5x9@-1:1nf 5x9"

static const op_case cases[] = {
    REGRESSION("LinearRegressionOutput", "", "5x3 5x3" LABELLED, case_copy, grad_regression),
    REGRESSION("LinearRegressionOutput", "grad_scale=0.1", "5x1 5", case_copy, grad_regression),
    {.op = "LinearRegressionOutput",
     .in = "5x1 5x1",
     .flags = CASE_ONE_OF_FORMS,
     .constant = 2,
     .reference = case_copy,
     .gradient = grad_regression},
    REGRESSION("LinearRegressionOutput", "", "5 5", case_copy, grad_regression),
    REGRESSION("LogisticRegressionOutput", "grad_scale=2", "5x3x2@-4:4 5x3x2@0:1" LABELLED, ref_logistic,
               grad_regression),
    REGRESSION("MAERegressionOutput", "", "7x3 7x3" LABELLED, case_copy, grad_mae),
    FAILS("LinearRegressionOutput", "", "5x3 5", MXC_ESHAPE, "label"),
    INFERS("LinearRegressionOutput", "", "6x1,? -> ? => 6x1,6 -> 6x1"),
    INFERS("MAERegressionOutput", "", "?,? -> 6x4 => 6x4,6x4 -> 6x4"),
};

MXC_CASES(loss_regression_output_cases, cases);
