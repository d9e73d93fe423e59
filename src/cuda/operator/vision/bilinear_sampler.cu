/* SPDX-License-Identifier: Apache-2.0 */
/* BilinearSampler and SpatialTransformer. out reads data between elements, at points that a grid gives, by bilinear
 * interpolation; a thread per element of out. The gradient of data is gathered: the four corners of all points of a
 * sample are sorted by element, and the first thread of each element's corners sums them, in a fixed order and without
 * atomics. */
#include "cuda/operator/index/sort.h"
#include "cuda/operator/vision/grid.h"
#include "cuda/runtime/gradient.h"
#include "operator/vision/vision.h"

enum { DATA, GRID };

/* ---- sampling: G is the type of the grid, an argument or in scratch ---------------------------------------------- */

/* One of the four elements around a point (at -1: outside), its weight in the value there, and in the derivatives along
 * x and y. */
struct corner {
    int64_t at;
    double value, derivative_x, derivative_y;
};

/* Sizes: planes (channels) of a sample, elements of a plane, points of a sample. */
struct sampling {
    int64_t planes, in[2], points;

    /* The k-th corner; point: the element of the grid that has its x. */
    template <class G> MXCU_DEVICE corner find(const G &grid, int64_t point, int k) const {
        int64_t x0 = 0, y0 = 0;
        double fx = 0, fy = 0;
        corner c = {-1, 0, 0, 0};
        if (mxci_grid_reach(grid[point], in[1], &x0, &fx) && mxci_grid_reach(grid[point + points], in[0], &y0, &fy))
            c.at = mxci_grid_corner(in, k, x0, y0, fx, fy, &c.value, &c.derivative_x, &c.derivative_y);
        return c;
    }
};

static sampling sampling_of(const mxc_op_call *call) {
    const int64_t *in = call->in[DATA].shape.dim, *out = call->out[0].shape.dim;
    return {in[1], {in[2], in[3]}, out[2] * out[3]};
}

/* out (N,C,H,W): a thread reads the four corners of its point, weighted. */
template <class T, class G> static mxc_status sample(const mxc_op_call *call, G grid) {
    const sampling s = sampling_of(call);
    mxcu_in<T> x = mxcu_data<T>(&call->in[DATA]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t i = at % s.points, plane = at / s.points, point = plane / s.planes * 2 * s.points + i;
        double sum = 0;
        for (int k = 0; k < 4; k++) {
            const corner c = s.find(grid, point, k);
            sum += c.at < 0 ? 0 : c.value * (double)x[plane * s.in[0] * s.in[1] + c.at];
        }
        y.put(at, (mxcu_compute_t<T>)sum);
    });
}

/* The gradient of the grid, to anything with put: a thread per point sums over all planes. */
template <class T, class G, class To> static mxc_status grid_grad(const mxc_op_call *call, G grid, To to) {
    const sampling s = sampling_of(call);
    mxcu_in<T> x = mxcu_data<T>(&call->in[DATA]), g = mxcu_data<T>(&call->out_grad[0]);
    return mxcu_for(call, call->in[DATA].shape.dim[0] * s.points, [=] MXCU_LAMBDA(int64_t at) {
        const int64_t n = at / s.points, i = at % s.points, point = n * 2 * s.points + i, size = s.in[0] * s.in[1];
        double sum_x = 0, sum_y = 0;
        for (int k = 0; k < 4; k++) {
            const corner c = s.find(grid, point, k);
            double sum = 0;
            for (int64_t plane = n * s.planes; c.at >= 0 && plane < (n + 1) * s.planes; plane++)
                sum += (double)g[plane * s.points + i] * (double)x[plane * size + c.at];
            sum_x += sum * c.derivative_x;
            sum_y += sum * c.derivative_y;
        }
        to.put(point, sum_x);
        to.put(point + s.points, sum_y);
    });
}

/* A thread per corner makes an item: its key is the element, its index 4 * point + k. Corners outside sort last. */
template <class G> static mxc_status sort_corners(const mxc_op_call *call, G grid, mxcu_item *items) {
    const sampling s = sampling_of(call);
    const int64_t samples = call->in[DATA].shape.dim[0], row = mxcu_sort_row(4 * s.points);
    MXC_TRY(mxcu_for(call, samples * row, [=] MXCU_LAMBDA(int64_t at) {
        const int64_t n = at / row, i = at % row / 4, point = n * 2 * s.points + i;
        mxcu_item item = MXCU_LAST_ITEM;
        const int64_t element = i < s.points ? s.find(grid, point, (int)(at % 4)).at : -1;
        if (element >= 0)
            item = {(uint64_t)element, at % row};
        items[at] = item;
    }));
    return mxcu_sort(call, items, samples, row);
}

/* A thread per item and plane; those whose item is the first of its element sum all of the element's. */
template <class T, class G> static mxc_status data_grad(const mxc_op_call *call, G grid, mxcu_item *items) {
    const sampling s = sampling_of(call);
    const int64_t samples = call->in[DATA].shape.dim[0], row = mxcu_sort_row(4 * s.points), size = s.in[0] * s.in[1];
    mxcu_in<T> g = mxcu_data<T>(&call->out_grad[0]);
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[DATA], DATA);
    if (call->req[DATA] != MXC_REQ_ADD)
        MXC_TRY(mxcu_put_constant(call, &call->in_grad[DATA], DATA, 0));
    MXC_TRY(sort_corners(call, grid, items));
    return mxcu_for(call, samples * s.planes * row, [=] MXCU_LAMBDA(int64_t at) {
        const int64_t plane = at / row, n = plane / s.planes, end = (n + 1) * row;
        int64_t j = n * row + at % row;
        const uint64_t key = items[j].key;
        double sum = 0;
        if (key == UINT64_MAX || (at % row > 0 && items[j - 1].key == key))
            return;
        for (; j < end && items[j].key == key; j++) {
            const int64_t i = items[j].index / 4;
            const corner c = s.find(grid, n * 2 * s.points + i, (int)(items[j].index % 4));
            sum += c.value * (double)g[plane * s.points + i];
        }
        dx.put(plane * size + (int64_t)key, (mxcu_compute_t<T>)sum);
    });
}

