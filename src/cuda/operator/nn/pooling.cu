/* SPDX-License-Identifier: Apache-2.0 */
/* Pooling, one kernel for both layouts and one to three axes. Forward: a thread per output or, where windows are large
 * (global pooling), a team. Backward: a thread per element of data gathers from the windows that hold it, so no atomics
 * are needed. */
#include "cuda/operator/nn/pooling.h"

#include <cmath>
#include <type_traits>

#include "cuda/runtime/kernel.h"
#include "cuda/runtime/position.h"
#include "operator/nn/pooling.h"

/* Elements of a window that are worth a team. */
enum { LARGE = 64 }; /* elements of a window that are worth a team */

/* A window: elements begin..end-1 of each axis; size: how many, 0 where it is empty. */
struct window {
    int64_t begin[3], end[3], size;
};

MXCU_DEVICE window window_of(const mxci_pool_shape &s, const mxcu_position &o) {
    window w = {{0}, {0}, 1};
    for (int i = 0; i < 3; i++) {
        mxci_pool_window(&s, i, o.at[i], &w.begin[i], &w.end[i]);
        w.size *= w.end[i] > w.begin[i] ? w.end[i] - w.begin[i] : 0;
    }
    return w;
}

/* The offset in the plane of element i of the window. */
MXCU_DEVICE int64_t element_of(const mxci_pool_shape &s, const window &w, int64_t i) {
    const int64_t size[3] = {w.end[0] - w.begin[0], w.end[1] - w.begin[1], w.end[2] - w.begin[2]};
    mxcu_position p = mxcu_position_of(i, size);
    return ((w.begin[0] + p.at[0]) * s.in[1] + w.begin[1] + p.at[1]) * s.in[2] + w.begin[2] + p.at[2];
}

/* The layout of channels: `inner` of them are neighbours, 1 with channels second, all with channels last. in, out:
 * elements of a plane. */
struct channel_planes {
    int64_t inner, in, out;
};

/* The pixel of an element in its plane; the offsets of the plane in x and in y. */
struct element_position {
    int64_t pixel, x, y;
};

/* size: elements of the element's own plane, of in or of out. */
MXCU_DEVICE element_position element_position_of(const channel_planes &p, int64_t i, int64_t size) {
    const int64_t rest = p.inner == 1 ? i : mxcu_divide(i, p.inner), c = i - rest * p.inner;
    const int64_t plane = mxcu_divide(rest, size);
    return {rest - plane * size, plane * p.in * p.inner + c, plane * p.out * p.inner + c};
}

/* What an average divides by. */
MXCU_DEVICE int64_t divisor_of(const mxci_pool_shape &s, const mxcu_position &o) {
    return s.kind != MXCI_POOL_AVG
               ? 1
               : mxci_pool_length(&s, 0, o.at[0]) * mxci_pool_length(&s, 1, o.at[1]) * mxci_pool_length(&s, 2, o.at[2]);
}

static mxci_pool_shape shape_of(const mxc_op_call *call) {
    return mxci_pooling_shape(static_cast<const mxci_pooling_params *>(call->params), &call->in[0].shape,
                              &call->out[0].shape);
}

static channel_planes channel_planes_of(const mxc_op_call *call, const mxci_pool_shape &s) {
    const int channels_last = mxci_pooling_channels_last(static_cast<const mxci_pooling_params *>(call->params));
    const mxc_shape *data = &call->in[0].shape;
    return {channels_last ? data->dim[data->ndim - 1] : 1, s.in[0] * s.in[1] * s.in[2], s.out[0] * s.out[1] * s.out[2]};
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

/* Integers are pooled as floats, and the result is rounded to the nearest, halves to even. */
template <class T> using pooled = typename std::conditional<std::is_integral<T>::value, float, mxcu_compute_t<T>>::type;

template <class T> MXCU_DEVICE mxcu_compute_t<T> finish(pooled<T> value) {
    if constexpr (std::is_integral<T>::value)
        return (mxcu_compute_t<T>)rintf(value);
    else
        return value;
}

/* How an element is accumulated, and what becomes of the sum: for LP pooling its power and the root. */
template <class C> MXCU_DEVICE C power(const mxci_pool_shape &s, C x) {
    return s.kind != MXCI_POOL_LP || s.p == 1 ? x : s.p == 2 ? x * x : x * x * x;
}

template <class C> MXCU_DEVICE C root(const mxci_pool_shape &s, C x) {
    return s.kind != MXCI_POOL_LP || s.p == 1 ? x : s.p == 2 ? (C)sqrt((double)x) : (C)cbrt((double)x);
}

/* Every step-th element of the window from first on: their maximum or sum. */
template <class T>
MXCU_DEVICE pooled<T> pool(const mxci_pool_shape &s, const window &w, const mxcu_in<T> &x, int64_t plane, int64_t inner,
                           int64_t first, int64_t step) {
    pooled<T> value = s.kind == MXCI_POOL_MAX ? -INFINITY : 0;
    for (int64_t i = first; i < w.size; i += step) {
        pooled<T> next = x[plane + element_of(s, w, i) * inner];
        value = s.kind != MXCI_POOL_MAX ? value + power(s, next) : next > value ? next : value;
    }
    return value;
}

/* A thread per output; neighbouring threads have neighbouring outputs. */
template <class T> static mxc_status by_threads(const mxc_op_call *call, mxci_pool_shape s, channel_planes p) {
    mxcu_in<T> x = mxcu_data<T>(&call->in[0]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t i) {
        const element_position at = element_position_of(p, i, p.out);
        const mxcu_position o = mxcu_position_of(at.pixel, s.out);
        const window w = window_of(s, o);
        y.put(i, w.size == 0 ? 0 : finish<T>(root(s, pool<T>(s, w, x, at.x, p.inner, 0, 1)) / divisor_of(s, o)));
    });
}

