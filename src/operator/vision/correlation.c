/* SPDX-License-Identifier: Apache-2.0 */
/* Correlation of patches (Dosovitskiy et al., FlowNet, 2015). data1, data2 (N,C,h,w), with pad_size zeros around them;
 * out (N,G*G,H,W) holds, for each of G*G displacements of data2, -max_displacement to max_displacement along each axis
 * in steps of stride2, and for each position in data1, stride1 apart: the mean, over channels and the kernel_size *
 * kernel_size elements of a patch, of the products, or the absolute differences, of data1 at the position and data2 at
 * the displaced one.
 *
 * Both arguments are copied to scratch with their padding, in the compute type. Rows of out, or planes of a gradient,
 * are distributed over threads. */
#include <string.h>

#include "math/assign.h"
#include "math/tile_kernels.h"
#include "operator/infer.h"
#include "operator/vision/correlation_kernels.h"
#include "operator/vision/vision.h"

typedef mxci_correlation_params correlation_params;

enum { FIRST, SECOND };

#define COUNT(field, least)                                                                            \
    .type = MXC_PARAM_INT, MXC_PARAM_FIELD(correlation_params, field), .bounded = 1, .minimum = least, \
    .maximum = 1 << 30
static const mxc_param schema[] = {
    {.name = "kernel_size",
     COUNT(kernel_size, 1),
     .initial = "1",
     .doc = "Height and width of the patches that are compared, an odd number."},
    {.name = "max_displacement",
     COUNT(max_displacement, 0),
     .initial = "1",
     .doc = "Maximum displacement along each axis."},
    {.name = "stride1", COUNT(stride1, 1), .initial = "1", .doc = "Stride between positions in data1."},
    {.name = "stride2", COUNT(stride2, 1), .initial = "1", .doc = "Stride between displacements."},
    {.name = "pad_size", COUNT(pad_size, 0), .initial = "0", .doc = "Zero padding at each side."},
    {MXC_PARAM_FIELD(correlation_params, is_multiply), .name = "is_multiply", .type = MXC_PARAM_BOOL, .initial = "true",
     .doc = "Compare by products; otherwise by absolute differences."},
    MXC_PARAM_END,
};
#undef COUNT

static mxc_status correlation_check_params(void *params) {
    int64_t n = ((const correlation_params *)params)->kernel_size;
    return n % 2 ? MXC_OK
                 : MXC_FAIL(MXC_EINVAL, "Correlation: kernel_size is %lld, expected an odd number", (long long)n);
}

/* ---- inference --------------------------------------------------------------------------------------------------- */

/* Displacements along one axis. */
static int64_t displacements(const correlation_params *p) {
    return p->max_displacement / p->stride2 * 2 + 1;
}

/* Data with its padding. */
static mxc_shape pad(const correlation_params *p, const mxc_shape *data) {
    mxc_shape padded = *data;
    padded.dim[2] += 2 * p->pad_size;
    padded.dim[3] += 2 * p->pad_size;
    return padded;
}

/* *out = positions along an axis: patches and their displacements stay within the padded data. */
static mxc_status infer_positions(mxc_op_sig *sig, int axis, int64_t *out) {
    const correlation_params *p = sig->params;
    int64_t size = sig->in_shape[FIRST].dim[axis], border = 2 * p->max_displacement + p->kernel_size - 1, room;
    if (size < 0)
        return MXC_OK;
    room = size + 2 * p->pad_size - border;
    if (room < 1)
        return mxc_sig_fail(sig, "argument 'data1': axis %d has %lld elements with padding, expected more than %lld",
                            axis, (long long)(room + border), (long long)border);
    *out = (room + p->stride1 - 1) / p->stride1;
    return MXC_OK;
}

static mxc_status correlation_infer_shape(mxc_op_sig *sig) {
    const correlation_params *p = sig->params;
    const int64_t all_displacements = mxci_dim_mul(displacements(p), displacements(p));
    mxc_shape data = mxci_shape_axes(4), out = mxci_shape_of(4, (int64_t[]){-1, all_displacements, -1, -1});
    for (int pass = 0; pass < 2; pass++) {
        MXC_TRY(mxc_sig_set_shape(sig, FIRST, &data));
        MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){FIRST, SECOND}));
        out.dim[0] = sig->in_shape[FIRST].dim[0];
        MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
        data.dim[0] = sig->out_shape[0].dim[0];
    }
    MXC_TRY(infer_positions(sig, 2, &out.dim[2]));
    MXC_TRY(infer_positions(sig, 3, &out.dim[3]));
    if (mxc_shape_known(&sig->in_shape[FIRST])) {
        mxc_shape padded = pad(p, &sig->in_shape[FIRST]);
        char text[MXC_SHAPE_TEXT];
        if (!mxci_shape_fits(&padded))
            return mxc_sig_fail(sig, "argument 'data1': padded to %s, it is larger than memory can be",
                                mxc_shape_format(&padded, text, sizeof text));
    }
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

