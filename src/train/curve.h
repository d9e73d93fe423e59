/* The history of a training, one point an epoch, and its picture. */
#ifndef MXCI_TRAIN_CURVE_H
#define MXCI_TRAIN_CURVE_H

#include <stdint.h>

#include <mxc/status.h>

/* NaN where there is no value. */
typedef struct mxci_point {
    double epoch; /* 1 after the first */
    double loss, accuracy, valid_loss, valid_accuracy;
} mxci_point;

typedef struct mxci_history {
    const char *loss; /* the metric that losses are, a literal; NULL: there are none */
    int64_t n, capacity;
    mxci_point *points;
} mxci_history;

mxc_status mxci_history_add(mxci_history *history, const mxci_point *point); /* MXC_ENOMEM */
void mxci_history_free(mxci_history *history);

/* Write the learning curve as SVG: accuracy and loss, training and validation. MXC_EIO, MXC_ENOMEM. */
mxc_status mxci_curve_write(const char *path, const mxci_history *history);

#endif
