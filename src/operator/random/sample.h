/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of the random number operators. a and b are those of the distribution: bounds, mean and deviation,
 * ... */
#ifndef MXCI_OPERATOR_RANDOM_SAMPLE_H
#define MXCI_OPERATOR_RANDOM_SAMPLE_H

#include <mxc/param.h>

typedef struct mxci_sample_params {
    double a, b;
    int64_t k; /* negative binomial: instead of a */
    mxc_tuple shape;
    char ctx[32];
    int32_t dtype;
} mxci_sample_params;

#endif
