/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _contrib_Proposal and _contrib_MultiProposal. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "operator/cases.h"

/* Both ends of an interval belong to it. */
static double shared(const double *a, const double *b) {
    return fmax(fmin(a[2], b[2]) - fmax(a[0], b[0]) + 1, 0);
}

static double pixel_overlap(const double *a, const double *b) {
    double both = shared(a, b) * shared(a + 1, b + 1);
    return both / (shared(a, a) * shared(a + 1, a + 1) + shared(b, b) * shared(b + 1, b + 1) - both);
}

/* Ends k and k + 2 of box a at a place, before it moves. */
static void anchor_ends(const op_run *r, int64_t a, int k, int64_t at, double *low, double *high) {
    mxc_tuple scales = case_tuple(r, "scales"), ratios = case_tuple(r, "ratios");
    double stride = case_number(r, "feature_stride", 16), ratio = (double)ratios.value[a / scales.n], size;
    size = floor(sqrt(floor(stride * stride / ratio)) + 0.5);
    size = (k ? floor(size * ratio + 0.5) : size) * (double)scales.value[a % scales.n];
    *low = (stride - 1) / 2 - (size - 1) / 2 + (double)at * stride;
    *high = *low + size - 1;
}

/* Box and score of anchor a of an image at place (y, x). */
static void propose(const op_run *r, int64_t image, int64_t a, const int64_t *place, double *row) {
    const int64_t *in = r->in_shape[0].dim, plane = in[2] * in[3], at = place[1] * in[3] + place[0];
    const double *info = r->in[2] + image * 3, *steps = r->in[1] + image * 2 * in[1] * plane;
    double least = case_number(r, "rpn_min_size", 16) * info[2];
    row[4] = r->in[0][(image * in[1] + in[1] / 2 + a) * plane + at];
    for (int k = 0; k < 2; k++) {
        double first = steps[(a * 4 + k) * plane + at], second = steps[(a * 4 + k + 2) * plane + at], low, high;
        double size_of_image = info[1 - k];
        anchor_ends(r, a, k, place[k], &low, &high);
        if (case_is(r, "iou_loss", "true")) {
            low += first;
            high += second;
        } else {
            double size = high - low + 1, centre = low + (size - 1) / 2 + first * size;
            low = centre - (size * exp(second) - 1) / 2;
            high = centre + (size * exp(second) - 1) / 2;
        }
        row[k] = fmax(fmin(low, size_of_image - 1), 0);
        row[k + 2] = fmax(fmin(high, size_of_image - 1), 0);
        if (place[k] >= (int64_t)(size_of_image / case_number(r, "feature_stride", 16)))
            row[4] = -1;
    }
    if (row[2] - row[0] + 1 < least || row[3] - row[1] + 1 < least) {
        for (int k = 0; k < 4; k++)
            row[k] += k < 2 ? -least / 2 : least / 2;
        row[4] = -1;
    }
}

/* The rows of out and score of one image. */
static void propose_all(const op_run *r, int64_t image, int64_t limit, double *out, double *score) {
    const int64_t *in = r->in_shape[0].dim, anchors = in[1] / 2, count = anchors * in[2] * in[3];
    int64_t first = (int64_t)case_number(r, "rpn_pre_nms_top_n", 6000), kept = 0;
    double *rows = calloc((size_t)count * 5 + 1, sizeof *rows);
    char *done = calloc((size_t)count + 1, 1);
    for (int64_t i = 0; i < count; i++)
        propose(r, image, i % anchors, (int64_t[]){i / anchors % in[3], i / anchors / in[3]}, rows + i * 5);
    for (int64_t seen = 0; seen < count && (first <= 0 || seen < first) && kept < limit; seen++) {
        int64_t best = -1;
        int stays = 1;
        for (int64_t i = 0; i < count; i++)
            if (!done[i] && (best < 0 || rows[i * 5 + 4] > rows[best * 5 + 4]))
                best = i;
        done[best] = 1;
        for (int64_t i = 0; i < kept && stays; i++)
            stays = !(pixel_overlap(out + i * 5 + 1, rows + best * 5) > case_number(r, "threshold", 0.7));
        if (stays) {
            memcpy(out + kept * 5 + 1, rows + best * 5, 4 * sizeof *rows);
            score[kept++] = rows[best * 5 + 4];
        }
    }
    for (int64_t i = 0; i < limit; i++) {
        for (int k = 1; k < 5; k++)
            out[i * 5 + k] = kept ? out[i % kept * 5 + k] : 0;
        out[i * 5] = (double)image;
        score[i] = kept ? score[i % kept] : 0;
    }
    free(rows);
    free(done);
}

