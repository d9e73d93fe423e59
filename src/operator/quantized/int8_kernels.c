/* SPDX-License-Identifier: Apache-2.0 */
/* See quantized/int8_kernels.h. Products: blocks of ROWS rows of a by COLUMNS rows of b keep their sums in registers.
 * Convolutions: patches of a tile of pixels are gathered as pairs of kernel positions side by side, so that one
 * instruction multiplies a pair of weights with 8 pixels' pairs. */
#include "operator/quantized/int8_kernels.h"

#include <math.h>
#include <string.h>

#include "base/simd.h"

/* ---- rows -------------------------------------------------------------------------------------------------------- */

MXCI_INLINE int16_t element(const int is_unsigned, const void *from, int64_t i) {
    return is_unsigned ? ((const uint8_t *)from)[i] : ((const int8_t *)from)[i];
}

MXCI_INLINE void widen_row(const int is_unsigned, const void *restrict from, int64_t k, int64_t step,
                           int16_t *restrict to) {
    for (int64_t i = 0; i < k; i++)
        to[i] = element(is_unsigned, from, i);
    memset(to + k, 0, (size_t)(step - k) * sizeof *to);
}

void mxci_int8_widen(int is_unsigned, const void *from, int64_t rows, int64_t k, int64_t step, int16_t *to) {
    for (int64_t i = 0; i < rows; i++) {
        if (is_unsigned)
            widen_row(1, (const uint8_t *)from + i * k, k, step, to + i * step);
        else
            widen_row(0, (const int8_t *)from + i * k, k, step, to + i * step);
    }
}

float mxci_int8_most(int64_t n, const float *x) {
    float most[8] = {0};
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++) {
            float size = fabsf(x[i + k]);
            most[k] = size > most[k] ? size : most[k];
        }
    for (; i < n; i++)
        most[0] = fabsf(x[i]) > most[0] ? fabsf(x[i]) : most[0];
    for (int k = 1; k < 8; k++)
        most[0] = most[k] > most[0] ? most[k] : most[0];
    return most[0];
}

void mxci_int8_round(int64_t k, const float *from, float factor, float scale, int64_t step, int16_t *to) {
    for (int64_t i = 0; i < k; i++) {
        float x = from[i] * factor * scale;
        x = x < -128 ? -128 : x > 127 ? 127 : x;
        to[i] = x == x ? (int16_t)rintf(x) : 0;
    }
    memset(to + k, 0, (size_t)(step - k) * sizeof *to);
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

enum {
    ROWS = 2, /* of a and of b that are multiplied at a time */
    COLUMNS = 4,
    DEPTH = 16384 /* products of 255 * 128 whose sum stays within 31 bits */
};

/* sums[r][c] = row r of a times row c of b; rows are a_step and b_step elements apart. */
MXCI_INLINE void block(const int rows, const int columns, int64_t k, const int16_t *restrict a, int64_t a_step,
                       const int16_t *restrict b, int64_t b_step, int32_t sums[ROWS][COLUMNS]) {
    int32_t s00 = 0, s01 = 0, s02 = 0, s03 = 0, s10 = 0, s11 = 0, s12 = 0, s13 = 0;
    const int16_t *a1 = a + (rows > 1 ? a_step : 0), *b1 = b + (columns > 1 ? b_step : 0);
    const int16_t *b2 = b + (columns > 2 ? 2 * b_step : 0), *b3 = b + (columns > 2 ? 3 * b_step : 0);
    for (int64_t i = 0; i < k; i++) {
        s00 += a[i] * b[i];
        if (columns > 2) {
            s01 += a[i] * b1[i];
            s02 += a[i] * b2[i];
            s03 += a[i] * b3[i];
        }
        if (rows > 1)
            s10 += a1[i] * b[i];
        if (rows > 1 && columns > 2) {
            s11 += a1[i] * b1[i];
            s12 += a1[i] * b2[i];
            s13 += a1[i] * b3[i];
        }
    }
    memcpy(sums[0], (int32_t[COLUMNS]){s00, s01, s02, s03}, sizeof sums[0]);
    memcpy(sums[1], (int32_t[COLUMNS]){s10, s11, s12, s13}, sizeof sums[1]);
}

/* Rows i to i + rows - 1 of a by columns j to j + columns - 1 (rows of b). DEPTH products at a time, whose sums cannot
 * overflow 31 bits; the totals wrap. */
static void multiply_block(const mxci_int8_product *p, int64_t i, int64_t j, int rows, int columns) {
    uint32_t total[ROWS][COLUMNS] = {{0}};
    for (int64_t k = 0; k < p->k; k += DEPTH) {
        const int16_t *a = p->a + i * p->k + k, *b = p->b + j * p->k + k;
        const int64_t depth = p->k - k < DEPTH ? p->k - k : DEPTH;
        int32_t sums[ROWS][COLUMNS];
        if (rows == ROWS && columns == COLUMNS) /* constants, for which block is compiled separately */
            block(ROWS, COLUMNS, depth, a, p->k, b, p->k, sums);
        else if (columns == COLUMNS)
            block(1, COLUMNS, depth, a, p->k, b, p->k, sums);
        else
            block(ROWS, 1, depth, a, rows == ROWS ? p->k : 0, b, p->k, sums);
        for (int r = 0; r < rows; r++)
            for (int c = 0; c < columns; c++)
                total[r][c] += (uint32_t)sums[r][c];
    }
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++) {
            int32_t *to = p->out + (i + r) * p->step + j + c;
            uint32_t sum = total[r][c] + (p->start ? (uint32_t)p->start[j + c] : 0);
            *to = (int32_t)(sum + (p->add ? (uint32_t)*to : 0));
        }
}

