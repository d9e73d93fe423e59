/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes (left, top, right, bottom), f32 and f64: overlaps, and non-maximum suppression. */
#ifndef MXCI_OPERATOR_DETECTION_BOXES_KERNELS_H
#define MXCI_OPERATOR_DETECTION_BOXES_KERNELS_H

#include <stdint.h>

/* Rows of numbers, each with a box, and the rule by which boxes suppress each other. */
typedef struct mxci_box_rows {
    int64_t step;     /* elements from one row to the next */
    int64_t box, id;  /* offsets in a row of its box and its class; id -1: all have one class */
    int centred;      /* a box is (x, y, width, height) instead, x and y of its centre */
    double edge;      /* added to widths and heights: 1 where coordinates are pixels, both ends inside the box */
    double threshold; /* a box is suppressed if a kept one of its class overlaps it by more, */
    int closed;       /* or, where closed is 1, by as much */
} mxci_box_rows;

#define MXCI_BOX_KERNELS(T, suffix)                                                                                \
    /* Intersection over union of two corner boxes; 0 where there is no union. */                                  \
    T mxci_box_overlap_##suffix(const T *a, const T *b, double edge);                                              \
    /* The overlap of box a with each of n boxes, all of them centred or none. Added to y where add. */            \
    void mxci_box_overlaps_##suffix(const T *a, const T *b, int64_t n, int centred, int add, T *y);                \
    /* Convert the boxes of n rows to the other format: to corners where s->centred, else to centre and size. */   \
    void mxci_box_reform_##suffix(const mxci_box_rows *s, T *rows, int64_t n);                                     \
    /* Rows order[0..n-1], the best first: those that are kept move to the front, in this order. Returns how many, \
     * at most limit. */                                                                                           \
    int64_t mxci_box_suppress_##suffix(const mxci_box_rows *s, const T *rows, int64_t n, int64_t *order, int64_t limit);
MXCI_BOX_KERNELS(float, f32)
MXCI_BOX_KERNELS(double, f64)
#undef MXCI_BOX_KERNELS

#endif
