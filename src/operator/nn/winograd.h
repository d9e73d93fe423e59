/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolution by Winograd's algorithm (operator/nn/winograd_kernels.h), on this thread and its helpers: block by block
 * of tiles, each in three loops over channels, products and filters. Which threads compute a block changes no result.
 */
#ifndef MXCI_OPERATOR_NN_WINOGRAD_H
#define MXCI_OPERATOR_NN_WINOGRAD_H

#include <mxc/engine.h>

#include "base/size.h"
#include "operator/nn/convolution_kernels.h"
#include "operator/nn/winograd_kernels.h"

enum { MXCI_WINOGRAD_NEVER, MXCI_WINOGRAD_WHERE_FASTER, MXCI_WINOGRAD_ALWAYS }; /* MXC_WINOGRAD */

typedef enum mxci_winograd_pass {
    MXCI_WINOGRAD_FORWARD,
    MXCI_WINOGRAD_FLIPPED, /* the data's gradient: forward from the output's, s being the shape of that */
    MXCI_WINOGRAD_WEIGHT   /* the weights' gradient */
} mxci_winograd_pass;

/* Whether the algorithm computes a group of this shape in less time than the direct one; if so, out is its plan for
 * batch samples of groups groups. samples: by how many of them the choice divides the time that weights take, which is
 * 1 where it must not depend on the batch. */
int mxci_winograd_plan(const mxci_conv_shape *s, mxci_winograd_pass pass, int64_t batch, int64_t groups,
                       int64_t samples, mxci_winograd *out);

typedef struct mxci_winograd_scratch {
    float *u, *v, *m, *buffers; /* buffers, and what is of a block of filters and channels: one for each part */
} mxci_winograd_scratch;

/* Hands out the scratch, or measures it where s has no base. */
mxci_winograd_scratch mxci_winograd_take_scratch(const mxci_winograd *w, mxci_winograd_pass pass, int parts,
                                                 mxci_scratch *s);

/* A group in all samples: in and out point at the first sample's group. */
typedef struct mxci_winograd_call {
    const mxci_winograd *plan;
    int64_t batch;
    const float *in, *weight, *bias; /* bias: or NULL; weight: of the layer, flipped or not */
    const float *out_grad;           /* of the weights' gradient */
    float *out;                      /* output, or the weights' gradient */
    int add;
    mxci_winograd_scratch scratch;
} mxci_winograd_call;

/* out = or += the convolution of in with weight, + bias. */
void mxci_winograd_forward(const mxc_run *run, const mxci_winograd_call *call);
/* out = or += the gradient of the weights. */
void mxci_winograd_backward_weight(const mxc_run *run, const mxci_winograd_call *call);

#endif