/* A team per output. Channels second only: with channels last, neighbouring outputs are neighbouring channels, which
 * threads read coalesced. */
template <class T> static mxc_status by_teams(const mxc_op_call *call, mxci_pool_shape s, channel_planes p) {
    mxcu_in<T> x = mxcu_data<T>(&call->in[0]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    int64_t width = s.kernel[0] * s.kernel[1] * s.kernel[2];
    return mxcu_rows(call, mxcu_size(&call->out[0]), width, [=] MXCU_LAMBDA(int64_t i, mxcu_team team) {
        const element_position at = element_position_of(p, i, p.out);
        const mxcu_position o = mxcu_position_of(at.pixel, s.out);
        const window w = window_of(s, o);
        pooled<T> value = pool<T>(s, w, x, at.x, p.inner, team.rank, team.size);
        value = s.kind == MXCI_POOL_MAX ? team.max(value) : team.sum(value);
        if (team.rank == 0)
            y.put(i, w.size == 0 ? 0 : finish<T>(root(s, value) / divisor_of(s, o)));
    });
}

template <class T> static mxc_status forward_as(const mxc_op_call *call) {
    mxci_pool_shape s = shape_of(call);
    const channel_planes p = channel_planes_of(call, s);
    int large = s.kernel[0] * s.kernel[1] * s.kernel[2] >= LARGE;
    return large && p.inner == 1 ? by_teams<T>(call, s, p) : by_threads<T>(call, s, p);
}

static mxc_status forward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->in[0].dtype, forward_as, call)
}

/* For quantized pooling: integers are pooled as floats and rounded. */
mxc_status mxcu_pool_bytes(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    return call->in[0].dtype == MXC_U8 ? forward_as<uint8_t>(call) : forward_as<int8_t>(call);
}

/* ---- backward ---------------------------------------------------------------------------------------------------- */

/* The outputs whose windows hold element p: begin to end - 1 of each axis. */
MXCU_DEVICE window windows_holding(const mxci_pool_shape &s, const mxcu_position &p) {
    window w = {{0}, {0}, 1};
    for (int i = 0; i < 3; i++) {
        int64_t last = mxcu_divide(p.at[i] + s.pad[i], s.stride[i]), past = p.at[i] + s.pad[i] - s.kernel[i];
        w.begin[i] = past < 0 ? 0 : mxcu_divide(past, s.stride[i]) + 1;
        w.end[i] = last < s.out[i] ? last + 1 : s.out[i];
        w.size *= w.end[i] > w.begin[i] ? w.end[i] - w.begin[i] : 0;
    }
    return w;
}

/* Whether element `pixel` of the plane is the window's first that equals its maximum `most`: only that one gets the
 * gradient. */
template <class T>
MXCU_DEVICE bool is_first_maximum(const mxci_pool_shape &s, const mxcu_position &o, const mxcu_in<T> &x, int64_t plane,
                                  int64_t inner, int64_t pixel, mxcu_compute_t<T> most) {
    const window w = window_of(s, o);
    if (x[plane + pixel * inner] != most)
        return false;
    for (int64_t i = 0; i < w.size; i++) {
        int64_t other = element_of(s, w, i);
        if (x[plane + other * inner] == most)
            return other == pixel;
    }
    return false;
}

/* For max pooling each of the windows is searched again, which takes less memory than indices from forward, and MXNet's
 * operator has no output for them. */
template <class T> static mxc_status backward_as(const mxc_op_call *call) {
    const mxci_pool_shape s = shape_of(call);
    const channel_planes p = channel_planes_of(call, s);
    mxcu_in<T> x = mxcu_data<T>(&call->in[0]), y = mxcu_data<T>(&call->out[0]), dy = mxcu_data<T>(&call->out_grad[0]);
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[0], 0);
    return mxcu_for(call, mxcu_size(&call->in_grad[0]), [=] MXCU_LAMBDA(int64_t i) {
        const element_position at = element_position_of(p, i, p.in);
        const window w = windows_holding(s, mxcu_position_of(at.pixel, s.in));
        mxcu_compute_t<T> sum = 0;
        for (int64_t z = w.begin[0]; z < w.end[0]; z++)
            for (int64_t row = w.begin[1]; row < w.end[1]; row++)
                for (int64_t column = w.begin[2]; column < w.end[2]; column++) {
                    const mxcu_position o = {{z, row, column}};
                    int64_t to = at.y + ((z * s.out[1] + row) * s.out[2] + column) * p.inner;
                    if (s.kind == MXCI_POOL_LP && s.p > 1)
                        sum += dy[to] * MXCI_POOL_LP_DERIVATIVE(s.p, x[at.x + at.pixel * p.inner], y[to]);
                    else if (s.kind != MXCI_POOL_MAX || is_first_maximum<T>(s, o, x, at.x, p.inner, at.pixel, y[to]))
                        sum += dy[to] / divisor_of(s, o);
                }
        dx.put(i, sum);
    });
}

static mxc_status backward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->in[0].dtype, backward_as, call)
}

MXCU_OP_IMPLS(pooling, {"Pooling", forward, backward})
