/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One step of a recurrent layer in one direction, after the matrix products: rows (samples) of h units. Tables by mode
 * for f32 and f64. Rows are dense where no row length is given.
 *
 * gates holds what x and, but for GRU, the state before contribute, S blocks of h: rnn 1, LSTM i, f, g, o, GRU r, z, n
 * and one more. Forward leaves their values there, and in GRU's fourth block what the state before contributes to n.
 */
#ifndef MXCI_OPERATOR_NN_RNN_KERNELS_H
#define MXCI_OPERATOR_NN_RNN_KERNELS_H

#include <stdint.h>

enum { MXCI_RNN_RELU, MXCI_RNN_TANH, MXCI_RNN_LSTM, MXCI_RNN_GRU, MXCI_RNN_MODES };

typedef struct mxci_rnn_step {
    int64_t h;
    void *gates;
    const void *recurrent;   /* GRU: contributions of the state before to r, z, n */
    const void *before;      /* GRU: the state before, */
    int64_t before_row;      /* elements from row to row */
    const void *cell_before; /* LSTM */
    void *cell;              /* LSTM: made by forward, read by backward */
    void *out;               /* the state; backward (rnn) reads it */
    int64_t out_row;
    /* backward only */
    const void *dy; /* from above, rows as out's */
    void *dh, *dc;  /* from the step behind; become those for the step before, dh without the products' share */
    void *dx_gates; /* gradients of what x contributes to the gates (3 blocks for GRU), */
    void *dh_gates; /* GRU: of what the state before does */
} mxci_rnn_step;

/* Rows begin..end-1. */
typedef void (*mxci_rnn_fn)(const mxci_rnn_step *s, int64_t begin, int64_t end);
typedef struct mxci_rnn_kernels {
    mxci_rnn_fn forward[MXCI_RNN_MODES], backward[MXCI_RNN_MODES];
} mxci_rnn_kernels;

extern const mxci_rnn_kernels mxci_rnn_f32, mxci_rnn_f64;

#endif
