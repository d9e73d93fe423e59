/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Position-sensitive pooling of regions: each of pooled_size * pooled_size bins of a region is read from channels of
 * its own. data (N, output_dim * G * G, h, w) with G = group_size, rois (R,5) of (sample, x1, y1, x2, y2), out (R,
 * output_dim, pooled_size, pooled_size). Bin (i, j) of plane c reads channel (c G + i') G + j', with i' = floor(i G /
 * pooled_size).
 *
 * PSROIPooling (J. Dai et al., "R-FCN", 2016): the mean over the elements of the bin.
 * DeformablePSROIPooling (J. Dai et al., "Deformable convolutional networks", 2017): the mean over sample_per_part^2
 * points of the bin, read by bilinear interpolation, of those that are at most half an element outside; the bin is
 * moved by trans (R, 2 * classes, part_size, part_size) times trans_std times the region's size, to the right and down.
 * Rois have no gradient.
 */
#include "operator/index/rows.h"
#include "operator/infer.h"
#include "operator/vision/region_points.h"
#include "operator/vision/vision.h"

typedef mxci_psroi_params psroi_params;

enum { DATA, ROIS, TRANS };
enum { NUMBERS = 5 }; /* of a region */

#define COUNT(field, least, most) \
    .type = MXC_PARAM_INT, MXC_PARAM_FIELD(psroi_params, field), .bounded = 1, .minimum = least, .maximum = most
#define SCALE                                                                                                          \
    {                                                                                                                  \
        MXC_PARAM_FIELD(psroi_params, spatial_scale), .name = "spatial_scale", .type = MXC_PARAM_FLOAT, .bounded = 1,  \
                                                      .minimum = 0, .maximum = 1,                                      \
                                                      .doc = "Scale from the coordinates of rois to elements of data." \
    }
static const mxc_param schema[] = {
    SCALE,
    {.name = "output_dim", COUNT(output_dim, 1, 1 << 24), .doc = "Number of planes of out."},
    {.name = "pooled_size", COUNT(pooled_size, 1, 32768), .doc = "Height and width of out."},
    {.name = "group_size",
     COUNT(group_size, 0, 32768),
     .initial = "0",
     .doc = "Number of groups of channels along each axis of a region. 0: pooled_size."},
    MXC_PARAM_END,
};

static const mxc_param deformable_schema[] = {
    SCALE,
    {.name = "output_dim", COUNT(output_dim, 1, 1 << 24), .doc = "Number of planes of out."},
    {.name = "group_size",
     COUNT(group_size, 1, 32768),
     .doc = "Number of groups of channels along each axis of a region."},
    {.name = "pooled_size", COUNT(pooled_size, 1, 32768), .doc = "Height and width of out."},
    {.name = "part_size",
     COUNT(part_size, 0, 32768),
     .initial = "0",
     .doc = "Height and width of trans. 0: pooled_size."},
    {.name = "sample_per_part",
     COUNT(sample_per_part, 1, 1024),
     .initial = "1",
     .doc = "Number of points along each axis of a bin."},
    {MXC_PARAM_FIELD(psroi_params, trans_std), .name = "trans_std", .type = MXC_PARAM_FLOAT, .initial = "0",
     .bounded = 1, .minimum = 0, .maximum = 1, .doc = "Factor of trans."},
    {MXC_PARAM_FIELD(psroi_params, no_trans), .name = "no_trans", .type = MXC_PARAM_BOOL, .initial = "false",
     .doc = "Leave out the argument trans; bins do not move."},
    MXC_PARAM_END,
};
#undef COUNT
#undef SCALE

static mxc_status psroi_check_params(void *params) {
    psroi_params *p = params;
    p->group_size = p->group_size ? p->group_size : p->pooled_size;
    p->part_size = p->part_size ? p->part_size : p->pooled_size;
    return MXC_OK;
}

static int deformable_n_args(const void *params) {
    return ((const psroi_params *)params)->no_trans ? 2 : 3;
}

/* The derivative of trans reads data. */
static void deformable_needs(const void *params, mxc_op_needs *needs) {
    const int has_trans = !((const psroi_params *)params)->no_trans;
    *needs = (mxc_op_needs){.out_grad = 1, .in = has_trans ? 1 << DATA | 1 << ROIS | 1 << TRANS : 1 << ROIS};
}

