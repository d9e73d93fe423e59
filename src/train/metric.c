/*
 * Metrics: means over samples of something computed from a label and a prediction.
 *
 * Arrays are read on the calling thread, in f32 (other dtypes are converted first). Each metric is one function that
 * adds up a batch of n samples, c predictions each.
 */
#include <math.h>
#include <string.h>

#include <mxc/param.h>
#include <mxc/train.h>

#include "base/sys.h"
#include "train/metric.h"

typedef struct metric_params {
    int64_t top_k;
    double eps;
} metric_params;

typedef double (*metric_fn)(const metric_params *p, const float *label, const float *prediction, int64_t n, int64_t c);

typedef struct metric_rule {
    const char *name;
    const mxc_param *schema;
    metric_fn sum;
    int by_class; /* label (N), prediction (N,C); else both have the same shape and each element counts */
} metric_rule;

struct mxc_metric {
    const metric_rule *rule;
    metric_params params;
    double sum;
    int64_t count;
};

/* The class that a label names; -1 if there is none of c classes. */
static int64_t class_of(float label, int64_t c) {
    return label >= 0 && label < (float)c ? (int64_t)label : -1;
}

static double sum_accuracy(const metric_params *p, const float *label, const float *prediction, int64_t n, int64_t c) {
    int64_t right = 0;
    (void)p;
    for (int64_t i = 0; i < n; i++, prediction += c) {
        int64_t best = 0;
        for (int64_t k = 1; k < c; k++)
            if (prediction[k] > prediction[best])
                best = k;
        right += (float)best == label[i];
    }
    return (double)right;
}

static double sum_top_k(const metric_params *p, const float *label, const float *prediction, int64_t n, int64_t c) {
    int64_t right = 0;
    for (int64_t i = 0; i < n; i++, prediction += c) {
        int64_t k = class_of(label[i], c), above = 0;
        if (k < 0)
            continue;
        for (int64_t j = 0; j < c; j++)
            above += prediction[j] > prediction[k];
        right += above < p->top_k;
    }
    return (double)right;
}

static double sum_cross_entropy(const metric_params *p, const float *label, const float *prediction, int64_t n,
                                int64_t c) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++, prediction += c) {
        int64_t k = class_of(label[i], c);
        double probability = k >= 0 ? prediction[k] : 0;
        sum -= log(probability + p->eps);
    }
    return sum;
}

static double sum_squares(const metric_params *p, const float *label, const float *prediction, int64_t n, int64_t c) {
    double sum = 0;
    (void)p;
    for (int64_t i = 0; i < n * c; i++)
        sum += ((double)label[i] - prediction[i]) * ((double)label[i] - prediction[i]);
    return sum;
}

static double sum_absolutes(const metric_params *p, const float *label, const float *prediction, int64_t n, int64_t c) {
    double sum = 0;
    (void)p;
    for (int64_t i = 0; i < n * c; i++)
        sum += fabs((double)label[i] - prediction[i]);
    return sum;
}

static const mxc_param top_k_schema[] = {
    { .name = "top_k", .type = MXC_PARAM_INT, MXC_PARAM_FIELD(metric_params, top_k), .initial = "5", .bounded = 1,
      .minimum = 1, .maximum = 1e9, .doc = "how many best predictions may hold the label" },
    MXC_PARAM_END,
};
static const mxc_param cross_entropy_schema[] = {
    { .name = "eps", .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(metric_params, eps), .initial = "1e-12",
      .doc = "added to probabilities" },
    MXC_PARAM_END,
};

static const metric_rule rules[] = {
    { "accuracy", NULL, sum_accuracy, 1 },
    { "top_k_accuracy", top_k_schema, sum_top_k, 1 },
    { "cross-entropy", cross_entropy_schema, sum_cross_entropy, 1 },
    { "mse", NULL, sum_squares, 0 },
    { "mae", NULL, sum_absolutes, 0 },
};

static const metric_rule *find_rule(const char *name) {
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (strcmp(rules[i].name, name) == 0)
            return &rules[i];
    return NULL;
}