typedef struct correlation_run {
    const mxc_op_call *call;
    const correlation_params *params;
    mxc_dtype compute;
    mxci_correlation_shape shape;
    mxc_tensor padded[2]; /* (N,C,padded) in the compute type */
    int which;            /* backward: the argument */
    char *sums;           /* backward: a plane of each part */
} correlation_run;

static size_t padded_bytes(const correlation_params *p, const mxc_shape *data, mxc_dtype dtype) {
    mxc_shape padded = pad(p, data);
    return mxci_size_align(mxci_shape_bytes(&padded, mxc_dtype_size(mxci_compute_type(dtype))));
}

static size_t plane_bytes(const correlation_params *p, const mxc_shape *data, mxc_dtype dtype) {
    mxc_shape plane = *data;
    plane.dim[0] = plane.dim[1] = 1;
    return padded_bytes(p, &plane, dtype);
}

static size_t correlation_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    const mxc_shape *data = &sig->in_shape[FIRST];
    mxci_scratch s = {0};
    mxci_scratch_array(&s, 2, padded_bytes(sig->params, data, sig->in_type[FIRST]));
    if (pass == MXC_BACKWARD)
        mxci_scratch_array(&s, sig->parallelism, plane_bytes(sig->params, data, sig->in_type[FIRST]));
    return s.bytes;
}

/* Rows begin..end-1 of all planes of an argument, with their padding. */
static void pad_part(void *arg, int64_t begin, int64_t end, int part) {
    const correlation_run *r = arg;
    const mxc_tensor *from = &r->call->in[r->which], *to = &r->padded[r->which];
    const int64_t height = to->shape.dim[2], width = to->shape.dim[3], border = r->params->pad_size;
    const int64_t *in = from->shape.dim;
    (void)part;
    memset(mxci_at(to, begin * width), 0, (size_t)((end - begin) * width) * mxc_dtype_size(r->compute));
    for (int64_t row = begin; row < end; row++) {
        int64_t y = row % height - border;
        if (y >= 0 && y < in[2])
            mxci_load(from->dtype, mxci_at(from, (row / height * in[2] + y) * in[3]), mxci_at(to, row * width + border),
                      in[3]);
    }
}

static correlation_run correlation_open_run(const mxc_op_call *call) {
    const correlation_params *p = call->params;
    correlation_run r = {.call = call, .params = p, .compute = mxci_compute_type(call->in[FIRST].dtype)};
    mxc_shape padded = pad(p, &call->in[FIRST].shape);
    const int64_t *dim = padded.dim;
    r.shape = (mxci_correlation_shape){dim[1], {dim[2], dim[3]}, p->kernel_size, p->stride1, p->is_multiply};
    r.sums = call->temp;
    for (r.which = FIRST; r.which <= SECOND; r.which++) {
        r.padded[r.which] = (mxc_tensor){.data = r.sums, .dtype = r.compute, .shape = padded};
        r.sums += padded_bytes(p, &call->in[FIRST].shape, call->in[FIRST].dtype);
        mxc_parallel_for(call->run, dim[0] * dim[1] * dim[2], MXCI_GRAIN / (dim[3] + 1) + 1, pad_part, &r);
    }
    return r;
}

/* The element of a padded plane at which the patch of an argument begins, for column j of row i of displacement k of
 * out. */
static int64_t patch(const correlation_run *r, int which, int64_t k, int64_t i, int64_t j) {
    const correlation_params *p = r->params;
    int64_t y = i * p->stride1 + p->max_displacement, x = j * p->stride1 + p->max_displacement, n = displacements(p);
    if (which == SECOND) {
        y += (k / n - n / 2) * p->stride2;
        x += (k % n - n / 2) * p->stride2;
    }
    return y * r->shape.in[1] + x;
}

static void scale_row(mxc_dtype dtype, double by, void *row, int64_t n) {
    for (int64_t j = 0; j < n; j++)
        if (dtype == MXC_F32)
            ((float *)row)[j] = (float)(((float *)row)[j] * by);
        else
            ((double *)row)[j] *= by;
}

/* The factor of sums. */
static double mean_of(const correlation_run *r) {
    double channels = r->shape.channels > 0 ? (double)r->shape.channels : 1;
    return 1 / ((double)r->params->kernel_size * (double)r->params->kernel_size * channels);
}

/* Rows begin..end-1 of out, of all samples and displacements. */
static void correlation_forward_part(void *arg, int64_t begin, int64_t end, int part) {
    const correlation_run *r = arg;
    const mxc_tensor *out = &r->call->out[0];
    const int64_t *dim = out->shape.dim, sample = r->shape.channels * r->shape.in[0] * r->shape.in[1];
    _Alignas(64) double tile[MXCI_TILE];
    (void)part;
    for (int64_t row = begin; row < end; row++)
        for (int64_t j = 0; j < dim[3]; j += MXCI_TILE) {
            int64_t n = dim[3] - j < MXCI_TILE ? dim[3] - j : MXCI_TILE, i = row % dim[2], k = row / dim[2];
            int64_t first = k / dim[1] * sample;
            const void *a = mxci_at(&r->padded[FIRST], first + patch(r, FIRST, k % dim[1], i, j));
            const void *b = mxci_at(&r->padded[SECOND], first + patch(r, SECOND, k % dim[1], i, j));
            if (r->compute == MXC_F32)
                mxci_correlate_f32(&r->shape, a, b, n, (float *)tile);
            else
                mxci_correlate_f64(&r->shape, a, b, n, tile);
            scale_row(r->compute, mean_of(r), tile, n);
            (r->call->req[0] == MXC_REQ_ADD ? mxci_store_add : mxci_store)(out->dtype, tile,
                                                                           mxci_at(out, row * dim[3] + j), n);
        }
}

