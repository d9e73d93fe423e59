/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What RNN on the CPU and on the GPU share: parameters, sizes, and the offsets of weights and biases in the vector of
 * parameters (the packing of MXNet and cuDNN) and of the parts of a layer's reserve space.
 */
#ifndef MXCI_OPERATOR_NN_RNN_H
#define MXCI_OPERATOR_NN_RNN_H

#include "math/assign.h"
#include "math/tile_kernels.h"
#include "operator/infer.h"
#include "operator/nn/rnn_kernels.h"

typedef struct mxci_rnn_params {
    int64_t state_size, num_layers, projection_size;
    double p, clip_min, clip_max;
    int32_t bidirectional, mode, state_outputs, use_sequence_length, clip_nan;
} mxci_rnn_params;

/* The operator's arguments and outputs. */
enum { MXCI_RNN_DATA, MXCI_RNN_PARAMETERS, MXCI_RNN_STATE, MXCI_RNN_STATE_CELL };
enum { MXCI_RNN_OUT, MXCI_RNN_STATE_OUT, MXCI_RNN_STATE_CELL_OUT, MXCI_RNN_RESERVE };

static inline int mxci_rnn_is_lstm(const void *params) {
    return ((const mxci_rnn_params *)params)->mode == MXCI_RNN_LSTM;
}

static inline int mxci_rnn_n_visible(const void *params) {
    const mxci_rnn_params *p = (const mxci_rnn_params *)params;
    return !p->state_outputs ? 1 : mxci_rnn_is_lstm(p) ? 3 : 2;
}

/* Which argument holds the sequences' lengths; -1: none does, all have T steps. */
static inline int mxci_rnn_lengths_arg(const mxci_rnn_params *p) {
    return !p->use_sequence_length ? -1 : mxci_rnn_is_lstm(p) ? 4 : 3;
}

/* Sizes, as counts of elements. Those of the reserve space and of scratch are elements of type.
 *
 * A layer's part of the reserve space is, one after the other:
 *   saved gates  (directions, T, N, saved_gates H)
 *   cells        (directions, T, N, H), LSTM only
 *   units        (directions, T, N, H), with a projection only: o tanh(C), which it reads
 *   output       (T, N, directions hidden)
 *   mask         (T, N, directions hidden) of the dropout on the layer's input, with p > 0 only */
typedef struct mxci_rnn_dims {
    int64_t t, n, i, h; /* steps, samples, inputs of the first layer, units */
    int64_t hidden;     /* elements of a state: projection_size, or H without a projection */
    int projected;
    int64_t layers, directions;
    int64_t gates;               /* blocks of H rows in W and R: rnn 1, LSTM 4, GRU 3 */
    int64_t saved_gates;         /* blocks of H in the saved gates: GRU saves R_n h + c_n as a fourth */
    int64_t rows, width;         /* T N; outputs of a layer, directions hidden */
    int64_t cells, units, masks; /* of one layer; 0 where it has none */
    int64_t layer_reserve;       /* the reserve space of one layer */
    mxc_dtype type;              /* f32 or f64 */
} mxci_rnn_dims;

static inline mxci_rnn_dims mxci_rnn_dims_of(const mxci_rnn_params *p, const mxc_shape *data, mxc_dtype type) {
    mxci_rnn_dims d;
    d.t = data->dim[0], d.n = data->dim[1], d.i = data->dim[2];
    d.h = p->state_size;
    d.projected = p->projection_size != MXC_PARAM_UNSET;
    d.hidden = d.projected ? p->projection_size : d.h;
    d.layers = p->num_layers;
    d.directions = p->bidirectional ? 2 : 1;
    d.gates = p->mode == MXCI_RNN_LSTM ? 4 : p->mode == MXCI_RNN_GRU ? 3 : 1;
    d.saved_gates = p->mode == MXCI_RNN_GRU ? 4 : d.gates;
    d.rows = d.t * d.n;
    d.width = d.directions * d.hidden;
    d.cells = p->mode == MXCI_RNN_LSTM ? d.rows * d.directions * d.h : 0;
    d.units = d.projected ? d.rows * d.directions * d.h : 0;
    d.masks = p->p > 0 ? d.rows * d.width : 0;
    d.layer_reserve = d.rows * (d.directions * d.h * d.saved_gates + d.width) + d.cells + d.units + d.masks;
    d.type = mxci_compute_type(type);
    return d;
}

/* Elements of one row that a layer reads. */
static inline int64_t mxci_rnn_inputs_of(const mxci_rnn_dims *d, int64_t layer) {
    return layer ? d->width : d->i;
}

/* Elements of the weights of one direction of a layer. */
static inline int64_t mxci_rnn_weights_of(const mxci_rnn_dims *d, int64_t layer) {
    return d->gates * d->h * (mxci_rnn_inputs_of(d, layer) + d->hidden) + (d->projected ? d->hidden * d->h : 0);
}

/* Offset of W (which 0), R (1) or P (2) of a layer and direction in the vector of parameters, and of b (0) or c (1).
 * All weights come first, then all biases. */
static inline int64_t mxci_rnn_weight_at(const mxci_rnn_dims *d, int64_t layer, int direction, int which) {
    const int64_t rows = d->gates * d->h, inputs = mxci_rnn_inputs_of(d, layer), each = mxci_rnn_weights_of(d, layer);
    const int64_t below = layer ? d->directions * (mxci_rnn_weights_of(d, 0) + (layer - 1) * each) : 0;
    return below + direction * each + (which > 0 ? rows * inputs : 0) + (which > 1 ? rows * d->hidden : 0);
}
static inline int64_t mxci_rnn_bias_at(const mxci_rnn_dims *d, int64_t layer, int direction, int which) {
    return mxci_rnn_weight_at(d, d->layers, 0, 0) + ((layer * d->directions + direction) * 2 + which) * d->gates * d->h;
}

/* Offsets in a layer's part of the reserve space. */
static inline int64_t mxci_rnn_gates_at(const mxci_rnn_dims *d, int direction) {
    return direction * d->rows * d->saved_gates * d->h;
}
static inline int64_t mxci_rnn_cells_at(const mxci_rnn_dims *d, int direction) {
    return mxci_rnn_gates_at(d, (int)d->directions) + direction * d->rows * d->h;
}
static inline int64_t mxci_rnn_units_at(const mxci_rnn_dims *d, int direction) {
    return mxci_rnn_gates_at(d, (int)d->directions) + d->cells + direction * d->rows * d->h;
}
static inline int64_t mxci_rnn_out_at(const mxci_rnn_dims *d) {
    return mxci_rnn_gates_at(d, (int)d->directions) + d->cells + d->units;
}
static inline int64_t mxci_rnn_mask_at(const mxci_rnn_dims *d) {
    return mxci_rnn_out_at(d) + d->rows * d->width;
}

/* Index of step s in the sequence, which the second direction reads from its end; -1 for the initial state. */
static inline int64_t mxci_rnn_time(const mxci_rnn_dims *d, int direction, int64_t s) {
    return s < 0 ? -1 : direction ? d->t - 1 - s : s;
}

#endif
