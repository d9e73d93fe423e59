/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RNN: layers of recurrent units over a sequence, in one or both directions; the parameters in one vector. This file
 * describes the operator; rnn_run.c computes it on the CPU.
 *
 * data (T,N,I), state and state_cell (layers x directions, N, H), output (T,N, directions x H). For each layer,
 * direction and step, with x the layer's input, h the previous state, W, R, b, c the layer's parameters, s the sigmoid:
 *   rnn:  h' = f(W x + b + R h + c), f = max(., 0) or tanh
 *   lstm: i, f, o = s(...), g = tanh(...) of four such sums in the order i, f, g, o; C' = f C + i g, h' = o tanh(C')
 *         with projection_size also h' = P o tanh(C'), of that many elements instead of H
 *   gru:  r, z = s(...); n = tanh(W x + b + r (R h + c)); h' = (1 - z) n + z h, in the order r, z, n
 * The vector holds W (gates x H, inputs), R (gates x H, hidden) and P (hidden, H) of each layer and direction, then all
 * b and c; hidden is the number of elements of a state. In training a share p of a layer's output is dropped on the way
 * to the next layer.
 *
 * W x + b is one product for all steps of a layer and direction; R h + c takes one product per step. Forward saves what
 * backward reads in the reserve space, the hidden output `reserve`: for each layer the gates and LSTM's cells, the
 * layer's output and the dropout mask of its input (rnn.h). Without that output it needs the reserve of two layers, the
 * one that it computes and the one below, in scratch. The reserve space has no meaning outside; every request but null
 * overwrites it. Formulas and packing of the parameters are those of MXNet's RNN and of cuDNN.
 *
 * With sequence_length (N), the steps after the end of a sequence keep its state: the first direction ends there with
 * the state after its last step, and the second still has the initial state when it comes to it. So the states after
 * the last step and the products over all steps need no other code; only the output is 0 there, its gradient is not
 * read, and gradients of gates are 0.
 */
#include "operator/nn/rnn.h"

#include <math.h>

#include "operator/index/rows.h"
#include "operator/nn/rnn_run.h"

typedef mxci_rnn_params rnn_params;

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(rnn_params, state_size), .name = "state_size", .type = MXC_PARAM_INT, .bounded = 1, .minimum = 1,
     .maximum = 1e6, .doc = "Number of hidden units per layer and direction, H."},
    {MXC_PARAM_FIELD(rnn_params, num_layers), .name = "num_layers", .type = MXC_PARAM_INT, .bounded = 1, .minimum = 1,
     .maximum = 1e4, .doc = "Number of layers."},
    {MXC_PARAM_FIELD(rnn_params, bidirectional), .name = "bidirectional", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "Process the sequence in both directions."},
    {MXC_PARAM_FIELD(rnn_params, mode), .name = "mode", .type = MXC_PARAM_ENUM, .choices = "rnn_relu,rnn_tanh,lstm,gru",
     .doc = "Type of the recurrent unit."},
    {MXC_PARAM_FIELD(rnn_params, p), .name = "p", .type = MXC_PARAM_FLOAT, .initial = "0", .bounded = 1, .minimum = 0,
     .maximum = 1, .doc = "Dropout probability between layers in training."},
    {MXC_PARAM_FIELD(rnn_params, state_outputs), .name = "state_outputs", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "Return the states after the last step as outputs."},
    {MXC_PARAM_FIELD(rnn_params, projection_size), .name = "projection_size", .type = MXC_PARAM_INT, .initial = "None",
     .optional = 1, .bounded = 1, .minimum = 1, .maximum = 1e6,
     .doc = "Number of elements to which an LSTM's output and state are projected. None: they have H."},
    {MXC_PARAM_FIELD(rnn_params, clip_min), .name = "lstm_state_clip_min", .type = MXC_PARAM_FLOAT, .initial = "None",
     .optional = 1, .doc = "Accepted for compatibility with MXNet. Only None is supported."},
    {MXC_PARAM_FIELD(rnn_params, clip_max), .name = "lstm_state_clip_max", .type = MXC_PARAM_FLOAT, .initial = "None",
     .optional = 1, .doc = "Accepted for compatibility with MXNet. Only None is supported."},
    {MXC_PARAM_FIELD(rnn_params, clip_nan), .name = "lstm_state_clip_nan", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "Accepted for compatibility with MXNet; has no effect."},
    {MXC_PARAM_FIELD(rnn_params, use_sequence_length), .name = "use_sequence_length", .type = MXC_PARAM_BOOL,
     .initial = "False",
     .doc =
         "Use the argument sequence_length (N), the numbers of steps of the sequences: each ends there, in the second "
         "direction begins there, and the output is 0 after it. Otherwise all have T steps."},
    MXC_PARAM_END,
};

