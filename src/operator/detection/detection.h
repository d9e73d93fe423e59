/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the operators on boxes, for C and GPU modules. */
#ifndef MXCI_OPERATOR_DETECTION_DETECTION_H
#define MXCI_OPERATOR_DETECTION_DETECTION_H

#include <math.h>

#include <mxc/param.h>
#include <mxc/types.h>

#include "math/loop.h"
#include "operator/detection/multibox_kernels.h"
#include "operator/detection/proposal_kernels.h"

enum { MXCI_BOX_CORNER, MXCI_BOX_CENTER };

typedef struct mxci_iou_params {
    int32_t format;
} mxci_iou_params;

typedef struct mxci_decode_params {
    double std[4], clip;
    int32_t format;
} mxci_decode_params;

typedef struct mxci_matching_params {
    double threshold;
    int64_t topk;
    int32_t is_ascend;
} mxci_matching_params;

typedef struct mxci_nms_params {
    double overlap_thresh, valid_thresh;
    int64_t topk, coord_start, score_index, id_index, background_id;
    int32_t force_suppress, in_format, out_format;
} mxci_nms_params;

typedef struct mxci_prior_params {
    mxc_floats sizes, ratios, steps, offsets;
    int32_t clip;
} mxci_prior_params;

typedef struct mxci_target_params {
    double overlap_threshold, ignore_label, negative_mining_ratio, negative_mining_thresh;
    int64_t minimum_negative_samples;
    mxc_floats variances;
} mxci_target_params;

typedef struct mxci_detection_params {
    int32_t clip, force_suppress;
    double threshold, nms_threshold;
    int64_t background_id, nms_topk;
    mxc_floats variances;
} mxci_detection_params;

typedef struct mxci_proposal_params {
    int64_t rpn_pre_nms_top_n, rpn_post_nms_top_n, rpn_min_size, feature_stride;
    double threshold;
    mxc_floats scales, ratios;
    int32_t output_score, iou_loss;
} mxci_proposal_params;

/* ---- boxes relative to anchors ----------------------------------------------------------------------------------- */

/* Number k of a box relative to an anchor, both by their corners: the offset of the centre in units of the anchor's
 * size for k < 2, else the logarithm of the ratio of sizes; along x where k is even, else y. */
MXCI_SCALAR double mxci_box_encode_number(const double *anchor, const double *box, int k) {
    const int axis = k & 1;
    const double size = anchor[axis + 2] - anchor[axis], other = box[axis + 2] - box[axis];
    return k < 2 ? (box[axis] + other / 2 - anchor[axis] - size / 2) / size : log(other / size);
}

/* Corner coordinate k of the box that is encoded relative to an anchor. */
MXCI_SCALAR double mxci_box_decode_number(const mxci_decode_params *p, const double *data, const double *anchor,
                                          int k) {
    const int axis = k & 1, is_center = p->format == MXCI_BOX_CENTER;
    const double size = is_center ? anchor[axis + 2] : anchor[axis + 2] - anchor[axis];
    const double centre = data[axis] * p->std[axis] * size + anchor[axis] + (is_center ? 0 : size / 2);
    const double power = data[axis + 2] * p->std[axis + 2];
    const double half = exp(p->clip > 0 && power > p->clip ? p->clip : power) * size / 2;
    return k < 2 ? centre - half : centre + half;
}

/* ---- arguments of kernels, from parameters and shapes ------------------------------------------------------------ */

static inline mxci_target_shape mxci_target_shape_of(const mxci_target_params *p, const mxc_shape *label,
                                                     const mxc_shape *scores) {
    mxci_target_shape s;
    s.anchors = scores->dim[2];
    s.labels = label->dim[1];
    s.width = label->dim[2];
    s.classes = scores->dim[1];
    s.overlap = p->overlap_threshold;
    s.ignore = p->ignore_label;
    s.mining_ratio = p->negative_mining_ratio;
    s.mining_overlap = p->negative_mining_thresh;
    for (int k = 0; k < 4; k++)
        s.variance[k] = p->variances.value[k];
    return s;
}

static inline mxci_detection_shape mxci_detection_shape_of(const mxci_detection_params *p, const mxc_shape *scores) {
    mxci_detection_shape s;
    s.anchors = scores->dim[2];
    s.classes = scores->dim[1];
    s.limit = p->nms_topk > 0 ? p->nms_topk : INT64_MAX;
    s.clip = p->clip;
    s.force = p->force_suppress;
    s.threshold = p->threshold;
    s.overlap = p->nms_threshold;
    for (int k = 0; k < 4; k++)
        s.variance[k] = p->variances.value[k];
    return s;
}

static inline mxci_proposal_shape mxci_proposal_shape_of(const mxci_proposal_params *p, const mxc_shape *scores) {
    mxci_proposal_shape s;
    s.in[0] = scores->dim[2];
    s.in[1] = scores->dim[3];
    s.stride = (double)p->feature_stride;
    s.min_size = (double)p->rpn_min_size;
    s.threshold = p->threshold;
    s.first = p->rpn_pre_nms_top_n > 0 ? p->rpn_pre_nms_top_n : INT64_MAX;
    s.limit = p->rpn_post_nms_top_n;
    s.by_corner = p->iou_loss;
    mxci_proposal_sizes(&s, p->ratios.n, p->ratios.value, p->scales.n, p->scales.value);
    return s;
}

/* ---- MultiBoxPrior: n boxes around each position, of which there are width in a row ------------------------------ */

typedef struct mxci_prior {
    int n, clip;
    int64_t width;
    double step[2], offset[2];          /* along y and x */
    double half[2 * MXC_FLOATS_MAX][2]; /* half the height and width of each box */
} mxci_prior;

static inline int mxci_prior_boxes(const mxci_prior_params *p) {
    return p->sizes.n + p->ratios.n - 1;
}

/* in: data's shape. */
static inline mxci_prior mxci_prior_of(const mxci_prior_params *p, const int64_t *in) {
    const int given = p->steps.value[0] > 0 && p->steps.value[1] > 0;
    mxci_prior r;
    r.n = mxci_prior_boxes(p);
    r.clip = p->clip;
    r.width = in[3];
    for (int k = 0; k < 2; k++) {
        r.step[k] = given ? p->steps.value[k] : 1 / (double)in[k + 2];
        r.offset[k] = p->offsets.value[k];
    }
    for (int i = 0; i < r.n; i++) {
        double ratio = sqrt(p->ratios.value[i < p->sizes.n ? 0 : i - p->sizes.n + 1]);
        double size = p->sizes.value[i < p->sizes.n ? i : 0];
        r.half[i][0] = size / ratio / 2;
        r.half[i][1] = size * ratio / 2 * (double)in[2] / (double)in[3];
    }
    return r;
}

/* Coordinate i of the boxes at a position: left, top, right, bottom of each box. */
MXCI_SCALAR double mxci_prior_number(const mxci_prior *r, int64_t position, int i) {
    const int k = 1 - (i & 1); /* x, y, x, y */
    const double at = (double)(k ? position % r->width : position / r->width) + r->offset[k];
    const double number = at * r->step[k] + (i & 2 ? r->half[i / 4][k] : -r->half[i / 4][k]);
    return r->clip ? fmin(fmax(number, 0), 1) : number;
}

#endif
