/* SPDX-License-Identifier: Apache-2.0 */
/* Mean average precision against a plain second implementation, which keeps all images and follows the definition: the
 * curve of precision over recall of each class, and the highest precision at each recall or above. */
#include <math.h>

#include <mxc/train.h>

#include "train/metric.h"
#include "train/toy.h"

enum { IMAGES = 30, BOXES = 5, FOUND = 8, CLASSES = 4, W = 6 };

static float objects[IMAGES][BOXES][W], found[IMAGES][FOUND][6];

static float noise(uint32_t i) {
    return toy_noise(i) + 0.5f;
}

/* Boxes of some objects, and detections that are near them or anywhere; class 3 has no objects. */
static void make_images(float scale) {
    uint32_t at = 1;
    for (int i = 0; i < IMAGES; i++) {
        for (int k = 0; k < BOXES; k++, at += 16) {
            float *o = objects[i][k];
            o[0] = noise(at) < 0.2f ? -1 : (float)(int)(noise(at + 1) * 3);
            o[1] = floorf(noise(at + 2) * 40) * scale;
            o[2] = floorf(noise(at + 3) * 40) * scale;
            o[3] = o[1] + floorf(5 + noise(at + 4) * 20) * scale;
            o[4] = o[2] + floorf(5 + noise(at + 5) * 20) * scale;
            o[5] = noise(at + 6) < 0.15f;
        }
        for (int k = 0; k < FOUND; k++, at += 16) {
            float *f = found[i][k];
            const float *o = objects[i][(int)(noise(at) * BOXES)];
            int is_near = noise(at + 1) < 0.7f;
            f[0] = noise(at + 2) < 0.1f ? -1 : is_near ? o[0] : (float)(int)(noise(at + 3) * CLASSES);
            f[1] = (float)(int)(noise(at + 4) * 1000) / 1000;
            for (int j = 0; j < 4; j++)
                f[2 + j] = o[1 + j] + floorf((noise(at + 5 + (uint32_t)j) - 0.5f) * (is_near ? 6 : 60)) * scale;
        }
    }
}

static double reference_overlap(const float *a, const float *b, double add) {
    double w = fmin(a[2], b[2]) + add - fmax(a[0], b[0]), h = fmin(a[3], b[3]) + add - fmax(a[1], b[1]);
    double sizes[2] = {(a[2] + add - a[0]) * (a[3] + add - a[1]), (b[2] + add - b[0]) * (b[3] + add - b[1])};
    return w > 0 && h > 0 ? w * h / (sizes[0] + sizes[1] - w * h) : 0;
}

typedef struct record {
    double score;
    int is_true;
} record;

static void sort_records(record *r, int n) {
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && (r[k].score > r[k - 1].score ||
                                  (r[k].score == r[k - 1].score && r[k].is_true < r[k - 1].is_true));
             k--) {
            record other = r[k];
            r[k] = r[k - 1];
            r[k - 1] = other;
        }
}

/* The detections of class c in image i, highest score first; returns their number. */
static int match_image(int i, int c, double threshold, double add, record *out) {
    int taken[BOXES] = {0}, used[FOUND] = {0}, n = 0;
    for (;;) {
        int next = -1, best = -1;
        double most = -1;
        for (int k = 0; k < FOUND; k++)
            if (!used[k] && (int)found[i][k][0] == c && (next < 0 || found[i][k][1] > found[i][next][1]))
                next = k;
        if (next < 0)
            return n;
        used[next] = 1;
        for (int k = 0; k < BOXES; k++) {
            double area =
                (int)objects[i][k][0] == c ? reference_overlap(found[i][next] + 2, objects[i][k] + 1, add) : -1;
            if (area > most)
                most = area, best = k;
        }
        if (best >= 0 && most < threshold)
            best = -1;
        if (best >= 0 && objects[i][best][5] > 0)
            continue;
        out[n++] = (record){(double)found[i][next][1], best >= 0 && !taken[best]};
        if (best >= 0)
            taken[best] = 1;
    }
}

static double reference_ap(const record *r, int n, double positives, int eleven) {
    double precision[IMAGES * FOUND], recall[IMAGES * FOUND], hits = 0, sum = 0, before = 0;
    for (int i = 0; i < n; i++) {
        hits += r[i].is_true;
        precision[i] = hits / (i + 1);
        recall[i] = hits / positives;
    }
    if (eleven) {
        for (int t = 0; t <= 10; t++) {
            double most = 0;
            for (int i = 0; i < n; i++)
                if (recall[i] >= t * 0.1)
                    most = fmax(most, precision[i]);
            sum += most / 11;
        }
        return sum;
    }
    for (int i = 0; i < n; i++) {
        double most = 0;
        for (int k = i; k < n; k++)
            most = fmax(most, precision[k]);
        sum += (recall[i] - before) * most;
        before = recall[i];
    }
    return sum;
}

static double reference_map(double threshold, double add, int eleven, int images) {
    double sum = 0;
    int classes = 0;
    for (int c = 0; c < CLASSES; c++) {
        record records[IMAGES * FOUND];
        int n = 0, positives = 0;
        for (int i = 0; i < images; i++) {
            n += match_image(i, c, threshold, add, records + n);
            for (int k = 0; k < BOXES; k++)
                positives += (int)objects[i][k][0] == c && objects[i][k][5] == 0;
        }
        sort_records(records, n);
        if (positives == 0)
            continue;
        sum += reference_ap(records, n, positives, eleven);
        classes++;
    }
    return sum / classes;
}

