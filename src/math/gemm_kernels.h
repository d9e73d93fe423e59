/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix products in one thread for f32 and f64: the register tile, and the blocked product around it. Not here: the
 * choice between this and CBLAS, and threads (math/gemm.h). A vector fills a register of the kernels' level
 * (base/simd_wide.h); a panel is two vectors wide.
 */
#ifndef MXCI_MATH_GEMM_KERNELS_H
#define MXCI_MATH_GEMM_KERNELS_H

#include <stdint.h>

enum {
    MXCI_GEMM_DEPTH = 512, /* rows of B in a panel, at most: 32 KiB with AVX2 */
    MXCI_GEMM_PANELS = 4,  /* panels packed at a time; they stay in the second cache */
    MXCI_GEMM_FEW = 4      /* rows of A up to which a product may be one of dot products */
};

/* C = start + A B for one tile: A rows x depth, B depth x columns, all of one type.
 * A's element (i, p) is a[i * a_row + p * a_step]; B's row p is at b + p * b_step, in whole vectors;
 * start's element (i, j) is start[i * start_row + j * start_col], start_col 0 or 1. C may be start. */
typedef struct mxci_tile {
    int64_t depth, a_row, a_step, b_step, start_row, start_col, c_row;
    const void *a, *b, *start;
    void *c;
} mxci_tile;

/* rows 1..6, columns from 1 to two vectors. */
void mxci_tile_run_f32(int rows, int columns, const mxci_tile *t);
void mxci_tile_run_f64(int rows, int columns, const mxci_tile *t);

/* Columns of a matrix stored by columns, b_col elements apart, 1 to two vectors of them, side by side into a panel
 * [depth][two vectors] with whole vectors. */
void mxci_pack_columns_f32(int64_t depth, int columns, const float *b, int64_t b_col, float *panel);
void mxci_pack_columns_f64(int64_t depth, int columns, const double *b, int64_t b_col, double *panel);

/* C (m x n) = start + A (m x k) B (k x n). As above, with B's element (p, j) at b[p * b_row + j * b_col]; one of b_row
 * and b_col is 1, and one of a_row and a_step. Sizes may be 0. C may be start but overlaps neither A nor B. */
typedef struct mxci_product {
    int64_t m, n, k, a_row, a_step, b_row, b_col, start_row, start_col, c_row;
    const void *a, *b, *start;
    void *c;
} mxci_product;

void mxci_product_run_f32(const mxci_product *g);
void mxci_product_run_f64(const mxci_product *g);

/* The same with B packed once for several products. A panel has mxci_product_panel() columns of B, as [k][columns], the
 * last one zeros for what it lacks, and they follow each other. Pack panels begin..end-1 of B; compute the columns of
 * one panel, with b not read. Results are those of mxci_product_run. */
int64_t mxci_product_panel_f32(void);
int64_t mxci_product_panel_f64(void);
void mxci_product_pack_f32(const mxci_product *g, float *panels, int64_t begin, int64_t end);
void mxci_product_pack_f64(const mxci_product *g, double *panels, int64_t begin, int64_t end);
void mxci_product_packed_f32(const mxci_product *g, const float *panel);
void mxci_product_packed_f64(const mxci_product *g, const double *panel);

/* The same for 1 to MXCI_GEMM_FEW rows, with a_step and b_row 1: B is read once and where it lies, since packing it
 * would take longer than the product. Sums are in another order than above. */
void mxci_product_dots_f32(const mxci_product *g);
void mxci_product_dots_f64(const mxci_product *g);

/* A product of n up to MXCI_GEMM_PANELS panels and k up to MXCI_GEMM_DEPTH whose B is packed: panel j holds the
 * columns from j * wide on as [k][wide], wide being two vectors, begins at element j * wide * MXCI_GEMM_DEPTH, and has
 * whole vectors. b is not read. */
void mxci_product_block_f32(const mxci_product *g, const float *panels);
void mxci_product_block_f64(const mxci_product *g, const double *panels);

#endif
