/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images whose labels say where objects are: A, B, more of a head of A values in all, then of each object B values, of
 * which the first five are class, left, top, right and bottom, as shares of the image's sides. What is done to the
 * image is done to them: mirror, put into a larger canvas, crop.
 */
#ifndef MXCI_IO_AUGMENT_DETECTION_H
#define MXCI_IO_AUGMENT_DETECTION_H

#include "io/augment.h"

/* Of a row of the batch: channels, height and width that the image has there, count of values behind. */
enum { MXCI_AUGMENT_DETECTION_HEADER = 4 };

typedef struct mxci_augment_detection_params {
    double rand_mirror_prob, rand_pad_prob, max_pad_scale, rand_crop_prob, emit_overlap_thresh;
    int64_t num_crop_sampler;
    /* Of each sampler; the last value counts for those that have none. */
    mxc_floats min_crop_scales, max_crop_scales, min_crop_aspect_ratios, max_crop_aspect_ratios, min_crop_overlaps,
        max_crop_overlaps, min_crop_sample_coverages, max_crop_sample_coverages, min_crop_object_coverages,
        max_crop_object_coverages;
    mxc_tuple max_crop_trials;
    int32_t crop_emit_mode, resize_mode;
    int64_t max_random_hue, max_random_saturation, max_random_illumination;
    double max_random_contrast, random_hue_prob, random_saturation_prob, random_illumination_prob, random_contrast_prob;
    double label_pad_value;
} mxci_augment_detection_params;

enum { MXCI_EMIT_CENTER, MXCI_EMIT_OVERLAP };
enum { MXCI_RESIZE_FORCE, MXCI_RESIZE_SHRINK, MXCI_RESIZE_FIT };

/* Draw for an image of a size with n labels; row gets label_width values of augment->params. MXC_EFORMAT (labels that
 * are not as above; sizes). */
mxc_status mxci_augment_detection_draw(const mxci_augment *augment, const mxci_augment_detection_params *params,
                                       const char *source_name, mxci_sample_rng *rng, int64_t h, int64_t w,
                                       const float *labels, int64_t n, mxci_augment_steps *out, float *row);

#endif
