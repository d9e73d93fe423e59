/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _contrib_hawkesll. */
#include <math.h>

#include "operator/cases.h"

/* The memory of process k of sample n at time t, before the event of that time: a sum over all events before. */
static double memory(const op_run *r, int64_t n, int64_t k, int64_t event, double t) {
    const int64_t processes = r->in_shape[0].dim[1], events = r->in_shape[4].dim[1];
    double sum = r->in[3][n * processes + k] * exp(-r->in[2][k] * t), at = 0;
    for (int64_t i = 0; i < event; i++) {
        at += r->in[4][n * events + i];
        sum += (int64_t)r->in[5][n * events + i] == k ? exp(-r->in[2][k] * (t - at)) : 0;
    }
    return sum;
}

/* The integral of an exponential decay from 0 to t. */
static double area(double beta, double t) {
    return (1 - exp(-beta * t)) / beta;
}

static double likelihood(const op_run *r, int64_t n) {
    const int64_t processes = r->in_shape[0].dim[1], events = r->in_shape[4].dim[1], length = (int64_t)r->in[6][n];
    const double *lda = r->in[0] + n * processes, *alpha = r->in[1], *beta = r->in[2], end = r->in[7][n];
    double sum = 0, t = 0;
    for (int64_t k = 0; k < processes; k++)
        sum -= lda[k] * end + alpha[k] * beta[k] * r->in[3][n * processes + k] * area(beta[k], end);
    for (int64_t i = 0; i < length; i++) {
        const int64_t k = (int64_t)r->in[5][n * events + i];
        t += r->in[4][n * events + i];
        sum += log(lda[k] + alpha[k] * beta[k] * memory(r, n, k, i, t)) - alpha[k] * beta[k] * area(beta[k], end - t);
    }
    return sum;
}

static void ref_hawkes(const op_run *r) {
    const int64_t processes = r->in_shape[0].dim[1];
    for (int64_t n = 0; n < r->in_shape[0].dim[0]; n++) {
        r->out[0][n] = likelihood(r, n);
        for (int64_t k = 0; k < processes; k++)
            r->out[1][n * processes + k] = memory(r, n, k, (int64_t)r->in[6][n], r->in[7][n]);
    }
}

/* Differences of the likelihoods; the gradient of out_state is not used. */
static void grad_hawkes(const op_run *r) {
    const double step = 1e-6;
    for (int slot = 0; slot < 3; slot++)
        for (int64_t i = 0; i < case_size(&r->in_shape[slot]); i++) {
            const double value = r->in[slot][i];
            for (int64_t n = 0; n < r->in_shape[0].dim[0]; n++) {
                r->in[slot][i] = value + step;
                r->in_grad[slot][i] += r->out_grad[0][n] * likelihood(r, n) / (2 * step);
                r->in[slot][i] = value - step;
                r->in_grad[slot][i] -= r->out_grad[0][n] * likelihood(r, n) / (2 * step);
            }
            r->in[slot][i] = value;
        }
}

/* Marks and lengths within their ranges, and enough time for all events. */
static void make_events(const op_run *r) {
    const int64_t processes = r->in_shape[0].dim[1], events = r->in_shape[4].dim[1];
    for (int64_t i = 0; i < case_size(&r->in_shape[5]); i++)
        r->in[5][i] = processes ? (double)(i * 7 % processes) : 0;
    for (int64_t n = 0; n < r->in_shape[6].dim[0]; n++) {
        r->in[6][n] = processes ? (double)((n + events) % (events + 1)) : 0;
        r->in[7][n] = (double)events + 1;
    }
}

#define HAWKES(shapes)                                                                             \
    {                                                                                              \
        .op = "_contrib_hawkesll", .in = shapes, .reference = ref_hawkes, .gradient = grad_hawkes, \
        .prepare = make_events, .constant = 0xf8, .tolerance = 8                                   \
    }

static const op_case cases[] = {
    HAWKES("2x3@0.5:2 3@0.1:0.5 3@0.5:2 2x3@0:1 2x4@0.1:1 2x4@0:1 2@1:2 2@9:10; 1x1 1 1 1x1 1x1 1x1 1 1; "
           "3x1 1 1 3x1 3x5 3x5 3 3; 1x4 4 4 1x4 1x7 1x7 1 1; 7x2 2 2 7x2 7x3 7x3 7 7; 2x5 5 5 2x5 2x1 2x1 2 2; "
           "4x4 4 4 4x4 4x4 4x4 4 4; 1x2 2 2 1x2 1x20 1x20 1 1; 9x3 3 3 9x3 9x2 9x2 9 9; 2x9 9 9 2x9 2x6 2x6 2 2; "
           "0x3 3 3 0x3 0x4 0x4 0 0; 2x3 3 3 2x3 2x0 2x0 2 2; 17x1 1 1 17x1 17x1 17x1 17 17; "
           "2x33 33 33 2x33 2x9 2x9 2 2; 5x3 3 3 5x3 5x8 5x8 5 5; 3x2 2 2 3x2 3x13 3x13 3 3; 6x6 6 6 6x6 6x2 6x2 6 6; "
           "1x1 1 1 1x1 1x30 1x30 1 1; 2x2 2 2 2x2 2x2 2x2 2 2; 3x7 7 7 3x7 3x3 3x3 3 3; 8x1 1 1 8x1 8x4 8x4 8 8"),
    FAILS("_contrib_hawkesll", "", "2x3 4 3 2x3 2x4 2x4 2 2", MXC_ESHAPE, "argument 'alpha'"),
    FAILS("_contrib_hawkesll", "", "2x3 3 3 2x3 2x4 2x5 2 2", MXC_ESHAPE, "argument 'marks'"),
    INFERS("_contrib_hawkesll", "", "?,?,3,?,2x4,?,?,? -> ?,? => 2x3,3,3,2x3,2x4,2x4,2,2 -> 2,2x3"),
};

MXC_CASES(contrib_hawkesll_cases, cases);
