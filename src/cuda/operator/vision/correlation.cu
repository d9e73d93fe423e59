/* SPDX-License-Identifier: Apache-2.0 */
/* Correlation: a thread per element of out, or of a gradient, which sums over all displacements and patches. Gradients
 * are gathered, so no atomics are needed. */
#include "cuda/runtime/kernel.h"
#include "operator/vision/correlation_kernels.h"
#include "operator/vision/vision.h"

enum { FIRST, SECOND };

/* Sizes and parameters, as kernels take them. */
struct correlation {
    int64_t channels, in[2], out[2], moves; /* moves: along one axis */
    int64_t kernel, most, stride1, stride2, pad;
    int multiply;

    /* How far data2 is moved along an axis. */
    MXCU_DEVICE int64_t move(int64_t k, int axis) const {
        return ((axis ? k % moves : k / moves) - moves / 2) * stride2;
    }
    /* An element of a plane of data, 0 outside. */
    template <class T>
    MXCU_DEVICE mxcu_compute_t<T> read(const mxcu_in<T> &x, int64_t plane, int64_t row, int64_t column) const {
        const bool is_inside = row >= 0 && row < in[0] && column >= 0 && column < in[1];
        return is_inside ? x[(plane * in[0] + row) * in[1] + column] : 0;
    }
};

static correlation correlation_of(const mxc_op_call *call) {
    const mxci_correlation_params *p = static_cast<const mxci_correlation_params *>(call->params);
    const int64_t *in = call->in[FIRST].shape.dim, *out = call->out[0].shape.dim;
    return {in[1],          {in[2], in[3]},      {out[2], out[3]}, p->max_displacement / p->stride2 * 2 + 1,
            p->kernel_size, p->max_displacement, p->stride1,       p->stride2,
            p->pad_size,    p->is_multiply != 0};
}

/* The number that sums are multiplied by. */
static double mean_of(const correlation &s) {
    return 1 / ((double)s.kernel * (double)s.kernel * (double)(s.channels > 0 ? s.channels : 1));
}

/* out (N, displacements, H, W): a thread compares two patches in all channels. */
template <class T> static mxc_status correlate(const mxc_op_call *call) {
    using A = mxcu_compute_t<T>;
    const correlation s = correlation_of(call);
    const A mean = (A)mean_of(s);
    mxcu_in<T> a = mxcu_data<T>(&call->in[FIRST]), b = mxcu_data<T>(&call->in[SECOND]);
    mxcu_out<T> to = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t j = at % s.out[1], i = at / s.out[1] % s.out[0],
                      k = at / s.out[1] / s.out[0] % (s.moves * s.moves);
        const int64_t n = at / s.out[1] / s.out[0] / (s.moves * s.moves);
        const int64_t y = i * s.stride1 + s.most - s.pad, x = j * s.stride1 + s.most - s.pad;
        A sum = 0;
        for (int64_t plane = n * s.channels; plane < (n + 1) * s.channels; plane++)
            for (int64_t v = y; v < y + s.kernel; v++)
                for (int64_t u = x; u < x + s.kernel; u++) {
                    const A p = s.read(a, plane, v, u), q = s.read(b, plane, v + s.move(k, 0), u + s.move(k, 1));
                    sum += MXCI_CORRELATION_TERM(s.multiply, p, q);
                }
        to.put(at, sum * mean);
    });
}

/* What displacement k contributes to the gradient of an element of a plane of data1, or (second) of data2: y and x are
 * the position in data1 that the displacement compares with it. */
template <class T> struct gradient_term {
    correlation s;
    mxcu_in<T> a, b, g;
    int second;

    MXCU_DEVICE mxcu_compute_t<T> operator()(int64_t plane, int64_t k, int64_t y, int64_t x) const {
        const mxcu_compute_t<T> p = s.read(a, plane, y, x), q = s.read(b, plane, y + s.move(k, 0), x + s.move(k, 1));
        const int64_t n = plane / s.channels, first = (n * s.moves * s.moves + k) * s.out[0];
        mxcu_compute_t<T> sum = 0;
        for (int64_t v = 0; v < s.kernel; v++) {
            const int64_t row = y + s.pad - s.most - v, i = row / s.stride1;
            if (row < 0 || row % s.stride1 || i >= s.out[0])
                continue;
            for (int64_t u = 0; u < s.kernel; u++) {
                const int64_t column = x + s.pad - s.most - u, j = column / s.stride1;
                if (column >= 0 && column % s.stride1 == 0 && j < s.out[1])
                    sum += g[(first + i) * s.out[1] + j];
            }
        }
        return MXCI_CORRELATION_DERIVATIVE(s.multiply, second, sum, p, q);
    }
};

/* A thread per element of a gradient sums over the displacements. */
template <class T> static mxc_status correlate_grad(const mxc_op_call *call, int which) {
    using A = mxcu_compute_t<T>;
    const correlation s = correlation_of(call);
    const A mean = (A)mean_of(s);
    const gradient_term<T> gradient_of = {
        s, mxcu_data<T>(&call->in[FIRST]), mxcu_data<T>(&call->in[SECOND]), mxcu_data<T>(&call->out_grad[0]), which,
    };
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[which], which);
    return mxcu_for(call, mxcu_size(&call->in_grad[which]), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t x = at % s.in[1], y = at / s.in[1] % s.in[0], plane = at / s.in[1] / s.in[0];
        A sum = 0;
        for (int64_t k = 0; k < s.moves * s.moves; k++)
            sum += gradient_of(plane, k, which ? y - s.move(k, 0) : y, which ? x - s.move(k, 1) : x);
        dx.put(at, sum * mean);
    });
}

static mxc_status grad(const mxc_op_call *call, int which) {
    if (call->req[which] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->in[FIRST].dtype, correlate_grad, call, which)
}

static mxc_status forward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->out[0].dtype, correlate, call)
}

static mxc_status backward(const mxc_op_call *call) {
    MXC_TRY(grad(call, FIRST));
    return grad(call, SECOND);
}

MXCU_OP_IMPLS(correlation, {"Correlation", forward, backward})
