/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of _contrib_quadratic. */
#ifndef MXCI_SIMPLEOP_QUADRATIC_H
#define MXCI_SIMPLEOP_QUADRATIC_H

typedef struct mxci_quadratic_params {
    double a, b, c;
} mxci_quadratic_params;

#endif
