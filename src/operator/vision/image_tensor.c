/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images as the input of networks:
 *   _image_to_tensor  (H,W,C) to (C,H,W), or (N,H,W,C) to (N,C,H,W), over 255: float32, 16-bit floats stay
 *   _image_normalize  (data - mean) / std by channel, of (C,H,W) or (N,C,H,W)
 */
#include "operator/vision/image_tensor.h"

#include "math/assign.h"
#include "math/tile_kernels.h"
#include "operator/infer.h"

/* ---- _image_to_tensor -------------------------------------------------------------------------------------------- */

static mxc_status infer_to_tensor(mxc_op_sig *sig) {
    mxc_shape *in = &sig->in_shape[0], *out = &sig->out_shape[0], shape;
    const int ndim = in->ndim >= 0 ? in->ndim : out->ndim, first = ndim - 3;
    if (ndim < 0)
        return MXC_OK;
    if (ndim != 3 && ndim != 4)
        return mxc_sig_fail(sig, "data has %d axes, expected (height,width,channels) or (N,height,width,channels)",
                            ndim);
    for (int pass = 0; pass < 2; pass++) {
        shape = in->ndim >= 0 ? *in : mxci_shape_axes(ndim);
        shape.dim[first] = in->ndim >= 0 ? in->dim[first + 2] : -1;
        shape.dim[first + 1] = in->ndim >= 0 ? in->dim[first] : -1;
        shape.dim[first + 2] = in->ndim >= 0 ? in->dim[first + 1] : -1;
        MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &shape));
        shape = *out;
        shape.dim[first] = out->dim[first + 1];
        shape.dim[first + 1] = out->dim[first + 2];
        shape.dim[first + 2] = out->dim[first];
        MXC_TRY(mxc_sig_set_shape(sig, 0, &shape));
    }
    return MXC_OK;
}

static mxc_status infer_to_tensor_type(mxc_op_sig *sig) {
    const mxc_dtype in = sig->in_type[0];
    if (in == MXC_DTYPE_UNKNOWN)
        return MXC_OK;
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(0), in == MXC_F16 || in == MXC_BF16 ? in : MXC_F32);
}

/* Rows begin..end-1 of data, counted through images and rows: tiles of whole pixels are converted, and each channel of
 * them is stored in its plane. Pixels of more than a tile are taken one by one, in parts. */
static void tensor_rows(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    const mxc_tensor *in = &call->in[0], *out = &call->out[0];
    const int64_t *dim = out->shape.dim + out->shape.ndim - 3, channels = dim[0], h = dim[1], w = dim[2];
    const int64_t most = channels < MXCI_TILE ? channels : MXCI_TILE, pixels = MXCI_TILE / most;
    double x[MXCI_TILE], plane[MXCI_TILE];
    (void)part;
    for (int64_t row = begin; row < end; row++)
        for (int64_t at = 0, n; at < w; at += n) {
            n = w - at < pixels ? w - at : pixels;
            for (int64_t first = 0, count; first < channels; first += count) {
                count = channels - first < most ? channels - first : most;
                mxci_convert(in->dtype, mxci_at(in, (row * w + at) * channels + first), MXC_F64, x, n * count);
                for (int64_t c = 0; c < count; c++) {
                    const int64_t to = ((row / h * channels + first + c) * h + row % h) * w + at;
                    for (int64_t k = 0; k < n; k++)
                        plane[k] = x[k * count + c] / 255;
                    mxci_assign_cast_row(call->req[0], MXC_F64, plane, out->dtype, mxci_at(out, to), n);
                }
            }
        }
}

static mxc_status to_tensor(const mxc_op_call *call) {
    const mxc_shape *in = &call->in[0].shape;
    const int64_t n = mxci_tensor_size(&call->in[0]), row = mxci_shape_count(in, in->ndim - 2, in->ndim);
    if (call->req[0] != MXC_REQ_NULL && n > 0)
        mxc_parallel_for(call->run, n / row, MXCI_GRAIN / 8 / row + 1, tensor_rows, (void *)call);
    return MXC_OK;
}

const mxc_op_def mxci_op_image_to_tensor = {
    .size = sizeof(mxc_op_def),
    .name = "_image_to_tensor",
    .aliases = "_npx__image_to_tensor",
    .doc =
        "An image as a network takes it: data (H,W,C) or (N,H,W,C), output data / 255 with axes (C,H,W) or (N,C,H,W), "
        "float32; 16-bit floats stay",
    .infer_shape = infer_to_tensor,
    .infer_type = infer_to_tensor_type,
    .dtypes = MXC_DTYPES_NUMBER,
    .forward = {[MXC_CPU] = to_tensor},
};

