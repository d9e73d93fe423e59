/* SPDX-License-Identifier: Apache-2.0 */
/* ROIPooling (Girshick, Fast R-CNN, 2015): regions of images pooled to one size. data (N,C,h,w), rois (R,5), out
 * (R,C,pooled_size). A region is (sample, x1, y1, x2, y2), both ends inside it, whose coordinates times spatial_scale
 * are rounded to elements; it is divided into pooled_size bins, whose edges are rounded outwards, and out holds the
 * maximum of each; 0 for a bin that is empty or a sample that does not exist. The gradient goes to the first of equal
 * elements, found again by comparison; rois have none. */
#include "math/assign.h"
#include "operator/infer.h"
#include "operator/vision/roi_pooling_kernels.h"
#include "operator/vision/vision.h"

typedef mxci_roi_params roi_params;

enum { DATA, ROIS };

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(roi_params, pooled_size), .name = "pooled_size", .type = MXC_PARAM_TUPLE, .bounded = 1,
     .minimum = 1, .maximum = 2147483647.0, .doc = "Height and width of out."},
    {MXC_PARAM_FIELD(roi_params, spatial_scale), .name = "spatial_scale", .type = MXC_PARAM_FLOAT, .bounded = 1,
     .minimum = 0, .maximum = 1, .doc = "Scale from the coordinates of rois to elements of data."},
    MXC_PARAM_END,
};

static mxc_status roi_pooling_check_params(void *params) {
    int n = ((const roi_params *)params)->pooled_size.n;
    return n == 2 ? MXC_OK : MXC_FAIL(MXC_EINVAL, "ROIPooling: pooled_size has %d entries, expected 2", n);
}

static mxc_status roi_pooling_infer_shape(mxc_op_sig *sig) {
    const roi_params *p = sig->params;
    mxc_shape data = mxci_shape_axes(4), rois = mxci_shape_of(2, (int64_t[]){-1, 5}), out;
    MXC_TRY(mxc_sig_set_shape(sig, DATA, &data));
    MXC_TRY(mxc_sig_set_shape(sig, ROIS, &rois));
    out = mxci_shape_of(4, (int64_t[]){sig->in_shape[ROIS].dim[0], sig->in_shape[DATA].dim[1], p->pooled_size.value[0],
                                       p->pooled_size.value[1]});
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
    rois.dim[0] = sig->out_shape[0].dim[0];
    data.dim[1] = sig->out_shape[0].dim[1];
    MXC_TRY(mxc_sig_set_shape(sig, ROIS, &rois));
    return mxc_sig_set_shape(sig, DATA, &data);
}

typedef struct roi_run {
    const mxc_op_call *call;
    mxci_roi_shape shape;
} roi_run;

static roi_run roi_pooling_open_run(const mxc_op_call *call) {
    const int64_t *in = call->in[DATA].shape.dim, *out = call->out[0].shape.dim;
    return (roi_run){call,
                     {in[0],
                      in[1],
                      {in[2], in[3]},
                      {out[2], out[3]},
                      ((const roi_params *)call->params)->spatial_scale,
                      call->req[0] == MXC_REQ_ADD}};
}

static void roi_pooling_forward_part(void *arg, int64_t begin, int64_t end, int part) {
    const roi_run *r = arg;
    const mxc_tensor *in = r->call->in, *out = r->call->out;
    (void)part;
    if (in[DATA].dtype == MXC_F32)
        mxci_roi_forward_f32(&r->shape, in[DATA].data, in[ROIS].data, out[0].data, begin, end);
    else
        mxci_roi_forward_f64(&r->shape, in[DATA].data, in[ROIS].data, out[0].data, begin, end);
}

static void roi_pooling_backward_part(void *arg, int64_t begin, int64_t end, int part) {
    const roi_run *r = arg;
    const mxc_tensor *in = r->call->in, *g = r->call->out_grad, *dx = &r->call->in_grad[DATA];
    int64_t n_rois = in[ROIS].shape.dim[0];
    (void)part;
    if (in[DATA].dtype == MXC_F32)
        mxci_roi_backward_f32(&r->shape, in[DATA].data, in[ROIS].data, n_rois, g->data, dx->data, begin, end);
    else
        mxci_roi_backward_f64(&r->shape, in[DATA].data, in[ROIS].data, n_rois, g->data, dx->data, begin, end);
}

static mxc_status roi_pooling_forward(const mxc_op_call *call) {
    roi_run r = roi_pooling_open_run(call);
    if (mxci_is_wanted(call->req[0], &call->out[0]))
        mxc_parallel_for(call->run, call->out[0].shape.dim[0] * r.shape.channels,
                         MXCI_GRAIN / (r.shape.in[0] * r.shape.in[1] + 1) + 1, roi_pooling_forward_part, &r);
    return MXC_OK;
}

static mxc_status roi_pooling_backward(const mxc_op_call *call) {
    roi_run r = roi_pooling_open_run(call);
    if (call->req[ROIS] != MXC_REQ_ADD)
        mxci_assign_constant(call->run, call->req[ROIS], &call->in_grad[ROIS], 0);
    if (mxci_is_wanted(call->req[DATA], &call->in_grad[DATA]))
        mxc_parallel_for(call->run, r.shape.samples * r.shape.channels,
                         MXCI_GRAIN / (r.shape.in[0] * r.shape.in[1] + 1) + 1, roi_pooling_backward_part, &r);
    return MXC_OK;
}

const mxc_op_def mxci_op_roi_pooling = {
    .size = sizeof(mxc_op_def),
    .name = "ROIPooling",
    .doc = "ROI pooling: out (R,C,pooled_size) holds the maxima over pooled_size bins of each region of data "
           "(N,C,h,w); a row of rois (R,5) is (sample, x1, y1, x2, y2)",
    .params = schema,
    .param_size = sizeof(roi_params),
    .params_check = roi_pooling_check_params,
    .args = "data,rois",
    .infer_shape = roi_pooling_infer_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .cpu_dtypes = MXC_DTYPES_REAL,
    .needs = {.out_grad = 1, .in = 1 << DATA | 1 << ROIS},
    .forward = {[MXC_CPU] = roi_pooling_forward},
    .backward = {[MXC_CPU] = roi_pooling_backward},
};
