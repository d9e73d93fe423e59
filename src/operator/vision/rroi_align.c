/* SPDX-License-Identifier: Apache-2.0 */
/* RROIAlign (J. Ma et al., "Arbitrary-oriented scene text detection via rotation proposals", 2018): rotated regions of
 * images resized to one size. data (N,C,h,w), rois (R,6), out (R,C,pooled_size). A region is (sample, x, y, width,
 * height, angle): its centre and size, times spatial_scale in elements, at least one, and its angle in degrees. It is
 * divided into pooled_size bins, and out holds the mean of each bin over evenly spaced points, read by bilinear
 * interpolation; 0 where a point is more than one element outside or the sample does not exist. MXNet has no gradient;
 * here data has one. */
#include "operator/index/rows.h"
#include "operator/infer.h"
#include "operator/vision/region_points.h"
#include "operator/vision/vision.h"

enum { DATA, ROIS };
enum { NUMBERS = 6 }; /* of a region */

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(mxci_rotated_params, pooled_size), .name = "pooled_size", .type = MXC_PARAM_TUPLE, .bounded = 1,
     .minimum = 1, .maximum = 32768, .doc = "Height and width of out."},
    {MXC_PARAM_FIELD(mxci_rotated_params, spatial_scale), .name = "spatial_scale", .type = MXC_PARAM_FLOAT,
     .bounded = 1, .minimum = 0, .maximum = 1, .doc = "Scale from the coordinates of rois to elements of data."},
    {MXC_PARAM_FIELD(mxci_rotated_params, sampling_ratio), .name = "sampling_ratio", .type = MXC_PARAM_INT,
     .initial = "-1", .bounded = 1, .minimum = -1, .maximum = 1024,
     .doc = "Number of sampling positions along each axis of a bin. 0 or below: the size of the bin in elements, "
            "rounded up."},
    MXC_PARAM_END,
};

static mxc_status rroi_align_check_params(void *params) {
    const int n = ((const mxci_rotated_params *)params)->pooled_size.n;
    return n == 2 ? MXC_OK : MXC_FAIL(MXC_EINVAL, "_contrib_RROIAlign: pooled_size has %d entries, expected 2", n);
}

static mxc_status rroi_align_infer_shape(mxc_op_sig *sig) {
    const int64_t *size = ((const mxci_rotated_params *)sig->params)->pooled_size.value;
    mxc_shape data = mxci_shape_axes(4), rois = mxci_shape_of(2, (int64_t[]){-1, NUMBERS}), out;
    MXC_TRY(mxc_sig_set_shape(sig, DATA, &data));
    MXC_TRY(mxc_sig_set_shape(sig, ROIS, &rois));
    out = mxci_shape_of(4, (int64_t[]){sig->in_shape[ROIS].dim[0], sig->in_shape[DATA].dim[1], size[0], size[1]});
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
    rois.dim[0] = sig->out_shape[0].dim[0];
    data.dim[1] = sig->out_shape[0].dim[1];
    MXC_TRY(mxc_sig_set_shape(sig, ROIS, &rois));
    return mxc_sig_set_shape(sig, DATA, &data);
}

/* Which of the n points along an axis of the region may be inside the image, whose corners, a row and a column further
 * out, are rotated into the region's axes. This bounds the loops for regions far larger than the image. */
static void bound_points(const mxci_region_run *run, mxci_region_bin *bin, int axis, int64_t n) {
    double low = INFINITY, high = -INFINITY;
    for (int corner = 0; corner < 4; corner++) {
        const double y = (corner & 1 ? (double)run->data->dim[2] : -1) - bin->centre[0];
        const double x = (corner & 2 ? (double)run->data->dim[3] : -1) - bin->centre[1];
        const double at = axis ? x * bin->cosine - y * bin->sine : y * bin->cosine + x * bin->sine;
        low = fmin(low, (at - bin->start[axis]) / bin->step[axis] - 1);
        high = fmax(high, (at - bin->start[axis]) / bin->step[axis] + 2);
    }
    bin->first[axis] = low > 0 ? (low < (double)n ? (int64_t)low : n) : 0;
    bin->end[axis] = high < (double)n ? (high > 0 ? (int64_t)high : 0) : n;
}