/* ---- _image_normalize -------------------------------------------------------------------------------------------- */

typedef mxci_image_normalize_params normalize_params;

static mxc_status infer_normalize(mxc_op_sig *sig) {
    const normalize_params *p = sig->params;
    const mxc_shape *in = &sig->in_shape[0];
    int64_t channels;
    MXC_TRY(mxci_infer_shape_same(sig));
    if (in->ndim < 0)
        return MXC_OK;
    if (in->ndim != 3 && in->ndim != 4)
        return mxc_sig_fail(sig, "data has %d axes, expected (channels,height,width) or (N,channels,height,width)",
                            in->ndim);
    channels = in->dim[in->ndim - 3];
    if ((p->mean.n > 1 && p->mean.n < channels) || (p->std.n > 1 && p->std.n < channels) || p->mean.n < 1 ||
        p->std.n < 1)
        return mxc_sig_fail(sig, "mean has %d numbers and std %d, expected one or at least %lld, one for each channel",
                            (int)p->mean.n, (int)p->std.n, (long long)channels);
    return MXC_OK;
}

typedef struct normalize_run {
    const mxc_op_call *call;
    const mxc_tensor *from, *to;
    int is_gradient;
} normalize_run;

/* Planes begin..end-1, counted through images and channels. */
static void normalize_planes(void *arg, int64_t begin, int64_t end, int part) {
    const normalize_run *r = arg;
    const normalize_params *p = r->call->params;
    const mxc_shape *shape = &r->from->shape;
    const int64_t channels = shape->dim[shape->ndim - 3], plane = mxci_shape_count(shape, shape->ndim - 2, shape->ndim);
    (void)part;
    for (int64_t at = begin; at < end; at++) {
        const double mean = r->is_gradient ? 0 : mxci_image_channel_number(&p->mean, at % channels);
        const double deviation = mxci_image_channel_number(&p->std, at % channels);
        for (int64_t i = at * plane, n; i < (at + 1) * plane; i += n) {
            double x[MXCI_TILE];
            n = (at + 1) * plane - i < MXCI_TILE ? (at + 1) * plane - i : MXCI_TILE;
            mxci_convert(r->from->dtype, mxci_at(r->from, i), MXC_F64, x, n);
            for (int64_t k = 0; k < n; k++)
                x[k] = (x[k] - mean) / deviation;
            mxci_assign_cast_row(r->call->req[0], MXC_F64, x, r->to->dtype, mxci_at(r->to, i), n);
        }
    }
}

static mxc_status normalize_run_all(const normalize_run *r) {
    const mxc_shape *shape = &r->from->shape;
    const int64_t n = mxci_tensor_size(r->from);
    if (r->call->req[0] != MXC_REQ_NULL && n > 0)
        mxc_parallel_for(r->call->run, mxci_shape_count(shape, 0, shape->ndim - 2), 1, normalize_planes, (void *)r);
    return MXC_OK;
}

static mxc_status normalize(const mxc_op_call *call) {
    return normalize_run_all(&(normalize_run){call, &call->in[0], &call->out[0], 0});
}

static mxc_status normalize_backward(const mxc_op_call *call) {
    return normalize_run_all(&(normalize_run){call, &call->out_grad[0], &call->in_grad[0], 1});
}

static const mxc_param normalize_schema[] = {
    {MXC_PARAM_FIELD(normalize_params, mean), .name = "mean", .type = MXC_PARAM_FLOATS, .initial = "(0,0,0,0)",
     .doc = "Mean of each channel, or one of all."},
    {MXC_PARAM_FIELD(normalize_params, std), .name = "std", .type = MXC_PARAM_FLOATS, .initial = "(1,1,1,1)",
     .doc = "Standard deviation of each channel, or one of all."},
    MXC_PARAM_END,
};

const mxc_op_def mxci_op_image_normalize = {
    .size = sizeof(mxc_op_def),
    .name = "_image_normalize",
    .aliases = "_npx__image_normalize",
    .doc = "(data - mean) / std by channel: data and output (C,H,W) or (N,C,H,W)",
    .params = normalize_schema,
    .param_size = sizeof(normalize_params),
    .infer_shape = infer_normalize,
    .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1},
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(0), 0}, MXC_INPLACE_END},
    .inplace_backward = (const mxc_inplace[]){{MXC_FROM_OUT_GRAD(0), 0}, MXC_INPLACE_END},
    .forward = {[MXC_CPU] = normalize},
    .backward = {[MXC_CPU] = normalize_backward},
};
