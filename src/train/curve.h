/* SPDX-License-Identifier: Apache-2.0 */
/* The history of a training, one point per epoch, and its chart. */
#ifndef MXCI_TRAIN_CURVE_H
#define MXCI_TRAIN_CURVE_H

#include <stdint.h>

#include <mxc/train.h>

typedef struct mxci_curve_metric {
    const char *name; /* borrowed */
    int is_loss;
    int is_share; /* drawn in percent */
} mxci_curve_metric;

typedef struct mxci_curve_history {
    int n_metrics;
    mxci_curve_metric metrics[MXC_FIT_METRICS];
    int64_t n, capacity; /* points */
    double *points; /* of each: the number of epochs completed, then training and validation value of each metric */
} mxci_curve_history;

/* Doubles of one point. */
int mxci_curve_point_size(const mxci_curve_history *history);
/* Add a point; values: training and validation value of each metric, NaN where there is none. MXC_ENOMEM. */
mxc_status mxci_curve_history_add(mxci_curve_history *history, double epoch, const double *values);
void mxci_curve_history_free(mxci_curve_history *history);

/* Write the learning curves as SVG: a panel for each of the first four metrics. MXC_EIO, MXC_ENOMEM. */
mxc_status mxci_curve_write(const char *path, const mxci_curve_history *history);

#endif
