/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the operators on images and regions of them, for C and GPU modules. */
#ifndef MXCI_OPERATOR_VISION_VISION_H
#define MXCI_OPERATOR_VISION_VISION_H

#include <mxc/param.h>

enum { MXCI_UPSAMPLING_NEAREST, MXCI_UPSAMPLING_BILINEAR };
enum { MXCI_UPSAMPLING_CONCAT, MXCI_UPSAMPLING_SUM };
enum { MXCI_GENERATOR_AFFINE, MXCI_GENERATOR_WARP };

typedef struct mxci_upsampling_params {
    int64_t scale, num_filter, num_args, workspace;
    int32_t sample_type, multi_input_mode;
} mxci_upsampling_params;

typedef struct mxci_resize_params {
    int64_t height, width;
    double scale_height, scale_width; /* NaN: not given */
    int32_t mode, align_corners;
} mxci_resize_params;

typedef struct mxci_adaptive_pool_params {
    mxc_tuple output_size;
} mxci_adaptive_pool_params;

typedef struct mxci_transformer_params {
    mxc_tuple target_shape;
    int32_t transform_type, sampler_type, cudnn_off;
} mxci_transformer_params;

typedef struct mxci_generator_params {
    mxc_tuple target_shape;
    int32_t transform_type;
} mxci_generator_params;

typedef struct mxci_roi_params {
    mxc_tuple pooled_size;
    double spatial_scale;
} mxci_roi_params;

typedef struct mxci_align_params {
    mxc_tuple pooled_size;
    double spatial_scale;
    int64_t sample_ratio;
    int32_t position_sensitive, aligned;
} mxci_align_params;

typedef struct mxci_psroi_params {
    double spatial_scale, trans_std;
    int64_t output_dim, pooled_size, group_size, part_size, sample_per_part;
    int32_t no_trans;
} mxci_psroi_params;

typedef struct mxci_rotated_params {
    mxc_tuple pooled_size;
    double spatial_scale;
    int64_t sampling_ratio;
} mxci_rotated_params;

typedef struct mxci_correlation_params {
    int64_t kernel_size, max_displacement, stride1, stride2, pad_size;
    int32_t is_multiply;
} mxci_correlation_params;

#endif
