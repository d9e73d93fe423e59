/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a compressed image to a row of a batch: the steps are drawn first, from the size of the image only, and then
 * applied. The order is MXNet's: resize the shorter side; rotate, shear, scale and change the aspect ratio (one affine
 * warp); pad; crop; mirror; shift hue, lightness and saturation; brightness, contrast, saturation and noise; mean, std
 * and scale. The alpha channel is warped and cropped, but its values are not changed.
 */
#ifndef MXCI_IO_AUGMENT_H
#define MXCI_IO_AUGMENT_H

#include <mxc/ndarray.h>

#include "image/codec.h"
#include "io/image_params.h"
#include "io/pixels_kernels.h"
#include "io/sample_order.h"

/* Constant after its creation, so that all threads share one. */
typedef struct mxci_augment {
    const mxci_image_params *params; /* borrowed */
    int64_t channels, height, width;
    mxc_dtype dtype;
    float *mean; /* (channels,height,width); NULL: the mean of each channel in params */
} mxci_augment;

/* The steps for one image of a known size. */
typedef struct mxci_augment_steps {
    int64_t resized_h, resized_w; /* the first step; the image's own size: no resizing */
    int interpolation, warps;
    double warp[6]; /* affine map from positions in the warped image to positions in the resized one */
    int64_t warped_h, warped_w;
    int64_t pad;
    int64_t grown_h, grown_w; /* enlarged where the padded image is smaller than the crop; else its size */
    int64_t crop_y, crop_x, crop_h, crop_w;
    int64_t placed_h,
        placed_w; /* the crop, resized; if smaller than a row of the batch it lies at the top left of it */
    int mirror;
    int changes_hls; /* hue, lightness, saturation */
    float hls_shift[3];
    int changes_rgb;
    double brightness, contrast, saturation, noise[3];
    double value_contrast, value_illumination;
} mxci_augment_steps;

/* Memory of one thread; initialise with zeros. It grows to what the largest image needs. */
typedef struct mxci_augment_workspace {
    struct {
        void *data;
        size_t bytes;
    } image[2], floats, table;
} mxci_augment_workspace;

/* Check parameters and read mean_img, which must exist. MXC_EINVAL, MXC_EUNSUPPORTED, and errors of the file. */
mxc_status mxci_augment_create(const char *owner, const mxci_image_params *params, mxci_augment *out);
void mxci_augment_destroy(mxci_augment *augment);

/* The first steps, which all augmenters share: the size in the batch, the interpolation and resizing. *h and *w become
 * the size of the resized image. MXC_EFORMAT as below. */
mxc_status mxci_augment_draw_common(const mxci_augment *augment, const char *source_name, mxci_sample_rng *rng,
                                    int64_t *h, int64_t *w, mxci_augment_steps *out);
/* Draw all steps for an image of h x w pixels. MXC_EFORMAT if it would have more than max_pixels after a step;
 * source_name is for messages. */
mxc_status mxci_augment_draw(const mxci_augment *augment, const char *source_name, mxci_sample_rng *rng, int64_t h,
                             int64_t w, mxci_augment_steps *out);
/* Decode the image and apply the steps; out: channels * height * width elements. A JPEG may be decoded at a reduced
 * size; steps and image are adapted to it. MXC_EFORMAT, MXC_ENOMEM. */
mxc_status mxci_augment_apply(const mxci_augment *augment, mxci_augment_steps *steps, mxci_image *image,
                              mxci_augment_workspace *space, void *out);
void mxci_augment_workspace_free(mxci_augment_workspace *space);

#endif
