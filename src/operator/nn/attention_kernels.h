/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of attention scores, tables by compute type (f32, f64). A row is n scores z of one query; what is hidden is
 * -inf. Statistics pass as double.
 */
#ifndef MXCI_OPERATOR_NN_ATTENTION_KERNELS_H
#define MXCI_OPERATOR_NN_ATTENTION_KERNELS_H

#include "math/tile_kernels.h"

typedef struct mxci_attention_kernels {
    /* row = 0 where it is not 0, else -inf. */
    void (*hide)(int64_t n, void *row);
    /* z = scale z (+ bias unless NULL); the greatest, -inf where n is 0. */
    double (*score)(int64_t n, double scale, const void *bias, void *z);
    /* z = e^(z - shift); their sum. */
    double (*exp)(int64_t n, double shift, void *z);
    /* x *= factor. */
    void (*scale)(int64_t n, double factor, void *x);
    /* Sum of a b. */
    double (*dot)(int64_t n, const void *a, const void *b);
    /* The gradient of raw scores from probabilities p and their gradient d: d = scale p (d - mean). */
    void (*gradient)(int64_t n, double scale, double mean, const void *p, void *d);
} mxci_attention_kernels;

extern const mxci_attention_kernels mxci_attention_f32, mxci_attention_f64;

#endif