static size_t corners_bytes(const mxc_op_sig *sig) {
    const mxc_shape *out = &sig->out_shape[0];
    return mxcu_sort_bytes(out->dim[0], mxci_dim_mul(4, mxci_shape_count(out, 2, 4)));
}

/* If data has no elements, out and the gradients are 0. */
static int is_empty(const mxc_op_call *call) {
    return call->in[DATA].shape.dim[2] * call->in[DATA].shape.dim[3] == 0;
}

/* ---- BilinearSampler --------------------------------------------------------------------------------------------- */

static size_t sampler_temp(const mxc_op_sig *sig, mxc_pass pass) {
    return pass == MXC_FORWARD ? 0 : corners_bytes(sig);
}

template <class T> static mxc_status sampler(const mxc_op_call *call) {
    return sample<T>(call, mxcu_data<T>(&call->in[GRID]));
}

/* A result that takes doubles. */
template <class T> struct narrowed {
    mxcu_out<T> to;
    MXCU_DEVICE void put(int64_t i, double value) const {
        to.put(i, (mxcu_compute_t<T>)value);
    }
};

template <class T> static mxc_status sampler_grad(const mxc_op_call *call) {
    mxcu_in<T> grid = mxcu_data<T>(&call->in[GRID]);
    narrowed<T> to = {mxcu_result<T>(call, &call->in_grad[GRID], GRID)};
    if (call->req[GRID] != MXC_REQ_NULL)
        MXC_TRY(grid_grad<T>(call, grid, to));
    return call->req[DATA] == MXC_REQ_NULL ? MXC_OK : data_grad<T>(call, grid, mxcu_temp<mxcu_item>(call, 0));
}

static mxc_status sampler_forward(const mxc_op_call *call) {
    if (is_empty(call) || call->req[0] == MXC_REQ_NULL)
        return mxcu_put_constant(call, &call->out[0], 0, 0);
    MXCU_SWITCH_FLOAT(call->out[0].dtype, sampler, call)
}

static mxc_status sampler_backward(const mxc_op_call *call) {
    if (is_empty(call))
        return mxcu_zero_gradient(call);
    MXCU_SWITCH_FLOAT(call->in[DATA].dtype, sampler_grad, call)
}

/* ---- SpatialTransformer: in scratch the points, then in backward their gradient, then the corners ---------------- */

struct scratch {
    double *data;
    MXCU_DEVICE double operator[](int64_t i) const {
        return data[i];
    }
    MXCU_DEVICE void put(int64_t i, double value) const {
        data[i] = value;
    }
};

static size_t grid_bytes(const mxc_shape *out) {
    return mxci_size_of(mxci_dim_mul(out->dim[0], mxci_shape_count(out, 2, 4)), 2 * sizeof(double));
}

static size_t transformer_temp(const mxc_op_sig *sig, mxc_pass pass) {
    const size_t grid = grid_bytes(&sig->out_shape[0]);
    return pass == MXC_FORWARD ? grid : mxci_size_add(mxci_size_mul(2, grid), corners_bytes(sig));
}

/* The grid is computed in float64 into scratch, then sampled. */
template <class T> static mxc_status transformer(const mxc_op_call *call) {
    scratch grid = {mxcu_temp<double>(call, 0)};
    MXC_TRY(mxcu_grid_put_affine(call, mxcu_grid_size_of(&call->out[0].shape), mxcu_data<T>(&call->in[GRID]), grid));
    return sample<T>(call, grid);
}

template <class T> static mxc_status transformer_grad(const mxc_op_call *call) {
    const size_t bytes = grid_bytes(&call->out[0].shape);
    const mxcu_grid_size size = mxcu_grid_size_of(&call->out[0].shape);
    scratch grid = {mxcu_temp<double>(call, 0)}, grad = {mxcu_temp<double>(call, bytes)};
    narrowed<T> to = {mxcu_result<T>(call, &call->in_grad[GRID], GRID)};
    MXC_TRY(mxcu_grid_put_affine(call, size, mxcu_data<T>(&call->in[GRID]), grid));
    if (call->req[GRID] != MXC_REQ_NULL) {
        MXC_TRY(grid_grad<T>(call, grid, grad));
        MXC_TRY(mxcu_grid_put_affine_gradient(call, size, grad, to));
    }
    return call->req[DATA] == MXC_REQ_NULL ? MXC_OK : data_grad<T>(call, grid, mxcu_temp<mxcu_item>(call, 2 * bytes));
}

static mxc_status transformer_forward(const mxc_op_call *call) {
    if (is_empty(call) || call->req[0] == MXC_REQ_NULL)
        return mxcu_put_constant(call, &call->out[0], 0, 0);
    MXCU_SWITCH_FLOAT(call->out[0].dtype, transformer, call)
}

static mxc_status transformer_backward(const mxc_op_call *call) {
    if (is_empty(call))
        return mxcu_zero_gradient(call);
    MXCU_SWITCH_FLOAT(call->in[DATA].dtype, transformer_grad, call)
}

MXCU_OP_IMPLS(bilinear_sampler, {"BilinearSampler", sampler_forward, sampler_backward, sampler_temp},
              {"SpatialTransformer", transformer_forward, transformer_backward, transformer_temp})
