/* SPDX-License-Identifier: Apache-2.0 */
/* _contrib_BilinearResize2D and _contrib_AdaptiveAvgPooling2D; a thread per element of out or of the gradient.
 * Gradients are gathered: each element of data finds by bisection the elements of out that it contributed to. */
#include "cuda/runtime/gradient.h"
#include "operator/vision/resize_kernels.h"
#include "operator/vision/vision.h"

enum { DATA, LIKE };

/* Sizes, and how out is made of data. aligned: align_corners; -1 for the blocks of adaptive pooling. */
struct resizing {
    int64_t in[2], out[2];
    int aligned;

    MXCU_DEVICE mxci_resize_tap tap(int axis, int64_t i) const {
        return aligned < 0 ? mxci_resize_block(in[axis], out[axis], i)
                           : mxci_resize_neighbour(in[axis], out[axis], aligned, i);
    }
    /* The weight of row or column x of data in a tap's element of out: equal within a block, or shared by two
     * neighbours. */
    MXCU_DEVICE double weight(const mxci_resize_tap &t, int64_t x) const {
        if (aligned < 0)
            return x >= t.first && x <= t.last ? 1.0 / (double)(t.last - t.first + 1) : 0;
        return (x == t.first ? 1 - t.share : 0) + (x == t.last ? t.share : 0);
    }
    /* Elements begin to end - 1 of out are all that x may contribute to; bisection works since taps are monotonic. */
    MXCU_DEVICE void find(int axis, int64_t x, int64_t *begin, int64_t *end) const {
        int64_t low = 0, high = out[axis];
        while (low < high) { /* the first whose tap ends at x or behind */
            const int64_t middle = (low + high) / 2;
            if (tap(axis, middle).last < x)
                low = middle + 1;
            else
                high = middle;
        }
        *begin = low;
        for (high = out[axis]; low < high;) { /* the first whose tap begins behind x */
            const int64_t middle = (low + high) / 2;
            if (tap(axis, middle).first <= x)
                low = middle + 1;
            else
                high = middle;
        }
        *end = low;
    }
};

static resizing resizing_of(const mxc_op_call *call, int aligned) {
    const int64_t *in = call->in[DATA].shape.dim, *out = call->out[0].shape.dim;
    return {{in[2], in[3]}, {out[2], out[3]}, aligned};
}

/* out: the weighted sum over one or more rows and columns of data. */
template <class T> static mxc_status resize(const mxc_op_call *call, resizing s) {
    mxcu_in<T> x = mxcu_data<T>(&call->in[DATA]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t plane = at / s.out[1] / s.out[0];
        const mxci_resize_tap row = s.tap(0, at / s.out[1] % s.out[0]), column = s.tap(1, at % s.out[1]);
        double sum = 0;
        for (int64_t i = row.first; i <= row.last; i++)
            for (int64_t j = column.first; j <= column.last; j++)
                sum += s.weight(row, i) * s.weight(column, j) * (double)x[(plane * s.in[0] + i) * s.in[1] + j];
        y.put(at, (mxcu_compute_t<T>)sum);
    });
}

/* dx: the sum over the elements of out that the element contributed to, with the same weights. */
template <class T> static mxc_status resize_grad(const mxc_op_call *call, resizing s) {
    mxcu_in<T> g = mxcu_data<T>(&call->out_grad[0]);
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[DATA], DATA);
    return mxcu_for(call, mxcu_size(&call->in_grad[DATA]), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t x = at % s.in[1], y = at / s.in[1] % s.in[0], plane = at / s.in[1] / s.in[0];
        int64_t top, bottom, left, right;
        double sum = 0;
        s.find(0, y, &top, &bottom);
        s.find(1, x, &left, &right);
        for (int64_t i = top; i < bottom; i++) {
            const double share = s.weight(s.tap(0, i), y);
            for (int64_t j = left; j < right; j++)
                sum += share * s.weight(s.tap(1, j), x) * (double)g[(plane * s.out[0] + i) * s.out[1] + j];
        }
        dx.put(at, (mxcu_compute_t<T>)sum);
    });
}

static mxc_status run_resize(const mxc_op_call *call, int aligned) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->out[0].dtype, resize, call, resizing_of(call, aligned))
}

static mxc_status run_resize_grad(const mxc_op_call *call, int aligned) {
    if (call->n_in > LIKE)
        MXC_TRY(mxcu_no_gradient(call, LIKE));
    if (call->req[DATA] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->in_grad[DATA].dtype, resize_grad, call, resizing_of(call, aligned))
}

static int is_aligned(const mxc_op_call *call) {
    return static_cast<const mxci_resize_params *>(call->params)->align_corners != 0;
}

static mxc_status resize_forward(const mxc_op_call *call) {
    return run_resize(call, is_aligned(call));
}
static mxc_status resize_backward(const mxc_op_call *call) {
    return run_resize_grad(call, is_aligned(call));
}
static mxc_status pool_forward(const mxc_op_call *call) {
    return run_resize(call, -1);
}
static mxc_status pool_backward(const mxc_op_call *call) {
    return run_resize_grad(call, -1);
}

MXCU_OP_IMPLS(resize, {"_contrib_BilinearResize2D", resize_forward, resize_backward},
              {"_contrib_AdaptiveAvgPooling2D", pool_forward, pool_backward})
