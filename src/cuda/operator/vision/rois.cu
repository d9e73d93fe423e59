/* ROIPooling and ROIAlign. Gradients are gathered: an element of data asks every region what went there. */
#include "cuda/runtime/gradient.h"
#include "cuda/runtime/kernel.h"
#include "operator/vision/roi_align_kernels.h"
#include "operator/vision/roi_pooling_kernels.h"
#include "operator/vision/vision.h"

enum { DATA, ROIS };

/* ---- ROIPooling
 * ------------------------------------------------------------------------------------------------------ */

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

/* The sample that a region is of; -1: it is not there. */
template <class T> MXCU_DEVICE static int64_t sample_of(const mxcu_in<T> &rois, int64_t r, int64_t samples) {
    const double sample = rois[5 * r];
    return sample >= 0 && sample < (double)samples ? (int64_t)sample : -1;
}

/* The largest element of its plane, the first of equal ones, in each bin of (region, channel, row, column); -1: none.
 */
template <class T, class F> static mxc_status for_largest(const mxc_op_call *call, F put) {
    const mxci_roi_shape s = pooling_shape(call);
    mxcu_in<T> x = mxcu_data<T>(&call->in[DATA]), rois = mxcu_data<T>(&call->in[ROIS]);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t bins = s.out[0] * s.out[1], i = at % bins, c = at / bins % s.channels, r = at / bins / s.channels;
        const int64_t sample = sample_of(rois, r, s.samples), first = (sample * s.channels + c) * s.in[0] * s.in[1];
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

template <class T> struct put_value {
    mxcu_in<T> x;
    mxcu_out<T> y;
    MXCU_DEVICE void operator()(int64_t at, int64_t best, int64_t first) const {
        y.put(at, best < 0 ? 0 : x[first + best]);
    }
};

struct put_place {
    int64_t *to;
    MXCU_DEVICE void operator()(int64_t at, int64_t best, int64_t) const {
        to[at] = best;
    }
};

template <class T> static mxc_status pool(const mxc_op_call *call) {
    return for_largest<T>(call, put_value<T>{mxcu_data<T>(&call->in[DATA]), mxcu_result<T>(call, &call->out[0], 0)});
}

template <class T> static mxc_status pool_grad(const mxc_op_call *call) {
    const mxci_roi_shape s = pooling_shape(call);
    const int64_t n_rois = call->in[ROIS].shape.dim[0];
    int64_t *places = mxcu_temp<int64_t>(call, 0);
    mxcu_in<T> rois = mxcu_data<T>(&call->in[ROIS]), g = mxcu_data<T>(&call->out_grad[0]);
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[DATA], DATA);
    MXC_TRY(for_largest<T>(call, put_place{places}));
    return mxcu_for(call, mxcu_size(&call->in_grad[DATA]), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t size = s.in[0] * s.in[1], here = at % size, plane = at / size, c = plane % s.channels;
        mxcu_compute_t<T> sum = 0;
        for (int64_t r = 0; r < n_rois; r++) {
            if (sample_of(rois, r, s.samples) != plane / s.channels)
                continue;
            for (int64_t i = 0; i < s.out[0]; i++) {
                const roi_bin b = bin_of(s, rois, r, i, 0);
                const int64_t first = ((r * s.channels + c) * s.out[0] + i) * s.out[1];
                if (here / s.in[1] >= b.y0 && here / s.in[1] < b.y1)
                    for (int64_t j = first; j < first + s.out[1]; j++)
                        sum += places[j] == here ? g[j] : 0;
            }
        }
        dx.put(at, sum);
    });
}

static size_t pool_temp(const mxc_op_sig *sig, mxc_pass pass) {
    return pass == MXC_FORWARD ? 0 : mxci_shape_bytes(&sig->out_shape[0], sizeof(int64_t));
}

static mxc_status pool_forward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->out[0].dtype, pool, call)
}

static mxc_status pool_backward(const mxc_op_call *call) {
    MXC_TRY(mxcu_no_gradient(call, ROIS));
    if (call->req[DATA] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->in_grad[DATA].dtype, pool_grad, call)
}

/* ---- ROIAlign
 * -------------------------------------------------------------------------------------------------------- */

