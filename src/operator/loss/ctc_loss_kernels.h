/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connectionist temporal classification of one sequence, everything in logarithms and double. Letters: T steps, C
 * classes, n labels. The states s = 0..2n stand for blank, label 0, blank, label 1, ..., blank.
 */
#ifndef MXCI_OPERATOR_LOSS_CTC_LOSS_KERNELS_H
#define MXCI_OPERATOR_LOSS_CTC_LOSS_KERNELS_H

#include <math.h>
#include <stdint.h>

#include <mxc/types.h>

#include "math/loop.h"

typedef struct mxci_ctc {
    int64_t steps, n_labels, blank;
    const int64_t *labels;
    const double *log_probs; /* (T, n + 1): ln of the probability of blank, then of each label */
    double *alpha; /* (T, 2 n + 1): ln of the probability of all paths through the first t + 1 steps that end in s */
    double *beta;  /* (2, 2 n + 1): the same of all paths from state s after step t to the end; step t in row t % 2 */
} mxci_ctc;

/* ---- scalars, for C and GPU kernels ------------------------------------------------------------------------------ */

MXCI_SCALAR int64_t mxci_ctc_states(const mxci_ctc *c) {
    return 2 * c->n_labels + 1;
}

/* ln(e^a + e^b) */
MXCI_SCALAR double mxci_ctc_log_add(double a, double b) {
    double max = a > b ? a : b, min = a > b ? b : a;
    return max == -INFINITY ? max : max + log1p(exp(min - max));
}

MXCI_SCALAR double mxci_ctc_log_prob(const mxci_ctc *c, int64_t t, int64_t s) {
    return c->log_probs[t * (c->n_labels + 1) + (s % 2 ? (s + 1) / 2 : 0)];
}

/* Whether a path may go from state s - 2 to s, past the blank between: both are labels, and different ones. */
MXCI_SCALAR int mxci_ctc_may_skip(const mxci_ctc *c, int64_t s) {
    return s % 2 && s >= 2 && c->labels[s / 2] != c->labels[s / 2 - 1];
}

/* alpha[t][s], from row t - 1. */
MXCI_SCALAR double mxci_ctc_alpha(const mxci_ctc *c, int64_t t, int64_t s) {
    const double *before = c->alpha + (t - 1) * mxci_ctc_states(c);
    double sum;
    if (t == 0)
        return s < 2 ? mxci_ctc_log_prob(c, 0, s) : -INFINITY;
    sum = s > 0 ? mxci_ctc_log_add(before[s], before[s - 1]) : before[s];
    if (mxci_ctc_may_skip(c, s))
        sum = mxci_ctc_log_add(sum, before[s - 2]);
    return sum + mxci_ctc_log_prob(c, t, s);
}

/* ln of the probability of all paths, from alpha. */
MXCI_SCALAR double mxci_ctc_total(const mxci_ctc *c) {
    const int64_t states = mxci_ctc_states(c);
    const double *last = c->alpha + (c->steps - 1) * states;
    if (c->steps == 0)
        return c->n_labels == 0 ? 0 : -INFINITY;
    return states > 1 ? mxci_ctc_log_add(last[states - 1], last[states - 2]) : last[0];
}

/* beta[t][s], from row t + 1. */
MXCI_SCALAR double mxci_ctc_beta(const mxci_ctc *c, int64_t t, int64_t s) {
    const int64_t states = mxci_ctc_states(c);
    const double *next = c->beta + (t + 1) % 2 * states;
    double sum;
    if (t == c->steps - 1)
        return s + 2 >= states ? 0 : -INFINITY;
    sum = next[s] + mxci_ctc_log_prob(c, t + 1, s);
    if (s + 1 < states)
        sum = mxci_ctc_log_add(sum, next[s + 1] + mxci_ctc_log_prob(c, t + 1, s + 1));
    if (s + 2 < states && mxci_ctc_may_skip(c, s + 2))
        sum = mxci_ctc_log_add(sum, next[s + 2] + mxci_ctc_log_prob(c, t + 1, s + 2));
    return sum;
}

/* ---- one sequence ------------------------------------------------------------------------------------------------ */

/* Computes alpha. Returns ln of the probability of all paths, -inf if there are none. */
double mxci_ctc_forward(const mxci_ctc *c);
/* posterior (C) += for each class the probability, given the labels, that step t emits it. For t = T - 1 first, then
 * downwards, after mxci_ctc_forward; total: its result, not -inf. */
void mxci_ctc_posterior(const mxci_ctc *c, int64_t t, double total, double *posterior);

/* By dtype (f32, f64). ln of the sum of e^x over n elements; -inf where n is 0. */
typedef double (*mxci_ctc_log_sum_fn)(int64_t n, const void *x);
extern const mxci_ctc_log_sum_fn mxci_ctc_log_sum[MXC_DTYPE_LIMIT];
/* dx = or += factor (e^(x - log_sum) - posterior). */
typedef void (*mxci_ctc_gradient_fn)(int64_t n, int add, double factor, double log_sum, const double *posterior,
                                     const void *x, void *dx);
extern const mxci_ctc_gradient_fn mxci_ctc_gradient[MXC_DTYPE_LIMIT];

#endif
