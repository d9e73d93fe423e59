/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of _zeros, _ones, _set_value and _arange. */
#ifndef MXCI_OPERATOR_TENSOR_CREATE_H
#define MXCI_OPERATOR_TENSOR_CREATE_H

#include <mxc/param.h>

typedef struct mxci_fill_params {
    mxc_tuple shape;
    char ctx[32];
    int32_t dtype;
} mxci_fill_params;

typedef struct mxci_set_params {
    double src;
    mxci_fill_params fill;
} mxci_set_params;

typedef struct mxci_arange_params {
    double start, stop, step;
    int64_t repeat;
    char ctx[32];
    int32_t dtype, infer_range;
} mxci_arange_params;

#endif