void mxci_int8_multiply(const mxci_int8_product *p) {
    for (int64_t i = 0; i < p->m; i += ROWS) {
        int rows = p->m - i < ROWS ? (int)(p->m - i) : ROWS;
        int64_t j = 0;
        for (; j + COLUMNS <= p->n; j += COLUMNS)
            multiply_block(p, i, j, rows, COLUMNS);
        for (; j < p->n; j++)
            multiply_block(p, i, j, rows, 1);
    }
}

MXCI_INLINE uint32_t dot_bytes(int64_t k, const int16_t *a, const int8_t *b) {
    mxci_v_u32 sums[2] = {{0}, {0}};
    int64_t i = 0;
    for (; i + 32 <= k; i += 32) {
        sums[0] += mxci_multiply_pairs(mxci_load_i16(a + i), mxci_widen_i8(b + i));
        sums[1] += mxci_multiply_pairs(mxci_load_i16(a + i + 16), mxci_widen_i8(b + i + 16));
    }
    sums[0] += sums[1];
    uint32_t total = 0;
    for (int lane = 0; lane < 8; lane++)
        total += sums[0][lane];
    for (; i < k; i++)
        total += (uint32_t)(a[i] * b[i]);
    return total;
}

void mxci_int8_multiply_bytes(const mxci_int8_product *p, const int8_t *b, int64_t k) {
    for (int64_t j = 0; j < p->n; j++)
        for (int64_t i = 0; i < p->m; i++) {
            int32_t *to = p->out + i * p->step + j;
            const uint32_t sum = dot_bytes(k, p->a + i * p->k, b + j * k) + (p->start ? (uint32_t)p->start[j] : 0);
            *to = (int32_t)(sum + (p->add ? (uint32_t)*to : 0));
        }
}

/* ---- patches ----------------------------------------------------------------------------------------------------- */

/* One row of the image, NULL in the padding, split into `stride` rows of its phases, each phase elements long, so that
 * neighbouring output pixels read neighbours. */
static void pad_row(const mxci_conv_geometry *geo, const uint8_t *row, uint8_t *to) {
    const mxci_conv_shape *s = &geo->shape;
    int64_t stride = s->stride[2];
    memset(to, 0, (size_t)geo->size[2]);
    for (int64_t phase = 0; row && phase < stride; phase++)
        for (int64_t i = 0; i < geo->phase; i++) {
            int64_t at = i * stride + phase - s->pad[2];
            if (at >= 0 && at < s->in[2])
                to[phase * geo->phase + i] = row[at];
        }
}

/* The same for stride 1: one phase. */
static void pad_row_stride_1(const mxci_conv_geometry *geo, const uint8_t *row, uint8_t *to) {
    const mxci_conv_shape *s = &geo->shape;
    int64_t room = geo->size[2] - s->pad[2], n = room < s->in[2] ? room : s->in[2];
    memset(to, 0, (size_t)geo->size[2]);
    if (row && n > 0)
        memcpy(to + s->pad[2], row, (size_t)n);
}

