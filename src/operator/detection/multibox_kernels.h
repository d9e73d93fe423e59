/* SPDX-License-Identifier: Apache-2.0 */
/* One image of a single-shot detector, f32 and f64: the training targets of its anchors, and its detections. */
#ifndef MXCI_OPERATOR_DETECTION_MULTIBOX_KERNELS_H
#define MXCI_OPERATOR_DETECTION_MULTIBOX_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* A label is a row of width elements: class and box; one whose class is -1 ends the labels of an image. */
typedef struct mxci_target_shape {
    int64_t anchors, labels, width, classes;
    double overlap;        /* above which an anchor is matched to a label that has a better anchor */
    double ignore;         /* class target of anchors that are neither matched nor background */
    double mining_ratio;   /* mined background anchors per matched one; 0 or below: no mining */
    double mining_overlap; /* mined anchors overlap labels less than this */
    double variance[4];
} mxci_target_shape;

typedef struct mxci_detection_shape {
    int64_t anchors, classes, limit; /* limit: candidates of suppression */
    int clip, force;                 /* force: boxes suppress across classes */
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
