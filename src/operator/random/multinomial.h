/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of _sample_multinomial. */
#ifndef MXCI_OPERATOR_RANDOM_MULTINOMIAL_H
#define MXCI_OPERATOR_RANDOM_MULTINOMIAL_H

#include <mxc/param.h>

typedef struct mxci_multinomial_params {
    mxc_tuple shape;
    int32_t get_prob, dtype;
} mxci_multinomial_params;

/* Outputs: the drawn indices, and the logarithms of their probabilities. */
enum { MXCI_MULTINOMIAL_INDEX, MXCI_MULTINOMIAL_LOG };

#endif
