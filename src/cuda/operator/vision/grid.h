/* SPDX-License-Identifier: Apache-2.0 */
/* Affine grids on the GPU (N,2,H,W), for GridGenerator and SpatialTransformer: x, then y, of each point, from -1 to 1.
 * A thread per point; in backward a team per number of the matrices. */
#ifndef MXCI_CUDA_OPERATOR_VISION_GRID_H
#define MXCI_CUDA_OPERATOR_VISION_GRID_H

#include "cuda/runtime/kernel.h"
#include "operator/vision/grid_kernels.h"

struct mxcu_grid_size {
    int64_t samples, out[2];
    MXCU_BOTH int64_t points() const {
        return out[0] * out[1];
    }
};

static inline mxcu_grid_size mxcu_grid_size_of(const mxc_shape *out) {
    return {out->dim[0], {out->dim[2], out->dim[3]}};
}

/* The grid of theta (N, 6), a 2 x 3 matrix per sample, to anything with put(i, value). */
template <class T, class To>
mxc_status mxcu_grid_put_affine(const mxc_op_call *call, mxcu_grid_size s, mxcu_in<T> theta, To to) {
    const int64_t n = s.points();
    return mxcu_for(call, s.samples * n, [=] MXCU_LAMBDA(int64_t at) {
        const int64_t sample = at / n, i = at % n, matrix = 6 * sample;
        const double u = mxci_grid_even(i % s.out[1], s.out[1]), v = mxci_grid_even(i / s.out[1], s.out[0]);
        for (int axis = 0; axis < 2; axis++)
            to.put((2 * sample + axis) * n + i,
                   (mxcu_compute_t<T>)((double)theta[matrix + 3 * axis] * u + (double)theta[matrix + 3 * axis + 1] * v +
                                       (double)theta[matrix + 3 * axis + 2]));
    });
}

/* The gradient of theta: a team per number of a sample's matrix sums over the points. */
template <class From, class To>
mxc_status mxcu_grid_put_affine_gradient(const mxc_op_call *call, mxcu_grid_size s, From g, To to) {
    const int64_t n = s.points();
    return mxcu_rows(call, 6 * s.samples, n, [=] MXCU_LAMBDA(int64_t row, mxcu_team team) {
        const int64_t first = row / 3 * n;
        const int which = (int)(row % 3);
        double sum = 0;
        for (int64_t i = team.rank; i < n; i += team.size)
            sum += (double)g[first + i] * (which == 0   ? mxci_grid_even(i % s.out[1], s.out[1])
                                           : which == 1 ? mxci_grid_even(i / s.out[1], s.out[0])
                                                        : 1);
        sum = team.sum(sum);
        if (team.rank == 0)
            to.put(row, sum);
    });
}

#endif
