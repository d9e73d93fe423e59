/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes (left, top, right, bottom), f32 and f64: how far two overlap, and which of many stay. */
#ifndef MXCI_OPERATOR_DETECTION_BOXES_KERNELS_H
#define MXCI_OPERATOR_DETECTION_BOXES_KERNELS_H

#include <stdint.h>

/* Rows of numbers, each with a box. */
typedef struct mxci_box_rows {
    int64_t step;     /* elements from one row to the next */
    int64_t box, id;  /* where in a row its box and its class stand; id -1: all are of one class */
    int centred;      /* a box is (x, y, width, height) instead, x and y of its centre */
    double edge;      /* added to widths and heights: 1 where both ends are elements that belong to the box */
    double threshold; /* a box goes if one that stays, of its class, overlaps it by more, */
    int closed;       /* or by as much */
} mxci_box_rows;

#define MXCI_BOX_KERNELS(T, suffix)                                                                                \
    /* Intersection over union of two corner boxes; 0 where there is no union. */                                  \
    T mxci_box_overlap_##suffix(const T *a, const T *b, double edge);                                              \
    /* The overlap of box a with each of n boxes, all of them centred or none. Added to y where add. */            \
    void mxci_box_overlaps_##suffix(const T *a, const T *b, int64_t n, int centred, int add, T *y);                \
    /* The boxes of n rows in the other form: corners where s says that they are centred, else centred. */         \
    void mxci_box_reform_##suffix(const mxci_box_rows *s, T *rows, int64_t n);                                     \
    /* Rows order[0..n-1], the best first: those that stay, in this order, come to the front. Returns how many, at \
     * most limit. */                                                                                              \
    int64_t mxci_box_suppress_##suffix(const mxci_box_rows *s, const T *rows, int64_t n, int64_t *order, int64_t limit);
MXCI_BOX_KERNELS(float, f32)
MXCI_BOX_KERNELS(double, f64)
#undef MXCI_BOX_KERNELS

#endif
