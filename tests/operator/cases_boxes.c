/* Cases of operators on boxes: box_iou, box_nms. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "operator/cases.h"

#define FAILS(name, given, shapes, code, text) \
    {.op = name, .params = given, .in = shapes, .status = code, .error = text}
#define INFERS(name, given, text) {.op = name, .params = given, .infer = text}

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

#define IOU(given, shapes)                                                                                             \
    {.op = "_contrib_box_iou", .params = given, .in = shapes, .reference = ref_iou, .constant = 3, .tolerance = 4}

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

#define NMS(given, shapes)                                                                                             \
    {.op = "_contrib_box_nms", .params = given, .in = shapes, .reference = ref_nms, .gradient = grad_nms,              \
     .flags = CASE_OUT_EXACT}

static const op_case cases[] = {
    IOU("", "12x4@0:1 9x4@0:1"),
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
    NMS("", "20x6@0:1"),
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
};

MXC_CASES(boxes_cases, cases);
