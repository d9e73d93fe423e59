/* Cases of operators on boxes: box_iou, box_nms, Proposal. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "operator/cases.h"

static void to_corners(const double *box, int centred, double *out) {
    for (int k = 0; k < 2; k++) {
        out[k] = centred ? box[k] - box[k + 2] / 2 : box[k];
        out[k + 2] = centred ? box[k] + box[k + 2] / 2 : box[k + 2];
    }
}

static double overlap(const double *first, const double *second, int centred) {
    double a[4], b[4], w, h;
    to_corners(first, centred, a);
    to_corners(second, centred, b);
    w = fmin(a[2], b[2]) - fmax(a[0], b[0]);
    h = fmin(a[3], b[3]) - fmax(a[1], b[1]);
    if (w <= 0 || h <= 0)
        return 0;
    return w * h / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - w * h);
}

/* ---- box_iou ----------------------------------------------------------------------------------------------------- */

static void ref_iou(const op_run *r) {
    int64_t n = case_size(&r->in_shape[1]) / 4;
    for (int64_t o = 0; o < case_size(&r->out_shape[0]); o++)
        r->out[0][o] = overlap(r->in[0] + o / n * 4, r->in[1] + o % n * 4, case_is(r, "format", "center"));
}

#define IOU(given, shapes) \
    { .op = "_contrib_box_iou", .params = given, .in = shapes, .reference = ref_iou, .constant = 3, .tolerance = 4 }

/* ---- box_nms ----------------------------------------------------------------------------------------------------- */

/* The rows of one group that stay, the best first; returns how many. */
static int64_t staying(const op_run *r, const double *rows, int64_t n, int64_t k, int64_t *out) {
    int64_t score = (int64_t)case_number(r, "score_index", 1), box = (int64_t)case_number(r, "coord_start", 2);
    int64_t id = (int64_t)case_number(r, "id_index", -1), topk = (int64_t)case_number(r, "topk", -1);
    int64_t seen = 0, kept = 0;
    char *done = calloc((size_t)n + 1, 1);
    for (; topk <= 0 || seen < topk; seen++) {
        int64_t best = -1;
        int stays = 1;
        for (int64_t i = 0; i < n; i++)
            if (!done[i] && rows[i * k + score] > case_number(r, "valid_thresh", 0) &&
                (id < 0 || rows[i * k + id] != case_number(r, "background_id", -1)) &&
                (best < 0 || rows[i * k + score] > rows[best * k + score]))
                best = i;
        if (best < 0)
            break;
        done[best] = 1;
        for (int64_t i = 0; i < kept && stays; i++) {
            const double *better = rows + out[i] * k, *row = rows + best * k;
            stays = (id >= 0 && !case_is(r, "force_suppress", "true") && better[id] != row[id]) ||
                    !(overlap(better + box, row + box, case_is(r, "in_format", "center")) >
                      case_number(r, "overlap_thresh", 0.5));
        }
        if (stays)
            out[kept++] = best;
    }
    free(done);
    return kept;
}

static void reform(const op_run *r, double *row) {
    double *box = row + (int64_t)case_number(r, "coord_start", 2), old[4];
    int centred = case_is(r, "in_format", "center");
    memcpy(old, box, sizeof old);
    if (centred == case_is(r, "out_format", "center"))
        return;
    to_corners(old, centred, box);
    for (int i = 0; i < 2 && !centred; i++) {
        box[i] = (old[i] + old[i + 2]) / 2;
        box[i + 2] = old[i + 2] - old[i];
    }
}

static void for_groups(const op_run *r, int is_backward) {
    const mxc_shape *s = &r->in_shape[0];
    int64_t n = s->dim[s->ndim - 2], k = s->dim[s->ndim - 1], *order = calloc((size_t)n + 1, sizeof *order);
    for (int64_t first = 0; first < case_size(s); first += n * k) {
        const double *rows = r->in[0] + first;
        int64_t kept = staying(r, rows, n, k, order);
        for (int64_t i = 0; i < n * k; i++) {
            int64_t from = i / k < kept ? order[i / k] * k + i % k : -1;
            if (!is_backward)
                r->out[0][first + i] = from < 0 ? -1 : rows[from];
            else if (from >= 0)
                r->in_grad[0][first + from] = r->out_grad[0][first + i];
        }
        for (int64_t i = 0; i < kept && !is_backward; i++)
            reform(r, r->out[0] + first + i * k);
    }
    free(order);
}

