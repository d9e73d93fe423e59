/* SPDX-License-Identifier: Apache-2.0 */
/* One image of a single-shot detector, f32 and f64: what its anchors should learn, and what they found. */
#ifndef MXCI_OPERATOR_DETECTION_MULTIBOX_KERNELS_H
#define MXCI_OPERATOR_DETECTION_MULTIBOX_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* A label is a row of width elements: class and box; one whose class is -1 ends the labels of an image. */
typedef struct mxci_target_shape {
    int64_t anchors, labels, width, classes;
    double overlap;                      /* beyond which an anchor is of a label that is not the best match of it */
    double ignore;                       /* class of anchors that neither are of a label nor background */
    double mining_ratio, mining_overlap; /* background anchors for each of a label, where above 0; what they overlap */
    double variance[4];
} mxci_target_shape;

typedef struct mxci_detection_shape {
    int64_t anchors, classes, limit; /* limit: rows that suppression leaves at most */
    int clip, force;                 /* force: boxes of all classes drive each other out */
    double threshold, overlap;       /* of a score; of boxes, without suppression unless in (0,1] */
    double variance[4];
} mxci_detection_shape;

/* Bytes of scratch for one image. */
size_t mxci_target_scratch(const mxci_target_shape *s);
size_t mxci_detection_scratch(const mxci_detection_shape *s);

/* anchors (A,4); target: labels (M,width), scores (C,A), loc and mask (A,4), target (A).
 * detection: scores (C,A), loc (A,4), out (A,6). */
#define MXCI_MULTIBOX_KERNELS(T, suffix)                                                                               \
    void mxci_multibox_target_##suffix(const mxci_target_shape *s, const T *anchors, const T *labels, const T *scores, \
                                       T *loc, T *mask, T *target, void *scratch);                                     \
    void mxci_multibox_detect_##suffix(const mxci_detection_shape *s, const T *anchors, const T *scores, const T *loc, \
                                       T *out, void *scratch);
MXCI_MULTIBOX_KERNELS(float, f32)
MXCI_MULTIBOX_KERNELS(double, f64)
#undef MXCI_MULTIBOX_KERNELS

#endif
