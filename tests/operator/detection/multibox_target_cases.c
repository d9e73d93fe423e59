/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _contrib_MultiBoxTarget. */
#include <math.h>
#include <stdlib.h>

#include "operator/detection/detection_reference.h"

typedef struct image {
    const double *anchors, *labels, *scores;
    int64_t n_anchors, n_labels, width, classes, step;
    int64_t *label_of; /* of each anchor: -1 ignored, -2 background */
} image;

static double pair(const image *m, int64_t anchor, int64_t label) {
    return case_corner_overlap(m->anchors + anchor * 4, m->labels + label * m->width + 1);
}

static int64_t best_label(const image *m, int64_t anchor) {
    int64_t best = 0;
    for (int64_t k = 1; k < m->n_labels; k++)
        if (pair(m, anchor, k) > pair(m, anchor, best))
            best = k;
    return best;
}

static int is_taken(const image *m, int64_t label) {
    for (int64_t j = 0; j < m->n_anchors; j++)
        if (m->label_of[j] == label)
            return 1;
    return 0;
}

/* The best pair of an anchor and a label that both are free; 0 if there is none. */
static int take_pair(image *m) {
    double best = 1e-6;
    int64_t anchor = -1, label = -1;
    for (int64_t j = 0; j < m->n_anchors; j++)
        for (int64_t k = 0; k < m->n_labels; k++)
            if (m->label_of[j] < 0 && !is_taken(m, k) && pair(m, j, k) > best) {
                best = pair(m, j, k);
                anchor = j;
                label = k;
            }
    if (anchor < 0)
        return 0;
    m->label_of[anchor] = label;
    return 1;
}

/* The chance of background. */
static double background(const image *m, int64_t anchor) {
    double sum = 0;
    for (int64_t c = 0; c < m->classes; c++)
        sum += exp(m->scores[c * m->n_anchors + anchor] - m->scores[anchor]);
    return 1 / sum;
}

/* The anchor that is next to become background; -1: none. */
static int64_t hardest(const op_run *r, const image *m) {
    int64_t best = -1;
    for (int64_t j = 0; j < m->n_anchors; j++)
        if (m->label_of[j] == -1 && pair(m, j, best_label(m, j)) < case_number(r, "negative_mining_thresh", 0.5) &&
            (best < 0 || background(m, j) < background(m, best)))
            best = j;
    return best;
}

static void match(const op_run *r, image *m) {
    double threshold = case_number(r, "overlap_threshold", 0.5), ratio = case_number(r, "negative_mining_ratio", -1);
    int64_t objects = 0, *taken = calloc((size_t)m->n_anchors + 1, sizeof *taken);
    while (take_pair(m))
        continue;
    for (int64_t j = 0; j < m->n_anchors; j++)
        taken[j] = m->label_of[j] < 0 && threshold > 0 && pair(m, j, best_label(m, j)) > threshold;
    for (int64_t j = 0; j < m->n_anchors; j++) {
        m->label_of[j] = taken[j] ? best_label(m, j) : m->label_of[j];
        objects += m->label_of[j] >= 0;
    }
    for (int64_t i = 0; ratio > 0 && i < (int64_t)((double)objects * ratio) && hardest(r, m) >= 0; i++)
        m->label_of[hardest(r, m)] = -2;
    for (int64_t j = 0; j < m->n_anchors && ratio <= 0; j++)
        m->label_of[j] = m->label_of[j] == -1 ? -2 : m->label_of[j];
    free(taken);
}

static void write_image(const op_run *r, const image *m, int64_t n) {
    for (int64_t j = 0; j < m->n_anchors; j++) {
        const double *a = m->anchors + j * 4, *label = m->labels + m->label_of[j] * m->width;
        double *loc = r->out[0] + (n * m->n_anchors + j) * 4, *mask = r->out[1] + (n * m->n_anchors + j) * 4;
        r->out[2][n * m->n_anchors + j] = m->label_of[j] == -2 ? 0 : case_number(r, "ignore_label", -1);
        for (int k = 0; k < 4; k++) {
            int from = k & 1, is_size = k >= 2, has = m->label_of[j] >= 0;
            double variance = case_entry(r, "variances=", k, k < 2 ? 0.1 : 0.2), size = a[from + 2] - a[from];
            mask[k] = has;
            loc[k] = 0;
            if (!has)
                continue;
            r->out[2][n * m->n_anchors + j] = label[0] + 1;
            loc[k] = is_size ? log((label[from + 3] - label[from + 1]) / size) / variance
                             : ((label[from + 1] + label[from + 3]) - (a[from] + a[from + 2])) / 2 / size / variance;
        }
    }
}

