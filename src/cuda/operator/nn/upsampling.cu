/* SPDX-License-Identifier: Apache-2.0 */
/* UpSampling, nearest or bilinear. A thread per element of the result, except that a weight's gradient has a team.
 * Gradients are gathered: each element sums the elements that it was copied to, so no atomics are needed. */
#include "cuda/runtime/kernel.h"
#include "operator/vision/vision.h"

enum { DATA, WEIGHT };

/* ---- nearest ----------------------------------------------------------------------------------------------------- */

/* The position of an argument in out: its first channel there, and its scale. */
struct enlarged {
    int64_t in[3], out[3], channel, scale; /* channels, height, width */

    /* The element of out's at row y and column x of plane number plane of the argument. */
    MXCU_DEVICE int64_t at(int64_t plane, int64_t y, int64_t x) const {
        const int64_t n = plane / in[0], c = plane % in[0];
        return ((n * out[0] + channel + c) * out[1] + y) * out[2] + x;
    }
};

static enlarged enlarged_of(const mxc_op_call *call, int i, int64_t channel) {
    const int64_t *in = call->in[i].shape.dim, *out = call->out[0].shape.dim;
    return {{in[1], in[2], in[3]}, {out[1], out[2], out[3]}, channel, in[2] ? out[2] / in[2] : 1};
}

/* A thread per element of out's part. add: to what is there, even if the request is to write: for the second and later
 * arguments of a sum. */
template <class T> static mxc_status enlarge(const mxc_op_call *call, int i, enlarged e, int add) {
    mxcu_in<T> x = mxcu_data<T>(&call->in[i]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    const int64_t n = call->in[i].shape.dim[0] * e.in[0] * e.out[1] * e.out[2];
    y.add |= add;
    return mxcu_for(call, n, [=] MXCU_LAMBDA(int64_t at) {
        const int64_t column = at % e.out[2], row = at / e.out[2] % e.out[1], plane = at / e.out[2] / e.out[1];
        y.put(e.at(plane, row, column), x[(plane * e.in[1] + row / e.scale) * e.in[2] + column / e.scale]);
    });
}

/* A thread per element of data sums the scale x scale elements of out that it was copied to. */
template <class T> static mxc_status shrink(const mxc_op_call *call, int i, enlarged e) {
    mxcu_in<T> g = mxcu_data<T>(&call->out_grad[0]);
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[i], i);
    return mxcu_for(call, mxcu_size(&call->in_grad[i]), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t x = at % e.in[2], y = at / e.in[2] % e.in[1], plane = at / e.in[2] / e.in[1];
        mxcu_compute_t<T> sum = 0;
        for (int64_t v = 0; v < e.scale; v++)
            for (int64_t u = 0; u < e.scale; u++)
                sum += g[e.at(plane, y * e.scale + v, x * e.scale + u)];
        dx.put(at, sum);
    });
}

static mxc_status enlarge_any(const mxc_op_call *call, int i, enlarged e, int add) {
    MXCU_SWITCH_FLOAT(call->out[0].dtype, enlarge, call, i, e, add)
}

static mxc_status shrink_any(const mxc_op_call *call, int i, enlarged e) {
    if (call->req[i] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->in_grad[i].dtype, shrink, call, i, e)
}

/* Arguments are concatenated along channels or summed; each may have a scale of its own. */
static mxc_status nearest(const mxc_op_call *call, const mxci_upsampling_params *p, int is_backward) {
    const int is_sum = p->multi_input_mode == MXCI_UPSAMPLING_SUM;
    int64_t channel = 0;
    for (int i = 0; i < call->n_in; i++) {
        enlarged e = enlarged_of(call, i, channel);
        if (is_backward)
            MXC_TRY(shrink_any(call, i, e));
        else if (call->req[0] != MXC_REQ_NULL)
            MXC_TRY(enlarge_any(call, i, e, is_sum && i > 0));
        channel += is_sum ? 0 : call->in[i].shape.dim[1];
    }
    return MXC_OK;
}

/* ---- bilinear: each channel is a deconvolution by its own kernel ------------------------------------------------- */

/* Bilinear upsampling as a deconvolution: data element (y, x) times weight (v, u) is added to out at (y scale - pad +
 * v, x scale - pad + u). */
struct spread {
    int64_t channels, in[2], out[2], kernel, scale, pad;
};

static spread spread_of(const mxc_op_call *call, const mxci_upsampling_params *p) {
    const int64_t *in = call->in[DATA].shape.dim, *out = call->out[0].shape.dim;
    return {in[1], {in[2], in[3]}, {out[2], out[3]}, call->in[WEIGHT].shape.dim[2], p->scale, p->scale / 2};
}

