/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images whose labels contain boxes of objects, in the format of MXNet's ImageDetRecordIter: A, B and further values
 * of a header of A values in all, then B values for each object, of which the first five are class, left, top, right
 * and bottom, relative to the width and height of the image. The boxes are mirrored, padded and cropped together with
 * the image.
 */
#ifndef MXCI_IO_AUGMENT_DETECTION_H
#define MXCI_IO_AUGMENT_DETECTION_H

#include "io/augment.h"

/* Header of a label row of the batch: channels, height and width of the image in the batch, number of values that
 * follow. */
enum { MXCI_AUGMENT_DETECTION_HEADER = 4 };

typedef struct mxci_augment_detection_params {
    double rand_mirror_prob, rand_pad_prob, max_pad_scale, rand_crop_prob, emit_overlap_thresh;
    int64_t num_crop_sampler;
    /* One value per crop sampler; samplers without one use the last. */
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

/* Draw all steps for an image of h x w pixels with n label values, and write its label row: label_width values of
 * augment->params. MXC_EFORMAT (labels of another format, too many pixels). */
mxc_status mxci_augment_detection_draw(const mxci_augment *augment, const mxci_augment_detection_params *params,
                                       const char *source_name, mxci_sample_rng *rng, int64_t h, int64_t w,
                                       const float *labels, int64_t n, mxci_augment_steps *out, float *row);

#endif
