/* SPDX-License-Identifier: Apache-2.0 */
#include "operator/vision/vision_reference.h"

double case_grid_coordinate(int k, int64_t i, int64_t height, int64_t width) {
    int64_t n = k ? height : width, at = k ? i / width : i % width;
    return n == 1 ? -1 : -1 + 2.0 * (double)at / (double)(n - 1);
}

double case_affine_coordinate(const double *theta, int k, int64_t i, int64_t height, int64_t width) {
    return theta[3 * k] * case_grid_coordinate(0, i, height, width) +
           theta[3 * k + 1] * case_grid_coordinate(1, i, height, width) + theta[3 * k + 2];
}
