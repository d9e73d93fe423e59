/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mean average precision of object detections, as in the PASCAL VOC challenge (Everingham et al. 2010, "The Pascal
 * Visual Object Classes (VOC) Challenge").
 *
 * The label is (N,M,w) with w at least 5: class, xmin, ymin, xmax, ymax, and in column 5, if there is one, whether the
 * object is difficult. Rows with a class below 0 are padding.
 *
 * The prediction is (N,K,6), as MultiBoxDetection and box_nms give it: class, score, xmin, ymin, xmax, ymax. Rows with
 * a class below 0 are no detections.
 *
 * In each image the detections of a class are taken by falling score, and each is matched with the object of its class
 * that it overlaps most, if the intersection over union reaches iou_thresh. The first detection of an object is true,
 * further ones are false; detections of difficult objects do not count, and neither do the objects themselves.
 *
 * State: a record for each detection that counts, and one for each object that counts (score NO_SCORE).
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/sys.h"
#include "train/metric.h"

#define NO_SCORE INFINITY /* objects sort before the detections of their class, whose scores are finite or below */

typedef struct detected {
    double cls, score, is_true;
} detected;

enum { RECORD = sizeof(detected) / sizeof(double), FOUND = 6, DIFFICULT = 5 };

/* ---- one image --------------------------------------------------------------------------------------------------- */

/* Intersection over union of boxes xmin, ymin, xmax, ymax; add is 1 if the right and lower edges belong to them. */
static double overlap(const float *a, const float *b, double add) {
    double width = fmin((double)a[2], (double)b[2]) + add - fmax((double)a[0], (double)b[0]);
    double height = fmin((double)a[3], (double)b[3]) + add - fmax((double)a[1], (double)b[1]);
    if (!(width > 0 && height > 0))
        return 0;
    double of_a = ((double)a[2] + add - (double)a[0]) * ((double)a[3] + add - (double)a[1]);
    double of_b = ((double)b[2] + add - (double)b[0]) * ((double)b[3] + add - (double)b[1]);
    return width * height / (of_a + of_b - width * height);
}

/* The object of the same class that the detection overlaps most; -1 if no overlap reaches the threshold. */
static int64_t metric_match(const mxci_metric_params *p, const mxci_metric_batch *b, const float *objects,
                            const float *found) {
    int64_t best = -1;
    double most = 0;
    for (int64_t i = 0; i < b->n_boxes; i++) {
        const float *object = objects + i * b->box_size;
        double area = object[0] == found[0] ? overlap(found + 2, object + 1, p->pixels ? 1 : 0) : 0;
        if (area > most) {
            most = area;
            best = i;
        }
    }
    return most >= p->iou_thresh ? best : -1;
}

/* Scratch for one image. */
typedef struct image {
    const float **order;  /* K: the detections by falling score */
    unsigned char *taken; /* M */
} image;

/* By falling score; equal ones in their order, which is that of their addresses. NaN comes last. */
static int by_falling_score(const void *a, const void *b) {
    const float *x = *(const float *const *)a, *y = *(const float *const *)b;
    if (isnan(x[1]) || isnan(y[1]))
        return isnan(x[1]) != isnan(y[1]) ? isnan(x[1]) - isnan(y[1]) : (x > y) - (x < y);
    return x[1] != y[1] ? (x[1] < y[1]) - (x[1] > y[1]) : (x > y) - (x < y);
}

static mxc_status add_record(mxci_metric_state *to, double cls, double score, double is_true) {
    double *out;
    MXC_TRY(mxci_metric_append(to, RECORD, &out));
    out[0] = cls;
    out[1] = score;
    out[2] = is_true;
    return MXC_OK;
}

static mxc_status add_image(const mxci_metric_params *p, const mxci_metric_batch *b, const float *objects,
                            const float *found, const image *scratch, mxci_metric_state *to) {
    int64_t n = 0;
    for (int64_t i = 0; i < b->n_boxes; i++) {
        const float *object = objects + i * b->box_size;
        scratch->taken[i] = 0;
        if (object[0] >= 0 && !(b->box_size > DIFFICULT && object[DIFFICULT] > 0))
            MXC_TRY(add_record(to, (double)object[0], NO_SCORE, 0));
    }
    for (int64_t i = 0; i < b->n_found; i++)
        if (found[i * FOUND] >= 0)
            scratch->order[n++] = found + i * FOUND;
    qsort(scratch->order, (size_t)n, sizeof *scratch->order, by_falling_score);
    for (int64_t i = 0; i < n; i++) {
        const float *one = scratch->order[i];
        int64_t match = metric_match(p, b, objects, one);
        if (match >= 0 && b->box_size > DIFFICULT && objects[match * b->box_size + DIFFICULT] > 0)
            continue;
        int is_true = match >= 0 && !scratch->taken[match];
        if (match >= 0)
            scratch->taken[match] = 1;
        MXC_TRY(add_record(to, (double)one[0], isnan(one[1]) ? -INFINITY : fmin((double)one[1], DBL_MAX), is_true));
    }
    return MXC_OK;
}

static mxc_status add_detections(const mxci_metric_params *p, const mxci_metric_batch *b, mxci_metric_state *to) {
    const image scratch = {mxci_calloc((size_t)b->n_found + 1, sizeof *scratch.order),
                           mxci_calloc((size_t)b->n_boxes + 1, 1)};
    mxc_status status =
        scratch.order && scratch.taken ? MXC_OK : MXCI_NO_MEMORY("voc_map", "the detections of an image");
    for (int64_t i = 0; status == MXC_OK && i < b->n; i++)
        status = add_image(p, b, b->label + i * b->n_boxes * b->box_size, b->prediction + i * b->n_found * FOUND,
                           &scratch, to);
    mxci_free(scratch.order);
    mxci_free(scratch.taken);
    return status;
}

/* ---- average precision ------------------------------------------------------------------------------------------- */

/* By class, then falling score. Of equal scores false detections come first, so that the order does not depend on that
 * of the images. */
static int by_class_and_score(const void *a, const void *b) {
    const detected *x = a, *y = b;
    if (x->cls != y->cls)
        return (x->cls > y->cls) - (x->cls < y->cls);
    if (x->score != y->score)
        return (x->score < y->score) - (x->score > y->score);
    return (x->is_true > y->is_true) - (x->is_true < y->is_true);
}

/* The precision that counts at a recall is the highest at this recall or above, so the detections, by falling score,
 * are walked from the last one on. all: the area under the curve; otherwise the mean at recalls 0, 0.1 to 1. */
static double average_precision(const detected *d, int64_t n, double objects, int all) {
    double n_true = 0, best = 0, sum = 0;
    int64_t point = 10;
    for (int64_t i = 0; i < n; i++)
        n_true += d[i].is_true;
    for (int64_t i = n - 1; i >= 0; i--) {
        double recall = n_true / objects, precision = n_true / (double)(i + 1);
        for (; !all && point >= 0 && (double)point * 0.1 > recall; point--)
            sum += best / 11;
        best = precision > best ? precision : best;
        if (all && d[i].is_true > 0)
            sum += best / objects; /* the recall rises here */
        n_true -= d[i].is_true;
    }
    for (; !all && n > 0 && point >= 0; point--)
        sum += best / 11;
    return sum;
}

/* The mean over the classes that have objects. */
static double mean_average_precision(const mxci_metric_state *s, int all) {
    detected *d = (detected *)(void *)s->values;
    int64_t n = s->n / RECORD;
    double sum = 0, classes = 0;
    qsort(d, (size_t)n, sizeof *d, by_class_and_score);
    for (int64_t begin = 0, first, end; begin < n; begin = end) {
        for (first = begin; first < n && d[first].cls == d[begin].cls && d[first].score == NO_SCORE; first++)
            continue;
        for (end = first; end < n && d[end].cls == d[begin].cls; end++)
            continue;
        if (first == begin)
            continue;
        sum += average_precision(d + first, end - first, (double)(first - begin), all);
        classes++;
    }
    return classes > 0 ? sum / classes : NAN;
}

static double area_value(const mxci_metric_params *p, const mxci_metric_state *s) {
    (void)p;
    return mean_average_precision(s, 1);
}

static double points_value(const mxci_metric_params *p, const mxci_metric_state *s) {
    (void)p;
    return mean_average_precision(s, 0);
}

static const mxc_param detection_schema[] = {
    {MXC_PARAM_FIELD(mxci_metric_params, iou_thresh), .name = "iou_thresh", .type = MXC_PARAM_FLOAT, .initial = "0.5",
     .bounded = 1, .minimum = 0, .maximum = 1,
     .doc = "Intersection over union from which on a detection is matched with an object."},
    {MXC_PARAM_FIELD(mxci_metric_params, pixels), .name = "pixels", .type = MXC_PARAM_BOOL, .initial = "false",
     .doc = "Boxes are integer pixel coordinates, and the right and lower edges belong to them, as in VOC's and "
            "GluonCV's evaluation. false: coordinates are real numbers."},
    {MXC_PARAM_FIELD(mxci_metric_params, name), .name = "name", .type = MXC_PARAM_STRING, .initial = "", .optional = 1,
     .doc = "Name for display. Default: that of the metric."},
    MXC_PARAM_END,
};

const mxci_metric_rule mxci_metric_voc_map = {
    .name = "voc_map",
    .aliases = "map",
    .doc = "Detection: mean average precision over classes, the area under the curve of precision over recall. Label "
           "(N,M,5 or more): class, xmin, ymin, xmax, ymax, is difficult; prediction (N,K,6): class, score, xmin, "
           "ymin, xmax, ymax.",
    .schema = detection_schema,
    .kind = MXCI_METRIC_DETECTION,
    .n_record = RECORD,
    .add = add_detections,
    .value = area_value,
    .higher_is_better = 1,
};

const mxci_metric_rule mxci_metric_voc07_map = {
    .name = "voc07_map",
    .doc = "Detection: as voc_map, but the mean of the precision at the recalls 0, 0.1 to 1, as in VOC 2007.",
    .schema = detection_schema,
    .kind = MXCI_METRIC_DETECTION,
    .n_record = RECORD,
    .add = add_detections,
    .value = points_value,
    .higher_is_better = 1,
};
