/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strided iteration: the elements of an array in the order of another array's index space. Each axis of the space has a
 * step in the array, 0 where the array is broadcast along it. Broadcasting, transposing and slicing are such
 * iterations.
 */
#ifndef MXCI_MATH_STRIDED_KERNELS_H
#define MXCI_MATH_STRIDED_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#define MXCI_STRIDED_MAX 16 /* two for each axis of an array */

/* Axes outermost first; steps in elements. At least one axis after mxci_strided_set. */
typedef struct mxci_strided {
    int n;
    int64_t dim[MXCI_STRIDED_MAX], step[MXCI_STRIDED_MAX];
} mxci_strided;

/* Fill out, leaving out axes of size 1 and merging neighbours that one step serves. In the header because GPU modules,
 * which link nothing of the library, describe strides too. */
static inline void mxci_strided_set(mxci_strided *out, int ndim, const int64_t *dim, const int64_t *step) {
    out->n = 0;
    for (int i = 0; i < ndim; i++) {
        int last = out->n - 1;
        if (dim[i] == 1)
            continue;
        if (last >= 0 && out->step[last] == step[i] * dim[i]) {
            out->dim[last] *= dim[i];
            out->step[last] = step[i];
        } else {
            out->dim[out->n] = dim[i];
            out->step[out->n++] = step[i];
        }
    }
    if (out->n == 0) {
        out->dim[0] = 1;
        out->step[0] = 0;
        out->n = 1;
    }
}

/* A position of the iteration. */
typedef struct mxci_cursor {
    int64_t index[MXCI_STRIDED_MAX];
    int64_t offset; /* in the array */
} mxci_cursor;

/* Go to the index-th element of the space (in C order). */
void mxci_cursor_seek(const mxci_strided *s, int64_t index, mxci_cursor *out);
/* Elements from the cursor to the end of its innermost row, at most n. */
int64_t mxci_cursor_run(const mxci_strided *s, const mxci_cursor *cursor, int64_t n);
/* Move on by run elements, at most what mxci_cursor_run returned. */
void mxci_cursor_advance(const mxci_strided *s, mxci_cursor *cursor, int64_t run);

/* to[0..n) = elements begin..begin+n-1 of the space, from the array. Elements of 1, 2, 4 or 8 bytes. */
void mxci_gather(const mxci_strided *s, size_t element, const void *from, int64_t begin, int64_t n, void *to);
/* The same for a whole space of two axes, the first of step 1, so that reads run along it; its rows are to_step
 * elements apart in to. */
void mxci_gather_block(const mxci_strided *s, size_t element, const void *from, int64_t to_step, void *to);
/* Copy n rows of so many bytes; rows are from_step and to_step bytes apart. Nothing overlaps. */
void mxci_copy_rows(int64_t n, size_t bytes, const void *from, int64_t from_step, void *to, int64_t to_step);
/* Add from[k] to the array's element of space element begin + k, for n elements; the array holds doubles. */
void mxci_scatter_add_f32(const mxci_strided *s, const float *from, int64_t begin, int64_t n, double *to);
void mxci_scatter_add_f64(const mxci_strided *s, const double *from, int64_t begin, int64_t n, double *to);

#endif
