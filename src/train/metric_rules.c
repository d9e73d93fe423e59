/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of metrics of classes, of two classes, and of elements. Sums are accumulated in double.
 */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "train/metric.h"

typedef mxci_metric_params params;
typedef mxci_metric_batch batch;
typedef mxci_metric_state state;

enum { SUM, COUNT, SUM_STATE }; /* state of means */

static double mean_value(const params *p, const state *s) {
    (void)p;
    return s->values[COUNT] > 0 ? s->values[SUM] / s->values[COUNT] : NAN;
}

/* ---- classes ----------------------------------------------------------------------------------------------------- */

/* The class that a label names; -1 if there is none of c classes. */
static int64_t metric_class_of(float label, int64_t c) {
    return label > -1 && label < (float)c ? (int64_t)label : -1;
}

/* The prediction of class 0 for sample i; those of the others follow at distances of b->inner. */
static const float *classes_of(const batch *b, int64_t i) {
    return b->prediction + i / b->inner * b->c * b->inner + i % b->inner;
}

/* The rank of class k among c: how many are above it; of equal ones the first counts as the largest. INT64_MAX where
 * one is NaN, so that NaN is never a hit. */
static int64_t count_above(const float *prediction, int64_t c, int64_t stride, int64_t k) {
    const float own = prediction[k * stride];
    int64_t above = 0;
    for (int64_t j = 0; j < c; j++) {
        const float other = prediction[j * stride];
        if (isnan(other))
            return INT64_MAX;
        above += other > own || (other == own && j < k);
    }
    return above;
}

static int is_hit(const batch *b, int64_t i, int64_t top_k) {
    if (b->c == 0) /* class numbers */
        return (int64_t)b->prediction[i] == (int64_t)b->label[i];
    int64_t k = metric_class_of(b->label[i], b->c);
    return k >= 0 && (float)k == b->label[i] && count_above(classes_of(b, i), b->c, b->inner, k) < top_k;
}

static mxc_status add_top(const params *p, const batch *b, int64_t top_k, state *to) {
    for (int64_t i = 0; i < b->n; i++) {
        if ((double)b->label[i] == p->ignore_label)
            continue;
        to->values[COUNT]++;
        to->values[SUM] += is_hit(b, i, top_k);
    }
    return MXC_OK;
}

static mxc_status add_accuracy(const params *p, const batch *b, state *to) {
    return add_top(p, b, 1, to);
}

static mxc_status add_top_k(const params *p, const batch *b, state *to) {
    return add_top(p, b, p->top_k, to);
}

static mxc_status fail_label(const char *metric, const batch *b, int64_t i) {
    return MXC_FAIL(MXC_EINVAL, "%s: label %lld of the batch is %g, expected a class in [0, %lld), or ignore_label",
                    metric, (long long)i, (double)b->label[i], (long long)b->c);
}

/* -log(p[label] + eps), summed over the samples whose label is not ignore_label. */
static mxc_status add_likelihood(const char *metric, const params *p, const batch *b, state *to) {
    for (int64_t i = 0; i < b->n; i++) {
        int64_t k = metric_class_of(b->label[i], b->c);
        if ((double)b->label[i] == p->ignore_label)
            continue;
        if (k < 0)
            return fail_label(metric, b, i);
        to->values[SUM] -= log((double)classes_of(b, i)[k * b->inner] + p->eps);
        to->values[COUNT]++;
    }
    return MXC_OK;
}

static mxc_status add_cross_entropy(const params *p, const batch *b, state *to) {
    return add_likelihood("cross-entropy", p, b, to);
}

static mxc_status add_nll(const params *p, const batch *b, state *to) {
    return add_likelihood("nll_loss", p, b, to);
}

/* As MXNet, probabilities are at least 1e-10. */
static mxc_status add_perplexity(const params *p, const batch *b, state *to) {
    for (int64_t i = 0; i < b->n; i++) {
        int64_t k = metric_class_of(b->label[i], b->c);
        if ((double)b->label[i] == p->ignore_label)
            continue;
        if (k < 0)
            return fail_label("perplexity", b, i);
        double probability = (double)classes_of(b, i)[k * b->inner];
        to->values[SUM] -= log(probability < 1e-10 ? 1e-10 : probability);
        to->values[COUNT]++;
    }
    return MXC_OK;
}

static double perplexity_value(const params *p, const state *s) {
    return exp(mean_value(p, s));
}

/* ---- two classes ------------------------------------------------------------------------------------------------- */

enum { TRUE_POSITIVE, FALSE_POSITIVE, FALSE_NEGATIVE, TRUE_NEGATIVE, CONFUSION_STATE };

