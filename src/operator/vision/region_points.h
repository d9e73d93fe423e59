/* SPDX-License-Identifier: Apache-2.0 */
/* Pooling of regions of images, where a bin of a region is a mean over points and a point is a weighted sum of elements
 * of one plane. An operator says which points a bin has (mxci_region_bin) and which elements a point reads; reading and
 * the gradient of data are here. Computed in double for f32 and f64. */
#ifndef MXCI_OPERATOR_VISION_REGION_POINTS_H
#define MXCI_OPERATOR_VISION_REGION_POINTS_H

#include <math.h>
#include <string.h>

#include <mxc/kernel.h>

#include "base/size.h"
#include "math/assign.h"

/* A bin: points first..end-1 along each axis (y, x) are read; the value is their sum times scale. */
typedef struct mxci_region_bin {
    int64_t sample, channel; /* sample -1: there is none, and the value is 0 */
    int64_t first[2], end[2];
    double start[2], step[2]; /* position of point i along an axis: start + i step */
    double sine, cosine, centre[2];
    double scale;
} mxci_region_bin;

enum { MXCI_REGION_TAPS = 4 };

typedef struct mxci_region_run mxci_region_run;
/* bin number `index` of plane `plane` of region r */
typedef mxci_region_bin mxci_region_bin_fn(const mxci_region_run *run, int64_t r, int64_t plane, int64_t index);
/* The elements that point (y, x) of a bin reads, and their weights; returns how many. */
typedef int mxci_region_point_fn(const mxci_region_run *run, const mxci_region_bin *bin, const int64_t *point,
                                 int64_t *at, double *weight);

struct mxci_region_run {
    const mxc_op_call *call;
    const mxc_shape *data, *out; /* (N,C,h,w), (R,planes,bins) */
    mxci_region_bin_fn *bin;
    mxci_region_point_fn *point;
    double *sums; /* backward: of each element of the gradient of data */
};

/* The sample of region r, whose numbers are the rows of argument 1; -1: it does not exist. The numbers are kept within
 * what a number of elements can represent. */
static inline int64_t mxci_region_open(const mxci_region_run *run, int64_t r, int n, double *roi) {
    for (int i = 0; i < n; i++)
        roi[i] = fmin(fmax(mxci_value_at(&run->call->in[1], r * n + i), -1e9), 1e9);
    return roi[0] >= 0 && roi[0] < (double)run->data->dim[0] && run->data->dim[2] > 0 && run->data->dim[3] > 0
               ? (int64_t)roi[0]
               : -1;
}

/* The four elements around (y, x), which is inside the plane, and their weights. */
static inline int mxci_region_bilinear(const mxci_region_run *run, double y, double x, int64_t *at, double *weight) {
    const int64_t h = run->data->dim[2], w = run->data->dim[3];
    const int64_t row = y < (double)(h - 1) ? (int64_t)y : h - 1, column = x < (double)(w - 1) ? (int64_t)x : w - 1;
    const double v = y - (double)row, u = x - (double)column;
    for (int k = 0; k < MXCI_REGION_TAPS; k++) {
        const int64_t below = k >> 1 && row + 1 < h, right = k & 1 && column + 1 < w;
        at[k] = (row + below) * w + column + right;
        weight[k] = (k >> 1 ? v : 1 - v) * (k & 1 ? u : 1 - u);
    }
    return MXCI_REGION_TAPS;
}

/* The first element of the plane that a bin reads. */
static inline int64_t mxci_region_plane(const mxci_region_run *run, const mxci_region_bin *bin) {
    return (bin->sample * run->data->dim[1] + bin->channel) * run->data->dim[2] * run->data->dim[3];
}

/* Sum over a bin's points. */
static inline double mxci_region_sum(const mxci_region_run *run, const mxci_region_bin *bin) {
    const mxc_tensor *x = &run->call->in[0];
    const int64_t plane = mxci_region_plane(run, bin);
    double weight[MXCI_REGION_TAPS], sum = 0;
    int64_t at[MXCI_REGION_TAPS], point[2];
    for (point[0] = bin->first[0]; point[0] < bin->end[0]; point[0]++)
        for (point[1] = bin->first[1]; point[1] < bin->end[1]; point[1]++) {
            const int n = run->point(run, bin, point, at, weight);
            for (int k = 0; k < n; k++)
                sum += weight[k] * (x->dtype == MXC_F32 ? (double)((const float *)x->data)[plane + at[k]]
                                                        : ((const double *)x->data)[plane + at[k]]);
        }
    return sum;
}

