/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internal interface of metrics: the state of a metric, and the rules that metric.c looks up by name.
 *
 * The state is an array of doubles, whatever the metric: a sum and a count, the cells of a confusion matrix, or a
 * record for each sample. So checkpoints and copies need nothing from the rules.
 */
#ifndef MXCI_TRAIN_METRIC_H
#define MXCI_TRAIN_METRIC_H

#include <mxc/param.h>
#include <mxc/train.h>

enum { MXCI_METRIC_FIXED = 8 };

typedef struct mxci_metric_state {
    double *values;
    int64_t n, capacity;
} mxci_metric_state;

/* The parameters of all rules; the schema of a rule lists its own. */
typedef struct mxci_metric_params {
    char name[MXC_METRIC_NAME]; /* "": the name of the rule */
    int64_t top_k, axis;
    double eps, ignore_label; /* ignore_label: NaN for none */
    double threshold, iou_thresh;
    int32_t average, pixels;
} mxci_metric_params;

/* How the elements of prediction and label correspond. */
typedef enum mxci_metric_kind {
    MXCI_METRIC_BY_CLASS, /* prediction has an axis of c classes; label has one element for each place of the others */
    MXCI_METRIC_BINARY,   /* c is 1 (a score) or 2 (the scores of both classes) for each label */
    MXCI_METRIC_BY_ELEMENT, /* both have the same number of elements, each of which counts */
    MXCI_METRIC_NO_LABEL,   /* the label is not read; each element counts */
    MXCI_METRIC_DETECTION,  /* label (N,M,w), prediction (N,K,6) */
    MXCI_METRIC_OWN         /* a function of the program reads the arrays */
} mxci_metric_kind;

/* A batch without its padding, in f32 on the host. */
typedef struct mxci_metric_batch {
    const float *label, *prediction;
    int64_t n;     /* samples: labels; of other kinds than BY_CLASS and BINARY: elements, or images */
    int64_t c;     /* BY_CLASS: number of classes; 0: predictions are class numbers. BINARY: 1 or 2 */
    int64_t inner; /* BY_CLASS: elements between two classes of a sample */
    int64_t n_boxes, box_size, n_found; /* DETECTION: M, w and K */
} mxci_metric_batch;

typedef struct mxci_metric_rule {
    const char *name, *aliases; /* aliases: comma-separated, or NULL */
    const char *doc;
    const mxc_param *schema;
    mxci_metric_kind kind;
    int n_fixed;  /* doubles that the state begins with, at most MXCI_METRIC_FIXED */
    int n_record; /* doubles of a record, of which add appends any number, without NaN; 0: there are none */
    /* Add a batch. On failure the state is restored. MXC_EINVAL, MXC_ENOMEM. */
    mxc_status (*add)(const mxci_metric_params *p, const mxci_metric_batch *b, mxci_metric_state *to);
    /* NaN where nothing has been counted. May reorder the records behind the first n_fixed doubles. */
    double (*value)(const mxci_metric_params *p, const mxci_metric_state *state);
    int higher_is_better;
    int is_share; /* between 0 and 1, and shown in percent */
} mxci_metric_rule;

extern const mxci_metric_rule mxci_metric_rules[], mxci_metric_voc_map, mxci_metric_voc07_map;
extern const int mxci_metric_n_rules;

/* Append n doubles, which *out points to. MXC_ENOMEM. */
mxc_status mxci_metric_append(mxci_metric_state *state, int64_t n, double **out);

/* A metric of the same rule, parameters and name, without data. MXC_ENOMEM. */
mxc_status mxci_metric_clone(const mxc_metric *metric, mxc_metric **out);
int mxci_metric_is_share(const mxc_metric *metric);
/* The values of an array as f32 on the host, waited for; *copy is a reference to release, on failure too. */
mxc_status mxci_metric_floats(mxc_ndarray *array, mxc_ndarray **copy, const float **out);
/* 1 if a mean of samples has become NaN; 0 before the first sample and for other metrics. */
int mxci_metric_is_nan(const mxc_metric *metric);
/* The state, borrowed; replace it by a copy of n doubles: MXC_EFORMAT if the metric cannot have that many, or a record
 * has a NaN; MXC_ENOMEM. */
const mxci_metric_state *mxci_metric_get_state(const mxc_metric *metric);
mxc_status mxci_metric_set_state(mxc_metric *metric, int64_t n, const double *values);

#endif