static mxc_status check_binary(const char *metric, const batch *b) {
    for (int64_t i = 0; i < b->n; i++)
        if (b->label[i] != 0 && b->label[i] != 1)
            return MXC_FAIL(MXC_EINVAL, "%s: label %lld of the batch is %g, expected 0 or 1", metric, (long long)i,
                            (double)b->label[i]);
    return MXC_OK;
}

/* Counts of the confusion matrix. A NaN is counted as the class that the label is not. */
static mxc_status add_confusion(const char *metric, const params *p, const batch *b, state *to) {
    MXC_TRY(check_binary(metric, b));
    for (int64_t i = 0; i < b->n; i++) {
        const float *x = b->prediction + i * b->c;
        int label = b->label[i] == 1, is_nan = isnan(x[0]) || isnan(x[b->c - 1]);
        int predicted = is_nan ? !label : b->c == 2 ? x[1] > x[0] : (double)x[0] > p->threshold;
        to->values[predicted ? (label ? TRUE_POSITIVE : FALSE_POSITIVE) : label ? FALSE_NEGATIVE : TRUE_NEGATIVE]++;
    }
    return MXC_OK;
}

static mxc_status add_f1(const params *p, const batch *b, state *to) {
    return add_confusion("f1", p, b, to);
}

static mxc_status add_mcc(const params *p, const batch *b, state *to) {
    return add_confusion("mcc", p, b, to);
}

/* NaN if nothing has been counted. */
static double count_confusion(const double *v) {
    double n = v[TRUE_POSITIVE] + v[FALSE_POSITIVE] + v[FALSE_NEGATIVE] + v[TRUE_NEGATIVE];
    return n > 0 ? n : NAN;
}

/* 2 precision recall / (precision + recall); 0 where nothing is a true positive. */
static double f1_value(const params *p, const state *s) {
    const double *v = s->values;
    (void)p;
    double errors = v[FALSE_POSITIVE] + v[FALSE_NEGATIVE];
    if (isnan(count_confusion(v)))
        return NAN;
    return v[TRUE_POSITIVE] > 0 ? 2 * v[TRUE_POSITIVE] / (2 * v[TRUE_POSITIVE] + errors) : 0;
}

/* Factors of 0 in the denominator are replaced by 1, as in MXNet. */
static double mcc_value(const params *p, const state *s) {
    const double *v = s->values, tp = v[TRUE_POSITIVE], fp = v[FALSE_POSITIVE], fn = v[FALSE_NEGATIVE],
                 tn = v[TRUE_NEGATIVE];
    const double factors[] = {tp + fp, tp + fn, tn + fp, tn + fn};
    double product = 1;
    (void)p;
    if (isnan(count_confusion(v)))
        return NAN;
    for (int i = 0; i < 4; i++)
        product *= factors[i] > 0 ? factors[i] : 1;
    return (tp * tn - fp * fn) / sqrt(product);
}

/* State of auc: a record for each sample. */
typedef struct scored {
    double score, label;
} scored;
enum { SCORE_RECORD = sizeof(scored) / sizeof(double) };

/* A NaN gets the score that is worst for its label. */
static mxc_status add_scores(const params *p, const batch *b, state *to) {
    double *out;
    (void)p;
    MXC_TRY(check_binary("auc", b));
    MXC_TRY(mxci_metric_append(to, 2 * b->n, &out));
    for (int64_t i = 0; i < b->n; i++) {
        const float score = b->prediction[i * b->c + b->c - 1];
        out[2 * i] = isnan(score) ? (b->label[i] == 1 ? -INFINITY : INFINITY) : (double)score;
        out[2 * i + 1] = (double)b->label[i];
    }
    return MXC_OK;
}

static int by_score(const void *a, const void *b) {
    const scored *x = a, *y = b;
    return x->score != y->score ? (x->score > y->score) - (x->score < y->score)
                                : (x->label > y->label) - (x->label < y->label);
}

/* The share of pairs of a positive and a negative sample in which the positive one has the higher score; ties count one
 * half (Mann-Whitney U). */
static double auc_value(const params *p, const state *s) {
    scored *all = (scored *)(void *)s->values;
    int64_t n = s->n / 2;
    double positives = 0, negatives = 0, pairs = 0; /* negatives: with a lower score */
    (void)p;
    qsort(all, (size_t)n, sizeof *all, by_score);
    for (int64_t i = 0, end; i < n; i = end) {
        double here[2] = {0, 0};
        for (end = i; end < n && all[end].score == all[i].score; end++)
            here[all[end].label == 1]++;
        pairs += here[1] * (negatives + here[0] / 2);
        negatives += here[0];
        positives += here[1];
    }
    return positives > 0 && negatives > 0 ? pairs / (positives * negatives) : NAN;
}