/* Gradients are summed up in double: in the gradient itself where that is f64, else in scratch of so many bytes, which
 * the gradients of several arguments use one after the other. */
static inline size_t mxci_region_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    int64_t most = 0;
    for (int i = 0; i < sig->n_in && pass == MXC_BACKWARD; i++)
        if (sig->in_type[i] != MXC_F64 && mxc_shape_size(&sig->in_shape[i]) > most)
            most = mxc_shape_size(&sig->in_shape[i]);
    return mxci_size_of(most, sizeof(double));
}

/* The sums of the gradient of an argument. */
static inline mxc_tensor mxci_region_sums(const mxc_op_call *call, int slot) {
    mxc_tensor sums = call->in_grad[slot];
    sums.data = sums.dtype == MXC_F64 ? sums.data : call->temp;
    sums.dtype = MXC_F64;
    return sums;
}

static inline double *mxci_region_open_sums(const mxc_op_call *call, int slot) {
    const mxc_tensor sums = mxci_region_sums(call, slot);
    if (sums.data == call->temp || call->req[slot] != MXC_REQ_ADD)
        mxci_assign_constant(call->run, MXC_REQ_WRITE, &sums, 0);
    return sums.data;
}

static inline mxc_status mxci_region_store_sums(const mxc_op_call *call, int slot) {
    const mxc_tensor sums = mxci_region_sums(call, slot);
    return sums.data == call->temp ? mxc_store(call->run, call->req[slot], &sums, &call->in_grad[slot]) : MXC_OK;
}

/* Adds value to a bin's points in the gradient of data. */
static inline void mxci_region_spread(const mxci_region_run *run, const mxci_region_bin *bin, double value) {
    const int64_t plane = mxci_region_plane(run, bin);
    double weight[MXCI_REGION_TAPS];
    int64_t at[MXCI_REGION_TAPS], point[2];
    for (point[0] = bin->first[0]; point[0] < bin->end[0]; point[0]++)
        for (point[1] = bin->first[1]; point[1] < bin->end[1]; point[1]++) {
            const int n = run->point(run, bin, point, at, weight);
            for (int k = 0; k < n; k++)
                run->sums[plane + at[k]] += value * weight[k];
        }
}

/* Regions begin..end-1 of out. */
static inline void mxci_region_forward_part(void *arg, int64_t begin, int64_t end, int part) {
    const mxci_region_run *run = arg;
    const int64_t planes = run->out->dim[1], bins = run->out->dim[2] * run->out->dim[3];
    (void)part;
    for (int64_t i = begin * planes * bins; i < end * planes * bins; i++) {
        const mxci_region_bin bin = run->bin(run, i / bins / planes, i / bins % planes, i % bins);
        mxci_assign_value(run->call->req[0], &run->call->out[0], i,
                          bin.sample >= 0 ? mxci_region_sum(run, &bin) * bin.scale : 0);
    }
}

/* Planes begin..end-1 of each region: no two planes of out read one plane of data. */
static inline void mxci_region_backward_part(void *arg, int64_t begin, int64_t end, int part) {
    const mxci_region_run *run = arg;
    const int64_t regions = run->out->dim[0], planes = run->out->dim[1], bins = run->out->dim[2] * run->out->dim[3];
    (void)part;
    for (int64_t r = 0; r < regions; r++)
        for (int64_t i = begin * bins; i < end * bins; i++) {
            const mxci_region_bin bin = run->bin(run, r, i / bins, i % bins);
            const double g = mxci_value_at(&run->call->out_grad[0], r * planes * bins + i);
            if (bin.sample >= 0)
                mxci_region_spread(run, &bin, g * bin.scale);
        }
}

static inline void mxci_region_forward(const mxci_region_run *run) {
    const mxc_op_call *call = run->call;
    if (call->req[0] != MXC_REQ_NULL && mxci_tensor_size(&call->out[0]) > 0)
        mxc_parallel_for(call->run, run->out->dim[0], 1, mxci_region_forward_part, (void *)run);
}

/* The gradient of data. */
static inline mxc_status mxci_region_backward(mxci_region_run *run) {
    const mxc_op_call *call = run->call;
    if (call->req[0] == MXC_REQ_NULL || mxci_tensor_size(&call->in_grad[0]) == 0)
        return MXC_OK;
    run->sums = mxci_region_open_sums(call, 0);
    mxc_parallel_for(call->run, run->out->dim[1], 1, mxci_region_backward_part, run);
    return mxci_region_store_sums(call, 0);
}

#endif
