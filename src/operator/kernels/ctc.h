/*
 * Connectionist temporal classification of one sequence, everything in logarithms and double. Letters: T steps, C
 * classes, n labels. The states s = 0..2n stand for blank, label 0, blank, label 1, ..., blank.
 */
#ifndef MXCI_KERNELS_CTC_H
#define MXCI_KERNELS_CTC_H

#include <stdint.h>

#include <mxc/types.h>

typedef struct mxci_ctc {
    int64_t steps, n_labels, blank;
    const int64_t *labels;
    const double *emitted; /* (T, n + 1): the logarithm of the probability of blank, then of each label */
    double *ahead;         /* (T, 2 n + 1): mxci_ctc_ahead fills it */
    double *behind;        /* (2, 2 n + 1): scratch of mxci_ctc_occupied */
} mxci_ctc;

/* ahead[t][s]: of all ways through the first t + 1 steps that end in s. The result: of all ways; -inf if there are
 * none. */
double mxci_ctc_ahead(const mxci_ctc *c);
/* occupied (C) += for each class the probability that step t, given the labels, emits it. For t = T - 1 first, then
 * downwards, after mxci_ctc_ahead; total: its result, not -inf. */
void mxci_ctc_occupied(const mxci_ctc *c, int64_t t, double total, double *occupied);

/* By dtype (f32, f64). ln of the sum of e^x over n elements; -inf where n is 0. */
typedef double (*mxci_ctc_log_sum_fn)(int64_t n, const void *x);
extern const mxci_ctc_log_sum_fn mxci_ctc_log_sum[MXC_DTYPE_LIMIT];
/* dx = or += factor (e^(x - log_sum) - occupied). */
typedef void (*mxci_ctc_gradient_fn)(int64_t n, int add, double factor, double log_sum, const double *occupied,
                                     const void *x, void *dx);
extern const mxci_ctc_gradient_fn mxci_ctc_gradient[MXC_DTYPE_LIMIT];

#endif