static mxci_region_bin bin_of(const mxci_region_run *run, int64_t r, int64_t plane, int64_t index) {
    const mxci_rotated_params *p = run->call->params;
    const int64_t at[2] = {index / run->out->dim[3], index % run->out->dim[3]};
    double roi[NUMBERS], count = 1, angle;
    mxci_region_bin bin = {.sample = mxci_region_open(run, r, NUMBERS, roi), .channel = plane};
    angle = roi[5] * acos(-1) / 180;
    bin.sine = sin(angle);
    bin.cosine = cos(angle);
    for (int k = 0; k < 2; k++)
        bin.centre[k] = roi[2 - k] * p->spatial_scale;
    for (int k = 0; k < 2; k++) {
        const double size = fmax(roi[4 - k] * p->spatial_scale, 1), part = size / (double)run->out->dim[2 + k];
        const int64_t n = p->sampling_ratio > 0 ? p->sampling_ratio : (int64_t)ceil(part);
        bin.step[k] = part / (double)n;
        bin.start[k] = (double)at[k] * part - size / 2 + bin.step[k] / 2;
        count *= (double)n;
        bound_points(run, &bin, k, n);
    }
    bin.scale = 1 / count;
    return bin;
}

static int point_of(const mxci_region_run *run, const mxci_region_bin *bin, const int64_t *point, int64_t *at,
                    double *weight) {
    const double v = bin->start[0] + (double)point[0] * bin->step[0],
                 u = bin->start[1] + (double)point[1] * bin->step[1];
    const double y = v * bin->cosine - u * bin->sine + bin->centre[0];
    const double x = u * bin->cosine + v * bin->sine + bin->centre[1];
    if (!(y >= -1 && y <= (double)run->data->dim[2] && x >= -1 && x <= (double)run->data->dim[3]))
        return 0;
    return mxci_region_bilinear(run, fmin(fmax(y, 0), (double)(run->data->dim[2] - 1)),
                                fmin(fmax(x, 0), (double)(run->data->dim[3] - 1)), at, weight);
}

static mxc_status rroi_align_forward(const mxc_op_call *call) {
    mxci_region_forward(&(mxci_region_run){call, &call->in[DATA].shape, &call->out[0].shape, bin_of, point_of, NULL});
    return MXC_OK;
}

static mxc_status rroi_align_backward(const mxc_op_call *call) {
    mxci_assign_zero_gradient(call, ROIS);
    return mxci_region_backward(
        &(mxci_region_run){call, &call->in_grad[DATA].shape, &call->out_grad[0].shape, bin_of, point_of, NULL});
}

static size_t rroi_align_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    return mxci_region_bytes(sig, pass);
}

const mxc_op_def mxci_op_rroi_align = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_RROIAlign",
    .aliases = "RROIAlign",
    .doc =
        "ROI align of rotated regions: out (R,C,pooled_size) holds the means over pooled_size bins of each region of "
        "data (N,C,h,w), with bilinear interpolation; a row of rois (R,6) is (sample, x, y, width, height, angle) with "
        "the centre and the angle in degrees",
    .params = schema,
    .param_size = sizeof(mxci_rotated_params),
    .params_check = rroi_align_check_params,
    .args = "data,rois",
    .infer_shape = rroi_align_infer_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .cpu_dtypes = MXC_DTYPES_REAL,
    .needs = {.out_grad = 1, .in = 1 << ROIS},
    .temp_bytes = rroi_align_temp_bytes,
    .forward = {[MXC_CPU] = rroi_align_forward},
    .backward = {[MXC_CPU] = rroi_align_backward},
};