mxc_status mxc_metric_create(const char *name, int n_params, const char *const *keys, const char *const *values,
                             mxc_metric **out) {
    if (name == NULL || out == NULL)
        return MXC_FAIL(MXC_EINVAL, "mxc_metric_create: name and out must not be NULL");
    *out = NULL;
    const metric_rule *rule = find_rule(name);
    if (rule == NULL)
        return MXC_FAIL(MXC_ENOTFOUND,
                        "metric \"%s\" does not exist; there are accuracy, top_k_accuracy, cross-entropy, mse, mae",
                        name);
    mxc_metric *metric = mxci_calloc(1, sizeof *metric);
    if (metric == NULL)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for the metric", name);
    metric->rule = rule;
    mxc_status status = mxc_params_parse(name, rule->schema, n_params, keys, values, &metric->params);
    if (status != MXC_OK)
        mxci_free(metric);
    else
        *out = metric;
    return status;
}

void mxc_metric_destroy(mxc_metric *metric) {
    mxci_free(metric);
}

/* The array as f32 on cpu(0), waited for; *copy is a reference to release. */
static mxc_status as_floats(mxc_ndarray *array, mxc_ndarray **copy, const float **out) {
    void *data;
    *copy = NULL;
    if (mxc_ndarray_dtype(array) == MXC_F32 && mxc_ndarray_context(array).device == MXC_CPU)
        *copy = mxc_ndarray_retain(array);
    else
        MXC_TRY(mxc_ndarray_copy(array, mxc_cpu(0), MXC_F32, copy));
    MXC_TRY(mxc_ndarray_data(*copy, &data));
    *out = data;
    return MXC_OK;
}

/* Rows and the predictions of each, checked against the label. */
static mxc_status check_shapes(const mxc_metric *metric, mxc_ndarray *label, mxc_ndarray *prediction, int64_t pad,
                               int64_t *n, int64_t *c) {
    const mxc_shape *shape = mxc_ndarray_shape(prediction);
    int64_t labels = mxc_ndarray_size(label), predictions = mxc_ndarray_size(prediction);
    char a[MXC_SHAPE_TEXT], b[MXC_SHAPE_TEXT];
    *n = shape->ndim > 0 ? shape->dim[0] : 1;
    *c = *n > 0 ? predictions / *n : 0;
    int fits = metric->rule->by_class ? labels == *n && (*c > 0 || *n == 0) : labels == predictions;
    if (!fits)
        return MXC_FAIL(MXC_ESHAPE, "%s: label %s does not fit prediction %s", metric->rule->name,
                        mxc_shape_format(mxc_ndarray_shape(label), a, sizeof a), mxc_shape_format(shape, b, sizeof b));
    if (pad < 0 || pad > *n)
        return MXC_FAIL(MXC_EINVAL, "%s: pad %lld, expected 0 to %lld", metric->rule->name, (long long)pad,
                        (long long)*n);
    *n -= pad;
    return MXC_OK;
}

mxc_status mxc_metric_update(mxc_metric *metric, mxc_ndarray *label, mxc_ndarray *prediction, int64_t pad) {
    if (metric == NULL || label == NULL || prediction == NULL)
        return MXC_FAIL(MXC_EINVAL, "mxc_metric_update: no argument may be NULL");
    mxc_ndarray *label_copy = NULL, *prediction_copy = NULL;
    const float *l, *p;
    int64_t n, c;
    MXC_TRY(check_shapes(metric, label, prediction, pad, &n, &c));
    mxc_status status = as_floats(prediction, &prediction_copy, &p);
    if (status == MXC_OK)
        status = as_floats(label, &label_copy, &l);
    if (status == MXC_OK) {
        metric->sum += metric->rule->sum(&metric->params, l, p, n, c);
        metric->count += metric->rule->by_class ? n : n * c;
    }
    mxc_ndarray_release(label_copy);
    mxc_ndarray_release(prediction_copy);
    return status;
}

double mxc_metric_value(const mxc_metric *metric) {
    return metric != NULL && metric->count > 0 ? metric->sum / (double)metric->count : NAN;
}

const char *mxc_metric_name(const mxc_metric *metric) {
    return metric != NULL ? metric->rule->name : "";
}

void mxc_metric_reset(mxc_metric *metric) {
    if (metric != NULL)
        mxci_metric_set_sums(metric, 0, 0);
}

void mxci_metric_get_sums(const mxc_metric *metric, double *sum, int64_t *count) {
    *sum = metric->sum;
    *count = metric->count;
}

void mxci_metric_set_sums(mxc_metric *metric, double sum, int64_t count) {
    metric->sum = sum;
    metric->count = count;
}
