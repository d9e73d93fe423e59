/* SPDX-License-Identifier: Apache-2.0 */
/* ROIPooling; a thread per bin. Gradients are gathered without atomics: backward first finds the maximum of each bin
 * again, into scratch, then a thread per element of data looks in every region for the bins whose maximum it is. */
#include "cuda/operator/vision/roi.h"
#include "cuda/runtime/gradient.h"
#include "operator/vision/roi_pooling_kernels.h"
#include "operator/vision/vision.h"

enum { DATA, ROIS };

static mxci_roi_shape pooling_shape(const mxc_op_call *call) {
    const int64_t *in = call->in[DATA].shape.dim, *out = call->out[0].shape.dim;
    return {in[0],
            in[1],
            {in[2], in[3]},
            {out[2], out[3]},
            static_cast<const mxci_roi_params *>(call->params)->spatial_scale,
            0};
}

/* Rows and columns of data in one bin of a region. */
struct roi_bin {
    int64_t y0, y1, x0, x1;
};

/* Bin (row, column) of region r, clipped to the plane. */
template <class T>
MXCU_DEVICE static roi_bin bin_of(const mxci_roi_shape &s, const mxcu_in<T> &rois, int64_t r, int64_t row,
                                  int64_t column) {
    roi_bin b;
    mxci_roi_bin(mxci_roi_element(rois[5 * r + 1], s.scale), mxci_roi_element(rois[5 * r + 3], s.scale), column,
                 s.out[1], s.in[1], &b.x0, &b.x1);
    mxci_roi_bin(mxci_roi_element(rois[5 * r + 2], s.scale), mxci_roi_element(rois[5 * r + 4], s.scale), row, s.out[0],
                 s.in[0], &b.y0, &b.y1);
    return b;
}

/* put(bin, best, first): the index of the largest element of its plane in each bin (region, channel, row, column), the
 * first of equal ones, -1: the bin is empty; and the plane's first element. */
template <class T, class F> static mxc_status for_largest(const mxc_op_call *call, F put) {
    const mxci_roi_shape s = pooling_shape(call);
    mxcu_in<T> x = mxcu_data<T>(&call->in[DATA]), rois = mxcu_data<T>(&call->in[ROIS]);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t bins = s.out[0] * s.out[1], i = at % bins, c = at / bins % s.channels, r = at / bins / s.channels;
        const int64_t sample = mxcu_roi_sample(rois, r, s.samples),
                      first = (sample * s.channels + c) * s.in[0] * s.in[1];
        int64_t best = -1;
        if (sample >= 0) {
            const roi_bin b = bin_of(s, rois, r, i / s.out[1], i % s.out[1]);
            for (int64_t y = b.y0; y < b.y1; y++)
                for (int64_t column = b.x0; column < b.x1; column++) {
                    const int64_t here = y * s.in[1] + column;
                    if (best < 0 || x[first + here] > x[first + best])
                        best = here;
                }
        }
        put(at, best, first);
    });
}

/* Forward: the element itself, 0 for an empty bin. */
template <class T> struct put_value {
    mxcu_in<T> x;
    mxcu_out<T> y;
    MXCU_DEVICE void operator()(int64_t at, int64_t best, int64_t first) const {
        y.put(at, best < 0 ? 0 : x[first + best]);
    }
};

/* Backward: where it is. */
struct put_index {
    int64_t *to;
    MXCU_DEVICE void operator()(int64_t at, int64_t best, int64_t) const {
        to[at] = best;
    }
};

template <class T> static mxc_status pool(const mxc_op_call *call) {
    return for_largest<T>(call, put_value<T>{mxcu_data<T>(&call->in[DATA]), mxcu_result<T>(call, &call->out[0], 0)});
}

/* Regions of the element's sample, rows of bins that contain it, then the bins of the row. */
template <class T> static mxc_status pool_grad(const mxc_op_call *call) {
    const mxci_roi_shape s = pooling_shape(call);
    const int64_t n_rois = call->in[ROIS].shape.dim[0];
    int64_t *maxima = mxcu_temp<int64_t>(call, 0);
    mxcu_in<T> rois = mxcu_data<T>(&call->in[ROIS]), g = mxcu_data<T>(&call->out_grad[0]);
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[DATA], DATA);
    MXC_TRY(for_largest<T>(call, put_index{maxima}));
    return mxcu_for(call, mxcu_size(&call->in_grad[DATA]), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t size = s.in[0] * s.in[1], here = at % size, plane = at / size, c = plane % s.channels;
        mxcu_compute_t<T> sum = 0;
        for (int64_t r = 0; r < n_rois; r++) {
            if (mxcu_roi_sample(rois, r, s.samples) != plane / s.channels)
                continue;
            for (int64_t i = 0; i < s.out[0]; i++) {
                const roi_bin b = bin_of(s, rois, r, i, 0);
                const int64_t first = ((r * s.channels + c) * s.out[0] + i) * s.out[1];
                if (here / s.in[1] >= b.y0 && here / s.in[1] < b.y1)
                    for (int64_t j = first; j < first + s.out[1]; j++)
                        sum += maxima[j] == here ? g[j] : 0;
            }
        }
        dx.put(at, sum);
    });
}

static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    return pass == MXC_FORWARD ? 0 : mxci_shape_bytes(&sig->out_shape[0], sizeof(int64_t));
}

static mxc_status forward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->out[0].dtype, pool, call)
}

static mxc_status backward(const mxc_op_call *call) {
    MXC_TRY(mxcu_no_gradient(call, ROIS));
    if (call->req[DATA] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->in_grad[DATA].dtype, pool_grad, call)
}

MXCU_OP_IMPLS(roi_pooling, {"ROIPooling", forward, backward, temp_bytes})
