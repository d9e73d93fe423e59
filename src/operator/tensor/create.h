/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of the operators that create arrays (create.c), and the sequences that they make. */
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

typedef struct mxci_untyped_params {
    mxc_tuple shape;
    char ctx[32];
    int64_t dtype;
} mxci_untyped_params;

typedef struct mxci_eye_params {
    int64_t rows, columns, k; /* columns 0: as many as rows */
    char ctx[32];
    int32_t dtype;
} mxci_eye_params;

/* Value i is start + step floor(i / repeat). */
typedef struct mxci_sequence {
    double start, step;
    int64_t repeat;
} mxci_sequence;

typedef struct mxci_arange_params {
    double start, stop, step;
    int64_t repeat;
    char ctx[32];
    int32_t dtype, infer_range;
} mxci_arange_params;

typedef struct mxci_linspace_params {
    double start, stop;
    int64_t num;
    char ctx[32];
    int32_t endpoint, dtype;
} mxci_linspace_params;

typedef struct mxci_arange_like_params {
    mxci_sequence sequence;
    int64_t axis;
    char ctx[32];
} mxci_arange_like_params;

/* A single value is start, whether the end point belongs to the interval or not. */
static inline mxci_sequence mxci_sequence_linspace(const mxci_linspace_params *p) {
    const int64_t steps = p->endpoint ? p->num - 1 : p->num;
    mxci_sequence sequence = {p->start, steps > 0 ? (p->stop - p->start) / (double)steps : 0, 1};
    return sequence;
}

#endif