static mxci_align_shape align_shape(const mxc_op_call *call) {
    const mxci_align_params *p = static_cast<const mxci_align_params *>(call->params);
    const int64_t *in = call->in[DATA].shape.dim, *out = call->out[0].shape.dim;
    const int64_t samples = in[2] * in[3] > 0 ? in[0] : 0; /* nothing can be read from empty planes */
    return {samples,          in[1],           {in[2], in[3]},        out[1],     {out[2], out[3]},
            p->spatial_scale, p->sample_ratio, p->position_sensitive, p->aligned, 0};
}

template <class T>
MXCU_DEVICE static mxci_align_part part_of(const mxci_align_shape &s, const mxcu_in<T> &rois, int64_t r, int64_t part) {
    double roi[5];
    for (int i = 0; i < 5; i++)
        roi[i] = rois[5 * r + i];
    return mxci_align_open(&s, roi, part);
}

/* The channel of data that part part of a plane of out is made of. */
MXCU_DEVICE static int64_t channel_of(const mxci_align_shape &s, int64_t plane, int64_t part) {
    return s.by_part ? plane * s.out[0] * s.out[1] + part : plane;
}

/* What row (axis 0) or column (1) number element of data counts in the places of a part along the axis. */
MXCU_DEVICE static double share_of(const mxci_align_shape &s, const mxci_align_part &p, int axis, int64_t element) {
    double sum = 0, share;
    int64_t pair[2];
    for (int64_t i = p.first[axis]; i < p.last[axis]; i++)
        if (mxci_align_pair(p.start[axis] + (double)i * p.step[axis], s.in[axis], pair, &share))
            sum += (pair[0] == element ? 1 - share : 0) + (pair[1] == element ? share : 0);
    return sum;
}

template <class T> static mxc_status align(const mxc_op_call *call) {
    const mxci_align_shape s = align_shape(call);
    mxcu_in<T> x = mxcu_data<T>(&call->in[DATA]), rois = mxcu_data<T>(&call->in[ROIS]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t parts = s.out[0] * s.out[1], part = at % parts, plane = at / parts % s.planes;
        const int64_t r = at / parts / s.planes, sample = sample_of(rois, r, s.samples);
        const int64_t first = (sample * s.channels + channel_of(s, plane, part)) * s.in[0] * s.in[1];
        const mxci_align_part p = part_of(s, rois, r, part);
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

template <class T> static mxc_status align_grad(const mxc_op_call *call) {
    const mxci_align_shape s = align_shape(call);
    const int64_t n_rois = call->in[ROIS].shape.dim[0];
    mxcu_in<T> rois = mxcu_data<T>(&call->in[ROIS]), g = mxcu_data<T>(&call->out_grad[0]);
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[DATA], DATA);
    return mxcu_for(call, mxcu_size(&call->in_grad[DATA]), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t size = s.in[0] * s.in[1], y = at % size / s.in[1], x = at % s.in[1], c = at / size % s.channels;
        const int64_t parts = s.out[0] * s.out[1], plane = s.by_part ? c / parts : c;
        double sum = 0;
        for (int64_t r = 0; r < n_rois; r++) {
            if (sample_of(rois, r, s.samples) != at / size / s.channels)
                continue;
            for (int64_t i = 0; i < s.out[0]; i++) {
                const mxci_align_part above = part_of(s, rois, r, i * s.out[1]);
                const double v = share_of(s, above, 0, y);
                for (int64_t part = i * s.out[1]; part < (i + 1) * s.out[1] && v > 0; part++)
                    if (channel_of(s, plane, part) == c)
                        sum += v * share_of(s, part_of(s, rois, r, part), 1, x) / above.count *
                               (double)g[(r * s.planes + plane) * parts + part];
            }
        }
        dx.put(at, (mxcu_compute_t<T>)sum);
    });
}

static mxc_status align_forward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->out[0].dtype, align, call)
}

static mxc_status align_backward(const mxc_op_call *call) {
    MXC_TRY(mxcu_no_gradient(call, ROIS));
    if (call->req[DATA] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->in_grad[DATA].dtype, align_grad, call)
}

MXCU_OP_IMPLS(rois, {"ROIPooling", pool_forward, pool_backward, pool_temp},
              {"_contrib_ROIAlign", align_forward, align_backward})