/* The limits of cells are parameters of MXNet 1.x that are accepted with their default values only. */
static mxc_status rnn_check_params(void *params) {
    const rnn_params *p = params;
    if (p->projection_size != MXC_PARAM_UNSET && !mxci_rnn_is_lstm(p))
        return MXC_FAIL(MXC_EINVAL, "RNN: projection_size is for mode lstm only");
    if (!isnan(p->clip_min) || !isnan(p->clip_max))
        return MXC_FAIL(MXC_EUNSUPPORTED, "RNN: lstm_state_clip_min and lstm_state_clip_max are not supported");
    return MXC_OK;
}

static int64_t hidden_of(const rnn_params *p) {
    return p->projection_size != MXC_PARAM_UNSET ? p->projection_size : p->state_size;
}

static int rnn_n_args(const void *params) {
    const rnn_params *p = params;
    return (mxci_rnn_is_lstm(p) ? 4 : 3) + p->use_sequence_length;
}

static const char *rnn_args_of(const void *params) {
    return mxci_rnn_is_lstm(params) ? "data,parameters,state,state_cell,sequence_length"
                                    : "data,parameters,state,sequence_length";
}

static int rnn_n_visible(const void *params) {
    return mxci_rnn_n_visible(params);
}

static void rnn_backward_needs(const void *params, mxc_op_needs *needs) {
    needs->in = (1u << rnn_n_args(params)) - 1;
    needs->out_grad = (1u << rnn_n_visible(params)) - 1;
}

/* ---- inference --------------------------------------------------------------------------------------------------- */

/* Whether int64_t holds the sizes, with room for the products that are made of them. */
static int rnn_sizes_fit(const rnn_params *p, const mxc_shape *data) {
    const int64_t hidden = hidden_of(p);
    double units = (double)(hidden > p->state_size ? hidden : p->state_size), layers = (double)p->num_layers;
    double width = units * (p->bidirectional ? 2 : 1), inputs = (double)data->dim[2] + width + 2 * units + 2;
    return layers * 4 * width * inputs < 1e15 && (double)data->dim[0] * (double)data->dim[1] * width * layers < 1e15;
}

/* The parameters of all layers, which follow from data's last axis, and with data known the reserve space. */
static mxc_status rnn_infer_sizes(mxc_op_sig *sig) {
    const int is_known = mxc_shape_known(&sig->in_shape[MXCI_RNN_DATA]);
    mxc_shape data = sig->in_shape[MXCI_RNN_DATA], shape;
    if (data.dim[2] < 0)
        return MXC_OK;
    if (!is_known)
        data = mxci_shape_of(3, (int64_t[]){0, 0, data.dim[2]});
    if (!rnn_sizes_fit(sig->params, &data))
        return mxc_sig_fail(sig, "the parameters or the sequence would have too many elements");
    const mxci_rnn_dims d = mxci_rnn_dims_of(sig->params, &data, MXC_F32);
    shape = mxci_shape_of(1, (int64_t[]){mxci_rnn_bias_at(&d, d.layers, 0, 0)});
    MXC_TRY(mxc_sig_set_shape(sig, MXCI_RNN_PARAMETERS, &shape));
    shape = mxci_shape_of(1, (int64_t[]){d.layers * d.layer_reserve});
    return is_known ? mxc_sig_set_shape(sig, MXC_SLOT_OUT(MXCI_RNN_RESERVE), &shape) : MXC_OK;
}

/* sequence_length has as many entries as data has sequences, both ways. */
static mxc_status infer_lengths(mxc_op_sig *sig) {
    const int lengths = mxci_rnn_lengths_arg(sig->params);
    mxc_shape expected = mxci_shape_of(1, &sig->in_shape[MXCI_RNN_DATA].dim[1]);
    if (lengths < 0)
        return MXC_OK;
    MXC_TRY(mxc_sig_set_shape(sig, lengths, &expected));
    expected = mxci_shape_of(3, (int64_t[]){-1, sig->in_shape[lengths].dim[0], -1});
    return mxc_sig_set_shape(sig, MXCI_RNN_DATA, &expected);
}

/* The states in and out have one shape, and so do the cells of an LSTM: (layers x directions, N, hidden) and (.., N,
 * H); other modes have an empty cell output. N goes both ways. */
static mxc_status infer_states(mxc_op_sig *sig) {
    const rnn_params *p = sig->params;
    const int64_t rows = (p->bidirectional ? 2 : 1) * p->num_layers;
    for (int i = 0; i < (mxci_rnn_is_lstm(p) ? 2 : 1); i++) {
        const int64_t columns = i ? p->state_size : hidden_of(p);
        mxc_shape shape = mxci_shape_of(3, (int64_t[]){rows, sig->in_shape[MXCI_RNN_DATA].dim[1], columns});
        MXC_TRY(mxc_sig_set_shape(sig, MXCI_RNN_STATE + i, &shape));
        MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){MXCI_RNN_STATE + i, MXC_SLOT_OUT(MXCI_RNN_STATE_OUT + i)}));
        shape = mxci_shape_of(3, (int64_t[]){-1, sig->in_shape[MXCI_RNN_STATE + i].dim[1], -1});
        MXC_TRY(mxc_sig_set_shape(sig, MXCI_RNN_DATA, &shape));
    }
    return mxci_rnn_is_lstm(p) ? MXC_OK
                               : mxc_sig_set_shape(sig, MXC_SLOT_OUT(MXCI_RNN_STATE_CELL_OUT), &(mxc_shape){.ndim = 1});
}

