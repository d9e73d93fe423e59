/* SPDX-License-Identifier: Apache-2.0 */
/* The RNN that the GPU emulator serves as if it were cuDNN's: plain units, of float32 and the 16-bit types, step by
 * step. It saves each layer's output, and overwrites what it saved in backward, as a library may. */
#include "cuda/runtime/dnn.h"

#include <vector>

#include "cuda/runtime/kernel.h"
#include "operator/nn/rnn.h"

namespace {

template <class T> struct net {
    mxcu_dnn_rnn r;
    mxcu_dnn_rnn_arrays a;
    mxci_rnn_dims d;
    T *saved; /* (layers, T, N, width) */

    static double at(const void *data, int64_t i) {
        return data ? (double)mxcu_widen<T>(mxcu_pointer<const T>(data)[i]) : 0;
    }
    static void put(void *data, int64_t i, double value) {
        if (data)
            mxcu_pointer<T>(data)[i] = mxcu_narrow<T>((float)value);
    }
    int64_t row(int direction, int64_t s) const { /* of sample 0, in step s */
        return (direction ? r.t - 1 - s : s) * r.n;
    }
    double input(int64_t layer, int64_t row, int64_t k) const {
        return layer ? at(saved, ((layer - 1) * d.rows + row) * d.width + k) : at(a.x, row * r.inputs + k);
    }
    /* Unit j of sample n before step s. */
    double previous(int64_t layer, int direction, int64_t s, int64_t n, int64_t j) const {
        return s ? at(saved, (layer * d.rows + row(direction, s - 1) + n) * d.width + direction * r.h + j)
                 : at(a.hx, ((layer * r.directions + direction) * r.n + n) * r.h + j);
    }
    double unit(int64_t layer, int direction, int64_t s, int64_t n, int64_t j) const {
        const int64_t k_in = mxci_rnn_inputs_of(&d, layer), w = mxci_rnn_weight_at(&d, layer, direction, 0) + j * k_in;
        const int64_t u = mxci_rnn_weight_at(&d, layer, direction, 1) + j * r.h;
        double sum = 0;
        for (int which = 0; which < 2; which++)
            sum += at(a.weight, mxci_rnn_bias_at(&d, layer, direction, which) + j);
        for (int64_t k = 0; k < k_in; k++)
            sum += at(a.weight, w + k) * input(layer, row(direction, s) + n, k);
        for (int64_t k = 0; k < r.h; k++)
            sum += at(a.weight, u + k) * previous(layer, direction, s, n, k);
        return r.mode == MXCI_RNN_TANH ? tanh(sum) : sum > 0 ? sum : 0;
    }
    void forward_direction(int64_t layer, int direction) const {
        for (int64_t i = 0; i < r.t * r.n * r.h; i++) {
            const int64_t s = i / r.h / r.n, n = i / r.h % r.n, j = i % r.h;
            put(saved, (layer * d.rows + row(direction, s) + n) * d.width + direction * r.h + j,
                unit(layer, direction, s, n, j));
        }
        for (int64_t i = 0; i < r.n * r.h; i++)
            put(a.hy, (layer * r.directions + direction) * r.n * r.h + i,
                previous(layer, direction, r.t, i / r.h, i % r.h));
    }
    void forward() const {
        for (int64_t layer = 0; layer < r.layers; layer++)
            for (int direction = 0; direction < r.directions; direction++)
                forward_direction(layer, direction);
        for (int64_t i = 0; i < d.rows * d.width; i++)
            put(a.y, i, at(saved, (r.layers - 1) * d.rows * d.width + i));
    }

    /* What unit j's sum of sample n in step s, with gradient g, gives to its operands. */
    void spread(int64_t layer, int direction, int64_t s, int64_t n, int64_t j, double g, double *dx, double *dh,
                std::vector<double> &dweight) const {
        const int64_t k_in = mxci_rnn_inputs_of(&d, layer), w = mxci_rnn_weight_at(&d, layer, direction, 0) + j * k_in;
        const int64_t u = mxci_rnn_weight_at(&d, layer, direction, 1) + j * r.h;
        for (int which = 0; which < 2; which++)
            dweight[(size_t)(mxci_rnn_bias_at(&d, layer, direction, which) + j)] += g;
        for (int64_t k = 0; k < k_in; k++) {
            dweight[(size_t)(w + k)] += g * input(layer, row(direction, s) + n, k);
            dx[(row(direction, s) + n) * k_in + k] += g * at(a.weight, w + k);
        }
        for (int64_t k = 0; k < r.h; k++) {
            dweight[(size_t)(u + k)] += g * previous(layer, direction, s, n, k);
            dh[n * r.h + k] += g * at(a.weight, u + k);
        }
    }
    void backward_direction(int64_t layer, int direction, const std::vector<double> &dy, std::vector<double> &dx,
                            std::vector<double> &dweight) const {
        const int64_t states = r.n * r.h, first = (layer * r.directions + direction) * states;
        std::vector<double> dh((size_t)states), next;
        for (int64_t i = 0; i < states; i++)
            dh[(size_t)i] = at(a.dhy, first + i);
        for (int64_t s = r.t - 1; s >= 0; s--) {
            next.assign((size_t)states, 0);
            for (int64_t i = 0; i < states; i++) {
                const int64_t n = i / r.h, j = i % r.h;
                const double y = previous(layer, direction, s + 1, n, j);
                const double g = dy[(size_t)((row(direction, s) + n) * d.width + direction * r.h + j)] + dh[(size_t)i];
                spread(layer, direction, s, n, j, g * (r.mode == MXCI_RNN_TANH ? 1 - y * y : y > 0), dx.data(),
                       next.data(), dweight);
            }
            dh = next;
        }
        for (int64_t i = 0; i < states; i++)
            put(a.dhx, first + i, dh[(size_t)i]);
    }
    void backward() const {
        const int64_t n_weights = mxci_rnn_bias_at(&d, r.layers, 0, 0);
        std::vector<double> dy((size_t)(d.rows * d.width)), dx, dweight((size_t)n_weights);
        for (size_t i = 0; i < dy.size(); i++)
            dy[i] = at(a.dy, (int64_t)i);
        for (int64_t layer = r.layers - 1; layer >= 0; layer--) {
            dx.assign((size_t)(d.rows * mxci_rnn_inputs_of(&d, layer)), 0);
            for (int direction = 0; direction < r.directions; direction++)
                backward_direction(layer, direction, dy, dx, dweight);
            dy = dx;
        }
        for (size_t i = 0; i < dx.size(); i++)
            put(a.dx, (int64_t)i, dx[i]);
        for (int64_t i = 0; i < n_weights; i++)
            put(a.dweight, i, at(a.dweight, i) + dweight[(size_t)i]);
        for (int64_t i = 0; i < r.layers * d.rows * d.width; i++)
            put(saved, i, -77);
    }
};

mxci_rnn_dims dims_of(const mxcu_dnn_rnn *r) {
    mxci_rnn_dims d = {};
    d.t = r->t, d.n = r->n, d.i = r->inputs, d.h = d.hidden = r->h;
    d.layers = r->layers, d.directions = r->directions;
    d.gates = 1;
    d.rows = r->t * r->n, d.width = r->directions * r->h;
    return d;
}

template <class T>
mxc_status queue(const mxc_op_call *call, const mxcu_dnn_rnn *r, const mxcu_dnn_rnn_arrays *a, bool back) {
    const net<T> n = {*r, *a, dims_of(r), mxcu_pointer<T>(a->reserve ? a->reserve : a->temp)};
    return mxcu_fake_queue(call->run->stream, [=] {
        if (back)
            n.backward();
        else
            n.forward();
    });
}

mxc_status run(const mxc_op_call *call, const mxcu_dnn_rnn *r, const mxcu_dnn_rnn_arrays *a, bool back) {
    MXCU_SWITCH_FLOAT(r->dtype, queue, call, r, a, back)
}

} // namespace

int mxcu_dnn_rnn_serves(mxc_context, const mxcu_dnn_rnn *r, size_t *temp, size_t *reserve) {
    *temp = *reserve = (size_t)(r->layers * r->t * r->n * r->directions * r->h * mxcu_element_bytes(r->dtype));
    return r->dtype != MXC_F64 && (r->mode == MXCI_RNN_TANH || r->mode == MXCI_RNN_RELU);
}

mxc_status mxcu_dnn_rnn_forward(const mxc_op_call *call, const mxcu_dnn_rnn *r, const mxcu_dnn_rnn_arrays *a) {
    return run(call, r, a, false);
}

mxc_status mxcu_dnn_rnn_backward(const mxc_op_call *call, const mxcu_dnn_rnn *r, const mxcu_dnn_rnn_arrays *a) {
    return run(call, r, a, true);
}