/* ---- inference --------------------------------------------------------------------------------------------------- */

static mxc_status psroi_infer_shape(mxc_op_sig *sig) {
    const psroi_params *p = sig->params;
    mxc_shape data = mxci_shape_axes(4), rois = mxci_shape_of(2, (int64_t[]){-1, NUMBERS}), trans, out;
    data.dim[1] = mxci_dim_mul(p->output_dim, p->group_size * p->group_size);
    out = mxci_shape_of(4, (int64_t[]){-1, p->output_dim, p->pooled_size, p->pooled_size});
    trans = mxci_shape_of(4, (int64_t[]){-1, -1, p->part_size, p->part_size});
    MXC_TRY(mxc_sig_set_shape(sig, DATA, &data));
    for (int pass = 0; pass < 2; pass++) {
        MXC_TRY(mxc_sig_set_shape(sig, ROIS, &rois));
        out.dim[0] = sig->in_shape[ROIS].dim[0];
        MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
        rois.dim[0] = trans.dim[0] = sig->out_shape[0].dim[0];
        if (sig->n_in <= TRANS)
            continue;
        MXC_TRY(mxc_sig_set_shape(sig, TRANS, &trans));
        rois.dim[0] = sig->in_shape[TRANS].dim[0];
    }
    if (sig->n_in <= TRANS || sig->in_shape[TRANS].dim[1] < 0)
        return MXC_OK;
    if (sig->in_shape[TRANS].dim[1] < 2 || sig->in_shape[TRANS].dim[1] % 2 ||
        p->output_dim % (sig->in_shape[TRANS].dim[1] / 2))
        return mxc_sig_fail(sig,
                            "argument 'trans': axis 1 has %lld elements, expected twice a divisor of output_dim %lld",
                            (long long)sig->in_shape[TRANS].dim[1], (long long)p->output_dim);
    return MXC_OK;
}

/* ---- bins -------------------------------------------------------------------------------------------------------- */

/* The channel that bin (y, x) of a plane reads. */
static int64_t channel_of(const psroi_params *p, int64_t plane, const int64_t *at) {
    const int64_t g = p->group_size;
    return (plane * g + at[0] * g / p->pooled_size) * g + at[1] * g / p->pooled_size;
}

/* Start and size of a region along an axis (0: y): its pixels, both ends inside. */
static void region_of(const psroi_params *p, const double *roi, int axis, double *start, double *size) {
    *start = round(roi[2 - axis]) * p->spatial_scale;
    *size = fmax((round(roi[4 - axis]) + 1) * p->spatial_scale - *start, 0.1);
}

static mxci_region_bin psroi_bin(const mxci_region_run *run, int64_t r, int64_t plane, int64_t index) {
    const psroi_params *p = run->call->params;
    const int64_t at[2] = {index / p->pooled_size, index % p->pooled_size};
    double roi[NUMBERS], start, size;
    mxci_region_bin bin = {.sample = mxci_region_open(run, r, NUMBERS, roi), .channel = channel_of(p, plane, at)};
    for (int k = 0; k < 2; k++) {
        const double limit = (double)run->data->dim[2 + k];
        region_of(p, roi, k, &start, &size);
        size /= (double)p->pooled_size;
        bin.first[k] = (int64_t)fmin(fmax(floor((double)at[k] * size + start), 0), limit);
        bin.end[k] = (int64_t)fmin(fmax(ceil((double)(at[k] + 1) * size + start), 0), limit);
    }
    if (bin.first[0] >= bin.end[0] || bin.first[1] >= bin.end[1])
        bin.sample = -1;
    else
        bin.scale = 1 / ((double)(bin.end[0] - bin.first[0]) * (double)(bin.end[1] - bin.first[1]));
    return bin;
}

/* Points are elements. */
static int psroi_point(const mxci_region_run *run, const mxci_region_bin *bin, const int64_t *point, int64_t *at,
                       double *weight) {
    (void)bin;
    at[0] = point[0] * run->data->dim[3] + point[1];
    weight[0] = 1;
    return 1;
}

/* The element of trans that moves a bin of a plane of region r along an axis (0: y). */
static int64_t trans_at(const mxci_region_run *run, int64_t r, int64_t plane, const int64_t *at, int axis) {
    const psroi_params *p = run->call->params;
    const int64_t numbers = run->call->in[TRANS].shape.dim[1], part = p->part_size;
    const int64_t number = plane / (p->output_dim / (numbers / 2)) * 2 + (1 - axis);
    return ((r * numbers + number) * part + at[0] * part / p->pooled_size) * part + at[1] * part / p->pooled_size;
}