/* Images begin to end, with pad further ones. */
static void update(mxc_metric *m, int begin, int end, int pad) {
    mxc_ndarray *label, *prediction;
    assert_ok(mxc_ndarray_from_data(3, (int64_t[]){end - begin + pad, BOXES, W}, MXC_F32, objects[begin], &label));
    assert_ok(mxc_ndarray_from_data(3, (int64_t[]){end - begin + pad, FOUND, 6}, MXC_F32, found[begin], &prediction));
    assert_ok(mxc_metric_update(m, label, prediction, pad));
    mxc_ndarray_release(label);
    mxc_ndarray_release(prediction);
}

static void check(float scale, const char *threshold, int pixels, int eleven) {
    const char *keys[] = {"iou_thresh", "pixels"}, *values[] = {threshold, pixels ? "true" : "false"};
    mxc_metric *m;
    make_images(scale);
    assert_ok(mxc_metric_create(eleven ? "voc07_map" : "voc_map", 2, keys, values, &m));
    assert_true(isnan(mxc_metric_value(m)));
    update(m, 0, 10, 3);
    double found_10 = mxc_metric_value(m);
    update(m, 10, 25, 0);
    double found_25 = mxc_metric_value(m), expected_10 = reference_map(atof(threshold), pixels, eleven, 10);
    double expected_25 = reference_map(atof(threshold), pixels, eleven, 25);
    assert_true(expected_25 > 0.01 && expected_25 < 0.99);
    assert_true(fabs(found_10 - expected_10) < 1e-9);
    assert_true(fabs(found_25 - expected_25) < 1e-9);
    mxc_metric_destroy(m);
}

static void test_against_definition(void **state) {
    (void)state;
    for (int eleven = 0; eleven < 2; eleven++) {
        check(1, "0.5", 1, eleven);
        check(1, "0.5", 0, eleven);
        check(1.0f / 64, "0.5", 0, eleven);
        check(1.0f / 64, "0.75", 0, eleven);
        check(1.0f / 64, "0.3", 0, eleven);
    }
}

/* Two objects: one found twice, one not found, and one detection of nothing. */
static void test_by_hand(void **state) {
    const float label[2][5] = {{0, 0, 0, 0.5f, 0.5f}, {0, 0.5f, 0.5f, 1, 1}};
    const float all[3][6] = {{0, 0.9f, 0, 0, 0.5f, 0.5f}, {0, 0.8f, 0, 0, 0.5f, 0.45f}, {0, 0.95f, 0.8f, 0, 1, 0.2f}};
    mxc_ndarray *l, *p, *wrong;
    mxc_metric *m;
    (void)state;
    assert_ok(mxc_ndarray_from_data(3, (int64_t[]){1, 2, 5}, MXC_F32, label, &l));
    assert_ok(mxc_ndarray_from_data(3, (int64_t[]){1, 3, 6}, MXC_F32, all, &p));
    assert_ok(mxc_ndarray_from_data(2, (int64_t[]){2, 5}, MXC_F32, label, &wrong));
    assert_ok(mxc_metric_create("voc_map", 0, NULL, NULL, &m));
    assert_ok(mxc_metric_update(m, l, p, 0)); /* false, true, false: precision 1/2 at recall 1/2 */
    assert_true(fabs(mxc_metric_value(m) - 0.25) < 1e-12);
    assert_fails(mxc_metric_update(m, wrong, p, 0), MXC_ESHAPE, "label (2,5) does not fit prediction (1,3,6)");
    mxc_metric_reset(m);
    assert_true(isnan(mxc_metric_value(m)));
    mxc_metric_destroy(m);
    mxc_ndarray_release(l);
    mxc_ndarray_release(p);
    mxc_ndarray_release(wrong);
}

/* A score that is not finite is still a score; a saved state without sense is refused. */
static void test_infinite_score(void **state) {
    const float label[2][5] = {{0, 0, 0, 0.5f, 0.5f}, {0, 0.5f, 0.5f, 1, 1}};
    const float all[2][6] = {{0, INFINITY, 0, 0, 0.5f, 0.5f}, {0, 0.5f, 0.5f, 0.5f, 1, 1}};
    double wrong[6] = {NAN, 1, 1, 0, INFINITY, 0};
    mxc_ndarray *l, *p;
    mxc_metric *m;
    (void)state;
    assert_ok(mxc_ndarray_from_data(3, (int64_t[]){1, 2, 5}, MXC_F32, label, &l));
    assert_ok(mxc_ndarray_from_data(3, (int64_t[]){1, 2, 6}, MXC_F32, all, &p));
    assert_ok(mxc_metric_create("voc_map", 0, NULL, NULL, &m));
    assert_ok(mxc_metric_update(m, l, p, 0));
    assert_true(mxc_metric_value(m) == 1);
    assert_fails(mxci_metric_set_state(m, 6, wrong), MXC_EFORMAT, "voc_map: record 0 of the state has a NaN");
    assert_fails(mxci_metric_set_state(m, 5, wrong), MXC_EFORMAT, "5 numbers, expected 3 for each record");
    assert_true(mxc_metric_value(m) == 1);
    wrong[0] = 0;
    assert_ok(mxci_metric_set_state(m, 6, wrong)); /* an object, and a detection of it */
    assert_true(mxc_metric_value(m) == 1);
    mxc_metric_destroy(m);
    mxc_ndarray_release(l);
    mxc_ndarray_release(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_definition),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_infinite_score),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