/* ---- elements ---------------------------------------------------------------------------------------------------- */

/* (label - prediction)^2, summed over all elements. */
static mxc_status add_squares(const params *p, const batch *b, state *to) {
    (void)p;
    for (int64_t i = 0; i < b->n; i++)
        to->values[SUM] += ((double)b->label[i] - b->prediction[i]) * ((double)b->label[i] - b->prediction[i]);
    to->values[COUNT] += (double)b->n;
    return MXC_OK;
}

static double root_value(const params *p, const state *s) {
    return sqrt(mean_value(p, s));
}

/* |label - prediction|, summed over all elements. */
static mxc_status add_absolutes(const params *p, const batch *b, state *to) {
    (void)p;
    for (int64_t i = 0; i < b->n; i++)
        to->values[SUM] += fabs((double)b->label[i] - b->prediction[i]);
    to->values[COUNT] += (double)b->n;
    return MXC_OK;
}

/* The mean of the outputs themselves, for operators that compute a loss. */
static mxc_status add_outputs(const params *p, const batch *b, state *to) {
    (void)p;
    for (int64_t i = 0; i < b->n; i++)
        to->values[SUM] += (double)b->prediction[i];
    to->values[COUNT] += (double)b->n;
    return MXC_OK;
}

/* Means and sums of products of deviations from them, which do not cancel as sums of products do (Welford 1962). */
enum { N, MEAN_X, MEAN_Y, DEV_XX, DEV_YY, DEV_XY, PEARSON_STATE };

static mxc_status add_pairs(const params *p, const batch *b, state *to) {
    double *v = to->values;
    (void)p;
    for (int64_t i = 0; i < b->n; i++) {
        double dx = (double)b->prediction[i] - v[MEAN_X], dy = (double)b->label[i] - v[MEAN_Y];
        v[N]++;
        v[MEAN_X] += dx / v[N];
        v[MEAN_Y] += dy / v[N];
        v[DEV_XX] += dx * ((double)b->prediction[i] - v[MEAN_X]);
        v[DEV_YY] += dy * ((double)b->label[i] - v[MEAN_Y]);
        v[DEV_XY] += dx * ((double)b->label[i] - v[MEAN_Y]);
    }
    return MXC_OK;
}

