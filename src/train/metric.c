/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics: means over samples of something computed from a label and a prediction.
 *
 * Arrays are read on the calling thread, in f32 (other dtypes are converted first). Each metric is one function that
 * adds a batch to a sum and a count.
 */
#include "train/metric.h"

#include <math.h>
#include <string.h>

#include <mxc/param.h>
#include <mxc/train.h>

#include "base/error.h"
#include "base/sys.h"

typedef struct metric_params {
    int64_t top_k;
    double eps, ignore_label; /* ignore_label: NaN for none */
} metric_params;

/* n samples of c predictions each. */
typedef struct metric_batch {
    const float *label, *prediction;
    int64_t n, c;
} metric_batch;

typedef struct metric_sum {
    double sum;
    int64_t count;
} metric_sum;

/* Adds the batch to *to. */
typedef mxc_status (*metric_fn)(const metric_params *p, const metric_batch *b, metric_sum *to);

typedef enum label_kind {
    BY_CLASS,   /* label (N), prediction (N,C) */
    BY_ELEMENT, /* both have the same number of elements, each of which counts */
    NO_LABEL    /* the label is not read; each element counts */
} label_kind;

typedef struct metric_rule {
    const char *name;
    const mxc_param *schema;
    metric_fn add;
    label_kind label_kind;
} metric_rule;

struct mxc_metric {
    const metric_rule *rule;
    metric_params params;
    metric_sum total;
};

/* The class that a label names; -1 if there is none of c classes. */
static int64_t metric_class_of(float label, int64_t c) {
    return label > -1 && label < (float)c ? (int64_t)label : -1;
}

/* The rank of prediction k among c: how many are above it; of equal ones the first counts as the largest. INT64_MAX
 * where one is NaN, so that NaN is never a hit. */
static int64_t count_above(const float *prediction, int64_t c, int64_t k) {
    int64_t above = 0;
    for (int64_t j = 0; j < c; j++) {
        if (isnan(prediction[j]))
            return INT64_MAX;
        above += prediction[j] > prediction[k] || (prediction[j] == prediction[k] && j < k);
    }
    return above;
}

static mxc_status add_top(const metric_params *p, const metric_batch *b, int64_t top_k, metric_sum *to) {
    for (int64_t i = 0; i < b->n; i++) {
        int64_t k = metric_class_of(b->label[i], b->c);
        if ((double)b->label[i] == p->ignore_label)
            continue;
        to->count++;
        if (k >= 0 && (float)k == b->label[i] && count_above(b->prediction + i * b->c, b->c, k) < top_k)
            to->sum++;
    }
    return MXC_OK;
}

static mxc_status add_accuracy(const metric_params *p, const metric_batch *b, metric_sum *to) {
    return add_top(p, b, 1, to);
}

static mxc_status add_top_k(const metric_params *p, const metric_batch *b, metric_sum *to) {
    return add_top(p, b, p->top_k, to);
}

/* -log(p[label] + eps), summed over the samples whose label is not ignore_label. */
static mxc_status add_cross_entropy(const metric_params *p, const metric_batch *b, metric_sum *to) {
    for (int64_t i = 0; i < b->n; i++) {
        int64_t k = metric_class_of(b->label[i], b->c);
        if ((double)b->label[i] == p->ignore_label)
            continue;
        if (k < 0)
            return MXC_FAIL(MXC_EINVAL,
                            "cross-entropy: label %lld of the batch is %g, expected a class in [0, %lld), "
                            "or ignore_label",
                            (long long)i, (double)b->label[i], (long long)b->c);
        to->sum -= log((double)b->prediction[i * b->c + k] + p->eps);
        to->count++;
    }
    return MXC_OK;
}

/* (label - prediction)^2, summed over all elements. */
static mxc_status add_squares(const metric_params *p, const metric_batch *b, metric_sum *to) {
    (void)p;
    for (int64_t i = 0; i < b->n * b->c; i++)
        to->sum += ((double)b->label[i] - b->prediction[i]) * ((double)b->label[i] - b->prediction[i]);
    to->count += b->n * b->c;
    return MXC_OK;
}

/* |label - prediction|, summed over all elements. */
static mxc_status add_absolutes(const metric_params *p, const metric_batch *b, metric_sum *to) {
    (void)p;
    for (int64_t i = 0; i < b->n * b->c; i++)
        to->sum += fabs((double)b->label[i] - b->prediction[i]);
    to->count += b->n * b->c;
    return MXC_OK;
}

/* The mean of the outputs themselves, for operators that compute a loss. */
static mxc_status add_outputs(const metric_params *p, const metric_batch *b, metric_sum *to) {
    (void)p;
    for (int64_t i = 0; i < b->n * b->c; i++)
        to->sum += (double)b->prediction[i];
    to->count += b->n * b->c;
    return MXC_OK;
}

