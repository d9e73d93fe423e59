/* SPDX-License-Identifier: Apache-2.0 */
/* References that several layers share: windows, channels last, softmax and normalization. */
#ifndef MXC_TESTS_OPERATOR_NN_REFERENCE_H
#define MXC_TESTS_OPERATOR_NN_REFERENCE_H

#include "operator/cases.h"

/* The windows of a convolution or pooling; with global_pool, one over the whole plane. */
case_windows case_windows_of_layer(const op_run *r);

/* Runs a reference for channels second on a case with channels last, by transposing its arrays. */
void case_run_channels_second(const op_run *r, void (*reference)(const op_run *), int is_gradient);

/* Data as (outer, k, inner), for a softmax along k. */
typedef struct case_softmax_axes {
    int64_t outer, k, inner;
} case_softmax_axes;

/* As the parameters of SoftmaxOutput and SoftmaxActivation say. */
case_softmax_axes case_softmax_axes_of(const op_run *r);

/* Softmax of data along those axes. */
void case_softmax_forward(const op_run *r);

/* softmax, log_softmax and their masked forms (a second input holds lengths) of sign * data / temperature. */
void case_softmax(const op_run *r, int is_log, double sign);

/* The mean of n elements at a distance of step (0 if not centred), and the root of the mean square about it plus eps.
 */
void case_moments(const double *x, int64_t n, int64_t step, int centred, double eps, double *mean, double *std);

/* A case that returns the statistics: no gradient flows through them, unlike in the reference. */
#define SHOWN(name, given, shapes, ref) \
    { .op = name, .params = given, .in = shapes, .reference = ref, .tolerance = 8, .flags = CASE_NO_GRADIENT }

#endif