static void ref_target(const op_run *r) {
    const int64_t *label = r->in_shape[1].dim, *scores = r->in_shape[2].dim;
    for (int64_t n = 0; n < label[0]; n++) {
        image m = {
            .anchors = r->in[0],
            .labels = r->in[1] + n * label[1] * label[2],
            .scores = r->in[2] + n * scores[1] * scores[2],
            .n_anchors = scores[2],
            .width = label[2],
            .classes = scores[1],
        };
        m.label_of = calloc((size_t)m.n_anchors + 1, sizeof *m.label_of);
        for (int64_t j = 0; j < m.n_anchors; j++)
            m.label_of[j] = -1;
        while (m.n_labels < label[1] && m.labels[m.n_labels * m.width] != -1)
            m.n_labels++;
        if (m.n_labels)
            match(r, &m);
        write_image(r, &m, n);
        free(m.label_of);
    }
}

#define TARGET(given, shapes)                                                                                   \
    {                                                                                                           \
        .op = "_contrib_MultiBoxTarget", .params = given, .in = shapes, .reference = ref_target, .constant = 7, \
        .flags = CASE_OUT_EXACT, .tolerance = 20                                                                \
    }

static const op_case cases[] = {
    TARGET("", "1x12x4@0:1 1x3x5@0:1 1x2x12; 1x2x4 1x1x5 1x2x2; 1x7x4 2x1x5 2x2x7; 1x65x4 1x1x5 1x2x65; "
               "1x3x4 3x7x5 3x2x3; 1x9x4 1x2x6 1x5x9; 1x33x4 2x2x5 2x2x33; 1x17x4 1x3x5 1x1x17"),
    TARGET("", "1x60x4@0:1 3x4x5@0:1 3x3x60"),
    TARGET("overlap_threshold=0.1 variances=(1,0.5,0.25,2)", "1x80x4@0:1 2x5x6@0:1 2x2x80"),
    TARGET("overlap_threshold=0 ignore_label=-7", "1x40x4@0:1 2x3x5@0:1 2x2x40"),
    TARGET("negative_mining_ratio=3", "1x80x4@0:1 2x5x5@0:1 2x4x80@-3:3"),
    TARGET("negative_mining_ratio=0.5 negative_mining_thresh=0.05 ignore_label=-3 overlap_threshold=0.2",
           "1x80x4@0:1 2x5x5@0:1 2x4x80@-3:3"),
    TARGET("negative_mining_ratio=100 minimum_negative_samples=3", "1x50x4@0:1 1x4x5@0:1 1x3x50"),
    TARGET("negative_mining_ratio=2", "1x60x4@-1:2 6x4x5@-1:2i 6x3x60"),
    TARGET("", "1x60x4@-1:2 6x4x5@-1:2i 6x3x60"),
    TARGET("", "1x1x4@0:1 1x1x5@0:1 1x1x1"),
    TARGET("", "1x5x4@0:1 2x0x5 2x3x5"),
    TARGET("", "1x0x4 2x3x5@0:1 2x3x0"),
    TARGET("", "1x5x4@0:1 0x3x5 0x3x5"),
    FAILS("_contrib_MultiBoxTarget", "variances=(1,2)", "1x3x4 1x1x5 1x2x3", MXC_EINVAL, "variances has 2 entries"),
    FAILS("MultiBoxTarget", "negative_mining_ratio=1 negative_mining_thresh=0", "1x3x4 1x1x5 1x2x3", MXC_EINVAL,
          "negative_mining_thresh is 0"),
    FAILS("MultiBoxTarget", "", "1x3x4 1x1x4 1x2x3", MXC_ESHAPE, "axis 2 has 4 elements, expected at least 5"),
    FAILS("MultiBoxTarget", "", "1x3x5 1x1x5 1x2x3", MXC_ESHAPE, "argument 'anchor'"),
    FAILS("MultiBoxTarget", "", "1x3x4 1x1x5 1x2x4", MXC_ESHAPE, "argument 'cls_pred'"),
    FAILS("MultiBoxTarget", "", "1x3x4 2x1x5 1x2x3", MXC_ESHAPE, "argument 'cls_pred'"),
    FAILS("MultiBoxTarget", "", "1x3x4 1x1x5 1x0x3", MXC_ESHAPE, "cls_pred"),
    INFERS("MultiBoxTarget", "", "1x7x4,2x3x5,? -> ?,?,? => 1x7x4,2x3x5,2x?x7 -> 2x28,2x28,2x7"),
    INFERS("MultiBoxTarget", "", "?,?,? -> ?,?,2x7 => 1x7x4,2x?x?,2x?x7 -> 2x28,2x28,2x7"),
};

MXC_CASES(detection_multibox_target_cases, cases);
