/* SPDX-License-Identifier: Apache-2.0 */
/* The running sums of a metric, for checkpoints. */
#ifndef MXCI_TRAIN_METRIC_H
#define MXCI_TRAIN_METRIC_H

#include <mxc/train.h>

void mxci_metric_get_sums(const mxc_metric *metric, double *sum, int64_t *count);
void mxci_metric_set_sums(mxc_metric *metric, double sum, int64_t count);

#endif