void mxci_int8_pad_image(const mxci_conv_geometry *geo, const void *image, void *padded) {
    const mxci_conv_shape *s = &geo->shape;
    uint8_t *to = padded;
    for (int64_t c = 0; c < s->channels; c++)
        for (int64_t z = 0; z < geo->size[0]; z++)
            for (int64_t y = 0; y < geo->size[1]; y++, to += geo->size[2]) {
                int64_t iz = z - s->pad[0], iy = y - s->pad[1];
                int inside = iz >= 0 && iz < s->in[0] && iy >= 0 && iy < s->in[1];
                const uint8_t *row =
                    inside ? (const uint8_t *)image + ((c * s->in[0] + iz) * s->in[1] + iy) * s->in[2] : NULL;
                if (s->stride[2] == 1)
                    pad_row_stride_1(geo, row, to);
                else
                    pad_row(geo, row, to);
            }
}

/* Two elements of the patches of 16 pixels, side by side. */
MXCI_INLINE void interleave(const int is_unsigned, const void *restrict a, const void *restrict b,
                            int16_t *restrict to) {
    for (int i = 0; i < 16; i++) {
        to[2 * i] = element(is_unsigned, a, i);
        to[2 * i + 1] = element(is_unsigned, b, i);
    }
}

/* The patches of n pixels that stand side by side in the padded image, from pixel at on. */
MXCI_INLINE void gather_run(const mxci_conv_geometry *geo, const int is_unsigned, const uint8_t *at, int64_t n,
                            int16_t *to) {
    for (int64_t k = 0; k < geo->patch_size; k += 2, to += 2 * MXCI_INT8_TILE_ROOM) {
        const uint8_t *a = at + geo->kernel_offset[k],
                      *b = at + geo->kernel_offset[k + 1 < geo->patch_size ? k + 1 : k];
        for (int64_t i = 0; i < n; i += 16)
            interleave(is_unsigned, a + i, b + i, to + 2 * i);
    }
}

void mxci_int8_gather(const mxci_conv_geometry *geo, int is_unsigned, const void *padded, int64_t begin, int64_t end,
                      int16_t *to) {
    for (int64_t n; begin < end; begin += n, to += 2 * n) {
        int64_t rest = geo->shape.out[2] - begin % geo->shape.out[2];
        const uint8_t *at = (const uint8_t *)padded + geo->pixel_offset[begin];
        n = rest < end - begin ? rest : end - begin;
        if (is_unsigned)
            gather_run(geo, 1, at, n, to);
        else
            gather_run(geo, 0, at, n, to);
    }
}

/* ---- convolution ------------------------------------------------------------------------------------------------- */

enum { LANES = 8, FILTERS = 4 }; /* pixels in a vector, two of which are worked on for some filters at a time */

/* Pixels first..first + 15 of a tile; n of them are stored. */
MXCI_INLINE void convolve_block(const mxci_int8_convolution *c, const int filters, int64_t filter, int64_t first,
                                int64_t n) {
    const int16_t *patches = c->patches + 2 * first, *weight = c->weight + filter * 2 * c->pairs;
    mxci_v_u32 sums[FILTERS][2];
    MXCI_UNROLL
    for (int f = 0; f < filters; f++) {
        uint32_t start = c->start ? (uint32_t)c->start[filter + f] : 0;
        sums[f][0] = sums[f][1] = (mxci_v_u32){0} + start;
    }
    for (int64_t k = 0; k < c->pairs; k++, patches += 2 * MXCI_INT8_TILE_ROOM) {
        mxci_v_i16 low = mxci_load_i16(patches), high = mxci_load_i16(patches + 2 * LANES);
        MXCI_UNROLL
        for (int f = 0; f < filters; f++) {
            mxci_v_i16 w = mxci_splat_pair(weight + (f * c->pairs + k) * 2);
            sums[f][0] += mxci_multiply_pairs(w, low);
            sums[f][1] += mxci_multiply_pairs(w, high);
        }
    }
    for (int f = 0; f < filters; f++) {
        int32_t *to = c->out + (filter + f) * c->step + first;
        uint32_t found[2 * LANES];
        memcpy(found, sums[f], sizeof found);
        for (int64_t i = 0; c->add && i < n; i++)
            found[i] += (uint32_t)to[i];
        memcpy(to, found, (size_t)n * sizeof *to);
    }
}

void mxci_int8_convolve(const mxci_int8_convolution *c) {
    for (int64_t p = 0; p < c->pixels; p += 2 * LANES) {
        int64_t n = c->pixels - p < 2 * LANES ? c->pixels - p : 2 * LANES, f = 0;
        for (; f + FILTERS <= c->filters; f += FILTERS)
            convolve_block(c, FILTERS, f, p, n);
        for (; f < c->filters; f++)
            convolve_block(c, 1, f, p, n);
    }
}