static void ref_nms(const op_run *r) {
    for_groups(r, 0);
}

static void grad_nms(const op_run *r) {
    for_groups(r, 1);
}

#define NMS(given, shapes)                                                                                   \
    {                                                                                                        \
        .op = "_contrib_box_nms", .params = given, .in = shapes, .reference = ref_nms, .gradient = grad_nms, \
        .flags = CASE_OUT_EXACT                                                                              \
    }

/* ---- Proposal ---------------------------------------------------------------------------------------------------- */

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

/* Box and score of anchor a at place (y, x). */
static void propose(const op_run *r, int64_t a, const int64_t *place, double *row) {
    const int64_t *in = r->in_shape[0].dim, plane = in[2] * in[3], at = place[1] * in[3] + place[0];
    double least = case_number(r, "rpn_min_size", 16) * r->in[2][2];
    row[4] = r->in[0][(in[1] / 2 + a) * plane + at];
    for (int k = 0; k < 2; k++) {
        double first = r->in[1][(a * 4 + k) * plane + at], second = r->in[1][(a * 4 + k + 2) * plane + at], low, high;
        double image = r->in[2][1 - k];
        anchor_ends(r, a, k, place[k], &low, &high);
        if (case_is(r, "iou_loss", "true")) {
            low += first;
            high += second;
        } else {
            double size = high - low + 1, centre = low + (size - 1) / 2 + first * size;
            low = centre - (size * exp(second) - 1) / 2;
            high = centre + (size * exp(second) - 1) / 2;
        }
        row[k] = fmax(fmin(low, image - 1), 0);
        row[k + 2] = fmax(fmin(high, image - 1), 0);
        if (place[k] >= (int64_t)(image / case_number(r, "feature_stride", 16)))
            row[4] = -1;
    }
    if (row[2] - row[0] + 1 < least || row[3] - row[1] + 1 < least) {
        for (int k = 0; k < 4; k++)
            row[k] += k < 2 ? -least / 2 : least / 2;
        row[4] = -1;
    }
}

static void ref_proposal(const op_run *r) {
    const int64_t *in = r->in_shape[0].dim, anchors = in[1] / 2, count = anchors * in[2] * in[3];
    int64_t first = (int64_t)case_number(r, "rpn_pre_nms_top_n", 6000), limit = r->out_shape[0].dim[0], kept = 0;
    double *rows = calloc((size_t)count * 5 + 1, sizeof *rows), *out = r->out[0];
    char *done = calloc((size_t)count + 1, 1);
    for (int64_t i = 0; i < count; i++)
        propose(r, i % anchors, (int64_t[]){i / anchors % in[3], i / anchors / in[3]}, rows + i * 5);
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
            r->out[1][kept++] = rows[best * 5 + 4];
        }
    }
    for (int64_t i = 0; i < limit; i++) {
        for (int k = 1; k < 5; k++)
            out[i * 5 + k] = kept ? out[i % kept * 5 + k] : 0;
        out[i * 5] = 0;
        r->out[1][i] = kept ? r->out[1][i % kept] : 0;
    }
    free(rows);
    free(done);
}

#define PROPOSAL(given, shapes)                                                                             \
    {                                                                                                       \
        .op = "_contrib_Proposal", .params = given, .in = shapes, .reference = ref_proposal, .constant = 7, \
        .tolerance = 4                                                                                      \
    }

