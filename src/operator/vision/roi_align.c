/* SPDX-License-Identifier: Apache-2.0 */
/* ROIAlign (He et al., Mask R-CNN, 2017): regions of images resized to one size. data (N,C,h,w), rois (R,5), out
 * (R,C,pooled_size). A region is (sample, x1, y1, x2, y2), times spatial_scale in elements; it is divided into
 * pooled_size bins, and out holds the mean of each bin over evenly spaced points, read by bilinear interpolation; 0
 * where a point is more than one element outside or the sample does not exist. With position_sensitive, each bin is
 * read from channels of its own, and out has C / bins planes. Rois have no gradient. */
#include "math/assign.h"
#include "operator/index/rows.h"
#include "operator/infer.h"
#include "operator/vision/roi_align_kernels.h"
#include "operator/vision/vision.h"

typedef mxci_align_params align_params;

enum { DATA, ROIS };

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(align_params, pooled_size), .name = "pooled_size", .type = MXC_PARAM_TUPLE, .bounded = 1,
     .minimum = 1, .maximum = 32768, .doc = "Height and width of out."},
    {MXC_PARAM_FIELD(align_params, spatial_scale), .name = "spatial_scale", .type = MXC_PARAM_FLOAT, .bounded = 1,
     .minimum = 0, .maximum = 1, .doc = "Scale from the coordinates of rois to elements of data."},
    {MXC_PARAM_FIELD(align_params, sample_ratio), .name = "sample_ratio", .type = MXC_PARAM_INT, .initial = "-1",
     .bounded = 1, .minimum = -1, .maximum = 1024,
     .doc = "Number of sampling positions along each axis of a bin. 0 or below: the size of the bin in elements, "
            "rounded up."},
    {MXC_PARAM_FIELD(align_params, position_sensitive), .name = "position_sensitive", .type = MXC_PARAM_BOOL,
     .initial = "false", .doc = "Position-sensitive: each bin reads its own group of channels."},
    {MXC_PARAM_FIELD(align_params, aligned), .name = "aligned", .type = MXC_PARAM_BOOL, .initial = "false",
     .doc = "Shift coordinates by half an element, so that 0 is the edge of element 0, and allow regions smaller than "
            "an element."},
    MXC_PARAM_END,
};

static mxc_status roi_align_check_params(void *params) {
    int n = ((const align_params *)params)->pooled_size.n;
    return n == 2 ? MXC_OK : MXC_FAIL(MXC_EINVAL, "ROIAlign: pooled_size has %d entries, expected 2", n);
}

static mxc_status roi_align_infer_shape(mxc_op_sig *sig) {
    const align_params *p = sig->params;
    const int64_t *size = p->pooled_size.value, bins = p->position_sensitive ? size[0] * size[1] : 1;
    mxc_shape data = mxci_shape_axes(4), rois = mxci_shape_of(2, (int64_t[]){-1, 5}), out;
    MXC_TRY(mxc_sig_set_shape(sig, DATA, &data));
    MXC_TRY(mxc_sig_set_shape(sig, ROIS, &rois));
    data = sig->in_shape[DATA];
    if (data.dim[1] >= 0 && data.dim[1] % bins)
        return mxc_sig_fail(sig, "argument 'data': axis 1 has %lld elements, expected a multiple of %lld",
                            (long long)data.dim[1], (long long)bins);
    out = mxci_shape_of(
        4, (int64_t[]){sig->in_shape[ROIS].dim[0], data.dim[1] < 0 ? -1 : data.dim[1] / bins, size[0], size[1]});
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
    out = sig->out_shape[0];
    rois.dim[0] = out.dim[0];
    data.dim[1] = out.dim[1] < 0 || out.dim[1] > INT64_MAX / bins ? -1 : out.dim[1] * bins;
    MXC_TRY(mxc_sig_set_shape(sig, ROIS, &rois));
    return mxc_sig_set_shape(sig, DATA, &data);
}

typedef struct align_run {
    const mxc_op_call *call;
    mxci_align_shape shape;
} align_run;

static align_run roi_align_open_run(const mxc_op_call *call) {
    const align_params *p = call->params;
    const int64_t *in = call->in[DATA].shape.dim, *out = call->out[0].shape.dim;
    align_run r = {.call = call};
    r.shape = (mxci_align_shape){.samples = in[0],
                                 .channels = in[1],
                                 .in = {in[2], in[3]},
                                 .planes = out[1],
                                 .out = {out[2], out[3]},
                                 .scale = p->spatial_scale,
                                 .ratio = p->sample_ratio,
                                 .by_part = p->position_sensitive,
                                 .aligned = p->aligned,
                                 .add = call->req[DATA] == MXC_REQ_ADD};
    r.shape.samples = in[2] * in[3] > 0 ? in[0] : 0; /* nothing can be read from empty planes */
    return r;
}

/* Regions begin..end-1. */
static void roi_align_forward_part(void *arg, int64_t begin, int64_t end, int part) {
    const align_run *r = arg;
    const mxc_tensor *in = r->call->in, *out = r->call->out;
    (void)part;
    if (in[DATA].dtype == MXC_F32)
        mxci_align_f32(&r->shape, in[DATA].data, in[ROIS].data, out[0].data, begin, end);
    else
        mxci_align_f64(&r->shape, in[DATA].data, in[ROIS].data, out[0].data, begin, end);
}

/* Planes begin..end-1 of out's regions. */
static void roi_align_backward_part(void *arg, int64_t begin, int64_t end, int part) {
    const align_run *r = arg;
    const mxc_tensor *rois = &r->call->in[ROIS], *g = &r->call->out_grad[0], *dx = &r->call->in_grad[DATA];
    (void)part;
    if (dx->dtype == MXC_F32)
        mxci_align_grad_f32(&r->shape, rois->data, rois->shape.dim[0], g->data, dx->data, begin, end);
    else
        mxci_align_grad_f64(&r->shape, rois->data, rois->shape.dim[0], g->data, dx->data, begin, end);
}

static mxc_status roi_align_forward(const mxc_op_call *call) {
    align_run r = roi_align_open_run(call);
    if (call->req[0] != MXC_REQ_NULL && mxci_tensor_size(&call->out[0]) > 0)
        mxc_parallel_for(call->run, call->out[0].shape.dim[0], 1, roi_align_forward_part, &r);
    return MXC_OK;
}

static mxc_status roi_align_backward(const mxc_op_call *call) {
    align_run r = roi_align_open_run(call);
    mxci_assign_zero_gradient(call, ROIS);
    if (call->req[DATA] != MXC_REQ_NULL && mxci_tensor_size(&call->in[DATA]) > 0)
        mxc_parallel_for(call->run, r.shape.planes, 1, roi_align_backward_part, &r);
    return MXC_OK;
}

const mxc_op_def mxci_op_roi_align = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_ROIAlign",
    .aliases = "ROIAlign",
    .doc = "ROI align: out (R,C,pooled_size) holds the means over pooled_size bins of each region of data (N,C,h,w), "
           "with bilinear interpolation; a row of rois (R,5) is (sample, x1, y1, x2, y2)",
    .params = schema,
    .param_size = sizeof(align_params),
    .params_check = roi_align_check_params,
    .args = "data,rois",
    .infer_shape = roi_align_infer_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .cpu_dtypes = MXC_DTYPES_REAL,
    .needs = {.out_grad = 1, .in = 1 << ROIS},
    .forward = {[MXC_CPU] = roi_align_forward},
    .backward = {[MXC_CPU] = roi_align_backward},
};
