/* SPDX-License-Identifier: Apache-2.0 */
/* The element-wise part of a step of a recurrent layer (nn/rnn_step.h): a team per sample, whose threads stride over
 * the units. The formulas are the CPU's (operator/nn/rnn_unit_kernels.inc). */
#include "cuda/operator/nn/rnn_step.h"

#include "cuda/runtime/math.h"
#include "operator/nn/rnn_kernels.h"

#define NAME(f) f
#define T float
#define FN(f) mxci_##f##_f32
#include "operator/nn/rnn_unit_kernels.inc"
#undef T
#undef FN

#define T double
#define FN(f) mxci_##f##_f64
#include "operator/nn/rnn_unit_kernels.inc"
#undef T
#undef FN
#undef NAME

/* The same with pointers as kernels take them (the emulator's differ from addresses). */
template <class T> static mxcu_rnn_step<T> on_device(const mxcu_rnn_step<T> *step) {
    using R = mxcu_compute_t<T>;
    mxcu_rnn_step<T> s = *step;
    s.gates = mxcu_pointer<R>(s.gates);
    s.h_sums = mxcu_pointer<R>((void *)s.h_sums);
    s.bias[0] = mxcu_pointer<T>((void *)s.bias[0]);
    s.bias[1] = mxcu_pointer<T>((void *)s.bias[1]);
    s.h_prev = mxcu_pointer<T>((void *)s.h_prev);
    s.c_prev = mxcu_pointer<R>((void *)s.c_prev);
    s.c = mxcu_pointer<R>(s.c);
    s.out = mxcu_pointer<T>(s.out);
    s.dy = mxcu_pointer<T>((void *)s.dy);
    s.dh = mxcu_pointer<R>(s.dh);
    s.dc = mxcu_pointer<R>(s.dc);
    s.dx_gates = mxcu_pointer<T>(s.dx_gates);
    s.dh_gates = mxcu_pointer<T>(s.dh_gates);
    return s;
}

/* Whether the step is after the end of a row's sequence. */
template <class T> MXCU_DEVICE int is_after(const mxcu_rnn_step<T> &s, int64_t row) {
    return s.has_lengths && s.time >= s.lengths.length(row, s.steps);
}

/* ---- forward: the state of unit j of a row ----------------------------------------------------------------------- */

template <class T> MXCU_DEVICE mxcu_compute_t<T> bias_of(const mxcu_rnn_step<T> &s, int which, int64_t j) {
    return mxcu_widen<T>(s.bias[which][j]);
}

/* rnn_relu, rnn_tanh: one gate, which becomes the state. */
template <class T> MXCU_DEVICE mxcu_compute_t<T> simple(const mxcu_rnn_step<T> &s, int64_t row, int64_t j) {
    mxcu_compute_t<T> *gate = s.gates + row * s.h + j, x = *gate + bias_of(s, 0, j) + bias_of(s, 1, j);
    return *gate = s.mode == MXCI_RNN_TANH ? mxcu_tanh(x) : x < 0 ? 0 : x;
}

/* Gates i, f, g, o, each of h numbers; they become their activations, which backward reads. */
template <class T> MXCU_DEVICE mxcu_compute_t<T> lstm(const mxcu_rnn_step<T> &s, int64_t row, int64_t j) {
    const int64_t h = s.h;
    mxcu_compute_t<T> *i = s.gates + row * 4 * h + j;
    for (int k = 0; k < 4; k++)
        i[k * h] += bias_of(s, 0, k * h + j) + bias_of(s, 1, k * h + j);
    return unit_lstm(i, i + h, i + 2 * h, i + 3 * h, s.c_prev[row * h + j], s.c + row * h + j);
}

/* Gates r, z, n; a fourth block keeps R h + c of the new gate, which backward reads. */
template <class T> MXCU_DEVICE mxcu_compute_t<T> gru(const mxcu_rnn_step<T> &s, int64_t row, int64_t j) {
    const int64_t h = s.h;
    mxcu_compute_t<T> *r = s.gates + row * 4 * h + j, h_sums[3];
    for (int k = 0; k < 3; k++) {
        r[k * h] += bias_of(s, 0, k * h + j);
        h_sums[k] = s.h_sums[row * 3 * h + k * h + j] + bias_of(s, 1, k * h + j);
    }
    r[3 * h] = h_sums[2];
    return unit_gru(r, r + h, r + 2 * h, h_sums[0], h_sums[1], h_sums[2],
                    mxcu_widen<T>(s.h_prev[row * s.h_prev_row + j]));
}

template <class T> MXCU_DEVICE void keep(const mxcu_rnn_step<T> &s, int64_t row, mxcu_team team) {
    for (int64_t j = team.rank; j < s.h; j += team.size) {
        s.out[row * s.out_row + j] = s.projected ? mxcu_narrow<T>(0) : s.h_prev[row * s.h_prev_row + j];
        if (s.mode == MXCI_RNN_LSTM)
            s.c[row * s.h + j] = s.c_prev[row * s.h + j];
    }
}

