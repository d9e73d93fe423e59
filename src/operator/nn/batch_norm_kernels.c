/* SPDX-License-Identifier: Apache-2.0 */
/* The channel kernels of BatchNorm, GroupNorm, LayerNorm and others, for each floating dtype. */
#include "operator/nn/batch_norm_kernels.h"

#include "math/loop.h"

enum {
    LANES = 32, /* partial sums side by side; */
    FEW = 8,    /* of which the rest of a row takes some, */
    RUN = 4096  /* and elements summed into them before they go to double */
};

/* Some rows of a channel, or a part of one: rows x n elements, rows step apart. */
typedef struct run {
    int64_t rows, n, step;
} run;

/* The run that begins at element at of the channel's rows: as many whole rows as have RUN elements, or a part of a long
 * row. */
static run run_at(const mxci_channel *c, int64_t row, int64_t at) {
    int64_t rows = c->d >= RUN ? 1 : RUN / (c->d > LANES ? c->d : LANES); /* short rows are summed by few lanes */
    if (rows > c->n - row)
        rows = c->n - row;
    return (run){rows, c->d - at < RUN ? c->d - at : RUN, c->step};
}

#define BODY "operator/nn/batch_norm_kernels.inc"
#define FOR_FLOATS
#include "math/for_types.inc"

const mxci_bn_moments_fn mxci_bn_moments[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(moments);
const mxci_bn_affine_fn mxci_bn_affine[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(affine);
const mxci_bn_affine_last_fn mxci_bn_affine_last[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(affine_last);
const mxci_bn_sums_fn mxci_bn_sums[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(sums);
const mxci_bn_combine_fn mxci_bn_combine[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(combine);

/* Of 16 bits the highest is the sign, and larger numbers than infinity are NaN. */
void mxci_bn_relu(mxc_dtype dtype, int64_t n, void *x) {
    const uint16_t infinity = dtype == MXC_F16 ? 0x7c00 : 0x7f80;
    if (dtype == MXC_F32) {
        for (int64_t i = 0; i < n; i++)
            ((float *)x)[i] = ((float *)x)[i] < 0 ? 0 : ((float *)x)[i];
    } else if (dtype == MXC_F64) {
        for (int64_t i = 0; i < n; i++)
            ((double *)x)[i] = ((double *)x)[i] < 0 ? 0 : ((double *)x)[i];
    } else {
        for (int64_t i = 0; i < n; i++) {
            const uint16_t bits = ((uint16_t *)x)[i];
            ((uint16_t *)x)[i] = (bits & 0x8000) && (bits & 0x7fff) <= infinity ? 0 : bits;
        }
    }
}