static mxc_status correlation_forward(const mxc_op_call *call) {
    const int64_t *dim = call->out[0].shape.dim;
    correlation_run r;
    if (call->req[0] == MXC_REQ_NULL || mxci_tensor_size(&call->out[0]) == 0)
        return MXC_OK;
    r = correlation_open_run(call);
    mxc_parallel_for(call->run, dim[0] * dim[1] * dim[2],
                     MXCI_GRAIN / (dim[3] * r.shape.channels * r.shape.kernel * r.shape.kernel + 1) + 1,
                     correlation_forward_part, &r);
    return MXC_OK;
}

/* The gradient of one padded plane from row i of displacement k of out. */
static void add_row(const correlation_run *r, int64_t plane, int64_t k, int64_t i, void *sums) {
    const mxc_tensor *g = &r->call->out_grad[0];
    const int64_t *dim = g->shape.dim, size = r->shape.in[0] * r->shape.in[1];
    size_t element = mxc_dtype_size(r->compute);
    _Alignas(64) double tile[MXCI_TILE];
    for (int64_t j = 0; j < dim[3]; j += MXCI_TILE) {
        int64_t n = dim[3] - j < MXCI_TILE ? dim[3] - j : MXCI_TILE, sample = plane / r->shape.channels;
        const void *a = mxci_at(&r->padded[FIRST], plane * size + patch(r, FIRST, k, i, j));
        const void *b = mxci_at(&r->padded[SECOND], plane * size + patch(r, SECOND, k, i, j));
        void *to = (char *)sums + (size_t)patch(r, r->which, k, i, j) * element;
        mxci_load(g->dtype, mxci_at(g, ((sample * dim[1] + k) * dim[2] + i) * dim[3] + j), tile, n);
        if (r->compute == MXC_F32)
            mxci_correlate_grad_f32(&r->shape, r->which, (float *)tile, a, b, n, to);
        else
            mxci_correlate_grad_f64(&r->shape, r->which, tile, a, b, n, to);
    }
}

/* Planes begin..end-1 of the gradient, of all samples and channels. */
static void correlation_backward_part(void *arg, int64_t begin, int64_t end, int part) {
    const correlation_run *r = arg;
    const mxc_tensor *dx = &r->call->in_grad[r->which];
    const int64_t *in = dx->shape.dim, *out = r->call->out_grad[0].shape.dim, border = r->params->pad_size;
    size_t bytes = plane_bytes(r->params, &dx->shape, dx->dtype), element = mxc_dtype_size(r->compute);
    char *sums = r->sums + bytes * (size_t)part;
    for (int64_t plane = begin; plane < end; plane++) {
        memset(sums, 0, bytes);
        for (int64_t row = 0; row < out[1] * out[2]; row++)
            add_row(r, plane, row / out[2], row % out[2], sums);
        for (int64_t y = 0; y < in[2]; y++) {
            char *row = sums + (size_t)((y + border) * r->shape.in[1] + border) * element;
            scale_row(r->compute, mean_of(r), row, in[3]);
            (r->call->req[r->which] == MXC_REQ_ADD ? mxci_store_add : mxci_store)(
                dx->dtype, row, mxci_at(dx, (plane * in[2] + y) * in[3]), in[3]);
        }
    }
}

static mxc_status correlation_backward(const mxc_op_call *call) {
    const int64_t *in = call->in[FIRST].shape.dim;
    correlation_run r;
    if (mxci_tensor_size(&call->in[FIRST]) == 0)
        return MXC_OK;
    r = correlation_open_run(call);
    for (r.which = FIRST; r.which <= SECOND; r.which++)
        if (call->req[r.which] != MXC_REQ_NULL)
            mxc_parallel_for(call->run, in[0] * in[1], 1, correlation_backward_part, &r);
    return MXC_OK;
}

const mxc_op_def mxci_op_correlation = {
    .size = sizeof(mxc_op_def),
    .name = "Correlation",
    .doc = "Correlation of patches: out (N,G*G,H,W) holds, for each of G*G displacements of data2 (N,C,h,w), the mean "
           "over channels and patch of its products with data1, or of their absolute differences",
    .params = schema,
    .param_size = sizeof(correlation_params),
    .params_check = correlation_check_params,
    .args = "data1,data2",
    .infer_shape = correlation_infer_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1, .in = 1 << FIRST | 1 << SECOND},
    .temp_bytes = correlation_temp_bytes,
    .forward = {[MXC_CPU] = correlation_forward},
    .backward = {[MXC_CPU] = correlation_backward},
};
