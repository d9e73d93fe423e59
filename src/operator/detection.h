/* Parameters of the operators on boxes, for C and GPU modules. */
#ifndef MXCI_OPERATOR_DETECTION_H
#define MXCI_OPERATOR_DETECTION_H

#include <math.h>

#include <mxc/param.h>

#include "operator/kernels/loop.h"

enum { MXCI_BOX_CORNER, MXCI_BOX_CENTER };

typedef struct mxci_iou_params {
    int32_t format;
} mxci_iou_params;

typedef struct mxci_nms_params {
    double overlap_thresh, valid_thresh;
    int64_t topk, coord_start, score_index, id_index, background_id;
    int32_t force_suppress, in_format, out_format;
} mxci_nms_params;

typedef struct mxci_prior_params {
    mxc_floats sizes, ratios, steps, offsets;
    int32_t clip;
} mxci_prior_params;

/* ---- MultiBoxPrior: n boxes around each place, of which there are width in a row --------------------------------- */

typedef struct mxci_prior {
    int n, clip;
    int64_t width;
    double step[2], offset[2];         /* along y and x */
    double half[2 * MXC_TUPLE_MAX][2]; /* of each box's height and width */
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

/* Number i of the boxes of a place: left, top, right, bottom of each. */
MXCI_SCALAR double mxci_prior_number(const mxci_prior *r, int64_t place, int i) {
    const int k = 1 - (i & 1); /* x, y, x, y */
    const double at = (double)(k ? place % r->width : place / r->width) + r->offset[k];
    const double number = at * r->step[k] + (i & 2 ? r->half[i / 4][k] : -r->half[i / 4][k]);
    return r->clip ? fmin(fmax(number, 0), 1) : number;
}

#endif
