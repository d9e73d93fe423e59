/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _contrib_MultiBoxDetection. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "operator/detection/detection_reference.h"

/* Row of an anchor; its class is -1 where none is likely. */
static void detect(const op_run *r, int64_t n, int64_t j, double *row) {
    const int64_t *scores = r->in_shape[0].dim;
    const double *loc = r->in[1] + (n * scores[2] + j) * 4, *a = r->in[2] + j * 4;
    row[0] = row[1] = -1;
    for (int64_t c = 1; c < scores[1]; c++) {
        double score = r->in[0][(n * scores[1] + c) * scores[2] + j];
        if (score > row[1] && score >= case_number(r, "threshold", 0.01)) {
            row[0] = (double)(c - 1);
            row[1] = score;
        }
    }
    for (int k = 0; k < 4; k++) {
        int from = k & 1;
        double size = a[from + 2] - a[from], centre = (a[from] + a[from + 2]) / 2;
        centre += loc[from] * case_entry(r, "variances=", from, 0.1) * size;
        size *= exp(loc[from + 2] * case_entry(r, "variances=", from + 2, 0.2)) / 2;
        row[2 + k] = k < 2 ? centre - size : centre + size;
        if (!case_is(r, "clip", "false"))
            row[2 + k] = fmin(fmax(row[2 + k], 0), 1);
    }
}

static void swap_rows(double *a, double *b) {
    double kept[6];
    memcpy(kept, a, sizeof kept);
    memcpy(a, b, sizeof kept);
    memcpy(b, kept, sizeof kept);
}

static void drive_out(const op_run *r, double *rows, int64_t n, int64_t limit) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n && j < limit; j++)
            if (rows[i * 6] >= 0 && (rows[i * 6] == rows[j * 6] || case_is(r, "force_suppress", "true")) &&
                case_corner_overlap(rows + i * 6 + 2, rows + j * 6 + 2) >= case_number(r, "nms_threshold", 0.5))
                rows[j * 6] = -1;
}

static void ref_detection(const op_run *r) {
    const int64_t *scores = r->in_shape[0].dim;
    double threshold = case_number(r, "nms_threshold", 0.5), limit = case_number(r, "nms_topk", -1);
    for (int64_t n = 0; n < scores[0]; n++) {
        double *rows = r->out[0] + n * scores[2] * 6, *before = calloc((size_t)scores[2] * 6 + 1, sizeof *before);
        int64_t found = 0;
        for (int64_t j = 0; j < scores[2]; j++) {
            detect(r, n, j, rows + found * 6);
            found += rows[found * 6] >= 0;
        }
        for (int64_t i = found * 6; i < scores[2] * 6; i++)
            rows[i] = -1;
        memcpy(before, rows, (size_t)scores[2] * 6 * sizeof *before);
        for (int64_t i = 0; i < found && threshold > 0 && threshold <= 1; i++)
            for (int64_t j = found - 1; j > 0; j--)
                if (rows[j * 6 + 1] > rows[j * 6 - 5])
                    swap_rows(rows + j * 6, rows + j * 6 - 6);
        for (int64_t i = 0; i < found && threshold > 0 && threshold <= 1 && limit > 0; i++)
            if (i >= (int64_t)limit) {
                memcpy(rows + i * 6, before + i * 6, 6 * sizeof *before);
                rows[i * 6] = -1;
            }
        if (threshold > 0 && threshold <= 1)
            drive_out(r, rows, found, limit > 0 ? (int64_t)limit : found);
        free(before);
    }
}

#define DETECTION(given, shapes)                                                                                      \
    {                                                                                                                 \
        .op = "_contrib_MultiBoxDetection", .params = given, .in = shapes, .reference = ref_detection, .constant = 7, \
        .flags = CASE_OUT_EXACT                                                                                       \
    }

static const op_case cases[] = {
    DETECTION("", "2x3x12@0:1 2x48 1x12x4@0:1; 1x2x2 1x8 1x2x4; 7x2x3 7x12 1x3x4; 1x9x5 1x20 1x5x4; "
                  "1x2x65 1x260 1x65x4; 3x3x1 3x4 1x1x4; 2x4x17 2x68 1x17x4; 1x3x33 1x132 1x33x4"),
    DETECTION("", "2x2x40@0:1 2x160 1x40x4@0:1"),
    DETECTION("nms_threshold=0.1 force_suppress=true", "2x5x40@0:1 2x160 1x40x4@0:1"),
    DETECTION("clip=false threshold=0.6 variances=(1,0.5,0.25,2)", "2x3x20@0:1 2x80 1x20x4@0:1"),
    DETECTION("nms_topk=4", "2x2x20@0:1 2x80 1x20x4@0:1"),
    DETECTION("nms_topk=100 nms_threshold=0.3", "2x2x20@0:1 2x80 1x20x4@0:1"),
    DETECTION("nms_threshold=0", "2x3x9@0:1 2x36 1x9x4@0:1"),
    DETECTION("nms_threshold=1 background_id=1", "2x3x9@0:1 2x36 1x9x4@0:1"),
    DETECTION("threshold=2", "1x3x5@0:1 1x20 1x5x4@0:1"),
    DETECTION("", "1x1x5@0:1 1x20 1x5x4@0:1"),
    DETECTION("", "1x2x1@0:1 1x4 1x1x4@0:1"),
    DETECTION("", "0x2x3 0x12 1x3x4"),
    DETECTION("", "2x2x0 2x0 1x0x4"),
    FAILS("MultiBoxDetection", "variances=(1,2,3)", "1x2x3 1x12 1x3x4", MXC_EINVAL, "variances has 3 entries"),
    FAILS("MultiBoxDetection", "", "1x2x3 1x11 1x3x4", MXC_ESHAPE, "argument 'loc_pred'"),
    FAILS("MultiBoxDetection", "", "1x2x3 1x12 1x3x5", MXC_ESHAPE, "argument 'anchor'"),
    FAILS("MultiBoxDetection", "", "1x2x3 1x12 2x3x4", MXC_ESHAPE, "argument 'anchor'"),
    INFERS("MultiBoxDetection", "", "?,?,1x7x4 -> 2x?x? => 2x?x7,2x28,1x7x4 -> 2x7x6"),
};

MXC_CASES(detection_multibox_detection_cases, cases);
