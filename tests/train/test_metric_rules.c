/* SPDX-License-Identifier: Apache-2.0 */
/* Values of metrics after two batches of different sizes, as mxnet.metric of MXNet 1.9.1 gives them for the same
 * numbers; where it averages the batches rather than the samples, after the first batch only. auc against the count of
 * pairs. */
#include <math.h>

#include <mxc/train.h>

#include "train/toy.h"

static const int batch_sizes[2] = {20, 12};
static const uint32_t offsets[2] = {1000, 11000};

static double noise(uint32_t i) {
    return (double)toy_noise(i) + 0.5;
}

/* Rows that sum to 1, and labels in [0, c). */
static void make_classes(int n, int c, uint32_t offset, float *p, float *l) {
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int k = 0; k < c; k++)
            sum += noise(offset + (uint32_t)(i * c + k)) + 0.05;
        for (int k = 0; k < c; k++)
            p[i * c + k] = (float)((noise(offset + (uint32_t)(i * c + k)) + 0.05) / sum);
        l[i] = (float)(int)(noise(offset + 5000 + (uint32_t)i) * c);
    }
}

static void make_values(int n, uint32_t offset, float *p, float *l) {
    for (int i = 0; i < n; i++) {
        p[i] = (float)noise(offset + (uint32_t)i);
        l[i] = (float)(noise(offset + 7000 + (uint32_t)i) * 0.5 + (double)p[i] * 0.5);
    }
}

typedef struct rule_case {
    const char *name, *key, *value;
    int c; /* classes; 0: regression with rows of 3 */
    double expected[2];
} rule_case;

static const rule_case cases[] = {
    {"acc", NULL, NULL, 4, {0.2, 0.15625}},
    {"top_k_acc", "top_k", "2", 4, {0.4, 0.375}},
    {"ce", NULL, NULL, 4, {1.6174152374267579, 1.7245829105377197}},
    {"ce", "eps", "0.1", 4, {1.1506649017333985, 1.2159741818904877}},
    {"nll_loss", NULL, NULL, 4, {1.6174152374267579, 1.7245829105377197}},
    {"perplexity", NULL, NULL, 4, {5.040047104454974, 5.610180928827048}},
    {"perplexity", "ignore_label", "1", 4, {5.068593714970614, 5.8689321394836025}},
    {"f1", "average", "macro", 2, {0.6923076923076923, 0.7032967032967032}},
    {"f1", "average", "micro", 2, {0.6923076923076923, 0.7}},
    {"mcc", NULL, NULL, 2, {0.25, 0.30177669529663687}},
    {"mcc", "average", "micro", 2, {0.25, 0.22084711628963774}},
    {"pearsonr", NULL, NULL, 0, {0.6985197186223466, 0.6723769062005391}},
    {"pearsonr", "average", "micro", 0, {0.698519718622347, 0.6931646329449481}},
    {"rmse", "average", "macro", 0, {0.21284860372543335, 0.21025202423334122}},
    {"mse", NULL, NULL, 0, {0.04530452936887741, NAN}},
    {"rmse", NULL, NULL, 0, {0.21284860372543335, NAN}},
    {"mae", NULL, NULL, 0, {0.18061842024326324, NAN}},
    {"loss", NULL, NULL, 0, {0.5315742492675781, 0.4687811533610026}},
};

static mxc_ndarray *array_of(int ndim, int64_t rows, int64_t columns, const float *data) {
    mxc_ndarray *out;
    assert_ok(mxc_ndarray_from_data(ndim, (int64_t[]){rows, columns}, MXC_F32, data, &out));
    return out;
}

static void check_case(const rule_case *t) {
    mxc_metric *m;
    assert_ok(mxc_metric_create(t->name, t->key != NULL, &t->key, &t->value, &m));
    for (int i = 0; i < 2; i++) {
        float p[20 * 4], l[20 * 4];
        int n = batch_sizes[i], columns = t->c ? t->c : 3;
        if (t->c)
            make_classes(n, t->c, offsets[i], p, l);
        else
            make_values(n * columns, offsets[i], p, l);
        mxc_ndarray *prediction = array_of(2, n, columns, p), *label = array_of(t->c ? 1 : 2, n, columns, l);
        assert_ok(mxc_metric_update(m, label, prediction, 0));
        double found = mxc_metric_value(m);
        if (!isnan(t->expected[i]) && !(fabs(found - t->expected[i]) < 2e-6 * fabs(t->expected[i])))
            fail_msg("%s, batch %d: %.10g, expected %.10g", t->name, i, found, t->expected[i]);
        mxc_ndarray_release(prediction);
        mxc_ndarray_release(label);
    }
    mxc_metric_destroy(m);
}

static void test_as_mxnet(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&cases[i]);
}

