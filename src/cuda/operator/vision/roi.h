/* SPDX-License-Identifier: Apache-2.0 */
/* Regions of interest on the GPU: rows of sample, x0, y0, x1, y1. */
#ifndef MXCI_CUDA_OPERATOR_VISION_ROI_H
#define MXCI_CUDA_OPERATOR_VISION_ROI_H

#include "cuda/runtime/kernel.h"

/* The sample of region r; -1: it is outside the batch, and the region is empty. */
template <class T> MXCU_DEVICE int64_t mxcu_roi_sample(const mxcu_in<T> &rois, int64_t r, int64_t samples) {
    const double sample = rois[5 * r];
    return sample >= 0 && sample < (double)samples ? (int64_t)sample : -1;
}

#endif