#define IGNORE_LABEL                                                                                                \
    {                                                                                                               \
        MXC_PARAM_FIELD(metric_params, ignore_label), .name = "ignore_label", .type = MXC_PARAM_FLOAT,              \
                                                      .initial = "None", .optional = 1,                             \
                                                      .doc = "Label of samples that do not count. None: all count." \
    }

static const mxc_param accuracy_schema[] = {IGNORE_LABEL, MXC_PARAM_END};
static const mxc_param top_k_schema[] = {
    {MXC_PARAM_FIELD(metric_params, top_k), .name = "top_k", .type = MXC_PARAM_INT, .initial = "5", .bounded = 1,
     .minimum = 1, .maximum = 1e9, .doc = "Number of most probable classes among which the label counts as a hit."},
    IGNORE_LABEL,
    MXC_PARAM_END,
};
static const mxc_param cross_entropy_schema[] = {
    {MXC_PARAM_FIELD(metric_params, eps), .name = "eps", .type = MXC_PARAM_FLOAT, .initial = "1e-12",
     .doc = "Added to probabilities before the logarithm."},
    IGNORE_LABEL,
    MXC_PARAM_END,
};

static const metric_rule rules[] = {
    {"accuracy", accuracy_schema, add_accuracy, BY_CLASS},
    {"top_k_accuracy", top_k_schema, add_top_k, BY_CLASS},
    {"cross-entropy", cross_entropy_schema, add_cross_entropy, BY_CLASS},
    {"mse", NULL, add_squares, BY_ELEMENT},
    {"mae", NULL, add_absolutes, BY_ELEMENT},
    {"loss", NULL, add_outputs, NO_LABEL},
};

mxc_status mxc_metric_create(const char *name, int n_params, const char *const *keys, const char *const *values,
                             mxc_metric **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(name));
    MXC_TRY(MXCI_NON_NULL_IF(n_params > 0, keys));
    MXC_TRY(MXCI_NON_NULL_IF(n_params > 0, values));
    const metric_rule *rule = NULL;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (strcmp(rules[i].name, name) == 0)
            rule = &rules[i];
    if (!rule)
        return MXC_FAIL(MXC_ENOTFOUND,
                        "metric \"%s\" does not exist; there are accuracy, top_k_accuracy, cross-entropy, mse, mae, "
                        "loss",
                        name);
    mxc_metric *metric = mxci_calloc(1, sizeof *metric);
    if (!metric)
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
    if (MXCI_MAY_RELEASE(metric))
        mxci_free_object(metric);
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
    int64_t labels = label ? mxc_ndarray_size(label) : 0, predictions = mxc_ndarray_size(prediction);
    char a[MXC_SHAPE_TEXT], b[MXC_SHAPE_TEXT];
    *n = shape->ndim > 0 ? shape->dim[0] : 1;
    *c = *n > 0 ? predictions / *n : 0;
    int fits = metric->rule->label_kind == BY_CLASS ? labels == *n && (*c > 0 || *n == 0) : labels == predictions;
    if (metric->rule->label_kind == NO_LABEL)
        fits = 1;
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
    MXC_TRY(MXCI_NON_NULL(metric));
    MXC_TRY(MXCI_NON_NULL_IF(metric->rule->label_kind != NO_LABEL, label));
    MXC_TRY(MXCI_NON_NULL(prediction));
    mxc_ndarray *label_copy = NULL, *prediction_copy = NULL;
    metric_batch b = {NULL, NULL, 0, 0};
    metric_sum sums = metric->total;
    MXC_TRY(check_shapes(metric, label, prediction, pad, &b.n, &b.c));
    mxc_status status = as_floats(prediction, &prediction_copy, &b.prediction);
    if (status == MXC_OK && metric->rule->label_kind != NO_LABEL)
        status = as_floats(label, &label_copy, &b.label);
    if (status == MXC_OK)
        status = metric->rule->add(&metric->params, &b, &sums);
    if (status == MXC_OK)
        metric->total = sums;
    mxc_ndarray_release(label_copy);
    mxc_ndarray_release(prediction_copy);
    return status;
}

double mxc_metric_value(const mxc_metric *metric) {
    return metric && metric->total.count > 0 ? metric->total.sum / (double)metric->total.count : NAN;
}

const char *mxc_metric_name(const mxc_metric *metric) {
    return metric ? metric->rule->name : "";
}

void mxc_metric_reset(mxc_metric *metric) {
    if (metric)
        mxci_metric_set_sums(metric, 0, 0);
}

void mxci_metric_get_sums(const mxc_metric *metric, double *sum, int64_t *count) {
    *sum = metric->total.sum;
    *count = metric->total.count;
}

void mxci_metric_set_sums(mxc_metric *metric, double sum, int64_t count) {
    metric->total = (metric_sum){sum, count};
}