template <class T> mxc_status mxcu_rnn_forward(const mxc_op_call *call, const mxcu_rnn_step<T> *step) {
    const mxcu_rnn_step<T> s = on_device(step);
    return mxcu_rows(call, s.n, s.h, [=] MXCU_LAMBDA(int64_t row, mxcu_team team) {
        if (is_after(s, row))
            return keep(s, row, team);
        for (int64_t j = team.rank; j < s.h; j += team.size)
            s.out[row * s.out_row + j] = mxcu_narrow<T>(s.mode == MXCI_RNN_LSTM  ? lstm(s, row, j)
                                                        : s.mode == MXCI_RNN_GRU ? gru(s, row, j)
                                                                                 : simple(s, row, j));
    });
}

/* ---- backward: d is the gradient of the state of unit j of a row ------------------------------------------------- */

template <class T>
MXCU_DEVICE void simple_grad(const mxcu_rnn_step<T> &s, mxcu_compute_t<T> d, int64_t row, int64_t j) {
    s.dx_gates[row * s.h + j] = mxcu_narrow<T>(unit_rnn_grad(s.mode == MXCI_RNN_RELU, d, s.gates[row * s.h + j]));
}

template <class T> MXCU_DEVICE void lstm_grad(const mxcu_rnn_step<T> &s, mxcu_compute_t<T> d, int64_t row, int64_t j) {
    const int64_t h = s.h, at = row * h + j;
    const mxcu_compute_t<T> *i = s.gates + row * 4 * h + j;
    mxcu_compute_t<T> grad[4];
    unit_lstm_grad(d, i[0], i[h], i[2 * h], i[3 * h], s.c_prev[at], s.c[at], s.dc + at, grad, grad + 1, grad + 2,
                   grad + 3);
    for (int k = 0; k < 4; k++)
        s.dx_gates[row * 4 * h + k * h + j] = mxcu_narrow<T>(grad[k]);
}

/* dh_gates differ from dx_gates in the new gate, which r multiplies. dh keeps the direct share of the previous state;
 * the product with R is added. */
template <class T> MXCU_DEVICE void gru_grad(const mxcu_rnn_step<T> &s, mxcu_compute_t<T> d, int64_t row, int64_t j) {
    const int64_t h = s.h, to = row * 3 * h + j;
    const mxcu_compute_t<T> *r = s.gates + row * 4 * h + j;
    mxcu_compute_t<T> grad[3];
    unit_gru_grad(d, r[0], r[h], r[2 * h], r[3 * h], mxcu_widen<T>(s.h_prev[row * s.h_prev_row + j]), grad, grad + 1,
                  grad + 2);
    for (int k = 0; k < 3; k++) {
        s.dx_gates[to + k * h] = mxcu_narrow<T>(grad[k]);
        s.dh_gates[to + k * h] = mxcu_narrow<T>(k == 2 ? grad[k] * r[0] : grad[k]);
    }
    s.dh[row * h + j] = d * r[h];
}

template <class T> MXCU_DEVICE void clear_gates(const mxcu_rnn_step<T> &s, int64_t row, mxcu_team team) {
    const int64_t gates = (s.mode == MXCI_RNN_LSTM ? 4 : s.mode == MXCI_RNN_GRU ? 3 : 1) * s.h;
    for (int64_t j = team.rank; j < gates; j += team.size)
        s.dx_gates[row * gates + j] = s.dh_gates[row * gates + j] = mxcu_narrow<T>(0);
}

template <class T> mxc_status mxcu_rnn_backward(const mxc_op_call *call, const mxcu_rnn_step<T> *step) {
    const mxcu_rnn_step<T> s = on_device(step);
    return mxcu_rows(call, s.n, s.h, [=] MXCU_LAMBDA(int64_t row, mxcu_team team) {
        if (is_after(s, row))
            return clear_gates(s, row, team);
        for (int64_t j = team.rank; j < s.h; j += team.size) {
            mxcu_compute_t<T> d = mxcu_widen<T>(s.dy[row * s.out_row + j]) + s.dh[row * s.h + j];
            if (s.has_lengths)
                s.dh[row * s.h + j] = 0;
            if (s.mode == MXCI_RNN_LSTM)
                lstm_grad(s, d, row, j);
            else if (s.mode == MXCI_RNN_GRU)
                gru_grad(s, d, row, j);
            else
                simple_grad(s, d, row, j);
        }
    });
}

#define STEPS(T)                                                                              \
    template mxc_status mxcu_rnn_forward(const mxc_op_call *call, const mxcu_rnn_step<T> *s); \
    template mxc_status mxcu_rnn_backward(const mxc_op_call *call, const mxcu_rnn_step<T> *s);
STEPS(float)
STEPS(double)
STEPS(mxc_f16)
STEPS(mxc_bf16)
