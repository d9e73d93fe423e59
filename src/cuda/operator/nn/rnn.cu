/* SPDX-License-Identifier: Apache-2.0 */
/* RNN by libmxc's own kernels, as operator/nn/rnn.c computes it: W x is one product for all steps of a layer and
 * direction; then each step has one product R h and one kernel (rnn_step.cu), queued one after the other on the call's
 * stream, since each step needs the state before. Operands of products are of data's type T; their sums, gates and
 * cells of the compute type R. The reserve of a layer holds its output as elements of T; else it is as on the CPU
 * (operator/nn/rnn.h). */
#include "cuda/operator/nn/bias.h"
#include "cuda/runtime/blas.h"
#include "cuda/operator/random/random.h"
#include "cuda/operator/nn/rnn_library.h"
#include "cuda/operator/nn/rnn_step.h"
#include "cuda/runtime/gradient.h"
#include "operator/nn/rnn.h"

enum { DATA, PARAMETERS, STATE, STATE_CELL };
enum { OUT, STATE_OUT, STATE_CELL_OUT, RESERVE };

/* One run. Letters: T steps, N samples, H units, D directions; rows is T N, width D hidden; hidden is H, or what states
 * are projected to. */
template <class T> struct rnn {
    using R = mxcu_compute_t<T>;
    const mxc_op_call *call;
    const mxci_rnn_params *p;
    mxci_rnn_dims d;
    R *reserve;
    int64_t reserve_layers;
    T *input;             /* of layers above the first, with the mask applied (rows, width); only with masks */
    R *cell;              /* LSTM: the initial cell (N,H) */
    R *h_product;         /* forward, GRU: R h (N, gates H) */
    T *grad[2];           /* backward: of the layers' outputs in turn (rows, width) */
    T *x_gates, *h_gates; /* backward: gradients of the gates (rows, gates H), one memory but for GRU */
    R *dh, *dc;           /* backward: of the states (N, hidden) and cells (N,H) */
    T *state_grad;        /* backward with a projection: of the states after each step (rows, hidden), */
    R *unit_grad;         /* of o tanh(C) of a step (N,H), */
    T *no_grad;           /* and zeros (H) */
    T *ones;              /* backward: (rows) */
};

/* ---- scratch ----------------------------------------------------------------------------------------------------- */

/* Sets *to to the next n elements of scratch; returns the bytes up to their end. */
template <class E> static size_t take(char *scratch, size_t used, int64_t n, E **to) {
    *to = scratch ? reinterpret_cast<E *>(scratch + used) : nullptr;
    return used + (((size_t)n * sizeof(E) + 255) & ~(size_t)255);
}

/* Hands out the arrays in scratch and returns its size; scratch is NULL where only the size is wanted. Without a
 * reserve output the saved values of two layers are enough: a layer reads those of the one below. */
template <class T> static size_t divide(rnn<T> *r, mxc_pass pass, char *scratch) {
    const mxci_rnn_dims *d = &r->d;
    const int is_gru = r->p->mode == MXCI_RNN_GRU;
    size_t used = take(scratch, 0, d->masks, &r->input);
    used = take(scratch, used, d->n * d->h, &r->cell);
    if (pass == MXC_FORWARD) {
        r->reserve_layers = d->layers < 2 ? d->layers : 2;
        used = take(scratch, used, r->reserve_layers * d->layer_reserve, &r->reserve);
        return take(scratch, used, is_gru ? d->n * d->gates * d->h : 0, &r->h_product);
    }
    for (T *&grad : r->grad)
        used = take(scratch, used, d->layers > 1 ? d->rows * d->width : 0, &grad);
    used = take(scratch, used, d->n * d->hidden, &r->dh);
    used = take(scratch, used, d->n * d->h, &r->dc);
    used = take(scratch, used, d->projected ? d->rows * d->hidden : 0, &r->state_grad);
    used = take(scratch, used, d->projected ? d->n * d->h : 0, &r->unit_grad);
    used = take(scratch, used, d->projected ? d->h : 0, &r->no_grad);
    used = take(scratch, used, d->rows, &r->ones);
    used = take(scratch, used, d->rows * d->gates * d->h, &r->x_gates);
    r->h_gates = r->x_gates;
    return is_gru ? take(scratch, used, d->rows * d->gates * d->h, &r->h_gates) : used;
}

