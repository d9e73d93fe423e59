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
    int flipped;                    /* weights are (C,F,3,3), back to front: for the data's gradient */
    int own_blocks;                 /* threads take blocks, or chunks of blocks, of their own */
    int64_t chunks;                 /* of blocks; the weights' gradient is the sum of theirs */
    /* Where all tiles are one block: filters and channels that are transformed and multiplied together; else 0. */
    int64_t filter_block, channel_block;
} mxci_winograd;

/* Some filters and channels of U or S, which stand in memory alone: rows row floats apart, positions step floats. */
typedef struct mxci_winograd_part {
    int64_t filter, filters, channel, channels; /* the first one and how many */
    int64_t row, step;
} mxci_winograd_part;

/* Columns of a panel of a product, which depend on the level; the last panel may be narrower. */
int64_t mxci_winograd_panel(void);
/* Floats of a thread's buffer for rows of tiles: of input or of output. */
int64_t mxci_winograd_buffer(const mxci_winograd *w);

/* U[t][f][c] of the part's filters and channels from all weights (F,C,3,3). */
void mxci_winograd_weights(const mxci_winograd *w, const mxci_winograd_part *part, const float *weight, float *u);
/* V of channels begin..end-1 of the block. For products (by_tile 0) in panels V[t][panel][c][tiles of the panel], for
 * the weights' gradient (1) as V[t][c][tiles]. Tiles that do not exist are zeros. */
void mxci_winograd_input(const mxci_winograd *w, const float *image, int by_tile, float *v, float *buffer,
                         int64_t begin, int64_t end);
/* M[t][f][tiles] = U V, for units begin..end-1 of 36 positions x panels of the block. */
void mxci_winograd_multiply(const mxci_winograd *w, const float *u, const float *v, float *m, int64_t begin,
                            int64_t end);
/* M[t][f][tiles] = U V of the part, or += where it does not begin with the first channel, for all panels. */
void mxci_winograd_multiply_part(const mxci_winograd *w, const mxci_winograd_part *part, const float *u, const float *v,
                                 float *m);
/* Filters begin..end-1, whose M is at m, of out = or += A^T M A + bias; bias NULL: none. */
void mxci_winograd_output(const mxci_winograd *w, const float *m, const float *bias, int add, float *out, float *buffer,
                          int64_t begin, int64_t end);

/* D[t][panel][tiles][filters of the panel] of eights of filters begin..end-1, from the gradient of the output. Missing
 * filters are zeros. */
void mxci_winograd_out_grad(const mxci_winograd *w, const float *out_grad, float *d, float *buffer, int64_t begin,
                            int64_t end);
/* Sums S[t][c][whole columns of filters] = or += V D^T, for units begin..end-1 of 36 positions x panels of filters. */
void mxci_winograd_accumulate(const mxci_winograd *w, const float *v, const float *d, int add, float *sums,
                              int64_t begin, int64_t end);
/* Sums S[t][c][filters of the part] = V D^T. The part's filters are a panel. */
void mxci_winograd_accumulate_part(const mxci_winograd *w, const mxci_winograd_part *part, const float *v,
                                   const float *d, float *sums);
/* The part's weight' = or += G^T S G, S being the sum of the chunks', which follow each other in memory; its first
 * filter is a multiple of eight. */
void mxci_winograd_weight_grad(const mxci_winograd *w, const mxci_winograd_part *part, const float *sums, int add,
                               float *weight_grad);

#endif
