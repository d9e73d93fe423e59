/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of _random_randint. */
#ifndef MXCI_OPERATOR_RANDOM_RANDINT_H
#define MXCI_OPERATOR_RANDOM_RANDINT_H

#include <mxc/param.h>

typedef struct mxci_randint_params {
    int64_t low, high;
    mxc_tuple shape;
    char ctx[32];
    int32_t dtype;
} mxci_randint_params;

#endif