template <class T> static mxc_status measure(const mxc_op_sig *sig, mxc_pass pass, size_t *out) {
    rnn<T> r = {};
    r.p = static_cast<const mxci_rnn_params *>(sig->params);
    r.d = mxci_rnn_dims_of(r.p, &sig->in_shape[DATA], sig->in_type[DATA]);
    *out = divide(&r, pass, nullptr);
    return MXC_OK;
}

static mxc_status measure_any(const mxc_op_sig *sig, mxc_pass pass, size_t *out) {
    MXCU_SWITCH_FLOAT(sig->in_type[DATA], measure, sig, pass, out)
}

static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    size_t bytes = 0, library = mxcu_rnn_library_temp(sig, pass);
    if (measure_any(sig, pass, &bytes) != MXC_OK)
        return 0;
    return bytes > library ? bytes : library;
}

template <class T> static rnn<T> open_run(const mxc_op_call *call, mxc_pass pass) {
    rnn<T> r = {};
    r.call = call;
    r.p = static_cast<const mxci_rnn_params *>(call->params);
    r.d = mxci_rnn_dims_of(r.p, &call->in[DATA].shape, call->in[DATA].dtype);
    divide(&r, pass, static_cast<char *>(call->temp));
    if (pass == MXC_BACKWARD || call->req[RESERVE] != MXC_REQ_NULL) {
        r.reserve = static_cast<mxcu_compute_t<T> *>(call->out[RESERVE].data);
        r.reserve_layers = r.d.layers;
    }
    return r;
}

/* ---- parts of arrays --------------------------------------------------------------------------------------------- */

template <class T> static mxcu_compute_t<T> *reserve_of(const rnn<T> &r, int64_t layer) {
    return r.reserve + layer % r.reserve_layers * r.d.layer_reserve;
}
template <class T> static mxcu_compute_t<T> *gates_of(const rnn<T> &r, int64_t layer, int direction) {
    return reserve_of(r, layer) + mxci_rnn_gates_at(&r.d, direction);
}
template <class T> static T *units_of(const rnn<T> &r, int64_t layer, int direction) {
    return reinterpret_cast<T *>(reserve_of(r, layer) + mxci_rnn_units_at(&r.d, direction));
}
template <class T> static T *out_of(const rnn<T> &r, int64_t layer) {
    return reinterpret_cast<T *>(reserve_of(r, layer) + mxci_rnn_out_at(&r.d));
}

/* A layer's and direction's rows (N, hidden) of a state, (N,H) of a cell, which may be without memory. */
template <class T> static T *state_of(const rnn<T> &r, const mxc_tensor *state, int64_t layer, int direction) {
    const int64_t before = (layer * r.d.directions + direction) * r.d.n;
    return state->data ? static_cast<T *>(state->data) + before * state->shape.dim[2] : nullptr;
}
template <class T> static const T *weight_of(const rnn<T> &r, int64_t layer, int direction, int which) {
    return static_cast<const T *>(r.call->in[PARAMETERS].data) + mxci_rnn_weight_at(&r.d, layer, direction, which);
}

/* Rows (N, hidden) of the state after step s (-1: the initial one), and the elements from one row to the next. */
template <class T> static T *state_after(const rnn<T> &r, int64_t layer, int direction, int64_t s, int64_t *row) {
    *row = s < 0 ? r.d.hidden : r.d.width;
    return s < 0 ? state_of(r, &r.call->in[STATE], layer, direction)
                 : out_of(r, layer) + mxci_rnn_time(&r.d, direction, s) * r.d.n * r.d.width + direction * r.d.hidden;
}
template <class T> static mxcu_compute_t<T> *cell_after(const rnn<T> &r, int64_t layer, int direction, int64_t s) {
    return s < 0 ? r.cell
                 : reserve_of(r, layer) + mxci_rnn_cells_at(&r.d, direction) +
                       mxci_rnn_time(&r.d, direction, s) * r.d.n * r.d.h;
}