/* The points along an axis that are at most half an element outside: first..end-1 of bin. */
static void deformable_points(const mxci_region_run *run, mxci_region_bin *bin, int axis, int64_t n) {
    const double limit = (double)run->data->dim[2 + axis] - 0.5;
    int64_t first = 0, end = n;
    while (first < n && !(bin->start[axis] + (double)first * bin->step[axis] >= -0.5))
        first++;
    while (end > first && !(bin->start[axis] + (double)(end - 1) * bin->step[axis] <= limit))
        end--;
    bin->first[axis] = first;
    bin->end[axis] = end;
}

static mxci_region_bin deformable_bin(const mxci_region_run *run, int64_t r, int64_t plane, int64_t index) {
    const psroi_params *p = run->call->params;
    const int64_t at[2] = {index / p->pooled_size, index % p->pooled_size};
    double roi[NUMBERS], start, size, count = 1;
    mxci_region_bin bin = {.sample = mxci_region_open(run, r, NUMBERS, roi), .channel = channel_of(p, plane, at)};
    for (int k = 0; k < 2; k++) {
        double move = 0;
        region_of(p, roi, k, &start, &size);
        if (!p->no_trans)
            move = mxci_value_at(&run->call->in[TRANS], trans_at(run, r, plane, at, k)) * p->trans_std * size;
        bin.step[k] = size / (double)p->pooled_size / (double)p->sample_per_part;
        bin.start[k] = (double)at[k] * size / (double)p->pooled_size + start - 0.5 + move;
        deformable_points(run, &bin, k, p->sample_per_part);
        count *= (double)(bin.end[k] - bin.first[k]);
    }
    if (count > 0)
        bin.scale = 1 / count;
    else
        bin.sample = -1;
    return bin;
}

/* The position of a point along an axis, moved into the plane. */
static double position_of(const mxci_region_run *run, const mxci_region_bin *bin, int axis, int64_t point) {
    const double at = bin->start[axis] + (double)point * bin->step[axis];
    return fmin(fmax(at, 0), (double)(run->data->dim[2 + axis] - 1));
}