/* Prediction (6,3,2) with classes on axis 1, label (6,2): the accuracy of both columns together. */
static void test_axis(void **state) {
    float p[2][18], l[2][6], both[36], labels[12];
    const char *key = "axis", *last = "-1", *first = "0";
    mxc_metric *m;
    mxc_ndarray *label, *prediction;
    (void)state;
    for (uint32_t k = 0; k < 2; k++) {
        float unused[18];
        make_classes(6, 3, k ? 500 : 1, p[k], unused);
        for (uint32_t i = 0; i < 6; i++)
            l[k][i] = (float)(int)(noise((k ? 9500 : 9000) + i) * 3);
        for (int i = 0; i < 18; i++)
            both[2 * i + (int)k] = p[k][i];
        for (int i = 0; i < 6; i++)
            labels[2 * i + (int)k] = l[k][i];
    }
    assert_ok(mxc_ndarray_from_data(3, (int64_t[]){6, 3, 2}, MXC_F32, both, &prediction));
    label = array_of(2, 6, 2, labels);
    assert_ok(mxc_metric_create("accuracy", 0, NULL, NULL, &m));
    assert_ok(mxc_metric_update(m, label, prediction, 0));
    assert_true(fabs(mxc_metric_value(m) - 0.4166666666666667) < 1e-12);
    assert_ok(mxc_metric_update(m, label, prediction, 2));
    assert_ok(mxc_metric_update(m, label, label, 0)); /* class numbers */
    mxc_metric_destroy(m);
    assert_ok(mxc_metric_create("accuracy", 1, &key, &last, &m));
    assert_fails(mxc_metric_update(m, label, prediction, 0), MXC_ESHAPE, "label (6,2) does not fit prediction (6,3,2)");
    mxc_metric_destroy(m);
    assert_ok(mxc_metric_create("accuracy", 1, &key, &first, &m));
    assert_fails(mxc_metric_update(m, label, prediction, 0), MXC_ESHAPE, "does not fit");
    mxc_metric_destroy(m);
    mxc_ndarray_release(label);
    mxc_ndarray_release(prediction);
}

static void test_class_numbers(void **state) {
    const float numbers[3] = {1, 2, 0}, labels[3] = {1, 2, 3};
    mxc_metric *m;
    mxc_ndarray *l = array_of(1, 3, 0, labels), *p = array_of(1, 3, 0, numbers);
    (void)state;
    assert_ok(mxc_metric_create("acc", 0, NULL, NULL, &m));
    assert_ok(mxc_metric_update(m, l, p, 0));
    assert_true(fabs(mxc_metric_value(m) - 2.0 / 3) < 1e-12);
    mxc_metric_destroy(m);
    mxc_ndarray_release(l);
    mxc_ndarray_release(p);
}

/* One score for each label; NaN counts as wrong, and labels other than 0 and 1 are refused. */
static void test_scores(void **state) {
    const float scores[5] = {0.9f, 0.2f, NAN, 0.7f, NAN}, labels[5] = {1, 1, 1, 0, 0}, odd[5] = {0, 1, 2, 0, 1};
    static const char *const names[] = {"f1", "mcc", "auc"};
    const double expected[] = {2.0 * 1 / (2 * 1 + 2 + 2), (1 * 0 - 2 * 2) / sqrt(3.0 * 3 * 2 * 2), 1.0 / 6};
    mxc_ndarray *l = array_of(1, 5, 0, labels), *o = array_of(1, 5, 0, odd), *p = array_of(2, 5, 1, scores);
    (void)state;
    for (int i = 0; i < 3; i++) {
        mxc_metric *m;
        assert_ok(mxc_metric_create(names[i], 0, NULL, NULL, &m));
        assert_ok(mxc_metric_update(m, l, p, 0));
        assert_true(fabs(mxc_metric_value(m) - expected[i]) < 1e-9);
        assert_fails(mxc_metric_update(m, o, p, 0), MXC_EINVAL, "label 2 of the batch is 2, expected 0 or 1");
        assert_true(fabs(mxc_metric_value(m) - expected[i]) < 1e-9);
        mxc_metric_destroy(m);
    }
    mxc_ndarray_release(l);
    mxc_ndarray_release(o);
    mxc_ndarray_release(p);
}

/* Many scores, among them equal ones, in two batches; a second batch after the value was asked for. */
static void test_auc(void **state) {
    enum { N = 200 };
    float scores[2 * N], labels[N];
    double pairs = 0, wins = 0;
    mxc_metric *m;
    (void)state;
    for (uint32_t i = 0; i < N; i++) {
        labels[i] = noise(i) > 0.6 ? 1 : 0;
        scores[2 * i + 1] = (float)(int)(10 * noise(i + 777) + 3 * labels[i]) / 13;
        scores[2 * i] = 1 - scores[2 * i + 1];
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            if (labels[i] == 1 && labels[j] == 0) {
                pairs++;
                wins += scores[2 * i + 1] > scores[2 * j + 1] ? 1 : scores[2 * i + 1] == scores[2 * j + 1] ? 0.5 : 0;
            }
    assert_ok(mxc_metric_create("auc", 0, NULL, NULL, &m));
    for (int i = 0; i < 2; i++) {
        mxc_ndarray *p = array_of(2, N / 2, 2, scores + i * N), *l = array_of(1, N / 2, 0, labels + i * N / 2);
        assert_ok(mxc_metric_update(m, l, p, 0));
        assert_true(mxc_metric_value(m) > 0.5 && mxc_metric_value(m) < 1);
        mxc_ndarray_release(p);
        mxc_ndarray_release(l);
    }
    assert_true(fabs(mxc_metric_value(m) - wins / pairs) < 1e-12);
    mxc_metric_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_mxnet), cmocka_unit_test(test_axis), cmocka_unit_test(test_class_numbers),
        cmocka_unit_test(test_scores),   cmocka_unit_test(test_auc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
