/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolution of floats with a 3x3 kernel and stride 1 by Winograd's algorithm F(4x4,3x3): 36 multiplications for 16
 * output pixels instead of 144. Transforms of weights, images and results in one thread; operator/nn/winograd.h puts
 * them together.
 *
 * A tile has 6x6 pixels of an input channel and 4x4 of an output channel; its neighbours overlap by two pixels. With
 * the matrices B, G, A of the algorithm (Lavin and Gray 2015), position t of the 36 and sums over channels c and tiles:
 *
 *   U[t](F,C) = G weight G^T     V[t](C,tiles) = B^T image B     out = A^T (U[t] V[t]) A
 *   weight' = G^T (V[t] D[t]^T) G with D[t](F,tiles) = A out' A^T
 *
 * The polynomial's points are 0, +-sqrt(1/2), +-sqrt(2) and infinity, with which rounding errors are smaller than
 * with the common 0, +-1, +-2 and infinity.
 */
#ifndef MXCI_OPERATOR_NN_WINOGRAD_KERNELS_H
#define MXCI_OPERATOR_NN_WINOGRAD_KERNELS_H

#include <stdint.h>

enum {
    MXCI_WINOGRAD_OUT = 4,        /* pixels of a side of a tile's output, */
    MXCI_WINOGRAD_IN = 6,         /* and of its input */
    MXCI_WINOGRAD_POSITIONS = 36, /* 6 x 6 */
    MXCI_WINOGRAD_COLUMNS = 16,   /* of which a product's columns, tiles or filters, are a multiple */
    MXCI_WINOGRAD_LANES = 8       /* filters that are transformed together */
};

/* One group of a convolution, and a block of its tiles: whole rows of tiles, of one or several samples. */
typedef struct mxci_winograd {
    int64_t channels, filters;      /* of a group */
    int64_t in[2], out[2], pad[2];  /* height, width */
    int64_t rows, columns;          /* tiles of one sample's plane */
    int64_t in_sample, out_sample;  /* elements from one sample's group to the next sample's */
    int64_t first, count;           /* the block's rows of tiles, counted through all samples */
    int64_t tiles;                  /* of the largest block, a multiple of MXCI_WINOGRAD_COLUMNS */
    int64_t u_step, v_step, m_step; /* floats from a position to the next */
} mxci_winograd;

/* Columns of a panel of a product, which depend on the level; the last panel may be narrower. */
int64_t mxci_winograd_panel(void);
/* Floats of a thread's buffer for rows of tiles: of input or of output. */
int64_t mxci_winograd_buffer(const mxci_winograd *w);

/* U[t][f][c] of filters begin..end-1 from weights (F,C,3,3). */
void mxci_winograd_weights(const mxci_winograd *w, const float *weight, float *u, int64_t begin, int64_t end);
/* V of channels begin..end-1 of the block. For products (by_tile 0) in panels V[t][panel][c][tiles of the panel], for
 * the weights' gradient (1) as V[t][c][tiles]. Tiles that do not exist are zeros. */
void mxci_winograd_input(const mxci_winograd *w, const float *image, int by_tile, float *v, float *buffer,
                         int64_t begin, int64_t end);
/* M[t][f][tiles] = U V, for units begin..end-1 of 36 positions x panels of the block. */
void mxci_winograd_multiply(const mxci_winograd *w, const float *u, const float *v, float *m, int64_t begin,
                            int64_t end);
/* Filters begin..end-1 of out = or += A^T M A + bias; bias NULL: none. */
void mxci_winograd_output(const mxci_winograd *w, const float *m, const float *bias, int add, float *out, float *buffer,
                          int64_t begin, int64_t end);

/* D[t][panel][tiles][filters of the panel] of eights of filters begin..end-1, from the gradient of the output. Missing
 * filters are zeros. */
void mxci_winograd_out_grad(const mxci_winograd *w, const float *out_grad, float *d, float *buffer, int64_t begin,
                            int64_t end);
/* Sums S[t][c][whole columns of filters] = or += V D^T, for units begin..end-1 of 36 positions x panels of filters. */
void mxci_winograd_accumulate(const mxci_winograd *w, const float *v, const float *d, int add, float *sums,
                              int64_t begin, int64_t end);
/* Eights of filters begin..end-1 of weight' = or += G^T S G. */
void mxci_winograd_weight_grad(const mxci_winograd *w, const float *sums, int add, float *weight_grad, int64_t begin,
                               int64_t end);

#endif
