#include "operator/kernels/int8.h"

#include <string.h>

#include "base/simd.h"

/* ---- rows -------------------------------------------------------------------------------------------------------- */

MXCI_INLINE int16_t element(const int is_unsigned, const void *from, int64_t i) {
    return is_unsigned ? ((const uint8_t *)from)[i] : ((const int8_t *)from)[i];
}

MXCI_INLINE void widen_row(const int is_unsigned, const void *restrict from, int64_t k, int16_t *restrict to) {
    int64_t whole = MXCI_INT8_ROW(k);
    for (int64_t i = 0; i < k; i++)
        to[i] = element(is_unsigned, from, i);
    memset(to + k, 0, (size_t)(whole - k) * sizeof *to);
}

void mxci_int8_widen(int is_unsigned, const void *from, int64_t rows, int64_t k, int16_t *to) {
    for (int64_t i = 0; i < rows; i++) {
        if (is_unsigned)
            widen_row(1, (const uint8_t *)from + i * k, k, to + i * MXCI_INT8_ROW(k));
        else
            widen_row(0, (const int8_t *)from + i * k, k, to + i * MXCI_INT8_ROW(k));
    }
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

static void any_block(int rows, int columns, int64_t k, const int16_t *a, const int16_t *b, int64_t step,
                      int32_t sums[ROWS][COLUMNS]) {
    if (rows == ROWS && columns == COLUMNS)
        block(ROWS, COLUMNS, k, a, step, b, step, sums);
    else if (columns == COLUMNS)
        block(1, COLUMNS, k, a, step, b, step, sums);
    else
        block(ROWS, 1, k, a, rows == ROWS ? step : 0, b, step, sums);
}

static void put(const mxci_int8_product *p, int64_t i, int64_t j, uint32_t sum) {
    int32_t *to = p->out + i * p->row_step + j * p->column_step;
    *to = (int32_t)(sum + (p->add ? (uint32_t)*to : 0));
}

/* Rows i.. of a, columns j.. of b. */
static void multiply_block(const mxci_int8_product *p, int64_t i, int64_t j, int rows, int columns) {
    uint32_t total[ROWS][COLUMNS] = {{0}};
    for (int64_t k = 0; k < p->k; k += DEPTH) {
        int32_t sums[ROWS][COLUMNS];
        any_block(rows, columns, p->k - k < DEPTH ? p->k - k : DEPTH, p->a + i * p->k + k, p->b + j * p->k + k, p->k,
                  sums);
        for (int r = 0; r < rows; r++)
            for (int c = 0; c < columns; c++)
                total[r][c] += (uint32_t)sums[r][c];
    }
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++)
            put(p, i + r, j + c, total[r][c] + (p->start ? (uint32_t)p->start[j + c] : 0));
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

/* ---- patches ----------------------------------------------------------------------------------------------------- */

/* One tap of n output pixels in a row, step elements of to apart: those of an input row of width elements from at on,
 * stride apart; outside of it, and where there is no row, 0. */
MXCI_INLINE void gather_tap(const int is_unsigned, const void *row, int64_t width, int64_t at, int64_t stride,
                            int64_t n, int64_t step, int16_t *to) {
    for (int64_t i = 0; i < n; i++, at += stride)
        to[i * step] = row && at >= 0 && at < width ? element(is_unsigned, row, at) : 0;
}

/* The taps of one row of the kernel, of n output pixels from column x on. */
static void gather_row(const mxci_int8_patches *p, const void *row, int64_t x, int64_t n, int64_t step, int16_t *to) {
    const mxci_conv_shape *s = &p->shape;
    for (int64_t k = 0; k < s->kernel[2]; k++) {
        int64_t at = x * s->stride[2] + k * s->dilate[2] - s->pad[2];
        if (p->is_unsigned)
            gather_tap(1, row, s->in[2], at, s->stride[2], n, step, to + k);
        else
            gather_tap(0, row, s->in[2], at, s->stride[2], n, step, to + k);
    }
}

/* The input row of channel c that the kernel's row (kz,ky) sees from output row (z,y); NULL in the padding. */
static const void *row_at(const mxci_int8_patches *p, int64_t c, int64_t z, int64_t y, int64_t kz, int64_t ky) {
    const mxci_conv_shape *s = &p->shape;
    int64_t iz = z * s->stride[0] + kz * s->dilate[0] - s->pad[0];
    int64_t iy = y * s->stride[1] + ky * s->dilate[1] - s->pad[1];
    int inside = iz >= 0 && iz < s->in[0] && iy >= 0 && iy < s->in[1];
    return inside ? (const char *)p->image + ((c * s->in[0] + iz) * s->in[1] + iy) * s->in[2] : NULL;
}

/* All taps of n pixels of output row (z,y) from column x on. */
static void gather_pixels(const mxci_int8_patches *p, int64_t z, int64_t y, int64_t x, int64_t n, int64_t step,
                          int16_t *to) {
    const mxci_conv_shape *s = &p->shape;
    for (int64_t c = 0; c < s->channels; c++)
        for (int64_t kz = 0; kz < s->kernel[0]; kz++)
            for (int64_t ky = 0; ky < s->kernel[1]; ky++, to += s->kernel[2])
                gather_row(p, row_at(p, c, z, y, kz, ky), x, n, step, to);
}

void mxci_int8_gather(const mxci_int8_patches *p, int64_t begin, int64_t end, int16_t *to) {
    const mxci_conv_shape *s = &p->shape;
    int64_t taps = s->channels * s->kernel[0] * s->kernel[1] * s->kernel[2], step = MXCI_INT8_ROW(taps);
    for (int64_t i = begin; i < end; i++)
        memset(to + (i - begin) * step + taps, 0, (size_t)(step - taps) * sizeof *to);
    while (begin < end) {
        int64_t x = begin % s->out[2], row = begin / s->out[2], n = s->out[2] - x;
        n = n < end - begin ? n : end - begin;
        gather_pixels(p, row / s->out[1], row % s->out[1], x, n, step, to);
        begin += n;
        to += n * step;
    }
}