template <class T> static mxcu_rnn_step<T> step_of(const rnn<T> &r, int64_t layer, int direction, int64_t s) {
    const T *parameters = static_cast<const T *>(r.call->in[PARAMETERS].data);
    mxcu_rnn_step<T> step = {};
    step.mode = r.p->mode;
    step.n = r.d.n, step.h = r.d.h;
    step.h_sums = r.h_product;
    step.gates = gates_of(r, layer, direction) + mxci_rnn_time(&r.d, direction, s) * r.d.n * r.d.saved_gates * r.d.h;
    step.h_prev = state_after(r, layer, direction, s - 1, &step.h_prev_row);
    step.out = state_after(r, layer, direction, s, &step.out_row);
    step.projected = r.d.projected;
    if (r.d.projected) { /* what the projection reads takes the place of the state */
        step.out = units_of(r, layer, direction) + mxci_rnn_time(&r.d, direction, s) * r.d.n * r.d.h;
        step.out_row = r.d.h;
    }
    for (int i = 0; i < 2; i++)
        step.bias[i] = parameters + mxci_rnn_bias_at(&r.d, layer, direction, i);
    if (r.p->mode == MXCI_RNN_LSTM) {
        step.c_prev = cell_after(r, layer, direction, s - 1);
        step.c = cell_after(r, layer, direction, s);
    }
    step.has_lengths = r.p->use_sequence_length;
    step.time = mxci_rnn_time(&r.d, direction, s), step.steps = r.d.t;
    if (step.has_lengths)
        step.lengths = mxcu_numbers_of(&r.call->in[mxci_rnn_lengths_arg(r.p)]);
    return step;
}

/* wide: c is of type R. */
template <class T> static mxc_status rnn_gemm(const rnn<T> &r, mxci_gemm_args g, int wide) {
    g.dtype = r.call->in[DATA].dtype;
    g.alpha = 1;
    g.batch = 1;
    return wide ? mxcu_gemm_wide(r.call, &g) : mxcu_gemm(r.call, &g);
}

/* to (N,H) = or += from, whose rows are `row` elements apart; from NULL: 0. A team per row. */
template <class To, class From>
static mxc_status move(const mxc_op_call *call, mxc_req req, int64_t n, int64_t h, To *to, From *from, int64_t row) {
    mxcu_in<From> x = {mxcu_pointer<From>(from)};
    mxcu_out<To> y = {mxcu_pointer<To>(to), req == MXC_REQ_ADD};
    const int zero = from == nullptr;
    if (req == MXC_REQ_NULL)
        return MXC_OK;
    return mxcu_rows(call, n, h, [=] MXCU_LAMBDA(int64_t i, mxcu_team team) {
        for (int64_t j = team.rank; j < h; j += team.size)
            y.put(i * h + j, zero ? 0 : x[i * row + j]);
    });
}

/* ---- dropout between layers -------------------------------------------------------------------------------------- */

/* to = from times the mask of a layer's input, which is drawn first if make is set. A thread per element; the numbers
 * of the random range are counted per layer, as on the CPU. */
template <class T> static mxc_status drop(const rnn<T> &r, int64_t layer, T *from, T *to, int make) {
    using R = mxcu_compute_t<T>;
    const double keep = r.call->is_train ? 1 - r.p->p : 1;
    const R scale = keep > 0 ? (R)(1 / keep) : 0;
    const float limit = (float)keep;
    const mxcu_random random = mxcu_random_of(r.call);
    const uint64_t first = (uint64_t)((layer - 1) * r.d.masks);
    mxcu_in<T> x = {mxcu_pointer<T>(from)};
    mxcu_out<T> y = {mxcu_pointer<T>(to), 0};
    R *mask = mxcu_pointer<R>(reserve_of(r, layer) + mxci_rnn_mask_at(&r.d));
    return mxcu_for(r.call, r.d.masks, [=] MXCU_LAMBDA(int64_t i) {
        if (make)
            mask[i] = mxc_philox_float(random(first + (uint64_t)i)) < limit ? scale : 0;
        y.put(i, x[i] * mask[i]);
    });
}

/* The layer's input (rows, inputs), with dropout applied. */
template <class T> static mxc_status input_of(const rnn<T> &r, int64_t layer, int make, const T **out) {
    *out = layer == 0 ? static_cast<const T *>(r.call->in[DATA].data) : r.d.masks ? r.input : out_of(r, layer - 1);
    return layer && r.d.masks ? drop(r, layer, out_of(r, layer - 1), r.input, make) : MXC_OK;
}

