/* SPDX-License-Identifier: Apache-2.0 */
/* The exponential moving average of the trained parameters: options.ema. */
#ifndef MXCI_TRAIN_PARAMETER_AVERAGE_H
#define MXCI_TRAIN_PARAMETER_AVERAGE_H

#include <mxc/train.h>

struct mxci_trainer;

typedef struct mxci_parameter_average {
    int n;                  /* trained parameters; 0: there is no average */
    mxc_optimizer *updater; /* its update moves a value towards a parameter */
    mxc_ndarray **values;   /* on the first context; f32 where the parameter has 16 bits, otherwise its dtype */
    mxc_ndarray **sources;  /* f32 copies of the parameters in 16 bits; NULL for the others */
    mxc_ndarray **bound;    /* arguments of the validator: values[i], or a 16-bit copy */
    int is_restored;        /* from a checkpoint */
} mxci_parameter_average;

/* After binding: create the arrays, if options.ema asks for an average. MXC_EINVAL, MXC_ENOMEM. */
mxc_status mxci_parameter_average_open(struct mxci_trainer *trainer);
void mxci_parameter_average_close(struct mxci_trainer *trainer);
/* Once the parameters have their first values: begin with these, unless the average was restored. */
mxc_status mxci_parameter_average_begin(struct mxci_trainer *trainer);
/* Queue value = ema value + (1 - ema) parameter for all; after each update of the parameters. */
mxc_status mxci_parameter_average_update(struct mxci_trainer *trainer);
/* Queue what the validator needs before it runs. */
mxc_status mxci_parameter_average_bind(struct mxci_trainer *trainer);
/* The average of the parameter that is argument index of the symbol; NULL: there is none. Borrowed. */
mxc_ndarray *mxci_parameter_average_find(const struct mxci_trainer *trainer, int arg);

#endif