static double pearson_value(const params *p, const state *s) {
    const double *v = s->values;
    (void)p;
    return v[N] > 0 ? v[DEV_XY] / sqrt(v[DEV_XX] * v[DEV_YY]) : NAN;
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

#define NAME                                                                                                   \
    {                                                                                                          \
        MXC_PARAM_FIELD(params, name), .name = "name", .type = MXC_PARAM_STRING, .initial = "", .optional = 1, \
                                       .doc = "Name for display. Default: that of the metric."                 \
    }
#define IGNORE_LABEL                                                                                               \
    {                                                                                                              \
        MXC_PARAM_FIELD(params, ignore_label), .name = "ignore_label", .type = MXC_PARAM_FLOAT, .initial = "None", \
                                               .optional = 1,                                                      \
                                               .doc = "Label of samples that do not count. None: all count."       \
    }
#define AXIS(value)                                                                                           \
    {                                                                                                         \
        MXC_PARAM_FIELD(params, axis), .name = "axis", .type = MXC_PARAM_INT, .initial = value, .bounded = 1, \
                                       .minimum = -8, .maximum = 8,                                           \
                                       .doc = "Axis of the classes in the prediction; not the first axis."    \
    }
#define EPS                                                                                       \
    {                                                                                             \
        MXC_PARAM_FIELD(params, eps), .name = "eps", .type = MXC_PARAM_FLOAT, .initial = "1e-12", \
                                      .doc = "Added to probabilities before the logarithm."       \
    }
#define AVERAGE(value)                                                                                         \
    {                                                                                                          \
        MXC_PARAM_FIELD(params, average), .name = "average", .type = MXC_PARAM_ENUM, .choices = "micro,macro", \
                                          .initial = value,                                                    \
                                          .doc = "micro: over all samples; macro: mean of the values of the "  \
                                                 "batches (of each device's part, in mxc_fit)."                \
    }
#define THRESHOLD                                                                                                 \
    {                                                                                                             \
        MXC_PARAM_FIELD(params, threshold), .name = "threshold", .type = MXC_PARAM_FLOAT, .initial = "0.5",       \
                                            .doc = "A sample with one score is predicted as positive above this." \
    }

static const mxc_param accuracy_schema[] = {AXIS("1"), IGNORE_LABEL, NAME, MXC_PARAM_END};
static const mxc_param top_k_schema[] = {
    {MXC_PARAM_FIELD(params, top_k), .name = "top_k", .type = MXC_PARAM_INT, .initial = "5", .bounded = 1, .minimum = 1,
     .maximum = 1e9, .doc = "Number of most probable classes among which the label counts as a hit."},
    AXIS("1"),
    IGNORE_LABEL,
    NAME,
    MXC_PARAM_END,
};
static const mxc_param likelihood_schema[] = {EPS, AXIS("1"), IGNORE_LABEL, NAME, MXC_PARAM_END};
static const mxc_param perplexity_schema[] = {IGNORE_LABEL, AXIS("-1"), NAME, MXC_PARAM_END};
static const mxc_param binary_schema[] = {AVERAGE("macro"), THRESHOLD, NAME, MXC_PARAM_END};
static const mxc_param rmse_schema[] = {AVERAGE("micro"), NAME, MXC_PARAM_END};
static const mxc_param pearson_schema[] = {AVERAGE("macro"), NAME, MXC_PARAM_END};
static const mxc_param plain_schema[] = {NAME, MXC_PARAM_END};

const mxci_metric_rule mxci_metric_rules[] = {
    {"accuracy", "acc", "Share of samples whose most probable class is the label.", accuracy_schema,
     MXCI_METRIC_BY_CLASS, SUM_STATE, 0, add_accuracy, mean_value, 1, 1},
    {"top_k_accuracy", "top_k_acc,topkaccuracy", "Share of samples whose label is among the most probable classes.",
     top_k_schema, MXCI_METRIC_BY_CLASS, SUM_STATE, 0, add_top_k, mean_value, 1, 1},
    {"f1", NULL, "Two classes: harmonic mean of precision and recall of class 1.", binary_schema, MXCI_METRIC_BINARY,
     CONFUSION_STATE, 0, add_f1, f1_value, 1, 0},
    {"mcc", NULL, "Two classes: Matthews correlation coefficient.", binary_schema, MXCI_METRIC_BINARY, CONFUSION_STATE,
     0, add_mcc, mcc_value, 1, 0},
    {"auc", NULL, "Two classes: area under the ROC curve. It keeps the scores of all samples.", plain_schema,
     MXCI_METRIC_BINARY, 0, SCORE_RECORD, add_scores, auc_value, 1, 0},
    {"cross-entropy", "ce,crossentropy", "Mean of -log(p + eps), where p is the probability of the label.",
     likelihood_schema, MXCI_METRIC_BY_CLASS, SUM_STATE, 0, add_cross_entropy, mean_value, 0, 0},
    {"nll_loss", "nll-loss,negativeloglikelihood", "The same as cross-entropy, under the name of MXNet.",
     likelihood_schema, MXCI_METRIC_BY_CLASS, SUM_STATE, 0, add_nll, mean_value, 0, 0},
    {"perplexity", NULL, "Exponential of the mean of -log(p), where p is the probability of the label, at least 1e-10.",
     perplexity_schema, MXCI_METRIC_BY_CLASS, SUM_STATE, 0, add_perplexity, perplexity_value, 0, 0},
    {"mse", NULL, "Mean squared error.", plain_schema, MXCI_METRIC_BY_ELEMENT, SUM_STATE, 0, add_squares, mean_value, 0,
     0},
    {"rmse", NULL, "Root of the mean squared error.", rmse_schema, MXCI_METRIC_BY_ELEMENT, SUM_STATE, 0, add_squares,
     root_value, 0, 0},
    {"mae", NULL, "Mean absolute error.", plain_schema, MXCI_METRIC_BY_ELEMENT, SUM_STATE, 0, add_absolutes, mean_value,
     0, 0},
    {"pearsonr", "pearson,pearsoncorrelation", "Pearson's correlation coefficient of labels and predictions.",
     pearson_schema, MXCI_METRIC_BY_ELEMENT, PEARSON_STATE, 0, add_pairs, pearson_value, 1, 0},
    {"loss", NULL, "Mean of the prediction, for outputs that are losses; needs no label.", plain_schema,
     MXCI_METRIC_NO_LABEL, SUM_STATE, 0, add_outputs, mean_value, 0, 0},
};
const int mxci_metric_n_rules = sizeof mxci_metric_rules / sizeof mxci_metric_rules[0];
