/* SPDX-License-Identifier: Apache-2.0 */
/* The history of a training, one point per epoch, and its chart. */
#ifndef MXCI_TRAIN_CURVE_H
#define MXCI_TRAIN_CURVE_H

#include <stdint.h>

#include <mxc/status.h>

/* NaN where there is no value. */
typedef struct mxci_curve_point {
    double epoch; /* number of epochs completed */
    double loss, accuracy, valid_loss, valid_accuracy;
} mxci_curve_point;

typedef struct mxci_curve_history {
    const char *loss; /* the metric that losses are, a literal; NULL: there are none */
    int64_t n, capacity;
    mxci_curve_point *points;
} mxci_curve_history;

mxc_status mxci_curve_history_add(mxci_curve_history *history, const mxci_curve_point *point); /* MXC_ENOMEM */
void mxci_curve_history_free(mxci_curve_history *history);

/* Write the learning curve as SVG: accuracy and loss, training and validation. MXC_EIO, MXC_ENOMEM. */
mxc_status mxci_curve_write(const char *path, const mxci_curve_history *history);

#endif
