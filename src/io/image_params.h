/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameters of image iterators: names and defaults are MXNet's. image_params.def and augment_params.def hold their
 * schema, to be included within a schema where OWNER is a struct with the member image of this type.
 */
#ifndef MXCI_IO_IMAGE_PARAMS_H
#define MXCI_IO_IMAGE_PARAMS_H

#include <mxc/param.h>

enum { MXCI_IMAGE_PATH = 4096 };

typedef struct mxci_image_params {
    /* batches */
    mxc_tuple data_shape; /* (C,H,W) */
    int64_t batch_size, label_width, seed, seed_aug, preprocess_threads, prefetch_buffer, num_parts, part_index;
    int64_t max_pixels, shuffle_chunk_size, shuffle_chunk_seed, device_id;
    int32_t shuffle, round_batch, dtype, layout, bad_data, verbose, ctx, exif_orientation;
    char aug_seq[32];
    /* augmentation */
    int64_t resize, max_rotate_angle, rotate, max_crop_size, min_crop_size, fill_value, inter_method, pad;
    int64_t crop_y_start, crop_x_start, random_h, random_s, random_l;
    int32_t rand_crop, random_resized_crop, mirror, rand_mirror;
    mxc_tuple rotate_list;
    double max_aspect_ratio, min_aspect_ratio, max_shear_ratio, max_random_scale, min_random_scale;
    double max_random_area, min_random_area, max_img_size, min_img_size;
    double brightness, contrast, saturation, pca_noise;
    /* values */
    double mean_r, mean_g, mean_b, mean_a, std_r, std_g, std_b, std_a, scale;
    double max_random_contrast, max_random_illumination;
    char mean_img[MXCI_IMAGE_PATH];
} mxci_image_params;

enum { MXCI_LAYOUT_NCHW, MXCI_LAYOUT_NHWC };

#endif
