/* SPDX-License-Identifier: Apache-2.0 */
/* _sample_multinomial, with the same indices as on the CPU for a seed; a thread per sample, and in backward a thread
 * per probability. The host waits for the check of the probabilities. */
#include "operator/random/multinomial.h"

#include "cuda/operator/random/random.h"
#include "cuda/runtime/convert.h"
#include "cuda/runtime/readback.h"
#include "math/distributions.h"

namespace {

enum { INDEX = MXCI_MULTINOMIAL_INDEX, LOG = MXCI_MULTINOMIAL_LOG };

/* Rows of k probabilities. */
struct probabilities {
    mxcu_any data;
    int64_t k;

    MXCU_DEVICE double operator()(int64_t row, int64_t i) const {
        return data.as<double>(row * k + i);
    }
    MXCU_DEVICE double sum(int64_t row) const {
        double sum = 0;
        for (int64_t i = 0; i < k; i++)
            sum += (*this)(row, i);
        return sum;
    }
};

/* For mxcu_find_invalid, by rows: b is the first invalid probability, number a of the row; or the sum, with a -1. */
struct invalid_row {
    probabilities p;

    MXCU_DEVICE mxcu_invalid_element report(int64_t row) const {
        for (int64_t i = 0; i < p.k; i++) {
            const double x = p(row, i);
            if (!(x >= 0) || x - x != 0)
                return {row, (double)i, x};
        }
        return {row, -1, p.sum(row)};
    }
    MXCU_DEVICE int is_invalid(int64_t row) const {
        const mxcu_invalid_element found = report(row);
        return found.a >= 0 || !(found.b > 0) || found.b - found.b != 0;
    }
};

size_t check_bytes(const mxc_op_sig *, mxc_pass) {
    return sizeof(mxcu_invalid_element);
}

mxc_status check(const mxc_op_call *call, const probabilities &p, int64_t rows) {
    mxcu_invalid_element bad;
    MXC_TRY(mxcu_find_invalid(call, rows, invalid_row{p}, &bad));
    if (bad.at == INT64_MAX)
        return MXC_OK;
    if (bad.a >= 0)
        return MXC_FAIL(MXC_EINVAL, "_sample_multinomial: probability %lld of row %lld is %g, expected at least 0",
                        (long long)bad.a, (long long)bad.at, bad.b);
    return MXC_FAIL(MXC_EINVAL,
                    "_sample_multinomial: the probabilities of row %lld add up to %g, expected a finite sum above 0",
                    (long long)bad.at, bad.b);
}

/* Sample i: the same search as on the CPU. */
struct drawing {
    probabilities p;
    mxcu_random random;
    int64_t samples;

    MXCU_DEVICE int64_t operator()(int64_t i, double *chosen) const {
        const mxc_random range = random.range();
        mxc_draws draws = {range.seed, range.stream, range.offset + (uint64_t)i, 0};
        const int64_t row = i / samples;
        const double limit = mxci_draw_uniform(&draws, 0, p.sum(row));
        double sum = 0;
        int64_t index = 0;
        *chosen = 0;
        for (int64_t k = 0; k < p.k && (*chosen == 0 || sum <= limit); k++) {
            const double x = p(row, k);
            sum += x;
            if (x > 0) {
                *chosen = x;
                index = k;
            }
        }
        return index;
    }
};

template <class T> mxc_status put_indices(const mxc_op_call *call, const drawing &d) {
    mxcu_out<T> y = mxcu_wanted<T>(call, &call->out[INDEX], INDEX);
    if (!y.data)
        return MXC_OK;
    return mxcu_for(call, mxcu_size(&call->out[INDEX]), [=] MXCU_LAMBDA(int64_t i) {
        double chosen;
        y.put(i, mxcu_converted<T>(d(i, &chosen)));
    });
}

template <class T> mxc_status put_logs(const mxc_op_call *call, const drawing &d) {
    mxcu_out<T> y = mxcu_wanted<T>(call, &call->out[LOG], LOG);
    if (!y.data)
        return MXC_OK;
    return mxcu_for(call, mxcu_size(&call->out[LOG]), [=] MXCU_LAMBDA(int64_t i) {
        double chosen;
        d(i, &chosen);
        y.put(i, (mxcu_compute_t<T>)log(chosen));
    });
}

mxc_status logs(const mxc_op_call *call, const drawing &d) {
    MXCU_SWITCH_FLOAT(call->out[LOG].dtype, put_logs, call, d)
}

mxc_status forward(const mxc_op_call *call) {
    const mxc_shape *in = &call->in[0].shape;
    const probabilities p = {mxcu_any_data(&call->in[0]), in->dim[in->ndim - 1]};
    const int64_t rows = mxcu_size(&call->in[0]) / p.k, n = mxcu_size(&call->out[INDEX]);
    MXC_TRY(check(call, p, rows));
    if (n == 0)
        return MXC_OK;
    const drawing d = {p, mxcu_random_of(call), n / rows};
    if (call->n_out > 1)
        MXC_TRY(logs(call, d));
    MXCU_SWITCH_ALL(call->out[INDEX].dtype, put_indices, call, d)
}

template <class T> mxc_status put_gradient(const mxc_op_call *call) {
    const mxc_shape *in = &call->in[0].shape;
    const int64_t width = in->dim[in->ndim - 1], rows = mxcu_size(&call->in[0]) / width;
    const int64_t samples = rows > 0 ? mxcu_size(&call->out[INDEX]) / rows : 0;
    const int has_log = call->n_out > 1;
    mxcu_out<T> to = mxcu_result<T>(call, &call->in_grad[0], 0);
    if (!has_log)
        return mxcu_for(call, rows * width, [=] MXCU_LAMBDA(int64_t i) { to.put(i, 0); });
    const mxcu_any index = mxcu_any_data(&call->out[INDEX]);
    mxcu_in<T> grad = mxcu_data<T>(&call->out_grad[LOG]), p = mxcu_data<T>(&call->in[0]);
    return mxcu_for(call, rows * width, [=] MXCU_LAMBDA(int64_t at) {
        const int64_t row = mxcu_divide(at, width), k = at - row * width;
        double sum = 0;
        for (int64_t i = row * samples; i < (row + 1) * samples; i++)
            sum += index.as<int64_t>(i) == k ? (double)grad[i] : 0;
        to.put(at, (mxcu_compute_t<T>)(sum == 0 ? 0 : sum / (double)p[at]));
    });
}

mxc_status backward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->in[0].dtype, put_gradient, call)
}

} // namespace

MXCU_OP_IMPLS(multinomial, {"_sample_multinomial", forward, backward, check_bytes})