/* LSTM: the initial cell. */
template <class T> static mxc_status load_first_cells(const rnn<T> &r, int64_t layer, int direction) {
    if (r.p->mode != MXCI_RNN_LSTM)
        return MXC_OK;
    return move(r.call, MXC_REQ_WRITE, r.d.n, r.d.h, r.cell, state_of(r, &r.call->in[STATE_CELL], layer, direction),
                r.d.h);
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

/* gates = x W', for all steps at once. */
template <class T> static mxc_status project_input(const rnn<T> &r, int64_t layer, int direction, const T *x) {
    const int64_t k = mxci_rnn_inputs_of(&r.d, layer);
    mxci_gemm_args g = MXCI_GEMM_INIT;
    g.transpose_b = 1;
    g.m = r.d.rows, g.n = r.d.gates * r.d.h, g.k = k;
    g.a = x, g.lda = k;
    g.b = weight_of(r, layer, direction, 0), g.ldb = k;
    g.c = gates_of(r, layer, direction), g.ldc = r.d.saved_gates * r.d.h;
    return rnn_gemm(r, g, 1);
}

/* h = P o tanh(C); the rows after the end of their sequence keep their state. */
template <class T>
static mxc_status project_states(const rnn<T> &r, int64_t layer, int direction, int64_t s,
                                 const mxcu_rnn_step<T> &step) {
    const int64_t hidden = r.d.hidden, before_row = step.h_prev_row;
    int64_t row;
    T *state = state_after(r, layer, direction, s, &row);
    mxci_gemm_args g = MXCI_GEMM_INIT;
    g.transpose_b = 1;
    g.m = r.d.n, g.n = hidden, g.k = r.d.h;
    g.a = step.out, g.lda = r.d.h;
    g.b = weight_of(r, layer, direction, 2), g.ldb = r.d.h;
    g.c = state, g.ldc = row;
    MXC_TRY(rnn_gemm(r, g, 0));
    if (!step.has_lengths)
        return MXC_OK;
    const mxcu_numbers lengths = step.lengths;
    const int64_t time = step.time, steps = step.steps;
    T *to = mxcu_pointer<T>(state), *from = mxcu_pointer<T>((void *)step.h_prev);
    return mxcu_rows(r.call, r.d.n, hidden, [=] MXCU_LAMBDA(int64_t i, mxcu_team team) {
        for (int64_t j = team.rank; j < hidden && time >= lengths.length(i, steps); j += team.size)
            to[i * row + j] = from[i * before_row + j];
    });
}

/* gates += h R' and the element-wise rest of the step. GRU needs R h apart from W x, since its reset gate multiplies
 * only the former. */
template <class T> static mxc_status forward_step(const rnn<T> &r, int64_t layer, int direction, int64_t s) {
    const int is_gru = r.p->mode == MXCI_RNN_GRU;
    mxcu_rnn_step<T> step = step_of(r, layer, direction, s);
    mxci_gemm_args g = MXCI_GEMM_INIT;
    g.transpose_b = 1;
    g.m = r.d.n, g.n = r.d.gates * r.d.h, g.k = r.d.hidden;
    g.a = step.h_prev, g.lda = step.h_prev_row;
    g.b = weight_of(r, layer, direction, 1), g.ldb = r.d.hidden;
    g.c = is_gru ? r.h_product : step.gates, g.ldc = g.n;
    g.beta = !is_gru;
    MXC_TRY(rnn_gemm(r, g, 1));
    MXC_TRY(mxcu_rnn_forward(r.call, &step));
    return r.d.projected ? project_states(r, layer, direction, s, step) : MXC_OK;
}

/* The states after the last step, where they are requested. */
template <class T> static mxc_status store_states(const rnn<T> &r, int64_t layer, int direction) {
    const mxc_op_call *call = r.call;
    int64_t row;
    T *state = state_after(r, layer, direction, r.d.t - 1, &row);
    MXC_TRY(move(call, call->req[STATE_OUT], r.d.n, r.d.hidden, state_of(r, &call->out[STATE_OUT], layer, direction),
                 state, row));
    if (r.p->mode != MXCI_RNN_LSTM)
        return MXC_OK;
    return move(call, call->req[STATE_CELL_OUT], r.d.n, r.d.h,
                state_of(r, &call->out[STATE_CELL_OUT], layer, direction), cell_after(r, layer, direction, r.d.t - 1),
                r.d.h);
}

/* The output: the states of the last layer, 0 after the end of a sequence. */
template <class T> static mxc_status store_out(const rnn<T> &r) {
    const mxc_op_call *call = r.call;
    const int64_t n = r.d.n, t = r.d.t, width = r.d.width;
    T *from = out_of(r, r.d.layers - 1);
    if (!r.p->use_sequence_length || call->req[OUT] == MXC_REQ_NULL)
        return move(call, call->req[OUT], r.d.rows, width, static_cast<T *>(call->out[OUT].data), from, width);
    const mxcu_numbers lengths = mxcu_numbers_of(&call->in[mxci_rnn_lengths_arg(r.p)]);
    mxcu_in<T> x = {mxcu_pointer<T>(from)};
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[OUT], OUT);
    return mxcu_rows(call, r.d.rows, width, [=] MXCU_LAMBDA(int64_t row, mxcu_team team) {
        const int zero = row / n >= lengths.length(row % n, t);
        for (int64_t j = team.rank; j < width; j += team.size)
            y.put(row * width + j, zero ? 0 : x[row * width + j]);
    });
}