/* data (T, N, input), out (T, N, directions x hidden). T and N go both ways. */
static mxc_status rnn_infer_shape(mxc_op_sig *sig) {
    const rnn_params *p = sig->params;
    mxc_shape *data = &sig->in_shape[MXCI_RNN_DATA], *out = &sig->out_shape[MXCI_RNN_OUT], axes = mxci_shape_axes(3);
    MXC_TRY(mxc_sig_set_shape(sig, MXCI_RNN_DATA, &axes));
    MXC_TRY(infer_lengths(sig));
    MXC_TRY(infer_states(sig));
    axes = mxci_shape_of(3, (int64_t[]){data->dim[0], data->dim[1], (p->bidirectional ? 2 : 1) * hidden_of(p)});
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(MXCI_RNN_OUT), &axes));
    axes = mxci_shape_of(3, (int64_t[]){out->dim[0], out->dim[1], -1});
    MXC_TRY(mxc_sig_set_shape(sig, MXCI_RNN_DATA, &axes));
    MXC_TRY(infer_states(sig));
    MXC_TRY(infer_lengths(sig));
    return rnn_infer_sizes(sig);
}

static mxc_status rnn_infer_type(mxc_op_sig *sig) {
    int slots[] = {
        MXCI_RNN_DATA,
        MXCI_RNN_PARAMETERS,
        MXCI_RNN_STATE,
        MXC_SLOT_OUT(MXCI_RNN_OUT),
        MXC_SLOT_OUT(MXCI_RNN_STATE_OUT),
        MXC_SLOT_OUT(MXCI_RNN_STATE_CELL_OUT),
        MXCI_RNN_STATE_CELL,
    };
    const int lengths = mxci_rnn_lengths_arg(sig->params);
    MXC_TRY(mxci_sig_same_type(sig, mxci_rnn_is_lstm(sig->params) ? 7 : 6, slots));
    if (sig->in_type[MXCI_RNN_DATA] == MXC_DTYPE_UNKNOWN)
        return MXC_OK;
    if (lengths >= 0 && sig->in_type[lengths] == MXC_DTYPE_UNKNOWN)
        MXC_TRY(mxc_sig_set_type(sig, lengths, sig->in_type[MXCI_RNN_DATA]));
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(MXCI_RNN_RESERVE), mxci_compute_type(sig->in_type[MXCI_RNN_DATA]));
}

/* A sequence has 0 to T steps. */
static mxc_status rnn_check_values(const mxc_op_call *call) {
    const int lengths = mxci_rnn_lengths_arg(call->params);
    if (lengths < 0)
        return MXC_OK;
    return mxci_check_indices(call, lengths, 0, mxci_tensor_size(&call->in[lengths]), 0,
                              call->in[MXCI_RNN_DATA].shape.dim[0] + 1);
}

const mxc_op_def mxci_op_rnn = {
    .size = sizeof(mxc_op_def),
    .name = "RNN",
    .doc = "Recurrent layers: output (T,N,H), or (T,N,2H) if bidirectional, for data (T,N,I) and the initial state and "
           "state_cell (layers, doubled if bidirectional; N; H). parameters holds the input and state weights of each "
           "layer and direction, then their input and state biases. sequence_length (N) ends sequences before T",
    .params = schema,
    .param_size = sizeof(rnn_params),
    .params_check = rnn_check_params,
    .args = "data,parameters,state,state_cell,sequence_length",
    .outputs = "output,state_output,statecell_output,reserve",
    .n_args = rnn_n_args,
    .args_of = rnn_args_of,
    .n_visible = rnn_n_visible,
    .infer_shape = rnn_infer_shape,
    .infer_type = rnn_infer_type,
    .dtypes = MXC_DTYPES_FLOAT,
    .cpu_dtypes = MXC_DTYPES_REAL,
    .needs =
        {
            .out_grad = 1 << MXCI_RNN_OUT,
            .out = 1 << MXCI_RNN_RESERVE,
        },
    .backward_needs = rnn_backward_needs,
    .temp_bytes = mxci_rnn_temp_bytes,
    .random_count = mxci_rnn_random_count,
    .check_values = rnn_check_values,
    .forward = {[MXC_CPU] = mxci_rnn_forward},
    .backward = {[MXC_CPU] = mxci_rnn_backward},
};
