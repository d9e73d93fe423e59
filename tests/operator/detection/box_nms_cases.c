/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _contrib_box_nms. */
#include <stdlib.h>
#include <string.h>

#include "operator/detection/detection_reference.h"

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
                    !(case_box_overlap(better + box, row + box, case_is(r, "in_format", "center")) >
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
    case_box_corners(old, centred, box);
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

static const op_case cases[] = {
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
};

MXC_CASES(detection_box_nms_cases, cases);
