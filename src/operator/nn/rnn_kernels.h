/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One step of a recurrent layer in one direction, after the matrix products: rows (samples) of h units. Tables by mode
 * for f32 and f64. Rows are dense where no row length is given.
 *
 * gates holds W x + b + R h_prev + c, for GRU W x + b only, in blocks of h: rnn 1, LSTM i, f, g, o, GRU r, z, n and one
 * more. Forward replaces them by the values of the gates, which backward reads (the saved gates), and puts GRU's
 * R_n h_prev + c_n into the fourth block.
 */
#ifndef MXCI_OPERATOR_NN_RNN_KERNELS_H
#define MXCI_OPERATOR_NN_RNN_KERNELS_H

#include <stdint.h>

enum { MXCI_RNN_RELU, MXCI_RNN_TANH, MXCI_RNN_LSTM, MXCI_RNN_GRU, MXCI_RNN_MODES };

typedef struct mxci_rnn_step {
    int64_t h;
    void *gates;
    const void *h_sums; /* GRU: R h_prev + c, blocks r, z, n */
    const void *h_prev; /* GRU: the state after the previous step, */
    int64_t h_prev_row; /* elements from row to row */
    const void *c_prev; /* LSTM: the cell after the previous step */
    void *c;            /* LSTM: written by forward, read by backward */
    void *out;          /* the state; backward (rnn) reads it */
    int64_t out_row;
    /* backward only */
    const void *dy; /* gradient of out from the layer above, rows as out's */
    void *dh,
        *dc; /* gradients from the next step; become those of h_prev and c_prev, dh without the product dgates R */
    void *dx_gates; /* gradients of W x + b (3 blocks for GRU) */
    void *dh_gates; /* GRU: gradients of R h_prev + c; the other units have dx_gates for both */
} mxci_rnn_step;

/* Rows begin..end-1. */
typedef void (*mxci_rnn_fn)(const mxci_rnn_step *s, int64_t begin, int64_t end);
typedef struct mxci_rnn_kernels {
    mxci_rnn_fn forward[MXCI_RNN_MODES], backward[MXCI_RNN_MODES];
} mxci_rnn_kernels;

extern const mxci_rnn_kernels mxci_rnn_f32, mxci_rnn_f64;

#endif
