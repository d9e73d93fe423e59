/* SPDX-License-Identifier: Apache-2.0 */
#include "operator/detection/detection_reference.h"

#include <math.h>

double case_corner_overlap(const double *a, const double *b) {
    double w = fmin(a[2], b[2]) - fmax(a[0], b[0]), h = fmin(a[3], b[3]) - fmax(a[1], b[1]), both = 0;
    if (w > 0 && h > 0)
        both = w * h;
    return both > 0 ? both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both) : 0;
}

void case_box_corners(const double *box, int centred, double *out) {
    for (int k = 0; k < 2; k++) {
        out[k] = centred ? box[k] - box[k + 2] / 2 : box[k];
        out[k + 2] = centred ? box[k] + box[k + 2] / 2 : box[k + 2];
    }
}

double case_box_overlap(const double *first, const double *second, int centred) {
    double a[4], b[4], w, h;
    case_box_corners(first, centred, a);
    case_box_corners(second, centred, b);
    w = fmin(a[2], b[2]) - fmax(a[0], b[0]);
    h = fmin(a[3], b[3]) - fmax(a[1], b[1]);
    if (w <= 0 || h <= 0)
        return 0;
    return w * h / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - w * h);
}