template <class T> static mxc_status forward_as(const mxc_op_call *call) {
    rnn<T> r = open_run<T>(call, MXC_FORWARD);
    for (int64_t layer = 0; layer < r.d.layers; layer++) {
        const T *x;
        MXC_TRY(input_of(r, layer, 1, &x));
        for (int direction = 0; direction < r.d.directions; direction++) {
            MXC_TRY(load_first_cells(r, layer, direction));
            MXC_TRY(project_input(r, layer, direction, x));
            for (int64_t s = 0; s < r.d.t; s++)
                MXC_TRY(forward_step(r, layer, direction, s));
            MXC_TRY(store_states(r, layer, direction));
        }
    }
    return store_out(r);
}

static mxc_status forward(const mxc_op_call *call) {
    int served;
    MXC_TRY(mxcu_rnn_library_forward(call, &served));
    if (served)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->in[DATA].dtype, forward_as, call)
}

/* ---- backward ---------------------------------------------------------------------------------------------------- */

/* With a projection, the gradient of o tanh(C) of a step from those of the state: of the output, dy, and dh, which it
 * takes. dh of rows after the end of their sequence stays as it is. */
template <class T>
static mxc_status project_gradient(const rnn<T> &r, int64_t layer, int direction, const mxcu_rnn_step<T> &step) {
    using R = mxcu_compute_t<T>;
    const int64_t hidden = r.d.hidden, width = r.d.width, time = step.time, steps = step.steps;
    const int has_lengths = step.has_lengths;
    const mxcu_numbers lengths = step.lengths;
    T *grad = r.state_grad + time * r.d.n * hidden, *to = mxcu_pointer<T>(grad);
    const T *dy = mxcu_pointer<T>((void *)step.dy);
    R *dh = mxcu_pointer<R>(r.dh);
    MXC_TRY(mxcu_rows(r.call, r.d.n, hidden, [=] MXCU_LAMBDA(int64_t i, mxcu_team team) {
        const int after = has_lengths && time >= lengths.length(i, steps);
        for (int64_t j = team.rank; j < hidden; j += team.size) {
            to[i * hidden + j] = mxcu_narrow<T>(after ? 0 : mxcu_widen<T>(dy[i * width + j]) + dh[i * hidden + j]);
            if (has_lengths && !after)
                dh[i * hidden + j] = 0;
        }
    }));
    mxci_gemm_args g = MXCI_GEMM_INIT;
    g.m = r.d.n, g.n = r.d.h, g.k = hidden;
    g.a = grad, g.lda = hidden;
    g.b = weight_of(r, layer, direction, 2), g.ldb = r.d.h;
    g.c = r.unit_grad, g.ldc = r.d.h;
    return rnn_gemm(r, g, 1);
}

/* Backward through time; dh and dc become the gradients of the initial state. */
template <class T> static mxc_status backward_steps(const rnn<T> &r, int64_t layer, int direction, const T *dy) {
    const int64_t rows = r.d.gates * r.d.h;
    if (r.d.projected)
        MXC_TRY(move(r.call, MXC_REQ_WRITE, 1, r.d.h, r.no_grad, (T *)nullptr, r.d.h));
    for (int64_t s = r.d.t - 1; s >= 0; s--) {
        const int64_t first = mxci_rnn_time(&r.d, direction, s) * r.d.n;
        mxcu_rnn_step<T> step = step_of(r, layer, direction, s);
        mxci_gemm_args g = MXCI_GEMM_INIT;
        step.dy = dy + first * r.d.width + direction * r.d.hidden;
        step.dh = r.dh;
        if (r.d.projected) {
            MXC_TRY(project_gradient(r, layer, direction, step));
            step.dh = r.unit_grad;
            step.dy = r.no_grad;
            step.out_row = 0;
        }
        step.dc = r.dc;
        step.dx_gates = r.x_gates + first * rows;
        step.dh_gates = r.h_gates + first * rows;
        MXC_TRY(mxcu_rnn_backward(r.call, &step));
        g.m = r.d.n, g.n = r.d.hidden, g.k = rows;
        g.a = step.dh_gates, g.lda = rows;
        g.b = weight_of(r, layer, direction, 1), g.ldb = r.d.hidden;
        g.c = r.dh, g.ldc = r.d.hidden;
        g.beta = r.p->mode == MXCI_RNN_GRU || r.p->use_sequence_length;
        MXC_TRY(rnn_gemm(r, g, 1));
    }
    return MXC_OK;
}

