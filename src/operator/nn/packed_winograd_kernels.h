/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Winograd's algorithm F(4x4,3x3) on images with channels last, by weights transformed beforehand, in one thread;
 * operator/nn/packed_winograd.h puts the stages together. The algorithm and its matrices B, G, A are those of
 * operator/nn/winograd_kernels.h. Here vectors lie along channels, so that a tile's transform takes pixels as they are
 * in the image, and its result is a row of a product:
 *
 *   U[t][panel](C,panel) = G weight G^T     V[t](tiles,C) = B^T image B     M[t](tiles,F) = V[t] U[t]
 *   out = A^T M A, finished by the epilogue
 *
 * Tiles are counted through the rows of tiles of all samples; a block is some of them one after the other.
 */
#ifndef MXCI_OPERATOR_NN_PACKED_WINOGRAD_KERNELS_H
#define MXCI_OPERATOR_NN_PACKED_WINOGRAD_KERNELS_H

#include "operator/nn/packed_convolution_kernels.h"

typedef struct mxci_packed_winograd {
    int64_t channels, filters;
    int64_t in[2], out[2], pad[2];        /* height, width */
    int64_t rows, columns, total;         /* tiles: of a sample's plane, and of all samples */
    int64_t panels;                       /* of filters */
    int64_t tiles;                        /* of a block, at most */
    int64_t v_row, v_step, m_row, m_step; /* floats from a tile to the next, and from a position to the next */
    int is_shared;                        /* all threads compute one block after the other; else each its own blocks */
} mxci_packed_winograd;

/* Floats of a row of V: whole vectors of channels. */
int64_t mxci_packed_winograd_row(int64_t channels);

/* U = or += panels begin..end-1 from weights (F,3,3,C). Missing filters are zeros. */
void mxci_packed_winograd_weights(const mxci_packed_winograd *w, const float *weight, int add, float *u, int64_t begin,
                                  int64_t end);
/* V of tiles begin..end-1 of the block that begins at tile first. */
void mxci_packed_winograd_input(const mxci_packed_winograd *w, const float *image, int64_t first, float *v,
                                int64_t begin, int64_t end);
/* M of a block of so many tiles, for units begin..end-1 of 36 positions x panels. */
void mxci_packed_winograd_multiply(const mxci_packed_winograd *w, const float *u, const float *v, float *m,
                                   int64_t tiles, int64_t begin, int64_t end);
/* The output of tiles begin..end-1 of the block that begins at tile first. */
void mxci_packed_winograd_output(const mxci_packed_winograd *w, const float *m, const mxci_packed_epilogue *epilogue,
                                 int64_t first, float *out, int64_t begin, int64_t end);

#endif
