/* Cases of single-shot detectors: MultiBoxPrior, MultiBoxTarget, MultiBoxDetection. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "operator/cases.h"

/* Intersection over union of corner boxes. */
static double overlap(const double *a, const double *b) {
    double w = fmin(a[2], b[2]) - fmax(a[0], b[0]), h = fmin(a[3], b[3]) - fmax(a[1], b[1]), both = 0;
    if (w > 0 && h > 0)
        both = w * h;
    return both > 0 ? both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both) : 0;
}

/* Entry i of "(a,b,c)"; initial where the parameter is not given. */
static double entry(const op_run *r, const char *key, int i, double initial) {
    const char *at = strstr(r->params, key);
    if (!at)
        return initial;
    for (at = strchr(at, '(') + 1; i > 0; i--)
        at = strchr(at, ',') + 1;
    return strtod(at, NULL);
}

static int entries(const op_run *r, const char *key) {
    const char *at = strstr(r->params, key);
    int n = 1;
    for (at = at ? at + strlen(key) : ")"; *at != ')'; at++)
        n += *at == ',';
    return n;
}

/* ---- MultiBoxPrior ----------------------------------------------------------------------------------------------- */

static void ref_prior(const op_run *r) {
    const int64_t h = r->in_shape[0].dim[2], w = r->in_shape[0].dim[3];
    int sizes = entries(r, "sizes="), each = sizes + entries(r, "ratios=") - 1;
    for (int64_t i = 0; i < h * w * each; i++) {
        int64_t box = i % each, place = i / each;
        double size = entry(r, "sizes=", (int)(box < sizes ? box : 0), 1);
        double ratio = sqrt(entry(r, "ratios=", (int)(box < sizes ? 0 : box - sizes + 1), 1));
        double half_w = size * ratio / 2 * (double)h / (double)w, half_h = size / ratio / 2;
        double y = ((double)(place / w) + entry(r, "offsets=", 0, 0.5)) * entry(r, "steps=", 0, 1 / (double)h);
        double x = ((double)(place % w) + entry(r, "offsets=", 1, 0.5)) * entry(r, "steps=", 1, 1 / (double)w);
        double corners[4] = {x - half_w, y - half_h, x + half_w, y + half_h};
        for (int k = 0; k < 4; k++)
            r->out[0][i * 4 + k] = case_is(r, "clip", "true") ? fmin(fmax(corners[k], 0), 1) : corners[k];
    }
}

#define PRIOR(given, shapes) \
    { .op = "_contrib_MultiBoxPrior", .params = given, .in = shapes, .reference = ref_prior }

/* ---- MultiBoxTarget ---------------------------------------------------------------------------------------------- */

typedef struct image {
    const double *anchors, *labels, *scores;
    int64_t n_anchors, n_labels, width, classes, step;
    int64_t *label_of; /* of each anchor: -1 ignored, -2 background */
} image;

static double pair(const image *m, int64_t anchor, int64_t label) {
    return overlap(m->anchors + anchor * 4, m->labels + label * m->width + 1);
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
            double variance = entry(r, "variances=", k, k < 2 ? 0.1 : 0.2), size = a[from + 2] - a[from];
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

/* ---- MultiBoxDetection ------------------------------------------------------------------------------------------- */

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
        centre += loc[from] * entry(r, "variances=", from, 0.1) * size;
        size *= exp(loc[from + 2] * entry(r, "variances=", from + 2, 0.2)) / 2;
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
                overlap(rows + i * 6 + 2, rows + j * 6 + 2) >= case_number(r, "nms_threshold", 0.5))
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
    PRIOR("", "1x3x2x2; 1x1x1x1; 7x1x2x1; 1x7x1x3; 2x2x5x5; 1x1x33x1; 1x1x1x65; 3x2x9x4; 1x65x2x2; 1x1x17x3; 2x0x3x3; "
              "1x3x2x2@-1:1n"),
    PRIOR("sizes=(0.5,0.25) ratios=(1,2,0.5)", "2x3x4x5"),
    PRIOR("sizes=(0.5,0.25) ratios=(2,1) clip=true", "1x1x3x7"),
    PRIOR("sizes=(0.2) ratios=(1,2,0.5,3,0.3333) clip=true", "1x2x1x1"),
    PRIOR("sizes=(0.3) steps=(0.1,0.2) offsets=(0,1)", "1x1x5x3"),
    PRIOR("sizes=(0.1,0.2,0.3) offsets=(0.25,0.75)", "1x1x38x38"),
    PRIOR("", "1x3x1x7"),
    PRIOR("", "0x3x2x2"),
    PRIOR("", "1x3x0x2"),
    PRIOR("", "1x3x2x0"),
    FAILS("_contrib_MultiBoxPrior", "sizes=()", "1x1x2x2", MXC_EINVAL, "at least one of sizes"),
    FAILS("_contrib_MultiBoxPrior", "ratios=(1,0)", "1x1x2x2", MXC_EINVAL, "ratios has 0, expected above 0"),
    FAILS("_contrib_MultiBoxPrior", "steps=(1)", "1x1x2x2", MXC_EINVAL, "steps has 1 entries"),
    FAILS("MultiBoxPrior", "offsets=(1,2,3)", "1x1x2x2", MXC_EINVAL, "offsets 3, expected 2"),
    FAILS("MultiBoxPrior", "", "1x1x2", MXC_ESHAPE, "argument 'data'"),
    INFERS("MultiBoxPrior", "sizes=(1,2) ratios=(1,2)", "?x?x3x4 -> ? => ?x?x3x4 -> 1x36x4"),
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
    FAILS("MultiBoxDetection", "", "1x2x3 1x12 1x3x5", MXC_ESHAPE, "argument 'anchors'"),
    FAILS("MultiBoxDetection", "", "1x2x3 1x12 2x3x4", MXC_ESHAPE, "argument 'anchors'"),
    INFERS("MultiBoxDetection", "", "?,?,1x7x4 -> 2x?x? => 2x?x7,2x28,1x7x4 -> 2x7x6"),
};

MXC_CASES(detect_cases, cases);
