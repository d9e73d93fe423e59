/* SPDX-License-Identifier: Apache-2.0 */
/* From an image to the input of a network. */
#include <math.h>

#include <mxc/predict.h>

#include "base/error.h"
#include "base/size.h"
#include "base/sized.h"
#include "base/sys.h"

enum { SIDE_LIMIT = 65535 };

/* ---- checks ------------------------------------------------------------------------------------------------------ */

void mxc_image_transform_init(mxc_image_transform *transform, size_t size) {
    static const mxc_image_transform defaults = MXC_IMAGE_TRANSFORM_INIT;
    mxci_sized_init(transform, size, &defaults, sizeof defaults);
}

/* With defaults for NULL. */
static mxc_status read_transform(const mxc_image_transform *given, mxc_image_transform *out) {
    *out = (mxc_image_transform)MXC_IMAGE_TRANSFORM_INIT;
    if (!given)
        return MXC_OK;
    MXC_TRY(mxci_sized_read("mxc_image_to_array", "transform", "mxc_image_transform_init", given, out, sizeof *out));
    if (out->resize < 0 || out->resize > SIDE_LIMIT)
        return MXC_FAIL(MXC_EINVAL, "mxc_image_to_array: resize is %lld, expected 0 to %d", (long long)out->resize,
                        SIDE_LIMIT);
    for (int i = 0; i < 3; i++)
        if (!isfinite(out->scale) || !isfinite(out->mean[i]) || !isfinite(out->std[i]) || out->std[i] == 0)
            return MXC_FAIL(MXC_EINVAL,
                            "mxc_image_to_array: scale %g, mean %g and std %g of channel %d: expected finite numbers, "
                            "std not 0",
                            out->scale, out->mean[i], out->std[i], i);
    return MXC_OK;
}

static mxc_status check_row(const mxc_image *image, const mxc_ndarray *array, int64_t row) {
    char text[MXC_SHAPE_TEXT];
    const mxc_shape *shape = mxc_ndarray_shape(array);
    if (shape->ndim == 4 && shape->dim[1] == image->channels && shape->dim[2] > 0 && shape->dim[3] > 0 && row >= 0 &&
        row < shape->dim[0])
        return MXC_OK;
    return MXC_FAIL(MXC_ESHAPE, "mxc_image_to_array: row %lld for an image of %lld channels: the array has shape %s",
                    (long long)row, (long long)image->channels, mxc_shape_format(shape, text, sizeof text));
}

/* ---- pixels ------------------------------------------------------------------------------------------------------ */

/* A side after resizing; too large a number, which mxc_image_resize refuses, for an image without pixels. */
static int64_t scaled(int64_t side, int64_t resize, int64_t shorter) {
    return llround(fmin((double)side * (double)resize / (double)shorter, 1e9));
}

/* The size that the image is resized to, of which height x width is cut out. */
static mxc_status fitted_size(const mxc_image *image, const mxc_image_transform *t, int64_t height, int64_t width,
                              int64_t *fitted_height, int64_t *fitted_width) {
    const int64_t shorter = image->height < image->width ? image->height : image->width;
    *fitted_height = height;
    *fitted_width = width;
    if (t->resize == 0)
        return MXC_OK;
    *fitted_height = scaled(image->height, t->resize, shorter);
    *fitted_width = scaled(image->width, t->resize, shorter);
    if (*fitted_height < height || *fitted_width < width)
        return MXC_FAIL(MXC_ESHAPE,
                        "mxc_image_to_array: resized to %lld x %lld pixels, of which %lld x %lld cannot be cut out",
                        (long long)*fitted_height, (long long)*fitted_width, (long long)height, (long long)width);
    return MXC_OK;
}

/* The centre of the image (H,W,C) as numbers (C,height,width). */
static void normalize(const mxc_image *image, const mxc_image_transform *t, int64_t height, int64_t width, float *out) {
    const int64_t top = (image->height - height) / 2, left = (image->width - width) / 2;
    for (int64_t c = 0; c < image->channels; c++)
        for (int64_t y = 0; y < height; y++)
            for (int64_t x = 0; x < width; x++) {
                const uint8_t byte = image->pixels[((top + y) * image->width + left + x) * image->channels + c];
                *out++ = (float)((byte * t->scale - t->mean[c]) / t->std[c]);
            }
}

/* Copies numbers of float32 to an array of any dtype. */
static mxc_status store(const float *values, mxc_ndarray *array) {
    const mxc_shape *shape = mxc_ndarray_shape(array);
    mxc_ndarray *converted;
    if (mxc_ndarray_dtype(array) == MXC_F32)
        return mxc_ndarray_set(array, values, mxc_ndarray_bytes(array));
    MXC_TRY(mxc_ndarray_from_data(shape->ndim, shape->dim, MXC_F32, values, &converted));
    mxc_status status = mxc_ndarray_copy_to(converted, array, 0);
    mxc_ndarray_release(converted);
    return status;
}

mxc_status mxc_image_to_array(const mxc_image *image, const mxc_image_transform *transform, mxc_ndarray *array,
                              int64_t row) {
    mxc_image_transform t;
    mxc_image fitted;
    mxc_ndarray *view;
    int64_t fitted_height, fitted_width;
    MXC_TRY(MXCI_NON_NULL(image));
    MXC_TRY(MXCI_NON_NULL(array));
    MXC_TRY(MXCI_CHECK_NON_NULL(image->pixels, "mxc_image_to_array: image->pixels"));
    MXC_TRY(read_transform(transform, &t));
    MXC_TRY(check_row(image, array, row));
    const int64_t height = mxc_ndarray_shape(array)->dim[2], width = mxc_ndarray_shape(array)->dim[3];
    MXC_TRY(fitted_size(image, &t, height, width, &fitted_height, &fitted_width));
    MXC_TRY(mxc_ndarray_at(array, row, &view));
    mxc_status status = mxc_image_resize(image, fitted_height, fitted_width, t.interpolation, &fitted);
    float *values = NULL;
    if (status == MXC_OK) {
        values = mxci_alloc(mxci_size_of(mxc_ndarray_size(view), sizeof *values));
        status = values ? MXC_OK : MXCI_NO_MEMORY("mxc_image_to_array", "the numbers");
    }
    if (status == MXC_OK) {
        normalize(&fitted, &t, height, width, values);
        status = store(values, view);
    }
    mxci_free(values);
    mxc_image_free(&fitted);
    mxc_ndarray_release(view);
    return status;
}
