/* SPDX-License-Identifier: Apache-2.0 */
/* References that several detection operators share. */
#ifndef MXC_TESTS_OPERATOR_DETECTION_REFERENCE_H
#define MXC_TESTS_OPERATOR_DETECTION_REFERENCE_H

#include "operator/cases.h"

/* Intersection over union of two boxes (left, top, right, bottom); 0 if they do not intersect. */
double case_corner_overlap(const double *a, const double *b);

/* The corners of a box that is given by them, or by centre and size. */
void case_box_corners(const double *box, int centred, double *out);

/* Intersection over union of two boxes of that format. */
double case_box_overlap(const double *first, const double *second, int centred);

#endif