static const op_case cases[] = {
    IOU("", "12x4@0:1 9x4@0:1; 1x4 1x4; 7x4 1x4; 1x4 7x4; 65x4 3x4; 2x3x4 5x4; 3x4 2x3x4; 4 4; 2x1x2x4 3x4; "
            "17x4 33x4; 0x4 0x4; 2x2x4 2x2x4; 5x4 129x4"),
    IOU("format=center", "2x5x4@0:1 3x4@0:1"),
    IOU("", "4@0:1 2x3x2x4@0:1"),
    IOU("", "40x4@0:1 4@0:1"),
    IOU("", "1x4@0:3i 30x4@0:3i"),
    IOU("format=corner", "60x4@0:1 70x4@0:1"),
    IOU("", "0x4 3x4"),
    IOU("", "2x4 0x4"),
    FAILS("_contrib_box_iou", "", "2x5 3x4", MXC_ESHAPE, "argument 'lhs'"),
    FAILS("box_iou", "", "2x4 3x3", MXC_ESHAPE, "argument 'rhs'"),
    FAILS("box_iou", "", "2x4 s", MXC_ESHAPE, "argument 'rhs': expected boxes, found a scalar"),
    FAILS("box_iou", "", "1x1x1x1x4 1x1x1x1x1x4", MXC_ESHAPE, "do not fit arguments of 5 and 6 axes"),
    FAILS("box_iou", "format=edge", "2x4 3x4", MXC_EINVAL, "format"),
    INFERS("box_iou", "", "?x4,2x? -> 5x? => 5x4,2x4 -> 5x2"),
    INFERS("box_iou", "", "3x4,? -> ?x5x6 => 3x4,5x6x4 -> 3x5x6"),
    NMS("", "20x6@0:1; 1x6; 2x6; 7x6; 1x9x6; 65x6; 2x1x3x6"),
    NMS("overlap_thresh=0.1", "3x30x6@0:1"),
    NMS("id_index=0 overlap_thresh=0.05", "2x3x40x6@-1:4i"),
    NMS("id_index=0 force_suppress=true background_id=1 overlap_thresh=0.3", "2x40x7@0:2i"),
    NMS("coord_start=0 score_index=4 valid_thresh=0.3", "2x30x5@0:1"),
    NMS("coord_start=1 score_index=0 topk=7 overlap_thresh=0.1", "2x30x5@0:1"),
    NMS("topk=3 overlap_thresh=0.9 in_format=center", "4x30x8@0:1"),
    NMS("in_format=center out_format=corner overlap_thresh=0.2", "30x6@0:1"),
    NMS("in_format=corner out_format=center overlap_thresh=0.2", "30x6@0:1"),
    NMS("valid_thresh=2", "5x6"),
    NMS("", "1x1x6@0:1"),
    NMS("coord_start=0 score_index=0", "2x9x4@0:1"),
    NMS("", "0x3x6"),
    NMS("", "2x0x6"),
    FAILS("_contrib_box_nms", "", "6", MXC_ESHAPE, "expected at least 2 axes, found 1"),
    FAILS("box_nms", "", "2x5", MXC_ESHAPE, "rows have 5 elements, expected at least 6"),
    FAILS("box_nms", "id_index=8", "2x6", MXC_ESHAPE, "rows have 6 elements, expected at least 9"),
    FAILS("box_nms", "score_index=-1", "2x6", MXC_EINVAL, "score_index"),
    FAILS("box_nms", "out_format=middle", "2x6", MXC_EINVAL, "out_format"),
    INFERS("box_nms", "", "2x?x6 -> ?x5x?,? => 2x5x6 -> 2x5x6,2x5x1"),
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
    FAILS("_contrib_Proposal", "scales=(1) ratios=(1)", "2x2x3x3 2x4x3x3 2x3", MXC_ESHAPE, "argument 'cls_score'"),
    FAILS("Proposal", "", "1x2x3x3 1x4x3x3 1x3", MXC_ESHAPE, "argument 'cls_score': expected shape (1,24,?,?)"),
    FAILS("Proposal", "scales=(1) ratios=(1)", "1x2x3x3 1x4x3x4 1x3", MXC_ESHAPE, "argument 'bbox_pred'"),
    FAILS("Proposal", "scales=(1) ratios=(1)", "1x2x3x3 1x4x3x3 1x2", MXC_ESHAPE, "argument 'im_info'"),
    FAILS("Proposal", "scales=(1,-2)", "1x2x3x3 1x4x3x3 1x3", MXC_EINVAL, "scales has -2, expected above 0"),
    FAILS("Proposal", "ratios=(0)", "1x2x3x3 1x4x3x3 1x3", MXC_EINVAL, "ratios has 0, expected above 0"),
    FAILS("Proposal", "scales=()", "1x2x3x3 1x4x3x3 1x3", MXC_EINVAL, "at least one of scales"),
    FAILS("Proposal", "rpn_post_nms_top_n=0", "1x2x3x3 1x4x3x3 1x3", MXC_EINVAL, "rpn_post_nms_top_n"),
    INFERS("Proposal", "scales=(2) ratios=(1,2) rpn_post_nms_top_n=7",
           "?,1x8x3x?,? -> ?,? => 1x4x3x?,1x8x3x?,1x3 -> 7x5,7x1"),
};

MXC_CASES(boxes_cases, cases);
