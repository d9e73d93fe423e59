/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Winograd's algorithm on images with channels last, by packed weights (operator/nn/packed_winograd_kernels.h), on this
 * thread and its helpers: block by block of tiles, each transformed, multiplied and transformed back while it stays in
 * the second cache. No result depends on the number of threads or on the other samples.
 */
#ifndef MXCI_OPERATOR_NN_PACKED_WINOGRAD_H
#define MXCI_OPERATOR_NN_PACKED_WINOGRAD_H

#include <mxc/engine.h>

#include "base/size.h"
#include "operator/nn/packed_winograd_kernels.h"

/* Whether the algorithm computes a convolution of so many groups: one, of two axes, with a 3x3 kernel, stride and
 * dilation 1. */
int mxci_packed_winograd_possible(const mxci_conv_shape *s, int64_t groups);
/* Whether a possible one takes less time than a direct product for so many samples, or what MXC_WINOGRAD says instead.
 */
int mxci_packed_winograd_pays(const mxci_conv_shape *s, int64_t batch);

/* Plans a possible convolution for parts threads. Packing needs no more of the shape than channels and filters. */
void mxci_packed_winograd_plan(const mxci_conv_shape *s, int64_t batch, int parts, mxci_packed_winograd *out);

/* Floats of packed weights; INT64_MAX if they overflow. */
int64_t mxci_packed_winograd_elements(const mxci_packed_winograd *w);
/* packed = or += the transform of weight (F,3,3,C). */
void mxci_packed_winograd_pack(const mxc_run *run, const mxci_packed_winograd *w, const float *weight, int add,
                               float *packed);

/* Hands out the scratch, or measures it where s has no base. parts: as in the plan. */
float *mxci_packed_winograd_scratch(const mxci_packed_winograd *w, int parts, mxci_scratch *s);
/* out (N,H,W,F) = the convolution of in (N,H,W,C), finished. */
void mxci_packed_winograd_run(const mxc_run *run, const mxci_packed_winograd *w, const float *in, const float *packed,
                              const mxci_packed_epilogue *epilogue, float *scratch, float *out);

#endif
