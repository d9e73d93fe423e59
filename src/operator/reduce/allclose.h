/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of _contrib_allclose, and its comparison, for C and GPU kernels. */
#ifndef MXCI_OPERATOR_REDUCE_ALLCLOSE_H
#define MXCI_OPERATOR_REDUCE_ALLCLOSE_H

#include <math.h>
#include <stdint.h>

#include "math/loop.h"

typedef struct mxci_allclose_params {
    double rtol, atol;
    int32_t equal_nan;
} mxci_allclose_params;

/* The first test holds for infinities of one sign, whose difference is NaN. */
MXCI_SCALAR int mxci_is_close(const void *params, double a, double b) {
    const mxci_allclose_params *p = (const mxci_allclose_params *)params;
    if (a == b)
        return 1;
    if (a != a || b != b)
        return p->equal_nan && a != a && b != b;
    return fabs(a - b) <= p->atol + p->rtol * fabs(b) && fabs(a - b) < INFINITY;
}

#endif