/* A thread per element of out sums the products that fall on it: kernel rows v with the same remainder modulo scale. */
template <class T> static mxc_status spread_data(const mxc_op_call *call, spread s) {
    mxcu_in<T> x = mxcu_data<T>(&call->in[DATA]), w = mxcu_data<T>(&call->in[WEIGHT]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t column = at % s.out[1] + s.pad, row = at / s.out[1] % s.out[0] + s.pad;
        const int64_t plane = at / s.out[1] / s.out[0], kernel = plane % s.channels * s.kernel * s.kernel;
        mxcu_compute_t<T> sum = 0;
        for (int64_t v = row % s.scale; v < s.kernel; v += s.scale)
            for (int64_t u = column % s.scale; u < s.kernel; u += s.scale) {
                const int64_t i = (row - v) / s.scale, j = (column - u) / s.scale;
                if (row >= v && column >= u && i < s.in[0] && j < s.in[1])
                    sum += x[(plane * s.in[0] + i) * s.in[1] + j] * w[kernel + v * s.kernel + u];
            }
        y.put(at, sum);
    });
}

/* The element of out of a plane, or -1: it was cut off. */
MXCU_DEVICE static int64_t target(const spread &s, int64_t plane, int64_t y, int64_t x, int64_t v, int64_t u) {
    const int64_t row = y * s.scale - s.pad + v, column = x * s.scale - s.pad + u;
    const bool is_inside = row >= 0 && row < s.out[0] && column >= 0 && column < s.out[1];
    return is_inside ? (plane * s.out[0] + row) * s.out[1] + column : -1;
}

/* A thread per element of data sums over its kernel. */
template <class T> static mxc_status spread_data_grad(const mxc_op_call *call, spread s) {
    mxcu_in<T> g = mxcu_data<T>(&call->out_grad[0]), w = mxcu_data<T>(&call->in[WEIGHT]);
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[DATA], DATA);
    return mxcu_for(call, mxcu_size(&call->in_grad[DATA]), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t x = at % s.in[1], y = at / s.in[1] % s.in[0], plane = at / s.in[1] / s.in[0];
        const int64_t kernel = plane % s.channels * s.kernel * s.kernel;
        mxcu_compute_t<T> sum = 0;
        for (int64_t k = 0; k < s.kernel * s.kernel; k++) {
            const int64_t to = target(s, plane, y, x, k / s.kernel, k % s.kernel);
            sum += to < 0 ? 0 : g[to] * w[kernel + k];
        }
        dx.put(at, sum);
    });
}

/* A team per weight (channel, v, u); its threads stride over samples and data elements. */
template <class T> static mxc_status spread_weight_grad(const mxc_op_call *call, spread s) {
    mxcu_in<T> g = mxcu_data<T>(&call->out_grad[0]), x = mxcu_data<T>(&call->in[DATA]);
    mxcu_out<T> dw = mxcu_result<T>(call, &call->in_grad[WEIGHT], WEIGHT);
    const int64_t size = s.in[0] * s.in[1], n = call->in[DATA].shape.dim[0] * size, square = s.kernel * s.kernel;
    return mxcu_rows(call, s.channels * square, n, [=] MXCU_LAMBDA(int64_t at, mxcu_team team) {
        const int64_t c = at / square, k = at % square;
        mxcu_compute_t<T> sum = 0;
        for (int64_t i = team.rank; i < n; i += team.size) {
            const int64_t plane = i / size * s.channels + c, place = i % size;
            const int64_t to = target(s, plane, place / s.in[1], place % s.in[1], k / s.kernel, k % s.kernel);
            sum += to < 0 ? 0 : g[to] * x[plane * size + place];
        }
        sum = team.sum(sum);
        if (team.rank == 0)
            dw.put(at, sum);
    });
}

static mxc_status spread_forward(const mxc_op_call *call, spread s) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->out[0].dtype, spread_data, call, s)
}

static mxc_status spread_backward(const mxc_op_call *call, spread s, int i) {
    if (call->req[i] == MXC_REQ_NULL)
        return MXC_OK;
    if (i == DATA)
        MXCU_SWITCH_FLOAT(call->in[DATA].dtype, spread_data_grad, call, s)
    MXCU_SWITCH_FLOAT(call->in[DATA].dtype, spread_weight_grad, call, s)
}

static mxc_status forward(const mxc_op_call *call) {
    const mxci_upsampling_params *p = static_cast<const mxci_upsampling_params *>(call->params);
    return p->sample_type == MXCI_UPSAMPLING_NEAREST ? nearest(call, p, 0) : spread_forward(call, spread_of(call, p));
}

static mxc_status backward(const mxc_op_call *call) {
    const mxci_upsampling_params *p = static_cast<const mxci_upsampling_params *>(call->params);
    if (p->sample_type == MXCI_UPSAMPLING_NEAREST)
        return nearest(call, p, 1);
    MXC_TRY(spread_backward(call, spread_of(call, p), DATA));
    return spread_backward(call, spread_of(call, p), WEIGHT);
}

MXCU_OP_IMPLS(upsampling, {"UpSampling", forward, backward})
