/* SPDX-License-Identifier: Apache-2.0 */
/* The mean image of a source, computed if mean_img names a file that does not exist: the mean over one epoch of
 * augmented images, before mean, std and scale are applied. */
#include <string.h>

#include "base/sys.h"
#include "io/image_source.h"

static void keep_source(void *self) {
    (void)self; /* the caller still owns the source */
}

/* Parameters that leave values as they are and read each sample once. */
static void make_neutral(mxci_image_params *p) {
    p->mean_img[0] = '\0';
    p->mean_r = p->mean_g = p->mean_b = 0;
    p->std_r = p->std_g = p->std_b = p->scale = 1;
    p->max_random_contrast = p->max_random_illumination = 0;
    p->dtype = MXC_F32;
    p->layout = MXCI_LAYOUT_NCHW;
    p->round_batch = p->shuffle = 0;
}

/* Add the pixels of all samples of an epoch to sum, size values each; *n counts the samples. */
static mxc_status add_epoch(mxc_iter *iter, double *sum, int64_t size, int64_t *n) {
    mxc_batch batch;
    float *data;
    MXC_TRY(mxc_iter_next(iter, &batch));
    while (batch.n_data) {
        int64_t rows = batch.n_index - batch.pad;
        MXC_TRY(mxc_ndarray_data(batch.data[0], (void **)&data));
        for (int64_t row = 0; row < rows; row++)
            for (int64_t i = 0; i < size; i++)
                sum[i] += data[row * size + i];
        *n += rows;
        MXC_TRY(mxc_iter_next(iter, &batch));
    }
    return MXC_OK;
}

static mxc_status save_mean(const mxci_image_params *p, const double *sum, int64_t n) {
    mxc_ndarray *mean;
    float *data;
    MXC_TRY(mxc_ndarray_create(3, p->data_shape.value, MXC_F32, mxc_cpu(0), &mean));
    mxc_status status = mxc_ndarray_data(mean, (void **)&data);
    for (int64_t i = 0; status == MXC_OK && i < mxc_ndarray_size(mean); i++)
        data[i] = (float)(sum[i] / (double)n);
    if (status == MXC_OK)
        status = mxc_ndarray_save(p->mean_img, 1, &mean, (const char *const[]){"mean_img"});
    mxc_ndarray_release(mean);
    return status;
}

static mxc_status sum_and_save(const char *owner, const mxci_image_params *p, mxc_iter *iter) {
    int64_t n = 0, size = mxc_shape_size(&mxc_iter_desc(iter, 0)->shape) / p->batch_size;
    double *sum = mxci_calloc((size_t)size, sizeof *sum);
    if (!sum)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for the mean of images", owner);
    mxc_status status = add_epoch(iter, sum, size, &n);
    if (status == MXC_OK)
        status = save_mean(p, sum, n);
    mxci_free(sum);
    return status;
}

mxc_status mxci_image_mean_create(const char *owner, const mxci_image_params *params,
                                  const mxci_augment_detection_params *detect, const mxci_image_source *source) {
    mxci_image_source borrowed = *source;
    mxci_image_params *neutral = mxci_alloc(sizeof *neutral);
    mxc_iter *iter;
    if (!neutral)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for the mean of images", owner);
    *neutral = *params;
    make_neutral(neutral);
    borrowed.destroy = keep_source;
    mxc_status status = mxci_image_iter_create(owner, neutral, detect, &borrowed, &iter);
    mxci_free(neutral);
    if (status != MXC_OK)
        return status;
    status = sum_and_save(owner, params, iter);
    mxc_iter_destroy(iter);
    return status;
}