static int deformable_point(const mxci_region_run *run, const mxci_region_bin *bin, const int64_t *point, int64_t *at,
                            double *weight) {
    return mxci_region_bilinear(run, position_of(run, bin, 0, point[0]), position_of(run, bin, 1, point[1]), at,
                                weight);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static mxc_status psroi_forward(const mxc_op_call *call) {
    mxci_region_forward(
        &(mxci_region_run){call, &call->in[DATA].shape, &call->out[0].shape, psroi_bin, psroi_point, NULL});
    return MXC_OK;
}

static mxc_status psroi_backward(const mxc_op_call *call) {
    mxci_assign_zero_gradient(call, ROIS);
    return mxci_region_backward(
        &(mxci_region_run){call, &call->in_grad[DATA].shape, &call->out_grad[0].shape, psroi_bin, psroi_point, NULL});
}

static mxc_status deformable_forward(const mxc_op_call *call) {
    mxci_region_forward(
        &(mxci_region_run){call, &call->in[DATA].shape, &call->out[0].shape, deformable_bin, deformable_point, NULL});
    return MXC_OK;
}

/* The slope of a bin's mean along an axis: of each point, the difference of the elements around it. */
static double slope_of(const mxci_region_run *run, const mxci_region_bin *bin, int axis) {
    const mxc_tensor *x = &run->call->in[DATA];
    const int64_t plane = mxci_region_plane(run, bin);
    double sum = 0, weight[MXCI_REGION_TAPS];
    int64_t at[MXCI_REGION_TAPS], point[2];
    for (point[0] = bin->first[0]; point[0] < bin->end[0]; point[0]++)
        for (point[1] = bin->first[1]; point[1] < bin->end[1]; point[1]++) {
            const double place = position_of(run, bin, axis, point[axis]);
            const double across = position_of(run, bin, 1 - axis, point[1 - axis]), share = across - floor(across);
            if (place == floor(place)) /* on an element, or moved into the plane */
                continue;
            deformable_point(run, bin, point, at, weight);
            for (int k = 0; k < MXCI_REGION_TAPS; k++) {
                const int far = axis ? k & 1 : k >> 1, beside = axis ? k >> 1 : k & 1;
                sum += (far ? 1 : -1) * (beside ? share : 1 - share) * mxci_value_at(x, plane + at[k]);
            }
        }
    return sum * bin->scale;
}

typedef struct trans_grad_run {
    const mxci_region_run *regions;
    double *sums; /* of each element of the gradient of trans */
} trans_grad_run;

/* Regions begin..end-1: bins and planes that share an element of trans are of one region. */
static void trans_grad_part(void *arg, int64_t begin, int64_t end, int part) {
    const trans_grad_run *t = arg;
    const mxci_region_run *run = t->regions;
    const mxc_op_call *call = run->call;
    const psroi_params *p = call->params;
    const int64_t bins = p->pooled_size * p->pooled_size, planes = p->output_dim;
    (void)part;
    for (int64_t i = begin * planes * bins; i < end * planes * bins; i++) {
        const int64_t r = i / (planes * bins), plane = i / bins % planes, index = i % bins;
        const int64_t at[2] = {index / p->pooled_size, index % p->pooled_size};
        const mxci_region_bin bin = run->bin(run, r, plane, index);
        double roi[NUMBERS], start, size;
        mxci_region_open(run, r, NUMBERS, roi);
        for (int axis = 0; axis < 2 && bin.sample >= 0; axis++) {
            region_of(p, roi, axis, &start, &size);
            t->sums[trans_at(run, r, plane, at, axis)] +=
                mxci_value_at(&call->out_grad[0], i) * slope_of(run, &bin, axis) * p->trans_std * size;
        }
    }
}

static mxc_status deformable_backward(const mxc_op_call *call) {
    mxci_region_run run = {call,           &call->in_grad[DATA].shape, &call->out_grad[0].shape,
                           deformable_bin, deformable_point,           NULL};
    mxci_assign_zero_gradient(call, ROIS);
    MXC_TRY(mxci_region_backward(&run));
    if (call->n_in <= TRANS || call->req[TRANS] == MXC_REQ_NULL)
        return MXC_OK;
    trans_grad_run t = {&run, mxci_region_open_sums(call, TRANS)};
    mxc_parallel_for(call->run, run.out->dim[0], 1, trans_grad_part, &t);
    return mxci_region_store_sums(call, TRANS);
}

static size_t psroi_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    return mxci_region_bytes(sig, pass);
}

const mxc_op_def mxci_op_psroi_pooling = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_PSROIPooling",
    .aliases = "PSROIPooling",
    .doc =
        "Position-sensitive ROI pooling: out (R,output_dim,pooled_size,pooled_size) holds the means over the elements "
        "of the bins of each region of data (N,output_dim*group_size^2,h,w), each bin read from its own group of "
        "channels; a row of rois (R,5) is (sample, x1, y1, x2, y2)",
    .params = schema,
    .param_size = sizeof(psroi_params),
    .params_check = psroi_check_params,
    .args = "data,rois",
    .infer_shape = psroi_infer_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .cpu_dtypes = MXC_DTYPES_REAL,
    .needs = {.out_grad = 1, .in = 1 << ROIS},
    .temp_bytes = psroi_temp_bytes,
    .forward = {[MXC_CPU] = psroi_forward},
    .backward = {[MXC_CPU] = psroi_backward},
};

const mxc_op_def mxci_op_deformable_psroi_pooling = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_DeformablePSROIPooling",
    .aliases = "DeformablePSROIPooling",
    .doc =
        "Deformable position-sensitive ROI pooling: as PSROIPooling, but of points read by bilinear interpolation, and "
        "each bin is moved by trans (R,2*classes,part_size,part_size) times trans_std and the region's size, to the "
        "right and down",
    .params = deformable_schema,
    .param_size = sizeof(psroi_params),
    .params_check = psroi_check_params,
    .args = "data,rois,trans",
    .n_args = deformable_n_args,
    .infer_shape = psroi_infer_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .cpu_dtypes = MXC_DTYPES_REAL,
    .backward_needs = deformable_needs,
    .temp_bytes = psroi_temp_bytes,
    .forward = {[MXC_CPU] = deformable_forward},
    .backward = {[MXC_CPU] = deformable_backward},
};