/* to (gates H, k) = or += gates (rows, gates H)' x (rows, k), whose rows are ldb elements apart. */
template <class T>
static mxc_status weight_gradient(const rnn<T> &r, int64_t at, const T *gates, int64_t rows, const T *x, int64_t k,
                                  int64_t ldb, int add) {
    mxci_gemm_args g = MXCI_GEMM_INIT;
    g.transpose_a = 1;
    g.m = r.d.gates * r.d.h, g.n = k, g.k = rows;
    g.a = gates, g.lda = g.m;
    g.b = x, g.ldb = ldb;
    g.c = static_cast<T *>(r.call->in_grad[PARAMETERS].data) + at, g.ldc = k;
    g.beta = add;
    return rnn_gemm(r, g, 0);
}

/* dR: the first step, whose previous state is an argument, then all other steps in one product, since their previous
 * states follow each other in the output. */
template <class T> static mxc_status recurrent_gradient(const rnn<T> &r, int64_t layer, int direction, int add) {
    const mxci_rnn_dims *d = &r.d;
    const int64_t at = mxci_rnn_weight_at(d, layer, direction, 1), others = d->t > 1 ? (d->t - 1) * d->n : 0;
    const int64_t each = d->gates * d->h;
    MXC_TRY(weight_gradient(r, at, r.h_gates + (direction ? others * each : 0), d->t > 0 ? d->n : 0,
                            (const T *)state_of(r, &r.call->in[STATE], layer, direction), d->hidden, d->hidden, add));
    if (others == 0)
        return MXC_OK;
    return weight_gradient(r, at, r.h_gates + (direction ? 0 : d->n * each), others,
                           (const T *)out_of(r, layer) + (direction ? d->n * d->width : 0) + direction * d->hidden,
                           d->hidden, d->width, 1);
}

template <class T> static mxc_status projection_gradient(const rnn<T> &r, int64_t layer, int direction, int add) {
    mxci_gemm_args g = MXCI_GEMM_INIT;
    g.transpose_a = 1;
    g.m = r.d.hidden, g.n = r.d.h, g.k = r.d.rows;
    g.a = r.state_grad, g.lda = r.d.hidden;
    g.b = units_of(r, layer, direction), g.ldb = r.d.h;
    g.c = static_cast<T *>(r.call->in_grad[PARAMETERS].data) + mxci_rnn_weight_at(&r.d, layer, direction, 2);
    g.ldc = r.d.h;
    g.beta = add;
    return rnn_gemm(r, g, 0);
}

template <class T> static mxc_status bias_gradient(const rnn<T> &r, int64_t at, const T *gates) {
    const mxc_op_call *call = r.call;
    return mxcu_bias_sum_rows(call, call->req[PARAMETERS], call->in[DATA].dtype,
                              static_cast<T *>(call->in_grad[PARAMETERS].data) + at, gates, r.d.rows, r.d.gates * r.d.h,
                              r.ones);
}

template <class T> static mxc_status parameter_gradient(const rnn<T> &r, int64_t layer, int direction, const T *x) {
    const int64_t k = mxci_rnn_inputs_of(&r.d, layer);
    const int add = r.call->req[PARAMETERS] == MXC_REQ_ADD;
    if (r.call->req[PARAMETERS] == MXC_REQ_NULL)
        return MXC_OK;
    MXC_TRY(weight_gradient(r, mxci_rnn_weight_at(&r.d, layer, direction, 0), r.x_gates, r.d.rows, x, k, k, add));
    MXC_TRY(recurrent_gradient(r, layer, direction, add));
    if (r.d.projected)
        MXC_TRY(projection_gradient(r, layer, direction, add));
    MXC_TRY(bias_gradient(r, mxci_rnn_bias_at(&r.d, layer, direction, 0), r.x_gates));
    return bias_gradient(r, mxci_rnn_bias_at(&r.d, layer, direction, 1), r.h_gates);
}

