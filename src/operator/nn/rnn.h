/* SPDX-License-Identifier: Apache-2.0 */
/* What the forms of RNN share: parameters, sizes, and where things stand in the vector of parameters and in records. */
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

static inline int mxci_rnn_n_visible(const void *params) {
    const mxci_rnn_params *p = (const mxci_rnn_params *)params;
    return !p->state_outputs ? 1 : p->mode == MXCI_RNN_LSTM ? 3 : 2;
}

/* Counts of elements; in scratch and record in those of type. */
typedef struct mxci_rnn_dims {
    int64_t t, n, i, h, layers, ways, gates; /* gates: blocks of h that W and R have rows for */
    int64_t rows, width;                     /* T N, and what a layer gives: ways H */
    int64_t kept;                            /* blocks of h in a record's gates */
    int64_t cells, masks;                    /* of a record, of all ways */
    int64_t record;
    mxc_dtype type; /* f32 or f64 */
} mxci_rnn_dims;

static inline mxci_rnn_dims mxci_rnn_dims_of(const mxci_rnn_params *p, const mxc_shape *data, mxc_dtype type) {
    mxci_rnn_dims d;
    d.t = data->dim[0], d.n = data->dim[1], d.i = data->dim[2];
    d.h = p->state_size;
    d.layers = p->num_layers;
    d.ways = p->bidirectional ? 2 : 1;
    d.gates = p->mode == MXCI_RNN_LSTM ? 4 : p->mode == MXCI_RNN_GRU ? 3 : 1;
    d.kept = p->mode == MXCI_RNN_GRU ? 4 : d.gates;
    d.rows = d.t * d.n;
    d.width = d.ways * d.h;
    d.cells = p->mode == MXCI_RNN_LSTM ? d.rows * d.width : 0;
    d.masks = p->p > 0 ? d.rows * d.width : 0;
    d.record = d.rows * d.width * (d.kept + 1) + d.cells + d.masks;
    d.type = mxci_compute_type(type);
    return d;
}

static inline int64_t mxci_rnn_inputs_of(const mxci_rnn_dims *d, int64_t layer) {
    return layer ? d->width : d->i;
}

/* Where W (which 0) or R (1) of a layer and way begins, and where b or c. */
static inline int64_t mxci_rnn_weight_at(const mxci_rnn_dims *d, int64_t layer, int way, int which) {
    int64_t rows = d->gates * d->h, at = 0, inputs = mxci_rnn_inputs_of(d, layer);
    if (layer > 0)
        at = d->ways * rows * (d->i + d->h) + (layer - 1) * d->ways * rows * (d->width + d->h);
    return at + way * rows * (inputs + d->h) + (which ? rows * inputs : 0);
}
static inline int64_t mxci_rnn_bias_at(const mxci_rnn_dims *d, int64_t layer, int way, int which) {
    return mxci_rnn_weight_at(d, d->layers, 0, 0) + ((layer * d->ways + way) * 2 + which) * d->gates * d->h;
}

/* Where the parts of a layer's record begin. */
static inline int64_t mxci_rnn_gates_at(const mxci_rnn_dims *d, int way) {
    return way * d->rows * d->kept * d->h;
}
static inline int64_t mxci_rnn_cells_at(const mxci_rnn_dims *d, int way) {
    return d->rows * d->width * d->kept + way * d->rows * d->h;
}
static inline int64_t mxci_rnn_out_at(const mxci_rnn_dims *d) {
    return d->rows * d->width * d->kept + d->cells;
}
static inline int64_t mxci_rnn_mask_at(const mxci_rnn_dims *d) {
    return mxci_rnn_out_at(d) + d->rows * d->width;
}

/* The time of step s; -1: of the initial state. */
static inline int64_t mxci_rnn_time(const mxci_rnn_dims *d, int way, int64_t s) {
    return s < 0 ? -1 : way ? d->t - 1 - s : s;
}

#endif
