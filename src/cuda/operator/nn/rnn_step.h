/* SPDX-License-Identifier: Apache-2.0 */
/* One step of a recurrent layer in one direction on the GPU, after the matrix products: as operator/nn/rnn_kernels.h,
 * but that biases are added here, and that sums and cells are of the compute type R, states and gradients of data's T.
 */
#ifndef MXCI_CUDA_OPERATOR_NN_RNN_STEP_H
#define MXCI_CUDA_OPERATOR_NN_RNN_STEP_H

#include "cuda/operator/index/index.h"
#include "cuda/runtime/kernel.h"

template <class T> struct mxcu_rnn_step {
    using R = mxcu_compute_t<T>;
    int mode;      /* MXCI_RNN_... */
    int projected; /* out is o tanh(C), which a projection reads, not the state */
    int64_t n, h;
    R *gates;         /* (n, saved_gates h) */
    const R *h_sums;  /* GRU (n, 3 h) */
    const T *bias[2]; /* b and c */
    const T *h_prev;  /* rows of h_prev_row elements */
    int64_t h_prev_row;
    const R *c_prev; /* LSTM (n,h) */
    R *c;
    T *out; /* rows of out_row elements */
    int64_t out_row;
    int has_lengths; /* sequences end at lengths, at most `steps`: their states and gradients stay as they are after */
    mxcu_numbers lengths;
    int64_t time, steps;
    /* backward only */
    const T *dy; /* as out */
    R *dh,
        *dc; /* (n,h); the product dgates R is still to be added to dh for GRU and with lengths, else to replace it */
    T *dx_gates; /* (n, gates h) */
    T *dh_gates; /* GRU */
};

template <class T> mxc_status mxcu_rnn_forward(const mxc_op_call *call, const mxcu_rnn_step<T> *step);
template <class T> mxc_status mxcu_rnn_backward(const mxc_op_call *call, const mxcu_rnn_step<T> *step);

#endif