/* Gradient of the layer's input; the second direction adds to the first. */
template <class T> static mxc_status input_gradient(const rnn<T> &r, int64_t layer, int direction, T *to, int add) {
    mxci_gemm_args g = MXCI_GEMM_INIT;
    g.m = r.d.rows, g.n = mxci_rnn_inputs_of(&r.d, layer), g.k = r.d.gates * r.d.h;
    g.a = r.x_gates, g.lda = g.k;
    g.b = weight_of(r, layer, direction, 0), g.ldb = g.n;
    g.c = to, g.ldc = g.n;
    g.beta = direction || add;
    return rnn_gemm(r, g, 0);
}

/* dh or dc = the gradient of a state after the last step, of rows of h elements; 0 where the state is not a visible
 * output. */
template <class T>
static mxc_status load_state_gradient(const rnn<T> &r, int slot, int64_t layer, int direction, int64_t h,
                                      mxcu_compute_t<T> *to) {
    T *from = slot < mxci_rnn_n_visible(r.p) ? state_of(r, &r.call->out_grad[slot], layer, direction) : nullptr;
    return move(r.call, MXC_REQ_WRITE, r.d.n, h, to, from, h);
}

template <class T>
static mxc_status store_state_gradient(const rnn<T> &r, int slot, int64_t layer, int direction, int64_t h,
                                       mxcu_compute_t<T> *from) {
    if (slot == STATE_CELL && r.p->mode != MXCI_RNN_LSTM)
        return MXC_OK;
    return move(r.call, r.call->req[slot], r.d.n, h, state_of(r, &r.call->in_grad[slot], layer, direction), from, h);
}

/* One layer, direction by direction: steps from the last to the first, then the products for the parameters and the
 * input over all steps. */
template <class T> static mxc_status backward_layer(const rnn<T> &r, int64_t layer, const T *dy) {
    const mxc_op_call *call = r.call;
    T *dx = layer ? r.grad[(layer - 1) % 2] : static_cast<T *>(call->in_grad[DATA].data);
    const T *x;
    MXC_TRY(input_of(r, layer, 0, &x));
    for (int direction = 0; direction < r.d.directions; direction++) {
        MXC_TRY(load_first_cells(r, layer, direction));
        MXC_TRY(load_state_gradient(r, STATE_OUT, layer, direction, r.d.hidden, r.dh));
        MXC_TRY(load_state_gradient(r, STATE_CELL_OUT, layer, direction, r.d.h, r.dc));
        MXC_TRY(backward_steps(r, layer, direction, dy));
        MXC_TRY(store_state_gradient(r, STATE, layer, direction, r.d.hidden, r.dh));
        MXC_TRY(store_state_gradient(r, STATE_CELL, layer, direction, r.d.h, r.dc));
        MXC_TRY(parameter_gradient(r, layer, direction, x));
        if (layer || call->req[DATA] != MXC_REQ_NULL)
            MXC_TRY(input_gradient(r, layer, direction, dx, !layer && call->req[DATA] == MXC_REQ_ADD));
    }
    return layer && r.d.masks ? drop(r, layer, dx, dx, 0) : MXC_OK;
}

template <class T> static mxc_status backward_as(const mxc_op_call *call) {
    rnn<T> r = open_run<T>(call, MXC_BACKWARD);
    const T *dy = static_cast<const T *>(call->out_grad[OUT].data);
    if (r.p->use_sequence_length)
        MXC_TRY(mxcu_no_gradient(call, mxci_rnn_lengths_arg(r.p)));
    for (int64_t layer = r.d.layers - 1; layer >= 0; layer--) {
        MXC_TRY(backward_layer(r, layer, dy));
        dy = layer ? r.grad[(layer - 1) % 2] : nullptr;
    }
    return MXC_OK;
}

static mxc_status backward(const mxc_op_call *call) {
    int served;
    MXC_TRY(mxcu_rnn_library_backward(call, &served));
    if (served)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->in[DATA].dtype, backward_as, call)
}

MXCU_OP_IMPLS(rnn, {"RNN", forward, backward, temp_bytes})