static void ref_proposal(const op_run *r) {
    const int64_t images = r->in_shape[0].dim[0], limit = images ? r->out_shape[0].dim[0] / images : 0;
    for (int64_t i = 0; i < images; i++)
        propose_all(r, i, limit, r->out[0] + i * limit * 5, r->out[1] + i * limit);
}

#define PROPOSAL(given, shapes)                                                                             \
    {                                                                                                       \
        .op = "_contrib_Proposal", .params = given, .in = shapes, .reference = ref_proposal, .constant = 7, \
        .tolerance = 4                                                                                      \
    }

#define MULTI(given, shapes)                                                                                     \
    {                                                                                                            \
        .op = "_contrib_MultiProposal", .params = given, .in = shapes, .reference = ref_proposal, .constant = 7, \
        .tolerance = 4                                                                                           \
    }

static const op_case cases[] = {
    PROPOSAL("scales=(2) ratios=(1) rpn_min_size=0 rpn_post_nms_top_n=6",
             "1x2x3x4@0:1 1x4x3x4 1x3@0:100; 1x2x1x1 1x4x1x1 1x3; 1x2x7x1 1x4x7x1 1x3; 1x2x1x9 1x4x1x9 1x3; "
             "1x2x5x5 1x4x5x5 1x3; 1x2x2x3 1x4x2x3 1x3; 1x2x2x7 1x4x2x7 1x3; 1x2x6x2 1x4x6x2 1x3; "
             "1x2x9x9 1x4x9x9 1x3; 1x2x4x4 1x4x4x4 1x3; 1x2x17x1 1x4x17x1 1x3; 1x2x1x65 1x4x1x65 1x3; "
             "1x2x8x3 1x4x8x3 1x3"),
    PROPOSAL("scales=(1,2) ratios=(1,2,3) rpn_min_size=0 rpn_post_nms_top_n=20 output_score=true",
             "1x12x5x7@0:1 1x24x5x7@-0.4:0.4 1x3@0:120"),
    PROPOSAL("scales=(1,3) ratios=(2) rpn_min_size=1 rpn_post_nms_top_n=30 output_score=true threshold=0.3",
             "1x4x6x7@0:1 1x8x6x7@-0.4:0.4 1x3@0:120"),
    PROPOSAL("scales=(2,4) ratios=(1,2) rpn_pre_nms_top_n=9 rpn_post_nms_top_n=12 feature_stride=8 rpn_min_size=0",
             "1x8x9x5@0:1 1x16x9x5@-0.4:0.4 1x3@20:90"),
    PROPOSAL("scales=(1,2) ratios=(1) rpn_pre_nms_top_n=0 rpn_post_nms_top_n=40 iou_loss=true rpn_min_size=0",
             "1x4x4x6@0:1 1x8x4x6@-30:30 1x3@0:110"),
    PROPOSAL("scales=(1) ratios=(1) rpn_post_nms_top_n=3 rpn_min_size=2", "1x2x1x1@0:1 1x4x1x1 1x3@0:60"),
    PROPOSAL("scales=(2) ratios=(1) rpn_post_nms_top_n=1 rpn_min_size=0", "1x2x3x4@0:1 1x4x3x4 1x3@0:100"),
    PROPOSAL("scales=(2) ratios=(1) rpn_post_nms_top_n=4 output_score=true", "1x2x0x4 1x4x0x4 1x3"),
    MULTI("scales=(2) ratios=(1) rpn_min_size=0 rpn_post_nms_top_n=6",
          "2x2x3x4@0:1 2x4x3x4 2x3@0:100; 1x2x1x1 1x4x1x1 1x3; 3x2x7x1 3x4x7x1 3x3; 2x2x1x9 2x4x1x9 2x3; "
          "5x2x5x5 5x4x5x5 5x3; 4x2x2x3 4x4x2x3 4x3; 2x2x2x7 2x4x2x7 2x3; 9x2x2x2 9x4x2x2 9x3; 0x2x3x4 0x4x3x4 0x3; "
          "3x2x9x9 3x4x9x9 3x3; 2x2x17x1 2x4x17x1 2x3; 1x2x1x65 1x4x1x65 1x3; 2x2x8x3 2x4x8x3 2x3; "
          "2x2x0x3 2x4x0x3 2x3; 17x2x2x1 17x4x2x1 17x3"),
    MULTI("scales=(1,2) ratios=(1,2,3) rpn_min_size=0 rpn_post_nms_top_n=20 output_score=true",
          "2x12x5x7@0:1 2x24x5x7@-0.4:0.4 2x3@0:120; 1x12x3x3 1x24x3x3 1x3"),
    MULTI("scales=(1,3) ratios=(2) rpn_min_size=1 rpn_post_nms_top_n=30 output_score=true threshold=0.3",
          "3x4x6x7@0:1 3x8x6x7@-0.4:0.4 3x3@0:120; 2x4x3x3 2x8x3x3 2x3"),
    MULTI("scales=(1,2) ratios=(1) rpn_pre_nms_top_n=5 rpn_post_nms_top_n=9 iou_loss=true rpn_min_size=0",
          "2x4x4x6@0:1 2x8x4x6@-30:30 2x3@0:110; 3x4x2x2 3x8x2x2 3x3"),
    FAILS("MultiProposal", "scales=(1) ratios=(1)", "2x2x3x3 2x4x3x3 1x3", MXC_ESHAPE, "argument 'im_info'"),
    INFERS("MultiProposal", "scales=(2) ratios=(1,2) rpn_post_nms_top_n=7",
           "?,?x8x3x?,2x? -> ?,? => 2x4x3x?,2x8x3x?,2x3 -> 14x5,14x1"),
    FAILS("_contrib_Proposal", "scales=(1) ratios=(1)", "2x2x3x3 2x4x3x3 2x3", MXC_ESHAPE, "argument 'cls_prob'"),
    FAILS("Proposal", "", "1x2x3x3 1x4x3x3 1x3", MXC_ESHAPE, "argument 'cls_prob': expected shape (1,24,?,?)"),
    FAILS("Proposal", "scales=(1) ratios=(1)", "1x2x3x3 1x4x3x4 1x3", MXC_ESHAPE, "argument 'bbox_pred'"),
    FAILS("Proposal", "scales=(1) ratios=(1)", "1x2x3x3 1x4x3x3 1x2", MXC_ESHAPE, "argument 'im_info'"),
    FAILS("Proposal", "scales=(1,-2)", "1x2x3x3 1x4x3x3 1x3", MXC_EINVAL, "scales has -2, expected above 0"),
    FAILS("Proposal", "ratios=(0)", "1x2x3x3 1x4x3x3 1x3", MXC_EINVAL, "ratios has 0, expected above 0"),
    FAILS("Proposal", "scales=()", "1x2x3x3 1x4x3x3 1x3", MXC_EINVAL, "at least one of scales"),
    FAILS("Proposal", "rpn_post_nms_top_n=0", "1x2x3x3 1x4x3x3 1x3", MXC_EINVAL, "rpn_post_nms_top_n"),
    INFERS("Proposal", "scales=(2) ratios=(1,2) rpn_post_nms_top_n=7",
           "?,1x8x3x?,? -> ?,? => 1x4x3x?,1x8x3x?,1x3 -> 7x5,7x1"),
};

MXC_CASES(detection_proposal_cases, cases);
