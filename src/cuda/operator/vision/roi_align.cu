/* SPDX-License-Identifier: Apache-2.0 */
/* _contrib_ROIAlign; a thread per element of out. Gradients are gathered without atomics: a thread per element of data
 * sums its weights in the bins of every region, so backward takes time in proportion to elements times regions. */
#include "cuda/operator/vision/roi.h"
#include "cuda/runtime/gradient.h"
#include "operator/vision/roi_align_kernels.h"
#include "operator/vision/vision.h"

enum { DATA, ROIS };

static mxci_align_shape align_shape(const mxc_op_call *call) {
    const mxci_align_params *p = static_cast<const mxci_align_params *>(call->params);
    const int64_t *in = call->in[DATA].shape.dim, *out = call->out[0].shape.dim;
    const int64_t samples = in[2] * in[3] > 0 ? in[0] : 0; /* nothing can be read from empty planes */
    return {samples,          in[1],           {in[2], in[3]},        out[1],     {out[2], out[3]},
            p->spatial_scale, p->sample_ratio, p->position_sensitive, p->aligned, 0};
}

/* The sampling points of one bin of a region. */
template <class T>
MXCU_DEVICE static mxci_align_bin bin_of(const mxci_align_shape &s, const mxcu_in<T> &rois, int64_t r, int64_t bin) {
    double roi[5];
    for (int i = 0; i < 5; i++)
        roi[i] = rois[5 * r + i];
    return mxci_align_bin_of(&s, roi, bin);
}

/* The channel of data that bin `bin` of a plane of out reads: with position-sensitive pooling each bin has its own. */
MXCU_DEVICE static int64_t channel_of(const mxci_align_shape &s, int64_t plane, int64_t bin) {
    return s.by_part ? plane * s.out[0] * s.out[1] + bin : plane;
}

/* The weight of row (axis 0) or column (axis 1) number `element` of data in a bin, summed over the bin's sampling
 * points along that axis. */
MXCU_DEVICE static double share_of(const mxci_align_shape &s, const mxci_align_bin &p, int axis, int64_t element) {
    double sum = 0, share;
    int64_t pair[2];
    for (int64_t i = p.first[axis]; i < p.last[axis]; i++)
        if (mxci_align_pair(p.start[axis] + (double)i * p.step[axis], s.in[axis], pair, &share))
            sum += (pair[0] == element ? 1 - share : 0) + (pair[1] == element ? share : 0);
    return sum;
}

/* A thread per bin of a region and plane: the mean over the bin's points. */
template <class T> static mxc_status align(const mxc_op_call *call) {
    const mxci_align_shape s = align_shape(call);
    mxcu_in<T> x = mxcu_data<T>(&call->in[DATA]), rois = mxcu_data<T>(&call->in[ROIS]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t bins = s.out[0] * s.out[1], bin = at % bins, plane = at / bins % s.planes;
        const int64_t r = at / bins / s.planes, sample = mxcu_roi_sample(rois, r, s.samples);
        const int64_t first = (sample * s.channels + channel_of(s, plane, bin)) * s.in[0] * s.in[1];
        const mxci_align_bin p = bin_of(s, rois, r, bin);
        int64_t row[2], column[2];
        double v, u, sum = 0;
        for (int64_t i = p.first[0]; i < p.last[0] && sample >= 0; i++) {
            if (!mxci_align_pair(p.start[0] + (double)i * p.step[0], s.in[0], row, &v))
                continue;
            for (int64_t j = p.first[1]; j < p.last[1]; j++)
                if (mxci_align_pair(p.start[1] + (double)j * p.step[1], s.in[1], column, &u))
                    for (int k = 0; k < 4; k++)
                        sum += (k >> 1 ? v : 1 - v) * (k & 1 ? u : 1 - u) *
                               (double)x[first + row[k >> 1] * s.in[1] + column[k & 1]];
        }
        y.put(at, (mxcu_compute_t<T>)(sum / p.count));
    });
}

/* A thread per element of data: regions of its sample, rows of bins whose weight is not 0, then bins. */
template <class T> static mxc_status align_grad(const mxc_op_call *call) {
    const mxci_align_shape s = align_shape(call);
    const int64_t n_rois = call->in[ROIS].shape.dim[0];
    mxcu_in<T> rois = mxcu_data<T>(&call->in[ROIS]), g = mxcu_data<T>(&call->out_grad[0]);
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[DATA], DATA);
    return mxcu_for(call, mxcu_size(&call->in_grad[DATA]), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t size = s.in[0] * s.in[1], y = at % size / s.in[1], x = at % s.in[1], c = at / size % s.channels;
        const int64_t bins = s.out[0] * s.out[1], plane = s.by_part ? c / bins : c;
        double sum = 0;
        for (int64_t r = 0; r < n_rois; r++) {
            if (mxcu_roi_sample(rois, r, s.samples) != at / size / s.channels)
                continue;
            for (int64_t i = 0; i < s.out[0]; i++) {
                const mxci_align_bin above = bin_of(s, rois, r, i * s.out[1]);
                const double v = share_of(s, above, 0, y);
                for (int64_t bin = i * s.out[1]; bin < (i + 1) * s.out[1] && v > 0; bin++)
                    if (channel_of(s, plane, bin) == c)
                        sum += v * share_of(s, bin_of(s, rois, r, bin), 1, x) / above.count *
                               (double)g[(r * s.planes + plane) * bins + bin];
            }
        }
        dx.put(at, (mxcu_compute_t<T>)sum);
    });
}

static mxc_status forward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->out[0].dtype, align, call)
}

static mxc_status backward(const mxc_op_call *call) {
    MXC_TRY(mxcu_no_gradient(call, ROIS));
    if (call->req[DATA] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->in_grad[DATA].dtype, align_grad, call)
}

MXCU_OP_IMPLS(roi_align, {"_contrib_ROIAlign", forward, backward})
